"""λ = 0 and labeled rows that do not span the features: the minimiser of least norm.

Minimisers are many then, though all have the same residuals. The result is defined as the limit of
a ridge that vanishes: the one whose features' weights have least norm, the intercept free.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import linalg
from ..curvature import active_curvature, fit_labeled
from ..linalg import EPS
from ..objective import Objective
from ..rows import Rows, Sweep
from .newton import newton
from .solution import Callback, Solution, Status, Step

Array = NDArray[Any]


def leaves_weights_open(objective: Objective) -> bool:
    """Tell whether λ = 0 and the labeled rows leave directions of the weights open."""
    if objective.alpha > 0.0 or not objective.direct or objective.labeled_factor is not None:
        return False
    return fit_labeled(objective)[1].shape[1] > 0


def vanishing_ridge(
    objective: Objective, w: Array, *, max_iter: int = 1000, callback: Callback | None = None
) -> Solution:
    """Find the minimiser of least norm, the limit of a ridge that vanishes.

    Rows bind at exactly 0 or 1 in the limit and then have no side, so Newton with least-norm steps
    cycles. A ridge of 1e-7 of the features' mean square tells the sides, after one of 1e-5 that
    brings w near, and one least-norm solve with them ends it. Where that is no minimum yet (columns
    that differ in scale) the ridge shrinks further, each solution the start of the next.
    `max_iter` is for all ridges together; J is told without them.
    """
    rows = objective.rows
    size = _mean_square(objective)
    n_iter, n_passes = 0, 0.0
    best: Solution | None = None
    active = None
    for exponent in (5, *range(7, 31)):
        ridged = objective.with_alpha(size * 10.0**-exponent)
        found = newton(
            ridged,
            w,
            max_iter=max(1, max_iter - n_iter),
            callback=_told(callback, ridged, n_iter),
            active=active,
        )
        w, active = found.w, found.active
        n_iter, n_passes = n_iter + found.n_iter, n_passes + found.n_passes
        stopped = found.status in (Status.CALLBACK, Status.MAX_ITER)
        if exponent < 7 and not stopped:
            continue
        end = _least_norm_end(objective, objective.sweep(w))
        n_passes += 2
        value = objective.value(end)
        # w is shorter than every minimiser, and comes as near as one likes to the shortest
        settled = _is_minimum(objective, end) and _norm(end.w, rows) <= (1.0 + 1e-6) * _norm(
            w, rows
        )
        if best is None or settled or value <= best.value:
            status = Status.LEAST_NORM if settled else Status.ROUNDING
            status = found.status if stopped else status
            best = Solution(end.w, value, end.z, status, "newton", n_iter, n_passes, sweep=end)
        if settled or stopped:
            break
    assert best is not None
    return replace(best, n_iter=n_iter, n_passes=n_passes)


def _norm(w: Array, rows: Rows) -> float:
    return float(np.linalg.norm(w[: rows.n_features]))


def _told(callback: Callback | None, ridged: Objective, before: int) -> Callback | None:
    """Return a callback that counts steps over all ridges and tells J without the ridge."""
    if callback is None:
        return None

    def told(step: Step) -> bool | None:
        value = step.value - float(ridged.ridge(step.w))
        return callback(replace(step, iteration=before + step.iteration, value=value))

    return told


def _mean_square(objective: Objective) -> float:
    """Return the mean over the features of their squared spread over all rows."""
    gram = objective.rows.full_gram
    squares = gram.diagonal()[: objective.rows.n_features]
    if objective.rows.intercept:
        squares = squares - gram[-1, :-1] ** 2 / gram[-1, -1]
    return float(squares.mean()) or 1.0


def _least_norm_end(objective: Objective, sweep: Sweep) -> Sweep:
    """Solve once for the weights of least norm with the sides that rows have in a sweep.

    The Gram matrix is summed afresh: in a difference of two, a column of zeros is one of rounding.
    """
    rows = objective.rows
    if objective.labeling.per_class:
        return objective.sweep(_least_norm_of_many(objective, sweep), sweep.piece)
    curvature = active_curvature(objective, sweep.piece, rows.active_gram(sweep.piece))
    step = curvature.step(
        sweep.w,
        objective.gradient(sweep),
        lambda: rows.residual(sweep.z, objective.labeling),
    )
    return objective.sweep(sweep.w + step, sweep.piece)


def _least_norm_of_many(objective: Objective, sweep: Sweep) -> Array:
    """Do the same on the simplex, where every class has weights and rows tie them together."""
    rows = objective.rows
    triangle = rows.simplex_triangle(sweep.piece, sweep.z)
    first = sweep.z.shape[1] * rows.intercept
    weights = sweep.w[: rows.n_features].T.ravel()
    step = linalg.least_norm_step(triangle[first:, first:], 0.0, False, weights).step
    w = sweep.w.copy()
    w[: rows.n_features] += step.reshape(-1, rows.n_features).T
    if rows.intercept:
        top = triangle[:first]
        w[-1] += np.linalg.lstsq(top[:, :first], top[:, -1] - top[:, first:-1] @ step)[0]
    return w


def _is_minimum(objective: Objective, sweep: Sweep) -> bool:
    """Tell whether the gradient at a sweep is rounding, measured in the size of its terms."""
    gram = objective.rows.full_gram
    total = objective.rows.total_weight
    rounding = 1e3 * EPS * np.sqrt(total) * (1.0 + float(np.abs(sweep.z).max()))
    size = np.sqrt(gram.diagonal()) * (1e-9 * np.sqrt(sweep.loss) + rounding)
    return bool((np.abs(sweep.gradient.T) <= size).all())
