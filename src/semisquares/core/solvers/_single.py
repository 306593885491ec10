"""Newton's first steps in single precision, for more than two classes.

Most of a fit only finds out on which piece every row is. Passes over a copy of X in single
precision take half the time or less, and tell this for all rows but a few. `newton` goes on from
there in double precision; it needs two passes over X in most fits. The curvature is not summed
again: in single precision, it makes steps correct to six digits, and the error of the weights is
already down to about as many. If rounding in single precision has left too few digits, `newton`
notices that steps do not lower the gradient, and sums the curvature in double precision.
"""

from __future__ import annotations

from dataclasses import replace

from ..._utils.typing import Array
from ..objective import Objective
from ._steps import ConjugateSteps, summing_to_one
from .solution import StoppingTest

SMALLEST = 1 << 20
"""In smaller tables, in values of X, the copy does not pay."""
LEAST_RCOND = 1e-4
"""Single precision loses too many digits if the labeled rows are worse conditioned."""
FEW_MOVED = 0.03
"""The last step in single precision comes after a pass in which at most this share of the classes
outside supports changed."""
MOST_STEPS = 8


def in_single(objective: Objective) -> Objective | None:
    """Return the objective on the rows in single precision; None if it would be of no use."""
    rows = objective.rows.in_memory
    if rows is None or not (objective.labeling.per_class and objective.direct):
        return None
    factor = objective.labeled_factor
    if rows.table.n_values < SMALLEST or factor is None or not factor.rcond >= LEAST_RCOND:
        return None
    single = rows.in_single()
    return None if single is None else replace(objective, rows=single)


def single_steps(
    objective: Objective, w: Array, test: StoppingTest | None
) -> tuple[Array, float, ConjugateSteps | None]:
    """Take steps until few rows change their piece; `objective` is in single precision.

    Returns the weights after the last step, the number of passes, and the steps, which have the
    curvature; None if it has too few digits. Steps are not searched along: those that do not lower
    J are the end.
    """
    steps = ConjugateSteps(objective, test)
    sweep = objective.sweep(summing_to_one(w) if objective.rows.intercept else w)
    n_passes = 1
    for _ in range(MOST_STEPS):
        w = sweep.w + steps(sweep)
        if not steps.solved:
            return sweep.w, n_passes + steps.products, None
        if steps.moved <= FEW_MOVED:
            return w, n_passes + steps.products, steps
        trial = objective.sweep(w, sweep.piece)
        n_passes += 1
        if not objective.value(trial) < objective.value(sweep):
            break
        sweep = trial
    return sweep.w, n_passes + steps.products, steps
