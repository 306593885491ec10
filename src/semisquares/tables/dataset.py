"""A table as classifiers need it: encoded rows, labels, groups, and the schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .._utils.messages import Message, Parameter
from .._utils.typing import Array
from .._utils.words import counted
from ._arguments import (
    column_kinds,
    columns_to_drop,
    date_order,
    mark_text,
    optional_text,
    text,
    whole_number,
)
from ._encoding import Encoding, as_frame, fit_encoding
from ._options import check_column
from ._written import (
    drawn_column,
    filled_note,
    labeling_among,
    marker_column,
    predictions_among,
    reviewed_column,
    suggestions_among,
)
from .columns import Column, Feature
from .columns._cells import factorize_texts, storage_type, text_of
from .columns.boolean import to_booleans
from .errors import TableError
from .schema import check_schema_options
from .target import Target, read_target

PREPARED = "what prepare(frame, target) returns"
"""What functions that take a prepared table need, for messages."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableInfo:
    """What is known about a prepared table, whether its rows are in memory or not."""

    source: str
    target: Target
    encoder: Encoding
    group: str | None = None
    unlabeled: str | None = None
    """What marks a missing label, besides the empty cell."""
    notes: tuple[str, ...] = ()
    """Remarks on labels, columns and groups, a sentence each."""
    n_filled: int = 0
    """Labels that a model has filled in, according to a column of the table."""
    n_suggested: int = 0
    """Labels of rows that were suggested, according to a column of the table."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The schema of the table."""
        return self.encoder.columns

    @property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the encoded rows is."""
        return self.encoder.features

    @property
    def n_groups(self) -> int | None:
        """The number of groups of rows, if they have been counted."""
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(TableInfo):
    """Encoded rows and labels of a table."""

    X: Array
    """(n_rows, n_features), float64."""
    groups: Array | None = None
    """The group of each row: rows of one group are never on both sides of a split."""
    suggested: Array | None = None
    """Which rows were labeled because they were suggested, if the table says so."""
    reviewed: Array | None = None
    """Which rows have a label that was confirmed or corrected, if the table says so."""

    @cached_property
    def fingerprints(self) -> Array:
        """A hash of each row, equal if all features are."""
        return pd.util.hash_pandas_object(pd.DataFrame(self.X, copy=False), index=False).to_numpy()

    @property
    def n_groups(self) -> int | None:
        """The number of groups of rows, if the table has any."""
        return None if self.groups is None else len(np.unique(self.groups))

    @property
    def codes(self) -> Array:
        """The class of each row, -1 if it has no label."""
        return self.target.codes


def prepare(
    frame: pd.DataFrame,
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | float | None = None,
    dates: str | None = None,
    min_classes: int = 2,
    source: str = "the table",
) -> Prepared:
    """Read the labels of a table, and encode its other columns as numbers.

    All rows, labeled or not, decide how columns are filled, scaled and encoded; labels do not.
    What a model has written into the table is left out: the column that marks the labels filled in
    ("sick_filled"), and predictions ("sick_predicted", "sick_probability", "sick_soft_yes",
    "sick_decision_yes"). So is what a labeling session has written ("sick_drawn", "sick_note",
    "sick_reviewed").

    Parameters
    ----------
    frame : DataFrame
    target : str
        The column of the labels; the cell of a missing label is empty (see `read_target`).
    group : str, optional
        A column whose values mark rows that belong together (a patient, a site). It is not a
        feature. A row with an empty cell is a group of its own.
    kinds, drop
        As in `TableEncoder`; "category" for the target takes each of its values as a class.
    unlabeled : str or number, optional
        Another mark of a missing label, besides the empty cell.
    dates
        As in `TableEncoder`.
    min_classes : int, default=2
        The number of classes that the labels must have; 0 if there may be no label yet.
    source : str
        The name of the table.

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
    options = TableOptions.of(frame.columns, target, group, kinds, drop, unlabeled, dates)
    labels = read_target(
        frame,
        target,
        unlabeled=options.unlabeled,
        as_levels=options.as_levels,
        min_classes=whole_number("min_classes", min_classes, 0, 2),
    )
    groups, n_alone = (None, 0) if group is None else _number_groups(frame[group])
    marks = None
    if options.marker is not None:
        marks = FilledMarks.of(frame[options.marker], labels.codes >= 0)
    encoder, X = fit_encoding(
        frame[options.names],
        kinds=options.kinds,
        drop=options.left_out(marks),
        dates=options.dates,
    )
    suggested = reviewed = None
    if drawn_column(target) in frame:
        marked = frame[drawn_column(target)].isin(["suggested"]).to_numpy()
        suggested = marked & (labels.codes >= 0)
        if reviewed_column(target) in frame:
            reviewed = frame[reviewed_column(target)].notna().to_numpy()
    return Prepared(
        source=source,
        target=labels,
        encoder=encoder,
        group=group,
        unlabeled=options.unlabeled,
        notes=options.notes(labels, marks, encoder.columns, n_alone),
        n_filled=0 if marks is None else marks.n_filled,
        n_suggested=0 if suggested is None else int(suggested.sum()),
        X=X,
        groups=groups,
        suggested=suggested,
        reviewed=reviewed,
    )


