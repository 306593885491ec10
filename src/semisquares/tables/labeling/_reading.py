"""A table that is to be labeled: its cells as they are written, its labels, and its features.

Unlike `prepare`, this takes tables with labels of one class, without any label, and even without a
column for them.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.messages import Message, Parameter
from ..._utils.typing import Array
from .._encoding import fit_encoding
from .._options import check_column
from .._written import (
    drawn_column,
    labeling_among,
    note_column,
    predictions_among,
    reviewed_column,
)
from ..columns import Feature
from ..columns._cells import factorize_texts, text_of
from ..dataset import FilledMarks, TableOptions, _number_groups
from ..errors import TableError
from ..io import Source, iter_chunks, read
from ..io._python_cells import cell_text
from ..io._read import missing_words, open_readers
from ..target import has_label, is_marker, read_target

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["LabelTable", "label_columns", "read_label_table"]

_MARKS = ("suggested", "random", "file")
"""What a session writes; a review does not change how a row was chosen."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelTable:
    """A table in memory, with what a labeling session needs."""

    source: Source
    target: str
    missing: tuple[str, ...]
    unlabeled: str | None
    chunks: Sequence[pa.Table]
    """The cells as they are written, some rows each."""
    starts: Sequence[int]
    """The first row of each chunk."""
    shown: Sequence[str]
    """The columns to show: neither labels nor what was predicted or noted about them."""
    given: Sequence[str | None]
    """The label of each row, if it has one."""
    biased: Sequence[int]
    """Labeled rows that were suggested in an earlier session."""
    reviewed: Mapping[int, str]
    """Labeled rows that were reviewed in an earlier session, and their labels before that."""
    X: Array
    features: Sequence[Feature]
    groups: Array | None
    notes: Sequence[str]
    """Remarks on labels and columns, a sentence each."""

    @property
    def n_rows(self) -> int:
        """All rows."""
        return len(self.given)

    def cells(self, row: int) -> dict[str, str]:
        """Return the cells of a row as text, by column."""
        k = bisect.bisect_right(self.starts, row) - 1
        place = row - self.starts[k]
        return {name: _text(self.chunks[k][name][place].as_py()) for name in self.shown}

    def check_class(self, name: str) -> None:
        """Raise TableError if a text in the target would be read as a missing label."""
        if is_marker(name, self.unlabeled) or name in self.missing:
            raise TableError(
                f"{name!r} in the table means that there is no label; choose another name for the "
                "class.",
                code="class_means_missing",
            )

    def about(self) -> dict[str, Any]:
        """Return what tells this table from others, for its journal."""
        content = hashlib.sha256()
        for file in self.source.files:
            with open(file.path, "rb") as opened:
                while block := opened.read(1 << 20):
                    content.update(block)
        return {"target": self.target, "rows": self.n_rows, "content": content.hexdigest()}


def read_label_table(
    source: Source,
    target: str,
    *,
    classes: Sequence[str] = (),
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | None = None,
    dates: str | None = None,
    missing: Sequence[str] = (),
    to_review: bool = False,
) -> LabelTable:
    """Read a table that is to be labeled.

    Parameters
    ----------
    source : Source
        From `find`.
    target : str
        The column of the labels. If the table has none, give `classes`.
    classes : sequence of str
        Classes of the labels that will be given.
    group, kinds, drop, unlabeled, dates
        As in `prepare`.
    missing : sequence of str
        More ways to write a missing cell.
    to_review : bool, default=False
        Refuse labels that cannot be reviewed: none at all, or those of one class.

    Raises
    ------
    TableError
        If the table cannot be read, or the target is not a column of classes.

    Examples
    --------
    >>> import io
    >>> from semisquares.tables.io import find
    >>> source = find("-", stdin=io.BytesIO(b"size,ripe\\n030,\\n35,no\\n41,\\n"))
    >>> table = read_label_table(source, "ripe")
    >>> table.given, table.cells(0)
    ([None, 'no', None], {'size': '030'})
    """
    names = open_readers(source, missing_words(missing, ()))[0].names
    is_new = target not in names
    if is_new:
        _check_new(names, target, classes)
    labels = label_columns(names, target)
    levels = [name for name, kind in (kinds or {}).items() if kind in ("category", "text")]
    levels = [name for name in levels if name in names]
    chunks = [cells for cells, _ in iter_chunks(source, missing=missing, labels=labels)]
    frame = read(source, missing=missing, text=levels, labels=labels)
    if is_new:
        frame[target] = np.full(len(frame), None, dtype=object)
    options = TableOptions.of(frame.columns, target, group, kinds, drop, unlabeled, dates)
    given, hints = _read_labels(frame, options, to_review)
    biased = _read_drawn(frame, options, given)
    groups = None if group is None else _number_groups(frame[group])[0]
    marks = None
    if options.marker is not None:
        labeled = np.array([label is not None for label in given])
        marks = FilledMarks.of(frame[options.marker], labeled)
    encoder, X = fit_encoding(
        frame[options.names],
        kinds=options.kinds,
        drop=options.left_out(marks),
        dates=options.dates,
    )
    hidden = {target, *predictions_among(names, target), *labeling_among(names, target)}
    if marks is not None and options.marker is not None:
        hidden.add(options.marker)
    sizes = [cells.num_rows for cells in chunks]
    return LabelTable(
        source=source,
        target=target,
        missing=tuple(missing),
        unlabeled=options.unlabeled,
        chunks=chunks,
        starts=np.concatenate(([0], np.cumsum(sizes)[:-1])).tolist(),
        shown=[name for name in names if name not in hidden],
        given=given,
        biased=biased,
        reviewed=_read_reviewed(frame, options, given),
        X=X,
        features=encoder.features,
        groups=groups,
        notes=[*hints, *_remarks(encoder.columns)],
    )


