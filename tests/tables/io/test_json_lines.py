"""JSON lines: read whole, in chunks and from a pipe; written; refused if they are not a table."""

import datetime
import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from semisquares.tables import fit_table, prepare
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.io import find, iter_chunks, read, split, writer
from support.sentences import sentence
from support.table_files import put

ROWS = [
    {"age": 30, "size": 1, "kind": "a", "seen": "2020-01-05", "well": True, "code": "007"},
    {"age": None, "size": 0.5, "kind": "NA", "seen": "2020-02-28", "code": "12"},
    {"size": 2, "kind": "ü, \u2028b", "seen": None, "well": False, "code": 9, "late": 2**70},
]


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def fault(tmp_path, content):
    path = put(tmp_path, "a.jsonl", content)
    return sentence(lambda: read(path)).replace(path, "a.jsonl")


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl", str.encode),
        ("a.ndjson", lambda text: text.encode("utf-8-sig")),
        ("a.jsonl", lambda text: text.replace("\n", "\r\n\r\n").encode()),
        ("a.jsonl.gz", lambda text: gzip.compress(text.encode())),
        ("a.jsonl.zst", lambda text: pa.compress(text.encode(), "zstd", asbytes=True)),
    ],
)
def test_cells_have_the_types_that_hold_their_column(tmp_path, name, pack):
    path = put(tmp_path, name, pack(lines(ROWS)))
    frame = read(path)
    assert list(frame) == ["age", "size", "kind", "seen", "well", "code", "late"]
    np.testing.assert_array_equal(frame["age"], [30, np.nan, np.nan])
    np.testing.assert_array_equal(frame["late"], [np.nan, np.nan, 2.0**70])
    assert frame["size"].tolist() == [1.0, 0.5, 2.0]
    assert frame["kind"].isna().tolist() == [False, True, False]
    assert frame["kind"].iloc[2] == "ü, \u2028b"
    assert frame["well"].tolist() == [True, None, False]
    assert frame["code"].tolist() == ["007", "12", "9"]
    assert read(path, labels=["kind"])["kind"].iloc[1] == "NA"
    chunks = split(path, n_bytes=56)
    assert len(chunks) == 3
    assert_frame_equal(pd.concat([chunk.read() for chunk in chunks]), frame)


def test_a_pipe_of_json_lines_is_recognised(tmp_path):
    expected = read(put(tmp_path, "a.jsonl", lines(ROWS)))
    for content in (lines(ROWS).encode(), gzip.compress(lines(ROWS).encode())):
        assert_frame_equal(read(find("-", stdin=io.BytesIO(content))), expected)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1,\n', "has no JSON object in line 2, but each line has to be"),
        ('[{"a": 1}]\n', "has no JSON object in line 1"),
        ('{"a": 1}\n\n5\n', "has no JSON object in line 3"),
        ('{"a": ' + "[" * 100_000, "has no JSON object in line 1"),
        ('{"a": 1}\n{"a": [1]}\n', "has a JSON list in column 'a' of line 2; a cell has to be"),
        ('{"a": {"b": 1}}\n', "has a JSON object in column 'a' of line 1"),
        ("{}\n", "is empty; give a table"),
        ('{"a": 1, " a": 2}\n', "has more than one column named 'a'"),
        (b'{"a": "\xff"}\n', "is not UTF-8: line 1 has the bytes FF"),
    ],
)
def test_lines_that_are_not_rows_are_refused(tmp_path, content, words):
    assert words in fault(tmp_path, content)


def test_json_lines_under_the_name_of_a_csv_are_recognised(tmp_path):
    path = put(tmp_path, "a.csv", lines(ROWS))
    words = "is a JSON file by its content; let its name end with .jsonl, or give the table as CSV."
    assert words in sentence(lambda: find(path))


def test_cells_come_back_as_they_were_written(tmp_path):
    day = datetime.datetime(2020, 1, 5, 10, 30)
    table = pa.table(
        {"x": [0.1, None, np.nan], "n": [1, 2**60, 3], "t": ["ä\n", None, ""], "d": [day] * 3}
    )
    path = str(tmp_path / "a.jsonl")
    with writer(path) as rows:
        rows.write(table)
    with open(path, encoding="utf-8") as file:
        first = json.loads(file.readline())
    assert first == {"x": 0.1, "n": 1, "t": "ä\n", "d": "2020-01-05T10:30:00"}
    frame = read(path)
    np.testing.assert_array_equal(frame["x"], [0.1, np.nan, np.nan])
    assert frame["n"].tolist() == [1, 2**60, 3]
    cells, _ = next(iter_chunks(path))
    assert cells["t"].to_pylist() == ["ä\n", None, ""]


def fruit(n=60):
    rng = np.random.default_rng(0)
    ripe = rng.integers(2, size=n)
    kinds = rng.choice(["plum", "pear"], n)
    return [
        {"size": round(rng.normal(3 * r), 3), "kind": str(k)}
        | ({"ripe": ["no", "yes"][r]} if i < 20 else {})
        for i, (r, k) in enumerate(zip(ripe, kinds, strict=True))
    ]


def test_models_and_predictions_are_those_of_the_same_csv(tmp_path):
    path = put(tmp_path, "a.jsonl", lines(fruit()))
    same = str(tmp_path / "a.csv")
    pd.DataFrame(fruit()).to_csv(same, index=False)
    tables = [prepare(read(one, labels=["ripe"]), "ripe") for one in (path, same)]
    np.testing.assert_array_equal(tables[0].X, tables[1].X)
    chunked = prepare_chunks(split(path, labels=["ripe"], n_bytes=512), "ripe")
    X = np.concatenate([chunked.transform(chunk)[0] for chunk in chunked.chunks])
    np.testing.assert_allclose(X, tables[0].X, rtol=1e-12)
    model = fit_table(tables[0], method="ridge", alpha=1.0, folds=2, repeats=1)
    one, other = (
        pa.concat_tables(predict_rows(model, find(name), PredictionCounts(), rows=25))
        for name in (path, same)
    )
    assert one["ripe_decision_yes"].to_pylist() == other["ripe_decision_yes"].to_pylist()
