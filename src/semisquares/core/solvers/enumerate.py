"""The best of all hard labelings of two classes (Hartley & Rao 1968).

With w minimised out, J_r is a quadratic in the labels alone: the squared norm of the part of the
targets that the columns of X do not explain. `branch_and_bound` minimises it.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from ..linalg import EPS, column_span
from ..objective import Objective
from .block_descent import block_descent
from .branch_and_bound import enumerate_labelings
from .solution import Callback, EndPoint, Solution, State, Status, Step

MAX_UNLABELED = 2000
"""The largest size of the dense matrix P."""


def enumerate_hard(
    objective: Objective,
    labels: Array,
    *,
    max_nodes: int = 20_000,
    callback: Callback | None = None,
) -> Solution:
    """Find the labels of lowest J_r by branch and bound, starting with the given labels.

    The result is exact if the search ends by itself. If `max_nodes` stops it, these are the best
    labels found, and `Solution.bound` is a proven lower bound for all labelings.
    """
    rows = objective.memory_rows
    P, c, k = label_quadratic(objective)
    begun = block_descent(objective, labels, max_iter=1)
    stopped = False

    def report(n_nodes: int, best: float, bound: float) -> bool:
        nonlocal stopped
        if callback is not None:
            stopped = bool(callback(Step(n_nodes, begun.w, best, 0)))
        return stopped

    found = enumerate_labelings(
        P, c, k, start=labels[rows.unlabeled], max_nodes=max_nodes, callback=report
    )
    best = labels.astype(np.float64)
    best[rows.unlabeled] = found.labels
    # one step of block descent fits these labels; at the optimum it changes none of them
    fitted = block_descent(objective, best, max_iter=1)
    status = Status.ENUMERATED if found.exact else Status.MAX_NODES
    if stopped:
        status = Status.CALLBACK
    elif callback is not None:
        callback(Step(max(1, found.n_nodes), fitted.w, fitted.value, 0))
    settled = fitted.status if fitted.status is Status.STABLE else status
    end = EndPoint(fitted.value, objective.rows.classes_of(best), settled, found.n_nodes)
    return Solution(
        fitted.w, fitted.value, status, "enumerate", max(1, found.n_nodes), 3,
        State(fitted.state.z, best), bound=min(found.bound, fitted.value), end_points=(end,),
    )  # fmt: skip


def label_quadratic(objective: Objective) -> tuple[Array, Array, float]:
    """Write J as ``q'Pq + 2c'q + k`` in the labels q of the unlabeled rows, w minimised out.

    The labeled rows enter through their R factor: as many equations as there are weights.
    """
    rows = objective.memory_rows
    targets = np.zeros((rows.n_rows, 1))
    targets[rows.labeled, 0] = rows.y
    triangle = rows.triangle(rows.labeled, targets)
    root = np.sqrt(rows.weights[rows.unlabeled])
    x = rows.table.dense(rows.table.take(rows.unlabeled))
    if rows.intercept:
        x = np.hstack((np.ones((len(x), 1)), x))
    ridge = np.sqrt(objective.alpha) * np.eye(rows.n_weights)[int(rows.intercept) :]
    design = np.vstack((x * root[:, None], triangle[:, :-1], ridge))
    norms = np.linalg.norm(design, axis=0)
    span = column_span(design / np.where(norms > 0.0, norms, 1.0), EPS * max(design.shape))
    free = span[: len(x)] * root[:, None]
    y = triangle[:, -1]
    explained = span[len(x) : len(x) + len(triangle)].T @ y
    P = np.diag(root**2) - dense.product(free, free.T)
    return P, -free @ explained, float(y @ y - explained @ explained)
