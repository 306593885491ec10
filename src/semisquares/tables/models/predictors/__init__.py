"""Fitted classifiers as plain data: they are stored, and predict without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .linear import LinearScores
from .protocol import Predictor

__all__ = ["PREDICTORS", "LinearScores", "Predictor", "read_predictor"]


PREDICTORS = {
    "linear": "linear.LinearScores",
    "logistic": "logistic.LogisticScores",
    "forest": "trees.ForestScores",
    "boosting": "trees.BoostingScores",
    "averaged": "averaged.AveragedScores",
}
"""The classes of predictors by their type, as modules of this folder; imported on first use."""


def read_predictor(plain: Mapping[str, Any]) -> Predictor:
    """Restore a predictor from its plain data.

    Examples
    --------
    >>> import numpy as np
    >>> scores = LinearScores(np.array([[2.0]]), np.array([-1.0]))
    >>> read_predictor(scores.to_plain()).decision(np.array([[3.0]])).tolist()
    [5.0]
    """
    module, name = PREDICTORS[plain["type"]].split(".")  # a type that a file names is never code
    found: Predictor = getattr(import_module(f".{module}", __name__), name).from_plain(plain)
    return found
