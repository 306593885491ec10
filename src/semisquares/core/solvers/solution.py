"""What a solver returns: one frozen Solution, with a Status whose members are the messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rows import Sweep

Array = NDArray[Any]


class Status(Enum):
    """Why a solver stopped."""

    EXACT = "exact: no row changed its side after a full step"
    LEAST_NORM = "exact: the minimiser of least norm, the limit of a vanishing ridge"
    GAP = "the certified relative gap reached tol"
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
    def says_exact(self) -> bool:
        """Whether it says that a soft solution is the optimum."""
        return self in (Status.EXACT, Status.LEAST_NORM)

    @property
    def converged(self) -> bool:
        """Whether the solver ended by itself."""
        return self not in (Status.MAX_ITER, Status.MAX_NODES, Status.CALLBACK)


@dataclass(frozen=True, eq=False)
class Step:
    """What a solver tells its callback after every step; a true answer stops it."""

    iteration: int
    w: Array
    value: float
    changed: int
    """How many rows are not on the side that they were taken to be on, their old one unless they
    were followed (Newton); or how many changed their label (block descent)."""
    labels: Array | None = None
    """The imputed labels of all rows (block descent only)."""
    half_value: float = np.nan
    """J with the new weights and the labels of the step before (block descent only)."""


Callback = Callable[[Step], bool | None]


@dataclass(frozen=True, eq=False)
class StoppingTest:
    """A bound on the suboptimality, computed from the half gradient, and what it has to reach."""

    bound: Callable[[Array], float]
    target: float

    def met(self, gradient: Array) -> bool:
        """Tell whether the bound has reached its target."""
        return self.bound(gradient) <= self.target


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The pieces of all rows and the Gram matrix of the active ones, handed from fit to fit."""

    piece: Any
    gram: Array

    def extended(self, n_rows: int) -> ActiveSet:
        """Return the set for further rows after these, none of them active yet."""
        piece = np.zeros(n_rows, dtype=self.piece.dtype)
        piece[: len(self.piece)] = self.piece
        return ActiveSet(piece, self.gram)


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
class Solution:
    """The end of a solver's run."""

    w: Array
    value: float
    """J at w, in the paper's scale."""
    z: Any
    """Decision values of all rows at w."""
    status: Status
    solver: str
    n_iter: int
    n_passes: float
    """How many times the rows were read, the multilevel start counted by its share of them."""
    labels: Any = None
    """The imputed labels where they are not a function of w alone (hard labels, early stops)."""
    bound: float = np.nan
    """A proven lower bound of the optimum, where the solver has one."""
    dependent: tuple[int, ...] = ()
    """Columns that are combinations of others, found where that made the solution ambiguous."""
    end_points: tuple[EndPoint, ...] = field(default=(), repr=False)
    """Where each start of a hard-label descent ended."""
    passes: tuple[Any, ...] = field(default=(), repr=False)
    """Every pass over rows in blocks: its seconds, and the bytes that were sent."""
    sweep: Sweep | None = field(default=None, repr=False)
    """What the solver's last pass over the rows told, where that was at w and a convex labeling."""
    active: ActiveSet | None = field(default=None, repr=False)
    """Newton's active set, a warm start for the next fit on the same rows."""
