"""Split a table into chunks that fit in memory, each of which can be read without the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._arguments import path_text, some_function, texts, whole_number
from ._columns import common_type, is_text, to_pandas, to_plain_type
from ._names import check_exist
from ._read import as_source, missing_words, no_rows, open_readers
from ._source import Source
from ._stored_chunks import StoredChunk
from ._temporary import TemporaryFolder, writing
from .protocol import ChunkProfile, ChunkReader

if TYPE_CHECKING:
    import pandas as pd

N_BYTES = 64 << 20
"""The default size of a chunk, both as float64 and as it is stored."""

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function with each of many chunks: as `map` does, or on other machines."""


@dataclass(frozen=True)
class CellType:
    """The type of a column in all chunks."""

    own: Any
    """The Arrow type with which the cells of this file are read."""
    common: Any
    """The Arrow type that holds the cells of all files."""
    gaps: bool
    """Whether any cell is missing, in any chunk: pandas has other types then."""

    @property
    def stored(self) -> Any:
        """The Arrow type that is passed to pandas, whose whole numbers have no gaps."""
        import pyarrow as pa

        return pa.float64() if self.gaps and pa.types.is_integer(self.common) else self.common


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some neighbouring rows of a table, which are read on demand.

    It is small, and can be sent to other processes that see the same files.
    """

    reader: ChunkReader | StoredChunk
    types: Mapping[str, CellType]
    start: int
    """The position of its first row in the table."""
    n_rows: int
    keeps: tuple[Any, ...] = field(default=(), repr=False)
    """Objects with which temporary files are removed; copies in other processes remove nothing."""

    @property
    def names(self) -> list[str]:
        """The columns of the table, in order."""
        return list(self.types)

    def read(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read the rows, with the types that `semisquares.tables.read` gives the whole table.

        Parameters
        ----------
        columns : sequence of str, optional
            By default all.

        Returns
        -------
        DataFrame
            Its index holds the positions of the rows in the table.

        Examples
        --------
        >>> import io
        >>> from semisquares.tables import find
        >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n30,a\\n,b\\n50,a\\n"))
        >>> split(source, n_bytes=32)[1].read(["kind", "age"])
          kind   age
        2    a  50.0
        """
        import pandas as pd
        import pyarrow as pa

        names = self.names if columns is None else list(columns)
        frame = to_pandas(self.read_arrow(names))
        booleans = [n for n in names if pa.types.is_boolean(self.types[n].common)]
        with_gaps = [name for name in booleans if self.types[name].gaps]
        frame = frame.astype(dict.fromkeys(with_gaps, object))
        return frame.set_axis(pd.RangeIndex(self.start, self.start + self.n_rows))

    def read_arrow(self, columns: Sequence[str]) -> Any:
        """Read the rows as an Arrow table, in the types that are passed to pandas."""
        import pyarrow as pa

        types = {name: self.types[name] for name in columns}
        text = {name for name, type in types.items() if is_text(type.common)}
        table = self.reader.read(columns, text, {name: type.own for name, type in types.items()})
        schema = pa.schema([(name, type.stored) for name, type in types.items()])
        return table.cast(schema, safe=False)


