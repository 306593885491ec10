"""The curvature of simplex labels as one matrix for all classes, factored once.

With an intercept, decision values sum to one over the classes, and steps v sum to 0. Then a row
whose label has s classes in its support S has the curvature

    Σ_{k ∉ S} (x'v_k)² + (Σ_{k ∉ S} x'v_k)² / s

so only the classes outside S matter: few, if classes overlap. The last class is eliminated
(v_K = -Σ v_k); what is left is one positive definite matrix. It is summed from the Gram matrices
of patterns (`Patterns`). Rows of rare patterns, and rows that changed their pattern since, are
added to products with the matrix, and solving with the matrix is the preconditioner.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from ..objective import Objective
from ..rows import MemoryRows, Patterns
from ..rows.targets import differs

SMALLEST = 1 << 20
"""In smaller tables, in values of X, products are faster."""
LARGEST = 2048
"""The most rows of the matrix."""
FEWEST_ROWS = 16
"""Patterns with fewer rows cost more than products with these rows."""
WORTH = 40.0
"""Forming and factoring the matrix may take this many operations for each value of X and class."""
MOST_APART = 4
"""The matrix is summed again if more than this share of the rows are not in it."""


class JointCurvature:
    """The curvature at some supports, and at supports that differ from them in few rows."""

    def __init__(self, objective: Objective, support: Array, patterns: Patterns) -> None:
        rows = self.rows = objective.memory_rows
        self.objective = objective
        self.reference = patterns.reference()
        p, n_classes = rows.weights_shape
        first, second = np.tril_indices(n_classes - 1)
        labeled = rows.labeled_gram.copy()
        features = np.arange(rows.n_features)
        labeled[features, features] += objective.alpha
        # the last class is v_K = -Σ v_k, which counts in all pairs of the others
        blocks = np.multiply.outer(1.0 + (first == second), labeled.ravel())
        blocks = blocks.astype(rows.table.dtype, copy=False)
        for outside, grams in patterns.grams():
            size = n_classes - outside.sum(axis=1)
            own = outside[:, first] * (first == second) + outside[:, -1:]
            rest = outside[:, :-1] - outside[:, -1:]
            shared = rest[:, first] * rest[:, second] / size[:, None]
            blocks += (own + shared).T.astype(grams.dtype) @ grams
        matrix = np.empty((n_classes - 1, p, n_classes - 1, p), dtype=rows.table.dtype)
        for k, other, block in zip(first, second, blocks, strict=True):
            matrix[k, :, other] = matrix[other, :, k] = block.reshape(p, p)
        self.matrix = matrix.reshape((n_classes - 1) * p, -1)
        # symmetric; LAPACK does not copy the transpose again
        self.triangle, self.failed = dense.cholesky(self.matrix.copy().T)
        self._few: MemoryRows | None = None
        self.move(support)

    def move(self, support: Array) -> int:
        """Take over other supports; return how many rows differ from those in the matrix."""
        apart = np.flatnonzero(differs(support, self.reference))
        self._few = None
        if len(apart):
            rows = self.rows
            targets = rows.targets.unlabeled_at(apart)
            self._few = MemoryRows.of(rows.table.subset(apart), targets, rows.intercept)
            # the long axis stays contiguous: sums over classes are much faster then
            self._supports = support.T[:, apart].T, self.reference.T[:, apart].T
        return len(apart)

    def product(self, x: Array) -> Array:
        """Multiply by the curvature, without the last class: x is (p, K - 1)."""
        image = (self.matrix @ x.T.ravel().astype(self.matrix.dtype)).reshape(x.T.shape).T
        if self._few is not None:
            image = image + reduce(self._few.pattern_change(expand(x), *self._supports))
        return image

    def precondition(self, r: Array) -> Array:
        """Solve with the matrix."""
        x = dense.solve_cholesky(self.triangle, r.T.ravel().astype(self.triangle.dtype))
        return x.reshape(r.T.shape).T


def reduce(g: Array) -> Array:
    """Return a gradient in all classes but the last."""
    return g[:, :-1] - g[:, -1:]


def lift(r: Array) -> Array:
    """Return the gradient in all classes, which sums to 0 over them, from that of `reduce`."""
    last = -r.sum(axis=1, keepdims=True) / (r.shape[1] + 1)
    return np.hstack((r + last, last))


def expand(x: Array) -> Array:
    """Return a step in all classes, which sums to 0 over them."""
    return np.hstack((x, -x.sum(axis=1, keepdims=True)))


def may_join(objective: Objective) -> bool:
    """Return whether the matrix of all classes is small enough, whatever the supports are."""
    rows = objective.rows.in_memory
    if rows is None or not (rows.intercept and objective.direct) or rows.gram_columns < np.inf:
        return False
    p, n_classes = rows.weights_shape
    order = p * (n_classes - 1)
    return (
        rows.table.n_values >= SMALLEST
        and order <= LARGEST
        and n_classes <= Patterns.MOST_CLASSES
        and order**3 / 3.0 <= _budget(rows)
    )


def _budget(rows: MemoryRows) -> float:
    """Return how many operations the matrix may take."""
    p, n_classes = rows.weights_shape
    return WORTH * rows.n_rows * p * n_classes


def joint_curvature(objective: Objective, support: Array) -> JointCurvature | None:
    """Return the joint curvature if it costs less than the products that it replaces."""
    if not may_join(objective):
        return None
    rows = objective.memory_rows
    patterns = Patterns(rows, support, FEWEST_ROWS)
    n_blocks = float((patterns.outside.sum(axis=1) ** 2).sum())
    apart = patterns.n_outside - patterns.n_covered
    if MOST_APART * apart > rows.n_rows or n_blocks * rows.n_weights**2 > _budget(rows):
        return None
    found = JointCurvature(objective, support, patterns)
    return None if found.failed else found
