"""Write tables piece by piece: CSV, Parquet or Feather; all of the file or nothing."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from semisquares._utils.files import atomic_write
from semisquares._utils.words import os_error

from .errors import TableError
from .formats.csv_text import CsvText
from .formats.format import Format, ending_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableWriter", "writer"]

STANDARD_OUTPUT = "-"


class _Sink(Protocol):
    """What takes the rows of a table."""

    def write_table(self, table: Any) -> None: ...

    def close(self) -> None: ...


class TableWriter:
    """Append rows to a file in the making; the first settle the names and types of columns."""

    def __init__(self, path: str, file: BinaryIO, form: Format, compression: str | None) -> None:
        self.path, self.form = path, form
        self._file, self._compression = file, compression
        self._sink: _Sink | None = None
        self._schema: Any = None

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        table = _decoded(table)
        with _explained(self.path):
            if self._sink is None:
                self._schema = table.schema
                self._sink = self._opened()
            self._sink.write_table(self._fitted(table))

    def finish(self) -> None:
        """Write what is left; there is no more to come."""
        if self._sink is not None:
            with _explained(self.path):
                self._sink.close()

    def abandon(self) -> None:
        """Let go of a file that will not be kept."""
        with suppress(Exception):
            self.finish()  # else pyarrow's writer would do it at an unknown time

    def _opened(self) -> _Sink:
        if self.form.kind == "csv":
            return CsvText(self._file, self.form, self._compression, self._schema.names)
        if self.form.kind == "parquet":
            from pyarrow import parquet

            return parquet.ParquetWriter(self._file, self._schema)
        from pyarrow import ipc

        options = ipc.IpcWriteOptions(compression="lz4")
        return ipc.new_file(self._file, self._schema, options=options)

    def _fitted(self, table: pa.Table) -> pa.Table:
        """Bring rows to the columns of the first ones."""
        import pyarrow as pa

        if table.schema == self._schema:
            return table
        fault = TableError(
            f"{self.path} cannot take rows whose columns differ in name or type from those of the "
            "rows before; give files whose columns are the same."
        )
        if sorted(table.column_names) != sorted(self._schema.names):
            raise fault
        table = table.select(self._schema.names)
        try:
            return table if self.form.kind == "csv" else table.cast(self._schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise fault from error


@contextmanager
def writer(
    path: str, *, format: Format | None = None, stdout: BinaryIO | None = None
) -> Iterator[TableWriter]:
    """Open a table for writing; what was at `path` stays until all rows are written.

    Parameters
    ----------
    path : str
        The ending says what it becomes: .csv or .txt, .tsv or .tab (these with .gz, .bz2 or .zst
        too), .parquet, .pq, .feather or .arrow. ``-`` is CSV on standard output.
    format : Format, optional
        Of the table that was read; its delimiter and decimal mark are kept in CSV. Text is written
        in UTF-8 always.
    stdout : binary file, optional
        In the place of standard output.

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
    form, compression = _form(path, format)
    with _destination(path, stdout) as file:
        table = TableWriter(path, file, form, compression)
        try:
            yield table
        except BaseException:
            table.abandon()
            raise
        table.finish()


def _form(path: str, format: Format | None) -> tuple[Format, str | None]:
    """Settle how to write a table, from its name and from how it was read."""
    delimiter = (format and format.delimiter) or ","
    decimal = format.decimal if format else "."
    if path == STANDARD_OUTPUT:
        return Format("csv", delimiter, decimal=decimal), None
    ending = ending_of(path, to_write=True)
    if ending.kind != "csv":
        return Format(ending.kind), None
    if ending.text in (".tsv", ".tab"):
        delimiter = "\t"
    elif ending.text == ".csv" and delimiter == "\t":
        delimiter = ";" if decimal == "," else ","
    return Format("csv", delimiter, decimal=decimal), ending.compression


@contextmanager
def _destination(path: str, stdout: BinaryIO | None) -> Iterator[BinaryIO]:
    """Open the file to write to; faults of its own become sentences, those of the body stay."""
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
    """Turn what the system refuses into a sentence; a closed pipe is for the caller."""
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
        return TableError(f"{what}; give the name of a file in it.")
    if error.errno == errno.ENOSPC:
        return TableError(f"{what}; make room, or choose another disk.")
    return TableError(f"{what}; choose another place.")


def _decoded(table: pa.Table) -> pa.Table:
    """Replace numbered values by the values: their numbers may differ from piece to piece."""
    import pyarrow as pa

    schema = pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in table.schema
        ],
        metadata=table.schema.metadata,
    )
    return table if schema == table.schema else table.cast(schema)
