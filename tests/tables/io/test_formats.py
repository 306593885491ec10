"""A new file format, made up in this file, works everywhere: from a path to a model."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pyarrow as pa
import pytest
from distributed import Client
from pandas.testing import assert_frame_equal

from semisquares.tables import TableError, fit_table, prepare
from semisquares.tables.io import (
    FORMATS,
    FileFormat,
    check_names,
    find,
    iter_chunks,
    parquet_chunks,
    plain_table,
    read,
    split,
    writer,
)
from semisquares.tables.models._streaming import on_dask
from support.dask_workers import cluster
from support.sentences import sentence


class LinesReader:
    """Rows as lists of JSON, one in each line; the first line has names and types."""

    index = ()

    def __init__(self, file, dialect, missing):
        self.file, self.missing = file, missing
        with open(file.path, encoding="utf-8") as lines:
            stored = json.loads(next(lines).removeprefix("!lines "))
        self.names = check_names(list(stored), file.name)
        self._types = [pa.type_for_alias(name) for name in stored.values()]

    def read(self, columns, text):
        table = pa.Table.from_batches(self.batches(columns, 1000))
        return plain_table(table, text, self.missing, self.file.name)

    def batches(self, columns, rows):
        places = [self.names.index(name) for name in columns]
        with open(self.file.path, encoding="utf-8") as lines:
            next(lines)
            while block := [json.loads(line) for _, line in zip(range(rows), lines, strict=False)]:
                arrays = [pa.array([row[k] for row in block], self._types[k]) for k in places]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def chunks(self, max_rows, max_bytes, folder):
        return parquet_chunks(self, self.missing, max_rows, max_bytes, folder)


class LinesWriter:
    def __init__(self, file, schema, dialect):
        self._file = file
        types = {field.name: str(field.type) for field in schema}
        file.write(f"!lines {json.dumps(types)}\n".encode())

    def write_table(self, table):
        for row in zip(*table.to_pydict().values(), strict=True):
            self._file.write(f"{json.dumps(row)}\n".encode())

    def close(self):
        pass


LINES = FileFormat(
    "lines", (".lines",), LinesReader, create=LinesWriter, signature=re.compile(rb"!lines ")
)


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.setitem(FORMATS, "lines", LINES)


def table(n=40):
    rng = np.random.default_rng(0)
    ripe = rng.integers(2, size=n)
    columns = {
        "size": [None if k == 7 else round(x, 3) for k, x in enumerate(rng.normal(3 * ripe))],
        "count": [None if k == 3 else k for k in range(n)],
        "colour": ["NA" if k == 5 else ["red", "blue"][k % 2] for k in range(n)],
        "ripe": [["no", "yes"][y] if k < 20 else None for k, y in enumerate(ripe)],
    }
    return pa.table(columns)


@pytest.fixture
def path(tmp_path, lines):
    with writer(str(tmp_path / "fruit.lines")) as rows:
        rows.write(table()[:25])
        rows.write(table()[25:])
    with writer(str(tmp_path / "same.parquet")) as rows:
        rows.write(table())
    return str(tmp_path / "fruit.lines")


def same(path):
    """Return the path of the same table in another format."""
    return path.replace("fruit.lines", "same.parquet")


def test_a_new_format_is_read_as_others_are(path):
    assert find(path).format is LINES
    assert_frame_equal(read(path, labels=["ripe"]), read(same(path), labels=["ripe"]))
    assert_frame_equal(read(path, text=["count"]), read(same(path), text=["count"]))


def test_a_new_format_is_recognised_on_standard_input(path):
    with open(path, "rb") as stdin:
        assert_frame_equal(read(find("-", stdin=stdin)), read(path))


def test_a_new_format_is_read_chunk_by_chunk(path):
    pairs = zip(iter_chunks(path, rows=7), iter_chunks(same(path), rows=7), strict=True)
    for (cells, frame), (same_cells, same_frame) in pairs:
        assert cells.equals(same_cells)
        assert_frame_equal(frame, same_frame)


def test_chunks_of_a_new_format_have_the_types_of_the_whole(path):
    chunks = split(path, labels=["ripe"], n_bytes=7 * 8 * 4)
    assert [chunk.n_rows for chunk in chunks] == [7] * 5 + [5]
    whole = read(path, labels=["ripe"])
    moved = [pickle.loads(pickle.dumps(chunk)) for chunk in chunks]
    for chunk in moved:
        assert_frame_equal(chunk.read(), whole[chunk.start : chunk.start + chunk.n_rows])


def test_a_new_format_is_read_on_dask(path):
    with cluster(1) as workers, Client(workers):
        chunks = split(path, n_bytes=20 * 8 * 4, run=on_dask)
        frames = on_dask(lambda chunk: chunk.read(), chunks)
    assert_frame_equal(frames[1], read(path)[20:])


def test_a_model_is_fitted_to_a_new_format(path):
    frame = read(path, labels=["ripe"])
    model = fit_table(prepare(frame, "ripe"), method="soft", alpha=1.0, weight=1.0)
    expected = fit_table(
        prepare(read(same(path), labels=["ripe"]), "ripe"), method="soft", alpha=1.0, weight=1.0
    )
    assert model.predict(frame).labels.tolist() == expected.predict(frame).labels.tolist()


def test_a_format_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "lines", FileFormat("lines", (".lines",), LinesReader))

    def write():
        with writer(str(tmp_path / "fruit.lines")) as rows:
            rows.write(table())

    assert "would be a lines file, which cannot be written here" in sentence(write)


def test_names_are_checked_as_in_other_formats(tmp_path, lines):
    (tmp_path / "a.lines").write_text('!lines {"a": "int64", "a ": "int64"}\n[1, 2]\n')
    with pytest.raises(TableError, match="more than one column named 'a'"):
        read(str(tmp_path / "a.lines"))


def test_endings_of_a_new_format_are_named_in_messages(tmp_path, lines):
    (tmp_path / "a.dat").write_text("x")
    assert ", .lines, or" in sentence(lambda: find(str(tmp_path / "a.dat")))
