"""Workbooks: their sheets are read like other tables, and .xlsx is written."""

import datetime
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from semisquares.tables import TableError
from semisquares.tables.io import _excel, find, iter_chunks, names_table, read, split, writer
from support.sentences import sentence
from support.table_files import put
from support.workbooks import fruit_xls, ods_of, xlsx_of


def fault(path, **given):
    """Return the error of reading a file, which has to be the same in all ways of reading."""
    whole = sentence(lambda: read(find(path, **given)))
    assert sentence(lambda: list(iter_chunks(find(path, **given)))) == whole
    assert sentence(lambda: split(find(path, **given))) == whole
    return whole.replace(path, "a.xlsx")


def written(path, *tables):
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    with writer(str(path)) as rows:
        for table in tables:
            rows.write(table)
    return str(path)


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.xlsx", xlsx_of), ("A.XLSX", xlsx_of), ("a.xls", fruit_xls), ("a.ods", ods_of)],
)
def test_cells_have_the_types_of_the_sheet(tmp_path, name, content):
    pytest.importorskip("python_calamine")
    path = put(tmp_path, name, content())
    frame = read(path)
    np.testing.assert_array_equal(frame["size"], [3.0, 0.5, np.nan])
    assert frame["kind"].tolist() == ["plum", "pear", "01234"]
    assert frame["seen"].dtype.kind == "M"
    assert frame["seen"].dt.strftime("%Y-%m-%d").tolist()[:2] == ["2020-01-05", "2020-02-28"]
    assert frame["ripe"].tolist() == [True, False, None]
    chunks = split(path, n_bytes=64)
    assert [chunk.n_rows for chunk in chunks] == [2, 1]
    assert_frame_equal(pd.concat([chunk.read() for chunk in chunks]), frame)
    with open(path, "rb") as stdin:
        assert_frame_equal(read(find("-", stdin=stdin)), frame)


def test_a_workbook_is_read_as_the_same_csv_is(tmp_path):
    rows = [["n", "x", "t", "mixed"], [1, 0.5, "NA", 7], [2, 2, "b", "few"], [3, -1e-9, "c", 0.25]]
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": rows}))
    same = put(tmp_path, "a.csv", "\n".join(",".join(map(str, row)) for row in rows))
    assert_frame_equal(read(path), read(same))
    assert_frame_equal(read(path, text=["n"]), read(same, text=["n"]))


