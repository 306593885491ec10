"""The different values of a column and how often each occurs, counted chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.typing import Array

MAX_KEPT = 1 << 17
"""Most different values that a merge of two chunks keeps, by default."""
_ALL = 1 << 64


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Different values in the order of their first rows, with their counts.

    Merging gives the same in any order and grouping. Beyond `most` values, only those with the
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
    most: int | None = MAX_KEPT
    """The most values that a merge keeps; None for all."""

    @classmethod
    def of(
        cls, codes: Array, values: Any, start: int = 0, *, most: int | None = MAX_KEPT
    ) -> ValueCounts:
        """Count rows that are given as codes into `values`, -1 if missing.

        Parameters
        ----------
        codes : (n_rows,) ndarray of int
        values : array
        start : int
            The position of the first of these rows in the table.
        most : int, optional
            The most values that a merge keeps; None for all.

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
        return cls(np.asarray(values), counts, first[:-1], most=most)._in_order()

    @property
    def complete(self) -> bool:
        """Whether all values are kept."""
        return self.bound == _ALL

    @property
    def n_distinct(self) -> int:
        """The number of different values; an estimate if not all are kept."""
        return len(self.values) if self.complete else round(len(self.values) * _ALL / self.bound)

    @property
    def sorted(self) -> tuple[Array, Array]:
        """The values, sorted, and their counts."""
        order = np.argsort(self.values)
        return self.values[order], self.counts[order]

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Add up both counts; keep at most `most` values.

        Examples
        --------
        >>> import numpy as np
        >>> counts = ValueCounts.of(np.array([0, 1]), np.array(["a", "b"], dtype=object))
        >>> counts.merge(counts).counts.tolist()
        [2, 2]
        """
        codes, values = pd.factorize(np.concatenate([self.values, other.values]))
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, codes, np.concatenate([self.counts, other.counts]))
        first = np.full(len(values), np.iinfo(np.int64).max)
        np.minimum.at(first, codes, np.concatenate([self.first, other.first]))
        bound = min(self.bound, other.bound)
        both = ValueCounts(np.asarray(values), counts, first, bound, self.most)
        return both._in_order().trimmed()

    def trimmed(self) -> ValueCounts:
        """Keep the values with a hash below `bound`, which is lowered to keep at most `most`."""
        most, bound = self.most, self.bound
        if self.complete and (most is None or len(self.values) <= most):
            return self
        hashes = pd.util.hash_array(self.values, categorize=False)
        if most is not None and np.count_nonzero(hashes < bound) > most:
            bound = int(np.partition(hashes, most)[most])
        return replace(self._take(hashes < bound), bound=bound)

    def _in_order(self) -> ValueCounts:
        return self._take(np.argsort(self.first, kind="stable"))

    def _take(self, places: Array) -> ValueCounts:
        """Return the counts of some values."""
        values, counts, first = self.values[places], self.counts[places], self.first[places]
        return replace(self, values=values, counts=counts, first=first)
