"""Mean, variance and range of numbers, merged chunk by chunk without loss of digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.typing import Array


@dataclass(frozen=True)
class Moments:
    """Mean, squared deviations and range of the numbers of a column.

    The mean is kept as ``centre + shift``. With two numbers the difference of two means is exact to
    the last digit even if both are large and close to each other.
    """

    n: int = 0
    """Cells that are not missing."""
    centre: float = 0.0
    shift: float = 0.0
    squares: float = 0.0
    """The sum of the squared deviations from the mean."""
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, column: Array) -> Moments:
        """Return the moments of float64 numbers; NaN is a missing cell.

        Examples
        --------
        >>> import numpy as np
        >>> moments = Moments.of(np.array([1.0, 2.0, np.nan, 6.0]))
        >>> moments.n, moments.mean, moments.squares
        (3, 3.0, 14.0)
        """
        if column.size and np.isnan(column.mean()):
            column = column[~np.isnan(column)]
        if not column.size:
            return cls()
        centre = column.mean()
        deviations = column - centre
        shift = deviations.mean()
        squares = np.square(deviations, out=deviations).sum() - column.size * shift**2
        low, high = column.min(), column.max()
        sums = (float(value) for value in (centre, shift, max(0.0, squares), low, high))
        return cls(column.size, *sums)

    @property
    def mean(self) -> float:
        """The mean of the cells that are not missing."""
        return self.centre + self.shift

    @property
    def varies(self) -> bool:
        """Whether two numbers differ."""
        return self.low < self.high

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both chunks (Chan, Golub & LeVeque, 1983).

        Examples
        --------
        >>> import numpy as np
        >>> one, other = Moments.of(np.array([1.0, 2.0])), Moments.of(np.array([6.0]))
        >>> one.merge(other).mean, one.merge(other).squares
        (3.0, 14.0)
        """
        if not self.n or not other.n:
            return self if self.n else other
        n = self.n + other.n
        distance = (other.centre - self.centre) + (other.shift - self.shift)
        return Moments(
            n,
            self.centre,
            self.shift + distance * (other.n / n),
            self.squares + other.squares + distance**2 * (self.n * (other.n / n)),
            min(self.low, other.low),
            max(self.high, other.high),
        )


def scales_of(means: Array, variances: Array) -> Array:
    """Return standard deviations, 1 for a feature that is constant up to rounding."""
    spread = np.sqrt(variances)
    constant = spread <= 64.0 * np.finfo(float).eps * np.abs(means)
    return np.where(constant, 1.0, spread)
