"""Parquet and Feather, by pyarrow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import TableError
from ._columns import MissingWords, plain_table, to_plain_type
from ._dialect import Dialect
from ._files import TableFile, refused
from ._names import check_names, pandas_index, stored_names
from ._stored_chunks import numbered
from ._temporary import TemporaryFolder, writing
from .protocol import ChunkProfile, FileFormat, Reader


class ArrowReader:
    """A Parquet or Feather file whose columns' names have been checked."""

    def __init__(self, file: TableFile, kind: str, missing: MissingWords) -> None:
        self.file, self.kind, self.missing = file, kind, missing
        with self._opened() as opened:
            self._schema = opened.schema_arrow if kind == "parquet" else opened.schema
            self._splits = kind == "parquet" or hasattr(opened, "get_batch")
            stored = stored_names(self._schema)
        self.names = check_names(stored, file.name)
        known = set(stored)
        self.index = [name for name in self._schema.names if name not in known]
        """The columns of an unnamed pandas index."""
        self._raw = dict(zip(self.names, stored, strict=True)) | {n: n for n in self.index}

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str],
        groups: range | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read some columns of all row groups or of some, in plain types or in `types`."""
        table = self._read([self._raw[name] for name in columns], groups)
        table = table.rename_columns(list(columns))
        return plain_table(table, text, self.missing, self.file.name, types)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield all rows, with the index that pandas has noted."""
        raw = [self._raw[name] for name in columns]
        index = pandas_index(self._schema, dict(zip(raw, columns, strict=True)))
        with self._opened() as opened:
            for batch in self._stored_batches(opened, raw, rows):
                cells = _validated(batch.select(raw))
                yield cells.rename_columns(list(columns)).replace_schema_metadata(index)

    def chunks(self, max_rows: int, max_bytes: int, folder: TemporaryFolder) -> list[ArrowChunk]:
        """Group neighbouring row groups or record batches; larger ones are chunks of their own."""
        if not self._splits:  # a stream of Arrow has no table of contents
            return parquet_chunks(self, self.missing, max_rows, max_bytes, folder)
        with self._opened() as opened:
            if self.kind == "parquet":
                groups = map(opened.metadata.row_group, range(opened.num_row_groups))
                sizes = [(group.num_rows, group.total_byte_size) for group in groups]
            else:
                batches = map(opened.get_batch, range(opened.num_record_batches))
                sizes = [(batch.num_rows, batch.nbytes) for batch in map(_validated, batches)]
        return [ArrowChunk(self, groups) for groups in grouped(sizes, max_rows, max_bytes)]

    def _read(self, raw: list[str], groups: range | None) -> Any:
        """Read some columns as they are stored, of all row groups or of some."""
        import pyarrow as pa

        with self._opened() as opened:
            if self.kind == "parquet" and groups is not None:
                table = opened.read_row_groups(groups, columns=raw)
            elif self.kind == "parquet":
                table = opened.read(columns=raw)
            elif groups is not None:
                table = pa.Table.from_batches([opened.get_batch(i).select(raw) for i in groups])
            else:
                table = opened.read_all()
            return _validated(table.select(raw))

    def _stored_batches(self, opened: Any, raw: list[str], rows: int) -> Iterator[Any]:
        if self.kind == "parquet":
            yield from opened.iter_batches(batch_size=rows, columns=raw)
        elif self._splits:
            for i in range(opened.num_record_batches):
                yield opened.get_batch(i)
        else:
            yield from opened

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file with pyarrow; TableError if that, or the reading, fails."""
        import pyarrow as pa

        try:
            with pa.OSFile(self.file.path) as file:
                start = file.read(4)
                file.seek(0)
                yield self._opener(file, start)
        except (PermissionError, FileNotFoundError) as error:
            raise refused(self.file.name, error) from error
        except MemoryError as error:  # a damaged file can ask for any amount
            raise TableError(
                f"{self.file.name} needs more memory than this machine has; it is damaged, or too "
                "large.",
                code="file_memory",
            ) from error
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a name can be damaged
            raise TableError(
                f"{self.file.name} is damaged, truncated or not a {self.kind.capitalize()} file; "
                "write it again.",
                code="damaged_file",
            ) from error

    def _opener(self, file: Any, start: bytes) -> Any:
        if self.kind == "parquet":
            from pyarrow import parquet

            # pre-buffering would hold whole row groups in memory, besides their cells:
            # https://github.com/apache/arrow/issues/36765
            return parquet.ParquetFile(file, pre_buffer=False)
        from pyarrow import ipc

        if start == b"FEA1":
            raise TableError(
                f"{self.file.name} is a Feather file of the old version 1; write it again as "
                "Feather version 2, or as Parquet.",
                code="feather_version",
            )
        return ipc.open_stream(file) if start == b"\xff" * 4 else ipc.open_file(file)


@dataclass(frozen=True)
class ArrowChunk:
    """Neighbouring row groups of a Parquet file, or record batches of a Feather file."""

    reader: ArrowReader
    groups: range
    temporary: str | None = None

    @property
    def file(self) -> TableFile:
        """The file that they are in."""
        return self.reader.file

    def profile(self, text: Collection[str]) -> ChunkProfile:
        """Read the columns of whole numbers and booleans.

        Other columns have one type for all cells, missing or not.
        """
        import pyarrow as pa

        reader = self.reader
        empty = reader._schema.empty_table()
        types = {
            name: to_plain_type(empty.column(reader._raw[name]), name, reader.file.name).type
            for name in reader.names
        }
        types |= dict.fromkeys(text, pa.large_string())
        read = [n for n, t in types.items() if pa.types.is_integer(t) or pa.types.is_boolean(t)]
        n_rows = reader._read([], self.groups).num_rows
        columns = dict(zip(read, reader.read(read, (), self.groups).columns, strict=True))
        gaps = {name for name, column in columns.items() if column.null_count}
        gaps |= {name for name, type in types.items() if pa.types.is_null(type) and n_rows}
        types |= {name: column.type for name, column in columns.items()}
        return ChunkProfile(n_rows, types, gaps)

    def fits(self, column: str, type: Any) -> bool:
        """Return True: only numbers have two types, and all are float64."""
        return True

    def read(self, columns: Sequence[str], text: Collection[str], types: Mapping[str, Any]) -> Any:
        """Read some columns."""
        return self.reader.read(columns, text, self.groups, types)


def grouped(sizes: Iterable[tuple[int, int]], max_rows: int, max_bytes: int) -> list[range]:
    """Join neighbours, given as (rows, bytes), to groups that stay within both bounds.

    A single one that is beyond them is a group of its own.

    Examples
    --------
    >>> grouped([(5, 1), (5, 1), (5, 1), (90, 1), (5, 1)], max_rows=10, max_bytes=100)
    [range(0, 2), range(2, 3), range(3, 4), range(4, 5)]
    """
    groups: list[range] = []
    start, held_rows, held_bytes, stop = 0, 0, 0, 0
    for stop, (rows, size) in enumerate(sizes):
        if stop > start and (held_rows + rows > max_rows or held_bytes + size > max_bytes):
            groups.append(range(start, stop))
            start, held_rows, held_bytes = stop, 0, 0
        held_rows, held_bytes = held_rows + rows, held_bytes + size
    return [*groups, range(start, stop + 1)] if held_rows else groups


def parquet_chunks(
    reader: Reader, missing: MissingWords, max_rows: int, max_bytes: int, folder: TemporaryFolder
) -> list[ArrowChunk]:
    """Store the rows of a file without random access as Parquet, a file for each chunk."""
    import pyarrow as pa
    from pyarrow import parquet

    chunks = []
    batches = numbered(reader.batches(reader.names, max_rows), max_rows, max_bytes)
    for _, group in groupby(batches, key=lambda pair: pair[0]):
        path = folder.new_path(".parquet")
        with writing(path):
            parquet.write_table(pa.Table.from_batches([batch for _, batch in group]), path)
        stored = ArrowReader(TableFile(path, reader.file.name), "parquet", missing)
        chunks += stored.chunks(max_rows, max_bytes, folder)
    return chunks


def _validated(cells: Any) -> Any:
    """Return a table or batch that is safe to use; ArrowInvalid if it is damaged.

    pyarrow does not check the content of a Feather file, and an offset outside a column would crash
    the process (https://github.com/apache/arrow/issues/49241).
    """
    cells.validate(full=True)
    return cells


def _create_parquet(file: Any, schema: Any, dialect: Dialect) -> Any:
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema)


def _create_feather(file: Any, schema: Any, dialect: Dialect) -> Any:
    from pyarrow import ipc

    return ipc.new_file(file, schema, options=ipc.IpcWriteOptions(compression="lz4"))


PARQUET = FileFormat(
    "parquet",
    (".parquet", ".pq"),
    lambda file, dialect, missing: ArrowReader(file, "parquet", missing),
    create=_create_parquet,
    signature=re.compile(rb"PAR1"),
    memory_factor=6.0,
)
FEATHER = FileFormat(
    "feather",
    (".feather", ".arrow"),
    lambda file, dialect, missing: ArrowReader(file, "feather", missing),
    create=_create_feather,
    signature=re.compile(rb"ARROW1|FEA1|\xff\xff\xff\xff"),
)
