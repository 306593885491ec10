"""Rows above the header are skipped if the user says so, and pointed out if not."""

import gzip

import pytest
from pandas.testing import assert_frame_equal

from semisquares.tables.io import find, iter_chunks, read, split
from support.sentences import error_of, sentence
from support.table_files import put

TABLE = 'age,kind,note\n30,a,"two\nlines"\n41,b,x\n'


def fault(path, **given):
    """Return the error of reading a file, which has to be the same in all ways of reading."""
    whole = sentence(lambda: read(find(path, **given)))
    assert sentence(lambda: list(iter_chunks(find(path, **given)))) == whole
    assert sentence(lambda: split(find(path, **given))) == whole
    return whole.replace(path, "a.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("title", ["Sales in 2020\n", 'A "title\n\n', "a,b;c,d\nü\n"])
def test_the_table_below_skipped_lines_is_that_without_them(tmp_path, title, encoding, end):
    plain = put(tmp_path, "plain.csv", TABLE.replace("\n", end).encode(encoding))
    titled = put(tmp_path, "a.csv", (title + TABLE).replace("\n", end).encode(encoding))
    source = find(titled, skip_rows=title.count("\n"))
    assert source.dialect == find(plain).dialect
    assert_frame_equal(read(source), read(plain))
    chunks = split(source, n_bytes=24)
    assert [chunk.n_rows for chunk in chunks] == [1, 1]
    assert [chunk.read()["note"].iloc[0] for chunk in chunks] == read(plain)["note"].tolist()
    (cells, frame), (_, expected) = (next(iter_chunks(one)) for one in (source, plain))
    assert cells.column_names == ["age", "kind", "note"]
    assert_frame_equal(frame, expected)


def test_lines_of_compressed_files_and_of_several_files_are_skipped(tmp_path):
    for name in "ab":
        put(tmp_path, f"{name}.csv.gz", gzip.compress(f"Part {name}\n{TABLE}".encode()))
    frame = read(find(str(tmp_path / "*.csv.gz"), skip_rows=1))
    assert frame["age"].tolist() == [30, 41, 30, 41]


@pytest.mark.parametrize(
    ("title", "n_lines"),
    [
        ("Sales in 2020\n", 1),
        ("Sales in 2020,,\n", 1),
        ("Sales in 2020\n\n", 2),
        ("Sales, 2020\n", 1),
        ('"Sales, all of them"\nby region\n', 2),
        ("first,,second\n", 1),
        ("x,x,\n", 1),
    ],
)
def test_a_title_above_the_header_is_pointed_out(tmp_path, title, n_lines):
    path = put(tmp_path, "a.csv", title + "age,kind,note\n30,a,x\n41,b,y\n")
    rows = "1 row" if n_lines == 1 else f"{n_lines} rows"
    them = "it" if n_lines == 1 else "them"
    assert fault(path) == (
        f"a.csv has {rows} above its header, such as a title; skip {them} with skip_rows={n_lines}."
    )
    assert read(find(path, skip_rows=n_lines))["age"].tolist() == [30, 41]


def test_the_number_to_skip_counts_the_rows_skipped_already(tmp_path):
    path = put(tmp_path, "a.csv", "Sales\nin 2020\nage;kind\n30;a\n41;b\n")
    assert "skip it with skip_rows=2." in fault(path, skip_rows=1)


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4,5\n",  # a bad row
        "a,b\nr1,x,y\nr2,x,z\n",  # names of rows, as R writes them
        "a\nr1,x\nr2,y\n",
        "age kind\n30 a\n41 b\n",  # another delimiter
        "a,b,\n1,2,3\n4,5,6\n",  # a column without a name
    ],
)
def test_other_faults_are_not_taken_for_a_title(tmp_path, content):
    assert "above its header" not in fault(put(tmp_path, "a.csv", content))


def test_faults_below_skipped_lines_have_the_line_numbers_of_the_file(tmp_path):
    path = put(tmp_path, "a.csv", "Sales\nin 2020\nage,kind\n30,a\n41\n")
    assert "has 1 cell in line 5, but 2 in its header" in fault(path, skip_rows=2)
    path = put(tmp_path, "a.csv", 'Sales\nage,kind\n30,a\n41,"b\n')
    assert "has a quotation mark in line 4 that is not closed" in fault(path, skip_rows=1)


@pytest.mark.parametrize("n_rows", [4, 5, 99])
def test_skipping_everything_is_refused(tmp_path, n_rows):
    path = put(tmp_path, "a.csv", "age,kind\n30,a\n41,b\n\n")
    assert fault(path, skip_rows=n_rows) == (
        f"a.csv has no header below the {n_rows} rows to skip; give a smaller number than "
        f"skip_rows={n_rows}."
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"skip_rows": -1}, "skip_rows is -1; give a whole number from 0 on."),
        ({"skip_rows": 1.5}, "skip_rows is 1.5; give a whole number from 0 on."),
        ({"sheet": 0}, "sheet is 0; give a whole number from 1 on."),
        ({"sheet": "Data"}, "a.csv is a csv file, to which sheet='Data' does not apply;"),
    ],
)
def test_wrong_options_are_refused(tmp_path, given, words):
    path = put(tmp_path, "a.csv", TABLE)
    assert words in error_of(lambda: find(path, **given))


def test_rows_of_a_file_that_stores_names_cannot_be_skipped(tmp_path):
    path = tmp_path / "a.parquet"
    read(put(tmp_path, "a.csv", TABLE)).to_parquet(path)
    words = "is a parquet file, to which skip_rows=2 does not apply; leave it out."
    assert words in fault(str(path), skip_rows=2)
