"""A table is read as it was written; a file is written completely or not at all."""

from __future__ import annotations

import csv
import datetime
import decimal
import errno
import gzip
import io
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semisquares.tables.io import Dialect, find, iter_chunks, read, writer
from semisquares.tables.io import _csv as csv_files
from semisquares.tables.io import _csv_writer as csv_text
from semisquares.tables.io import _write as writing
from semisquares.tables.io._columns import MISSING, spellings
from support.sentences import sentence

TABLE = pa.table({"age": ["30", "41"], "kind": ["red", "blue"]})
DIALECTS = [Dialect(mark) for mark in (",", ";", "\t", "|")] + [Dialect(";", decimal=",")]
NASTY = st.text(
    st.one_of(
        st.sampled_from('""\n\r,;\t|\' a1.é\ufeff\u2028😀\\'),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=9,
)


def text_of(table, dialect=None):
    """Return a table as CSV on standard output."""
    out = io.BytesIO()
    with writer("-", dialect=dialect, stdout=out) as rows:
        rows.write(table)
    return out.getvalue().decode()


def written(path, *tables, dialect=None):
    with writer(str(path), dialect=dialect) as rows:
        for table in tables:
            rows.write(table)
    return str(path)


# -- round trips -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(NASTY, NASTY), min_size=1, max_size=9), st.sampled_from(DIALECTS))
def test_cells_of_text_come_back_exactly(rows, dialect):
    table = pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    written = text_of(table, dialect)
    source = find("-", stdin=io.BytesIO(written.encode()), delimiter=dialect.delimiter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "BLOCKS", (64, 1 << 20))
        cells = pa.concat_tables(cells for cells, _ in iter_chunks(source, rows=2))
    assert cells == table
    plain = csv.reader(io.StringIO(written, newline=""), delimiter=dialect.delimiter)
    assert list(plain) == [["a", "b"], *map(list, rows)]  # for Python's reader too


@given(st.lists(NASTY.filter(lambda text: text not in spellings(MISSING)), min_size=1, max_size=9))
def test_text_that_is_not_missing_comes_back_through_read(texts):
    written = text_of(pa.table({"a": texts, "b": ["x"] * len(texts)}))
    source = find("-", stdin=io.BytesIO(written.encode()), delimiter=",", decimal=".")
    assert read(source, text=["a"])["a"].tolist() == texts


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.txt", "a.tsv", "a.tab", "a.csv.gz", "a.tsv.bz2", "a.csv.zst", "A.PARQUET", "a.pq",
     "a.feather", "a.arrow", "a.jsonl", "a.ndjson.gz", "a.jsonl.zst"],
)  # fmt: skip
def test_every_kind_of_file_is_read_again(tmp_path, name):
    more = pa.table({"kind": ["green, or so"], "age": ["7"]})  # in another order
    path = written(tmp_path / name, TABLE, more)
    cells = pa.concat_tables(cells for cells, _ in iter_chunks(find(path)))
    assert cells.to_pydict() == {"age": ["30", "41", "7"], "kind": ["red", "blue", "green, or so"]}


def test_numbers_come_back_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(0)
    numbers = [*(rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500)), -0.0, 5e-324, np.inf]
    for dialect in DIALECTS:
        path = written(
            tmp_path / "a.csv", pa.table({"x": numbers, "n": range(503)}), dialect=dialect
        )
        frame = read(find(path, decimal=dialect.decimal))
        np.testing.assert_array_equal(frame["x"], numbers)
        assert frame["n"].tolist() == list(range(503))


def test_a_table_larger_than_what_is_written_at_once_is_whole(monkeypatch):
    table = pa.table({"a": map(str, range(100)), "b": [f'"{i},' for i in range(100)]})
    whole = text_of(table)
    monkeypatch.setattr(csv_text, "CELLS", 7)
    assert text_of(table) == whole
    assert text_of(pa.concat_tables([table[:33], table[33:]])) == whole


# -- the dialect of CSV ----------------------------------------------------------------------------


