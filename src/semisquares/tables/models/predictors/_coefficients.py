"""Classifiers with a weight for each feature: what linear and logistic scores have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ...._utils.typing import Array
from ._checks import is_floats
from ._replacing import linear_changes
from .protocol import Predictor

__all__ = ["CoefficientScores"]


@dataclass(frozen=True, eq=False)
class CoefficientScores(Predictor):
    """Scores ``X coef' + intercept``; subclasses say what follows from them."""

    coef: Array
    """(1, n_features) for two classes, else (n_classes, n_features)."""
    intercept: Array
    """(1,) or (n_classes,)."""

    @abstractmethod
    def scored(self, scores: Array) -> tuple[Array, Array]:
        """Return decision values, and soft labels or probabilities, for scores (n, n_outputs)."""

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values, and soft labels or probabilities."""
        return self.scored(X @ self.coef.T + self.intercept)

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the same with one column after the other replaced: its part of the sum changes."""
        scores = X @ self.coef.T + self.intercept
        for change in linear_changes(X, columns, values, self.coef.T):
            yield self.scored(scores - change)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it has weights for these features and classes, all finite."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return is_floats(self.coef, n_outputs, n_features) and is_floats(self.intercept, n_outputs)

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"type": self.type, "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Restore it from plain data."""
        return cls(plain["coef"], plain["intercept"])
