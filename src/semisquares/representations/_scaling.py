"""Rows in scaled columns, and along the directions in which all rows vary.

Columns are centred by all rows. Those with more than two values are divided by their standard
deviation; those with two, such as the dummies of a category, are not: a rare category would count
as much as any other column. With Σ = V diag(s) V' the covariance of the scaled columns,

    X₀ = X,      X_p = X V diag(s^{p/2})

A ridge on X_p is a penalty ``w'Σ⁻ᵖw`` on weights of X: directions in which rows hardly vary cost
more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.typing import Array
from ..core import _dense as dense
from ._distances import centred_products
from ._summary import Summary

__all__ = ["Coordinates", "FixedScaling", "Scaling", "leading", "with_signs"]


MOST_DIRECTIONS = 300
"""With many columns, directions are those of the sample, and at most this many are kept."""
ROUNDING = 1e-12
"""Eigenvalues up to this relative size are 0 except for rounding."""
GAP = 1e-6
"""A list of directions may be cut only between eigenvalues that differ by more, relatively."""


class Coordinates:
    """Rows in scaled columns, and along directions: what prediction needs of a scaling."""

    mean: Array
    scale: Array
    """Divisor of each column: its standard deviation, or 1 for columns with at most two values."""

    @property
    def axes(self) -> tuple[Array, Array]:
        """V, columns × directions, and s, largest first."""
        raise NotImplementedError

    def apply(self, X: Any, power: int) -> Any:
        """Return X_p of some rows: dense, or for power 0 of sparse rows sparse and not centred."""
        if power == 0:
            if sparse.issparse(X):
                scaled = X.astype(np.float64, copy=True)
                scaled.data /= self.scale[scaled.indices]
                return scaled
            return (X - self.mean) / self.scale
        return self.project(X, self.components(power))

    def project(self, X: Any, components: Array) -> Array:
        """Return centred rows times components."""
        if sparse.issparse(X):
            return X @ components - self.mean @ components
        return (X - self.mean) @ components

    def components(self, power: int, most: int | None = None) -> Array:
        """Return the matrix that maps centred columns to X_p, or to its `most` first columns."""
        directions, spectrum = self.axes
        if most is not None:
            kept = leading(spectrum, most)
            directions, spectrum = directions[:, :kept], spectrum[:kept]
        return directions * spectrum ** (power / 2) / self.scale[:, None]


@dataclass(frozen=True, eq=False)
class Scaling(Coordinates):
    """Centre and scale of each column, and the covariance of the scaled columns."""

    mean: Array
    scale: Array
    summary: Summary

    @classmethod
    def of(cls, summary: Summary) -> Scaling:
        """Return the scaling for a summary of all rows."""
        deviation = np.sqrt(summary.squares / summary.weight)
        # a column whose spread is at the level of rounding is constant
        rounding = 1e-15 * np.maximum(abs(summary.low), abs(summary.high))
        free = ~summary.two_valued & (deviation > rounding)
        return cls(summary.mean, np.where(free, deviation, 1.0), summary)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """V, columns × directions, and s, largest first."""
        summary = self.summary
        if summary.scatter is not None:
            covariance = summary.scatter / summary.weight / np.outer(self.scale, self.scale)
            spectrum, directions = dense.eigh(covariance)
            kept = leading(spectrum[::-1], len(spectrum))
            return with_signs(directions[:, ::-1][:, :kept]), spectrum[::-1][:kept]
        rows = self.apply(summary.sample, 0)
        origin = self.mean / self.scale if sparse.issparse(rows) else np.zeros(rows.shape[1])
        rooted = np.sqrt(summary.sample_weight / summary.sample_weight.sum())[:, None]
        gram = centred_products(rows, origin)
        spectrum, left = dense.eigh(gram * rooted * rooted.T)
        spectrum, left = np.maximum(spectrum[::-1], 0.0), left[:, ::-1]
        kept = leading(spectrum, MOST_DIRECTIONS)
        spectrum, left = spectrum[:kept], left[:, :kept] * rooted
        directions = rows.T @ left - np.outer(origin, left.sum(axis=0))
        return with_signs(directions / np.sqrt(spectrum)), spectrum


@dataclass(frozen=True, eq=False)
class FixedScaling(Coordinates):
    """A scaling that was computed before; it holds nothing of the rows."""

    mean: Array
    scale: Array
    directions: Array
    """V, columns × directions."""
    spectrum: Array
    """s, largest first."""

    @property
    def axes(self) -> tuple[Array, Array]:
        return self.directions, self.spectrum


def with_signs(vectors: Array) -> Array:
    """Fix the arbitrary signs of vectors: make the first of the largest entries positive."""
    sizes = abs(vectors)
    first = (sizes >= (1.0 - GAP) * sizes.max(axis=0, initial=0.0)).argmax(axis=0)
    return vectors * np.sign(vectors[first, np.arange(vectors.shape[1])])


def leading(values: Array, most: int) -> int:
    """Return how many of some descending eigenvalues to keep: never only some of equal ones.

    Eigenvectors of equal eigenvalues are arbitrary, so a choice among them would be, too. Values
    at the level of rounding are left out.

    Examples
    --------
    >>> leading(np.array([3.0, 2.0, 2.0, 1.0]), 2), leading(np.array([3.0, 2.0, 1.0, 0.0]), 9)
    (1, 3)
    """
    size = abs(values).max(initial=0.0)
    kept = int(np.sum(values > ROUNDING * size))
    if kept <= most:
        return kept
    kept = most
    while kept and values[kept - 1] - values[kept] <= GAP * size:
        kept -= 1
    return kept