def test_only_cells_that_need_quotes_have_them():
    table = pa.table(
        {"a, b": ["1", "", None, " x "], 'c"': ['say "so"', "a,b", "a;b", "two\nlines"]}
    )
    assert text_of(table) == (
        '"a, b","c"""\n1,"say ""so"""\n,"a,b"\n,a;b\n x ,"two\nlines"\n'
    )  # fmt: skip


def test_cells_without_marks_are_not_touched():
    assert text_of(TABLE) == "age,kind\n30,red\n41,blue\n"
    assert text_of(TABLE, Dialect()) == "age,kind\n30,red\n41,blue\n"


def test_values_are_written_as_people_do():
    table = pa.table(
        {
            "half": [0.5, np.nan],
            "money": pa.array([decimal.Decimal("1.50"), None]),
            "whole": [1, None],
            "truth": [True, None],
            "level": pa.array(["a", None]).dictionary_encode(),
            "day": [datetime.date(2020, 1, 31), None],
            "moment": pa.array([1_580_000_000 * 10**9, None], pa.timestamp("ns")),
            "instant": pa.array([1_580_000_000 * 10**9 + 5, None], pa.timestamp("ns")),
            "nothing": pa.nulls(2),
        }
    )
    moment = "2020-01-26 00:53:20"
    rest = f"1,true,a,2020-01-31,{moment},{moment}.000000005,"
    header = ",".join(table.column_names)
    assert text_of(table) == f"{header}\n0.5,1.50,{rest}\n,,,,,,,,\n"
    comma = text_of(table, Dialect(";", decimal=",")).splitlines()[1]
    assert comma.startswith("0,5;1,50;1;true")
    assert comma.endswith(".000000005;")


def test_a_single_column_keeps_its_empty_cells():
    assert text_of(pa.table({"a": ["x", "", None]})) == 'a\nx\n""\n""\n'


@pytest.mark.parametrize(
    ("name", "dialect", "header"),
    [
        ("a.csv", None, "age,kind"),
        ("a.csv", Dialect(";"), "age;kind"),
        ("a.txt", Dialect("\t"), "age\tkind"),
        ("a.csv", Dialect("\t"), "age,kind"),
        ("a.csv", Dialect("\t", decimal=","), "age;kind"),
        ("a.tsv", Dialect(";"), "age\tkind"),
        ("a.csv", Dialect("|", "utf-16"), "age|kind"),
    ],
)
def test_the_delimiter_of_the_input_is_kept_unless_the_ending_says_otherwise(
    tmp_path, name, dialect, header
):
    path = written(tmp_path / name, TABLE, dialect=dialect)
    with open(path, encoding="utf-8") as file:
        assert file.readline() == header + "\n"


def test_a_table_with_quotes_and_decimal_commas_is_copied_unchanged(tmp_path):
    content = b'a;b\n1,5;"x;y"\n;NA\n"0,5";z\n'
    source = find("-", stdin=io.BytesIO(content))
    path = written(
        tmp_path / "a.csv", *(cells for cells, _ in iter_chunks(source)), dialect=source.dialect
    )
    with open(path, "rb") as file:
        assert file.read() == content.replace(b'"0,5"', b"0,5")


def test_compressed_text_is_what_others_unpack(tmp_path):
    with gzip.open(written(tmp_path / "a.csv.gz", TABLE, TABLE)) as file:
        assert file.read() == b"age,kind\n30,red\n41,blue\n30,red\n41,blue\n"


def test_parquet_is_what_pandas_reads(tmp_path):
    table = TABLE.append_column("score", [[0.5, None]])
    path = written(tmp_path / "a.parquet", table, table)
    assert pd.read_parquet(path)["score"].notna().tolist() == [True, False] * 2


def test_levels_numbered_differently_in_each_chunk_are_written(tmp_path):
    first = pa.table({"a": pa.array(["x", "y"]).dictionary_encode(), "b": [1, 2]})
    second = pa.table({"a": pa.array(["y", "z"]).dictionary_encode(), "b": [3, 4]})
    for name in ("a.feather", "a.parquet", "a.csv"):
        path = written(tmp_path / name, first, second)
        assert read(find(path))["a"].tolist() == ["x", "y", "y", "z"]


