"""One Parquet or Feather file: whole, or in pieces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import TableError
from .columns import Missing, as_text, blanked, plain
from .headers import checked_names, pandas_index, stored_names
from .opening import TableFile, refused


class ArrowFile:
    """A Parquet or Feather file whose columns' names have been checked."""

    def __init__(self, file: TableFile, kind: str, missing: Missing) -> None:
        self.file, self.kind, self.missing = file, kind, missing
        with self._opened() as opened:
            self._schema = opened.schema_arrow if kind == "parquet" else opened.schema
        stored = stored_names(self._schema)
        self.names = checked_names(stored, file.name)
        self.index = [name for name in self._schema.names if name not in stored]
        """The columns of an index of pandas that has no name: kept, but no part of the table."""
        self._raw = dict(zip(self.names, stored, strict=True)) | {n: n for n in self.index}

    def whole(self, wanted: Sequence[str], text: Collection[str]) -> Any:
        """Read some columns, in the plain types; those of `text` as text."""
        import pyarrow as pa

        raw = [self._raw[name] for name in wanted]
        with self._opened() as opened:
            if self.kind == "parquet":
                table = opened.read(columns=raw).select(raw)
            else:
                table = opened.read_all().select(raw)
        columns = []
        for name, column in zip(wanted, table.columns, strict=True):
            column = plain(column, name, self.file.name)
            column = as_text(column) if name in text else column
            columns.append(blanked(column, self.missing.of(name)))
        return pa.Table.from_arrays(columns, names=list(wanted))

    def pieces(self, wanted: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield record batches of all rows, with the types that they have in the file."""
        raw = [self._raw[name] for name in wanted]
        index = pandas_index(self._schema, dict(zip(raw, wanted, strict=True)))
        with self._opened() as opened:
            for batch in self._batches(opened, raw, rows):
                yield batch.select(raw).rename_columns(list(wanted)).replace_schema_metadata(index)

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
        except (pa.ArrowException, OSError) as error:
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