def test_rows_and_columns_without_cells_are_left_out(tmp_path):
    rows = [[], ["", "age", "", "kind"], ["", 30, "", "a"], [], ["", 41.5, "", "b"], ["", "", " "]]
    frame = read(put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": rows})))
    assert frame.to_dict("list") == {"age": [30.0, 41.5], "kind": ["a", "b"]}


def test_dates_times_and_texts_of_one_column_are_text(tmp_path):
    day, moment = datetime.date(2020, 1, 5), datetime.datetime(2020, 1, 5, 10, 30)
    rows = [["when", "at", "year"], [day, day, 2020], [moment, "soon", 2021]]
    frame = read(put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": rows})))
    assert frame["when"].tolist() == [pd.Timestamp(day), pd.Timestamp(moment)]
    assert frame["at"].tolist() == ["2020-01-05", "soon"]
    assert frame["year"].tolist() == [2020, 2021]


# -- sheets ----------------------------------------------------------------------------------------

TABLE = [["age", "kind"], [30, "a"], [41, "b"]]


def test_the_only_sheet_that_is_shown_and_filled_is_read(tmp_path):
    sheets = {"Data": TABLE, "Empty": [], "Secret": TABLE[:2]}
    path = put(tmp_path, "a.xlsx", xlsx_of(sheets, hidden=["Secret"]))
    assert read(path)["age"].tolist() == [30, 41]
    assert read(find(path, sheet="Secret"))["age"].tolist() == [30]


def test_one_of_several_sheets_has_to_be_chosen(tmp_path):
    path = put(tmp_path, "a.xlsx", xlsx_of({"Data": TABLE, "2": TABLE[:2], "Notes": [["x"]]}))
    assert fault(path) == (
        "a.xlsx has 3 sheets: 'Data', '2', 'Notes'; choose one with sheet='Data'."
    )
    assert len(read(find(path, sheet="Data"))) == len(read(find(path, sheet=1))) == 2
    assert len(read(find(path, sheet="2"))) == 1  # a name comes before a number
    assert "has no sheet 'Dat'; did you mean 'Data'?" in fault(path, sheet="Dat")
    assert "has no sheet '9'; its sheets are 'Data', '2', 'Notes'." in fault(path, sheet=9)


@pytest.mark.parametrize(
    "above", [[["Sales in 2020"]], [[], ["Sales"], []], [["Sales", "", "x"], ["by region"]]]
)
def test_rows_above_the_header_are_pointed_out_and_skipped(tmp_path, above):
    table = [["", "age", "kind", "note"], ["", 30, "a", "x"], ["", 41, "b", ""]]
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": above + table}))
    rows = "1 row" if len(above) == 1 else f"{len(above)} rows"
    message = fault(path)
    assert message.startswith(f"a.xlsx has {rows} above its header, such as a title; skip ")
    assert message.endswith(f" with skip_rows={len(above)}.")
    frame = read(find(path, skip_rows=len(above)))
    assert list(frame) == ["age", "kind", "note"]
    assert frame["age"].tolist() == [30, 41]


def test_sheets_without_a_table_are_refused(tmp_path):
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": []}))
    assert "is empty; give a table with a header and rows" in fault(path)
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": TABLE[:1]}))
    assert "has a header but no rows" in fault(path)
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": TABLE}))
    assert "has no header below the 3 rows to skip" in fault(path, skip_rows=3)
    path = put(tmp_path, "a.xlsx", xlsx_of({"Sheet1": [["a", "a"], [1, 2]]}))
    assert "has more than one column named 'a'" in fault(path)


@pytest.mark.parametrize("damage", [lambda b: b[:300], lambda b: b"PK\x03\x04junk", lambda b: b"x"])
def test_damaged_workbooks_are_refused(tmp_path, damage):
    path = put(tmp_path, "a.xlsx", damage(xlsx_of()))
    assert fault(path) == (
        "a.xlsx is damaged, truncated or not a workbook; save it again, or as CSV."
    )


# -- writing ---------------------------------------------------------------------------------------


def test_cells_come_back_as_they_were_written(tmp_path):
    moments = [datetime.datetime(2020, 1, 5), datetime.datetime(2020, 1, 5, 10, 30), None]
    table = pa.table(
        {
            "x": [0.1, np.nan, -3e300],
            "n": [1, None, 3],
            "large": [2**60, 1, 2],
            "t": ["=1+1", "http://a.b", None],
            "b": [True, None, False],
            "d": moments,
            "old": pa.array([datetime.date(1850, 1, 2)] * 3),
        }
    )
    frame = read(written(tmp_path / "a.xlsx", table[:2], table[2:]))
    np.testing.assert_array_equal(frame["x"], [0.1, np.nan, -3e300])
    np.testing.assert_array_equal(frame["n"], [1, np.nan, 3])
    assert frame["large"].tolist() == ["1152921504606846976", "1", "2"]
    assert frame["t"].tolist()[:2] == ["=1+1", "http://a.b"]
    assert frame["b"].tolist() == [True, None, False]
    assert frame["d"].tolist() == [*map(pd.Timestamp, moments[:2]), pd.NaT]
    assert frame["old"].tolist() == ["1850-01-02"] * 3


def test_the_same_rows_give_the_same_bytes(tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    one, other = (written(tmp_path / name, table) for name in ("a.xlsx", "b.xlsx"))
    with open(one, "rb") as first, open(other, "rb") as second:
        assert first.read() == second.read()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"a": range(9)}), "The table has at least 8 rows, more than a sheet of Excel"),
        (pa.table({"a": ["x" * 32_768]}), "The table has a cell of 32,768 characters, more"),
        (pa.table([[1]] * 9, [f"c{k}" for k in range(9)]), "The table has 9 columns, more"),
    ],
)
def test_tables_that_no_sheet_can_hold_are_refused(tmp_path, monkeypatch, table, words):
    monkeypatch.setattr(_excel, "MOST_ROWS", 8)
    monkeypatch.setattr(_excel, "MOST_COLUMNS", 8)
    pytest.importorskip("xlsxwriter")
    assert words in sentence(lambda: written(tmp_path / "a.xlsx", table))
    assert list(tmp_path.iterdir()) == []


# -- what is needed --------------------------------------------------------------------------------


def test_a_missing_library_is_named_with_the_line_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    path = put(tmp_path, "a.xlsx", b"PK\x03\x04")
    assert fault(path) == (
        "a.xlsx is a workbook, and python-calamine, which reads it, is not installed; run pip "
        "install 'semisquares[excel]', or save the table as CSV."
    )
    with (
        pytest.raises(TableError, match=r"XlsxWriter, .* run pip install 'semisquares\[excel\]'"),
        writer(str(tmp_path / "b.xlsx")) as rows,
    ):
        rows.write(pa.table({"a": [1]}))


def test_workbooks_under_the_name_of_a_csv_are_recognised(tmp_path):
    path = put(tmp_path, "a.csv", b"PK\x03\x04" + bytes(99))
    words = "is an Excel workbook or a zip archive by its content; let its name end with .xlsx, or"
    assert words in sentence(lambda: find(path))
    assert all(map(names_table, ["a.xlsx", "a.XLS", "a.ods", "a.jsonl.gz"]))


def test_a_workbook_from_a_pipe_is_recognised():
    frame = read(find("-", stdin=io.BytesIO(xlsx_of({"Data": TABLE}))))
    assert frame["age"].tolist() == [30, 41]
