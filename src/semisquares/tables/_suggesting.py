"""The rows of a table to label next, what their labels are worth, and their cells to fill in."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.typing import Array
from .._utils.words import counted, percent
from ..estimators import AveragedClassifier
from ..labeling import Suggestions, suggest
from ..labeling._expecting import FEWEST, Expectation, expect
from ..representations._summary import hash_rows
from ._written import suggestion_columns
from .dataset import Prepared
from .errors import TableError
from .io import Source, iter_chunks, text_types

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 100_000


@dataclass(frozen=True, eq=False)
class RowsToLabel:
    """Rows of a table to label next, and what their labels are expected to bring."""

    found: Suggestions
    expected: Expectation | None
    """None if the labels are too few to say."""
    n_labeled: int
    n_classes: int

    @property
    def numbers(self) -> Array:
        """The numbers of the rows in the table; the first is 1."""
        return self.found.indices + 1

    @property
    def outlook(self) -> str:
        """What the labels are expected to bring, in words."""
        if self.expected is None:
            return _too_few(self.n_labeled, self.n_classes)
        one, more = self.expected, counted(self.expected.n_more, "more label")
        now = (
            f"Now {percent(one.now)} of rows are misclassified, measured on "
            f"{counted(one.n_labels, 'labeled row')} that were left out"
        )
        if one.gain < 0.0005:
            return (
                f"{now}; {more} are not expected to change that (95 % interval with them: "
                f"{percent(one.low)} to {percent(one.high)})."
            )
        return (
            f"{now}; with {more} of rows drawn at random, {percent(one.then)} would be expected "
            f"(95 % interval {percent(one.low)} to {percent(one.high)}). Suggested rows usually "
            "need fewer labels for that."
        )


def _too_few(n_labels: int, n_classes: int) -> str:
    if n_classes < 2:
        have = "no label" if not n_labels else "no label of a second class"
        return f"There is {have} yet, so nothing can be said about what more will bring."
    return (
        f"{counted(n_labels, 'label')} of {n_classes} classes are too few to say what more will "
        f"bring; that takes about {FEWEST}, several of each class."
    )


def suggest_rows(prepared: Prepared, n: int = 20, *, seed: int = 0) -> RowsToLabel:
    """Suggest which rows of a table to label next.

    Parameters
    ----------
    prepared : Prepared
        From ``prepare(frame, target, min_classes=0)``; it may have no label.
    n : int, default=20
        The number of rows.
    seed : int, default=0
        Seed of the draws from which the effect of more labels is estimated.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import prepare
    >>> frame = pd.DataFrame({"age": [30, 31, 33, 50, 52, 80], "sick": [None] * 6})
    >>> found = suggest_rows(prepare(frame, "sick", min_classes=0), n=2)
    >>> len(found.numbers), found.outlook
    (2, 'There is no label yet, so nothing can be said about what more will bring.')
    """
    target, codes = prepared.target, prepared.codes
    _check_new_rows(prepared)
    model, groups = AveragedClassifier(), prepared.groups
    expected = None
    if len(target.classes) > 1:
        with warnings.catch_warnings():  # about classes with a single label: more are to come
            warnings.simplefilter("ignore", UserWarning)
            model.fit(prepared.X, codes, groups=groups)
    found = suggest(model, prepared.X, codes, n, groups=groups)
    if len(target.classes) > 1:
        expected = expect(model, prepared.X, codes, len(found), groups=groups, seed=seed)
    return RowsToLabel(found, expected, target.n_labeled, len(target.classes))


def _check_new_rows(prepared: Prepared) -> None:
    """Refuse a table in which no label tells anything new."""
    name, labeled = prepared.target.name, prepared.codes >= 0
    if labeled.all():
        raise TableError(
            f"Every row of {prepared.source} has a label in column {name!r}, so there is none to "
            "suggest; add rows without a label, or name another column as the target.",
            code="all_labeled",
        )
    hashes = hash_rows(prepared.X)
    if np.isin(hashes[~labeled], hashes[labeled]).all():
        raise TableError(
            f"All rows of {prepared.source} without a label in column {name!r} "
            f"({np.count_nonzero(~labeled):,}) are copies of labeled rows in the columns that are "
            "used, so that their labels would tell nothing new; use more columns, or add rows.",
            code="only_copies",
        )


def suggested_cells(
    source: Source,
    target: str,
    indices: Array,
    reasons: Sequence[str],
    *,
    missing: Sequence[str] = (),
    typed: bool = False,
) -> pa.Table:
    """Return the cells of suggested rows, in their order, ready to be filled in.

    All columns are as in the table, except that the target is empty. Two more columns hold the
    number of the row in the table, from 1 on, and the reason.

    Parameters
    ----------
    source : Source
        From `find`.
    target : str
        The column of the labels.
    indices, reasons
        As in `Suggestions`.
    missing : sequence of str
        More ways to write a missing cell.
    typed : bool, default=False
        Give the columns of a CSV the types of their cells, for a file that keeps types.
    """
    import pyarrow as pa

    order = np.argsort(indices, kind="stable")
    ascending = indices[order]
    parts, start = [], 0
    for cells, _ in iter_chunks(source, missing=missing, rows=CHUNK, labels=(target,)):
        here = ascending[(ascending >= start) & (ascending < start + cells.num_rows)]
        parts.append(cells.take(pa.array(here - start)))
        start += cells.num_rows
    table = pa.concat_tables(parts, promote_options="permissive")
    table = table.take(pa.array(np.argsort(order)))
    if typed and source.format.is_text:
        table = text_types(source, missing=missing, rows=CHUNK, labels=(target,)).cast(table)
    names = suggestion_columns(target)
    _check_free(table.column_names, names)
    place = table.column_names.index(target)
    stored = table.schema.types[place]
    empty = pa.nulls(table.num_rows, pa.string() if pa.types.is_null(stored) else stored)
    table = table.set_column(place, target, empty)
    table = table.append_column(names[0], pa.array(indices + 1))
    return table.append_column(names[1], pa.array(list(reasons), pa.string()))


def _check_free(columns: Sequence[str], names: Sequence[str]) -> None:
    if taken := [name for name in names if name in columns]:
        raise TableError(
            f"The table already has a column {taken[0]!r}, a name that the suggestions need; "
            "rename or remove it.",
            code="suggestion_column_exists",
        )
