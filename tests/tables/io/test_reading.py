"""Tables of all kinds are read as they were written: whole, in chunks, and with their types."""

from __future__ import annotations

import bz2
import datetime
import decimal
import gzip
import io
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal
from pyarrow import feather, parquet

from semisquares.tables.columns.number import to_numbers
from semisquares.tables.io import Dialect, find, iter_chunks, read, text_types, writer
from semisquares.tables.io import _csv as csv_files
from semisquares.tables.io import _csv_input as csv_input
from semisquares.tables.io import _dialect as dialects
from support.table_files import PLAIN, bytes_of, put

ROWS = {"age": [30, 41], "kind": ["red", "blue"]}


def rows_of(folder, name, content, **said):
    return read(find(put(folder, name, content), **said)).to_dict("list")


def types_of(frame):
    return {name: type_of(frame[name]) for name in frame}


def type_of(values):
    """Name the type of a column; those of text and of objects have other names in each pandas."""
    found = pd.api.types.infer_dtype(values, skipna=True)
    named = {"string": "text", "empty": "text"}.get(found, found)
    return str(values.dtype) if values.dtype.kind != "O" else named


# -- forms of text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", PLAIN),
        ("A.CSV", PLAIN),
        ("a.txt", PLAIN.replace(",", "|")),
        ("a.csv", PLAIN.replace(",", ";")),
        ("a.tsv", PLAIN.replace(",", "\t")),
        ("a.tab", PLAIN.replace(",", "\t")),
        ("a.csv", PLAIN.replace("\n", "\r\n")),
        ("a.csv", PLAIN.replace("\n", "\n\n")),
        ("a.csv", PLAIN.rstrip()),
        ("a.csv", PLAIN.replace("kind", " kind ")),
        ("a.csv", PLAIN.encode("utf-8-sig")),
        ("a.csv", '"age","kind"\n30,"red"\n"41","blue"\n'.encode("utf-8-sig")),
        ("a.csv", PLAIN.encode("utf-16")),
        ("a.csv", b"\xfe\xff" + PLAIN.encode("utf-16-be")),
        ("a.csv", PLAIN.encode("utf-32")),
        ("a.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)),
        ("a.tsv.bz2", bz2.compress(PLAIN.replace(",", "\t").encode())),
        ("a.csv.zst", pa.compress(PLAIN.encode(), "zstd", asbytes=True)),
        ("a.csv.gz", gzip.compress(PLAIN.encode("utf-16"), mtime=0)),
    ],
)
def test_a_text_is_read_in_whatever_form_it_comes(tmp_path, name, content):
    assert rows_of(tmp_path, name, content) == ROWS


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a;b\n1,5;2\n2,5;3\n", ";"),
        ("a,b\nx;y,1\nz,2\n", ","),
        ('a,b\n"x\n;y;",1\n";z;",2\n', ","),
        ("place\tat\nx\t1,2\ny\t3,4\n", "\t"),
        ("at, first\tplace\n1,2\tx\n3,4\ty\n", "\t"),
        ("a,b,c\n1,2\n3,4\n", ","),
        ("a,b;c\n1,2\n3,4\n", ","),
        ("a|b\n1|2\n", "|"),
        ("a,b", ","),
    ],
)
def test_the_delimiter_is_the_one_that_splits_all_lines_alike(tmp_path, content, delimiter):
    assert find(put(tmp_path, "a.txt", content)).dialect.delimiter == delimiter


def test_a_sample_that_ends_inside_a_row_does_not_mislead(tmp_path, monkeypatch):
    monkeypatch.setattr(dialects, "SAMPLE", 19)
    content = "x;a,b,c\n1;1,2,3\n4;4,5,6\n"  # the sample ends between the last semicolon and comma
    assert find(put(tmp_path, "a.csv", content)).dialect.delimiter == ","


@pytest.mark.parametrize("word", ["tab", "\\t", "\t", "TAB"])
def test_tab_can_be_given_as_a_word(tmp_path, word):
    content = PLAIN.replace(",", "\t")
    assert rows_of(tmp_path, "a.csv", content, delimiter=word) == ROWS


