"""Search for the minimum of J along a step.

The slope is piecewise linear and rises. It needs no pass over the rows, because decision values are
linear along the step.
"""

from __future__ import annotations

from scipy.optimize import brentq

from ..objective import Objective
from ..rows import Sweep


def exact_search(objective: Objective, first: Sweep, second: Sweep, *, rtol: float = 1e-9) -> float:
    """Return the minimiser of J on the segment from one sweep (0) to another (1).

    The minimiser may be tiny, so `rtol` bounds its relative error.
    """
    if objective.slope(first, second, 0.0) >= 0.0:  # only rounding is left
        return 0.0
    if objective.slope(first, second, 1.0) <= 0.0:
        return 1.0
    return float(
        brentq(
            lambda t: objective.slope(first, second, t),
            0.0,
            1.0,
            xtol=1e-20,
            rtol=rtol,
            maxiter=200,
            disp=False,
        )
    )
