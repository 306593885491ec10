"""Leave-one-out over alphas and unlabeled weights, in closed form.

At a soft solution an unlabeled row with z inside [0, 1] costs nothing, and the label of any other
is at a bound. With A the rows at a bound, each of weight u, the solution minimises a sum of squares
with

    H = X'X + λD + u X_A'X_A

Leaving out the labeled row i, of weight a, turns its error e = z - y into e / (1 - h), where
h = a x'H⁻¹x is its leverage: exactly for u = 0 (Allen, 1974), and for u > 0 as long as A does not
change. With more than two classes, H is taken class by class, as in Newton's preconditioner: a
close approximation for u > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._inputs.arrays import Problem
from .._inputs.untested import rows_to_test
from .._utils.typing import Array
from ..core import _dense as dense
from ..core import linalg
from ..core.curvature import active_curvature, few_enough, fit_labeled, labeled_curvature
from ..core.labelings import soft
from ..core.objective import Objective
from ..core.rows import MemoryRows, Sweep
from ..core.solvers import ActiveSet, Solution
from ._cross_validation import rough_solution
from ._evidence import SearchResult, center, choose_by_evidence, weigh_choices

SEEN, SEEN_PER_COLUMN = 2_000, 20
"""The search uses a sample if there are more unlabeled rows than this and than this per column."""
BATCH_NUMBERS = 1 << 14
"""Size of a batch of leverages, which are matrices of classes × classes."""
LEAST_KEPT = 1e-7
"""If 1 - h is less, too few digits of e / (1 - h) are correct."""


def has_closed_form(problem: Problem) -> bool:
    """Tell whether leave-one-out has a closed form.

    It needs Gram matrices, and decision values that sum to one over the classes.
    """
    objective = Objective(problem.rows, soft(problem.n_classes), 1.0)
    return objective.direct and (problem.rows.intercept or problem.n_classes == 2)


def leave_one_out(
    problem: Problem, alphas: Array, weights: Array, rng: np.random.Generator
) -> SearchResult | None:
    """Choose by leaving each labeled row out once; None if fewer than two classes can be tested."""
    rows, codes = problem.rows, problem.labels.codes
    tested = np.flatnonzero(rows_to_test(codes) & (rows.labeled_weight > 0.0))
    if len(np.unique(codes[tested])) < 2:
        return None
    sums = (rows.labeled_weight * rows.y.T).T
    left = rows.labeled_total - rows.labeled_weight[tested]
    means = ((sums.sum(axis=0) - sums[tested]).T / left).T
    z = left_out_decisions(problem, alphas, weights, rng)[:, :, tested]
    evidence = weigh_choices(problem, z - center(problem, means), tested)
    weight = rows.labeled_weight[tested]
    variance = (evidence.of_rows + evidence.scores[:, :, None]) ** 2 @ weight / weight.sum()
    return choose_by_evidence(problem, evidence, np.sqrt(variance), len(tested))


def left_out_decisions(
    problem: Problem, alphas: Array, weights: Array, rng: np.random.Generator
) -> Array:
    """Return z of each labeled row by the fit to all other rows, for every choice.

    The shape is weights × alphas × rows [× classes]; `weights` are sorted, 0 first. NaN marks a row
    that a choice cannot predict.
    """
    rows = _sampled(problem.rows, rng)
    labeling = soft(problem.n_classes)
    alone = Objective(rows, labeling, 1.0).with_alphas(alphas)
    supervised = [fit_labeled(objective) for objective in alone]
    z = np.moveaxis(rows.decisions(np.stack(supervised, axis=1)), 1, 0)
    found = np.full((len(weights), len(alphas), *rows.y.shape), np.nan)
    leverages = _leverages(rows, [objective.labeled_factor for objective in alone])
    for j in range(len(alphas)):
        found[0, j] = _left_out(rows, z[j], leverages[j])
    inside = np.array([_all_inside(rows, labeling, one) for one in z])
    found[1:, inside] = found[0, inside]  # the soft solution is the supervised one for every u
    for i, weight in enumerate(weights[1:], start=1):
        active: ActiveSet | None = None
        w = None
        for j in np.flatnonzero(~inside)[::-1]:
            objective = alone[j].reweighted(float(weight) * rows.unlabeled_weight)
            if w is None:
                w = supervised[j]
            solution = rough_solution(objective, w, _with_labeled_factor(objective, active))
            w, active = solution.w, solution.state.active
            found[i, j] = _soft_left_out(objective, solution, leverages[j])
    return found


def _leverages(rows: MemoryRows, factors: Sequence[linalg.Inverse | None]) -> Array:
    """Return the leverages of the labeled rows for each factor; NaN if there is none."""
    ridges = [factor for factor in factors if isinstance(factor, linalg.RidgeFactor)]
    if len(ridges) == len(factors):  # of one Gram matrix
        return rows.ridge_leverages(ridges)
    missing = np.full(len(rows.y), np.nan)
    return np.stack([missing if factor is None else rows.leverages(factor) for factor in factors])


def _with_labeled_factor(objective: Objective, active: ActiveSet | None) -> ActiveSet | None:
    """Return the active set of a similar fit; if it is small, that of the labeled rows alone.

    Their factor is known for all alphas, and a few active rows update it.
    """
    rows, known = objective.memory_rows, objective.labeled_factor
    if not isinstance(known, linalg.RidgeFactor) or objective.labeling.per_class:
        return active
    if active is not None and not few_enough(rows, rows.active_mask(active.piece)):
        return active
    none = np.zeros(rows.n_rows, dtype=objective.convex_labeling.piece(np.zeros(0)).dtype)
    summed = none, np.zeros((rows.n_weights, rows.n_weights))
    return ActiveSet(none, summed, None, labeled_curvature(objective))


def _sampled(rows: MemoryRows, rng: np.random.Generator) -> MemoryRows:
    """Return the rows, or a sample of the unlabeled ones with the weight of all."""
    most = max(SEEN, SEEN_PER_COLUMN * rows.n_features)
    return rows if rows.n_unlabeled <= most else rows.sample(most, rng)


def _all_inside(rows: MemoryRows, labeling: Any, z: Array) -> bool:
    """Tell whether z of every unlabeled row is in [0, 1], or on the simplex."""
    away = labeling.impute(z) - z
    away[rows.labeled] = 0.0
    return bool(np.abs(away).max() <= 16.0 * linalg.EPS)


def _left_out(rows: MemoryRows, z: Array, leverages: Array) -> Array:
    """Leave each labeled row out of a fit with decision values z."""
    kept = 1.0 - leverages
    kept[kept < LEAST_KEPT] = np.nan
    return rows.y + ((z[rows.labeled] - rows.y).T / kept).T


def _soft_left_out(objective: Objective, solution: Solution, alone: Array) -> Array:
    """Leave each labeled row out of a soft solution, with its active set held fixed.

    `alone` are the leverages without unlabeled rows.
    """
    rows, sweep = objective.memory_rows, solution.state.sweep
    if sweep is None:
        return np.full(rows.y.shape, np.nan)
    if objective.labeling.per_class:
        return _left_out_by_class(objective, sweep)
    factor = _active_factor(objective, sweep.piece, solution.state.active)
    if factor is None:
        return np.full(rows.y.shape, np.nan)
    if isinstance(factor, linalg.UpdatedFactor) and factor.base is objective.labeled_factor:
        return _left_out(rows, sweep.z, rows.updated_leverages(factor, alone))
    return _left_out(rows, sweep.z, rows.leverages(factor))


def _active_factor(
    objective: Objective, piece: Array, known: ActiveSet | None
) -> linalg.Inverse | None:
    """Return the factor of H on the pieces of a solution: that of the last step, if it fits."""
    since = None if known is None else known.summed
    if known is not None and known.curvature is not None:
        last = known.curvature
        if last.objective is objective and np.array_equal(known.piece, piece):
            return last.factor
    gram = objective.memory_rows.active_gram(piece, since)
    return active_curvature(objective, piece, gram).factor


def _left_out_by_class(objective: Objective, sweep: Sweep) -> Array:
    """Leave each labeled row out, with one H per class and steps that sum to 0 over classes.

    The leverage of a row is a matrix, classes × classes; with T = (Σ H_k⁻¹)⁻¹,

        M_kl = a x' (1[k = l] H_k⁻¹ - H_k⁻¹ T H_l⁻¹) x
    """
    rows = objective.memory_rows
    grams = rows.outside_grams(sweep.piece)
    factors = [linalg.factor(gram, objective.alpha, True) for gram in grams]
    if any(factor is None for factor in factors):
        return np.full(rows.y.shape, np.nan)
    X = np.column_stack((rows.table.dense(rows.table.take(rows.labeled)), np.ones(len(rows.y))))
    inverses = np.stack([factor.solve(np.eye(rows.n_weights)) for factor in factors if factor])
    both = inverses.sum(axis=0)
    live = both.diagonal() > 0.0  # columns that vary over the rows of some class
    middle = np.zeros(both.shape)
    middle[np.ix_(live, live)] = dense.inv(both[np.ix_(live, live)])
    own = np.arange(len(factors))
    found = np.empty(rows.y.shape)
    step = max(1, BATCH_NUMBERS // len(factors) ** 2)
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        images = X[part] @ inverses  # classes × rows × weights
        leverage = -np.einsum("kip,lip->ikl", images @ middle, images)
        leverage[:, own, own] += np.einsum("kip,ip->ik", images, X[part])
        kept = np.eye(len(factors)) - rows.labeled_weight[part, None, None] * leverage
        error = sweep.z[rows.labeled[part]] - rows.y[part]
        found[part] = rows.y[part] + np.linalg.solve(kept, error[:, :, None])[:, :, 0]
    return found
