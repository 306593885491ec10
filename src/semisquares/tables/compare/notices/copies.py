"""Copies: rows that equal each other in every used column, but may be split from each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...._utils.messages import Message, Parameter
from ...._utils.typing import Array
from ...dataset import Prepared
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["Copies", "copies_across", "copies_labeled", "equal_rows_expected", "find"]


PRIORITY = 40
FEWEST_COPIES = 0.01
"""A smaller share of the labeled rows with copies does not change a verdict."""
FEW_VALUES = 50
"""If no column has more distinct values, equal rows need not be copies."""


@dataclass(frozen=True)
class Copies(Notice):
    """Labeled rows that equal other rows."""

    kind: str
    """"copies_across" if they equal unlabeled rows, "copies_labeled" if other labeled ones."""
    n_copied: int
    n_labeled: int
    n_conflicting: int
    """Rows with a copy that has another label."""
    n_rows: int
    n_distinct: int
    """Distinct rows among all."""
    expected: bool
    """Whether the columns have so few values that equal rows need not be copies."""

    def words(self) -> tuple[str, str]:
        n = self.n_copied
        whom = "an unlabeled" if self.kind == "copies_across" else "another labeled"
        sentence = (
            f"{n:,} of the {self.n_labeled:,} labeled rows equal{'s' * (n == 1)} {whom} row in "
            "every used column"
        )
        if self.n_conflicting:
            verb = "has a copy" if self.n_conflicting == 1 else "have copies"
            sentence += f"; {self.n_conflicting:,} of them {verb} with another label"
        return f"{sentence}.", self._meaning()

    def _meaning(self) -> str:
        if self.expected:
            return (
                f"The columns have few values: {self.n_rows:,} rows are {self.n_distinct:,} "
                "different ones. So equal rows need not be copies, and new rows will equal old "
                "ones as often; the errors then hold for them."
            )
        if self.kind == "copies_across":
            effect = (
                "While such a row is tested, methods that learn from unlabeled rows have its copy: "
                "an advantage for them in the tests, which they will not have with new rows."
            )
        else:
            effect = (
                "A row may be learned from while its copy is tested, so that all errors look "
                "smaller than they are."
            )
        return Message(
            "{effect} Remove the copies, or name with {group} a column that says which rows belong "
            "together.",
            effect=effect,
            group=Parameter("group"),
        )


def find(context: NoticeContext) -> list[Copies | None]:
    """Look for copies of labeled rows."""
    return [copies_across(context.prepared), copies_labeled(context.prepared)]


def copies_across(prepared: Prepared) -> Copies | None:
    """Find labeled rows that equal unlabeled ones."""
    labeled = prepared.codes >= 0
    return _notice(prepared, "copies_across", _count_copies(prepared, ~labeled)[labeled])


def copies_labeled(prepared: Prepared) -> Copies | None:
    """Find labeled rows that equal each other, and count those with different labels."""
    labeled = prepared.codes >= 0
    copies = _count_copies(prepared, labeled)[labeled]
    agreeing = _count_copies(prepared, labeled, prepared.codes)[labeled]
    return _notice(prepared, "copies_labeled", copies, int((copies > agreeing).sum()))


def _notice(prepared: Prepared, kind: str, copies: Array, n_conflicting: int = 0) -> Copies | None:
    """Make a notice from the number of copies of each labeled row, if enough rows have any."""
    n_copied, n_labeled = int((copies > 0).sum()), len(copies)
    if n_copied <= FEWEST_COPIES * n_labeled:
        return None
    n_distinct = len(pd.unique(prepared.fingerprints))
    expected = equal_rows_expected(prepared)
    n_rows = len(prepared.codes)
    return Copies(kind, n_copied, n_labeled, n_conflicting, n_rows, n_distinct, expected)


def equal_rows_expected(prepared: Prepared) -> bool:
    """Tell whether rows may be equal by chance: few columns, or columns with few values."""
    used = [column for column in prepared.columns if column.used]
    values = [column.n_distinct + (column.n_missing > 0) for column in used]
    possible = sum(math.log(max(1, n)) for n in values)
    return max(values) <= FEW_VALUES or possible < math.log(100 * len(prepared.codes))


def _count_copies(prepared: Prepared, among: Array, *also: Array) -> Array:
    """Count for each row its copies among the rows of a mask that a split may separate from it.

    A split never separates rows of the same group. Copies are also equal in the arrays `also`.
    """
    keys = (prepared.fingerprints, *also)
    if prepared.groups is None:
        return _count_equal(among, *keys) - among  # a row is not a copy of itself
    return _count_equal(among, *keys) - _count_equal(among, *keys, prepared.groups)


def _count_equal(among: Array, *keys: Array) -> Array:
    """Count for each row the rows of a mask that are equal in all keys."""
    same, _ = pd.factorize(keys[0])
    for key in keys[1:]:
        other, values = pd.factorize(key)
        same, _ = pd.factorize(same * len(values) + other)
    return np.bincount(same[among], minlength=len(same))[same]
