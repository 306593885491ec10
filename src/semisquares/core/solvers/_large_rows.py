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

LARGE, HUGE = 30.0, 1e12
"""Large rows have a leverage a x'L⁻¹x of more than LARGE; L is the curvature of the labeled rows.
The formula loses its digits if one is more than HUGE."""
MOST = 512
"""The most pairs of a large row and a class: only the largest rows are treated as such."""


class LargeRows:
    """The largest unlabeled rows, and the solution of M for each of them in each class."""

    def __init__(self, rows: MemoryRows, index: Array, solve: Callable[[Array], Array]) -> None:
        p, n_classes = rows.weights_shape
        self.index, self._solve, self._sums_to_zero = index, solve, rows.intercept
        self._x = rows.columns_of(index).astype(np.float64)  # √a (x, 1)
        pairs = np.zeros((len(index), n_classes, p, n_classes))
        for i, k in np.ndindex(len(index), n_classes):
            pairs[i, k, :, k] = self._x[:, i]
            if self._sums_to_zero:
                pairs[i, k] -= self._x[:, i, None] / n_classes
            pairs[i, k] = solve(pairs[i, k])
        self._solutions = pairs.reshape(len(index) * n_classes, -1)
        gram = np.einsum("pj,ikpl->jlik", self._x, pairs)
        self._gram = gram.reshape(len(self._solutions), -1)

    def precondition(self, support: Array) -> Callable[[Array], Array]:
        """Return the solve for the supports of the labels of all rows."""
        F = _factors(support[self.index], self._sums_to_zero)
        V = F.T @ self._solutions
        core = F.T @ self._gram @ F
        core = 0.5 * (core + core.T)
        core[np.diag_indices_from(core)] += 1.0
        triangle, failed = dense.cholesky(np.asfortranarray(core))
        if failed:
            return self._solve

        def solve(r: Array) -> Array:
            v = self._solve(r)
            along = (self._x.T @ v).ravel() @ F
            return v - (dense.solve_cholesky(triangle, along) @ V).reshape(v.shape)

        return solve


def _factors(support: Array, sums_to_zero: bool) -> Array:
    """Return F of each row, with F F' = P, as one matrix with a block for each row.

    The curvature of a label is that of each class outside the support, and of the mean of the
    others. For steps that sum to 0 over the classes, that mean is -1/s times the sum of those
    outside (see `_joint`), so the classes outside are enough. Columns must be independent, or the
    formula of Woodbury loses its digits.
    """
    m, n_classes = support.shape
    columns = []
    for i in range(m):
        outside, size = np.flatnonzero(~support[i]), max(1, int(support[i].sum()))
        own = np.zeros((m, n_classes, len(outside) + (not sums_to_zero)))
        own[i, outside, np.arange(len(outside))] = 1.0
        if sums_to_zero:  # the root of 1 + 11'/s
            n = max(1, len(outside))
            own[i, outside] += (np.sqrt(1.0 + n / size) - 1.0) / n
        else:
            own[i, :, -1] = support[i] / np.sqrt(size)
        columns.append(own.reshape(m * n_classes, -1))
    return np.hstack(columns)


def most_large(rows: MemoryRows) -> int:
    """Return how many rows may be treated as large."""
    return MOST // rows.weights_shape[1]


def find_large(objective: Objective) -> Array:
    """Return the indices of the large rows: none if no row is, or if one is huge."""
    rows, factor = objective.rows.in_memory, objective.labeled_factor
    none = np.empty(0, dtype=np.intp)
    if rows is None or factor is None:
        return none
    index = rows.largest_rows(most_large(rows))
    X = rows.table.dense(rows.table.take(index)).astype(np.float64)
    leverages = factor.inverse_forms(X) * rows.targets.weight_at(index)
    if not leverages.max(initial=0.0) <= HUGE:
        return none
    return np.asarray(index[leverages > LARGE])
