"""A table made ready for classifiers: numbers, labels, groups, and what each column became."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.messages import Message, Parameter
from .._utils.words import counted
from .arguments import column_kinds, columns_to_drop, mark_text, optional_text, text
from .cells import family_of, text_cells, text_of, to_booleans
from .errors import TableError
from .kinds import Column, wishes_of
from .parts import Feature
from .preparation import TablePreparation, as_frame
from .target import Target, read_target
from .wishes import check_column
from .written import filled_note, marker_column, predictions_among

Array = NDArray[Any]

PREPARED = "what prepare(frame, target) returns"
"""What functions of a prepared table have to be given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Understood:
    """What is known of a table that is ready for classifiers, wherever its rows are."""

    source: str
    target: Target
    preparation: TablePreparation
    group: str | None = None
    unlabeled: str | None = None
    """What marks a missing label, besides the empty cell."""
    notes: tuple[str, ...] = ()
    """What is worth saying of labels, columns and groups though it is no error, a sentence each."""
    n_filled: int = 0
    """Labels that a model has filled in, as the table itself says."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What each column of the table is."""
        return self.preparation.columns_

    @property
    def features(self) -> tuple[Feature, ...]:
        """What each column that classifiers get is."""
        return self.preparation.features_

    @property
    def n_groups(self) -> int | None:
        """How many groups of rows there are, where they have been counted."""
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(Understood):
    """Rows and labels of a table as the classifiers get them."""

    X: Array
    """(n_rows, n_features), float64."""
    groups: Array | None = None
    """A number for each row: rows of one group are never on both sides of a split."""

    @cached_property
    def fingerprints(self) -> Array:
        """A number for each row, equal where all features are."""
        return pd.util.hash_pandas_object(pd.DataFrame(self.X, copy=False), index=False).to_numpy()

    @property
    def n_groups(self) -> int | None:
        """How many groups of rows there are, where the table has any."""
        return None if self.groups is None else len(np.unique(self.groups))

    @property
    def codes(self) -> Array:
        """The class of each row, -1 where it has no label."""
        return self.target.codes


def prepare(
    frame: pd.DataFrame,
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | float | None = None,
    source: str = "the table",
) -> Prepared:
    """Read the labels of a table, and turn its other columns into numbers.

    All rows, labeled or not, settle how columns are filled, scaled and encoded; labels do not.
    What a model has written into the table is left out: the column that marks the labels filled in
    ("sick_filled"), and predictions ("sick_predicted", "sick_soft_yes", "sick_decision_yes").

    Parameters
    ----------
    frame : DataFrame
    target : str
        The column of the labels; a cell is empty where the label is missing (see `read_target`).
    group : str, optional
        A column whose values mark rows that belong together (a patient, a site). It is no feature.
        A row whose cell is empty belongs to no other.
    kinds, drop
        As in `TablePreparation`; "category" for the target takes each of its values as a class.
    unlabeled : str or number, optional
        Another mark of a missing label, besides the empty cell.
    source : str
        What to call the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 40, 50, 60], "sick": ["no", None, "yes", None]})
    >>> prepared = prepare(frame, "sick")
    >>> prepared.codes.tolist(), prepared.X.shape
    ([0, -1, 1, -1], (4, 1))
    """
    frame = as_frame(frame, "frame")
    text("source", source)
    wish = Wish.of(frame.columns, target, group, kinds, drop, unlabeled)
    labels = read_target(frame, target, unlabeled=wish.unlabeled, as_levels=wish.as_levels)
    groups, n_alone = (None, 0) if group is None else _number_groups(frame[group])
    marker = None if wish.marker is None else look_at_marker(frame[wish.marker], labels.codes >= 0)
    preparation = wish.preparation(marker)
    X = preparation.fit_transform(frame[wish.names])
    return Prepared(
        source=source,
        target=labels,
        preparation=preparation,
        group=group,
        unlabeled=wish.unlabeled,
        notes=wish.notes(labels, marker, preparation, n_alone),
        n_filled=0 if marker is None else marker.n_filled,
        X=X,
        groups=groups,
    )


@dataclass(frozen=True)
class Marker:
    """What is known of a column that marks the labels which a model has filled in."""

    n_rows: int
    n_missing: int
    n_filled: int
    """Labels that are marked."""

    def merge(self, other: Marker) -> Marker:
        """Return what is known of both."""
        return Marker(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_filled + other.n_filled,
        )


