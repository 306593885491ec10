"""What more labels are expected to bring: the learning curve of the error, extrapolated.

The error of a classifier with m labels is modelled as a power law with a floor,

    error(m) = floor + b m^(-c),      floor ≥ 0, b ≥ 0, ¼ ≤ c ≤ 1,

and measured at three numbers of labels: with all L of them by the out-of-sample probabilities of
the fit, and with L/2 and L/4, drawn at random (whole groups of rows, if there are any), on the
labeled rows that were left out. The law goes through the error with all labels, which is measured
best, and b is fitted to the other two by least squares. Between exponents the three errors cannot
tell much, so the interval covers all of them: it is the central 95 % of resamples of the labeled
rows (or groups), each with its own exponent from the range.

The labels are assumed to be drawn at random, those so far and those to come.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._inputs.labels import read_labels
from .._utils.typing import Array
from ..estimators import AveragedClassifier

__all__ = ["Expectation", "expect", "extrapolate"]

FEWEST = 20
"""Labels that are needed to say anything."""
SHARES = (0.5, 0.25)
"""Shares of the labels that the smaller fits have."""
DRAWS = 4
"""Fits with each share of the labels."""
MOST_FITTED = 2_000
"""Labels of the smaller fits at most: beyond that the curve is flat, and fits take long."""
EXPONENTS = (0.25, 0.5, 0.75, 1.0)
RESAMPLES = 1_000
LEVEL = 0.95


@dataclass(frozen=True)
class Expectation:
    """Errors, as shares of the rows: now, and with more labels."""

    n_labels: int
    n_more: int
    now: float
    """Measured out of sample, on the labeled rows."""
    then: float
    low: float
    """The 95 % interval of `then` is from `low` to `high`."""
    high: float
    at_half: float
    """Measured with half of the labels, and with a quarter."""
    at_quarter: float

    @property
    def gain(self) -> float:
        """By how much the error is expected to fall."""
        return self.now - self.then


def expect(
    model: AveragedClassifier, X: Any, y: Any, n_more: int, *, groups: Any = None, seed: int = 0
) -> Expectation | None:
    """Estimate the error with more labels.

    Parameters
    ----------
    model : AveragedClassifier
        Fitted to X, y and groups.
    X, y, groups
        As in the fit.
    n_more : int
        The number of labels to add.
    seed : int, default=0
        Seed of the draws and resamples.

    Returns
    -------
    expectation : Expectation or None
        None if the labels are too few: less than 20, or two classes cannot be drawn.
    """
    labels = read_labels(y, unlabeled=model.unlabeled, n_rows=X.shape[0])
    places = model.loo_indices_
    codes = labels.codes[np.searchsorted(labels.labeled, places)]
    units = _units(groups, places)
    if len(places) < FEWEST:
        return None
    rng = np.random.default_rng(seed)
    wrong = [np.asarray(model.loo_proba_.argmax(axis=1) != codes, dtype=np.float64)]
    sizes = [float(len(places))]
    for share in SHARES:
        found, size = _wrong_without(model, X, (places, codes, units, groups), share, rng)
        if not size:
            return None
        wrong.append(found)
        sizes.append(size)
    then, low, high = extrapolate(np.array(wrong), np.array(sizes), n_more, units, rng)
    now, half, quarter = (float(np.nanmean(one)) for one in wrong)
    return Expectation(len(places), n_more, now, then, low, high, half, quarter)


def extrapolate(
    wrong: Array, sizes: Array, n_more: int, units: Array, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the error with more labels and its 95 % interval.

    Parameters
    ----------
    wrong : ndarray of shape (3, n_labels)
        How often each labeled row is misclassified by a fit without it, with the numbers of labels
        in `sizes`; NaN if there was no such fit.
    sizes : ndarray of shape (3,)
        Descending.
    n_more : int
        Labels to be added to `sizes[0]`.
    units : ndarray of shape (n_labels,)
        The group of each labeled row, numbered from 0; groups are resampled.
    rng : Generator

    Examples
    --------
    >>> wrong = np.repeat([[0.10], [0.15], [0.25]], 80, axis=1)      # 0.05 + 4 / m
    >>> sizes, rng = np.array([80, 40, 20]), np.random.default_rng(0)
    >>> found = extrapolate(wrong, sizes, 80, np.arange(80), rng)
    >>> round(found[0], 4), found[1] <= found[0] <= found[2]
    (0.075, True)
    """
    n_units = int(units.max()) + 1
    sums, counts = (
        np.array([np.bincount(units, values, n_units) for values in table])
        for table in (np.nan_to_num(wrong), np.isfinite(wrong).astype(np.float64))
    )
    best = min(EXPONENTS, key=lambda c: _law(sums, counts, sizes, n_more, c)[1])
    then = _law(sums, counts, sizes, n_more, best)[0]
    found = []
    for k in range(RESAMPLES):
        times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        if (counts @ times > 0).all():
            exponent = EXPONENTS[k % len(EXPONENTS)]
            found.append(_law(sums * times, counts * times, sizes, n_more, exponent)[0])
    low, high = np.quantile(found or [then], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return then, min(float(low), then), max(float(high), then)


def _law(
    sums: Array, counts: Array, sizes: Array, n_more: int, exponent: float
) -> tuple[float, float]:
    """Fit the law with an exponent; return the error with more labels, and the squared misfit."""
    errors = sums.sum(axis=1) / counts.sum(axis=1)
    now, powers = errors[0], sizes**-exponent
    steps, rises = powers[1:] - powers[0], errors[1:] - now
    slope = np.clip(steps @ rises / (steps @ steps), 0.0, now / powers[0])
    then = now - slope * (powers[0] - (sizes[0] + n_more) ** -exponent)
    return float(then), float(((slope * steps - rises) ** 2).sum())


def _units(groups: Any, places: Array) -> Array:
    """Number what is drawn together: the groups of labeled rows, or the rows themselves."""
    if groups is None:
        return np.arange(len(places))
    given = np.asarray(groups)[places]
    return np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)[
        1
    ]


def _wrong_without(
    model: AveragedClassifier,
    X: Any,
    labeled: tuple[Array, Array, Array, Any],
    share: float,
    rng: np.random.Generator,
) -> tuple[Array, float]:
    """Fit with a share of the labels, several times.

    Return how often each row is misclassified by fits without it, and the mean number of labels of
    these fits; 0 if there is none, as no draw has two classes.
    """
    places, codes, units, groups = labeled
    wrong, tested = np.zeros(len(places)), np.zeros(len(places))
    n_units = int(units.max()) + 1
    n_kept = min(round(share * n_units), MOST_FITTED)
    sizes = []
    again = copy(model).set_params(unlabeled=-1, warm_start=True)  # the rows are the same
    for _ in range(DRAWS):
        kept = np.isin(units, rng.permutation(n_units)[:n_kept])
        if len(np.unique(codes[kept])) < 2:
            continue
        sizes.append(np.count_nonzero(kept))
        y = np.full(X.shape[0], -1)
        y[places[kept]] = codes[kept]
        with warnings.catch_warnings():  # about classes with few labels: that is the point
            warnings.simplefilter("ignore", UserWarning)
            again.fit(X, y, groups=groups)
        wrong[~kept] += again.predict(X[places[~kept]]) != codes[~kept]
        tested[~kept] += 1.0
    found = np.where(tested > 0.0, wrong / np.maximum(tested, 1.0), np.nan)
    return found, float(np.mean(sizes)) if tested.any() else 0.0
