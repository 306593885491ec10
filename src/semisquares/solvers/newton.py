"""Newton's method on the active set: the exact minimiser of the soft objective.

J is C¹ and piecewise quadratic. While no row changes its piece (its side of [0, 1]; the support of
its label on the simplex) J is one quadratic, and one step finds its minimiser. The numbers below
stand again in the code.

1. start at w: the supervised weights, or the solution on a sample of the rows (`minimise`);
2. one pass over the rows: decision values, pieces, J and its gradient; the curvature changes by
   the rows that changed their side only;
3. the step to the minimiser of the current quadratic;
4. where J does not fall enough, an exact search along the step (its slope is piecewise linear and
   rises): no pass, the decision values along a line are known;
5. if no row changed its side after a full step, w is the exact minimiser.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .. import linalg
from ..curvature import MAX_PRODUCTS, Curvature, active_curvature, full_curvature, jacobi
from ..linalg import EPS
from ..objective import Objective
from ..rows import Sweep
from .solution import ActiveSet, Callback, Solution, Status, Step, StoppingTest

Array = NDArray[Any]

NEGLIGIBLE = 1e-24
"""A further step that would lower J by less than this share of its scale is rounding."""


class _DirectSteps:
    """Steps with the factored curvature of the labeled and active rows (two classes)."""

    solved = True
    products = 0

    def __init__(self, objective: Objective, active: ActiveSet | None) -> None:
        self.objective = objective
        self.active = active
        self._last: Curvature | None = None

    def __call__(self, sweep: Sweep) -> Array:
        if sweep.changed or self._last is None:
            self._last = self._curvature_at(sweep)
        gradient = self.objective.gradient(sweep)
        rows, labeling = self.objective.rows, self.objective.labeling
        return self._last.step(sweep.w, gradient, lambda: rows.residual(sweep.z, labeling))

    def _curvature_at(self, sweep: Sweep) -> Curvature:
        before = self.active
        curvature = self._curvature(sweep.piece, before)
        if curvature.factor is None and before is not None:
            # differences of Gram matrices lose digits: look once at a fresh one
            curvature = self._curvature(sweep.piece, None)
        return curvature

    def _curvature(self, piece: Array, before: ActiveSet | None) -> Curvature:
        since = None if before is None else (before.piece, before.gram)
        gram = self.objective.rows.active_gram(piece, since)
        self.active = ActiveSet(piece, gram)
        return active_curvature(self.objective, piece, gram)


class _ConjugateSteps:
    """Steps by conjugate gradients: many classes, or too many columns for a Gram matrix."""

    active = None

    def __init__(self, objective: Objective, test: StoppingTest | None) -> None:
        self.objective = objective
        self.test = test
        self.products = 0
        self.solved = True
        self._first = 0.0
        self._precondition: Callable[[Array], Array] | None = None

    def __call__(self, sweep: Sweep) -> Array:
        if self._precondition is None:
            self._precondition = _preconditioner(self.objective, sweep)
        rows, alpha = self.objective.rows, self.objective.alpha
        gradient = self.objective.gradient(sweep)
        size = float(np.linalg.norm(gradient))
        self._first = self._first or size
        # far from the end a rough step will do; near it the steps are as good as exact
        enough = size * min(0.1, max(1e-10, size / max(self._first, 1e-300)))
        if sweep.changed == 0:
            enough = 1e-10 * size
        enough = max(enough, self._rounding(sweep))
        test = self.test

        def done(residual: Array) -> bool:
            if np.linalg.norm(residual) <= enough:
                return True
            return test is not None and test.bound(residual) <= 0.1 * test.target

        step, products, self.solved = linalg.conjugate_gradient(
            lambda V: (
                rows.curvature_product(V, sweep.piece, self.objective.labeling)  # type: ignore[arg-type]
                + linalg.penalty(alpha, rows.intercept, V)
            ),
            -gradient,
            precondition=self._precondition,
            done=done,
            max_iter=MAX_PRODUCTS,
        )
        self.products += products
        return step

    def _rounding(self, sweep: Sweep) -> float:
        """Return how much of a gradient at a sweep is rounding."""
        loss = max(sweep.loss, 1e-10 * self.objective.scale)
        return 64.0 * EPS * float(np.sqrt(loss * self.objective.rows.diagonal.sum()))


def _preconditioner(objective: Objective, sweep: Sweep) -> Callable[[Array], Array]:
    """Return a solve with something near the curvature of a sweep."""
    rows = objective.rows
    if not objective.direct:
        return jacobi(objective)
    left_out = rows.n_outside(sweep.piece) if objective.labeling.per_class else np.inf
    cheap = left_out <= 2 * rows.n_rows and rows.n_weights**2 <= 20 * rows.n_rows
    if rows.intercept and cheap:
        by_class = [
            linalg.factor(gram, objective.alpha, True) for gram in rows.outside_grams(sweep.piece)
        ]
        # inverses are taken and summed below: no digits to spare
        if all(f is not None and f.rcond > 1e-6 for f in by_class):
            return _solve_by_class([f.solve(np.eye(rows.n_weights)) for f in by_class if f])
    full = full_curvature(objective).factor
    return jacobi(objective) if full is None else full.solve


def _solve_by_class(inverses: list[Array]) -> Callable[[Array], Array]:
    """Solve with one matrix for each class, in the space of steps that sum to nothing over classes.

    With an intercept, decision values sum to one from the first weights on, so steps to nothing.
    """
    together = np.linalg.inv(sum(inverses[1:], inverses[0]))

    def solve(r: Array) -> Array:
        r = r - r.mean(axis=1, keepdims=True)
        apart = np.stack([inverse @ r[:, k] for k, inverse in enumerate(inverses)], axis=1)
        excess = together @ apart.sum(axis=1)
        return apart - np.stack([inverse @ excess for inverse in inverses], axis=1)

    return solve


def newton(
    objective: Objective,
    w: Array,
    *,
    max_iter: int = 1000,
    test: StoppingTest | None = None,
    callback: Callback | None = None,
    active: ActiveSet | None = None,
) -> Solution:
    """Minimise a convex objective exactly, from the weights w.

    Ends when no row changed its side after a full step, or when the stopping test handed in by the
    caller is met; never by the size of a step. `active` is the active set of a nearby fit on the
    same rows, so that only the difference needs to be summed.
    """
    steps: _DirectSteps | _ConjugateSteps
    if objective.labeling.per_class or not objective.direct:
        steps = _ConjugateSteps(objective, test)
    else:
        steps = _DirectSteps(objective, active)
    if objective.labeling.per_class and objective.rows.intercept:
        w = _summing_to_one(w)
    scale = objective.scale
    sweep = objective.sweep(w)  # 2
    value = objective.value(sweep)
    n_passes, n_iter, status = 1, 0, Status.MAX_ITER
    smallest = np.inf
    settled = False
    while n_iter < max_iter:
        gradient = objective.gradient(sweep)
        if test is not None and not settled and test.met(gradient):
            status = Status.GAP
            break
        direction = steps(sweep)  # 3
        decrease = -float(np.vdot(gradient, direction))
        ended = decrease <= NEGLIGIBLE * scale or (settled and decrease >= 0.25 * smallest)  # 5
        if ended:
            exact = steps.solved and decrease >= 0.0
            status = Status.EXACT if exact else Status.ROUNDING
            break
        trial = objective.sweep(sweep.w + direction, sweep)  # 2
        trial_value = objective.value(trial)
        n_passes += 1
        full = trial_value <= value - 0.1 * decrease or (
            trial_value - value <= 1e-12 * scale and decrease <= 1e-11 * scale
        )
        if not full:  # 4
            t = _exact_search(objective, sweep, trial)
            trial = objective.sweep(sweep.w + t * direction, sweep)
            trial_value = objective.value(trial)
            n_passes += 1
            if trial_value >= value:
                status = Status.ROUNDING
                break
        settled = full and trial.changed == 0
        smallest = decrease
        sweep, value = trial, trial_value
        n_iter += 1
        if callback is not None and callback(Step(n_iter, sweep.w, value, sweep.changed)):
            status = Status.CALLBACK
            break
    return Solution(
        sweep.w, value, sweep.z, status, "newton", max(1, n_iter), n_passes + steps.products,
        active=steps.active,
    )  # fmt: skip


def _summing_to_one(w: Array) -> Array:
    """Shift weights so that decision values sum to one over the classes: that only lowers J."""
    w = w - w.mean(axis=1, keepdims=True)
    w[-1] += 1.0 / w.shape[1]
    return w


def _exact_search(objective: Objective, first: Sweep, second: Sweep) -> float:
    """Return the minimiser of J on the segment between two sweeps (4)."""
    if objective.slope(first, second, 0.0) >= 0.0:  # rounding: this is the end
        return 0.0
    if objective.slope(first, second, 1.0) <= 0.0:
        return 1.0
    # the share may be tiny: its digits count, not its size; and any share that lowers J will do
    return float(
        brentq(
            lambda t: objective.slope(first, second, t),
            0.0,
            1.0,
            xtol=1e-20,
            rtol=1e-9,
            maxiter=200,
            disp=False,
        )
    )