def test_what_the_user_says_of_the_form_wins(tmp_path):
    path = put(tmp_path, "a.csv", "größe#b\n1,5#ä\n".encode("latin-1"))
    source = find(path, delimiter="#", encoding="ISO-8859-1", decimal=",")
    assert source.format.name == "csv"
    assert source.dialect == Dialect("#", "iso8859-1", ",")
    assert read(source).to_dict("list") == {"größe": [1.5], "b": ["ä"]}


@pytest.mark.parametrize(
    ("content", "decimal"),
    [
        ("a;b\n1,5;x\n-2,25;y\n", ","),
        ("a;b\n1,500;x\n", ","),
        ("a\tb\n1,5\tx\n", ","),
        ("a\tb\n1,500\tx\n", "."),  # more likely thousands
        ("a;b\n1.5;x\n", "."),
        ("a;b\n1;x\n", "."),
        ("a;b\n1.5;2,5\n2.5;x\n", "."),
        ("a;b;c\n5.263;2,5;1.250\n", ","),  # thousands beside decimals
        ("a;b\n5.263;x\n", "."),
        ("a;b\n5.262,81;1.5\n1.000,50;2\n", ","),
        ("a;b\n5.262,81 €;72,5 %\n", ","),
        ("a;b\n5,262.81;1,250\n2,262.81;x\n", "."),
        ("a;b\n1.5;x, y\n", "."),
    ],
)
def test_a_decimal_comma_is_recognised(tmp_path, content, decimal):
    assert find(put(tmp_path, "a.txt", content)).dialect.decimal == decimal


def test_decimal_commas_become_numbers(tmp_path):
    path = put(tmp_path, "a.csv", "a;b;c\n1,5;2;x\n;-1e3;3,5\n,25;0,5;y, z\n")
    frame = read(find(path))
    assert types_of(frame) == {"a": "float64", "b": "float64", "c": "text"}
    assert frame["a"].tolist()[::2] == [1.5, 0.25]
    assert frame["b"].tolist() == [2.0, -1000.0, 0.5]
    cells, chunks = next(iter_chunks(find(path), numbers=["a", "b"]))
    assert cells["a"].to_pylist() == ["1,5", "", ",25"]
    assert_frame_equal(chunks, frame)  # text that is a number among other text as well


GERMAN = (
    "whole;part;money;share;day;word;y\n"
    "5.263;5.262,81;1.200,50 €;72,5 %;31.12.2020;1.2.3;1.5\n"
    "992;-0,5;7 €;3%;01.02.2021;a, b.;2.5\n"
    "1.234.567;(1.000,00);0,99 €;+4,25%;05.06.2022;5.26;1.5\n"
)


def test_beside_decimal_commas_a_point_stands_between_thousands(tmp_path):
    path = put(tmp_path, "a.csv", GERMAN)
    frame = read(find(path), labels=["y"])
    assert frame.to_dict("list") == {
        "whole": ["5,263", "992", "1,234,567"],
        "part": ["5,262.81", "-0.5", "(1,000.00)"],
        "money": ["1,200.50 €", "7 €", "0.99 €"],
        "share": ["72.5 %", "3%", "+4.25%"],
        "day": ["31.12.2020", "01.02.2021", "05.06.2022"],
        "word": ["1.2.3", "a, b.", "5,26"],
        "y": ["1.5", "2.5", "1.5"],  # written back unchanged
    }
    assert_frame_equal(next(iter_chunks(find(path), labels=["y"]))[1], frame)
    forms = {"money": "€", "share": "%"}
    numbers = {n: to_numbers(frame[n], n, forms.get(n)).tolist() for n in frame.columns[:4]}
    assert numbers == {
        "whole": [5263, 992, 1234567],
        "part": [5262.81, -0.5, -1000],
        "money": [1200.5, 7, 0.99],
        "share": [72.5, 3, 4.25],
    }