def _check_new(names: Sequence[str], target: str, classes: Sequence[str]) -> None:
    """Raise TableError unless a new column for the labels is wanted."""
    if classes:
        return
    try:
        check_column(names, target, "labels")
    except TableError as error:
        raise TableError(
            "{fault} If the labels are to get a new column, name their classes: {classes}.",
            code="label_column",
            fault=error.message,
            classes=Parameter("classes", ["yes", "no"]),
        ) from None


def label_columns(names: Sequence[str], target: str) -> tuple[str, ...]:
    """Return the columns that hold labels: the target, and what a review has written."""
    written = labeling_among(names, target)
    found = [*[target] * (target in names), *[reviewed_column(target)] * bool(written)]
    return tuple(name for name in found if name in names)


def _read_labels(
    frame: pd.DataFrame, options: TableOptions, to_review: bool
) -> tuple[list[str | None], tuple[str, ...]]:
    """Return the label of each row, as it is written, and likely mistakes."""
    values = frame[options.target]
    labeled = has_label(values, options.unlabeled)
    codes, texts = factorize_texts(values, text_of)
    given = [
        texts[code] if is_label else None for code, is_label in zip(codes, labeled, strict=True)
    ]
    hints: tuple[str, ...] = ()
    n_classes = len({label for label in given if label is not None})
    if n_classes > 1 or to_review:  # refuses quantities and dates
        hints = read_target(
            frame, options.target, unlabeled=options.unlabeled, as_levels=options.as_levels
        ).hints
    return given, hints


def _read_drawn(
    frame: pd.DataFrame, options: TableOptions, given: Sequence[str | None]
) -> list[int]:
    """Return the labeled rows that were suggested; TableError if names are taken."""
    name = drawn_column(options.target)
    if name in frame:
        found = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        if all(mark is None or mark in _MARKS for mark in found):
            return [k for k, mark in enumerate(found) if mark == "suggested" and given[k]]
    for taken in (name, note_column(options.target), reviewed_column(options.target)):
        if taken in frame:
            raise TableError(
                f"The table already has a column {taken!r}, a name that a labeling session needs; "
                "rename or remove it.",
                code="label_column_exists",
            )
    return []


def _read_reviewed(
    frame: pd.DataFrame, options: TableOptions, given: Sequence[str | None]
) -> dict[int, str]:
    """Return the labels that were reviewed in an earlier session, as they were before."""
    name = reviewed_column(options.target)
    if name not in frame:
        return {}
    codes, texts = factorize_texts(frame[name], text_of)
    there = has_label(frame[name], options.unlabeled)
    return {
        row: texts[code]
        for row, (code, is_there) in enumerate(zip(codes, there, strict=True))
        if is_there and given[row] is not None
    }


def _remarks(columns: Sequence[Any]) -> list[str]:
    return [
        Message("Column {name!r}: {reason}.", name=column.name, reason=column.reason)
        for column in columns
        if column.used and column.reason
    ]


def _text(cell: Any) -> str:
    """Write a cell as text; lists and other objects, too."""
    try:
        return cell_text(cell) or ""
    except (TypeError, ValueError):
        return str(cell)
