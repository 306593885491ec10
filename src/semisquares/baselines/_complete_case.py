"""The complete-case fit, and its missing outcomes by direct solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._utils.typing import Array
from ..core import _dense as dense
from ..core.curvature import full_curvature
from ..core.linalg import RANK_TOLERANCE
from ..core.objective import Objective
from ..core.rows import MemoryRows

__all__ = ["complete_case", "until_rounding", "yates_values"]


MAX_MISSING = 5000
"""The largest number of missing outcomes that "analytic" solves for."""
PATIENCE = 50
"""The distance falls at every step: this many steps without a new lowest one are rounding."""
SEEN = 1e-9
"""With columns of unit norm, a direction that moves rows by less does not affect them."""


def complete_case(objective: Objective) -> tuple[Callable[[Array], float], Array]:
    """Return the distance to the complete-case fit, and the directions of u that it leaves open.

    J is quadratic: half its gradient is h = Ae, with A = X'X + λD over the complete rows and e the
    error of the weights. The first result is ``‖X_e e‖² + λ e'De`` as a function of h; the second
    is an orthonormal basis of the directions of u that no complete row determines, in which the
    iteration keeps its start.
    """
    rows, factor = objective.memory_rows, objective.labeled_factor
    labels = np.zeros((rows.n_unlabeled, 0))
    solve, null = _pseudo_inverse(objective) if factor is None else (factor.solve, labels)
    if factor is None:
        labels = _open_directions(rows, null)

    def distance(h: Array) -> float:
        e = solve(h)
        moved = rows.decisions(e)  # not by the Gram matrix, which loses nearly equal columns
        moved[rows.unlabeled] -= labels @ (labels.T @ moved[rows.unlabeled])
        return float(moved @ moved + objective.ridge(e))

    return distance, labels


def until_rounding(distance: Callable[[Array], float]) -> Callable[[Array], float]:
    """Return a function that gives the distance, and 0 once that has stopped falling."""
    lowest, since = np.inf, 0

    def distance_or_zero(h: Array) -> float:
        nonlocal lowest, since
        now = distance(h)
        since = 0 if now < lowest else since + 1
        lowest = min(lowest, now)
        return now if since < PATIENCE else 0.0

    return distance_or_zero


def _pseudo_inverse(objective: Objective) -> tuple[Callable[[Array], Array], Array]:
    """Return a generalised inverse of A, by an SVD of the rows' R factor, and its null space."""
    rows = objective.memory_rows
    ridge = np.sqrt(objective.alpha) * np.eye(rows.n_features, rows.n_weights)
    columns = np.roll(rows.triangle(rows.labeled, None), -int(rows.intercept), axis=1)
    columns = np.vstack((columns, ridge))
    scale = np.linalg.norm(columns, axis=0)
    scale[scale == 0.0] = 1.0
    _, size, right = dense.svd(columns / scale)
    inside = size > RANK_TOLERANCE * size[0]
    root = right[inside].T / scale[:, None] / size[inside]
    return lambda h: root @ (root.T @ h), right[~inside].T / scale[:, None]


def _open_directions(rows: MemoryRows, null: Array) -> Array:
    """Return an orthonormal basis of the changes of missing outcomes along null directions of w."""
    full = np.sqrt(np.where(rows.diagonal > 0.0, rows.diagonal, 1.0))[:, None]
    null = dense.qr(full * null)[0] / full  # orthonormal for columns of unit norm
    moved = dense.product(rows.table.take(rows.unlabeled), null[: rows.n_features])
    moved = moved + (null[-1] if rows.intercept else 0.0)
    left, size, _ = dense.svd(moved)
    return left[:, size > SEEN]


def yates_values(objective: Objective, open_labels: Array) -> Array:
    """Solve ``(I - H_uu) u = H_ul y`` for the missing outcomes; of least norm if not unique.

    An open direction q has (I - H_uu) q = 0: with qq' added the system is regular and q'u = 0.
    """
    rows = objective.memory_rows
    if rows.n_unlabeled > MAX_MISSING:
        raise ValueError(
            f"method='analytic' solves a system for up to {MAX_MISSING} missing outcomes, got "
            f"{rows.n_unlabeled}; use method='iterate'."
        )
    # the targets are each u alone, then y; rows have no weights
    moment = np.column_stack((rows.columns_of(rows.unlabeled), rows.labeled_moment))

    def targets() -> Array:
        unit = np.zeros((rows.n_rows, rows.n_unlabeled + 1))
        unit[rows.unlabeled, np.arange(rows.n_unlabeled)] = 1.0
        unit[rows.labeled, -1] = rows.y
        return unit

    fit = full_curvature(objective).step(np.zeros(moment.shape), -moment, lambda: -targets())
    hat = rows.decisions_of(rows.unlabeled, fit)
    system = np.eye(rows.n_unlabeled) - hat[:, :-1] + dense.product(open_labels, open_labels.T)
    return dense.solve(system, hat[:, -1])
