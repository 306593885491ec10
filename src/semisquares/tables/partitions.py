"""A table cut into parts that fit in memory, each of which can be read alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import some_function, texts, whole_number
from .formats.arrow_files import ArrowFile
from .formats.columns import common_type, is_text, plain, to_pandas
from .formats.csv_files import CsvFile
from .formats.headers import check_there
from .formats.sources import Source, Spool
from .formats.spans import Span
from .reading import as_source, no_rows, readers_of, spellings_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Partition", "Run", "cut"]

N_BYTES = 64 << 20
"""Of a partition, by default: as numbers, and as they are stored."""

Run = Callable[[Callable[["Partition"], Any], Iterable["Partition"]], Iterable[Any]]
"""How a function is called with each of many partitions: as `map` does it, or elsewhere."""


@dataclass(frozen=True)
class _Type:
    """What the cells of a column are in all partitions."""

    cells: Any
    """The type that Arrow reads them as in this file."""
    common: Any
    """The type that holds those of all files."""
    gaps: bool
    """Whether any is missing, in whatever partition: pandas has other types then."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Some neighbouring rows of a table, which are read when they are asked for.

    It is small and can be sent to another process, provided that the files are there, too.
    """

    reader: CsvFile | ArrowFile
    span: Span
    types: Mapping[str, _Type]
    start: int = 0
    """The place of its first row in the table."""
    n_rows: int = 0
    spool: Spool | None = field(default=None, repr=False)
    """What keeps a file that came through a pipe; not in another process."""

    @property
    def names(self) -> list[str]:
        """The columns of the table, in its order."""
        return list(self.types)

    def read(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read the rows, with the types that `semisquares.tables.read` gives the whole table.

        Parameters
        ----------
        columns : sequence of str, optional
            All where not given.

        Returns
        -------
        DataFrame
            Its index are the places of the rows in the table.

        Examples
        --------
        >>> import io
        >>> from semisquares.tables.reading import find
        >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n30,a\\n,b\\n50,a\\n"))
        >>> cut(source, n_bytes=16)[1].read(["kind", "age"])
          kind   age
        2    a  50.0
        """
        import pandas as pd
        import pyarrow as pa

        names = self.names if columns is None else list(columns)
        kinds = {name: self.types[name] for name in names}
        text = {name for name, kind in kinds.items() if is_text(kind.common)}
        cells = {name: kind.cells for name, kind in kinds.items()}
        table = self.reader.whole(names, text, self.span, cells)
        schema = pa.schema([(name, _stored(kind)) for name, kind in kinds.items()])
        frame = to_pandas(table.cast(schema, safe=False))
        flags = [n for n, k in kinds.items() if k.gaps and pa.types.is_boolean(k.common)]
        frame = frame.astype(dict.fromkeys(flags, object))
        return frame.set_axis(pd.RangeIndex(self.start, self.start + self.n_rows))


