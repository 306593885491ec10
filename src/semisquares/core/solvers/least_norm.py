"""λ = 0 and labeled rows that do not span the features: the minimiser of least norm.

J then has many minimisers, all with the same residuals. The result is the limit of a vanishing
ridge: the minimiser whose feature weights have least norm, with a free intercept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._utils.typing import Array
from .. import linalg
from ..curvature import active_curvature, labeled_least_norm
from ..linalg import EPS
from ..objective import Objective
from ..rows import RowSums, Sweep
from .newton import newton
from .solution import Callback, Solution, State, Status, Step


def leaves_weights_open(objective: Objective) -> bool:
    """Return whether λ = 0 and the labeled rows do not determine all feature weights."""
    if objective.alpha > 0.0 or not objective.direct or objective.labeled_factor is not None:
        return False
    return labeled_least_norm(objective).null.shape[1] > 0


def vanishing_ridge(
    objective: Objective, w: Array, *, max_iter: int = 1000, callback: Callback | None = None
) -> Solution:
    """Find the minimiser of least norm, the limit of a vanishing ridge.

    In the limit some rows are exactly at 0 or 1, where their piece is ambiguous, so Newton with
    least-norm steps would cycle. A ridge of 1e-7 of the features' mean square, after one of 1e-5 to
    start from, decides their pieces, and one least-norm solve with these pieces gives the result.
    If that is not a minimum yet (columns of different scale), the ridge shrinks further, each
    solution starting the next. `max_iter` limits the steps of all ridges together; callbacks get J
    without the ridge.
    """
    rows = objective.rows
    size = _mean_square(objective)
    n_iter, n_passes = 0, 0.0
    best: tuple[float, Status, Sweep] | None = None
    active = None
    for exponent in (5, *range(7, 31)):
        ridged = objective.with_alpha(size * 10.0**-exponent)
        found = newton(
            ridged,
            w,
            max_iter=max(1, max_iter - n_iter),
            callback=_without_ridge(callback, ridged, n_iter),
            active=active,
        )
        w, active = found.w, found.state.active
        n_iter, n_passes = n_iter + found.n_iter, n_passes + found.n_passes
        stopped = found.status in (Status.CALLBACK, Status.MAX_ITER)
        if exponent < 7 and not stopped:
            continue
        end = _least_norm_end(objective, objective.sweep(w))
        n_passes += 2
        value = objective.value(end)
        # w is shorter than every minimiser and converges to the shortest
        settled = _is_minimum(objective, end) and _norm(end.w, rows) <= (1.0 + 1e-6) * _norm(
            w, rows
        )
        if best is None or settled or value <= best[0]:
            status = Status.LEAST_NORM if settled else Status.ROUNDING
            best = value, found.status if stopped else status, end
        if settled or stopped:
            break
    assert best is not None
    value, status, end = best
    state = State(end.z, sweep=end)
    return Solution(end.w, value, status, "newton", n_iter, n_passes, state)


def _norm(w: Array, rows: RowSums) -> float:
    return float(np.linalg.norm(w[: rows.n_features]))


def _without_ridge(callback: Callback | None, ridged: Objective, before: int) -> Callback | None:
    """Return a callback for one ridge: it counts steps over all ridges, and J has no ridge."""
    if callback is None:
        return None

    def report(step: Step) -> bool | None:
        value = step.value - float(ridged.ridge(step.w))
        return callback(replace(step, iteration=before + step.iteration, value=value))

    return report


def _mean_square(objective: Objective) -> float:
    """Return the mean over the features of their squared spread over all rows."""
    gram = objective.rows.full_gram
    squares = gram.diagonal()[: objective.rows.n_features]
    if objective.rows.intercept:
        squares = squares - gram[-1, :-1] ** 2 / gram[-1, -1]
    return float(squares.mean()) or 1.0


def _least_norm_end(objective: Objective, sweep: Sweep) -> Sweep:
    """Return the weights of least norm if every row keeps its piece of a sweep.

    The Gram matrix is summed anew: in a difference of two, zeros become rounding errors.
    """
    rows = objective.rows
    if objective.labeling.per_class:
        return objective.sweep(_least_norm_of_many(objective, sweep), sweep.piece)
    curvature = active_curvature(objective, sweep.piece, rows.active_gram(sweep.piece))
    step = curvature.step(sweep.w, objective.gradient(sweep), lambda: objective.residual(sweep))
    return objective.sweep(sweep.w + step, sweep.piece)


def _least_norm_of_many(objective: Objective, sweep: Sweep) -> Array:
    """Do the same on the simplex, where rows couple the weights of the classes."""
    rows = objective.memory_rows
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
    """Return whether the gradient at a sweep is rounding, relative to the size of its terms."""
    gram = objective.rows.full_gram
    total = objective.rows.total_weight
    rounding = 1e3 * EPS * np.sqrt(total) * (1.0 + float(np.abs(sweep.z).max()))
    size = np.sqrt(gram.diagonal()) * (1e-9 * np.sqrt(sweep.loss) + rounding)
    return bool((np.abs(sweep.gradient.T) <= size).all())
