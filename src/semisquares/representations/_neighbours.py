"""Neighbours of rows: a graph, the smoothest functions on it, and their values at other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from .._utils.typing import Array
from ..core._interrupts import interruptible
from ._distances import squared_distances
from ._scaling import leading, with_signs

__all__ = ["Graph", "neighbours_agree"]


MOST_FEATURES = 200
TIED = 1.0 + 1e-9
"""Distances up to this factor above that of the last neighbour are ties with it."""
VOTERS = 3
"""Neighbours whose labels tell whether a graph can help."""
LEAST_REACH = 1e-3
"""The reach of a row is at least this part of the median, however close its neighbours are."""
LEAST_EXPONENT = -700.0
"""Weights with a smaller exponent are 0: beyond it, numbers in double precision lose digits."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Neighbours among some rows, and the smoothest functions on them."""

    rows: Any
    reach: Array
    """The squared distance to the last neighbour of each row."""
    n_neighbors: int
    eigenvalues: Array
    """λ, ascending: 0 for functions that are constant on each component."""
    functions: Array

    @classmethod
    def of(cls, rows: Any, n_neighbors: int) -> Graph:
        """Join rows to their neighbours."""
        n = rows.shape[0]
        if n < 2:
            return cls(rows, np.ones(n), n_neighbors, np.zeros(1), np.zeros((n, 1)))
        distances = squared_distances(rows, rows, copies=np.inf)
        near, reach = _neighbours(distances, n_neighbors)
        floor = LEAST_REACH * np.median(reach)
        reach = np.maximum(reach, floor if floor > 0.0 else 1.0)
        i, j = np.nonzero(near | near.T)
        values = np.exp(-distances[i, j] / np.sqrt(reach[i] * reach[j]))
        weights = distances
        weights[:] = 0.0
        weights[i, j] = values
        degree = weights.sum(axis=1)
        root = np.sqrt(np.maximum(degree, np.finfo(float).tiny))
        weights /= root[:, None]
        weights /= root  # symmetric, in the memory of the distances
        first = max(0, n - MOST_FEATURES - 1)
        values, vectors = interruptible(
            lambda: linalg.eigh(
                weights, subset_by_index=(first, n - 1), overwrite_a=True, check_finite=False
            ),
            9.0 * float(n) ** 3,
        )
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = leading(values, MOST_FEATURES)
        functions = with_signs(vectors[:, :kept]) * np.sqrt(n * degree.mean()) / root[:, None]
        smoothness = np.maximum(1.0 - values[:kept], 0.0)
        return cls(rows, reach, n_neighbors, smoothness, functions)

    def means(self, rows: Any) -> Array:
        """Return the weighted mean of each function over the neighbours of other rows."""
        return self.means_at(squared_distances(rows, self.rows, copies=np.inf))

    def means_at(self, distances: Array) -> Array:
        """Return these means for squared distances from the rows; those of copies are infinite."""
        if self.rows.shape[0] < 2:
            return np.zeros((len(distances), len(self.eigenvalues)))
        near, reach = _neighbours(distances, self.n_neighbors)
        reach = np.maximum(reach, self.reach.min())
        i, j = np.nonzero(near)
        exponent = -distances[i, j] / np.sqrt(reach[i] * self.reach[j])
        values = np.where(exponent > LEAST_EXPONENT, np.exp(exponent), 0.0)
        weights = sparse.csr_array((values, (i, j)), shape=distances.shape)
        total = weights.sum(axis=1)
        return (weights @ self.functions) / np.where(total > 0.0, total, 1.0)[:, None]


def neighbours_agree(rows: Any, codes: Array, weight: Array, blocks: Array) -> bool:
    """Tell whether the neighbours of labeled rows predict their classes better than a constant.

    The prediction for a row is the majority class of its three nearest neighbours outside of its
    block, ties included. A graph cannot help if that is right no more often than the most frequent
    class. With three blocks or fewer this cannot be tested, and the answer is yes.
    """
    if len(np.unique(blocks)) <= VOTERS:
        return True
    distances = squared_distances(rows, rows)
    distances[blocks[:, None] == blocks] = np.inf
    near, _ = _neighbours(distances, VOTERS)
    one_hot = np.eye(int(codes.max()) + 1)[codes] * weight[:, None]
    right = (near @ one_hot).argmax(axis=1) == codes
    return bool(weight @ right > one_hot.sum(axis=0).max())


def _neighbours(distances: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Return a mask of neighbours, ties included, and the squared distances to the last one."""
    k = min(n_neighbors, distances.shape[1] - 1)
    last = np.partition(distances, k - 1, axis=1)[:, k - 1] if k else np.zeros(len(distances))
    last = np.where(np.isfinite(last), last, 0.0)
    return distances <= last[:, None] * TIED, last
