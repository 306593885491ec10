"""Classes that have labels, and that a classifier never predicts: it is useless for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._utils.messages import Message, Parameter
from ...._utils.typing import Array
from ...._utils.words import counted
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["UselessForClasses", "find", "looked_at", "never_predicted"]


PRIORITY = 11
MOST_ROWS = 10_000
"""Rows of the table that are predicted at most: more would take longer than a fit."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class UselessForClasses(Notice):
    """Classes that a classifier never predicts."""

    kind = "never_predicted"
    subject: str
    """The classifier, as the start of a sentence."""
    classes: tuple[Any, ...]
    """Those that it never predicts."""
    n_labels: tuple[int, ...]
    """Their numbers of labels."""
    n_tested: int
    """Labeled rows that it has predicted out of sample, without such an answer; 0 if it gave one
    for some."""
    n_rows: int
    """Rows of the table that it has predicted, without such an answer; 0 if it gave one."""

    def words(self) -> tuple[str, str]:
        one = len(self.classes) == 1
        it = "it" if one else "them"
        tested = f"{self.n_tested:,} labeled rows that it had not seen"
        rows = counted(self.n_rows, "row")
        if self.n_tested and self.n_rows:
            where = f"for none of {tested}, and for none of {rows} of the table"
        else:
            where = f"for none of {tested}" if self.n_tested else f"for none of {rows} of the table"
        labels = "; ".join(
            f"{name!r} has {counted(count, 'label')}"
            for name, count in zip(self.classes[:_MOST_NAMED], self.n_labels, strict=False)
        )
        return (
            f"{self.subject} is useless for {_listed(self.classes)}: it predicts {it} {where} "
            f"({labels}).",
            Message(
                "{rows} of {whose} are {found}; give {balanced} or {costs} to have {it} predicted, "
                "or label more rows of {it}.",
                rows="Rows" if self.n_rows else "Few rows, if any,",
                found="given another one" if self.n_rows else "found",
                whose="that class" if one else "those classes",
                it=it,
                balanced=Parameter("balanced"),
                costs=Parameter("costs"),
            ),
        )


def find(context: NoticeContext) -> list[UselessForClasses]:
    """Check the classifier that a comparison recommends; a fit calls `never_predicted` itself."""
    if context.results is None:
        return []
    results, target = context.results, context.prepared.target
    return never_predicted(
        results.subject, results.left_out, results.predicted, target.classes, target.counts
    )


def looked_at(X: Array) -> Array:
    """Return the rows to predict: all of them, or about `MOST_ROWS`, evenly spread.

    Examples
    --------
    >>> len(looked_at(np.zeros((25_000, 1)))), len(looked_at(np.zeros((9_000, 1))))
    (8334, 9000)
    """
    return X[:: math.ceil(max(len(X), 1) / MOST_ROWS)]


def never_predicted(
    subject: str,
    left_out: tuple[Array, Array],
    predicted: Array,
    classes: Sequence[Any],
    n_labels: Sequence[int],
) -> list[UselessForClasses]:
    """Find classes that a classifier never predicts, out of sample or for all rows of the table.

    Out of sample counts more: a forest predicts the labels that it was fitted to, whatever they
    are. Only classes that have labels among the left-out rows are looked for there.

    Parameters
    ----------
    subject : str
        The classifier, as the start of a sentence.
    left_out : tuple of ndarray
        Codes that are predicted for labeled rows by fits without them, and their true codes.
    predicted : ndarray of shape (n_rows,)
        Codes that the classifier, fitted to all rows of the table, predicts for them.
    classes : sequence
        The names of the classes.
    n_labels : sequence of int
        Their numbers of labels.

    Examples
    --------
    >>> answers, truth = np.zeros(40, dtype=int), np.arange(40) % 10 == 0
    >>> found = never_predicted("The model", (answers, truth), answers, ("ok", "worn"), (36, 4))
    >>> print(found[0].sentence)
    The model is useless for class 'worn': it predicts it for none of 40 labeled rows that it had
    not seen, and for none of 40 rows of the table ('worn' has 4 labels).
    """
    n_classes = len(classes)
    answers, truth = (np.bincount(codes, minlength=n_classes) for codes in left_out)
    everywhere = np.bincount(predicted, minlength=n_classes)
    unseen = (answers == 0) & (truth > 0)
    absent = (everywhere == 0) & (len(predicted) > 0)
    found = []
    for alike, n_tested, n_rows in (
        (unseen & absent, len(left_out[0]), len(predicted)),
        (unseen & ~absent, len(left_out[0]), 0),
        (~unseen & absent, 0, len(predicted)),
    ):
        if places := np.flatnonzero(alike).tolist():
            names = tuple(classes[k] for k in places)
            counts = tuple(int(n_labels[k]) for k in places)
            found.append(UselessForClasses(subject, names, counts, n_tested, n_rows))
    return found


def _listed(names: Sequence[Any]) -> str:
    more = len(names) - _MOST_NAMED
    text = ", ".join(map(repr, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
    return f"class {text}" if len(names) == 1 else f"classes {text}"
