"""Solvers: silent functions from an objective and a start to one `Solution`."""

from ..curvature import copied_columns, fit_labeled
from .block_descent import block_descent
from .enumerate import enumerate_hard
from .hard_descent import batch_size, hard_descent
from .minimise import best_constant, minimise, with_rounded_intercept
from .newton import newton
from .solution import ActiveSet, EndPoint, Solution, State, Status, Step, StoppingTest
from .tracked_descent import Start, tracked_descent, turn_dial

__all__ = [
    "ActiveSet",
    "EndPoint",
    "Solution",
    "Start",
    "State",
    "Status",
    "Step",
    "StoppingTest",
    "batch_size",
    "best_constant",
    "block_descent",
    "copied_columns",
    "enumerate_hard",
    "fit_labeled",
    "hard_descent",
    "minimise",
    "newton",
    "tracked_descent",
    "turn_dial",
    "with_rounded_intercept",
]
