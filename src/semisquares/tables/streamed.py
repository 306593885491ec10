"""A table that does not fit in memory, made ready for classifiers part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .cells import text_cells, text_of
from .kinds import Column, columns_of, look_at_all
from .looks import Look
from .partitions import Partition, Run
from .preparation import cleaned, summed
from .prepared import Marker, Understood, Wish, look_at_marker
from .quantities import Rows
from .sums import Sums
from .target import Labels, TargetLook, decide_target, has_label, look_at_target

Array = NDArray[Any]
Known = TypeVar("Known", "Looks", Sums)


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamedTable(Understood):
    """What `Prepared` is for a table in memory: all but the rows, which are made on demand.

    The codes of its `target` are empty.
    """

    partitions: tuple[Partition, ...]
    labels: Labels

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Rows of each partition."""
        return tuple(partition.n_rows for partition in self.partitions)

    def transform(self, partition: Partition, dtype: DTypeLike = np.float64) -> tuple[Array, Array]:
        """Return the prepared rows of a partition, and their labels.

        Parameters
        ----------
        partition : Partition
            One of the table's, or of another that has its columns.
        dtype : dtype, default=float64
            Of the rows.

        Returns
        -------
        X : (n_rows, n_features) ndarray
        codes : (n_rows,) ndarray of int
            The place of each row's label among the classes, -1 where it has none.
        """
        used = [column.name for column in self.columns if column.used]
        frame = partition.read([*used, self.target.name])
        codes = self.labels.codes_of(frame.pop(self.target.name))
        return self.preparation.transform(frame).astype(dtype, copy=False), codes


def prepare_partitions(
    partitions: Sequence[Partition],
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | float | None = None,
    source: str = "the table",
    run: Run = map,
) -> StreamedTable:
    """Read the labels of a table, and find how to turn its other columns into numbers.

    This gives what `prepare` finds in the whole table, in two passes over the partitions: the first
    tells what the columns are, the second how they are filled, scaled and encoded. Only a column of
    more than 131,072 different texts is another matter: their number is an estimate then, and
    such texts are never categories.

    Parameters
    ----------
    partitions : sequence of Partition
        From `cut`, with the target among its ``labels``.
    target, group, kinds, drop, unlabeled, source
        As in `prepare`.
    run : callable, default=map
        As in `cut`. What is known of partitions can be merged in any order and grouping.

    Returns
    -------
    StreamedTable

    Examples
    --------
    >>> import io
    >>> from semisquares.tables.partitions import cut
    >>> from semisquares.tables.reading import find
    >>> rows = b"age,sick\\n30,no\\n40,\\n50,yes\\n60,\\n"
    >>> partitions = cut(find("-", stdin=io.BytesIO(rows)), labels=["sick"], n_bytes=32)
    >>> table = prepare_partitions(partitions, "sick")
    >>> table.target.classes, table.n_rows
    (('no', 'yes'), (2, 1, 1))
    >>> X, codes = table.transform(partitions[0])
    >>> X.round(2).tolist(), codes.tolist()
    ([[-1.34], [-0.45]], [0, -1])
    """
    wish = Wish.of(partitions[0].names, target, group, kinds, drop, unlabeled)
    total = sum(partition.n_rows for partition in partitions)
    known: Looks = _merged(run(partial(look, wish=wish, total=total), partitions))
    labels = decide_target(known.target, target, unlabeled=wish.unlabeled, as_levels=wish.as_levels)
    columns = columns_of(known.columns_left(wish), wish.kinds, wish.left_out(known.marker))
    sums: Sums = _merged(run(partial(add_up, columns=columns), partitions))
    preparation = wish.preparation(known.marker)
    first = next(partition for partition in partitions if partition.n_rows)
    row = first.read([column.name for column in columns if column.used]).head(1)
    preparation.settle(wish.names, columns, sums, cleaned(row, columns))
    return StreamedTable(
        source=source,
        target=labels.target,
        preparation=preparation,
        group=group,
        unlabeled=wish.unlabeled,
        notes=wish.notes(labels.target, known.marker, preparation, known.n_alone),
        n_filled=0 if known.marker is None else known.marker.n_filled,
        partitions=tuple(partitions),
        labels=labels,
    )


@dataclass(frozen=True, eq=False)
class Looks:
    """What is known of all columns of some partitions, before it is decided what they are."""

    target: TargetLook
    columns: Mapping[str, Look]
    marker: Marker | None
    n_alone: int
    """Rows without a group."""

    def merge(self, other: Looks) -> Looks:
        """Return what is known of the rows of both."""
        marker = None
        if self.marker is not None and other.marker is not None:
            marker = self.marker.merge(other.marker)
        return Looks(
            self.target.merge(other.target),
            {name: one.merge(other.columns[name]) for name, one in self.columns.items()},
            marker,
            self.n_alone + other.n_alone,
        )

    def columns_left(self, wish: Wish) -> Iterable[tuple[str, Look]]:
        """Return what is known of the columns, of the marker no more than its missing cells."""
        columns = dict(self.columns)
        if wish.marker is not None and self.marker is not None:
            n_rows, n_missing = self.marker.n_rows, self.marker.n_missing
            columns[wish.marker] = Look("", n_rows, n_rows - n_missing)
        return columns.items()


def look(partition: Partition, wish: Wish, total: int) -> Looks:
    """Look at the cells of a partition; the first pass."""
    frame, start = partition.read(), partition.start
    series = ((name, frame[name]) for name in wish.names)
    values = frame[wish.target]
    marker = None
    if wish.marker is not None:
        marker = look_at_marker(frame[wish.marker], has_label(values, wish.unlabeled))
    n_alone = 0
    if wish.group is not None:
        n_alone = int(np.count_nonzero(text_cells(frame[wish.group], text_of)[0] < 0))
    return Looks(
        look_at_target(values, wish.target, as_levels=wish.as_levels, start=start),
        dict(look_at_all(series, wish.kinds, wish.drop, Rows(start, total))),
        marker,
        n_alone,
    )


def add_up(partition: Partition, columns: Sequence[Column]) -> Sums:
    """Sum over the rows of a partition; the second pass."""
    frame = partition.read([column.name for column in columns if column.used])
    return summed(cleaned(frame, columns), columns)


def _merged(known: Iterable[Known]) -> Known:
    """Merge what is known of each partition as it comes."""
    return reduce(lambda one, other: one.merge(other), known)
