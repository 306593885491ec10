"""What is known of a column, or of some of its rows, before it is decided what it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .amounts import Decoration, decoration_of, parse_amounts
from .cells import (
    Stray,
    family_of,
    first_of,
    level_of,
    read_numbers,
    strays_of,
    text_cells,
    text_of,
    to_booleans,
    to_dates,
)
from .dates import formats_of, one_format
from .tallies import Tally

Array = NDArray[Any]

_MANY_ROWS, _SAMPLE = 100_000, 20_000


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
    """The different numbers in the sample."""
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
        return cls(
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

    @property
    def n_distinct(self) -> int:
        """Different numbers in the sample; at least two where they differ at all."""
        return max(2, len(self.sample)) if self.low < self.high else 1

    @property
    def count_rows(self) -> bool:
        """Whether each number is one more than that of the row before."""
        exact = max(abs(self.low), abs(self.high)) <= 2.0**53
        return exact and not np.isnan(self.offset)

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


def _offset(numbers: Array, start: int) -> float:
    """Return what whole numbers are more than the places of their rows, NaN where that differs."""
    if not len(numbers) or numbers[-1] - numbers[0] != len(numbers) - 1:
        return np.nan
    offsets = numbers - np.arange(start, start + len(numbers))
    return float(offsets[0]) if (offsets == offsets[0]).all() else np.nan


@dataclass(frozen=True)
class Writing:
    """How texts are written that may be numbers or dates."""

    n_numbers: int
    """Cells that are plain numbers."""
    no_number: Stray | None
    """Those that are none."""
    decoration: Decoration | None
    formats: frozenset[str]

    @property
    def form(self) -> str | None:
        """The form of `amounts` that the texts have."""
        return None if self.decoration is None else self.decoration.form

    def merge(self, other: Writing) -> Writing:
        """Return how both are written."""
        return Writing(
            self.n_numbers + other.n_numbers,
            first_of(self.no_number, other.no_number),
            None if self.decoration is None else self.decoration.merge(other.decoration),
            self.formats & other.formats,
        )


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of a column, or of some of its rows; merged in any order, of all of them."""

    family: str
    """As `family_of` has it; it says nothing where no cell is filled."""
    n_rows: int
    n_filled: int
    example: tuple[int, str] = (0, "")
    """The place and the text of the first filled cell, where it is not of `numbers`."""
    tally: Tally | None = None
    """Texts or dates, where they are needed."""
    writing: Writing | None = None
    numbers: Numbers | None = None
    """Where all cells are numbers."""

    def merge(self, other: Look) -> Look:
        """Return what is known of both."""
        n_rows = self.n_rows + other.n_rows
        if not self.n_filled or not other.n_filled:
            return replace(self if self.n_filled else other, n_rows=n_rows)
        return Look(
            self.family,
            n_rows,
            self.n_filled + other.n_filled,
            min(self.example, other.example),
            _merged(self.tally, other.tally),
            _merged(self.writing, other.writing),
            _merged(self.numbers, other.numbers),
        )


def _merged(one: Any, other: Any) -> Any:
    """Merge what is known of two parts, where it is known of both."""
    return None if one is None or other is None else one.merge(other)


def look_at(
    values: pd.Series, name: str, *, asked: str | None = None, rows: Rows | None = None
) -> Look:
    """Look at the cells of a column.

    Parameters
    ----------
    values : Series
    name : str
        What sentences call it.
    asked : str, optional
        The kind that it is to have; TableError where a cell cannot be of that kind.
    rows : Rows, optional
        Which rows of a table these are; all where not given.

    Examples
    --------
    >>> import pandas as pd
    >>> look = look_at(pd.Series(["a", None, "b"]), "x", rows=Rows(0, 5))
    >>> other = look_at(pd.Series(["c", "a"]), "x", rows=Rows(3, 5))
    >>> look.merge(other).tally.values.tolist(), look.merge(other).n_filled
    (['a', 'b', 'c'], 4)
    """
    rows = rows or Rows(0, len(values))
    family = family_of(values, name)
    text = family in ("text", "category")
    if asked == "number" or (asked is None and family == "number"):
        return _look_at_numbers(values, name, family, rows, text)
    if asked is None and text:
        return _look_at_text(values, name, family, rows)
    if asked == "boolean":
        to_booleans(values, name)
    writing = None
    if asked == "date" and family != "date":
        formats = formats_of(text_cells(values, text_of)[1])
        writing = Writing(0, None, None, formats)
        form, ambiguous = one_format(formats)
        if not ambiguous:
            to_dates(values, name, form)  # says which cell is no date
    if values.dtype.kind == "M":  # a million different dates need not become text
        codes, distinct = pd.factorize(values)
    else:
        codes, distinct = text_cells(values, level_of)
    tally = Tally.of(codes, getattr(distinct, "asi8", distinct), rows.start)
    return Look(family, *_filled(codes), _example(tally, distinct), tally, writing)


def count_filled(values: pd.Series) -> Look:
    """Look at a column of which nothing else is to be known."""
    return Look("", len(values), int(values.notna().sum()))


def _look_at_numbers(values: pd.Series, name: str, family: str, rows: Rows, text: bool) -> Look:
    """Look at cells that have to be numbers."""
    writing = None
    if text:
        codes, texts = text_cells(values, text_of)
        writing, _ = _writing(values, codes, texts, rows)
    numbers = read_numbers(values, name, None if writing is None else writing.form)
    n_filled = len(numbers) - int(np.count_nonzero(np.isnan(numbers)))
    found = Numbers.of(numbers, values, rows)
    return Look(family, len(values), n_filled, writing=writing, numbers=found)


def _look_at_text(values: pd.Series, name: str, family: str, rows: Rows) -> Look:
    codes, texts = text_cells(values, text_of)
    tally = Tally.of(codes, texts, rows.start)
    known = Look(family, *_filled(codes), _example(tally, texts), tally)
    if family == "category":  # declared to be no number and no date
        return known
    writing, numbers = _writing(values, codes, texts, rows)
    if np.isnan(numbers).any():
        return replace(known, writing=writing)
    found = Numbers.of(np.append(numbers, np.nan)[codes], values, rows)
    return replace(known, writing=writing, numbers=found)


def _writing(values: pd.Series, codes: Array, texts: Array, rows: Rows) -> tuple[Writing, Array]:
    """Find how texts are written, and read them as numbers, NaN where one is none."""
    numbers = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    lost = np.isnan(numbers)
    none = Stray.of(np.append(lost, False)[codes], values, rows.start)
    n_numbers = int(np.count_nonzero(codes >= 0)) - (none.n if none else 0)
    decoration = decoration_of(texts)
    if none and decoration is not None and decoration.form is not None:
        numbers = parse_amounts(texts, decoration.form)
    return Writing(n_numbers, none, decoration, formats_of(texts)), numbers


def _filled(codes: Array) -> tuple[int, int]:
    """Count rows, and those that have a value."""
    return len(codes), int(np.count_nonzero(codes >= 0))


def _example(tally: Tally, distinct: Any) -> tuple[int, str]:
    """Return the place and the text of the first value."""
    return (int(tally.first[0]), text_of(distinct[0])[:80]) if len(distinct) else (0, "")