def test_points_between_thousands_are_removed_if_types_are_kept(tmp_path):
    path = put(tmp_path, "a.csv", GERMAN)
    cells, _ = next(iter_chunks(find(path)))
    typed = text_types(find(path)).cast(cells).to_pydict()
    assert typed["whole"] == [5263, 992, 1234567]
    assert typed["part"] == ["5262.81", "-0.5", "(1,000.00)"]
    assert typed["money"] == ["1,200.50 €", "7 €", "0.99 €"]
    assert typed["word"] == ["1.2.3", "a, b.", "5.26"]


# -- cells -----------------------------------------------------------------------------------------


def test_types_are_those_of_the_cells(tmp_path):
    content = (
        "whole,gap,part,truth,maybe,day,moment,zoned,clock,mixed,nothing\n"
        "1,1,1.5,true,TRUE,2020-01-31,2020-01-31 12:30,2020-01-31T12:30:00+02:00,09:30,1,\n"
        "2,, 2 ,False,NA,2020-02-01,2020-01-31T12:30:01.5,2020-01-31T12:30:00Z,09:31,x,NA\n"
    )
    frame = read(find(put(tmp_path, "a.csv", content)))
    dates = {"day": "datetime64[s]", "moment": "datetime64[ns]", "zoned": "datetime64[s]"}
    assert types_of(frame) == {
        "whole": "int64",
        "gap": "float64",
        "part": "float64",
        "truth": "bool",
        "maybe": "boolean",
        **dates,
        "clock": "text",
        "mixed": "text",
        "nothing": "float64",
    }
    assert frame["maybe"].tolist() == [True, None]
    assert frame["zoned"].dt.hour.tolist() == [10, 12]
    assert frame["clock"].tolist() == ["09:30", "09:31"]
    assert frame["mixed"].tolist() == ["1", "x"]


def test_zeros_and_ones_among_true_and_false_are_not_booleans(tmp_path):
    assert rows_of(tmp_path, "a.csv", "a,b\n1,0\ntrue,0\n")["a"] == ["1", "true"]


SPELLED = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", " ", " NA", "NA "]


@pytest.mark.parametrize("quote", ["", '"'])
def test_missing_cells_are_missing_however_they_are_spelled(tmp_path, quote):
    cells = [*SPELLED, "     ", "?", "-9"]
    lines = [f"1,{quote}{cell}{quote},{quote}{cell}{quote}\n" for cell in cells]
    path = put(tmp_path, "a.csv", "id,text,number\n1,x,1.5\n" + "".join(lines))
    frame = read(find(path), missing=["?", "-9"])
    _, chunk = next(iter_chunks(find(path), missing=["?", "-9"], numbers=["number"]))
    for table in (frame, chunk):
        assert table["text"].notna().sum() == table["number"].notna().sum() == 1
        assert table["number"].dtype == "float64"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_in_a_column_of_labels_only_empty_cells_and_what_the_user_names_are_missing(tmp_path, name):
    words = ["None", "NA", "nan", "?", "", " "]
    path = written_as(tmp_path / name, pa.table({"x": words, "y": words}))
    whole = read(find(path), missing=["?"], labels=["y"])
    _, chunk = next(iter_chunks(find(path), missing=["?"], labels=["y"]))
    for frame in (whole, chunk):
        assert frame["y"].isna().tolist() == [False] * 3 + [True] * 3
        assert frame["y"].tolist()[:3] == words[:3]
        assert frame["x"].isna().all()


def test_labels_that_are_numbers_become_text_and_nan_is_none_of_it(tmp_path):
    path = written_as(tmp_path / "a.parquet", pa.table({"y": [1.5, np.nan, None, 2.0]}))
    assert read(find(path), labels=["y"])["y"].dropna().tolist() == ["1.5", "2"]


def written_as(path, table):
    with writer(str(path)) as rows:
        rows.write(table)
    return str(path)


