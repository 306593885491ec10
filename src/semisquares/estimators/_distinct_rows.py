"""The labeled rows that the averaged classifier is fitted to, with repeated rows merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._inputs.labels import Labels
from .._utils.typing import Array
from ..families import LabeledRows, UnlabeledRows
from ..families._average import Learned
from ..representations._summary import hash_rows

ROUNDING = 1e-9
"""A difference of weights that is smaller, relative to the weights, is 0."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The labeled rows of positive weight, with repeated ones merged, sorted by their content."""

    X: Any
    codes: Array
    classes: Array
    count: Array
    """Total sample weight of the copies of each row."""
    weight: Array
    """`count` times the class weight."""
    blocks: Array
    """Rows with the same number are left out together."""
    labeled: Array
    """Row numbers, in the user's table, of the labeled rows of positive weight."""
    position: Array
    """The index of each of them among the distinct rows."""

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Labels,
        count: Array,
        weight: Array,
        groups: Array | None,
    ) -> DistinctRows:
        """Merge the labeled rows X; `weight` is `count` times the class weight."""
        kept = weight > 0.0
        labeled, codes, count, weight = (
            values[kept] for values in (labels.labeled, labels.codes, count, weight)
        )
        X = X[kept]
        X = X.astype(np.float64) if X.dtype != np.float64 else X
        # hashes of 128 bits identify rows, and sort them independently of the table's order
        keys = np.column_stack((hash_rows(X), hash_rows(X, seed=1), codes.astype(np.uint64)))
        _, first, position = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        _, blocks = np.unique(keys[:, :2], axis=0, return_inverse=True)
        position, blocks = position.ravel(), blocks.ravel()
        if groups is not None:
            blocks = _merge_groups(blocks, groups[kept])
        return cls(
            X[first],
            codes[first],
            labels.classes,
            np.bincount(position, count),
            np.bincount(position, weight),
            blocks[first],
            labeled,
            position,
        )

    def rows(self, learned: Learned, n_jobs: int | None) -> LabeledRows:
        """Return the rows in the form that families are fitted to."""
        total = float(self.count.sum())
        return LabeledRows(
            learned.features(self.X),
            self.codes,
            len(self.classes),
            self.weight * (total / self.weight.sum()),
            total,
            self.blocks,
            n_jobs,
            self._unlabeled(learned),
        )

    def _unlabeled(self, learned: Learned) -> UnlabeledRows | None:
        """Return the unlabeled rows of the summary's sample."""
        summary = learned.summary
        of_row, position = np.unique(hash_rows(self.X), return_inverse=True)
        labeled = np.zeros(len(summary.hashes))
        _, mine, theirs = np.intersect1d(
            of_row, summary.hashes, assume_unique=True, return_indices=True
        )
        labeled[theirs] = np.bincount(position, self.count)[mine]
        left = summary.sample_weight - labeled
        free = left > ROUNDING * summary.sample_weight
        if not free.any():
            return None
        total = summary.weight - float(self.count.sum())
        return UnlabeledRows(learned.features(summary.sample[free]), left[free], total)


def _merge_groups(first: Array, second: Array) -> Array:
    """Return groups in which rows are together if they are in either of two groupings."""
    _, second = np.unique(second, return_inverse=True)
    n_first = int(first.max()) + 1
    n_all = n_first + int(second.max()) + 1
    ones = np.ones(len(first))
    links = sparse.coo_array((ones, (first, n_first + second)), shape=(n_all, n_all))
    return connected_components(links, directed=False)[1][first]
