"""Generated data: two unit Gaussians, or more, with a few labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

OVERLAPPING, SEPARATED = 1.0, 3.0


def gaussians(n: int, d: int, n_labels: int, s: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Draw two unit Gaussians with means ±s/√d in each of d features; keep some labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.standard_normal((n, d))
    X += ((2 * truth - 1) * (s / np.sqrt(d)))[:, None]
    return X, truth, hide(truth, n_labels, rng)


def many_classes(n: int, d: int, n_classes: int, n_labels: int) -> tuple[Array, Array, Array]:
    """Draw unit Gaussians with random means at distance about 3."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    means = rng.standard_normal((n_classes, d)) * (2.0 / np.sqrt(d))
    X = rng.standard_normal((n, d)) + means[truth]
    return X, truth, hide(truth, n_labels, rng)


def overlapping_classes(
    n: int, d: int, n_classes: int, n_labels: int
) -> tuple[Array, Array, Array]:
    """Draw unit Gaussians whose means have coordinates with a standard deviation of ½."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n_classes, d))[truth]
    return X, truth, hide(truth, n_labels, rng)


def words(n: int, d: int, per_row: int, n_labels: int) -> tuple[Any, Array, Array]:
    """Draw sparse counts like those of words: frequencies fall as 1/rank, classes tilt them."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n)
    frequency = 1.0 / (np.arange(d) + 50.0)
    tilt = rng.uniform(0.3, 1.7, size=d)
    columns = np.empty((n, per_row), dtype=np.int32)
    for k, weight in enumerate((frequency * tilt, frequency * (2.0 - tilt))):
        rows = np.flatnonzero(truth == k)
        cumulative = np.cumsum(weight) / weight.sum()
        drawn = np.searchsorted(cumulative, rng.random((len(rows), per_row)))
        columns[rows] = np.minimum(drawn, d - 1)
    indptr = np.arange(0, n * per_row + 1, per_row)
    X = sparse.csr_array((np.ones(n * per_row), columns.ravel(), indptr), shape=(n, d))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    return X, truth, hide(truth, n_labels, rng)


def hide(truth: Array, n_labels: int, rng: np.random.Generator) -> Array:
    """Keep the labels of `n_labels` random rows; -1 for the rest."""
    y = np.full(len(truth), -1)
    kept = rng.choice(len(truth), n_labels, replace=False)
    y[kept] = truth[kept]
    return y