def test_columns_of_text_stay_as_they_are_written(tmp_path):
    path = put(tmp_path, "a.csv", "code,b\n007,1\n08,2\n,3\n")
    assert read(find(path), text=["code"])["code"].tolist()[:2] == ["007", "08"]
    path = put(tmp_path, "b.csv", "code,b\n7,1\n8,2\n,3\n")
    assert read(find(path), text=["code"])["code"].tolist()[:2] == ["7", "8"]
    assert read(find(path))["code"].tolist()[:2] == [7, 8]


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.csv", str.encode),
        ("a.csv", lambda text: text.encode("utf-16")),
        ("a.csv", lambda text: text.replace(",", ";").encode()),
        ("a.csv.gz", lambda text: gzip.compress(text.encode(), mtime=0)),
    ],
)
@pytest.mark.parametrize("code", ["01234", " 01234", '"01234"', "00"])
def test_whole_numbers_with_leading_zeros_stay_text(tmp_path, name, pack, code):
    path = put(tmp_path, name, pack(f"zip,b,c\n12345,0,0.5\n{code},1,05.5\n,2,1\n"))
    frame = read(find(path))
    assert frame["zip"].tolist()[:2] == ["12345", code.strip('"')]
    assert frame["zip"].isna().tolist() == [False, False, True]
    assert (frame["b"].tolist(), frame["c"].tolist()) == ([0, 1, 2], [0.5, 5.5, 1.0])


def test_a_leading_zero_at_the_border_of_two_blocks_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("semisquares.tables.io._files._BLOCK", 3)
    for ahead in range(4):
        path = put(tmp_path, "a.csv", f"zip,b{'b' * ahead}\n12345,1\n01234,2\n")
        assert read(find(path))["zip"].tolist() == ["12345", "01234"]


def test_a_missing_cell_with_a_leading_zero_does_not_make_text(tmp_path):
    path = put(tmp_path, "a.csv", "age,b\n30,1\n00,2\n")
    assert read(find(path), missing=["00"])["age"].tolist()[0] == 30.0


def test_columns_are_chosen_and_ordered(tmp_path):
    path = put(tmp_path, "a.csv", "a,b,c\n1,2,3\n")
    assert read(find(path), columns=["c", "a"]).to_dict("list") == {"c": [3], "a": [1]}


def test_line_ends_in_quotes_belong_to_the_cell_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCKS", (64, 1 << 20))
    texts = [f"first {i}\nsecond, {i}\r\nthird" for i in range(50)]
    lines = [f'{i},"{text}",{i}\n' for i, text in enumerate(texts)]
    path = put(tmp_path, "a.csv", "a,b,c\n" + "".join(lines))
    assert read(find(path))["b"].tolist() == texts
    chunks = [cells["b"].to_pylist() for cells, _ in iter_chunks(find(path), rows=7)]
    assert [text for chunk in chunks for text in chunk] == texts
    assert [len(chunk) for chunk in chunks] == [7] * 7 + [1]


@pytest.mark.parametrize("block", range(60, 70))
def test_both_characters_of_a_line_end_stay_wherever_a_block_ends(tmp_path, monkeypatch, block):
    monkeypatch.setattr(csv_files, "BLOCKS", (block, 1 << 20))
    texts = ["a\r\nb\r\nc\r\nd"] * 30
    path = put(tmp_path, "a.csv", "a,b\n" + "".join(f'{i},"{t}"\n' for i, t in enumerate(texts)))
    assert read(find(path))["b"].tolist() == texts


def test_a_row_longer_than_a_block_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCKS", (64, 1 << 20))
    texts = ["x", "y"] * 20 + ["z" * 1000] + ["x", "y"] * 20
    path = put(tmp_path, "a.csv", "a,b\n" + "".join(f"{i},{t}\n" for i, t in enumerate(texts)))
    assert read(find(path))["b"].tolist() == texts
    assert [
        text for cells, _ in iter_chunks(find(path)) for text in cells["b"].to_pylist()
    ] == texts


def test_an_index_without_a_name_gets_one(tmp_path):
    assert list(rows_of(tmp_path, "a.csv", ",b\n0,2\n")) == ["column 1", "b"]


# -- Parquet and Feather ---------------------------------------------------------------------------

WRITERS = {".parquet": parquet.write_table, ".feather": feather.write_feather}


