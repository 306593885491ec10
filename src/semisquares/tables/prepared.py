"""A table made ready for classifiers: numbers, labels, groups, and what each column became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import family_of, text_cells, text_of, to_booleans
from .errors import TableError
from .kinds import Column
from .parts import Feature
from .preparation import TablePreparation, as_frame
from .target import Target, marker_column, read_target
from .wishes import check_column

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows and labels of a table as the classifiers get them."""

    source: str
    X: Array
    """(n_rows, n_features), float64."""
    target: Target
    preparation: TablePreparation
    groups: Array | None = None
    """A number for each row: rows of one group are never on both sides of a split."""
    group: str | None = None
    unlabeled: str | None = None
    """What marks a missing label, besides the empty cell."""
    notes: tuple[str, ...] = ()
    """What is worth saying of labels, columns and groups though it is no error, a sentence each."""

    @cached_property
    def fingerprints(self) -> Array:
        """A number for each row, equal where all features are."""
        return pd.util.hash_pandas_object(pd.DataFrame(self.X, copy=False), index=False).to_numpy()

    @property
    def codes(self) -> Array:
        """The class of each row, -1 where it has no label."""
        return self.target.codes

    @property
    def columns(self) -> tuple[Column, ...]:
        """What each column of the table is."""
        return self.preparation.columns_

    @property
    def features(self) -> tuple[Feature, ...]:
        """What each column of `X` is."""
        return self.preparation.features_


def prepare(
    frame: pd.DataFrame,
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | None = None,
    source: str = "the table",
) -> Prepared:
    """Read the labels of a table, and turn its other columns into numbers.

    All rows, labeled or not, settle how columns are filled, scaled and encoded; labels do not. The
    column that marks the labels filled in by a model ("sick_filled") is left out.

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
    unlabeled : str, optional
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
    frame = as_frame(frame)
    kinds, drop = dict(kinds or {}), (drop,) if isinstance(drop, str) else tuple(drop)
    _check_target(target, kinds, drop)
    as_levels = kinds.get(target) == "category"
    labels = read_target(frame, target, unlabeled=unlabeled, as_levels=as_levels)
    groups, alone = (None, ()) if group is None else _read_groups(frame, group, target)
    unwanted = {name: "as asked" for name in drop if name != group}
    marked, filled = _read_marker(frame, labels, kinds)
    known = {target, group}
    preparation = TablePreparation(
        kinds={name: kind for name, kind in kinds.items() if name not in known},
        drop=marked | unwanted,
    )
    X = preparation.fit_transform(frame[[name for name in frame.columns if name not in known]])
    remarked = [column for column in preparation.columns_ if column.used and column.reason]
    remarks = [f"Column {column.name!r}: {column.reason}." for column in remarked]
    notes = (*labels.hints, *filled, *remarks, *alone)
    return Prepared(source, X, labels, preparation, groups, group, unlabeled, notes)


def _check_target(target: str, kinds: Mapping[str, str], drop: Sequence[str]) -> None:
    """Refuse wishes for the target that make sense for features alone."""
    if target in drop:
        raise TableError(
            f"Column {target!r} is the target, so it cannot be left out; name another column to "
            "leave out, or another target."
        )
    if kinds.get(target, "category") != "category":
        raise TableError(
            f"Column {target!r} is the target, whose values are classes and cannot be of kind "
            f"{kinds[target]!r}; leave that out, or say --kind {quote(f'{target}=category')} to "
            "take each value as a class."
        )


def _read_groups(frame: pd.DataFrame, group: str, target: str) -> tuple[Array, tuple[str, ...]]:
    """Number the groups of the rows, and say how many rows have none."""
    check_column(frame, group, "groups")
    if group == target:
        raise TableError(f"Column {group!r} is both target and group; name two columns.")
    codes, _ = text_cells(frame[group], text_of)
    codes = codes.copy()
    alone = codes < 0  # a row without a group belongs to nobody else's
    n_alone = int(alone.sum())
    codes[alone] = codes.max(initial=0) + 1 + np.arange(n_alone)
    one = n_alone == 1
    note = (
        f"{n_alone:,} row{'' if one else 's'} {'has' if one else 'have'} an empty cell in column "
        f"{group!r}: {'it is' if one else 'each of them is'} a group of its own."
    )
    return codes, (note,) if n_alone else ()


def _read_marker(
    frame: pd.DataFrame, labels: Target, kinds: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find the column that marks filled labels, and say how many of those are taken as given."""
    name = marker_column(labels.name)
    if name not in frame.columns or name in kinds:
        return {}, ()
    try:
        family_of(frame[name], name)
        marks = to_booleans(frame[name], name)
    except TableError:
        return {}, ()  # a column of that name which is something else
    n_filled = int(np.count_nonzero((marks == 1.0) & (labels.codes >= 0)))
    note = (
        f"{n_filled:,} of the {labels.n_labeled:,} labels in column {labels.name!r} were filled in "
        f"by a model, as {name!r} says, and are taken as given; empty them to learn from the "
        "others alone."
    )
    reason = "it marks the labels that were filled in by a model"
    return {name: reason}, (note,) if n_filled else ()
