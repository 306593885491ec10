"""Scores of predictions: balanced accuracy, log loss and calibration error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SCORES = ("log_loss", "balanced", "calibration")
"""The names of the stored tables; the first and the last need probabilities."""
LEAST = 1e-15
"""Probabilities are clipped here before their logarithm is taken."""
BINS = 15
DIGITS = 5


def scores(truth: Array, predicted: Array, probabilities: Array | None) -> dict[str, float]:
    """Return all scores, NaN for those that need probabilities if there are none.

    They are rounded to five digits, as they are stored, so that a run that continues from the
    stored tables gives the same scores.
    """
    found = dict.fromkeys(SCORES, np.nan)
    found["balanced"] = balanced_accuracy(truth, predicted)
    if probabilities is not None:
        found["log_loss"] = log_loss(truth, probabilities)
        found["calibration"] = calibration_error(truth, predicted, probabilities)
    return {name: float(f"{value:.{DIGITS}g}") for name, value in found.items()}


def log_loss(truth: Array, probabilities: Array) -> float:
    """Return the mean of -log p of the true class, p clipped to 1e-15 … 1 - 1e-15.

    Examples
    --------
    >>> round(log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.75, 0.25]])), 4)
    1.0397
    """
    given = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.clip(given, LEAST, 1.0 - LEAST)).mean())


def balanced_accuracy(truth: Array, predicted: Array) -> float:
    """Return the mean over classes of the share of their rows that are classified correctly.

    Examples
    --------
    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.zeros(4))
    0.5
    """
    return float(np.mean([(predicted[truth == k] == k).mean() for k in np.unique(truth)]))


def calibration_error(truth: Array, predicted: Array, probabilities: Array) -> float:
    """Return the expected calibration error.

    The confidence of a row is the probability of its predicted class. Rows are put into 15 bins
    of equal width by it; the error is the mean over rows of |accuracy - mean confidence| of a bin.

    Examples
    --------
    >>> three_of_four = np.array([0, 0, 0, 1])
    >>> calibration_error(three_of_four, np.zeros(4, int), np.tile([0.75, 0.25], (4, 1)))
    0.0
    >>> calibration_error(three_of_four, np.zeros(4, int), np.tile([1.0, 0.0], (4, 1)))
    0.25
    """
    confidence = probabilities[np.arange(len(truth)), predicted]
    excess = (predicted == truth) - confidence
    bins = np.clip(np.ceil(BINS * confidence).astype(int) - 1, 0, BINS - 1)
    return float(np.abs(np.bincount(bins, excess, BINS)).sum() / len(truth))