@dataclass(frozen=True)
class FilledMarks:
    """Counts of a column that marks the labels which a model has filled in."""

    n_rows: int
    n_missing: int
    n_filled: int
    """Labels that are marked."""

    @classmethod
    def of(cls, values: pd.Series, labeled: Array) -> FilledMarks | None:
        """Count marks; None if the column of that name holds something else."""
        try:
            storage_type(values, "")
            marks = to_booleans(values, "")
        except TableError:
            return None
        n_filled = int(np.count_nonzero((marks == 1.0) & labeled))
        return cls(len(values), int(values.isna().sum()), n_filled)

    def merge(self, other: FilledMarks) -> FilledMarks:
        """Return the counts of both chunks."""
        return FilledMarks(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_filled + other.n_filled,
        )


@dataclass(frozen=True)
class TableOptions:
    """The options of `prepare`, checked against the columns of the table."""

    target: str
    group: str | None
    names: list[str]
    """The columns that may be features."""
    kinds: Mapping[str, str]
    """The types that the user has set for some of them."""
    drop: Mapping[str, str]
    """Which of them are left out, and why."""
    as_levels: bool
    """Whether each value of the target is a class."""
    marker: str | None
    """The column that may mark the labels filled in by a model."""
    unlabeled: str | None
    dates: str | None = None
    """The order of day, month and year in ambiguous dates."""

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        target: str,
        group: str | None,
        kinds: Mapping[str, str] | None,
        drop: Sequence[str],
        unlabeled: str | float | None,
        dates: str | None = None,
    ) -> TableOptions:
        """Check options for a table with these columns; parameters as in `prepare`."""
        columns = list(columns)
        needed = "the name of a column, a text"
        target, group = text("target", target, needed), optional_text("group", group, needed)
        kinds, drop = column_kinds(kinds), tuple(columns_to_drop(drop))
        _check_target(target, kinds, drop)
        check_column(columns, target, "target")
        if group is not None:
            check_column(columns, group, "groups")
        if group == target:
            raise TableError(
                f"Column {group!r} is both target and group; name two columns.", code="target_group"
            )
        names = [name for name in columns if name not in (target, group)]
        marker = marker_column(target)
        requested, unwanted = check_schema_options(
            names,
            {name: kind for name, kind in kinds.items() if name not in (target, group)},
            [name for name in drop if name != group],
        )
        written = dict.fromkeys(
            predictions_among(names, target), "a model has predicted it from the labels"
        )
        written |= dict.fromkeys(
            suggestions_among(names, target), "it says why the row was suggested"
        )
        written |= labeling_among(names, target)
        return cls(
            target,
            group,
            names,
            requested,
            {name: why for name, why in written.items() if name not in kinds} | unwanted,
            as_levels=kinds.get(target) == "category",
            marker=marker if marker in columns and marker not in kinds else None,
            unlabeled=mark_text("unlabeled", unlabeled),
            dates=date_order(dates),
        )

    def left_out(self, marks: FilledMarks | None) -> dict[str, str]:
        """Return the columns that are left out, and why."""
        reason = "it marks the labels that were filled in by a model"
        marked = {self.marker: reason} if self.marker is not None and marks is not None else {}
        return marked | dict(self.drop)

    def notes(
        self, labels: Target, marks: FilledMarks | None, columns: Sequence[Column], n_alone: int
    ) -> tuple[str, ...]:
        """Collect remarks on labels, columns and groups."""
        notes = list(labels.hints)
        if marks is not None and marks.n_filled:
            notes.append(filled_note(labels.name, labels.n_labeled, marks.n_filled))
        remarked = [column for column in columns if column.used and column.reason]
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
    """Refuse options for the target that make sense only for features."""
    if target in drop:
        raise TableError(
            f"Column {target!r} is the target, so it cannot be left out; name another column to "
            "leave out, or another target.",
            code="target_dropped",
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
    codes, _ = factorize_texts(values, text_of)
    codes = codes.copy()
    alone = codes < 0  # a row without a group is a group of its own
    n_alone = int(alone.sum())
    codes[alone] = codes.max(initial=0) + 1 + np.arange(n_alone)
    return codes, n_alone
