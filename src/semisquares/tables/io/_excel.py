"""Workbooks: Excel's and OpenDocument's, read by calamine; .xlsx is written by XlsxWriter."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..._utils.messages import Parameter
from ..._utils.words import did_you_mean
from ..errors import TableError
from ._arrow import ArrowChunk, parquet_chunks
from ._columns import MissingWords, plain_table
from ._dialect import LINES, MOST_TITLES, Dialect, starts_table
from ._faults import title_above
from ._files import TableFile, empty, refused
from ._names import check_names
from ._python_cells import arrow_column, arrow_type, cell_text, kind_of
from ._temporary import TemporaryFolder
from .protocol import FileFormat

MOST_ROWS, MOST_COLUMNS, LONGEST = 1_048_576, 16_384, 32_767
"""What a sheet of Excel can hold: rows with the header, columns, characters of a cell."""
_EXACT = 2**53
_SHOWN = 8
_FIRST = datetime.datetime(1900, 3, 1)
"""Excel counts days from 1900, and believes in the 29th of February of that year."""


# -- reading ---------------------------------------------------------------------------------------


class WorkbookReader:
    """One sheet of a workbook, which is in memory as a whole.

    The header is the first row that is not empty, below the rows to skip. Rows and columns without
    any cell are left out.
    """

    index: Sequence[str] = ()

    def __init__(self, file: TableFile, dialect: Dialect, missing: MissingWords) -> None:
        import pyarrow as pa

        self.file, self.missing = file, missing
        rows = _sheet(file)[file.skip_rows :]
        filled = _without_empty_columns([row for row in rows if any(map(_filled, row))])
        if not filled:
            raise empty(file)
        header, *body = filled
        try:
            self.names = check_names(_texts(header), file.name)
        except TableError as error:  # a title is not a header
            raise _title_fault(file, rows) or error from None
        columns = zip(*body, strict=True) if body else [()] * len(header)
        self._table = pa.table([_column(cells) for cells in columns], names=self.names)

    def read(self, columns: Sequence[str], text: Collection[str]) -> Any:
        """Return the rows in plain types."""
        return plain_table(self._table.select(columns), text, self.missing, self.file.name)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield the rows, with the types that hold all cells of a column."""
        yield from self._table.select(columns).to_batches(max_chunksize=rows)

    def chunks(self, max_rows: int, max_bytes: int, folder: TemporaryFolder) -> list[ArrowChunk]:
        """Store the rows as Parquet, a file for each chunk."""
        return parquet_chunks(self, self.missing, max_rows, max_bytes, folder)


def _sheet(file: TableFile) -> list[list[Any]]:
    """Return all cells of the sheet that is the table."""
    with _opened(file) as book:
        return book.get_sheet_by_name(_chosen(file, book)).to_python(skip_empty_area=False)


@contextmanager
def _opened(file: TableFile) -> Iterator[Any]:
    """Open a workbook; TableError if that, or the reading, fails."""
    try:
        import python_calamine
    except ImportError:
        raise TableError(
            f"{file.name} is a workbook, and python-calamine, which reads it, is not installed; "
            "run pip install 'semisquares[excel]', or save the table as CSV.",
            code="calamine_missing",
        ) from None
    try:
        with open(file.path, "rb") as opened:
            yield python_calamine.CalamineWorkbook.from_filelike(opened)
    except OSError as error:
        raise refused(file.name, error) from error
    except python_calamine.PasswordError as error:
        raise TableError(
            f"{file.name} is protected by a password; save it without one.", code="password"
        ) from error
    except BaseException as error:
        if isinstance(error, python_calamine.CalamineError) or _is_panic(error):
            raise TableError(
                f"{file.name} is damaged, truncated or not a workbook; save it again, or as CSV.",
                code="damaged_workbook",
            ) from error
        raise


def _is_panic(error: BaseException) -> bool:
    """Tell whether the reader, which is written in Rust, has given up on a damaged file."""
    return type(error).__name__ == "PanicException"


def _chosen(file: TableFile, book: Any) -> str:
    """Return the name of the sheet: as the user says, or the only one that holds anything."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    names: list[str] = book.sheet_names
    if file.sheet is None:
        shown = [
            one.name
            for one in book.sheets_metadata
            if one.typ == SheetTypeEnum.WorkSheet and one.visible == SheetVisibleEnum.Visible
        ]
        if len(shown) > 1:
            shown = [name for name in shown if book.get_sheet_by_name(name).height]
        if len(shown) == 1:
            return shown[0]
        if not shown:
            raise empty(file)
        raise TableError(
            "{file} has {n} sheets: {listed}; choose one with {sheet}.",
            code="several_sheets",
            file=file.name,
            n=len(shown),
            listed=_listed(shown),
            sheet=Parameter("sheet", shown[0]),
        )
    if file.sheet in names:
        return file.sheet
    if re.fullmatch("[0-9]+", file.sheet) and 1 <= int(file.sheet) <= len(names):
        return names[int(file.sheet) - 1]
    hint = did_you_mean(file.sheet, names, f"its sheets are {_listed(names)}.")
    raise TableError(f"{file.name} has no sheet {file.sheet!r}; {hint}", code="unknown_sheet")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + ", …" * (len(names) > _SHOWN)


def _filled(cell: Any) -> bool:
    return not isinstance(cell, str) or bool(cell.strip())


def _value(cell: Any) -> Any:
    """Return a cell, None if it is empty, and whole numbers as such: a sheet holds floats only."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return int(cell)
    return None if cell == "" else cell


