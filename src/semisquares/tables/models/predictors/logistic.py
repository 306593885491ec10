"""Logistic regression: linear decision values, and the probabilities that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from ...._utils.typing import Array
from ._checks import is_floats
from ._replacing import linear_changes
from .protocol import Predictor

__all__ = ["LogisticScores", "logistic_probabilities"]


@dataclass(frozen=True, eq=False)
class LogisticScores(Predictor):
    """Decision values f = ``X coef' + intercept``; probabilities 1 / (1 + exp(-f)), or softmax."""

    type: ClassVar[str] = "logistic"
    coef: Array
    """(1, n_features) for two classes, else (n_classes, n_features)."""
    intercept: Array
    """(1,) or (n_classes,)."""

    @classmethod
    def of(cls, model: Any) -> LogisticScores:
        """Take the weights of a fitted LogisticRegression."""
        coef, intercept = (np.array(w, dtype=np.float64) for w in (model.coef_, model.intercept_))
        return cls(coef, intercept)

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities."""
        return logistic_probabilities(X @ self.coef.T + self.intercept)

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and probabilities with one column after the other replaced."""
        scores = X @ self.coef.T + self.intercept
        for change in linear_changes(X, columns, values, self.coef.T):
            yield logistic_probabilities(scores - change)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it is for this many features and classes, and finite."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return is_floats(self.coef, n_outputs, n_features) and is_floats(self.intercept, n_outputs)

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"type": self.type, "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LogisticScores:
        """Restore it from plain data."""
        return cls(plain["coef"], plain["intercept"])


def logistic_probabilities(scores: Array) -> tuple[Array, Array]:
    """Return decision values and probabilities for scores, one column if binary.

    Examples
    --------
    >>> decision, probabilities = logistic_probabilities(np.array([[0.0], [np.log(3.0)]]))
    >>> probabilities.tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if scores.shape[1] > 1:
        return scores, softmax(scores, axis=1)
    second = expit(scores[:, 0])
    return scores[:, 0], np.column_stack((1.0 - second, second))
