"""Block coordinate descent (§V): fit the labels, fill in the labels, repeat.

The paper's algorithm, for soft and hard labels alike:

1. w minimises J with the labels fixed: least squares on all rows, one factorisation for all steps;
2. the labels minimise J with w fixed: ``impute(X w)``;
3. hard labels end when none changes; soft ones when a stopping test is met, or when w has long
   moved by rounding alone.

Both half-steps lower J. `relaxation` takes ω times the step in w (Preece's larger step), monotone
for 0 < ω < 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curvature import Curvature, full_curvature
from ..linalg import EPS, penalty
from ..objective import Objective
from .solution import Callback, Solution, Status, Step, StoppingTest

Array = NDArray[Any]

RESTLESS = 100
"""Soft labels descend no further if this many steps have moved w by rounding alone.

Their last bits may go round in a circle for ever, which depends on the processor."""


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
    labels = rows.read_labels(labels)
    fit = _Fit(full_curvature(objective))
    moment = rows.moment(labels)
    status, n_iter = Status.MAX_ITER, 0
    share, earlier = relaxation, w
    while n_iter < max_iter:
        fitted = fit(moment, labels, w)  # 1
        w = fitted if w is None or share == 1.0 else w + share * (fitted - w)
        n_iter += 1
        new = rows.relabel(w, labels, moment, labeling, before=callback is not None)  # 2
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
        if test is not None and n_iter % RESTLESS == 0:
            if _by_rounding(earlier, w):
                status = Status.ROUNDING
                break
            earlier = w
    assert w is not None
    z = rows.decisions(w)
    return Solution(w, value, z, status, "block", n_iter, n_iter + 1, labels=labels)


def _by_rounding(earlier: Array | None, w: Array) -> bool:
    """Tell whether weights differ from earlier ones by no more than rounding."""
    return earlier is not None and bool(abs(w - earlier).max() <= 16.0 * EPS * abs(w).max())


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

        def residual() -> Array:
            error = rows.decisions(w) - labels
            error[rows.labeled] += labels[rows.labeled] - rows.y
            return error

        return w + self.curvature.step(w, self.gradient(w, moment), residual)

    def gradient(self, w: Array, moment: Array) -> Array:
        """Return half the gradient of J with the labels that the moment was summed with."""
        rows = self.objective.rows
        if not self.objective.direct:
            product = rows.full_product(w)
        else:
            product = rows.full_gram @ w
        return product - moment + penalty(self.objective.alpha, rows.intercept, w)
