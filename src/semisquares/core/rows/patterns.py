"""Gram matrices of rows whose labels on the simplex have the same support: a pattern.

Rows of one pattern have the same curvature in the classes, so a few Gram matrices hold the whole
curvature of a table: with 10 classes, some hundred patterns have nearly all rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._utils.typing import Array
from .memory import MemoryRows

TOGETHER = 1 << 20
"""Gram matrices with about this many entries together are returned at a time."""


class Patterns:
    """The unlabeled rows, grouped by the support of their labels.

    Rows with all classes in their support have no curvature and are in no pattern, nor are rows of
    patterns with fewer than `fewest` rows, unless these are so large that they count as many.
    """

    MOST_CLASSES = 52
    """Patterns are numbered exactly by floating-point numbers up to this many classes."""

    def __init__(self, rows: MemoryRows, support: Array, fewest: int) -> None:
        self.rows, self.support = rows, support
        n_classes = support.shape[1]
        inside = support.astype(np.float64)
        size = inside @ np.ones(n_classes)
        outside = np.flatnonzero((size > 0.0) & (size < n_classes))  # labeled rows have size 0
        code = (inside @ np.exp2(np.arange(n_classes)))[outside]
        order = np.argsort(code.astype(np.uint16) if n_classes <= 16 else code, kind="stable")
        cuts = np.flatnonzero(np.diff(code[order], prepend=np.nan, append=np.nan))
        counts = np.diff(cuts)
        is_kept = counts >= fewest
        self._rare = outside[order[~np.repeat(is_kept, counts)]]
        if len(self._rare):
            is_kept[~is_kept] = self._sizes(self._rare, counts[~is_kept]) >= fewest
            self._rare = outside[order[~np.repeat(is_kept, counts)]]  # the rows in no pattern
        self.groups = [outside[order[cuts[k] : cuts[k + 1]]] for k in np.flatnonzero(is_kept)]
        """The rows of each pattern."""
        self.outside = ~support[[group[0] for group in self.groups]]
        """The classes outside the support of each pattern, as a mask."""
        self.n_outside = len(outside)
        """Rows with a class outside the support of their label."""
        self.n_covered = self.n_outside - len(self._rare)

    def _sizes(self, index: Array, counts: Array) -> Array:
        """Return the sums of ‖x‖² over groups of rows, relative to the mean over all rows."""
        table = self.rows.table
        mean = (table.squares_sum or 0.0) / table.n_rows
        if not 0.0 < mean < np.inf:
            return counts
        ones = np.ones(table.n_columns, dtype=table.dtype)
        with np.errstate(over="ignore"):  # infinite squares are large enough
            squares = table.squares(table.take(index)) @ ones
        return np.asarray(np.add.reduceat(squares, np.cumsum(counts) - counts) / mean)

    def reference(self) -> Array:
        """Return the supports of the rows in patterns; all classes for the other unlabeled rows."""
        support = self.support.copy(order="F")
        support[self._rare] = True
        return support

    def grams(self) -> Iterator[tuple[Array, Array]]:
        """Yield, for some patterns at a time, the classes outside each (1 or 0), and Σ a x x'."""
        rows, p = self.rows, self.rows.n_weights
        step = max(1, TOGETHER // p**2)
        for start in range(0, len(self.groups), step):
            groups = self.groups[start : start + step]
            grams = np.empty((len(groups), p * p), dtype=rows.table.dtype)
            for gram, group in zip(grams, groups, strict=True):
                gram[:] = rows.unlabeled_gram(group).ravel()
            yield self.outside[start : start + step].astype(np.float64), grams
