"""All labelings (Hartley & Rao 1968): the best hard labels there are, two classes.

With w minimised out, J_r is a quadratic in the labels alone: the squared part of the targets that
the columns of X cannot explain. `branch_and_bound` searches it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import dense
from ..linalg import EPS
from ..objective import Objective
from .block_descent import block_descent
from .branch_and_bound import enumerate_labelings
from .solution import Callback, EndPoint, Solution, Status, Step

Array = NDArray[Any]

MAX_UNLABELED = 2000
"""The quadratic is a dense matrix of this size at the most."""


def enumerate_hard(
    objective: Objective,
    labels: Array,
    *,
    max_nodes: int = 20_000,
    callback: Callback | None = None,
) -> Solution:
    """Find the labels of lowest J_r by branch and bound, with the labels given as first incumbent.

    Exact where the search ends by itself; stopped by `max_nodes` it returns the best labels seen
    and, in `Solution.bound`, a proven lower bound of what any labeling could reach.
    """
    rows = objective.rows
    P, c, k = label_quadratic(objective)
    begun = block_descent(objective, labels, max_iter=1)
    stopped = False

    def told(n_nodes: int, best: float, bound: float) -> bool:
        nonlocal stopped
        if callback is not None:
            stopped = bool(callback(Step(n_nodes, begun.w, best, 0)))
        return stopped

    found = enumerate_labelings(
        P, c, k, start=labels[rows.unlabeled], max_nodes=max_nodes, callback=told
    )
    best = labels.astype(np.float64)
    best[rows.unlabeled] = found.labels
    # one fit of these labels; at the optimum imputing anew changes none of them
    fitted = block_descent(objective, best, max_iter=1)
    status = Status.ENUMERATED if found.exact else Status.MAX_NODES
    if stopped:
        status = Status.CALLBACK
    elif callback is not None:
        callback(Step(max(1, found.n_nodes), fitted.w, fitted.value, 0))
    settled = fitted.status if fitted.status is Status.STABLE else status
    end = EndPoint(fitted.value, objective.rows.classes_of(best), settled, found.n_nodes)
    return Solution(
        fitted.w, fitted.value, fitted.z, status, "enumerate", max(1, found.n_nodes), 3,
        labels=best, bound=min(found.bound, fitted.value), end_points=(end,),
    )  # fmt: skip


def label_quadratic(objective: Objective) -> tuple[Array, Array, float]:
    """Write J as ``q'Pq + 2c'q + k`` in the labels q of the unlabeled rows, w minimised out.

    The labeled rows enter through their R factor: as many equations as there are weights.
    """
    rows = objective.rows
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
    left, values, _ = dense.svd(design / np.where(norms > 0.0, norms, 1.0))
    span = left[:, values > EPS * max(design.shape) * values[0]]
    free = span[: len(x)] * root[:, None]
    y = triangle[:, -1]
    explained = span[len(x) : len(x) + len(triangle)].T @ y
    P = np.diag(root**2) - dense.product(free, free.T)
    return P, -free @ explained, float(y @ y - explained @ explained)
