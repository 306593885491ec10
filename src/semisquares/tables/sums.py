"""Sums over the rows of a column, taken part by part: what fills, scales and encodes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .dates import parts_of
from .tallies import Tally

Array = NDArray[Any]


@dataclass(frozen=True)
class Moments:
    """Mean, squares and range of the numbers of a column.

    The mean is ``centre + shift``: two numbers, so that the distance of two means is exact to the
    last digit also where both are large and near each other.
    """

    n: int = 0
    """Cells that are not missing."""
    centre: float = 0.0
    shift: float = 0.0
    squares: float = 0.0
    """The sum of the squared distances from the mean."""
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, column: Array) -> Moments:
        """Take the moments of float64 numbers, NaN where a cell is missing.

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
        distances = column - centre
        shift = distances.mean()
        squares = np.square(distances, out=distances).sum() - column.size * shift**2
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
        """Return the moments of both (Chan, Golub & LeVeque, 1983).

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


@dataclass(frozen=True)
class DateMoments:
    """The moments of each part of a column of dates."""

    parts: Mapping[str, Moments]

    @classmethod
    def of(cls, dates: Array) -> DateMoments:
        """Take the moments of datetime64 cells."""
        return cls({name: Moments.of(part) for name, part in parts_of(dates).items()})

    def merge(self, other: DateMoments) -> DateMoments:
        """Return the moments of both."""
        pairs = zip(self.parts.items(), other.parts.values(), strict=True)
        return DateMoments({name: one.merge(two) for (name, one), two in pairs})


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each of the few values of a column occurs: all are kept."""

    tally: Tally

    @classmethod
    def of(cls, codes: Array, values: Array) -> Counts:
        """Count rows by the place of their value among `values`, -1 for none."""
        return cls(Tally.of(codes, values))

    @property
    def in_order(self) -> tuple[Array, Array]:
        """The values, sorted, and their counts."""
        order = np.argsort(self.tally.values)
        return self.tally.values[order], self.tally.counts[order]

    def merge(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(self.tally.merge(other.tally, most=None))


_OF: dict[str, Callable[[pd.Series], Moments | DateMoments | Counts]] = {
    "number": lambda cells: Moments.of(cells.to_numpy()),
    "date": lambda cells: DateMoments.of(cells.to_numpy()),
    "boolean": lambda cells: Counts.of(*pd.factorize(cells.to_numpy())),
    "category": lambda cells: Counts.of(
        cells.cat.codes.to_numpy(), np.asarray(cells.cat.categories, dtype=object)
    ),
}


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of all columns in use."""

    n_rows: int
    columns: Mapping[str, Any]
    """`Moments`, `DateMoments` or `Counts` by name."""

    @classmethod
    def of(cls, clean: pd.DataFrame, kinds: Mapping[str, str]) -> Sums:
        """Sum over cells in the canonical form of their kind."""
        return cls(len(clean), {name: _OF[kind](clean[name]) for name, kind in kinds.items()})

    def merge(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        pairs = zip(self.columns.items(), other.columns.values(), strict=True)
        merged = {name: one.merge(two) for (name, one), two in pairs}
        return Sums(self.n_rows + other.n_rows, merged)
