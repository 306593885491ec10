"""Text that is a number: 12, -3e2, and for people $54.80, 72.5 %, 12,345, (3.50)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from .. import _numbers
from .._numbers import grouped, number

NUMBER = re.compile(_numbers.NUMBER)
"""A number without decoration."""
_AMOUNT = re.compile(
    rf"(?P<around>\(\s*)?(?P<minus>[+-]?)\s*(?P<before>[$€£¥]?)\s*(?P<within>\(\s*)?"
    rf"(?P<inner>[+-]?)\s*(?P<number>{grouped()}|{number()})\s*(?P<after>[$€£¥%]?)"
    r"(?(within)\s*\))(?(around)\s*\))"
)
THOUSANDS = "1,234"
"""The form of numbers with commas between thousands and no sign.

A table with decimal commas has points there, but readers exchange them.
"""
BRACKETS = "(1)"
"""The form of numbers with brackets around negative ones, without sign and commas."""


def parse_floats(cells: pd.Series) -> Array:
    """Read each text as the float64 nearest to it, NaN if it is not a number.

    Examples
    --------
    >>> parse_floats(pd.Series(["10000.003289696295", "1e3", "few"])).tolist()
    [10000.003289696295, 1000.0, nan]
    """
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan, copy=True)
    found = np.isfinite(numbers)
    # before 3.1, pandas gets the last bit of one in four long numbers wrong:
    # https://github.com/pandas-dev/pandas/pull/64357
    numbers[found] = list(map(_nearest_float, cells.to_numpy(object)[found], numbers[found]))
    return numbers


def _nearest_float(cell: Any, number: float) -> float:
    """Return what Python reads, or `number`, which pandas has read, if Python refuses."""
    try:
        return float(cell)
    except ValueError:  # such as 4e 8
        return number


@dataclass(frozen=True)
class Decoration:
    """What stands beside the digits of texts that are all numbers."""

    signs: frozenset[str] = frozenset()
    """The signs that occur; "" is among them if a number has none."""
    grouped: bool = False
    """Whether any has commas between thousands."""
    bracketed: bool = False
    """Whether any is in brackets, as accountants write negative numbers."""
    bare: bool = False
    """Whether any is not in brackets."""

    def merge(self, other: Decoration) -> Decoration:
        """Return the decoration of both chunks."""
        return Decoration(
            self.signs | other.signs,
            self.grouped or other.grouped,
            self.bracketed or other.bracketed,
            self.bare or other.bare,
        )

    @property
    def form(self) -> str | None:
        """The sign, `THOUSANDS` or `BRACKETS`; None if signs differ or numbers are plain."""
        if len(self.signs) > 1:
            return None
        if sign := "".join(self.signs):
            return sign
        if self.grouped:
            return THOUSANDS
        return BRACKETS if self.bracketed and self.bare else None

    @property
    def enumerates(self) -> bool:
        """Whether texts are like (1), (2), (3), which number the items of a list."""
        return self.bracketed and self.form is None


def decoration_of(texts: Array) -> Decoration | None:
    """Find what decorates numbers; None if a text is not a number or signs differ.

    A comma counts only if three digits follow it: readers have made the decimal mark a point.
    Dollars and euros in one column are refused, as they cannot be compared.

    Examples
    --------
    >>> import numpy as np
    >>> [decoration_of(np.array(texts)).form for texts in (["$5", "$1,200.50"], ["7 %", "8%"])]
    ['$', '%']
    """
    signs, grouped, bracketed, bare = set(), False, False, False
    for text in texts:
        match = _match_amount(text)
        if match is None:
            return None
        signs.add(match["before"] or match["after"])
        if len(signs) > 1:
            return None
        grouped = grouped or "," in match["number"]
        bracketed = bracketed or text.endswith(")")
        bare = bare or not text.endswith(")")
    return Decoration(frozenset(signs), grouped, bracketed, bare)


def parse_amounts(texts: Array, form: str) -> Array:
    """Read texts with or without the sign of a form as numbers, NaN for other texts."""
    return np.array([_parse_amount(text, form) for text in texts], dtype=np.float64)


def _parse_amount(text: str, form: str) -> float:
    match = _match_amount(text)
    if match is None or {match["before"], match["after"]} - {"", form}:
        return np.nan
    number = float(match["number"].replace(",", ""))
    negative = text.endswith(")") or "-" in match["minus"] + match["inner"]
    return -number if negative else number


def _match_amount(text: str) -> re.Match[str] | None:
    """Split an amount into its parts; None if a text is not an amount or has two signs."""
    match = _AMOUNT.fullmatch(text)
    if match is None or (match["before"] and match["after"]):
        return None
    negative = (match["around"], match["minus"], match["within"], match["inner"])
    return match if not text.endswith(")") or sum(map(bool, negative)) == 1 else None


def describe_form(form: str) -> str:
    """Describe how numbers are written."""
    if form == THOUSANDS:
        return f"marks between thousands, as in {THOUSANDS} (or 1.234 if decimals have a comma)"
    return "brackets below zero" if form == BRACKETS else f"the sign {form}"