def look_at_marker(values: pd.Series, labeled: Array) -> Marker | None:
    """Look at marks; None where the column of that name is something else."""
    try:
        family_of(values, "")
        marks = to_booleans(values, "")
    except TableError:
        return None
    n_filled = int(np.count_nonzero((marks == 1.0) & labeled))
    return Marker(len(values), int(values.isna().sum()), n_filled)


@dataclass(frozen=True)
class Wish:
    """What a table is to be prepared for, checked."""

    target: str
    group: str | None
    names: list[str]
    """The columns that may be features."""
    kinds: Mapping[str, str]
    """Of these."""
    drop: Mapping[str, str]
    """Which of them are to be left out, and why."""
    as_levels: bool
    """Whether each value of the target is a class."""
    marker: str | None
    """The column that may mark the labels filled in by a model."""
    unlabeled: str | None

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        target: str,
        group: str | None,
        kinds: Mapping[str, str] | None,
        drop: Sequence[str],
        unlabeled: str | float | None,
    ) -> Wish:
        """Check what is asked of a table with these columns; as in `prepare`."""
        columns = list(columns)
        needed = "the name of a column, a text"
        target, group = text("target", target, needed), optional_text("group", group, needed)
        kinds, drop = column_kinds(kinds), tuple(columns_to_drop(drop))
        _check_target(target, kinds, drop)
        check_column(columns, target, "target")
        if group is not None:
            check_column(columns, group, "groups")
        if group == target:
            raise TableError(f"Column {group!r} is both target and group; name two columns.")
        names = [name for name in columns if name not in (target, group)]
        marker = marker_column(target)
        asked, unwanted = wishes_of(
            names,
            {name: kind for name, kind in kinds.items() if name not in (target, group)},
            [name for name in drop if name != group],
        )
        written = [name for name in predictions_among(names, target) if name not in kinds]
        return cls(
            target,
            group,
            names,
            asked,
            {name: "a model has predicted it from the labels" for name in written} | unwanted,
            as_levels=kinds.get(target) == "category",
            marker=marker if marker in columns and marker not in kinds else None,
            unlabeled=mark_text("unlabeled", unlabeled),
        )

    def left_out(self, marker: Marker | None) -> dict[str, str]:
        """Say which columns are left out, and why."""
        reason = "it marks the labels that were filled in by a model"
        marked = {self.marker: reason} if self.marker is not None and marker is not None else {}
        return marked | dict(self.drop)

    def preparation(self, marker: Marker | None) -> TablePreparation:
        """Make the preparation, to be fitted."""
        return TablePreparation(kinds=dict(self.kinds), drop=self.left_out(marker))

    def notes(
        self, labels: Target, marker: Marker | None, preparation: TablePreparation, n_alone: int
    ) -> tuple[str, ...]:
        """Say what is worth saying of labels, columns and groups."""
        notes = list(labels.hints)
        if marker is not None and marker.n_filled:
            notes.append(filled_note(labels.name, labels.n_labeled, marker.n_filled))
        remarked = [column for column in preparation.columns_ if column.used and column.reason]
        notes += [
            Message("Column {name!r}: {reason}.", name=column.name, reason=column.reason)
            for column in remarked
        ]
        if n_alone:
            one = n_alone == 1
            notes.append(
                f"{counted(n_alone, 'row has', 'rows have')} an empty cell "
                f"in column {self.group!r}: {'it is' if one else 'each of them is'} a group of its "
                "own."
            )
        return tuple(notes)


def _check_target(target: str, kinds: Mapping[str, str], drop: Sequence[str]) -> None:
    """Refuse wishes for the target that make sense for features alone."""
    if target in drop:
        raise TableError(
            f"Column {target!r} is the target, so it cannot be left out; name another column to "
            "leave out, or another target."
        )
    if kinds.get(target, "category") != "category":
        raise TableError(
            "Column {target!r} is the target, whose values are classes and cannot be of kind "
            "{kind!r}; leave that out, or give {kinds} to take each value as a class.",
            code="target_kind",
            target=target,
            kind=kinds[target],
            kinds=Parameter("kinds", {target: "category"}),
        )


def _number_groups(values: pd.Series) -> tuple[Array, int]:
    """Number the groups of the rows, and count the rows that have none."""
    codes, _ = text_cells(values, text_of)
    codes = codes.copy()
    alone = codes < 0  # a row without a group belongs to nobody else's
    n_alone = int(alone.sum())
    codes[alone] = codes.max(initial=0) + 1 + np.arange(n_alone)
    return codes, n_alone
