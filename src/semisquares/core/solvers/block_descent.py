"""Block coordinate descent (§V): fit the labels, fill in the labels, repeat.

The paper's algorithm, for soft and hard labels alike:

1. w minimises J with the labels fixed: least squares on all rows, factorised once;
2. the labels minimise J with w fixed: ``impute(X w)``;
3. with hard labels the descent ends when no label changes; with soft ones when the stopping test is
   met, or when w changes by rounding only.

Both half-steps lower J. `relaxation` takes ω times the step in w (Preece's larger step); J falls
for 0 < ω < 2.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from ..curvature import Curvature, full_curvature
from ..linalg import EPS
from ..objective import Objective
from .solution import Callback, Solution, State, Status, Step, StoppingTest

ROUNDING_STEPS = 100
"""A soft-label descent ends if this many steps changed w by rounding only.

On some processors the last bits cycle for ever."""


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
    """Descend from labels of all rows; the entries of labeled rows are ignored.

    Parameters
    ----------
    objective : Objective
        The objective, with any labeling.
    labels : array (n,) or (n, K)
        The initial labels; any real numbers.
    w : array, optional
        Weights from which the first step is relaxed; without them it is a full step.
    max_iter : int
        The largest number of updates of w.
    test : StoppingTest, optional
        Ends a descent with soft labels.
    tol : float
        The descent ends when at most this share of the unlabeled rows changes its label. With soft
        labels, 0 means that no label changes by a single bit.
    relaxation : float
        ω, the length of each step in w, relative to the full one.
    callback : callable, optional
        Called with every step; it ends the descent by returning True.
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
        if test is not None and n_iter % ROUNDING_STEPS == 0:
            if _differ_by_rounding(earlier, w):
                status = Status.ROUNDING
                break
            earlier = w
    assert w is not None
    state = State(rows.decisions(w), labels)
    return Solution(w, value, status, "block", n_iter, n_iter + 1, state)


def _differ_by_rounding(earlier: Array | None, w: Array) -> bool:
    """Return whether two weight vectors are equal up to rounding."""
    return earlier is not None and bool(abs(w - earlier).max() <= 16.0 * EPS * abs(w).max())


class _Fit:
    """Least squares on all rows with changing labels."""

    def __init__(self, curvature: Curvature) -> None:
        self.curvature = curvature
        self.objective = curvature.objective

    def __call__(self, moment: Array, labels: Array, w: Array | None) -> Array:
        if self.curvature.factor is not None:
            return self.curvature.factor.solve(moment)
        w = np.zeros(moment.shape) if w is None else w

        def residual() -> Array:
            local = self.objective.memory_rows
            error = local.decisions(w) - labels
            error[local.labeled] += labels[local.labeled] - local.y
            return error

        return w + self.curvature.step(w, self.gradient(w, moment), residual)

    def gradient(self, w: Array, moment: Array) -> Array:
        """Return half the gradient of J; `moment` is that of the current labels."""
        rows = self.objective.rows
        product = rows.full_gram @ w if self.objective.direct else rows.full_product(w)
        return product - moment + self.objective.ridge_gradient(w)
