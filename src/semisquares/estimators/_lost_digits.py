"""Explain why rounding kept a fit from its optimum: which columns or weights cost the digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from .._inputs.arrays import Problem
from .._utils.typing import Array
from ..core.rows import DeviceMatrix, on_host

FAR = 1e6
"""A mean this many times the spread of its column costs six digits of every sum."""
APART = 1e10
"""If column scales or row weights differ by more, no digits are left for the smaller ones."""
COLLINEAR = 1e-6
"""A column of unit spread is nearly a combination of others if its distance to them is less."""
MOST_ROWS = 20_000


def lost_digits(problem: Problem, names: Any = None) -> str:
    """Return the cause and a remedy, as the end of a sentence."""
    if problem.partitioned:
        return (
            "columns may be far from the origin, differ much in scale, or be nearly combinations "
            "of each other: standardise them, drop copies or raise alpha"
        )
    X, rows = problem.X, problem.rows
    if isinstance(X, DeviceMatrix):
        X = on_host(X[:: max(1, len(X) // MOST_ROWS)])
    with np.errstate(all="ignore"):
        mean, spread = _mean_and_spread(X)
        far = np.abs(mean) / np.where(spread > 0.0, spread, np.inf)
        live = spread[spread > 0.0]
        weights = rows.weights[rows.weights > 0.0]
        if rows.intercept and (far >= FAR).any():
            j = int(far.argmax())
            return (
                f"{_column(j, names)} is far from the origin for its spread (mean {mean[j]:.2g}, "
                f"spread {spread[j]:.2g}): subtract the mean from columns like this"
            )
        if len(live) and (live.max() > APART * live.min() or live.max() > 1e100):
            return (
                f"columns differ in scale (spreads from {live.min():.2g} to {live.max():.2g}): "
                "rescale them, for instance with sklearn.preprocessing.StandardScaler"
            )
        if len(live) and live.min() < 1e-100:
            return (
                f"columns are too small (a spread of {live.min():.2g}): rescale them, for instance "
                "with sklearn.preprocessing.StandardScaler"
            )
        near = _nearly_dependent(X, mean, spread, rows.intercept)
        if near is not None:
            return (
                f"{_column(near, names)} is nearly a combination of other columns (collinear): "
                "drop it or raise alpha"
            )
        if weights.max() > APART * weights.min():
            return (
                f"weights of rows differ by a factor of {weights.max() / weights.min():.2g}: make "
                "sample_weight, class_weight and unlabeled_weight more alike"
            )
    return "too few digits are left in the sums over rows: rescale the columns or raise alpha"


def _column(j: int, names: Any) -> str:
    return f"column {j if names is None else names[j]!r}"


def _mean_and_spread(X: Any) -> tuple[Array, Array]:
    """Return mean and standard deviation of the columns without overflow."""
    if sparse.issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
        scale = np.where(largest > 0.0, largest, 1.0)
        scaled = X.astype(np.float64).multiply(1.0 / scale).tocsc()
        mean = np.asarray(scaled.mean(axis=0)).ravel()
        stored = np.diff(scaled.indptr)
        deviation = scaled.copy()
        deviation.data = (scaled.data - np.repeat(mean, stored)) ** 2
        total = np.asarray(deviation.sum(axis=0)).ravel() + (X.shape[0] - stored) * mean**2
        return mean * scale, np.sqrt(total / X.shape[0]) * scale
    largest = np.abs(X).max(axis=0).astype(np.float64)
    scale = np.where(largest > 0.0, largest, 1.0)
    scaled = X / scale
    mean = scaled.mean(axis=0)
    return mean * scale, np.sqrt(((scaled - mean) ** 2).mean(axis=0)) * scale


def _nearly_dependent(X: Any, mean: Array, spread: Array, intercept: bool) -> int | None:
    """Return the column that is nearest to a combination of others, or None if none is near."""
    live = np.flatnonzero(spread > 0.0)
    some = X[:: max(1, X.shape[0] // MOST_ROWS)]
    block = (some.toarray() if sparse.issparse(some) else some).astype(np.float64)[:, live]
    if not block.size:
        return None
    scaled = (block - mean[live]) / spread[live] if intercept else block / spread[live]
    scaled /= np.sqrt(np.einsum("ij,ij->j", scaled, scaled))
    if not np.isfinite(scaled).all():
        return None
    R, order = qr(scaled, mode="r", pivoting=True)
    size = np.abs(R.diagonal())
    if len(size) == len(live) and size[-1] > COLLINEAR * size[0]:
        return None
    return int(live[order[len(size) - 1]])
