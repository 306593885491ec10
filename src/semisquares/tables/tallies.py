"""The different values of a column and how often each occurs, counted part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]

MOST = 1 << 17
"""So many different values are kept where counts of several parts are merged."""
_ALL = 1 << 64


@dataclass(frozen=True, eq=False)
class Tally:
    """Different values in the order of their first rows, with their counts.

    Merging in any order and grouping gives the same. Beyond `MOST` values those with the smallest
    hashes are kept, with their exact counts: a random sample of the values, whose number follows
    from the share of all hashes that these take up (Bar-Yossef et al., 2002).
    """

    values: Array
    counts: Array
    first: Array
    """The place of the first row of each value."""
    bound: int = _ALL
    """Values whose hash is not below it are not kept."""

    @classmethod
    def of(cls, codes: Array, values: Any, start: int = 0) -> Tally:
        """Count rows by the place of their value among `values`, -1 for none.

        Parameters
        ----------
        codes : (n_rows,) ndarray of int
        values : array
        start : int
            The place of the first of these rows in the table.

        Examples
        --------
        >>> import numpy as np
        >>> tally = Tally.of(np.array([0, 1, -1, 0]), np.array(["a", "b"], dtype=object))
        >>> tally.counts.tolist(), tally.first.tolist()
        ([2, 1], [0, 1])
        """
        first = np.zeros(len(values) + 1, dtype=np.int64)  # the last place is that of the code -1
        first[codes[::-1]] = np.arange(start + len(codes) - 1, start - 1, -1)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        return cls(np.asarray(values), counts, first[:-1])._in_order()

    @property
    def complete(self) -> bool:
        """Whether all values are kept."""
        return self.bound == _ALL

    @property
    def n_distinct(self) -> int:
        """How many different values there are; an estimate where not all are kept."""
        return len(self.values) if self.complete else round(len(self.values) * _ALL / self.bound)

    def mapped(self, write: Callable[[Any], Any]) -> Tally:
        """Count values that are written alike as one.

        Examples
        --------
        >>> import numpy as np
        >>> tally = Tally.of(np.array([0, 1, 2]), np.array(["a", "A", "b"], dtype=object))
        >>> tally.mapped(str.lower).values.tolist()
        ['a', 'b']
        """
        texts = np.array([*map(write, self.values), None], dtype=object)[:-1]
        return Tally(texts, self.counts, self.first, self.bound)._joined()

    def merge(self, other: Tally, most: int | None = MOST) -> Tally:
        """Count the rows of both; keep at most so many values.

        Examples
        --------
        >>> import numpy as np
        >>> tally = Tally.of(np.array([0, 1]), np.array(["a", "b"], dtype=object))
        >>> tally.merge(tally).counts.tolist()
        [2, 2]
        """
        both = Tally(
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
        return Tally(both.values[kept], both.counts[kept], both.first[kept], bound)

    def _joined(self) -> Tally:
        """Count equal values as one."""
        codes, values = pd.factorize(self.values)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, codes, self.counts)
        first = np.full(len(values), np.iinfo(np.int64).max)
        np.minimum.at(first, codes, self.first)
        return Tally(np.asarray(values), counts, first, self.bound)._in_order()

    def _in_order(self) -> Tally:
        order = np.argsort(self.first, kind="stable")
        return Tally(self.values[order], self.counts[order], self.first[order], self.bound)
