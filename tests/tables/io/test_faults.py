"""An error about a table is one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
from encodings import aliases
from functools import partial

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from semisquares.tables import TableError
from semisquares.tables.io import _csv as csv_files
from semisquares.tables.io import _source as sources
from semisquares.tables.io import find, iter_chunks, read, split
from support.sentences import sentence
from support.systems import linux_only, posix_only
from support.table_files import PLAIN, bytes_of, put

TABLE = pa.table({"age": [30, 41], "kind": ["red", "blue"]})
PARQUET = bytes_of(TABLE, parquet.write_table)
FEATHER = bytes_of(TABLE, feather.write_feather)
NOISE = random.Random(0).randbytes(999).hex("\n").replace("\n", ",\n").encode()
GZIP = gzip.compress(b"age,kind\n" + NOISE, mtime=0)  # the same in all test processes


def fault(folder, name, content, **said):
    """Return the error of reading a file, which has to be the same whole and in chunks."""
    path = put(folder, name, content)
    whole = sentence(lambda: read(find(path, **said)))
    assert sentence(lambda: list(iter_chunks(find(path, **said)))) == whole
    return whole.replace(path, name)


# -- no file ---------------------------------------------------------------------------------------


def test_the_nearest_name_is_offered_for_a_file_that_is_not_there(tmp_path):
    path = put(tmp_path, "patients.csv", PLAIN)
    wrong = str(tmp_path / "patient.csv")
    assert sentence(lambda: find(wrong)) == f"There is no file {wrong}; did you mean {path}?"


def test_a_file_or_folder_that_is_not_there_is_named(tmp_path):
    path = str(tmp_path / "a.csv")
    assert sentence(lambda: find(path)) == f"There is no file {path}; check the path."
    path = str(tmp_path / "no" / "a.csv")
    assert f"nor a folder {tmp_path / 'no'}" in sentence(lambda: find(path))


def test_a_pattern_that_matches_nothing_is_named(tmp_path):
    assert "No file matches the pattern" in sentence(lambda: find(str(tmp_path / "*.csv")))


def test_a_folder_is_not_a_table_but_a_pattern_is(tmp_path):
    assert f"'{tmp_path / '*.csv'}'" in sentence(lambda: find(str(tmp_path)))


@linux_only
def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    path = put(tmp_path, os.fsdecode(b"a\xff.csv"), PLAIN)
    said = f"The name {path!r} holds bytes that are not UTF-8; rename the file."
    assert sentence(lambda: find(path)) == said
    assert sentence(lambda: find(str(tmp_path / "*.csv"))) == said


@posix_only
def test_a_dangling_link_is_not_a_file(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "gone.csv")
    assert "does not exist" in sentence(lambda: find(str(tmp_path / "a.csv")))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied reading "),
        (OSError(5, "Input/output error"), "Input/output error reading "),
    ],
)
def test_errors_of_the_system_are_reported(tmp_path, monkeypatch, error, words):
    def refuse(*_):
        raise error

    path = put(tmp_path, "a.csv", PLAIN)
    monkeypatch.setattr(sources, "open", refuse, raising=False)
    assert words in sentence(lambda: find(path))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.rds", "is an R file; save it as CSV and give that file."),
        ("a.SAV", "is an SPSS file; save it as CSV and give that file."),
        ("a.json", "is a JSON file; save it as JSON lines (.jsonl) or CSV and give that file."),
        ("a.sqlite", "is a SQLite database; save it as CSV and give that file."),
        ("a.pkl", "is a pickle; save it as CSV and give that file."),
        ("a.zip", "is a zip archive; unpack it, and give the table that is in it."),
        ("a.tar.gz", "is an archive; unpack it, and give the table that is in it."),
        ("a.dat", "does not tell the format of the table"),
        ("a", "does not tell the format of the table"),
        ("a.gz", "does not tell the format of the table"),
        ("a.parquet.gz", "is compressed twice; use a plain .parquet file."),
    ],
)
def test_files_that_are_not_tables_are_named_by_their_ending(tmp_path, name, words):
    path = put(tmp_path, name, PLAIN)
    assert words in sentence(lambda: find(path))


# -- what is in a file -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_an_empty_file_is_reported(tmp_path, name):
    assert fault(tmp_path, name, b"").startswith(f"{name} is empty")


@pytest.mark.parametrize("content", ["\n\n", "\ufeff", " \n"])
def test_a_file_of_nothing_but_line_ends_is_empty(tmp_path, content):
    assert fault(tmp_path, "a.csv", content).startswith("a.csv is empty")


def test_empty_standard_input_is_reported():
    message = sentence(lambda: find("-", stdin=io.BytesIO()))
    assert message == "Standard input is empty; give a table with a header and rows."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "a,b\n"),
        ("a.csv", "a,b"),
        ("a.csv", "a,b\n\n"),
        ("a.parquet", bytes_of(TABLE.slice(0, 0), parquet.write_table)),
        ("a.feather", bytes_of(TABLE.slice(0, 0), feather.write_feather)),
    ],
)
def test_a_header_alone_is_not_a_table(tmp_path, name, content):
    assert fault(tmp_path, name, content).startswith(f"{name} has a header but no rows")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"\x01\x00\x02,\x00\n" * 9, "holds binary data"),
        ("a.csv", b"PK\x03\x04\x14\x00", "is an Excel workbook or a zip archive by its content"),
        ("a.csv", b"\n<!DOCTYPE html><html>a,b", "is a web page by its content"),
        ("a.csv", b"<?xml version='1.0'?>", "is an XML file by its content"),
        ("a.csv", b'[{"a": 1}]', "is a JSON file by its content"),
        ("a.csv", PARQUET, "let its name end with .parquet."),
        ("a.csv", FEATHER, "let its name end with .feather."),
        ("a.csv.gz", GZIP[:500], "is damaged or truncated"),
        ("a.csv.gz", GZIP[:100] + b"junk" + GZIP[104:], "is damaged or truncated"),
        ("a.parquet", PLAIN, "is damaged, truncated or not a Parquet file"),
        ("a.parquet", PARQUET[:-20], "is damaged, truncated or not a Parquet file"),
        (
            "a.parquet",
            PARQUET[:40] + b"\xff" * 40 + PARQUET[80:],
            "is damaged, truncated or not a Parquet",
        ),
        ("a.feather", PLAIN, "is damaged, truncated or not a Feather file"),
        ("a.feather", FEATHER[:-20], "is damaged, truncated or not a Feather file"),
        (
            "a.arrow",
            b"\xff" * 4 + b"\x10\x00\x00\x00",
            "is damaged, truncated or not a Feather file",
        ),
        ("a.feather", b"FEA1 and so on", "is a Feather file of the old version 1"),
    ],
)
def test_damage_and_wrong_content_are_reported(tmp_path, name, content, words):
    assert words in fault(tmp_path, name, content)


def plain_feather(table):
    return bytes_of(table, lambda table, sink: feather.write_feather(table, sink, "uncompressed"))


LETTERS = pa.DictionaryArray.from_arrays(pa.array([2, 1, 2], pa.int32()), ["a", "b", "c"])
COLUMNS = pa.table({"kind": ["red", "blue", "green"], "letter": LETTERS, "size": [0.5, None, 2.5]})
OFFSETS, PLACES = struct.pack("<4i", 0, 3, 7, 12), struct.pack("<3i", 2, 1, 2)


@pytest.mark.parametrize(
    ("sound", "damaged"),
    [
        (OFFSETS, struct.pack("<4i", 0, 3, 7, 2**30)),
        (OFFSETS, struct.pack("<4i", 0, -3, 7, 12)),
        (OFFSETS, struct.pack("<4i", 0, 9, 7, 12)),
        (PLACES, struct.pack("<3i", 2, 1, 9)),
        (PLACES, struct.pack("<3i", 2, -1, 2)),
        (b"redbluegreen", b"redbl\xffegreen"),
        (b"kind", b"k\xffnd"),
    ],
    ids=["beyond", "below", "backwards", "no level", "negative level", "no text", "no name"],
)
def test_damage_inside_a_feather_file_is_reported_however_it_is_read(tmp_path, sound, damaged):
    content = plain_feather(COLUMNS)
    assert sound in content
    words = "a.feather is damaged, truncated or not a Feather file"
    assert words in fault(tmp_path, "a.feather", content.replace(sound, damaged))
    path = str(tmp_path / "a.feather")
    assert sentence(lambda: [part.read() for part in split(find(path))]).endswith("write it again.")


def test_a_name_in_parquet_that_is_not_text_is_damage(tmp_path):
    content = bytes_of(COLUMNS.select(["kind"]).replace_schema_metadata(), parquet.write_table)
    assert "is damaged" in fault(tmp_path, "a.parquet", content.replace(b"kind", b"k\xffnd"))


DAMAGED_NOTES = [
    b"{",
    b"[]",
    b"3",
    b"\xff",
    b"[" * 100_000,
    b'{"index_columns": 3}',
    b'{"index_columns": [3]}',
    b'{"index_columns": [["age"]]}',
    b'{"index_columns": ["no such column"]}',
    b'{"index_columns": [{"kind": "range"}]}',
    b'{"index_columns": ["age"], "columns": 3}',
    b'{"index_columns": ["age"], "columns": ["age"]}',
    b'{"index_columns": ["age"], "columns": [{"field_name": "age"}]}',
]


@pytest.mark.parametrize("notes", DAMAGED_NOTES, ids=lambda notes: notes[:60].decode("latin-1"))
@pytest.mark.parametrize(
    ("name", "write"),
    [("a.parquet", parquet.write_table), ("a.feather", feather.write_feather)],
)
def test_a_table_is_read_without_damaged_notes_of_pandas(tmp_path, name, write, notes):
    table = TABLE.append_column("__index_level_0__", [["p", "q"]])
    content = bytes_of(table.replace_schema_metadata({b"pandas": notes}), write)
    source = find(put(tmp_path, name, content))
    assert read(source).to_dict("list") == TABLE.to_pydict()
    ((cells, frame),) = iter_chunks(source)
    assert frame.to_dict("list") == TABLE.to_pydict()
    assert cells.to_pandas().to_dict("list") == table.to_pydict()
    (part,) = split(source)
    assert part.read().to_dict("list") == TABLE.to_pydict()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.tsv", PLAIN, "split at each tab (its header is 'age,kind'); name the delimiter, as in "
         "delimiter=','."),
        ("a.csv", "a b\n1 2\n", "split at each comma (its header is 'a b')"),
        ("a.csv", "x" * 99 + "\n1\n", f"header is '{'x' * 40}…')"),
    ],
)  # fmt: skip
def test_a_single_column_is_a_wrong_delimiter(tmp_path, name, content, words):
    assert words in fault(tmp_path, name, content)


def test_a_wrong_delimiter_of_the_user_is_reported(tmp_path):
    message = fault(tmp_path, "a.csv", PLAIN, delimiter=";")
    assert "split at each semicolon (its header is 'age,kind')" in message


ROWS = '1,2\n"a\nb",3\n\n'  # up to line 5


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("4,5,6\n", "has 3 cells in line 6, but 2 in its header; put cells that hold a comma in"),
        ("4\n5,6\n", "has 1 cell in line 6, but 2 in its header; complete the row"),
        ("4,5\n6\n", "has 1 cell in line 7, but 2 in its header"),
        ('"x"y,5\n6,7,8\n', "has 3 cells in line 7, but 2 in its header"),
        ('4,"x\n5,6\n', "has a quotation mark in line 6 that is not closed"),
        ('"4,x\n5,6\n', "has a quotation mark in line 6 that is not closed"),
        ('4,"x' + "\n5,6" * 99_999, "has a quotation mark in line 6 that is not closed"),
    ],
)
def test_rows_that_do_not_fit_the_header_are_found(tmp_path, end, words):
    assert words in fault(tmp_path, "a.csv", "a,b\n" + ROWS + end)


def test_a_bad_row_of_a_compressed_or_wide_file_is_found(tmp_path):
    content = "a;b\r\n1;2\r\n3\r\n"
    packed = fault(tmp_path, "a.csv.gz", gzip.compress(content.encode()))
    wide = fault(tmp_path, "a.csv", content.encode("utf-16"))
    assert "has 1 cell in line 3" in packed
    assert "has 1 cell in line 3" in wide


def test_a_header_that_never_ends_is_reported(tmp_path):
    message = fault(tmp_path, "a.csv", 'a,"b\n' + "1,2\n" * 99_999)
    assert "has a quotation mark in its header that is not closed" in message


def test_a_row_beyond_all_bounds_is_an_error_of_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCKS", (32, 64))
    message = fault(tmp_path, "a.csv", "a,b\n1,2\n" + "3" * 999 + ",4\n")
    assert message.startswith("a.csv cannot be read as CSV with the delimiter comma")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,x\n2,caf\xe9\n", "is not UTF-8: line 3 has the bytes E9 0A; save it as UTF-8, or "
         "give encoding='latin-1' if"),
        (b"caf\xe9,b\n1,x\n", "is not UTF-8: line 1 has the bytes E9 2C 62 0A"),
        ("a,b\n1,ü\n".encode() + b"2,caf\xe9\n", "mixes encodings: line 2 is UTF-8 but line 3 has "
         "the bytes E9 0A; save it as UTF-8."),
        (b"a,b\n" + b"1,2\n" * 99_999 + b"2,\xe9\n", "line 100001 has the bytes E9"),
        (b"a,b\n" + b"1,2\n" * 99_999 + b"\xe9,3\n", "line 100001 has the bytes E9"),
    ],
)  # fmt: skip
def test_bytes_that_are_not_utf8_are_found(tmp_path, content, words):
    assert words in fault(tmp_path, "a.csv", content)


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        (
            b"a,b\n1,\x81\n",
            "cp1252",
            "is not in cp1252: line 2 has the bytes 81 0A; give the right",
        ),
        (b"a,b\n" + b"1,2\n" * 99_999 + b"1,\x81\n", "cp1252", "cp1252: line 100001 has the bytes"),
        (
            PLAIN.encode("utf-16"),
            "utf-8",
            "line 1 has the bytes FF FE 61 00; give encoding='utf-16'.",
        ),
        (PLAIN.encode("utf-16")[:-1], "utf-16", "is not in utf-16 after line 2; give the right"),
        ("age,kind\n30,r\u00fcd\n", "utf-16", "is not in utf-16 after line 0; give the right"),
        (PLAIN, "klingon", "There is no encoding named 'klingon'"),
        (PLAIN, "base64", "There is no encoding named 'base64'"),
        (PLAIN, "punycode", "The encoding 'punycode' is for host names, not for files"),
        (PLAIN, "IDNA", "The encoding 'IDNA' is for host names, not for files"),
    ],
)
def test_a_wrong_encoding_of_the_user_is_reported(tmp_path, content, encoding, words):
    assert words in fault(tmp_path, "a.csv", content, encoding=encoding)


CODECS = {*aliases.aliases.values(), "undefined", "idna", "punycode", "rot13"}
BYTES = {
    "plain": PLAIN.encode(),
    "not ASCII": "age,kind\n1,\u00fc\n".encode(),
    "all": bytes(range(256)),
}


def refusal(call):
    """Return the sentence of the TableError that a call raises, "" if it raises none."""
    try:
        call()
    except TableError as error:
        return str(error)
    return ""


def read_as(way, path, encoding):
    return way(find(path, encoding=encoding))


@pytest.mark.parametrize("content", BYTES.values(), ids=BYTES)
@pytest.mark.parametrize(
    "way",
    [read, lambda source: list(iter_chunks(source)), split],
    ids=["read", "in chunks", "split"],
)
def test_in_whatever_encoding_a_table_is_read_or_refused_in_a_sentence(tmp_path, content, way):
    path = put(tmp_path, "a.csv", content)
    said = {name: refusal(partial(read_as, way, path, name)) for name in CODECS}
    assert "There is no encoding named 'rot13'" in said["rot13"]
    assert all(one.endswith(".") for one in said.values() if one)


def test_an_encoding_has_many_names(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN)
    said = {name: refusal(partial(read_as, read, path, name)) for name in aliases.aliases}
    assert said["latin1"] == said["utf8"] == ""
    assert all(one.endswith(".") for one in said.values() if one)


@pytest.mark.parametrize("delimiter", ["", ",,", "ab", "é", '"', "\n"])
def test_a_delimiter_is_one_character(tmp_path, delimiter):
    assert f"The delimiter {delimiter!r}" in fault(tmp_path, "a.csv", PLAIN, delimiter=delimiter)


@pytest.mark.parametrize("decimal", ["", "..", "x"])
def test_a_decimal_mark_is_a_point_or_a_comma(tmp_path, decimal):
    assert f"The decimal mark {decimal!r}" in fault(tmp_path, "a.csv", PLAIN, decimal=decimal)


# -- columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "a,b, a,b,c\n1,2,3,4,5\n"),
        ("a.parquet", bytes_of(pa.table([[1]] * 4, ["a", "b", "a ", "b"]), parquet.write_table)),
    ],
)
def test_columns_of_the_same_name_are_named(tmp_path, name, content):
    assert "has more than one column named 'a', 'b';" in fault(tmp_path, name, content)


def test_a_column_without_a_name_is_counted(tmp_path):
    message = fault(tmp_path, "a.csv", "a,b,\n1,2,3\n")
    assert "has no name for column 3 of 3 in its header" in message


@pytest.mark.parametrize("cells", [[[1, 2]], [{"x": 1}], [b"\xff\xfe"]])
def test_cells_that_are_not_values_are_refused(tmp_path, cells):
    content = bytes_of(pa.table({"a": [1], "b": cells}), parquet.write_table)
    message = fault(tmp_path, "a.parquet", content)
    assert "in column 'b'; a cell has to be a number" in message


def test_a_missing_column_is_reported_with_the_nearest_name(tmp_path):
    source = find(put(tmp_path, "a.csv", PLAIN))
    assert "no column 'knd'; did you mean 'kind'?" in sentence(
        lambda: read(source, columns=["knd"])
    )
    assert "no column 'xyz'; its columns are 'age', 'kind'." in sentence(
        lambda: read(source, text=["xyz"])
    )


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("age,sort\n1,x\n", "2.csv has no column 'kind', which"),
        ("age,kind,more\n1,x,y\n", "2.csv has a column 'more', which"),
        ("age;kind\n1;x\n", "2.csv has a single column when it is split at each comma"),
        ("\n", "2.csv is empty"),
        (b"\xe9ge,kind\n1,x\n", "2.csv is not UTF-8: line 1 has the bytes E9"),
    ],
)
def test_files_of_one_table_have_the_same_columns(tmp_path, second, words):
    put(tmp_path, "1.csv", PLAIN)
    put(tmp_path, "2.csv", second)
    assert words in sentence(lambda: read(find(str(tmp_path / "*.csv"))))


def test_files_of_one_table_are_of_one_kind(tmp_path):
    put(tmp_path, "1.csv", PLAIN)
    put(tmp_path, "2.parquet", PARQUET)
    assert "2.parquet have different formats" in sentence(lambda: find(str(tmp_path / "*")))


def test_an_empty_file_among_several_is_named(tmp_path):
    put(tmp_path, "1.csv", PLAIN)
    path = put(tmp_path, "2.csv", "")
    assert sentence(lambda: find(str(tmp_path / "*.csv"))).startswith(f"{path} is empty")
