"""The result of a solver: a frozen Solution with a Status, whose values are the messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..curvature import Curvature
from ..rows import Sweep


class Status(Enum):
    """Why a solver stopped."""

    EXACT = "exact: no row changed its side after a full step"
    LEAST_NORM = "exact: the minimiser of least norm, the limit of a vanishing ridge"
    GAP = "the certified relative gap reached tol"
    BOUND = "the solver's bound, which ignores rounding, reached tol; certificate_ is proven"
    STABLE = "label-stable: imputing and refitting changes no label"
    TOLERATED = "the share of labels still changing reached tol"
    ENUMERATED = "exact: the best of all labelings"
    ROUNDING = "rounding allows no further descent"
    UNPROVEN = "rounding leaves the optimum unproven: see certificate_"
    CONSTANT = "rounding: no weights were found that beat the best constant, which was taken"
    MAX_ITER = "stopped at max_iter steps"
    MAX_NODES = "stopped at the limit of labelings looked at"
    CALLBACK = "stopped by a callback"

    @property
    def claims_optimum(self) -> bool:
        """Whether the solver claims that a soft solution is the exact optimum."""
        return self in (Status.EXACT, Status.LEAST_NORM)

    @property
    def converged(self) -> bool:
        """Whether the solver ended by itself."""
        return self not in (Status.MAX_ITER, Status.MAX_NODES, Status.CALLBACK)


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a solver, passed to its callback, which stops the solver by returning True."""

    iteration: int
    w: Array
    value: float
    changed: int
    """Rows whose active-set membership differs from the prediction (Newton), or whose label
    changed (block descent)."""
    labels: Array | None = None
    """The imputed labels of all rows (block descent only)."""
    half_value: float = np.nan
    """J with the new weights and the labels of the previous step (block descent only)."""


Callback = Callable[[Step], bool | None]


@dataclass(frozen=True, eq=False)
class StoppingTest:
    """A bound on the suboptimality, computed from half the gradient, and the target to reach."""

    bound: Callable[[Array], float]
    target: float

    def met(self, gradient: Array) -> bool:
        """Return whether the bound has reached its target."""
        return self.bound(gradient) <= self.target


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The pieces of all rows and a Gram matrix of active ones: a warm start for Newton."""

    piece: Any
    summed: tuple[Any, Array]
    """Pieces, these or those of an earlier step, and the Gram matrix of their active rows."""
    curvature: Curvature | None = None
    """The curvature of the labeled and the active rows, if it is known."""
    factored: Curvature | None = None
    """The same for the pieces that were summed."""


@dataclass(frozen=True, eq=False)
class EndPoint:
    """Where one start of a hard-label descent ended."""

    value: float
    labels: Array
    """The class of every row, as an index; labeled rows keep theirs."""
    status: Status
    n_iter: int

    @property
    def stable(self) -> bool:
        """Whether imputing and refitting changes no label."""
        return self.status is Status.STABLE


@dataclass(frozen=True, eq=False)
class State:
    """A solver's results for every row at w; the arrays have an entry for each row."""

    z: Any = None
    """Decision values."""
    labels: Any = None
    """Imputed labels, if w alone does not determine them (hard labels, early stops)."""
    sweep: Sweep | None = None
    """The pass over the rows at w, if the labeling is convex."""
    active: ActiveSet | None = None
    """Newton's active set, a warm start for the next fit on the same rows."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver."""

    w: Array
    value: float
    """J at w, in the paper's scale."""
    status: Status
    solver: str
    n_iter: int
    n_passes: float
    """Passes over the rows; those over a sample count by its share of the rows."""
    state: State = field(default=State(), repr=False)
    """The results for every row at w; empty in the `solution_` of a fitted classifier."""
    bound: float = np.nan
    """A proven lower bound of the optimum, or NaN."""
    end_points: tuple[EndPoint, ...] = field(default=(), repr=False)
    """Where each start of a hard-label descent ended."""
    passes: tuple[Any, ...] = field(default=(), repr=False)
    """Duration and traffic of every pass over rows that Dask holds."""
