"""Rows much larger than the others, in the preconditioner of more than two classes.

A row far from all others, a wrong unit for instance, has a larger curvature than all others
together, and loses it in every class that enters the support of its label. A preconditioner from
sums over all rows is then wrong by orders of magnitude in some directions, and conjugate gradients
take thousands of products. So the few largest rows are left out of these sums. With M from the
other rows, and the curvature ``P = F F'`` of the label of each large row at a sweep,

    (M + U U')⁻¹ = M⁻¹ - M⁻¹U (1 + U'M⁻¹U)⁻¹ U'M⁻¹,      U = √a x ⊗ F for all large rows

is exact for them, by the formula of Woodbury.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from ..objective import Objective
from ..rows import MemoryRows

LEAST_LEVERAGE, MOST_LEVERAGE = 30.0, 1e12
"""Large rows have a leverage a x'L⁻¹x of more than the first; L is the curvature of the labeled
rows. The formula loses its digits if one is above the second."""
MOST_PAIRS, ROWS_PER_PAIR, MOST_VALUES = 512, 8, 1 << 24
"""The most pairs of a large row and a class, the fewest rows of the table for each pair, and the
most numbers that are held for all pairs."""
HEAVY_TAIL = 8
"""If there are more large rows than pairs allow, it helps to treat this many of them, or more."""


class LargeRows:
    """The largest unlabeled rows, and the solution of M for each of them in each class.

    Steps sum to 0 over the classes, and so do the solutions of `solve`.
    """

    def __init__(self, rows: MemoryRows, index: Array, solve: Callable[[Array], Array]) -> None:
        p, n_classes = rows.weights_shape
        self.index, self._solve = index, solve
        self._x = rows.columns_of(index)  # √a (x, 1)
        self._solutions = np.empty((len(index), n_classes, p, n_classes))
        for i, k in np.ndindex(len(index), n_classes):
            only = np.zeros((p, n_classes))
            only[:, k] = self._x[:, i]
            self._solutions[i, k] = solve(only)
        self._gram = np.einsum("pj,ikpl->jlik", self._x, self._solutions)

    def precondition(self, support: Array) -> Callable[[Array], Array]:
        """Return the solve for the supports of the labels of all rows."""
        row, k = np.nonzero(~support[self.index])
        if not len(row):
            return self._solve
        F = _factors(row, support[self.index].sum(axis=1))
        V = F @ self._solutions[row, k].reshape(len(row), -1)
        core = F @ self._gram[row[:, None], k[:, None], row, k] @ F
        core = 0.5 * (core + core.T)
        core[np.diag_indices_from(core)] += 1.0
        triangle, failed = dense.cholesky(np.asfortranarray(core))
        if failed:
            return self._solve

        def solve(r: Array) -> Array:
            v = self._solve(r)
            along = F @ (self._x.T @ v)[row, k]
            return v - (dense.solve_cholesky(triangle, along) @ V).reshape(v.shape)

        return solve


def _factors(row: Array, sizes: Array) -> Array:
    """Return F of all large rows as one symmetric matrix, on their classes outside the supports.

    For steps that sum to 0 over the classes, the curvature of a label is 1 + 11'/s on the classes
    outside its support (see `_joint`); F is the root of it. `row` is the large row of each pair.
    """
    n_outside = np.bincount(row, minlength=len(sizes))
    shift = (np.sqrt(1.0 + n_outside / np.maximum(sizes, 1)) - 1.0) / np.maximum(n_outside, 1)
    same = row[:, None] == row
    return np.eye(len(row)) + np.where(same, shift[row], 0.0)


def most_large(rows: MemoryRows) -> int:
    """Return how many rows may be treated as large."""
    p, n_classes = rows.weights_shape
    n_pairs = min(MOST_PAIRS, rows.n_rows // ROWS_PER_PAIR, MOST_VALUES // (p * n_classes))
    return n_pairs // n_classes


def find_large(objective: Objective) -> Array:
    """Return the indices of the large rows: none if no row is, or if one is too large."""
    rows, factor = objective.rows.in_memory, objective.labeled_factor
    none = np.empty(0, dtype=np.intp)
    if rows is None or factor is None:
        return none
    most = most_large(rows)
    index = rows.largest_rows(most + 1)
    X = rows.table.dense(rows.table.take(index)).astype(np.float64)
    leverages = factor.inverse_forms(X) * rows.targets.weight_at(index)
    if not leverages.max(initial=0.0) <= MOST_LEVERAGE:
        return none
    is_large = leverages > LEAST_LEVERAGE
    if is_large.sum() > most:
        if most < HEAVY_TAIL:
            return none
        is_large[leverages.argmin()] = False
    return np.asarray(index[is_large])