def cut(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    text: Collection[str] = (),
    labels: Collection[str] = (),
    n_bytes: int = N_BYTES,
    run: Run = map,
) -> tuple[Partition, ...]:
    """Cut a table into partitions, and find the types of its columns.

    Parquet and Feather are cut between row groups and record batches, CSV between rows. All of a
    CSV is read once to find its types; of other files, the columns of whole numbers and booleans.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`.
    missing, text, labels
        As in `read`.
    n_bytes : int, default=64 MiB
        About the size of a partition, both if all of its cells were float64 and as they are stored;
        but a row group or record batch that is larger stays whole.
    run : callable, default=map
        Calls a function with each of many partitions, ``run(function, partitions)``, and returns
        the results in order.

    Returns
    -------
    tuple of Partition
        In the order of the rows.

    Raises
    ------
    TableError
        Where `read` does, and where a file cannot be read in parts: a compressed CSV, one in UTF-16
        or the like, and a stream of Arrow.

    Examples
    --------
    >>> import io
    >>> from semisquares.tables.reading import find
    >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n30,a\\n,b\\n50,a\\n"))
    >>> [partition.read()["age"].tolist() for partition in cut(source, n_bytes=16)]
    [[30.0, nan], [50.0]]
    """
    source = as_source(source)
    n_bytes = whole_number("n_bytes", n_bytes, 1)
    run = some_function("run", run, "a function such as map")
    text = {*texts("text", text), *texts("labels", labels)}
    readers = readers_of(source, spellings_of(missing, labels))
    names = readers[0].names
    check_there(sorted(text), names, readers[0].file.name)
    most_rows = max(1, n_bytes // (8 * len(names)))
    whole = [
        Partition(reader, span, {}, spool=source.spool)
        for reader in readers
        for span in reader.spans(most_rows, n_bytes)
    ]
    found = list(run(partial(_found, text=text), whole))
    if not sum(n_rows for n_rows, _, _ in found):
        raise no_rows(source)
    types = _types(names, whole, found, text, run)
    start, typed = 0, []
    for partition, (n_rows, _, _) in zip(whole, found, strict=True):
        own = types[partition.reader.file.path]
        typed.append(replace(partition, types=own, start=start, n_rows=n_rows))
        start += n_rows
    return tuple(typed)


def _found(partition: Partition, text: Collection[str]) -> tuple[int, dict[str, Any], set[str]]:
    return partition.reader.found(text, partition.span)


def _types(
    names: Sequence[str],
    partitions: Sequence[Partition],
    found: Sequence[tuple[int, dict[str, Any], set[str]]],
    text: Collection[str],
    run: Run,
) -> dict[str, dict[str, _Type]]:
    """Settle the types of the columns of each file, by its path."""
    import pyarrow as pa

    gaps = set().union(*(lost for _, _, lost in found))
    cells: dict[str, dict[str, Any]] = defaultdict(dict)
    pairs = zip(partitions, found, strict=True)
    for path, group in groupby(pairs, key=lambda pair: pair[0].reader.file.path):
        of_file = list(group)
        for name in names:
            kinds = [types[name] for _, (_, types, _) in of_file]
            cells[path][name] = _joint(name, kinds, [p for p, _ in of_file], run)
    return {
        path: {
            name: _Type(
                of_file[name],
                pa.large_string()
                if name in text
                else common_type([_plain(others[name]) for others in cells.values()]),
                name in gaps,
            )
            for name in names
        }
        for path, of_file in cells.items()
    }


def _joint(name: str, kinds: Sequence[Any], partitions: Sequence[Partition], run: Run) -> Any:
    """Return the type as which the cells of a column can be read in all partitions of a file."""
    import pyarrow as pa

    different = [kind for kind in dict.fromkeys(kinds) if not pa.types.is_null(kind)]
    if len(different) <= 1:
        return different[0] if different else pa.null()
    if isinstance(partitions[0].reader, ArrowFile):
        return common_type(different)
    for kind in _wider(different):
        others = [p for p, own in zip(partitions, kinds, strict=True) if own != kind]
        if all(run(partial(_holds, name=name, kind=kind), others)):
            return kind
    return pa.string()


def _wider(kinds: Sequence[Any]) -> list[Any]:
    """List the types that pyarrow would try for cells that are of several types, in its order."""
    import pyarrow as pa

    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return [pa.float64()]
    if all(pa.types.is_temporal(kind) for kind in kinds):
        return [pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")]
    return []


def _holds(partition: Partition, name: str, kind: Any) -> bool:
    reader = partition.reader
    return isinstance(reader, CsvFile) and reader.holds(name, kind, partition.span)


def _plain(kind: Any) -> Any:
    """Return the type that a column of a file has once its cells are read as `kind`."""
    import pyarrow as pa

    if pa.types.is_time(kind):
        return pa.string()
    return plain(pa.chunked_array([], kind), "", "").type


def _stored(kind: _Type) -> Any:
    """Return the type in which a column goes to pandas, which has no gaps in whole numbers."""
    import pyarrow as pa

    return pa.float64() if kind.gaps and pa.types.is_integer(kind.common) else kind.common
