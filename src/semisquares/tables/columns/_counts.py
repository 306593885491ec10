"""The different values of a column and how often each occurs, counted chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]

MAX_KEPT = 1 << 17
"""Most different values that are kept when counts of chunks are merged."""
_ALL = 1 << 64


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Different values in the order of their first rows, with their counts.

    Merging gives the same in any order and grouping. Beyond `MAX_KEPT` values, only those with the
    smallest hashes are kept, with their exact counts. They are a random sample of the values; the
    number of all values follows from the share of the hash range that the sample takes up
    (Bar-Yossef et al., 2002).
    """

    values: Array
    counts: Array
    first: Array
    """The first row of each value."""
    bound: int = _ALL
    """Only values with a hash below it are kept."""

    @classmethod
    def of(cls, codes: Array, values: Any, start: int = 0) -> ValueCounts:
        """Count rows that are given as codes into `values`, -1 if missing.

        Parameters
        ----------
        codes : (n_rows,) ndarray of int
        values : array
        start : int
            The position of the first of these rows in the table.

        Examples
        --------
        >>> import numpy as np
        >>> counts = ValueCounts.of(np.array([0, 1, -1, 0]), np.array(["a", "b"], dtype=object))
        >>> counts.counts.tolist(), counts.first.tolist()
        ([2, 1], [0, 1])
        """
        first = np.zeros(len(values) + 1, dtype=np.int64)  # the code -1 writes to the last entry
        first[codes[::-1]] = np.arange(start + len(codes) - 1, start - 1, -1)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        return cls(np.asarray(values), counts, first[:-1])._in_order()

    @property
    def complete(self) -> bool:
        """Whether all values are kept."""
        return self.bound == _ALL

    @property
    def n_distinct(self) -> int:
        """The number of different values; an estimate if not all are kept."""
        return len(self.values) if self.complete else round(len(self.values) * _ALL / self.bound)

    def merge(self, other: ValueCounts, most: int | None = MAX_KEPT) -> ValueCounts:
        """Add up both counts; keep at most `most` values.

        Examples
        --------
        >>> import numpy as np
        >>> counts = ValueCounts.of(np.array([0, 1]), np.array(["a", "b"], dtype=object))
        >>> counts.merge(counts).counts.tolist()
        [2, 2]
        """
        both = ValueCounts(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.first, other.first]),
        )._joined()
        bound = min(self.bound, other.bound)
        if bound == _ALL and (most is None or len(both.values) <= most):
            return both
        hashes = pd.util.hash_array(both.values, categorize=False)
        if most is not None and np.count_nonzero(hashes < bound) > most:
            bound = int(np.partition(hashes, most)[most])
        kept = hashes < bound
        return ValueCounts(both.values[kept], both.counts[kept], both.first[kept], bound)

    def _joined(self) -> ValueCounts:
        """Add up the counts of equal values."""
        codes, values = pd.factorize(self.values)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, codes, self.counts)
        first = np.full(len(values), np.iinfo(np.int64).max)
        np.minimum.at(first, codes, self.first)
        return ValueCounts(np.asarray(values), counts, first, self.bound)._in_order()

    def _in_order(self) -> ValueCounts:
        order = np.argsort(self.first, kind="stable")
        return ValueCounts(self.values[order], self.counts[order], self.first[order], self.bound)


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Counts of the few values of a boolean or a category, all of which are kept."""

    counts: ValueCounts

    @classmethod
    def of(cls, codes: Array, values: Array) -> LevelCounts:
        """Count rows that are given as codes into `values`, -1 if missing."""
        return cls(ValueCounts.of(codes, values))

    @property
    def in_order(self) -> tuple[Array, Array]:
        """The values, sorted, and their counts."""
        order = np.argsort(self.counts.values)
        return self.counts.values[order], self.counts.counts[order]

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Add up both counts."""
        return LevelCounts(self.counts.merge(other.counts, most=None))
