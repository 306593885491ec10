"""What passes over the rows tell; the same of rows in memory and of rows in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Sweep:
    """What one pass over the rows tells about weights w under a convex labeling."""

    w: Array
    z: Any
    """Decision values of all rows: an array, or a handle of rows in blocks."""
    piece: Any
    """On which piece of the labeling each row is (`Labeling.piece`)."""
    loss: float
    """Σ a ‖z - t‖², with t the known or imputed label and a the weight of a row."""
    gradient: Array
    """Half the gradient of the loss in w."""
    changed: int
    """How many rows are on another piece than they were taken to be on (the first time: all).

    That is their piece in the sweep before, or the one that a step was to bring them to."""
    squares: float
    """At least Σ a ‖x‖² over all rows: how large the sums are whose rounding is bounded."""


@dataclass(frozen=True, eq=False)
class Relabeling:
    """What one pass over the rows tells when their labels are filled in anew."""

    labels: Any
    """The new labels of all rows (those of labeled rows are not used)."""
    moment: Array
    """Σ a x t over all rows: the right-hand side of the next fit."""
    loss_before: Array
    """Σ a (z - t)² plus the labeling's penalty, with the labels as they were."""
    loss: Array
    """The same with the new labels."""
    changed: Array
    """How many unlabeled rows have another label."""
