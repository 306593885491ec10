"""The soft minimiser of any problem: by Newton from a multilevel start, or of least norm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..._utils.typing import Array
from .._exact_sums import exact_products
from ..curvature import fit_labeled
from ..objective import Objective
from ..rows import DenseTable, to_own_columns
from ._single import in_single, single_steps
from ._steps import ConjugateSteps
from .least_norm import leaves_weights_open, vanishing_ridge
from .newton import newton
from .solution import ActiveSet, Callback, Solution, State, Status, StoppingTest

SAMPLE_ROWS = 4096
SAMPLE_PER_CLASS = 100
"""With more than 40 classes, supports settle only on larger samples."""
SAMPLE_SHARE, MOST_SHARE = 16, 4
"""Large tables have samples of one of 16 rows; no sample has more than one of 4."""
FIRST_SHARE = 4
"""With more than two classes, a sample of one of this many rows of a sample is worth its steps:
most of them are far from the minimum, where a step is as good on fewer rows."""
MOST_COPIED = 50_000_000
"""Larger tables, in values, are not copied to rescale their columns."""
NOTICEABLE = 1e-16
"""A rounding error of the intercept that changes J by less, relative to its scale, is ignored."""
CONDENSED = 4
"""The labeled rows of a sample are condensed if there are at least this many for each weight, and
if at least one of this many rows is labeled."""
ROUGH, FIRST_ROUGH = 1e-4, 1e-2
"""Relative gap to reach on a sample, and on a sample of it with more than two classes."""


def minimise(
    objective: Objective,
    w: Array,
    *,
    max_iter: int = 1000,
    test: StoppingTest | None = None,
    callback: Callback | None = None,
    active: ActiveSet | None = None,
    rng: np.random.Generator | None = None,
) -> Solution:
    """Find the minimiser of a convex objective from w; that of least norm if it is not unique.

    `rng` draws the samples of a multilevel start; None starts at w. The other parameters are those
    of `newton`.
    """
    if leaves_weights_open(objective):
        found = vanishing_ridge(objective, w, max_iter=max_iter, callback=callback)
        return in_even_columns(objective, found) if found.status is Status.ROUNDING else found
    spent, single, otherwise = 0.0, None, None
    if rng is not None:
        w, spent, single = start(objective, w, rng, test)
        # a huge row that is not in a sample makes its solution useless
        otherwise = objective.constant if spent > 0.0 else None
    found = newton(
        objective,
        w,
        max_iter=max_iter,
        test=test,
        callback=callback,
        active=active,
        single=single,
        otherwise=otherwise,
    )
    return replace(found, n_passes=found.n_passes + spent)


def in_even_columns(objective: Objective, found: Solution) -> Solution:
    """Look for a lower J with columns of equal size after a vanishing ridge found no minimum.

    If columns differ by many orders of magnitude, no single ridge is negligible for all of them
    and above rounding. Then any minimiser will do, even if its norm is not the least.
    """
    rows = objective.memory_rows
    if rows.n_rows * rows.n_features > MOST_COPIED:
        return found
    norms = np.sqrt(rows.diagonal[: rows.n_features])
    scale = np.exp2(-np.round(np.log2(np.where(norms > 0.0, norms, 1.0))))
    columns = rows.table.dense(rows.table.slice(0, rows.n_rows)) * scale
    even = replace(objective, rows=rows.written_in(DenseTable(columns)))
    other = vanishing_ridge(even, fit_labeled(even))
    w = other.w.copy()
    w[: rows.n_features] = (w[: rows.n_features].T * scale).T
    sweep = objective.sweep(w)
    value = objective.value(sweep)
    if not value < found.value:
        return found
    status = Status.EXACT if other.status is Status.LEAST_NORM else other.status
    n_iter, n_passes = found.n_iter + other.n_iter, found.n_passes + other.n_passes + 1
    return Solution(w, value, status, "newton", n_iter, n_passes, State(sweep.z, sweep=sweep))


def best_constant(objective: Objective) -> Solution:
    """Return the best constant decision value, the mean of the labels, as a solution."""
    w = objective.constant
    sweep = objective.sweep(w)
    value = objective.value(sweep)
    return Solution(w, value, Status.CONSTANT, "newton", 1, 1, State(sweep.z, sweep=sweep))


def with_rounded_intercept(objective: Objective, found: Solution) -> Solution:
    """Return the solution with the intercept that it has after rounding in the user's columns.

    If columns are far from the origin, the user's intercept is large and keeps few decimals. The
    rounding error is computed exactly (`math.fsum`); a negligible one changes nothing.
    """
    rows, shift = objective.rows, objective.rows.shift
    if shift is None or rows.in_memory is None:
        return found
    w = found.w.reshape(len(found.w), -1)
    rounded = to_own_columns(found.w, shift).reshape(w.shape)[-1] - 0.5
    lost = np.empty(w.shape[1])
    for k in range(w.shape[1]):
        high, low = exact_products(shift, w[:-1, k])
        lost[k] = math.fsum([rounded[k], 0.5, -w[-1, k], *high, *low])
    if not rows.total_weight * float(lost @ lost) > NOTICEABLE * objective.scale:
        return found
    w = w.copy()
    w[-1] += lost
    sweep = objective.sweep(w.reshape(found.w.shape))
    state = replace(found.state, z=sweep.z, sweep=sweep)
    return replace(found, w=sweep.w, value=objective.value(sweep), state=state)


def start(
    objective: Objective, w: Array, rng: np.random.Generator, test: StoppingTest | None
) -> tuple[Array, float, ConjugateSteps | None]:
    """Solve on samples, then take steps in single precision if that pays.

    Returns the weights, the number of passes, and the steps in single precision.
    """
    single = in_single(objective)
    if single is not None:
        try:
            w_sample, spent = multilevel_start(single, w, rng, test)
            w_single, more, steps = single_steps(single, w_sample, test, is_close=spent > 0.0)
            return w_single, spent + more, steps
        except FloatingPointError:
            pass  # beyond the range of single precision
    return *multilevel_start(objective, w, rng, test), None


def multilevel_start(
    objective: Objective,
    w: Array,
    rng: np.random.Generator,
    test: StoppingTest | None,
    *,
    is_sample: bool = False,
) -> tuple[Array, float]:
    """Solve on a sample of the unlabeled rows, which starts from a smaller sample in turn.

    Its solution puts nearly every row on the right piece; only boundary rows are left to correct.
    Returns the weights, and the number of passes (a pass over the sample counts by its share).
    """
    rows = objective.rows
    size = _sample_size(objective, is_sample)
    if size is None:
        return w, 0.0
    sample = _condensed(objective.with_rows(rows.sample(size, rng)))
    w, spent = multilevel_start(sample, w, rng, test, is_sample=True)
    enough = FIRST_ROUGH if is_sample and objective.labeling.per_class else ROUGH
    rough = None if test is None else StoppingTest(test.bound, enough * objective.scale)
    found = newton(sample, w, test=rough)
    return found.w, (found.n_passes + spent) * size / rows.n_rows


def _sample_size(objective: Objective, is_sample: bool) -> int | None:
    """Return how many unlabeled rows a sample has; None if they are too few for one.

    `is_sample` tells if it is a sample of a sample.
    """
    rows, per_class = objective.rows, objective.labeling.per_class
    least = max(SAMPLE_ROWS // FIRST_SHARE if per_class else SAMPLE_ROWS, 20 * rows.n_weights)
    most = rows.n_unlabeled // MOST_SHARE
    if most < least:
        return None
    size = max(least, min(rows.n_unlabeled // SAMPLE_SHARE, rows.most_sampled))
    if per_class:
        wanted = max(SAMPLE_ROWS, SAMPLE_PER_CLASS * rows.weights_shape[1])
        size = max(size, wanted // FIRST_SHARE if is_sample else wanted)
    return min(size, most)


def _condensed(sample: Objective) -> Objective:
    """Let few rows stand for the labeled ones if these are many; J changes by a constant."""
    rows = sample.memory_rows
    n_labeled = rows.n_rows - rows.n_unlabeled
    if n_labeled < CONDENSED * rows.n_weights or n_labeled < rows.n_rows / CONDENSED:
        return sample
    few = rows.condensed()
    if few is None:
        return sample
    other = sample.with_rows(few)
    vars(other)["scale"] = sample.scale  # which the constant is a part of
    return other
