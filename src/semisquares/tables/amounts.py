"""Numbers as people write them for people: $54.80, 72.5 %, 12,345."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_PLAIN = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_GROUPED = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?"
_AMOUNT = re.compile(
    rf"(?P<minus>[+-]?)\s*(?P<before>[$€£¥]?)\s*(?P<inner>[+-]?)\s*"
    rf"(?P<number>{_GROUPED}|{_PLAIN})\s*(?P<after>[$€£¥%]?)"
)
THOUSANDS = "1,234"
"""The form of numbers that have commas between thousands and no sign."""


@dataclass(frozen=True)
class Decoration:
    """What stands beside the digits of some texts that are all numbers."""

    signs: frozenset[str] = frozenset()
    """One for each sign that occurs, "" where a number has none."""
    grouped: bool = False
    """Whether any has commas between thousands."""

    def merge(self, other: Decoration | None) -> Decoration | None:
        """Return that of two lots of texts; None where it is None of either."""
        if other is None:
            return None
        return Decoration(self.signs | other.signs, self.grouped or other.grouped)

    @property
    def form(self) -> str | None:
        """The sign, or `THOUSANDS`; None where signs differ or numbers are plain."""
        if len(self.signs) > 1:
            return None
        return "".join(self.signs) or (THOUSANDS if self.grouped else None)


def decoration_of(texts: Array) -> Decoration | None:
    """Find what decorates numbers; None where a text is no number, or where signs differ."""
    signs, grouped = set(), False
    for text in texts:
        match = _AMOUNT.fullmatch(text)
        if match is None or (match["before"] and match["after"]):
            return None
        signs.add(match["before"] or match["after"])
        if len(signs) > 1:
            return None
        grouped = grouped or "," in match["number"]
    return Decoration(frozenset(signs), grouped)


def find_form(texts: Array) -> str | None:
    """Find how numbers are decorated: by the same sign in all texts, or by commas in some.

    A comma counts only if three digits follow each, as the decimal mark of the file is a point by
    then. Dollars among euros are no numbers that could be compared.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.tables.amounts import find_form
    >>> [find_form(np.array(texts)) for texts in (["$5", "$1,200.50"], ["7 %", "8%"], ["7", "x"])]
    ['$', '%', None]
    """
    found = decoration_of(texts)
    return None if found is None else found.form


def parse_amounts(texts: Array, form: str) -> Array:
    """Read texts of a form, or without its sign, as numbers; NaN where one is something else."""
    return np.array([_amount(text, form) for text in texts], dtype=np.float64)


def _amount(text: str, form: str) -> float:
    match = _AMOUNT.fullmatch(text)
    if match is None or {match["before"], match["after"]} - {"", form}:
        return np.nan
    number = float(match["number"].replace(",", ""))
    return -number if "-" in match["minus"] + match["inner"] else number


def described(form: str) -> str:
    """Say how numbers are written, in words for people."""
    return f"commas, as in {THOUSANDS}" if form == THOUSANDS else f"the sign {form}"
