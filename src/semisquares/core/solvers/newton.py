"""Newton's method on the active set: the exact minimiser of the soft objective.

J is C¹ and piecewise quadratic. While no row changes its piece (below, inside or above [0, 1]; with
more classes, the support of its label on the simplex) J is one quadratic, which one step minimises.
The same numbers mark the steps in the code.

1. start at w: the supervised weights, or the solution on a sample of the rows (`minimise`);
2. pass over the rows once for decision values, pieces, J and its gradient; only rows that changed
   their piece change the curvature;
3. step to the minimiser of the current quadratic, and in large tables on until no boundary row
   changes its piece (`steps`);
4. if J falls too little, search exactly along the step (`_search`);
5. if after a full step every row is on its predicted piece, w is the exact minimiser.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..objective import Objective
from ._search import exact_search
from ._steps import ConjugateSteps, DirectSteps, summing_to_one
from .solution import ActiveSet, Callback, Solution, State, Status, Step, StoppingTest

NEGLIGIBLE = 1e-24
"""Steps that would lower J by less, relative to its scale, are rounding."""
SETTLED = 1e-20
"""After a full step that moved no row, a gap bounded by this share of the scale is rounding."""
SMALL = 1e-11
"""Steps that would lower J by more, relative to its scale, are not rounding yet."""
FAR = 1e12
"""If J is more than this many times that of the best constant, other weights are a better start."""
LEAST_FALL = 0.1
"""A step that leaves more of the gradient shows that a borrowed curvature has lost its digits."""


def newton(
    objective: Objective,
    w: Array,
    *,
    max_iter: int = 1000,
    test: StoppingTest | None = None,
    callback: Callback | None = None,
    active: ActiveSet | None = None,
    single: ConjugateSteps | None = None,
    otherwise: Array | None = None,
) -> Solution:
    """Minimise a convex objective exactly, from the weights w.

    Ends when every row is on its predicted piece after a full step, or when the caller's stopping
    test is met; never because a step is small. `active` is the active set of a similar fit to the
    same rows: only the rows that differ are then summed. `single` are steps that were taken to w in
    single precision; their curvature is used as long as it lowers the gradient. `otherwise` are
    weights to start from if J is far too large at w.
    """
    steps: DirectSteps | ConjugateSteps
    predicted: Any = None
    if single is not None:
        steps, predicted = single.refined(objective, test), single.piece
    elif objective.labeling.per_class or not objective.direct:
        steps = ConjugateSteps(objective, test)
    else:
        steps = DirectSteps(objective, active)
    if objective.labeling.per_class and objective.rows.intercept:
        w = summing_to_one(w)
    scale = objective.scale
    sweep = objective.sweep(w, predicted)  # 2
    n_passes, n_iter, status = 1, 0, Status.MAX_ITER
    if otherwise is not None and not objective.value(sweep) <= FAR * scale:
        sweep = objective.sweep(otherwise)
        n_passes += 1
    value = objective.value(sweep)
    smallest = np.inf
    settled = trusted = False
    while True:
        gradient = objective.gradient(sweep)
        if test is not None:
            bound = test.bound(gradient)
            if bound <= test.target:
                exact = settled and steps.solved and bound <= SETTLED * scale
                status = Status.EXACT if exact else Status.GAP
                break
        if n_iter >= max_iter:
            break
        direction = steps(sweep)  # 3
        decrease = -float(np.vdot(gradient, direction))
        stalled = settled and 0.25 * smallest <= decrease <= SMALL * scale
        ended = decrease <= NEGLIGIBLE * scale or stalled  # 5
        if steps.is_borrowed and (not steps.solved or (ended and not trusted)):
            steps, settled = steps.with_own_curvature(), False
            continue
        if ended:
            exact = steps.solved and decrease >= 0.0
            status = Status.EXACT if exact else Status.ROUNDING
            break
        predicted = sweep.piece if steps.active is None else steps.active.piece
        trial = objective.sweep(sweep.w + direction, predicted)  # 2
        trial_value = objective.value(trial)
        n_passes += 1
        full = (
            trial_value <= value - 0.1 * decrease
            or (trial_value <= value and trial.changed == 0)  # the minimum of this quadratic
            or (trial_value - value <= 1e-12 * scale and decrease <= SMALL * scale)
        )
        if not full:  # 4
            t = exact_search(objective, sweep, trial)
            trial = objective.sweep(sweep.w + t * direction, predicted)
            trial_value = objective.value(trial)
            n_passes += 1
            if trial_value >= value:
                if steps.is_borrowed:
                    steps, settled = steps.with_own_curvature(), False
                    continue
                status = Status.ROUNDING
                break
        settled = full and trial.changed == 0
        smallest = decrease
        if steps.is_borrowed:
            left = float(np.linalg.norm(objective.gradient(trial)))
            trusted = left <= LEAST_FALL * float(np.linalg.norm(gradient))
            if not trusted:
                steps, settled = steps.with_own_curvature(), False
        sweep, value = trial, trial_value
        n_iter += 1
        if callback is not None and callback(Step(n_iter, sweep.w, value, sweep.changed)):
            status = Status.CALLBACK
            break
    state = State(sweep.z, sweep=sweep, active=steps.active)
    return Solution(
        sweep.w, value, status, "newton", max(1, n_iter), n_passes + steps.products, state
    )
