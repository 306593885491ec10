"""Write tables chunk by chunk; the whole file or nothing."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from semisquares._utils.files import atomic_write
from semisquares._utils.words import os_error

from ..errors import TableError
from ._dialect import Dialect
from ._formats import FORMATS, ending_of
from .protocol import FileFormat, RowWriter

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD_OUTPUT = "-"


class TableWriter:
    """Append rows to a file; the first ones determine the names and types of its columns."""

    def __init__(self, path: str, file: BinaryIO, format: FileFormat, dialect: Dialect) -> None:
        self.path, self.format, self._dialect = path, format, dialect
        self._file = file
        self._rows: RowWriter | None = None
        self._schema: Any = None

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        table = _decoded(table)
        with _explained(self.path):
            if self._rows is None:
                assert self.format.create is not None  # `ending_of` has checked that
                self._schema = table.schema
                self._rows = self.format.create(self._file, table.schema, self._dialect)
            self._rows.write_table(self._fitted(table))

    def finish(self) -> None:
        """Write what is left."""
        if self._rows is not None:
            with _explained(self.path):
                self._rows.close()

    def abandon(self) -> None:
        """Close a file that will not be kept."""
        with suppress(Exception):
            self.finish()  # otherwise pyarrow's writer would do it at an unknown time

    def _fitted(self, table: pa.Table) -> pa.Table:
        """Bring rows to the columns of the first ones, in their order."""
        import pyarrow as pa

        if table.schema == self._schema:
            return table
        fault = TableError(
            f"{self.path} cannot take rows whose columns differ in name or type from those of the "
            "rows before; give files whose columns are the same.",
            code="different_rows",
        )
        if sorted(table.column_names) != sorted(self._schema.names):
            raise fault
        table = table.select(self._schema.names)
        try:
            return table if self.format.is_text else table.cast(self._schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise fault from error


@contextmanager
def writer(
    path: str, *, dialect: Dialect | None = None, stdout: BinaryIO | None = None
) -> Iterator[TableWriter]:
    """Open a table for writing; what was at `path` stays until all rows are written.

    Parameters
    ----------
    path : str
        The ending determines the format: .csv, .txt, .tsv, .tab, .jsonl or .ndjson (also with .gz,
        .bz2 or .zst), .parquet, .pq, .feather, .arrow or .xlsx. ``-`` is CSV on standard output.
    dialect : Dialect, optional
        That of the table that was read: CSV is written with its delimiter and decimal mark. The
        encoding is always UTF-8.
    stdout : binary file, optional
        Replaces standard output.

    Yields
    ------
    TableWriter
        Its `write` appends the rows of a `pyarrow.Table`.

    Examples
    --------
    >>> import io, pyarrow
    >>> out = io.BytesIO()
    >>> with writer("-", stdout=out) as table:
    ...     table.write(pyarrow.table({"name": ["a, b", None], "score": [0.5, 2]}))
    >>> out.getvalue()
    b'name,score\\n"a, b",0.5\\n,2\\n'
    """
    dialect = Dialect() if dialect is None else Dialect(dialect.delimiter, decimal=dialect.decimal)
    format, compression = FORMATS["csv"], None
    if path != STANDARD_OUTPUT:
        ending = ending_of(path, to_write=True)
        format, compression = ending.format, ending.compression
        dialect = _with_delimiter_of(ending.text, dialect)
    with _destination(path, stdout) as file, _compressed(path, file, compression) as stream:
        table = TableWriter(path, stream, format, dialect)
        try:
            yield table
        except BaseException:
            table.abandon()
            raise
        table.finish()


def _with_delimiter_of(ending: str, dialect: Dialect) -> Dialect:
    """Change the delimiter if it contradicts the ending of a file."""
    if ending in (".tsv", ".tab"):
        return replace(dialect, delimiter="\t")
    if ending == ".csv" and dialect.delimiter == "\t":
        return replace(dialect, delimiter=";" if dialect.decimal == "," else ",")
    return dialect


class _Unclosed:
    """A file that others may write to but not close."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.closed = file, False

    def write(self, data: Any) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self.closed = True


@contextmanager
def _compressed(path: str, file: BinaryIO, compression: str | None) -> Iterator[Any]:
    """Compress what is written to a file."""
    import pyarrow as pa

    if compression is None:
        yield file
        return
    stream = pa.CompressedOutputStream(_Unclosed(file), compression)
    try:
        yield stream
    except BaseException:
        with suppress(Exception):
            stream.close()
        raise
    with _explained(path):
        stream.close()


@contextmanager
def _destination(path: str, stdout: BinaryIO | None) -> Iterator[BinaryIO]:
    """Open the file to write to; its own errors become TableErrors, those of the caller stay."""
    if path == STANDARD_OUTPUT:
        yield sys.stdout.buffer if stdout is None else stdout
        return
    raised = None
    try:
        with atomic_write(path) as file:
            try:
                yield file
            except BaseException as error:
                raised = error
                raise
    except OSError as error:
        if error is raised:
            raise
        raise _refused(path, error) from error


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turn errors of the system into TableErrors; a closed pipe is left to the caller."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: str, error: OSError) -> TableError:
    name = "Standard output" if path == STANDARD_OUTPUT else path
    what = os_error(error, "writing", name)
    if isinstance(error, IsADirectoryError):
        return TableError(f"{what}; give the name of a file in it.", code="table_not_writable")
    if error.errno == errno.ENOSPC:
        return TableError(f"{what}; make room, or choose another disk.", code="table_not_writable")
    return TableError(f"{what}; choose another place.", code="table_not_writable")


def _decoded(table: pa.Table) -> pa.Table:
    """Replace codes by their values: codes may differ from chunk to chunk."""
    import pyarrow as pa

    schema = pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in table.schema
        ],
        metadata=table.schema.metadata,
    )
    return table if schema == table.schema else table.cast(schema)
