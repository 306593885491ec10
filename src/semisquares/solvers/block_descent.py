"""Block coordinate descent (§V): fit the labels, fill in the labels, repeat.

The paper's algorithm, for soft and hard labels alike:

1. w minimises J with the labels fixed: least squares on all rows, one factorisation for all steps;
2. the labels minimise J with w fixed: ``impute(X w)``;
3. hard labels end when none changes; soft ones when a stopping test is met.

Both half-steps lower J. `relaxation` takes ω times the step in w (Preece's larger step), monotone
for 0 < ω < 2. Hard descents from many starts run as one batch: each pass over the rows serves all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curvature import Curvature, full_curvature
from ..linalg import penalty
from ..objective import Objective
from .solution import Callback, EndPoint, Solution, Status, Step, StoppingTest

Array = NDArray[Any]

BATCH_BYTES = 1 << 26
"""Labels of a batch of starts take at most this much memory (one byte each)."""


def block_descent(
    objective: Objective,
    labels: Array,
    *,
    w: Array | None = None,
    max_iter: int = 10_000,
    test: StoppingTest | None = None,
    tol: float = 0.0,
    relaxation: float = 1.0,
    callback: Callback | None = None,
) -> Solution:
    """Descend from labels of all rows (those of labeled rows are not read).

    Parameters
    ----------
    objective : Objective
        With any labeling.
    labels : array (n,) or (n, K)
        The labels to start from; any real numbers, used as they are.
    w : array, optional
        Weights that the first step is relaxed from; without them it is taken in full.
    max_iter : int
        How many times w is updated at the most.
    test : StoppingTest, optional
        Ends a descent with soft labels.
    tol : float
        Ends a descent once no more than this share of the unlabeled rows changes its label. With
        soft labels 0 means that not one of them changes by a single bit.
    relaxation : float
        ω: how much of each step in w is taken.
    callback : callable, optional
        Told every step; a true answer ends the descent.
    """
    rows, labeling = objective.rows, objective.labeling
    labels = np.asarray(labels, dtype=np.float64)
    fit = _Fit(full_curvature(objective))
    moment = rows.moment(labels)
    status, n_iter = Status.MAX_ITER, 0
    share = relaxation
    while n_iter < max_iter:
        fitted = fit(moment, labels, w)  # 1
        w = fitted if w is None or share == 1.0 else w + share * (fitted - w)
        n_iter += 1
        new = rows.relabel(w, labels, moment, labeling)  # 2
        ridge = float(objective.ridge(w))
        value, changed = float(new.loss) + ridge, int(new.changed)
        labels, moment = new.labels, new.moment
        step = Step(n_iter, w, value, changed, labels, float(new.loss_before) + ridge)
        if callback is not None and callback(step):
            status = Status.CALLBACK
            break
        if changed <= tol * rows.n_unlabeled:  # 3
            if share == 1.0:
                status = Status.STABLE if changed == 0 else Status.TOLERATED
                break
            share = 1.0  # a relaxed w does not fit these labels yet
        else:
            share = relaxation
        if test is not None and test.met(fit.gradient(w, moment)):
            status = Status.GAP
            break
    assert w is not None
    z = rows.decisions(w)
    return Solution(w, value, z, status, "block", n_iter, n_iter + 1, labels=labels)


class _Fit:
    """Least squares on all rows, for labels that change."""

    def __init__(self, curvature: Curvature) -> None:
        self.curvature = curvature
        self.objective = curvature.objective

    def __call__(self, moment: Array, labels: Array, w: Array | None) -> Array:
        if self.curvature.factor is not None:
            return self.curvature.factor.solve(moment)
        rows = self.objective.rows
        w = np.zeros(moment.shape) if w is None else w
        if not self.objective.direct:
            return w + self.curvature.step(w, self.gradient(w, moment), lambda: w)
        residual = rows.decisions(w) - labels
        residual[rows.labeled] += labels[rows.labeled] - rows.y
        return w + self.curvature.least_norm(w, residual).step

    def gradient(self, w: Array, moment: Array) -> Array:
        """Return half the gradient of J with the labels that the moment was summed with."""
        rows = self.objective.rows
        if not self.objective.direct:
            product = rows.full_product(w)
        else:
            product = rows.full_gram @ w
        return product - moment + penalty(self.objective.alpha, rows.intercept, w)


@dataclass(frozen=True, eq=False)
class Batch:
    """Where a batch of hard-label descents ended; arrays have one entry for each start."""

    weights: Array
    values: Array
    labels: Array
    stable: Array
    n_iter: Array


def descend_from_many(
    objective: Objective, labels: Array, *, max_iter: int = 10_000, tol: float = 0.0
) -> list[Batch]:
    """Run hard-label descents from many labels at once: `labels` is (n, starts) or (n, starts, K).

    Matrix products over all starts at once; starts that have ended leave the batch.
    """
    per_start = labels.shape[0] * int(np.prod(labels.shape[2:]))
    size = max(1, BATCH_BYTES // max(1, per_start))
    return [
        _descend_batch(objective, labels[:, first : first + size], max_iter, tol)
        for first in range(0, labels.shape[1], size)
    ]


def _descend_batch(objective: Objective, start: Array, max_iter: int, tol: float) -> Batch:
    rows, labeling = objective.rows, objective.labeling
    factor = full_curvature(objective).factor
    if factor is None:
        return _descend_one_by_one(objective, start, max_iter, tol)
    n_starts = start.shape[1]
    weights = np.zeros((rows.n_weights, *start.shape[1:]))
    values = np.zeros(n_starts)
    final = np.zeros(start.shape, dtype=np.int8)
    stable = np.zeros(n_starts, dtype=bool)
    n_iter = np.zeros(n_starts, dtype=np.intp)
    running = np.arange(n_starts)
    moment = rows.moment(start.astype(np.float64))
    labels = start
    for iteration in range(1, max_iter + 1):
        w = factor.solve(moment)
        new = rows.relabel(w, labels, moment, labeling)
        labels = new.labels.astype(np.int8)  # a start may be any numbers; from here on 0 and 1
        moment = new.moment
        ended = new.changed <= tol * rows.n_unlabeled
        if iteration == max_iter:
            stable[running] = new.changed == 0
            ended = np.ones(len(running), dtype=bool)
        out = running[ended]
        weights[:, out] = w[:, ended]
        values[out] = (new.loss + objective.ridge(w))[ended]
        final[:, out] = labels[:, ended]
        stable[out] = new.changed[ended] == 0
        n_iter[out] = iteration
        running = running[~ended]
        if not len(running):
            break
        labels, moment = labels[:, ~ended], moment[:, ~ended]
    return Batch(weights, values, final, stable, n_iter)


def _descend_one_by_one(objective: Objective, start: Array, max_iter: int, tol: float) -> Batch:
    """Do the same where the rows are collinear: each fit is a least-norm solution of its own."""
    found = [
        block_descent(objective, start[:, k], max_iter=max_iter, tol=tol)
        for k in range(start.shape[1])
    ]
    return Batch(
        np.stack([f.w for f in found], axis=1),
        np.array([f.value for f in found]),
        np.stack([np.asarray(f.labels) for f in found], axis=1).astype(np.int8),
        np.array([f.status is Status.STABLE for f in found]),
        np.array([f.n_iter for f in found]),
    )


def hard_descent(
    objective: Objective,
    starts: Array,
    *,
    max_iter: int = 10_000,
    tol: float = 0.0,
    callback: Callback | None = None,
) -> Solution:
    """Descend with hard labels from one or many starts; keep the end of lowest J, report all.

    The lowest J is not always the better classifier: all rows in one class fit cheaply.
    """
    if starts.shape[1] == 1:
        found = block_descent(
            objective, starts[:, 0], max_iter=max_iter, tol=tol, callback=callback
        )
        end = EndPoint(
            found.value,
            classes_of(found.labels, objective),
            found.status is Status.STABLE,
            found.n_iter,
        )
        return replace(found, end_points=(end,))
    batches = descend_from_many(objective, starts, max_iter=max_iter, tol=tol)
    ends = tuple(
        EndPoint(
            float(b.values[k]),
            classes_of(b.labels[:, k], objective),
            bool(b.stable[k]),
            int(b.n_iter[k]),
        )
        for b in batches
        for k in range(len(b.values))
    )
    values = np.concatenate([b.values for b in batches])
    weights = np.concatenate([b.weights for b in batches], axis=1)
    labels = np.concatenate([b.labels for b in batches], axis=1)
    best = int(values.argmin())
    w = np.ascontiguousarray(weights[:, best])
    end = ends[best]
    ended = Status.STABLE if end.stable else Status.TOLERATED
    status = Status.MAX_ITER if end.n_iter >= max_iter and not end.stable else ended
    n_iter = int(max(b.n_iter.max() for b in batches))
    return Solution(
        w, end.value, objective.rows.decisions(w), status, "block", n_iter, n_iter + 1,
        labels=labels[:, best].astype(np.float64), end_points=ends,
    )  # fmt: skip


def classes_of(labels: Array | None, objective: Objective) -> Array:
    """Return the class of every row as an index; labeled rows keep theirs."""
    assert labels is not None
    rows = objective.rows
    per_class = objective.labeling.per_class
    classes = (labels.argmax(axis=1) if per_class else labels > 0.5).astype(np.int32)
    classes[rows.labeled] = rows.y.argmax(axis=1) if per_class else rows.y
    return classes