# -- all or nothing --------------------------------------------------------------------------------

ENDINGS = ["a.csv", "a.csv.gz", "a.parquet", "a.feather"]


@pytest.mark.parametrize("name", ENDINGS)
def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    with writer(str(path)) as rows:
        rows.write(TABLE)
        assert path.read_bytes() == b"old"
    assert read(find(str(path)))["kind"].tolist() == ["red", "blue"]
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_a_failure_keeps_the_old_file_and_is_raised_as_it_is(tmp_path, name, error):
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_and_fail():
        with writer(str(path)) as rows:
            rows.write(TABLE)
            raise error

    with pytest.raises(error) as caught:
        write_and_fail()
    assert caught.type is error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]


class FullDisk(io.BytesIO):
    """A file that accepts only the first bytes."""

    room = 8

    def write(self, data):
        if self.tell() + len(bytes(data)) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


@pytest.mark.parametrize("name", ENDINGS)
def test_a_full_disk_is_reported(monkeypatch, name):
    monkeypatch.setattr(writing, "atomic_write", lambda path: FullDisk())
    message = sentence(lambda: written(name, TABLE))
    assert message == (
        f"No space left on device writing {name}; make room, or choose another disk."
    )


def test_a_closed_pipe_is_for_the_caller(monkeypatch):
    closed = BrokenPipeError(errno.EPIPE, "Broken pipe")

    class Pipe(io.BytesIO):
        def write(self, data):
            raise closed

    with pytest.raises(BrokenPipeError) as caught, writer("-", stdout=Pipe()) as rows:
        rows.write(TABLE)
    assert caught.value is closed


def test_standard_output_has_the_rows_after_every_chunk_and_stays_open():
    raw = io.BytesIO()
    out = io.BufferedWriter(raw)
    with writer("-", stdout=out) as rows:
        rows.write(TABLE)
        assert raw.getvalue() == b"age,kind\n30,red\n41,blue\n"
    assert not out.closed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "a.xls",
            "would be a spreadsheet file, which cannot be written here; let the name end with "
            ".csv, .tsv, .xlsx, .jsonl, .parquet or .feather.",
        ),
        ("a", "does not tell the format of the table"),
        ("a.parquet.gz", "is compressed twice"),
        ("folder.csv", "is a folder; give the name of a file in it."),
        ("file.csv/a.csv", "is not a folder; choose another place."),
    ],
)
def test_places_that_cannot_be_written_to_are_named(tmp_path, name, words):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_bytes(b"")
    assert words in sentence(lambda: written(tmp_path / name, TABLE))


def test_a_place_without_permission_is_reported(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(writing, "atomic_write", refuse)
    assert "Permission denied writing a.csv" in sentence(lambda: written("a.csv", TABLE))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("a.csv", {"age": ["1"]}),
        ("a.csv", {"age": ["1"], "kind": ["x"], "more": ["y"]}),
        ("a.parquet", {"age": ["1"], "sort": ["x"]}),
    ],
)
def test_rows_with_other_columns_are_refused(tmp_path, name, other):
    message = sentence(lambda: written(tmp_path / name, TABLE, pa.table(other)))
    assert "columns differ in name or type" in message
    assert not (tmp_path / name).exists()


def test_rows_of_other_types_are_refused_if_types_are_kept(tmp_path):
    numbers, texts = pa.table({"a": [1], "b": [1]}), pa.table({"a": ["x"], "b": [1]})
    assert "differ in name or type" in sentence(
        lambda: written(tmp_path / "a.parquet", numbers, texts)
    )
    assert read(find(written(tmp_path / "a.csv", numbers, texts)))["a"].tolist() == ["1", "x"]


def test_cells_that_csv_cannot_say_are_refused(tmp_path):
    message = sentence(lambda: text_of(pa.table({"a": [[1, 2]], "b": [1]})))
    assert message.startswith("Column 'a' holds cells of the type list")
