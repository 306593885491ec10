"""Linear decision values: what is kept of a fitted least squares classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...._utils.typing import Array
from ....core.labelings import soft_labels
from ._coefficients import CoefficientScores

__all__ = ["LinearScores"]


@dataclass(frozen=True, eq=False)
class LinearScores(CoefficientScores):
    """Decision values, z less ½, and the soft labels that follow."""

    type: ClassVar[str] = "linear"

    def scored(self, scores: Array) -> tuple[Array, Array]:
        """Return decision values and soft labels."""
        decision = scores[:, 0] if scores.shape[1] == 1 else scores
        return decision, self.soft_labels(decision)

    def soft_labels(self, decision: Array) -> Array:
        """Return the soft labels, (n, n_classes)."""
        return soft_labels(decision + 0.5)
