"""Numbers as people write them for people: $54.80, 72.5 %, 12,345, (3.50)."""

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
    rf"(?P<around>\(\s*)?(?P<minus>[+-]?)\s*(?P<before>[$€£¥]?)\s*(?P<within>\(\s*)?"
    rf"(?P<inner>[+-]?)\s*(?P<number>{_GROUPED}|{_PLAIN})\s*(?P<after>[$€£¥%]?)"
    r"(?(within)\s*\))(?(around)\s*\))"
)
THOUSANDS = "1,234"
"""The form of numbers that have commas between thousands and no sign.

A table with decimal commas has points there, but not any more once it is read.
"""
BRACKETS = "(1)"
"""The form of numbers of which those below zero are in brackets, without sign and commas."""


@dataclass(frozen=True)
class Decoration:
    """What stands beside the digits of some texts that are all numbers."""

    signs: frozenset[str] = frozenset()
    """One for each sign that occurs, "" where a number has none."""
    grouped: bool = False
    """Whether any has commas between thousands."""
    bracketed: bool = False
    """Whether any is in brackets, as accounts have what is below zero."""
    bare: bool = False
    """Whether any is not."""

    def merge(self, other: Decoration | None) -> Decoration | None:
        """Return that of two lots of texts; None where it is None of either."""
        if other is None:
            return None
        return Decoration(
            self.signs | other.signs,
            self.grouped or other.grouped,
            self.bracketed or other.bracketed,
            self.bare or other.bare,
        )

    @property
    def form(self) -> str | None:
        """The sign, `THOUSANDS` or `BRACKETS`; None where signs differ or numbers are plain."""
        if len(self.signs) > 1:
            return None
        if sign := "".join(self.signs):
            return sign
        if self.grouped:
            return THOUSANDS
        return BRACKETS if self.bracketed and self.bare else None

    @property
    def enumerates(self) -> bool:
        """Whether texts are like (1), (2), (3), which rather number a list."""
        return self.bracketed and self.form is None


def decoration_of(texts: Array) -> Decoration | None:
    """Find what decorates numbers; None where a text is no number, or where signs differ."""
    signs, grouped, bracketed, bare = set(), False, False, False
    for text in texts:
        match = _matched(text)
        if match is None:
            return None
        signs.add(match["before"] or match["after"])
        if len(signs) > 1:
            return None
        grouped = grouped or "," in match["number"]
        bracketed = bracketed or text.endswith(")")
        bare = bare or not text.endswith(")")
    return Decoration(frozenset(signs), grouped, bracketed, bare)


def find_form(texts: Array) -> str | None:
    """Find how numbers are decorated: by the same sign in all, or by some commas or brackets.

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
    match = _matched(text)
    if match is None or {match["before"], match["after"]} - {"", form}:
        return np.nan
    number = float(match["number"].replace(",", ""))
    below = text.endswith(")") or "-" in match["minus"] + match["inner"]
    return -number if below else number


def _matched(text: str) -> re.Match[str] | None:
    """Take an amount apart; None where a text is none, or has a sign twice."""
    match = _AMOUNT.fullmatch(text)
    if match is None or (match["before"] and match["after"]):
        return None
    below = (match["around"], match["minus"], match["within"], match["inner"])
    return match if not text.endswith(")") or sum(map(bool, below)) == 1 else None


def described(form: str) -> str:
    """Say how numbers are written, in words for people."""
    if form == THOUSANDS:
        return f"marks between thousands, as in {THOUSANDS} (or 1.234 where decimals have a comma)"
    return "brackets below zero" if form == BRACKETS else f"the sign {form}"