def _without_empty_columns(rows: list[list[Any]]) -> list[list[Any]]:
    width = len(rows[0]) if rows else 0
    kept = [k for k in range(width) if any(_filled(row[k]) for row in rows)]
    return [[row[k] for k in kept] for row in rows]


def _column(cells: Sequence[Any]) -> Any:
    values = [_value(cell) for cell in cells]
    return arrow_column(values, arrow_type({kind_of(value) or "text" for value in values}))


def _title_fault(file: TableFile, rows: list[list[Any]]) -> TableError | None:
    """Return an error if rows such as a title stand above the header; None if none seem to."""
    places = [place for place, row in enumerate(rows) if any(map(_filled, row))]
    for place in places[1 : MOST_TITLES + 1]:
        below = [row for row in rows[place : place + LINES] if any(map(_filled, row))]
        table = list(map(_texts, _without_empty_columns(below)))
        if starts_table(list(map(_texts, rows[:place])), table):
            return title_above(file, place)
    return None


def _texts(row: Sequence[Any]) -> list[str]:
    return [cell_text(_value(cell)) or "" for cell in row]


# -- writing ---------------------------------------------------------------------------------------


class WorkbookWriter:
    """A workbook with one sheet, to which rows are appended."""

    def __init__(self, file: BinaryIO, schema: Any, dialect: Dialect) -> None:
        try:
            import xlsxwriter
        except ImportError:
            raise TableError(
                "An Excel workbook is written by XlsxWriter, which is not installed; run pip "
                "install 'semisquares[excel]', or let the name end with .csv.",
                code="xlsxwriter_missing",
            ) from None
        if len(schema.names) > MOST_COLUMNS:
            raise _too_large(f"{len(schema.names):,} columns")
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True})
        self._book.set_properties({"created": datetime.datetime(2000, 1, 1)})  # the same bytes
        self._sheet = self._book.add_worksheet("Table")
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._moment = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._next = 0
        self._write_row(schema.names)

    def write_table(self, table: Any) -> None:
        """Append the rows of a table."""
        for batch in table.to_batches(max_chunksize=10_000):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                self._write_row(row)

    def close(self) -> None:
        """Write the file: a workbook cannot be written row by row."""
        self._book.close()

    def _write_row(self, cells: Sequence[Any]) -> None:
        if self._next >= MOST_ROWS:
            raise _too_large(f"at least {self._next:,} rows")
        for place, cell in enumerate(cells):
            self._write_cell(place, cell)
        self._next += 1

    def _write_cell(self, place: int, cell: Any) -> None:
        sheet, row = self._sheet, self._next
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return
        if isinstance(cell, bool):
            sheet.write_boolean(row, place, cell)
        elif isinstance(cell, int | float) and math.isfinite(cell) and _is_exact(cell):
            sheet.write_number(row, place, cell)
        elif isinstance(cell, datetime.date) and _is_counted(cell):
            midnight = not isinstance(cell, datetime.datetime) or cell.time() == datetime.time()
            sheet.write_datetime(row, place, cell, self._day if midnight else self._moment)
        else:  # never write(), which would take a text for a formula or a link
            text = cell_text(cell) if kind_of(cell) else str(cell)
            if text is not None and len(text) > LONGEST:
                raise _too_large(f"a cell of {len(text):,} characters")
            sheet.write_string(row, place, text)


def _is_exact(number: float) -> bool:
    """Tell whether Excel, which counts in float64, keeps a number."""
    return isinstance(number, float) or abs(number) < _EXACT


def _is_counted(day: datetime.date) -> bool:
    """Tell whether Excel can hold a date: not before 1900, and without a time zone."""
    if not isinstance(day, datetime.datetime):
        return day >= _FIRST.date()
    return day.tzinfo is None and day >= _FIRST


def _too_large(what: str) -> TableError:
    return TableError(
        f"The table has {what}, more than a sheet of Excel can hold; let the name end with .csv or "
        ".parquet.",
        code="too_large_for_excel",
    )


EXCEL = FileFormat(
    "xlsx",
    (".xlsx",),
    WorkbookReader,
    create=WorkbookWriter,
    signature=re.compile(rb"PK\x03\x04"),
    options=frozenset({"skip_rows", "sheet"}),
    memory_factor=40.0,
)
SPREADSHEET = FileFormat(
    "spreadsheet",
    (".xls", ".xlsm", ".xlsb", ".ods"),
    WorkbookReader,
    signature=re.compile(rb"\xd0\xcf\x11\xe0"),
    options=frozenset({"skip_rows", "sheet"}),
    memory_factor=40.0,
)