@pytest.fixture(params=[".parquet", ".pq", ".feather", ".arrow"])
def stored(request, tmp_path):
    """Write an Arrow table to a file of one kind, and find it."""
    write = (
        WRITERS.get(request.param) or WRITERS[{".pq": ".parquet"}.get(request.param, ".feather")]
    )

    def store(table):
        path = str(tmp_path / f"a{request.param}")
        write(table, path)
        return find(path)

    return store


def test_arrow_types_become_those_of_tables(stored):
    table = pa.table(
        {
            "small": pa.array([1, 2], pa.int8()),
            "huge": pa.array([1, 2**64 - 1], pa.uint64()),
            "single": pa.array([0.5, None], pa.float32()),
            "money": pa.array([decimal.Decimal("1.50"), None]),
            "level": pa.array(["a", "b"]).dictionary_encode(),
            "numbered": pa.array([5, 6]).dictionary_encode(),
            "day": pa.array([datetime.date(2020, 1, 31), None]),
            "zoned": pa.array([0, 1], pa.timestamp("ms", "Europe/Berlin")),
            "clock": pa.array([datetime.time(9, 30), None]),
            "span": pa.array([1500, 0], pa.duration("ms")),
            "truth": pa.array([True, False]),
            "old text": pa.array([b"a", b"b"]),
            " long text ": pa.array(["", "NA"], pa.large_string()),
            "nothing": pa.nulls(2),
        }
    )
    frame = read(stored(table))
    assert types_of(frame) == {
        "small": "int64",
        "huge": "float64",
        "single": "float64",
        "money": "float64",
        "level": "text",
        "numbered": "int64",
        "day": "datetime64[s]",
        "zoned": "datetime64[ms]",
        "clock": "text",
        "span": "float64",
        "truth": "bool",
        "old text": "text",
        "long text": "text",
        "nothing": "float64",
    }
    assert frame["span"].tolist() == [1.5, 0]
    assert frame["long text"].isna().all()


def test_chunks_keep_the_original_cells(stored):
    level = pa.array(["a", "?", None] * 5).dictionary_encode()
    table = pa.table({" n ": pa.array(range(15), pa.int8()), "level": level})
    source = stored(table)
    chunks = list(iter_chunks(source, rows=4, missing=["?", "7"], numbers=["n"]))
    assert [cells.num_rows for cells, _ in chunks] == [4, 4, 4, 3]
    cells = pa.concat_tables(cells for cells, _ in chunks)
    assert cells.schema.types == table.schema.types
    assert cells["level"].to_pylist() == table["level"].to_pylist()
    frame = pd.concat([frame for _, frame in chunks], ignore_index=True)
    assert frame["level"].notna().sum() == 5
    assert np.flatnonzero(frame["n"].isna()).tolist() == [7]


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, ["a"]),
        (pd.Index([5, 9]), ["a"]),
        (pd.Index([5, 9], name="id"), ["a", "id"]),
    ],
)
def test_an_index_of_pandas_is_a_column_only_if_it_has_a_name(tmp_path, index, names):
    path = str(tmp_path / "a.parquet")
    pd.DataFrame({"a": [1, 2]}, index=index).to_parquet(path)
    assert list(read(find(path))) == names
    assert list(next(iter_chunks(find(path)))[1]) == names


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["p", "q", "r"]),
        pd.Index(["p", "q", "r"], name=" key "),
        pd.Index([5, 9, 7]),
        pd.Index([5, 9, 7], name="id"),
        pd.RangeIndex(3, name="row"),
        pd.RangeIndex(4, 10, 2),
        pd.MultiIndex.from_tuples([("p", 1), ("p", 2), ("q", 1)], names=["a", None]),
        pd.date_range("2020-01-01", periods=3, tz="Europe/Rome", name="when"),
    ],
)
def test_an_index_of_pandas_is_one_again_once_the_chunks_are_written(tmp_path, index):
    path, out = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=index)
    frame.to_parquet(path)
    chunks = [
        cells.append_column("new", [["n"] * len(cells)]) for cells, _ in iter_chunks(find(path))
    ]
    parquet.write_table(pa.concat_tables(chunks), out)
    names = [name and name.strip() for name in index.names]
    assert_frame_equal(pd.read_parquet(out)[["x"]], frame.rename_axis(names), check_freq=False)


