"""Numbers of a column, and what of them tells a quantity from an identifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from .cells import Stray, first_of, strays_of

Array = NDArray[Any]

_MANY_ROWS, _SAMPLE = 100_000, 20_000
_EXACT = 2.0**53
"""Of larger whole numbers, float64 takes several for one."""


@dataclass(frozen=True)
class Rows:
    """Which rows of a table some cells are."""

    start: int
    total: int
    """Rows of the whole table."""

    @property
    def step(self) -> int:
        """One in so many rows is in the sample by which numbers are judged."""
        return 1 if self.total <= _MANY_ROWS else self.total // _SAMPLE

    @property
    def sample(self) -> slice:
        """The places, from `start` on, of the rows in the sample."""
        return slice(-self.start % self.step, None, self.step)


@dataclass(frozen=True, eq=False)
class Numbers:
    """What tells a quantity from an identifier."""

    first: tuple[int, float]
    """The place and the number of the first row that has one."""
    low: float
    high: float
    sample: Array
    """The different numbers in the sample; integers where float64 would take several for one."""
    n_sample: int
    whole: bool
    """Whether all are whole."""
    offset: float
    """What each number is more than the place of its row, NaN where that differs."""
    infinite: Stray | None
    beyond: Stray | None

    @classmethod
    def of(cls, numbers: Array, values: pd.Series, rows: Rows) -> Numbers:
        """Look at numbers, which have been read from the cells `values`."""
        sample = numbers[rows.sample]
        sample = sample[~np.isnan(sample)]
        place = int(np.isnan(numbers).argmin()) if len(numbers) else 0
        strays = strays_of(numbers, values, rows.start)
        whole = strays == (None, None) and _are_whole(sample) and _are_whole(numbers)
        found = cls(
            first=(rows.start + place, float(numbers[place]) if len(numbers) else np.nan),
            low=np.fmin.reduce(numbers, initial=np.inf),
            high=np.fmax.reduce(numbers, initial=-np.inf),
            sample=pd.unique(sample),
            n_sample=len(sample),
            whole=whole,
            offset=_offset(numbers, rows.start) if whole else np.nan,
            infinite=strays[0],
            beyond=strays[1],
        )
        rounded = whole and max(abs(found.low), abs(found.high)) > _EXACT
        return found._exact(values, rows) if rounded and len(sample) else found

    def _exact(self, values: pd.Series, rows: Rows) -> Numbers:
        """Look again at whole numbers that have been rounded, as integers where they are some."""
        numbers, sample = _integers(values), _integers(values.iloc[rows.sample])
        if numbers is None or sample is None:
            return replace(self, offset=np.nan)
        return replace(
            self,
            first=(self.first[0], int(numbers[0])),
            low=int(numbers.min()),
            high=int(numbers.max()),
            sample=pd.unique(sample).astype(object),  # to be merged with floats unrounded
            offset=_offset(numbers, rows.start) if len(numbers) == len(values) else np.nan,
        )

    @property
    def n_distinct(self) -> int:
        """Different numbers in the sample; at least two where they differ at all."""
        return max(2, len(self.sample)) if self.low < self.high else 1

    @property
    def count_rows(self) -> bool:
        """Whether each number is one more than that of the row before."""
        return not np.isnan(self.offset)

    def merge(self, other: Numbers) -> Numbers:
        """Return what is known of both."""
        return Numbers(
            first=min(self.first, other.first),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            sample=pd.unique(np.concatenate([self.sample, other.sample])),
            n_sample=self.n_sample + other.n_sample,
            whole=self.whole and other.whole,
            offset=self.offset if self.offset == other.offset else np.nan,
            infinite=first_of(self.infinite, other.infinite),
            beyond=first_of(self.beyond, other.beyond),
        )


def _are_whole(numbers: Array) -> bool:
    return bool(((numbers == np.trunc(numbers)) | np.isnan(numbers)).all())


def _integers(values: pd.Series) -> Array | None:
    """Return the cells that are not missing as int64; None where one is no such integer."""
    filled = values.dropna()
    if not types.is_numeric_dtype(filled.dtype):
        filled = pd.to_numeric(filled.astype(object), errors="coerce")
    return filled.to_numpy(np.int64) if filled.dtype.kind == "i" else None


def _offset(numbers: Array, start: int) -> float:
    """Return what whole numbers are more than the places of their rows, NaN where that differs."""
    if not len(numbers) or numbers[-1] - numbers[0] != len(numbers) - 1:
        return np.nan
    offsets = numbers - np.arange(start, start + len(numbers))
    return offsets[0].item() if (offsets == offsets[0]).all() else np.nan
