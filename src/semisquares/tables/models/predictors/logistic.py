"""Logistic regression: linear decision values, and the probabilities that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from ...._utils.typing import Array
from ._coefficients import CoefficientScores

__all__ = ["LogisticScores", "logistic_probabilities"]


@dataclass(frozen=True, eq=False)
class LogisticScores(CoefficientScores):
    """Decision values f, and the probabilities 1 / (1 + exp(-f)), or softmax."""

    type: ClassVar[str] = "logistic"

    @classmethod
    def of(cls, model: Any) -> LogisticScores:
        """Take the weights of a fitted LogisticRegression."""
        coef, intercept = (np.array(w, dtype=np.float64) for w in (model.coef_, model.intercept_))
        return cls(coef, intercept)

    def scored(self, scores: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities."""
        return logistic_probabilities(scores)


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
