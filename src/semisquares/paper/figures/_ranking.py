"""Comparing methods over data sets: ranks, and tests of differences.

J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
S. Holm (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..._utils.typing import Array

LEVEL = 0.05
"""The significance level of all tests."""


@dataclass(frozen=True)
class Friedman:
    """The test that all methods have the same mean rank; all NaN if there are too few of them."""

    chi_square: float
    F: float
    """Iman and Davenport's statistic, which `p` is computed from."""
    p: float


def ranks(errors: Array) -> Array:
    """Rank the methods (columns) on each data set (rows): 1 is the lowest, ties share a mean.

    A method without an error, NaN, comes last.

    Examples
    --------
    >>> ranks(np.array([[0.1, 0.3, 0.2], [0.2, 0.2, np.nan]]))
    array([[1. , 3. , 2. ],
           [1.5, 1.5, 3. ]])
    """
    return np.asarray(stats.rankdata(np.where(np.isnan(errors), np.inf, errors), axis=1))


def friedman(errors: Array) -> Friedman:
    """Test whether methods (columns) differ in rank over data sets (rows).

    With the rank sums R_j of k methods on N data sets, and the ties t of each data set,

        χ² = (12 Σ_j R_j² / (N k (k+1)) - 3 N (k+1)) / (1 - Σ (t³ - t) / (N k (k² - 1)))
        F  = (N - 1) χ² / (N (k - 1) - χ²),

    the latter compared with the F distribution of k - 1 and (k - 1)(N - 1) degrees of freedom.

    Examples
    --------
    >>> found = friedman(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.2, 0.4]]))
    >>> round(found.chi_square, 6), round(found.F, 6), round(found.p, 4)
    (4.666667, 7.0, 0.0494)
    """
    N, k = errors.shape
    if N < 2 or k < 3:
        return Friedman(np.nan, np.nan, np.nan)
    placed = ranks(errors)
    shared = [np.unique(row, return_counts=True)[1] for row in placed]
    ties = 1.0 - sum(float((t**3 - t).sum()) for t in shared) / (N * k * (k**2 - 1))
    if ties <= 0.0:  # no method differs from another anywhere
        return Friedman(0.0, 0.0, 1.0)
    sums = placed.sum(axis=0)
    chi_square = (12.0 * float(sums @ sums) / (N * k * (k + 1)) - 3.0 * N * (k + 1)) / ties
    left = N * (k - 1) - chi_square
    F = (N - 1) * chi_square / left if left > 1e-12 * N * k else np.inf
    return Friedman(chi_square, F, float(stats.f.sf(F, k - 1, (k - 1) * (N - 1))))


def critical_difference(n_methods: int, n_datasets: int, *, level: float = LEVEL) -> float:
    """Return the least difference of two mean ranks that is significant (Nemenyi's test).

        q √(k (k + 1) / 6N),    q the quantile of the studentised range, divided by √2

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar's example has 1.25
    1.25
    """
    q = stats.studentized_range.ppf(1.0 - level, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def indistinguishable_runs(mean_ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return the runs (first, last) of sorted mean ranks within a critical difference.

    A run has at least two ranks and is not part of a longer one.

    Examples
    --------
    >>> indistinguishable_runs([1.0, 1.5, 2.4, 4.0], 1.2)
    [(0, 1), (1, 2)]
    """
    runs: list[tuple[int, int]] = []
    for first, low in enumerate(mean_ranks):
        last = max(k for k, rank in enumerate(mean_ranks) if rank - low <= difference)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean over repeats (the first axis) and its standard error, ignoring NaN.

    Examples
    --------
    >>> mean, error = mean_and_error(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 2.0]]))
    >>> mean, error
    (array([2., 2.]), array([ 1., nan]))
    """
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.where(n > 0, n, np.nan)
    squares = np.where(known, values - mean, 0.0) ** 2
    return mean, np.sqrt(squares.sum(axis=0) / np.where(n > 1, n * (n - 1.0), np.nan))


def paired_p(differences: Array) -> Array:
    """Return p values of the paired t test that mean differences over repeats (rows) are zero.

    NaN differences are ignored; with fewer than two others the p value is NaN.

    Examples
    --------
    >>> paired_p(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])).round(4)
    array([0.0742, 1.    ])
    """
    mean, error = mean_and_error(differences)
    freedom = (~np.isnan(differences)).sum(axis=0) - 1
    sure = error <= 1e-15 * np.abs(mean)  # the differences do not vary at all
    t = np.abs(mean) / np.where(sure, 1.0, error)
    p = 2.0 * stats.t.sf(t, np.maximum(freedom, 1))
    return np.where(sure, np.where(mean == 0.0, 1.0, 0.0), p)


def holm(p: Array) -> Array:
    """Adjust the p values of several tests (the first axis), by Holm's step-down procedure.

    The k-th smallest of m values is multiplied by m - k + 1, and is at least as large as the one
    before it. NaN counts as 1.

    Examples
    --------
    >>> holm(np.array([0.03, 0.01, 0.04]))
    array([0.06, 0.03, 0.06])
    """
    p = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(p, axis=0, kind="stable")
    left = np.arange(len(p), 0, -1).reshape(-1, *(1,) * (p.ndim - 1))
    steps = np.maximum.accumulate(np.take_along_axis(p, order, axis=0) * left, axis=0)
    adjusted = np.empty(p.shape)
    np.put_along_axis(adjusted, order, np.minimum(steps, 1.0), axis=0)
    return adjusted
