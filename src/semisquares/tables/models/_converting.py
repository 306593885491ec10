"""From fitted classifiers to predictors, which are plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from ...estimators import AveragedClassifier
from ..errors import TableError
from .predictors import LinearScores, Predictor
from .predictors.averaged import AveragedScores
from .predictors.logistic import LogisticScores
from .predictors.trees import BoostingScores, ForestScores

__all__ = ["predictor_of"]

_CLASSES: tuple[tuple[type[Any], Any], ...] = (
    (AveragedClassifier, AveragedScores),
    (LogisticRegression, LogisticScores),
    (RandomForestClassifier, ForestScores),
    (HistGradientBoostingClassifier, BoostingScores),
)


def predictor_of(classifier: Any) -> Predictor:
    """Return a fitted classifier of codes 0, 1, … as plain data.

    Examples
    --------
    >>> from semisquares import LeastSquaresClassifier
    >>> X, codes = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> predictor_of(LeastSquaresClassifier(0.0).fit(X, codes)).decision(X).round(2).tolist()
    [-0.5, 0.5]
    """
    name = type(classifier).__name__
    for kind, predictor in _CLASSES:
        if isinstance(classifier, kind):
            try:
                found: Predictor = predictor.of(classifier)
            except ValueError as error:
                raise TableError(
                    f"The fitted {name} cannot be stored: {error}; change its parameters.",
                    code="not_storable",
                ) from error
            return found
    if not hasattr(classifier, "coef_"):
        raise TableError(
            f"A fitted {name} cannot be stored; use a classifier of semisquares, logistic "
            "regression, a random forest or histogram gradient boosting.",
            code="not_storable",
        )
    return LinearScores(np.asarray(classifier.coef_), np.asarray(classifier.intercept_))