def split(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    text: Collection[str] = (),
    labels: Collection[str] = (),
    n_bytes: int = N_BYTES,
    run: Run = map,
    folder: str | Path | None = None,
) -> tuple[Chunk, ...]:
    """Split a table into chunks, and find the types of its columns.

    Parquet and Feather files are split between row groups and record batches, and only columns of
    whole numbers and booleans are read to find the types. A CSV is converted to Parquet once, to a
    file for each chunk, in a temporary folder that is removed with the chunks.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`.
    missing, text, labels
        As in `read`.
    n_bytes : int, default=64 MiB
        About the size of a chunk, both if all of its cells were float64 and as they are stored; but
        a row group or record batch that is larger stays whole.
    run : callable, default=map
        Calls a function with each of many chunks, ``run(function, chunks)``, and returns the
        results in order.
    folder : str or Path, optional
        Where to make the temporary folder. All processes that read chunks must see it. By default,
        the system's folder for temporary files.

    Returns
    -------
    tuple of Chunk
        In the order of the rows.

    Raises
    ------
    TableError
        If `read` does, or if there is not enough space for the temporary folder.

    Examples
    --------
    >>> import io
    >>> from semisquares.tables import find
    >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n30,a\\n,b\\n50,a\\n"))
    >>> [chunk.read()["age"].tolist() for chunk in split(source, n_bytes=32)]
    [[30.0, nan], [50.0]]
    """
    source = as_source(source)
    n_bytes = whole_number("n_bytes", n_bytes, 1)
    folder = None if folder is None else path_text("folder", folder)
    run = some_function("run", run, "a function such as map")
    temporary = TemporaryFolder(folder, source.n_bytes)
    text = {*texts("text", text), *texts("labels", labels)}
    files = open_readers(source, missing_words(missing, labels))
    names = files[0].names
    check_exist(sorted(text), names, files[0].file.name)
    max_rows = max(1, n_bytes // (8 * len(names)))
    readers = [chunk for file in files for chunk in file.chunks(max_rows, n_bytes, temporary)]
    profiles: list[ChunkProfile] = list(run(methodcaller("profile", text), readers))
    if not sum(profile.n_rows for profile in profiles):
        raise no_rows(source)
    types = _types(names, readers, profiles, text, run)
    chunks, start = [], 0
    for reader, own, profile in zip(readers, types, profiles, strict=True):
        keeps = (source.spool, temporary)
        chunks.append(Chunk(reader, own, start, profile.n_rows, keeps))
        start += profile.n_rows
    if any(reader.temporary is not None for reader in readers):
        stored = run(_store, chunks)
        chunks = [replace(old, reader=new) for old, new in zip(chunks, stored, strict=True)]
    return tuple(chunks)


def _store(chunk: Chunk) -> ChunkReader | StoredChunk:
    """Replace the text of a chunk by Parquet; it may be called twice, if Dask loses a worker."""
    from pyarrow import parquet

    if isinstance(chunk.reader, StoredChunk) or chunk.reader.temporary is None:
        return chunk.reader
    text, path = chunk.reader.temporary, f"{chunk.reader.temporary}.parquet"
    if os.path.exists(text):
        part = f"{path}.{os.getpid()}"
        table = chunk.read_arrow(chunk.names)
        with writing(path):
            parquet.write_table(table, part)
        os.replace(part, path)
        os.unlink(text)
    return StoredChunk(path)


# -- types -----------------------------------------------------------------------------------------


def _types(
    names: Sequence[str],
    readers: Sequence[ChunkReader],
    profiles: Sequence[ChunkProfile],
    text: Collection[str],
    run: Run,
) -> list[dict[str, CellType]]:
    """Return the types of the columns for each chunk; they are the same in all chunks of a file."""
    import pyarrow as pa

    gaps = set().union(*(profile.gaps for profile in profiles))
    own: list[dict[str, Any]] = []  # by file
    sizes = []
    pairs = zip(readers, profiles, strict=True)
    for _, group in groupby(pairs, key=lambda pair: pair[0].file.name):
        chunks, found = zip(*group, strict=True)
        sizes.append(len(chunks))
        joint = {n: _joint(n, [one.types[n] for one in found], chunks, run) for n in names}
        codes = set().union(*(one.codes for one in found))
        own.append({n: _unless_codes(t, known=n in codes) for n, t in joint.items()})
    plain = {name: [_plain(types[name]) for types in own] for name in names}
    common = {n: pa.large_string() if n in text else common_type(plain[n]) for n in names}
    by_file = [{n: CellType(types[n], common[n], n in gaps) for n in names} for types in own]
    return [types for types, size in zip(by_file, sizes, strict=True) for _ in range(size)]


def _joint(name: str, types: Sequence[Any], readers: Sequence[ChunkReader], run: Run) -> Any:
    """Return the type with which the cells of a column can be read in all chunks of a file."""
    import pyarrow as pa

    different = [type for type in dict.fromkeys(types) if not pa.types.is_null(type)]
    if len(different) <= 1:
        return different[0] if different else pa.null()
    for wider in _wider(different):
        others = [one for one, type in zip(readers, types, strict=True) if type != wider]
        if all(run(methodcaller("fits", name, wider), others)):
            return wider
    return pa.string()


def _unless_codes(type: Any, *, known: bool) -> Any:
    """Return the type of a column in a file; text if whole numbers are `known` to be codes."""
    import pyarrow as pa

    return pa.string() if known and pa.types.is_integer(type) else type


def _wider(types: Sequence[Any]) -> list[Any]:
    """List the types that pyarrow would try for cells of several types, in its order."""
    import pyarrow as pa

    if all(pa.types.is_integer(type) or pa.types.is_floating(type) for type in types):
        return [pa.float64()]
    if all(pa.types.is_temporal(type) for type in types):
        return [pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")]
    return []


def _plain(type: Any) -> Any:
    """Return the plain type of a column whose cells are read as `type`."""
    import pyarrow as pa

    if pa.types.is_time(type):
        return pa.string()
    return to_plain_type(pa.chunked_array([], type), "", "").type
