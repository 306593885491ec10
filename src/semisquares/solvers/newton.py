"""Newton's method on the active set: the exact minimiser of the soft objective.

J is C¹ and piecewise quadratic. While no row changes its piece (its side of [0, 1]; the support of
its label on the simplex) J is one quadratic, and one step finds its minimiser. The numbers below
stand again in the code.

1. start at w: the supervised weights, or the solution on a sample of the unlabeled rows;
2. one pass over the rows: decision values, pieces, J and its gradient; the curvature changes by
   the rows that changed their side only;
3. the step to the minimiser of the current quadratic;
4. where J does not fall enough, an exact search along the step (its slope is piecewise linear and
   rises): no pass, the decision values along a line are known;
5. if no row changed its side after a full step, w is the exact minimiser.

With λ = 0 and labeled rows that do not span the features, minimisers are many. The result is then
the limit of a vanishing ridge: the one of least norm (`vanishing_ridge`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .. import linalg
from ..linalg import EPS
from ..objective import Objective
from ..rows import Sweep
from .curvature import (
    MAX_PRODUCTS,
    Curvature,
    active_curvature,
    fit_labeled,
    full_curvature,
    jacobi,
)
from .solution import ActiveSet, Callback, Solution, Status, Step, StoppingTest

Array = NDArray[Any]

NEGLIGIBLE = 1e-24
"""A further step that would lower J by less than this share of its scale is rounding."""


class _DirectSteps:
    """Steps with the factored curvature of the labeled and active rows (two classes)."""

    solved = True

    def __init__(self, objective: Objective, active: ActiveSet | None) -> None:
        self.objective = objective
        self.active = active
        self.curvature: Curvature | None = None

    def __call__(self, sweep: Sweep) -> Array:
        gram = self._gram(sweep.piece)
        self.curvature = active_curvature(self.objective, sweep.piece, gram)
        if self.curvature.factor is None and self.active is not None:
            # differences of Gram matrices lose digits: look once at a fresh one
            gram = self.objective.rows.active_gram(sweep.piece)
            self.active = ActiveSet(sweep.piece, gram)
            self.curvature = active_curvature(self.objective, sweep.piece, gram)
        gradient = self.objective.gradient(sweep)
        rows, labeling = self.objective.rows, self.objective.labeling
        return self.curvature.step(sweep.w, gradient, lambda: rows.residual(sweep.z, labeling))

    def _gram(self, piece: Array) -> Array:
        since = None if self.active is None else (self.active.piece, self.active.gram)
        gram = self.objective.rows.active_gram(piece, since)
        self.active = ActiveSet(piece, gram)
        return gram


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
    left_out = np.count_nonzero(~sweep.piece) if objective.labeling.per_class else np.inf
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
    max_iter: int = 100,
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
    products = getattr(steps, "products", 0)
    return Solution(
        sweep.w, value, sweep.z, status, "newton", max(1, n_iter), n_passes + products,
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
    return float(brentq(lambda t: objective.slope(first, second, t), 0.0, 1.0, xtol=1e-12))


def minimise(
    objective: Objective,
    w: Array,
    *,
    max_iter: int = 100,
    test: StoppingTest | None = None,
    callback: Callback | None = None,
    active: ActiveSet | None = None,
    rng: np.random.Generator | None = None,
) -> Solution:
    """Find the soft minimiser from w: multilevel start where rows are many, least norm where λ = 0.

    `rng` draws the sample of the multilevel start; None goes without.
    """
    undecided = _undecided_directions(objective)
    if undecided:
        return vanishing_ridge(objective, w, max_iter=max_iter, callback=callback)
    spent = 0.0
    if rng is not None:
        w, spent = _multilevel_start(objective, w, rng, test)
    found = newton(objective, w, max_iter=max_iter, test=test, callback=callback, active=active)
    return replace(found, n_passes=found.n_passes + spent)


def _undecided_directions(objective: Objective) -> bool:
    """Tell whether λ = 0 and the labeled rows leave directions of the weights open."""
    if objective.alpha > 0.0 or not objective.direct:
        return False
    if objective.labeled_factor is not None:
        return False
    return fit_labeled(objective)[1].shape[1] > 0


SAMPLE_ROWS = 8192
SAMPLE_SHARE = 16


def _multilevel_start(
    objective: Objective, w: Array, rng: np.random.Generator, test: StoppingTest | None
) -> tuple[Array, float]:
    """Solve on a sample of the unlabeled rows, itself started from a smaller one (1).

    The sample's solution puts nearly every row on its right side already, so that the full data
    need one dear pass and two or three cheap ones. Returns the weights and the passes it cost.
    """
    rows = objective.rows
    size = max(SAMPLE_ROWS, 20 * rows.n_weights, rows.n_unlabeled // SAMPLE_SHARE)
    if rows.n_unlabeled < 4 * size:
        return w, 0.0
    sample = replace(objective, rows=rows.sample(size, rng))
    w, spent = _multilevel_start(sample, w, rng, test)
    rough = StoppingTest(test.bound, 1e-4 * objective.scale) if test is not None else None
    found = newton(sample, w, test=rough)
    return found.w, (found.n_passes + spent) * size / rows.n_rows


# -- λ = 0 and labeled rows that do not span ------------------------------------------------------


def vanishing_ridge(
    objective: Objective, w: Array, *, max_iter: int = 100, callback: Callback | None = None
) -> Solution:
    """Find the minimiser of least norm, the limit of a ridge that vanishes.

    Rows bind at exactly 0 or 1 in the limit and then have no side, so Newton with least-norm steps
    cycles. A small ridge tells the sides: it shrinks from 1e-1 to 1e-7 of the features' mean
    square, each solution the start of the next; one least-norm solve with the last sides ends it.
    Where columns differ in scale the ridge shrinks further, until that end is a minimum.
    """
    rows = objective.rows
    features = rows.full_gram.diagonal()[: rows.table.n_columns]
    if rows.intercept:
        features = features - rows.full_gram[-1, :-1] ** 2 / rows.full_gram[-1, -1]
    size = float(features.mean()) or 1.0
    n_iter, n_passes = 0, 0.0
    best: Solution | None = None
    for exponent in range(1, 31):
        ridged = objective.with_alpha(size * 10.0**-exponent)
        found = newton(ridged, w, max_iter=max_iter, callback=callback)
        w = found.w
        n_iter, n_passes = n_iter + found.n_iter, n_passes + found.n_passes
        if found.status in (Status.CALLBACK, Status.MAX_ITER):
            best = replace(found, value=objective.value(objective.sweep(w)))
            break
        if exponent < 7:
            continue
        end = _least_norm_end(objective, objective.sweep(w))
        n_passes += 2
        value = objective.value(end)
        settled = _is_minimum(objective, end)
        if best is None or value <= best.value:
            status = Status.LEAST_NORM if settled else Status.ROUNDING
            best = Solution(end.w, value, end.z, status, "newton", n_iter, n_passes)
        if settled:
            break
    assert best is not None
    return replace(best, n_iter=n_iter, n_passes=n_passes)


def _least_norm_end(objective: Objective, sweep: Sweep) -> Sweep:
    """Solve once for the weights of least norm with the sides that rows have in a sweep."""
    if objective.labeling.per_class:
        w = _least_norm_of_many(objective, sweep)
    else:
        residual = objective.rows.residual(sweep.z, objective.labeling)
        curvature = active_curvature(objective, sweep.piece, None)
        w = sweep.w + curvature.least_norm(sweep.w, residual).step
    return objective.sweep(w, sweep)


def _least_norm_of_many(objective: Objective, sweep: Sweep) -> Array:
    """The same on the simplex: there a row with the support S gives 1 + K - |S| equations.

    Its label sums to one over S, and is 0 elsewhere; a labeled row gives K equations.
    """
    rows = objective.rows
    n_classes = sweep.z.shape[1]
    table = rows.table.dense(rows.table.slice(0, rows.n_rows))
    x = np.hstack([np.ones((rows.n_rows, 1))] * rows.intercept + [table])
    root = np.sqrt(rows.weights)
    target = np.zeros(sweep.z.shape)
    target[rows.labeled] = rows.y
    equations = []
    for k in range(n_classes):
        alone = np.flatnonzero(~sweep.piece[:, k])
        equations.append((alone, np.eye(n_classes)[[k]].repeat(len(alone), 0), target[alone, k]))
    shared = np.flatnonzero(sweep.piece.any(axis=1))
    support = sweep.piece[shared] / np.sqrt(sweep.piece[shared].sum(axis=1))[:, None]
    equations.append((shared, support, support.max(axis=1)))
    # columns: the intercepts of all classes, then the features of the first class, the second, …
    triangle = np.zeros((0, n_classes * rows.n_weights + 1))
    for index, mix, right in equations:
        block = np.einsum("ij,ik->ikj", x[index], mix).reshape(len(index), n_classes, -1)
        first = block[:, :, : rows.intercept].reshape(len(index), -1)
        rest = block[:, :, rows.intercept :].reshape(len(index), -1)
        stacked = np.hstack((first, rest, right[:, None])) * root[index, None]
        triangle = linalg.triangle_of(np.vstack((triangle, stacked)))
    n_intercepts = n_classes * rows.intercept
    d = rows.table.n_columns
    inner = triangle[n_intercepts:, n_intercepts:]
    features = linalg.least_norm_step(inner, 0.0, False, np.zeros(n_classes * d)).step
    w = np.zeros(rows.weights_shape)
    w[:d] = features.reshape(n_classes, d).T
    if rows.intercept:
        top = triangle[:n_intercepts]
        right = top[:, -1] - top[:, n_intercepts:-1] @ features
        w[d] = np.linalg.lstsq(top[:, :n_intercepts], right)[0]
    return w


def _is_minimum(objective: Objective, sweep: Sweep) -> bool:
    """Tell whether the gradient at a sweep is rounding, measured in the size of its terms."""
    gram = objective.rows.full_gram
    total = float(objective.rows.weights.sum())
    rounding = 1e3 * EPS * np.sqrt(total) * (1.0 + float(np.abs(sweep.z).max()))
    size = np.sqrt(gram.diagonal()) * (1e-9 * np.sqrt(sweep.loss) + rounding)
    return bool((np.abs(sweep.gradient.T) <= size).all())
