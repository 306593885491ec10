"""How many labels are wrong: the share that no calibration of the classifier explains.

A label contradicts its row's leave-one-out probabilities P either because the classes overlap there
or because it is wrong. Only the second also happens where the classifier is sure. So the labels are
explained by probabilities of the true class, sharper or flatter than P, and by an error rate ε:

    q(k | x) ∝ P(k | x)^b,      P(label g | x) = (1 - ε) q(g | x) + ε (1 - q(g | x)) / (K - 1)

as the lapse rate of a psychometric function. P itself was calibrated to the labels, wrong ones
included, so b is larger than 1 if there are many of these. The posterior distribution of ε and b,
on a grid, with ε uniform up to one half and log b normal around 0, gives the probability that each
label is wrong, and the distribution of their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .._utils.typing import Array

__all__ = ["LEVEL", "WrongLabels", "find_wrong_labels"]


LEVEL = 0.9
"""Probability of the interval for the number of wrong labels."""
MOST_WRONG = 0.5
"""The largest error rate: labels of which more are wrong teach nothing."""
EXPONENTS = (0.5, 8.0)
"""The range of b."""
POINTS = 41
"""Points of the grid along each axis."""
NEGLIGIBLE = 1e-5
"""Probabilities below this part of the largest are left out when the grid is narrowed."""
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class WrongLabels:
    """What is known about wrong labels."""

    probability: Array
    """The probability that each label is wrong."""
    expected: float
    """The expected number of wrong labels."""
    low: int
    high: int
    """An interval that holds their number with probability `LEVEL`."""


def find_wrong_labels(proba: Array, codes: Array) -> WrongLabels:
    """Estimate how many labels are wrong, and how probably each is.

    Parameters
    ----------
    proba : ndarray of shape (n_labeled, n_classes)
        Leave-one-out probabilities.
    codes : ndarray of shape (n_labeled,)
        The classes that the labels say.

    Examples
    --------
    >>> sure = np.tile([[0.95, 0.05]], (100, 1))
    >>> found = find_wrong_labels(sure, np.r_[np.ones(5, dtype=int), np.zeros(95, dtype=int)])
    >>> bool(found.low <= 5 <= found.high), bool(found.probability[0] > found.probability[-1])
    (True, True)
    """
    logs = np.log(np.maximum(proba, _TINY))
    rates = np.linspace(0.0, MOST_WRONG, POINTS)
    slopes = np.linspace(np.log(EXPONENTS[0]), np.log(EXPONENTS[1]), POINTS)
    posterior = _posterior(logs, codes, rates, slopes)
    rates = _narrowed(rates, posterior.sum(axis=0))
    slopes = _narrowed(slopes, posterior.sum(axis=1))
    posterior = _posterior(logs, codes, rates, slopes)
    wrong = np.zeros(len(codes))
    means, variances = np.empty_like(posterior), np.empty_like(posterior)
    for i, slope in enumerate(slopes):
        right, other = _explanations(logs, codes, rates, slope)
        p = other / (right + other)
        means[i], variances[i] = p.sum(axis=0), (p * (1.0 - p)).sum(axis=0)
        wrong += p @ posterior[i]
    low, high = _interval(posterior, means, variances, len(codes))
    return WrongLabels(wrong, float(wrong.sum()), low, high)


def _explanations(logs: Array, codes: Array, rates: Array, slope: float) -> tuple[Array, Array]:
    """Return the probabilities of each label, right and wrong: labels × rates."""
    powers = np.exp(np.exp(slope) * (logs - logs.max(axis=1, keepdims=True)))
    own = powers[np.arange(len(codes)), codes]
    total = powers.sum(axis=1)
    # not as 1 - own / total, which would lose the small probabilities of other classes
    powers[np.arange(len(codes)), codes] = 0.0
    others = powers.sum(axis=1) / total
    right = np.outer(np.maximum(own / total, _TINY), 1.0 - rates)
    return right, np.outer(others, rates / (logs.shape[1] - 1))


def _posterior(logs: Array, codes: Array, rates: Array, slopes: Array) -> Array:
    """Return the posterior probabilities of a grid: slopes × rates."""
    found = np.empty((len(slopes), len(rates)))
    for i, slope in enumerate(slopes):
        right, wrong = _explanations(logs, codes, rates, slope)
        found[i] = np.log(right + wrong).sum(axis=0) - 0.5 * slope**2
    found = np.exp(found - found.max())
    return np.asarray(found / found.sum())


def _narrowed(points: Array, mass: Array) -> Array:
    """Return as many points in the range that is not negligible."""
    kept = np.flatnonzero(mass > NEGLIGIBLE * mass.max())
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, len(points) - 1)
    return np.linspace(points[first], points[last], len(points))


def _interval(posterior: Array, means: Array, variances: Array, n_labels: int) -> tuple[int, int]:
    """Return an interval for the number of wrong labels, normal at each point of the grid."""
    weights = posterior.ravel()
    kept = weights > NEGLIGIBLE * weights.max()
    weights = weights[kept] / weights[kept].sum()
    centre, spread = means.ravel()[kept], np.sqrt(variances.ravel()[kept] + _TINY)

    def first_above(probability: float) -> int:
        low, high = -1, n_labels
        while high - low > 1:
            middle = (low + high) // 2
            above = weights @ ndtr((middle + 0.5 - centre) / spread) >= probability
            low, high = (low, middle) if above else (middle, high)
        return high

    return first_above((1.0 - LEVEL) / 2.0), first_above((1.0 + LEVEL) / 2.0)
