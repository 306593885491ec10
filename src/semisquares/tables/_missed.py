"""Classes that no row was given, although some are expected by their share of the labels.

Among n rows like the labeled ones, a class with a share s of them has no row with probability
(1 - s)^n ≤ exp(-n s). A class is missed if no row was given it and n and n s are large enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._utils.messages import Message, Parameter
from .._utils.typing import Array
from .._utils.words import percent

LEAST_ROWS, LEAST_EXPECTED = 50, 7.0
"""Fewer rows, or fewer expected rows of a class, tell nothing: exp(-7) is a chance of 0.1 %."""


@dataclass(frozen=True)
class MissedClass:
    """A class that no row was given."""

    name: Any
    share: float
    """Its share of the labels."""
    n_rows: int
    """Rows that were predicted."""

    @property
    def sentence(self) -> str:
        """What this means, in words."""
        return Message(
            "None of {n:,} rows is predicted to be of class {name!r}, although {share} of the "
            "labels are of it: if there are such rows, the model is useless for this class; give "
            "{balanced} or {costs}.",
            name=self.name,
            n=self.n_rows,
            share=percent(self.share),
            balanced=Parameter("balanced"),
            costs=Parameter("costs"),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return {"class": self.name, "share": self.share, "rows": self.n_rows}


def find_missed(
    answers: Array, label_counts: Sequence[int] | None, classes: Sequence[Any]
) -> tuple[MissedClass, ...]:
    """Find the classes that are missed.

    Parameters
    ----------
    answers : ndarray of shape (n_classes,)
        How often each class was answered.
    label_counts : sequence of int, optional
        The number of labels of each class; if it is not known, no class is missed.
    classes : sequence
        Their names.

    Examples
    --------
    >>> import numpy as np
    >>> for missed in find_missed(np.array([500, 0]), (88, 12), ("no", "yes")):
    ...     print(missed.sentence)
    None of 500 rows is predicted to be of class 'yes', although 12.0 % of the labels are of it: if
    there are such rows, the model is useless for this class; give balanced or costs.
    >>> find_missed(np.array([49, 0]), (50, 50), ("no", "yes"))
    ()
    """
    n_rows = int(answers.sum())
    if label_counts is None or n_rows < LEAST_ROWS:
        return ()
    total = sum(label_counts)
    return tuple(
        MissedClass(name, count / total, n_rows)
        for name, count, answered in zip(classes, label_counts, answers, strict=True)
        if not answered and n_rows * count / total >= LEAST_EXPECTED
    )


def missed_notes(missed: Sequence[MissedClass]) -> list[str]:
    """Return a sentence for each missed class."""
    return [one.sentence for one in missed]