def test_an_index_that_not_all_files_have_is_left_behind(tmp_path):
    pd.DataFrame({"x": [1, 2]}, index=["p", "q"]).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"x": [3]}).to_parquet(tmp_path / "2.parquet")
    cells = [cells for cells, _ in iter_chunks(find(str(tmp_path / "*.parquet")))]
    assert pa.concat_tables(cells).to_pandas().to_dict("list") == {"x": [1, 2, 3]}


def test_a_stream_of_arrow_batches_is_a_table_too(tmp_path):
    table, path = pa.table({"a": [1, 2], "b": ["x", "y"]}), str(tmp_path / "a.arrow")
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    assert read(find(path)).to_dict("list") == table.to_pydict()
    assert next(iter_chunks(find(path)))[0].to_pydict() == table.to_pydict()


# -- several files, pipes --------------------------------------------------------------------------


def test_the_files_of_a_pattern_follow_each_other_by_name(tmp_path):
    for name, rows in (("b.csv", "kind,age\nblue,41\n"), ("a.csv", "age,kind\n30,red\n")):
        put(tmp_path, name, rows)
    (tmp_path / "folder.csv").mkdir()
    source = find(str(tmp_path / "*.csv"))
    assert [os.path.basename(path) for path in source.paths] == ["a.csv", "b.csv"]
    assert source.n_bytes == 33
    assert read(source).to_dict("list") == ROWS
    assert [frame["kind"][0] for _, frame in iter_chunks(source)] == ["red", "blue"]


def test_a_file_named_like_a_pattern_is_that_file(tmp_path):
    put(tmp_path, "a1.csv", "age,kind\n1,x\n")
    assert rows_of(tmp_path, "a[1].csv", PLAIN) == ROWS


def test_columns_have_one_type_over_all_files(tmp_path):
    put(tmp_path, "1.csv", "a,b,c,d,e\n1,07,2020-01-01,,\n")
    put(tmp_path, "2.csv", "a,b,c,d,e\n1.5,x,2020-01-01 12:00:00.5,y,\n")
    put(tmp_path, "3.csv", "a,b,c,d,e\n")
    frame = read(find(str(tmp_path / "*.csv")))
    assert list(types_of(frame).values()) == [
        "float64",
        "text",
        "datetime64[us]",
        "text",
        "float64",
    ]
    assert frame["b"].tolist() == ["07", "x"]


def test_a_whole_number_that_float64_cannot_hold_is_rounded_beside_a_file_of_numbers(tmp_path):
    put(tmp_path, "1.csv", "a,b\n9007199254740993,x\n")
    put(tmp_path, "2.csv", "a,b\n1.5,x\n")
    assert read(find(str(tmp_path / "*.csv")))["a"].tolist() == [9007199254740992.0, 1.5]


def test_types_of_parquet_files_meet(tmp_path):
    parquet.write_table(pa.table({"a": [1], "b": [True]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"b": ["x"], "a": [0.5]}), tmp_path / "2.parquet")
    frame = read(find(str(tmp_path / "*.parquet")))
    assert frame.to_dict("list") == {"a": [1.0, 0.5], "b": ["true", "x"]}


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        PLAIN.replace(",", "\t").encode("utf-16"),
        gzip.compress(PLAIN.encode(), mtime=0),
        bytes_of(pa.table(ROWS), parquet.write_table),
        bytes_of(pa.table(ROWS), feather.write_feather),
    ],
)
def test_standard_input_is_what_its_first_bytes_say(content):
    source = find("-", stdin=io.BytesIO(content))
    assert source.paths == ("-",)
    assert source.n_bytes == len(content)
    assert read(source).to_dict("list") == ROWS
    assert sum(len(frame) for _, frame in iter_chunks(source, rows=1)) == 2


