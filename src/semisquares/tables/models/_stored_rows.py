"""Whether a model holds rows of its table, and what it costs if it does not.

Kernel and graph members of an average compare new rows with rows of the table. A model without
these members holds no row: by default it is taken if that costs less than half a point of accuracy
on labeled rows that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._inputs.untested import rows_to_test
from ..._utils.messages import Message, Parameter
from ..._utils.typing import Array
from ..._utils.words import counted, points
from ...estimators import AveragedClassifier
from ...estimators._fewer_members import keep_members
from ..errors import TableError
from ._noticing import Remark
from .predictors.averaged import members_with_rows

__all__ = ["StoredRows", "choose_rows"]


MOST_COST = 0.005
"""Rows are stored if the model would be right for this share of the labeled rows less."""


@dataclass(frozen=True)
class StoredRows:
    """What was decided about the rows that members of an average compare new rows with."""

    asked: bool | None
    """Whether to store rows, if the user said so."""
    useful: bool
    """Whether any member of weight compares rows."""
    cost: float | None = None
    """Accuracy that the model loses without these members; None if that cannot be measured."""

    def remarks(self, n_rows: int) -> list[Remark]:
        """Say how many rows are stored, and what it costs, or would cost, to store none.

        Examples
        --------
        >>> for one in StoredRows(None, True, 0.021).remarks(300):
        ...     print(one.said)
        300 rows of the table are stored with the model, encoded and standardised: members of the
        average compare new rows with them. Without these members the error would be 2.1 points
        higher; store_rows=False leaves them out.
        >>> for one in StoredRows(False, True, 0.021).remarks(0):
        ...     print(one.said)
        No row of the table is stored: leaving out the members of the average that compare rows
        costs 2.1 points of accuracy.
        """
        if n_rows:
            return [Remark("stored_rows", self._stored(n_rows))]
        if self.asked is False:
            return [Remark("no_rows", self._not_stored())]
        return []

    def facts(self, n_rows: int) -> dict[str, Any]:
        """Return the same as JSON values."""
        return {"rows": n_rows, "cost_without": self.cost, "asked": self.asked}

    def _stored(self, n_rows: int) -> str:
        text = (
            "{rows} of the table {are} stored with the model, encoded and standardised: members of "
            "the average compare new rows with them"
        )
        if self.cost is None:
            text += "; {none} leaves these members out."
        else:
            text += ". Without these members the error would be {cost}; {none} leaves them out."
        return Message(
            text,
            rows=counted(n_rows, "row"),
            are="is" if n_rows == 1 else "are",
            cost=_words(self.cost),
            none=Parameter("store_rows", False),
        )

    def _not_stored(self) -> str:
        if not self.useful:
            return "No row of the table is stored: no member of the average needs any."
        start = "No row of the table is stored: "
        if self.cost is None:
            return (
                f"{start}the members of the average that compare rows are left out; what that "
                "costs cannot be measured."
            )
        verb = "gains" if self.cost < 0.0 else "costs"
        amount = f"{_size(self.cost)} points of" if self.cost else "no"
        start += "leaving out the members of the average that compare rows"
        return f"{start} {verb} {amount} accuracy."


def _words(cost: float | None) -> str:
    """Compare two errors.

    Examples
    --------
    >>> _words(0.021), _words(-0.01), _words(0.0)
    ('2.1 points higher', '1.0 points lower', 'the same')
    """
    if not cost:
        return "the same"
    return f"{_size(cost)} points {'higher' if cost > 0.0 else 'lower'}"


def _size(cost: float) -> str:
    return points(abs(cost)).removeprefix("+")


def choose_rows(
    classifier: AveragedClassifier,
    codes: Array,
    groups: Array | None,
    store_rows: bool | None = None,
) -> tuple[AveragedClassifier, StoredRows]:
    """Leave out the members that compare rows, unless that costs too much or rows may be stored.

    Parameters
    ----------
    classifier : AveragedClassifier
        Fitted.
    codes : ndarray of shape (n_labeled,)
        The class of each labeled row.
    groups : ndarray of shape (n_labeled,), optional
        Rows that were left out together.
    store_rows : bool, optional
        Whether to store rows: None to store them if leaving them out costs `MOST_COST` or more.

    Returns
    -------
    classifier : AveragedClassifier
        The same, or a copy without these members.
    stored : StoredRows
    """
    with_rows = members_with_rows(classifier)
    used = classifier.average_.weights > 0.0
    if not (with_rows & used).any():
        return classifier, StoredRows(store_rows, useful=False, cost=0.0)
    if not (~with_rows & (classifier._later.priors > 0.0)).any():
        if store_rows is False:
            raise TableError(
                "All members of the average compare rows of the table with new ones, so a model "
                "without rows has none; add a family such as 'forest' or 'logistic', or leave "
                "{store_rows} out.",
                code="only_members_with_rows",
                store_rows=Parameter("store_rows", False),
            )
        return classifier, StoredRows(store_rows, useful=True)
    fewer = keep_members(classifier, ~with_rows)
    cost = _cost(classifier.loo_proba_, fewer.loo_proba_, codes, groups)
    needed = cost is not None and cost >= MOST_COST
    keeps = needed if store_rows is None else store_rows
    return classifier if keeps else fewer, StoredRows(store_rows, useful=True, cost=cost)


def _cost(full: Array, fewer: Array, codes: Array, groups: Array | None) -> float | None:
    """Return the accuracy that is lost on left-out rows; None if no row can be tested."""
    tested = rows_to_test(codes, groups)
    if not tested.any():
        return None
    right, left = (int((p[tested].argmax(axis=1) == codes[tested]).sum()) for p in (full, fewer))
    return (right - left) / int(tested.sum())
