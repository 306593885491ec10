"""Linear decision values: what is kept of a fitted least squares classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...._utils.typing import Array
from ....core.labelings import soft_labels
from ._checks import is_floats
from ._replacing import linear_changes
from .protocol import Predictor

__all__ = ["LinearScores"]


@dataclass(frozen=True, eq=False)
class LinearScores(Predictor):
    """Decision values ``X coef' + intercept``, z less ½, and the soft labels that follow."""

    type: ClassVar[str] = "linear"
    coef: Array
    """(1, n_features) for two classes, else (n_classes, n_features)."""
    intercept: Array
    """(1,) or (n_classes,)."""

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and soft labels."""
        return self._scored(X @ self.coef.T + self.intercept)

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and soft labels with one column after the other replaced."""
        scores = X @ self.coef.T + self.intercept
        for change in linear_changes(X, columns, values, self.coef.T):
            yield self._scored(scores - change)

    def _scored(self, scores: Array) -> tuple[Array, Array]:
        decision = scores[:, 0] if scores.shape[1] == 1 else scores
        return decision, self.soft_labels(decision)

    def soft_labels(self, decision: Array) -> Array:
        """Return the soft labels, (n, n_classes)."""
        return soft_labels(decision + 0.5)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it has weights for these features and classes, all finite."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return is_floats(self.coef, n_outputs, n_features) and is_floats(self.intercept, n_outputs)

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"type": self.type, "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LinearScores:
        """Restore it from plain data."""
        return cls(plain["coef"], plain["intercept"])
