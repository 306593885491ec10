"""Confidence intervals for means over folds, which share training rows and test few rows."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import betaincinv, stdtrit

from ..._utils.typing import Array
from .comparison import Estimate

__all__ = ["honest_gain", "honest_gains", "honest_score", "honest_scores", "interval", "unseen"]


LEVEL = 0.95
_COUNTED = ("accuracy", "balanced_accuracy")
"""Metrics that count rows: by chance they may be the same in all folds, unlike the others."""


def interval(
    values: Array,
    ratio: float,
    *,
    lowest: float = -math.inf,
    highest: float = math.inf,
    level: float = LEVEL,
) -> Estimate:
    """Estimate a mean over splits, with an interval that allows for their overlap.

    The corrected resampled t interval of Nadeau and Bengio, for repeated folds as in Bouckaert and
    Frank: with the mean m and the variance s² of J values, it is

        m ± t(J-1) √((1/J + n_test/n_train) s²)

    The usual s²/J is right for J independent experiments. Splits of one table are not independent:
    more of them reduce the variance for this table, but say nothing more about other tables.

    Parameters
    ----------
    values : ndarray of shape (n_splits,)
        A score, or a difference of scores, for each split; NaN is left out.
    ratio : float
        Labeled rows in the test set divided by those in the training set: 1/4 with five folds.
    lowest, highest : float
        The smallest and the largest value that the mean can have.
    level : float, default=0.95
        The probability that the interval contains the mean.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.
    Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for
    comparing learning algorithms. PAKDD.

    Examples
    --------
    >>> import numpy as np
    >>> found = interval(np.array([0.1, 0.2, 0.3, 0.2]), 1 / 4)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.016, 0.384)
    """
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values)]
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    if n < 2:
        return Estimate(mean, math.nan, math.nan)
    variance = (1 / n + ratio) * float(values.var(ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(variance)
    return Estimate(mean, max(mean - half, lowest), min(mean + half, highest))


def unseen(n_labels: int) -> float:
    """Return the share of rows that may differ although no labeled row does: 1 - 0.05^(1/L).

    If two classifiers differ on this share of all rows, they still agree on all of L labeled rows
    with a probability of 5 %.

    Examples
    --------
    >>> round(unseen(30), 3), round(unseen(300), 4)
    (0.095, 0.0099)
    """
    return 1.0 - (1.0 - LEVEL) ** (1.0 / n_labels)


def honest_gain(gain: Estimate, n_labels: int) -> Estimate:
    """Widen the interval of a difference of accuracies to what the number of labels allows.

    It extends at least `unseen` to both sides: if the difference is the same in all folds, such as
    0, their interval has no width. It is cut at -1 and 1.

    Examples
    --------
    >>> found = honest_gain(Estimate(0.0, 0.0, 0.0), 30)
    >>> round(found.low, 3), round(found.high, 3)
    (-0.095, 0.095)
    """
    half = unseen(n_labels)
    return _around(gain, gain.mean - half, gain.mean + half, -1.0)


def honest_score(score: Estimate, n_labels: int) -> Estimate:
    """Widen the interval of an accuracy, or of an error, to what the number of labels allows.

    It includes the Clopper-Pearson interval for testing each of L labels once. Stratified folds can
    hide variance: always answering the same class is right equally often in each of them.

    Examples
    --------
    >>> found = honest_score(Estimate(0.8, 0.8, 0.8), 150)
    >>> round(found.low, 3), round(found.high, 3)
    (0.727, 0.861)
    """
    right = score.mean * n_labels
    wrong, tail = n_labels - right, (1.0 - LEVEL) / 2
    low = betaincinv(right, wrong + 1.0, tail) if right > 0.0 else 0.0
    high = betaincinv(right + 1.0, wrong, 1.0 - tail) if wrong > 0.0 else 1.0
    return _around(score, float(low), float(high), 0.0)


def honest_scores(scores: Mapping[str, Estimate], n_labels: int) -> dict[str, Estimate]:
    """Widen the intervals of a classifier's scores to what the number of labels allows.

    `honest_score` applies to accuracies, and to the AUC if its interval has no width. The squared
    loss stays as it is: it varies with every row.

    Examples
    --------
    >>> found = honest_scores({"auc": Estimate(1.0, 1.0, 1.0)}, 20)
    >>> round(found["auc"].low, 2), found["auc"].high
    (0.83, 1.0)
    """
    found = {}
    for metric, score in scores.items():
        if metric in _COUNTED or (metric == "auc" and _flat(score)):
            found[metric] = honest_score(score, n_labels)
        else:
            found[metric] = _around(score, score.low, score.high, 0.0) if metric == "auc" else score
    return found


def honest_gains(gains: Mapping[str, Estimate], n_labels: int) -> dict[str, Estimate]:
    """Widen the intervals of differences of scores to what the number of labels allows.

    `honest_gain` applies to accuracies, and to the others if their intervals have no width.

    Examples
    --------
    >>> found = honest_gains({"auc": Estimate(0.1, -0.9, 1.1)}, 20)
    >>> found["auc"].low, found["auc"].high
    (-0.9, 1.0)
    """
    found = {}
    for metric, gain in gains.items():
        if metric in _COUNTED or _flat(gain):
            found[metric] = honest_gain(gain, n_labels)
        else:  # squared losses with many classes may differ by more than 1
            found[metric] = _around(gain, gain.low, gain.high, -1.0) if metric == "auc" else gain
    return found


def _flat(found: Estimate) -> bool:
    """Tell whether an interval has no width."""
    return found.low == found.high


def _around(found: Estimate, low: float, high: float, lowest: float) -> Estimate:
    """Extend an interval to include another one, cut at the values that are possible."""
    if math.isnan(found.low):
        return found
    return Estimate(found.mean, max(min(found.low, low), lowest), min(max(found.high, high), 1.0))