def test_the_copy_of_standard_input_is_removed_with_its_source():
    source = find("-", stdin=io.BytesIO(PLAIN.encode()))
    path = source.files[0].path
    assert os.path.exists(path)
    del source
    assert not os.path.exists(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_like_standard_input(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    feeder = threading.Thread(target=put, args=(tmp_path, "pipe", PLAIN))
    feeder.start()
    source = find(path)
    feeder.join()
    assert read(source).to_dict("list") == ROWS


# -- chunks ----------------------------------------------------------------------------------------


def test_chunks_are_the_rows_of_the_whole_in_order(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(5000) < 0.1, np.nan, rng.normal(size=5000)),
            "text": rng.choice(["red", "blue", "a, b", None], 5000),
            "whole": np.arange(5000),
        }
    )
    path = str(tmp_path / "a.csv")
    frame.to_csv(path, index=False)
    whole, chunks = read(find(path)), list(iter_chunks(find(path), rows=999, numbers=list(frame)))
    together = pd.concat([chunk for _, chunk in chunks], ignore_index=True)
    assert_frame_equal(together, whole.astype({"whole": float}))
    assert whole["text"].dropna().tolist() == frame["text"].dropna().tolist()
    assert whole["text"].isna().tolist() == frame["text"].isna().tolist()
    assert_frame_equal(whole.drop(columns="text"), frame.drop(columns="text"))
    assert [cells.num_rows for cells, _ in chunks] == [999] * 5 + [5]


@pytest.mark.parametrize(
    "number", ["1", " 2 ", "+3", ".5", "1e3", "-0", "-07", "0x1F", "inf", "5."]
)
def test_numbers_in_chunks_are_those_of_the_whole(tmp_path, number):
    path = put(tmp_path, "a.csv", f"a,b\n{number},x\n")
    _, chunk = next(iter_chunks(find(path), numbers=["a"]))
    assert chunk["a"].tolist() == read(find(path))["a"].tolist()


def test_text_in_a_column_of_numbers_stays_text_in_its_chunk_only(tmp_path):
    path = put(tmp_path, "a.csv", "a,b\n1,x\n 2 ,x\nthree,x\n")
    dtypes = [type_of(frame["a"]) for _, frame in iter_chunks(find(path), rows=2, numbers=["a"])]
    assert dtypes == ["float64", "text"]


CELLS = {
    "whole": ["1", " -2 ", "", "NA", "+30"],
    "part": ["1", "2.5", "", "1e3", ".5"],
    "code": ["007", "7", "", "12", "NA"],
    "huge": ["1", "12345678901234567890", "2", "3", "4"],
    "truth": ["true", "FALSE", "", "None", "True"],
    "flag": ["1", "true", "0", "0", "1"],
    "day": ["2020-01-31", "", "1999-12-01", "NA", "2020-02-29"],
    "no day": ["2020-01-31", "2020-02-30", "", "", ""],
    "moment": ["2020-01-31 12:30", "", "2020-01-31T12:30:15.5", "2020-01-31 00:00:00", ""],
    "text": ["a", "", "NA", " b ", "  "],
    "nothing": ["", "", "NA", "", ""],
    "y": ["None", "1", "2", "NA", ""],
}


def test_the_types_of_text_are_the_narrowest_that_lose_nothing(tmp_path):
    path = written_as(tmp_path / "a.csv", pa.table(CELLS))
    types = text_types(find(path), labels=["y"], rows=2)
    found = pa.concat_tables(
        [types.cast(c) for c, _ in iter_chunks(find(path), rows=2)]
    ).to_pydict()
    moments = [datetime.datetime(2020, 1, 31, 12, 30), datetime.datetime(2020, 1, 31)]
    days = [(2020, 1, 31), (1999, 12, 1), (2020, 2, 29)]
    assert found == {
        "whole": [1, -2, None, None, 30],
        "part": [1.0, 2.5, None, 1000.0, 0.5],
        "code": ["007", "7", None, "12", "NA"],
        "huge": CELLS["huge"],
        "truth": [True, False, None, None, True],
        "flag": CELLS["flag"],
        "day": [
            datetime.date(*days[0]), None, datetime.date(*days[1]), None, datetime.date(*days[2])
        ],
        "no day": [*CELLS["no day"][:2], None, None, None],
        "moment": [
            moments[0], None, moments[0] + datetime.timedelta(seconds=15.5), moments[1], None
        ],
        "text": ["a", None, "NA", " b ", None],
        "nothing": [None, None, "NA", None, None],
        "y": ["None", "1", "2", "NA", None],
    }  # fmt: skip


