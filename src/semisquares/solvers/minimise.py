"""The soft minimiser, whatever the problem: a multilevel start, Newton, or the least norm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..objective import Objective
from .least_norm import leaves_weights_open, vanishing_ridge
from .newton import newton
from .solution import ActiveSet, Callback, Solution, StoppingTest

Array = NDArray[Any]

SAMPLE_ROWS = 4096
SAMPLE_SHARE = 16
ROUGH = 1e-4
"""The relative gap that is good enough on a sample."""


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
    """Find the minimiser of a convex objective from w; that of least norm where there are many.

    `rng` draws the sample of the multilevel start; None goes without. The other parameters are
    those of `newton`.
    """
    if leaves_weights_open(objective):
        return vanishing_ridge(objective, w, max_iter=max_iter, callback=callback)
    spent = 0.0
    if rng is not None:
        w, spent = multilevel_start(objective, w, rng, test)
    found = newton(objective, w, max_iter=max_iter, test=test, callback=callback, active=active)
    return replace(found, n_passes=found.n_passes + spent)


def multilevel_start(
    objective: Objective, w: Array, rng: np.random.Generator, test: StoppingTest | None
) -> tuple[Array, float]:
    """Solve on a sample of the unlabeled rows, itself started from a smaller one.

    The sample's solution puts nearly every row on its right side already: only rows near a border
    are left to be followed over it. Returns the weights and the passes it cost.
    """
    rows = objective.rows
    share = min(rows.n_unlabeled // SAMPLE_SHARE, rows.most_sampled)
    size = max(SAMPLE_ROWS, 20 * rows.n_weights, share)
    if rows.n_unlabeled < 4 * size:
        return w, 0.0
    sample = replace(objective, rows=rows.sample(size, rng))
    w, spent = multilevel_start(sample, w, rng, test)
    rough = None if test is None else StoppingTest(test.bound, ROUGH * objective.scale)
    found = newton(sample, w, test=rough)
    return found.w, (found.n_passes + spent) * size / rows.n_rows
