"""How many labels are wrong: the share that no calibration of the classifier explains.

A label contradicts its row's leave-one-out probabilities P either because the classes overlap there
or because it is wrong. Only the second also happens where the classifier is sure. So the labels are
explained by probabilities q of the true class, sharper or flatter than P, and by an error rate ε:

    q(k | x) ∝ P(k | x)^b e^{c_k},    P(label g | x) = Σ_k q(k | x) T_kg

as the lapse rate of a psychometric function. P itself was calibrated to the labels, wrong ones
included, so b is larger than 1 if there are many of these. There are K + 1 patterns of errors:

    any class is mislabeled:        T_kk = 1 - ε, T_kg = ε / (K - 1) for all k, and c = 0
    only the class j is mislabeled: this for k = j, T_kk = 1 for others, and c = 0 but for c_j

The posterior distribution of pattern, ε, b and c_j, on grids, gives the probability that each label
is wrong, and the distribution of their number. A priori ε is uniform up to one half, log b and c_j
are standard normal, and the first pattern is as probable as all others together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, softmax

from .._utils.typing import Array

__all__ = ["LEVEL", "WrongLabels", "find_wrong_labels"]


LEVEL = 0.9
"""Probability of the interval for the number of wrong labels."""
MOST_WRONG = 0.5
"""The largest error rate: labels of which more are wrong teach nothing."""
EXPONENTS = (0.5, 8.0)
"""The range of b."""
FARTHEST = 3.0
"""The largest offset c_j, up or down."""
N_RATES, N_EXPONENTS, N_OFFSETS = 25, 17, 9
"""Points of the grid."""
NEGLIGIBLE = 1e-5
"""Probabilities below this part of the largest are left out when a grid is narrowed."""
SKIPPED = 1e-3
"""The same for points and patterns, when the probabilities of all labels are averaged."""
MOST_LABELS = 2000
"""The posterior distribution is that of at most as many labels, spread over their probabilities."""
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
    n_labels, n_classes = proba.shape
    labels = _Labels(np.log(np.maximum(proba, _TINY)), codes)
    sample = labels.sample(MOST_LABELS)
    grids = [_Grid.of(sample, j, n_labels) for j in (None, *range(n_classes))]
    prior = np.log([0.5, *[0.5 / n_classes] * n_classes])
    shares = softmax(np.array([grid.evidence for grid in grids]) + prior)
    kept = shares > SKIPPED * shares.max()
    shares = shares[kept] / shares[kept].sum()
    grids = [grid for grid, is_kept in zip(grids, kept, strict=True) if is_kept]
    pairs = list(zip(shares, grids, strict=True))
    wrong = sum((share * grid.probabilities(labels) for share, grid in pairs), np.zeros(n_labels))
    weights = np.concatenate([share * grid.posterior.ravel() for share, grid in pairs])
    means = np.concatenate([grid.means.ravel() for grid in grids])
    variances = np.concatenate([grid.variances.ravel() for grid in grids])
    low, high = _interval(weights, means, variances, n_labels)
    return WrongLabels(wrong, float(wrong.sum()), low, high)


@dataclass(frozen=True, eq=False)
class _Labels:
    """Logarithms of leave-one-out probabilities, and what the labels say."""

    logs: Array
    codes: Array

    @property
    def own(self) -> Array:
        return self.logs[np.arange(len(self.codes)), self.codes]

    def sample(self, most: int) -> _Labels:
        """Return some of the labels, evenly spread over their probabilities."""
        n = len(self.codes)
        if n <= most:
            return self
        some = np.argsort(self.own, kind="stable")[(2 * np.arange(most) + 1) * n // (2 * most)]
        return _Labels(self.logs[some], self.codes[some])

    def explained(
        self, mislabeled: int | None, slope: float, offsets: Array, rates: Array
    ) -> tuple[Array, Array]:
        """Return the probability of each label, and that of it as a wrong one over the rate.

        The first has the shape offsets × rates × labels, the second offsets × 1 × labels.
        """
        n_labels, n_classes = self.logs.shape
        rows, lift = np.arange(n_labels), np.exp(offsets)[:, None]
        scores = np.exp(slope) * self.logs
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        own = odds[rows, self.codes]
        if mislabeled is None:
            total = odds.sum(axis=1)
            odds[rows, self.codes] = 0.0  # total - own would lose the digits of small odds
            others, may_be_wrong = odds.sum(axis=1), np.ones(n_labels, dtype=bool)
        else:
            may_be_wrong = self.codes == mislabeled
            lifted = odds[:, mislabeled] * lift
            odds[:, mislabeled] = 0.0
            total = odds.sum(axis=1) + lifted
            own = np.where(may_be_wrong, lifted, own)
            others = np.where(may_be_wrong, 0.0, lifted)
        shape = (len(offsets), 1, n_labels)
        own = np.maximum(own / total, _TINY).reshape(shape)
        wrong = (others / total / (n_classes - 1)).reshape(shape)
        both = (wrong - np.where(may_be_wrong, own, 0.0)) * rates[:, None]
        both += own
        return both, wrong


@dataclass(frozen=True, eq=False)
class _Grid:
    """The posterior distribution of one pattern: exponents × offsets × rates."""

    mislabeled: int | None
    """The class that is mislabeled; None for any."""
    slopes: Array
    """Values of log b."""
    offsets: Array
    rates: Array
    posterior: Array
    evidence: float
    """The logarithm of the probability of all labels."""
    means: Array
    variances: Array
    """Mean and variance of the number of wrong labels, at each point."""

    @classmethod
    def of(cls, labels: _Labels, mislabeled: int | None, n_labels: int) -> _Grid:
        """Find the range that is not negligible, then fill it; `labels` stand for `n_labels`."""
        slopes = np.linspace(np.log(EXPONENTS[0]), np.log(EXPONENTS[1]), N_EXPONENTS)
        offsets = np.linspace(-FARTHEST, FARTHEST, N_OFFSETS)
        offsets = np.zeros(1) if mislabeled is None else offsets
        rates = np.linspace(0.0, MOST_WRONG, N_RATES)
        logs = _log_posterior(labels, mislabeled, (slopes, offsets, rates), n_labels)
        mass = np.exp(logs - logs.max())
        slopes = _narrowed(slopes, mass.sum(axis=(1, 2)))
        offsets = _narrowed(offsets, mass.sum(axis=(0, 2)))
        rates = _narrowed(rates, mass.sum(axis=(0, 1)))
        axes = (slopes, offsets, rates)
        means, variances = (np.empty([len(axis) for axis in axes]) for _ in range(2))
        logs = _log_posterior(labels, mislabeled, axes, n_labels, (means, variances))
        posterior = np.exp(logs - logs.max())
        volume = np.prod([np.ptp(axis) / len(axis) for axis in axes if len(axis) > 1])
        density = 1.0 if mislabeled is None else np.sqrt(2.0 * np.pi)  # of the offset's prior
        evidence = logs.max() + np.log(posterior.sum() * volume / density)
        posterior /= posterior.sum()
        return cls(mislabeled, *axes, posterior, float(evidence), means, variances)

    def probabilities(self, labels: _Labels) -> Array:
        """Return the probability of each label to be wrong."""
        found = np.zeros(len(labels.codes))
        for slope, offset, weights in self._points():
            (both,), (wrong,) = labels.explained(self.mislabeled, slope, offset, self.rates)
            found += np.einsum("r,rl->l", weights * self.rates, wrong / both)
        return found

    def _points(self) -> Iterator[tuple[float, Array, Array]]:
        """Yield the points that are not negligible, with the posterior distribution of rates."""
        mass = self.posterior.sum(axis=2)
        kept = mass > SKIPPED * mass.max()
        for i, j in np.argwhere(kept):
            yield self.slopes[i], self.offsets[[j]], self.posterior[i, j] / mass[kept].sum()


def _log_posterior(
    labels: _Labels,
    mislabeled: int | None,
    axes: tuple[Array, Array, Array],
    n_labels: int,
    moments: tuple[Array, Array] | None = None,
) -> Array:
    """Return the logarithms of the posterior, up to a constant; fill in the moments if given.

    The moments are mean and variance of the number of wrong labels.
    """
    slopes, offsets, rates = axes
    each = n_labels / max(1, len(labels.codes))
    logs = np.empty([len(axis) for axis in axes])
    for i, slope in enumerate(slopes):
        both, wrong = labels.explained(mislabeled, slope, offsets, rates)
        prior = -0.5 * (slope**2 + offsets[:, None] ** 2)
        logs[i] = each * np.log(both).sum(axis=2) + prior
        if moments is not None:
            p = np.divide(wrong, both, out=both)
            p *= rates[:, None]
            mean = p.sum(axis=2)
            moments[0][i] = each * mean
            moments[1][i] = each * np.maximum(mean - np.einsum("orl,orl->or", p, p), 0.0)
    return logs


def _narrowed(points: Array, mass: Array) -> Array:
    """Return as many points in the range that is not negligible."""
    kept = np.flatnonzero(mass > NEGLIGIBLE * mass.max())
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, len(points) - 1)
    return np.linspace(points[first], points[last], len(points))


def _interval(weights: Array, means: Array, variances: Array, n_labels: int) -> tuple[int, int]:
    """Return an interval for the number of wrong labels, normal at each point of the grids."""
    kept = weights > NEGLIGIBLE * weights.max()
    weights = weights[kept] / weights[kept].sum()
    centre, spread = means[kept], np.sqrt(variances[kept] + _TINY)

    def first_above(probability: float) -> int:
        low, high = -1, n_labels
        while high - low > 1:
            middle = (low + high) // 2
            above = weights @ ndtr((middle + 0.5 - centre) / spread) >= probability
            low, high = (low, middle) if above else (middle, high)
        return high

    return first_above((1.0 - LEVEL) / 2.0), first_above((1.0 + LEVEL) / 2.0)