def test_decimal_commas_become_numbers_if_types_are_kept(tmp_path):
    path = put(tmp_path, "a.csv", "a;b\n1,5;x, y\n2;z\n")
    cells, _ = next(iter_chunks(find(path)))
    assert text_types(find(path)).cast(cells).to_pydict() == {"a": [1.5, 2.0], "b": ["x, y", "z"]}


def to_csv(table, path):
    table.to_pandas().to_csv(path, index=False)


def to_parquet(table, path):
    parquet.write_table(table, path, row_group_size=5000)


def to_feather(table, path):
    feather.write_feather(table, path, chunksize=5000)


@pytest.mark.parametrize(
    ("name", "write"), [("a.csv", to_csv), ("a.parquet", to_parquet), ("a.feather", to_feather)]
)
def test_memory_is_that_of_a_chunk_not_of_the_file(tmp_path, monkeypatch, name, write):
    monkeypatch.setattr(csv_files, "BLOCKS", (1 << 14, 1 << 20))  # some are read ahead
    n, path = 200_000, str(tmp_path / name)
    table = pa.table({"a": np.arange(n), "b": [f"some text {i}" for i in range(n)]})
    write(table, path)
    size = table.nbytes
    del table
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in iter_chunks(find(path), rows=2000)]
    assert len(held) == 100
    assert max(held) < size / 4


# -- threads that read ahead -----------------------------------------------------------------------

QUOTED = b"a,b\n" + 400_000 * b'"x",123456\n'
LATIN = "a,b\n".encode("latin-1") + 400_000 * "é,123456\n".encode("latin-1")


SLOW = """
    import time, weakref
    from semisquares.tables.io import _csv_input

    class Slow(_csv_input.UnsplitLineEnds):
        made = weakref.WeakSet()

        def __init__(self, file):
            super().__init__(file)
            self.made.add(self)

        def read(self, size):
            time.sleep(0.05)
            return super().read(size)
"""


@pytest.mark.parametrize(
    ("content", "encoding"), [(QUOTED, "utf-8"), (LATIN, "latin-1")], ids=["quoted", "latin-1"]
)
def test_no_thread_has_a_table_any_more_that_was_left_early(
    tmp_path, monkeypatch, content, encoding
):
    names = {}
    exec(textwrap.dedent(SLOW), names)
    monkeypatch.setattr(csv_input, "UnsplitLineEnds", names["Slow"])
    chunks = iter_chunks(find(put(tmp_path, "a.csv", content), encoding=encoding), rows=10)
    next(chunks)
    assert len(names["Slow"].made) == 1
    chunks.close()
    assert len(names["Slow"].made) == 0


def test_a_file_is_lent_until_what_was_read_of_it_is_freed(monkeypatch):
    held = []
    monkeypatch.setattr(csv_input.time, "sleep", lambda seconds: held.clear())
    with csv_input.lent(io.BytesIO(b"a,b\n")) as lend:
        held.append(lend().read(10))
    assert held == []


def test_python_ends_in_peace_while_a_table_is_read(tmp_path):
    script = (
        SLOW
        + """
    import sys
    from semisquares.tables.io import find, iter_chunks
    _csv_input.UnsplitLineEnds = Slow
    for _ in iter_chunks(find(sys.argv[1]), rows=10):
        sys.exit(2)
    """
    )
    path = put(tmp_path, "a.csv", QUOTED)
    command = [sys.executable, "-c", textwrap.dedent(script), path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
