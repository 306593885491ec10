"""JSON lines: an object in each line, whose keys are the columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from ..errors import TableError
from ._arrow import ArrowChunk, parquet_chunks
from ._columns import MissingWords, plain_table
from ._dialect import Dialect
from ._faults import undecodable
from ._files import TableFile, empty, open_lines
from ._names import check_names
from ._python_cells import arrow_column, arrow_type, kind_of
from ._temporary import TemporaryFolder
from .protocol import FileFormat

_ENCODING = "utf-8"
_ROWS = 10_000
"""Most rows of a batch."""


class JsonLinesReader:
    """A file of JSON lines; opening it reads it once, since any line may have another column.

    A column that a line does not name is missing there. Cells of different types are text.
    """

    index: Sequence[str] = ()

    def __init__(self, file: TableFile, dialect: Dialect, missing: MissingWords) -> None:
        self.file, self.missing = file, missing
        kinds: dict[str, set[str]] = {}
        for line, row in self._rows():
            for name, cell in row.items():
                kind = kind_of(cell)
                if kind is None:
                    raise _nested(file, name, cell, line)
                kinds.setdefault(name, set()).add(kind)
        if not kinds:
            raise empty(file)
        self.names = check_names(list(kinds), file.name)
        self._raw = dict(zip(self.names, kinds, strict=True))
        self._types = {name: arrow_type(kinds[raw]) for name, raw in self._raw.items()}

    def read(self, columns: Sequence[str], text: Collection[str]) -> Any:
        """Read all rows."""
        import pyarrow as pa

        schema = pa.schema([(name, self._types[name]) for name in columns])
        table = pa.Table.from_batches(self.batches(columns, _ROWS), schema)
        return plain_table(table, text, self.missing, self.file.name)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield all rows, with the types that hold all cells of a column."""
        import pyarrow as pa

        lines = self._rows()
        while block := [row for _, row in islice(lines, min(rows, _ROWS))]:
            arrays = [
                arrow_column([row.get(self._raw[name]) for row in block], self._types[name])
                for name in columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def chunks(self, max_rows: int, max_bytes: int, folder: TemporaryFolder) -> list[ArrowChunk]:
        """Store the rows as Parquet, a file for each chunk."""
        return parquet_chunks(self, self.missing, max_rows, max_bytes, folder)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number of each line that is not blank, and its object."""
        try:
            with open_lines(self.file, _ENCODING) as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield number, self._object(line, number)
        except UnicodeError as error:
            raise undecodable(self.file, _ENCODING) from error

    def _object(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise TableError(
                f"{self.file.name} has no JSON object in line {number}, but each line has to be "
                'one, such as {"age": 30, "kind": "a"}; write the rows as JSON lines, or as CSV.',
                code="not_json_lines",
            )
        return row


def _nested(file: TableFile, name: str, cell: Any, line: int) -> TableError:
    what = "list" if isinstance(cell, list) else "object"
    return TableError(
        f"{file.name} has a JSON {what} in column {name!r} of line {line}; a cell has to be a "
        "number, a text or true/false, so leave the column out of the file or split it up.",
        code="nested_cell",
    )


class JsonLinesWriter:
    """A file of JSON lines to which rows are appended; a missing cell is null."""

    def __init__(self, file: BinaryIO, schema: Any, dialect: Dialect) -> None:
        self._file = file

    def write_table(self, table: Any) -> None:
        """Append rows, and flush them."""
        for batch in table.to_batches(max_chunksize=_ROWS):
            cells = [[_plain(cell) for cell in column.to_pylist()] for column in batch.columns]
            rows = (
                dict(zip(table.column_names, row, strict=True)) for row in zip(*cells, strict=True)
            )
            lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
            self._file.write("".join(lines).encode(_ENCODING))
        self._file.flush()

    def close(self) -> None:
        """Do nothing: all rows are written."""


def _plain(cell: Any) -> Any:
    """Return a cell that JSON can hold: null for NaN and infinities, ISO 8601 for dates."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    return cell.isoformat() if hasattr(cell, "isoformat") else cell


JSON_LINES = FileFormat(
    "jsonl",
    (".jsonl", ".ndjson"),
    JsonLinesReader,
    create=JsonLinesWriter,
    signature=re.compile(rb'\s*\{\s*"'),
    compressible=True,
    memory_factor=5.0,
)
