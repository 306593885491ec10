"""Newton's first steps in single precision, for more than two classes.

Most of a fit only finds out on which piece every row is. Passes over a copy of X in single
precision take half the time or less, and tell this for all rows but a few. `newton` goes on from
there in double precision; it needs two passes over X in most fits. The curvature is not summed
again: in single precision, it makes steps correct to six digits, and the error of the weights is
already down to about as many. If rounding in single precision has left too few digits, `newton`
notices that steps do not lower the gradient, and sums the curvature in double precision.

If w is the solution on a sample, the first step is the solution of the preconditioner for the
gradient. A product with the curvature would hardly improve it, because many rows change their
piece. From there, steps are solved for with the matrix of all classes (`_joint`). If that matrix is
too large, a product takes nearly as long as a sweep, which also tells where the rows have moved.
Then secants take the place of products (`_secants`): each step needs a single sweep.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from ..objective import Objective
from ..rows import Sweep
from ._joint import may_join
from ._search import exact_search
from ._secants import SecantSteps
from ._steps import SINGLE_DIGITS, ConjugateSteps, summing_to_one
from .solution import StoppingTest

SMALLEST = 1 << 20
"""In smaller tables, in values of X, the copy does not pay."""
LEAST_RCOND = 1e-4
"""Single precision loses too many digits if the labeled rows are worse conditioned."""
FEW_MOVED = 0.05
"""The last step in single precision comes after a pass in which at most this share of the classes
outside supports changed."""
LEAST_FALL, MOST_FALL, MANY_MOVED = 0.9, 1.5, 0.5
"""A first step without products is taken back unless it lowers J by between these shares of what
the preconditioner expects, and changes at most the last share of the classes outside supports. It
is too long if columns are skewed or have heavy tails."""
ROUGHLY = 0.05
"""The relative error of a search along a step; the next steps correct it."""
MOST_STEPS = 8
LEAST_GAIN = 4.0
"""If a step by secants lowers the gap less than by this factor, products are better."""
CLOSE = 1e-13
"""A step by secants is the last one if it will leave less than this gap, relative to its scale:
then too few rows change their piece to matter, and products are better than sweeps."""


def in_single(objective: Objective) -> Objective | None:
    """Return the objective on the rows in single precision; None if it would be of no use."""
    rows = objective.rows.in_memory
    if rows is None or not (objective.labeling.per_class and objective.direct):
        return None
    factor = objective.labeled_factor
    if rows.table.n_values < SMALLEST or factor is None or not factor.rcond >= LEAST_RCOND:
        return None
    single = rows.in_single()
    return None if single is None else objective.with_rows(single)


def single_steps(
    objective: Objective, w: Array, test: StoppingTest | None, *, is_close: bool = False
) -> tuple[Array, float, ConjugateSteps | None]:
    """Take steps until few rows change their piece; `objective` is in single precision.

    Returns the weights after the last step, the number of passes, and the steps, which have the
    curvature; None if it has too few digits. `is_close` tells that w is the solution on a sample:
    far from the minimum, too many rows change their piece for secants.
    """
    steps = ConjugateSteps(objective, test)
    sweep = objective.sweep(summing_to_one(w) if objective.rows.intercept else w)
    n_passes = 1.0
    if is_close and objective.rows.intercept and may_join(objective):
        sweep = _step_of_preconditioner(objective, sweep, steps) or sweep
        n_passes += 1
    elif is_close and objective.rows.intercept:
        sweep, more, step = _steps_by_secants(objective, sweep, steps)
        n_passes += more
        if step is not None:
            return sweep.w + step, n_passes, steps
        steps = ConjugateSteps(objective, test)  # with a preconditioner at this sweep
    full = True
    for _ in range(MOST_STEPS):
        w = sweep.w + steps(sweep)
        if not steps.solved:
            return sweep.w, n_passes + steps.products, None
        if full and steps.moved <= FEW_MOVED:
            return w, n_passes + steps.products, steps
        trial = objective.sweep(w, sweep.piece)
        n_passes += 1
        rise = objective.value(trial) - objective.value(sweep)
        full = rise < 0.0
        if 0.0 <= rise <= SINGLE_DIGITS * objective.scale:  # only rounding is left
            break
        if not full:
            t = exact_search(objective, sweep, trial, rtol=ROUGHLY)
            trial = objective.sweep(sweep.w + t * (w - sweep.w), sweep.piece)
            n_passes += 1
            if not objective.value(trial) < objective.value(sweep):
                break
        sweep = trial
    return sweep.w, n_passes + steps.products, steps


def _step_of_preconditioner(
    objective: Objective, sweep: Sweep, steps: ConjugateSteps
) -> Sweep | None:
    """Take a step without a product; None if J does not fall as the preconditioner expects."""
    gradient = steps.gradient(sweep)
    step = -steps.preconditioner(sweep)(gradient)
    trial = objective.sweep(sweep.w + step, sweep.piece)
    expected = -float(np.vdot(gradient, step))
    fall = objective.value(sweep) - objective.value(trial)
    if not LEAST_FALL * expected <= fall <= MOST_FALL * expected:
        return None
    moved = float(np.count_nonzero(trial.piece != sweep.piece))
    if moved > MANY_MOVED * objective.rows.n_outside(trial.piece):
        return None
    steps.piece = sweep.piece
    return trial


def _steps_by_secants(
    objective: Objective, sweep: Sweep, steps: ConjugateSteps
) -> tuple[Sweep, int, Array | None]:
    """Take steps by secants until the gap is small.

    Returns the best sweep, the number of sweeps, and the last step from there; None if the gap no
    longer falls fast. The gap is estimated by the preconditioner.
    """
    secants = SecantSteps()
    gradient, precondition = steps.gradient(sweep), steps.preconditioner(sweep)
    gap = float(np.vdot(gradient, precondition(gradient)))
    for n_sweeps in range(1, MOST_STEPS + 1):
        trial = objective.sweep(sweep.w + secants(gradient, precondition), sweep.piece)
        found, precondition = steps.gradient(trial), steps.preconditioner(trial)
        left = float(np.vdot(found, precondition(found)))
        if not 0.0 <= LEAST_GAIN * left < gap:
            return (trial if 0.0 <= left < gap else sweep), n_sweeps, None
        secants.add(trial.w - sweep.w, found - gradient)
        gain, gap = left / gap, left
        sweep, gradient = trial, found
        if gap * gain <= CLOSE * objective.scale:
            steps.piece = sweep.piece
            return sweep, n_sweeps, secants(gradient, precondition)
    return sweep, MOST_STEPS, None
