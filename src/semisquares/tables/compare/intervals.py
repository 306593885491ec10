"""Intervals for means over folds, which share most of their training rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from .comparison import Estimate

__all__ = ["interval"]

Array = NDArray[Any]

LEVEL = 0.95


def interval(
    values: Array, ratio: float, *, lowest: float = -math.inf, highest: float = math.inf
) -> Estimate:
    """Estimate a mean over splits, with an interval that respects that they overlap.

    The corrected resampled t interval of Nadeau and Bengio, for repeated folds as in Bouckaert and
    Frank: with the mean m and the variance s² of J values, it is

        m ± t(J-1) √((1/J + n_test/n_train) s²)

    The usual s²/J would be right for J independent experiments. Splits of one table are not: more
    of them make the mean steadier for this table, but tell no more about others.

    Parameters
    ----------
    values : ndarray of shape (n_splits,)
        A score, or a difference of scores, of each split; NaN is left out.
    ratio : float
        Labeled rows in a test set for each one in its training set, 1/4 with five folds.
    lowest, highest : float
        What the mean can be at the least and at the most.

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
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * math.sqrt(variance)
    return Estimate(mean, max(mean - half, lowest), min(mean + half, highest))
