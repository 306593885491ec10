"""Write the rows of an Arrow table as CSV; only cells that need quotes have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from ..errors import TableError
from ._columns import is_text
from ._dialect import Dialect

CELLS = 1_000_000
"""Cells that are turned into text at once."""


class CsvWriter:
    """A CSV to which rows are appended; its header is written first."""

    def __init__(self, file: BinaryIO, names: Sequence[str], dialect: Dialect) -> None:
        self._file, self._dialect = file, dialect
        self._file.write(_header(names, dialect.delimiter))

    def write_table(self, table: Any) -> None:
        """Append rows, and flush them."""
        step = max(1, CELLS // max(1, table.num_columns))
        for start in range(0, table.num_rows, step):
            self._file.write(_lines(table.slice(start, step).combine_chunks(), self._dialect))
        self._file.flush()

    def close(self) -> None:
        """Do nothing: all rows are written."""


def _header(names: Sequence[str], delimiter: str) -> bytes:
    marks = ('"', "\r", "\n", delimiter)
    quoted = [
        '"' + name.replace('"', '""') + '"' if any(mark in name for mark in marks) else name
        for name in names
    ]
    return (delimiter.join(quoted) + "\n").encode()


def _lines(table: Any, dialect: Dialect) -> Any:
    """Write rows as lines of text, in one buffer."""
    import pyarrow as pa
    from pyarrow import csv

    delimiter, single = dialect.delimiter, table.num_columns == 1
    texts = [_texts(column.chunk(0), name, dialect) for name, column in _columns(table)]
    marked = [single or _has_marks(text, delimiter) for text in texts]
    if not any(marked):  # several times faster
        out = pa.BufferOutputStream()
        options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
        csv.write_csv(pa.Table.from_arrays(texts, names=table.column_names), out, options)
        return out.getvalue()
    cells = [
        _quoted(text, delimiter, empty=single) if need else text
        for text, need in zip(texts, marked, strict=True)
    ]
    rows = _joined(*cells, separator=delimiter)
    return _content(_joined(rows, _scalar(""), separator="\n"))


def _columns(table: Any) -> Iterator[tuple[str, Any]]:
    return zip(table.column_names, table.columns, strict=True)


def _scalar(text: str) -> Any:
    import pyarrow as pa

    return pa.scalar(text, pa.large_string())


def _joined(*texts: Any, separator: str) -> Any:
    """Join texts row by row; a missing one is empty."""
    import pyarrow.compute as pc

    options = {"null_handling": "replace", "null_replacement": ""}
    return pc.binary_join_element_wise(*texts, _scalar(separator), **options)


def _texts(column: Any, name: str, dialect: Dialect) -> Any:
    """Write the cells of a column as text; NaN is an empty cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, text = column.type, pa.large_string()
    if is_text(kind):
        return column.cast(text)
    if pa.types.is_timestamp(kind):
        with suppress(pa.ArrowInvalid):  # no fractions if there are none
            column = column.cast(pa.timestamp("s", kind.tz))
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    try:
        cells = column.cast(text)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(
            f"Column {name!r} holds cells of the type {kind}, which CSV cannot express; write a "
            "file that ends with .parquet.",
            code="type_not_in_csv",
        ) from error
    if dialect.decimal == "," and (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return pc.replace_substring(cells, ".", ",")
    return cells


def _has_marks(text: Any, delimiter: str) -> bool:
    """Tell whether any cell of a column has to be quoted."""
    content = bytes(_content(text))
    return any(mark in content for mark in (b'"', b"\n", b"\r", delimiter.encode()))


def _quoted(text: Any, delimiter: str, *, empty: bool) -> Any:
    """Put quotes around cells that hold a mark, and around empty ones if `empty`."""
    import pyarrow.compute as pc

    if empty:  # in the only column: an empty line would not be a row
        text = pc.fill_null(text, "")
    pattern = rf'["\r\n\x{ord(delimiter):02x}]' + ("|^$" if empty else "")
    doubled = pc.replace_substring(text, '"', '""')
    quoted = _joined(_scalar('"'), doubled, _scalar('"'), separator="")
    return pc.if_else(pc.match_substring_regex(text, pattern), quoted, text)


def _content(text: Any) -> memoryview:
    """Return the bytes of all cells of a column of large strings, one after the other."""
    _, offsets, data = text.buffers()
    if data is None or not len(text):
        return memoryview(b"")
    places = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    return memoryview(data)[places[0] : places[-1]]
