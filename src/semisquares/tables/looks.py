"""What is known of a column, or of some of its rows, before it is decided what it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .amounts import THOUSANDS, Decoration, decoration_of, parse_amounts
from .cells import (
    Stray,
    family_of,
    first_of,
    level_of,
    parse_floats,
    read_numbers,
    text_cells,
    text_of,
    to_booleans,
    to_dates,
)
from .dates import formats_of, one_format
from .quantities import Numbers, Rows
from .tallies import Tally

Array = NDArray[Any]


@dataclass(frozen=True)
class Writing:
    """How texts are written that may be numbers or dates."""

    n_numbers: int
    """Cells that are numbers without a sign."""
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
    numbers = parse_floats(pd.Series(texts, dtype=object))
    if (lost := np.isnan(numbers)).any():
        numbers[lost] = parse_amounts(texts[lost], THOUSANDS)
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
