"""One Parquet or Feather file: whole, or in pieces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import TableError
from .columns import Missing, as_text, blanked, plain
from .headers import checked_names, pandas_index, stored_names
from .opening import TableFile, refused
from .spans import Span, grouped


class ArrowFile:
    """A Parquet or Feather file whose columns' names have been checked."""

    def __init__(self, file: TableFile, kind: str, missing: Missing) -> None:
        self.file, self.kind, self.missing = file, kind, missing
        with self._opened() as opened:
            self._schema = opened.schema_arrow if kind == "parquet" else opened.schema
            stored = stored_names(self._schema)
        self.names = checked_names(stored, file.name)
        known = set(stored)
        self.index = [name for name in self._schema.names if name not in known]
        """The columns of an index of pandas that has no name: kept, but no part of the table."""
        self._raw = dict(zip(self.names, stored, strict=True)) | {n: n for n in self.index}

    def whole(
        self,
        wanted: Sequence[str],
        text: Collection[str],
        span: Span | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read some columns, in the plain types; those of `text` as text.

        Of a span of the file, `types` says what the cells of the whole file are.
        """
        import pyarrow as pa

        table = self._read([self._raw[name] for name in wanted], span)
        columns = []
        for name, column in zip(wanted, table.columns, strict=True):
            column = plain(column, name, self.file.name)
            if types is not None:  # only whole numbers beyond int64 are of two types
                column = column.cast(types[name], safe=False)
            column = as_text(column) if name in text else column
            columns.append(blanked(column, self.missing.of(name)))
        return pa.Table.from_arrays(columns, names=list(wanted))

    def spans(self, most_rows: int, most_bytes: int) -> list[Span]:
        """Cut the file into ranges of row groups or record batches."""
        with self._opened() as opened:
            if self.kind == "parquet":
                groups = map(opened.metadata.row_group, range(opened.num_row_groups))
                sizes = [(group.num_rows, group.total_byte_size) for group in groups]
            elif not hasattr(opened, "get_batch"):
                raise TableError(
                    f"{self.file.name} is a stream of Arrow, which cannot be read in parts; save "
                    "the table as Parquet."
                )
            else:
                batches = map(_checked, map(opened.get_batch, range(opened.num_record_batches)))
                sizes = [(batch.num_rows, batch.nbytes) for batch in batches]
        return grouped(sizes, most_rows, most_bytes)

    def found(self, text: Collection[str], span: Span) -> tuple[int, dict[str, Any], set[str]]:
        """Return the rows of a span, the plain type of each column, and which have gaps.

        Only whole numbers and booleans are looked at: other columns are of one type whatever their
        cells are, with gaps and without.
        """
        import pyarrow as pa

        empty = self._schema.empty_table()
        types = {
            name: plain(empty.column(self._raw[name]), name, self.file.name).type
            for name in self.names
        }
        types |= dict.fromkeys(text, pa.large_string())
        looked = [n for n, k in types.items() if pa.types.is_integer(k) or pa.types.is_boolean(k)]
        n_rows = self._read([], span).num_rows
        columns = dict(zip(looked, self.whole(looked, (), span).columns, strict=True))
        gaps = {name for name, column in columns.items() if column.null_count}
        gaps |= {name for name, kind in types.items() if pa.types.is_null(kind) and n_rows}
        return n_rows, types | {name: column.type for name, column in columns.items()}, gaps

    def pieces(self, wanted: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield record batches of all rows, with the types that they have in the file."""
        raw = [self._raw[name] for name in wanted]
        index = pandas_index(self._schema, dict(zip(raw, wanted, strict=True)))
        with self._opened() as opened:
            for batch in self._batches(opened, raw, rows):
                cells = _checked(batch.select(raw))
                yield cells.rename_columns(list(wanted)).replace_schema_metadata(index)

    def _read(self, raw: list[str], span: Span | None) -> Any:
        """Read columns as they are stored, of all rows or of a span."""
        import pyarrow as pa

        with self._opened() as opened:
            if self.kind == "parquet":
                table = (
                    opened.read_row_groups(range(*span), columns=raw)
                    if span
                    else opened.read(columns=raw)
                )
            elif span:
                batches = [opened.get_batch(i).select(raw) for i in range(*span)]
                table = pa.Table.from_batches(batches)
            else:
                table = opened.read_all()
            return _checked(table.select(raw))

    def _batches(self, opened: Any, raw: list[str], rows: int) -> Iterator[Any]:
        if self.kind == "parquet":
            yield from opened.iter_batches(batch_size=rows, columns=raw)
        elif hasattr(opened, "get_batch"):
            for i in range(opened.num_record_batches):
                yield opened.get_batch(i)
        else:
            yield from opened

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file with pyarrow; TableError where that, or the reading, fails."""
        import pyarrow as pa

        try:
            with pa.OSFile(self.file.path) as file:
                start = file.read(4)
                file.seek(0)
                yield self._reader(file, start)
        except (PermissionError, FileNotFoundError) as error:
            raise refused(self.file.name, error) from error
        except MemoryError as error:  # damage can ask for any amount
            raise TableError(
                f"{self.file.name} needs more memory than there is; it is damaged, or too large "
                "for this machine."
            ) from error
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a name can be damaged
            raise TableError(
                f"{self.file.name} is damaged, cut off or no {self.kind.capitalize()} file; write "
                "it once more."
            ) from error

    def _reader(self, file: Any, start: bytes) -> Any:
        if self.kind == "parquet":
            from pyarrow import parquet

            return parquet.ParquetFile(file, pre_buffer=False)
        from pyarrow import ipc

        if start == b"FEA1":
            raise TableError(
                f"{self.file.name} is a Feather file of the old version 1; write it once more as "
                "Feather version 2, or as Parquet."
            )
        return ipc.open_stream(file) if start == b"\xff" * 4 else ipc.open_file(file)


def _checked(cells: Any) -> Any:
    """Return a table or batch whose cells can be used; ArrowInvalid where they are damaged.

    pyarrow reads a Feather file without a look at its content, and then a place outside of a column
    would end the process.
    """
    cells.validate(full=True)
    return cells
