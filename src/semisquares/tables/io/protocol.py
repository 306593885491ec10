"""What a file format is: how its files are opened, read in chunks, and written.

A new format is one file with a `Reader`, and one entry in `FORMATS`. Everything else (finding
files, types of columns, missing cells, chunks on Dask, predictions) uses these interfaces only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ._columns import MissingWords
from ._dialect import Dialect
from ._files import TableFile
from ._temporary import TemporaryFolder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ChunkProfile", "ChunkReader", "FileFormat", "Reader", "RowWriter"]


class Reader(Protocol):
    """One file of a table.

    Opening it reads and checks the names of its columns (`check_names`), and nothing else. Methods
    raise TableError if the file is damaged.
    """

    @property
    def file(self) -> TableFile:
        """The file, as it was given to `FileFormat.open`."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The columns of the table, in the order of the file."""
        ...

    @property
    def index(self) -> Sequence[str]:
        """Columns that `batches` can read as well, but that are not part of the table."""
        ...

    def read(self, columns: Sequence[str], text: Collection[str]) -> pa.Table:
        """Read all rows in plain types (`to_plain_type`); the columns of `text` as text.

        Missing cells are null. `plain_table` does this for formats that store types.
        """
        ...

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, with the cells and types that they have in the file.

        Memory must be bounded by about `rows` rows, and batches may have fewer.
        """
        ...

    def chunks(
        self, max_rows: int, max_bytes: int, folder: TemporaryFolder
    ) -> Sequence[ChunkReader]:
        """Split the file into chunks, in order, that can be read without each other.

        A format without random access stores the rows of `batches` in `folder`: `parquet_chunks`
        does that.
        """
        ...


class ChunkReader(Protocol):
    """Some neighbouring rows of a file; it is pickled and read in other processes."""

    @property
    def file(self) -> TableFile:
        """The file to read; its name is that of the table's file."""
        ...

    @property
    def temporary(self) -> str | None:
        """The path of a text file that was made for this chunk, if any.

        Parsing text in every pass is slow, so the chunk is stored as Parquet once all types are
        known.
        """
        ...

    def profile(self, text: Collection[str]) -> ChunkProfile:
        """Count the rows, and find the types of all columns; those of `text` are text."""
        ...

    def fits(self, column: str, type: Any) -> bool:
        """Tell whether all cells of a column can be read as a type."""
        ...

    def read(
        self, columns: Sequence[str], text: Collection[str], types: Mapping[str, Any]
    ) -> pa.Table:
        """Read the rows as `Reader.read` does, but cells as `types`, which `profile` has found."""
        ...


@dataclass(frozen=True)
class ChunkProfile:
    """What is known about the columns of a chunk."""

    n_rows: int
    types: Mapping[str, Any]
    """The Arrow type that holds the cells of each column."""
    gaps: Collection[str]
    """Columns with missing cells; needed for whole numbers and booleans only."""
    codes: Collection[str] = ()
    """Columns of whole numbers that are written with leading zeros, which makes them text."""


class RowWriter(Protocol):
    """A file to which rows are appended; `close` completes it but leaves the stream open."""

    def write_table(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


@dataclass(frozen=True)
class FileFormat:
    """A file format: its name and endings, and how to open and create its files."""

    name: str
    endings: tuple[str, ...]
    """In lower case, each with its point; the usual one comes first."""
    open: Callable[[TableFile, Dialect, MissingWords], Reader]
    create: Callable[[BinaryIO, pa.Schema, Dialect], RowWriter] | None = None
    """None if tables can be read but not written."""
    signature: re.Pattern[bytes] | None = None
    """A pattern for the first bytes, to recognise a table that comes through a pipe."""
    is_text: bool = False
    """Whether cells are text in a dialect, without types; such files may be compressed."""
    compressible: bool = False
    """Whether other files may be compressed, too; `open_bytes` decompresses them."""
    options: frozenset[str] = frozenset()
    """The options of `find` that apply to such files, of "skip_rows" and "sheet"."""
    memory_factor: float = 4.0
    """Memory that preparing a table takes, as a multiple of the size of its files."""
