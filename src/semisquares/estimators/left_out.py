"""Decision values of labeled rows that were left out, for every choice, in closed form.

At a soft solution an unlabeled row inside [0, 1] costs nothing, and any other has its label at a
bound. With A the rows at a bound, each counting u, the weights minimise a sum of squares with

    H = X'X + λD + u X_A'X_A

Leaving out the labeled row i, which counts a, turns its error e = z - y into e / (1 - h), where
h = a x'H⁻¹x is its leverage: exactly for u = 0 (Allen, 1974), and for u > 0 as long as A stays as
it is. Of more than two classes, H is taken class by class, as Newton's preconditioner does: a close
approximation where u > 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.arrays import Problem
from ..core import dense, linalg
from ..core.curvature import active_curvature, fit_labeled
from ..core.labelings import soft
from ..core.objective import Objective
from ..core.rows import Rows, Sweep
from ..core.solvers import ActiveSet, Solution
from .search import rough_solution

Array = NDArray[Any]

SEEN, SEEN_PER_COLUMN = 2_000, 20
"""The search sees this many unlabeled rows, the larger of the two, or a sample of them."""
MATRICES = 1 << 14
"""So many numbers have the matrices, classes × classes, of rows that are left out at once."""
FREE = 1e-7
"""With less of a row's error left to the other rows, too few digits of e / (1 - h) are right."""


def can_leave_out(problem: Problem) -> bool:
    """Tell whether there is a closed form: Gram matrices are formed, classes sum to one."""
    objective = Objective(problem.rows, soft(problem.n_classes), 1.0)
    return objective.direct and (problem.rows.intercept or problem.n_classes == 2)


def left_out_decisions(
    problem: Problem, alphas: Array, weights: Array, rng: np.random.Generator
) -> Array:
    """Return z of each labeled row by the fit to all other rows, for every choice.

    The shape is weights × alphas × rows [× classes]. `weights` are sorted, 0 first. NaN if a choice
    leaves nothing to predict a row by.
    """
    rows = _sampled(problem.rows, rng)
    labeling = soft(problem.n_classes)
    alone = [Objective(rows, labeling, float(alpha)) for alpha in alphas]
    supervised = [fit_labeled(objective)[0] for objective in alone]
    z = np.moveaxis(rows.decisions(np.stack(supervised, axis=1)), 1, 0)
    found = np.full((len(weights), len(alphas), *rows.y.shape), np.nan)
    for j, objective in enumerate(alone):
        factor = objective.labeled_factor
        if factor is not None:
            found[0, j] = _left_out(rows, z[j], factor)
    inside = np.array([_all_inside(rows, labeling, one) for one in z])
    found[1:, inside] = found[0, inside]  # the supervised weights are the soft ones, whatever u
    for i, weight in enumerate(weights[1:], start=1):
        active: ActiveSet | None = None
        w = None
        for j in np.flatnonzero(~inside)[::-1]:
            objective = alone[j].reweighted(float(weight) * rows.unlabeled_weight)
            solution = rough_solution(objective, supervised[j] if w is None else w, active)
            w, active = solution.w, solution.active
            found[i, j] = _soft_left_out(objective, solution)
    return found


def _sampled(rows: Rows, rng: np.random.Generator) -> Rows:
    """Keep so many unlabeled rows at the most; these then count for all of them."""
    most = max(SEEN, SEEN_PER_COLUMN * rows.n_features)
    return rows if rows.n_unlabeled <= most else rows.sample(most, rng)


def _all_inside(rows: Rows, labeling: Any, z: Array) -> bool:
    """Tell whether no unlabeled row is outside of [0, 1], or the simplex."""
    away = labeling.impute(z) - z
    away[rows.labeled] = 0.0
    return bool(np.abs(away).max() <= 16.0 * linalg.EPS)


def _left_out(rows: Rows, z: Array, factor: linalg.Factor) -> Array:
    """Leave each labeled row out of a fit with the factored H and decision values z."""
    kept = 1.0 - rows.leverages(factor.solve)
    kept[kept < FREE] = np.nan
    return rows.y + ((z[rows.labeled] - rows.y).T / kept).T


def _soft_left_out(objective: Objective, solution: Solution) -> Array:
    """Leave each labeled row out of a soft solution, the active set held."""
    rows, sweep = objective.rows, solution.sweep
    if sweep is None:  # a vanishing ridge
        return np.full(rows.y.shape, np.nan)
    if objective.labeling.per_class:
        return _left_out_by_class(objective, sweep)
    known = solution.active
    since = None if known is None else (known.piece, known.gram)
    gram = rows.active_gram(sweep.piece, since)
    factor = active_curvature(objective, sweep.piece, gram).factor
    return np.full(rows.y.shape, np.nan) if factor is None else _left_out(rows, sweep.z, factor)


def _left_out_by_class(objective: Objective, sweep: Sweep) -> Array:
    """Leave each labeled row out, with one H for each class and steps that sum to 0 over classes.

    The leverage of a row is a matrix, classes × classes: with T = (Σ H_k⁻¹)⁻¹

        M_kl = a x' (1[k = l] H_k⁻¹ - H_k⁻¹ T H_l⁻¹) x
    """
    rows = objective.rows
    grams = rows.outside_grams(sweep.piece)
    factors = [linalg.factor(gram, objective.alpha, True) for gram in grams]
    if any(factor is None for factor in factors):
        return np.full(rows.y.shape, np.nan)
    X = np.column_stack((rows.table.dense(rows.table.take(rows.labeled)), np.ones(len(rows.y))))
    inverses = np.stack([factor.solve(np.eye(rows.n_weights)) for factor in factors if factor])
    both = inverses.sum(axis=0)
    live = both.diagonal() > 0.0  # not constant over the rows of every class
    middle = np.zeros(both.shape)
    middle[np.ix_(live, live)] = dense.inv(both[np.ix_(live, live)])
    own = np.arange(len(factors))
    found = np.empty(rows.y.shape)
    step = max(1, MATRICES // len(factors) ** 2)
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        images = X[part] @ inverses  # classes × rows × weights
        leverage = -np.einsum("kip,lip->ikl", images @ middle, images)
        leverage[:, own, own] += np.einsum("kip,ip->ik", images, X[part])
        kept = np.eye(len(factors)) - rows.labeled_weight[part, None, None] * leverage
        error = sweep.z[rows.labeled[part]] - rows.y[part]
        found[part] = rows.y[part] + np.linalg.solve(kept, error[:, :, None])[:, :, 0]
    return found
