"""Review the labels of a table: which to doubt, why, and how many are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.typing import Array
from .._utils.words import counted, listed
from ..estimators import AveragedClassifier
from ..labeling import DoubtfulLabels, doubtful_labels
from ._written import review_columns, reviewed_column
from .dataset import Prepared
from .errors import TableError
from .io import Source, iter_chunks, text_types
from .models.fitting import capture_warnings

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DoubtfulRow", "LabelReview", "doubtful_cells", "review_table"]


_NAMED = 5
"""The largest number of class names in a sentence."""


@dataclass(frozen=True)
class DoubtfulRow:
    """A row whose label is doubtful, and why."""

    row: int
    """Its number in the table, counted from 1."""
    given: str
    """The label."""
    likely: str
    """The most probable class, by a classifier that has not seen the label."""
    given_probability: float
    likely_probability: float
    doubt: float
    """The probability that the label is wrong."""
    nearest: tuple[tuple[int, str], ...]
    """Numbers and labels of the nearest labeled rows."""

    @property
    def evidence(self) -> str:
        """The nearest labeled rows as text: ``12 (no), 40 (no)``."""
        return ", ".join(f"{row} ({label})" for row, label in self.nearest)


@dataclass(frozen=True)
class LabelReview:
    """What a review of a table's labels has found."""

    target: str
    rows: tuple[DoubtfulRow, ...]
    """The most doubtful first."""
    n_labels: int
    n_expected: float
    """An estimate of how many labels are wrong."""
    low: int
    high: int
    """A 90 % interval for that number."""
    notes: tuple[str, ...]
    n_reviewed: int = 0
    """Doubtful labels that were confirmed or corrected before; they are not among the rows."""

    @property
    def sentence(self) -> str:
        """How many labels are wrong, and how sure that is."""
        labels = f"the {counted(self.n_labels, 'label')} in {self.target!r}"
        if not self.n_labels:
            return f"No label in {self.target!r} can be reviewed; label more rows of each class."
        if not self.rows and self.n_reviewed:
            return f"All doubtful labels in {self.target!r} were reviewed before."
        if not self.rows:
            return f"None of {labels} contradicts its row{self._at_most}."
        n = round(self.n_expected)
        if not n:
            return f"Probably none of {labels} is wrong{self._at_most}."
        verb = "is" if n == 1 else "are"
        found = f"About {n:,} of {labels} {verb} probably wrong (90 % interval: {self._range})"
        if self.low == 0:
            return f"{found}; it may be none: if classes overlap, right labels look wrong, too."
        return f"{found}."

    @property
    def _range(self) -> str:
        return f"{self.low:,} to {self.high:,}"

    @property
    def _at_most(self) -> str:
        return f" (90 % interval: {self._range} are wrong)" if self.high else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the review for JSON."""
        rows = [
            asdict(one) | {"nearest": [{"row": row, "label": label} for row, label in one.nearest]}
            for one in self.rows
        ]
        return {
            "reviewed": self.n_labels,
            "reviewed_before": self.n_reviewed,
            "expected_wrong": self.n_expected,
            "interval": [self.low, self.high],
            "sentence": self.sentence,
            "notes": list(self.notes),
            "doubtful": rows,
        }


def review_table(prepared: Prepared, *, jobs: int = 1) -> LabelReview:
    """Review the labels of a prepared table with the averaged classifier.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import prepare
    >>> kinds = ["a", "a", "a", "a", "b", "b", "b", "b", "b", None]
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 4, 2.5, 16, 17, 18, 19, 20], "kind": kinds})
    >>> review = review_table(prepare(frame, "kind"))
    >>> [(one.row, one.given, one.likely) for one in review.rows]
    [(5, 'b', 'a')]
    """
    model = AveragedClassifier(n_jobs=jobs)
    with capture_warnings() as notes:
        found = doubtful_labels(model, prepared.X, prepared.codes, groups=prepared.groups)
    rows = _rows(found, prepared.codes, _spelled(prepared))
    left = [one for one in rows if not _is_reviewed(prepared, one.row - 1)]
    n_reviewed = len(rows) - len(left)
    return LabelReview(
        prepared.target.name,
        tuple(left),
        found.n_labels,
        found.n_expected,
        *found.interval,
        (
            *notes,
            *_untested_notes(found, prepared),
            *_reviewed_notes(n_reviewed, prepared.target.name),
        ),
        n_reviewed,
    )


def _is_reviewed(prepared: Prepared, row: int) -> bool:
    return prepared.reviewed is not None and bool(prepared.reviewed[row])


def _reviewed_notes(n: int, target: str) -> list[str]:
    """Say that some labels are not listed, because somebody has confirmed or corrected them."""
    if not n:
        return []
    return [
        f"{counted(n, 'doubtful label')} {'was' if n == 1 else 'were'} confirmed or corrected "
        f"before, as {reviewed_column(target)!r} says, and {'is' if n == 1 else 'are'} not listed; "
        "the estimated number of wrong labels does not take that into account."
    ]


def _spelled(prepared: Prepared) -> list[str]:
    """Return the classes as the table writes them."""
    return list(prepared.target.spelling or map(str, prepared.target.classes))


def _rows(found: DoubtfulLabels, codes: Array, names: Sequence[str]) -> list[DoubtfulRow]:
    return [
        DoubtfulRow(
            row + 1,
            names[given],
            names[likely],
            own,
            best,
            doubt,
            tuple((near + 1, names[codes[near]]) for near in nearest if near >= 0),
        )
        for row, given, likely, own, best, doubt, nearest in zip(
            found.indices.tolist(),
            found.given.tolist(),
            found.likely.tolist(),
            found.given_probability.tolist(),
            found.likely_probability.tolist(),
            found.scores.tolist(),
            found.nearest.tolist(),
            strict=True,
        )
    ]


def _untested_notes(found: DoubtfulLabels, prepared: Prepared) -> list[str]:
    """Say which labels could not be reviewed."""
    if not len(found.untested):
        return []
    codes = np.unique(prepared.codes[found.untested])
    names = _spelled(prepared)
    shown = listed((repr(names[code]) for code in codes), _NAMED)
    n = len(found.untested)
    return [
        f"{counted(n, 'label')} of {shown} {'was' if n == 1 else 'were'} not reviewed: without the "
        "row, its copies and its group no label of some class is left; label more rows of it."
    ]


def doubtful_cells(
    review: LabelReview, source: Source, *, missing: Sequence[str] = (), typed: bool = False
) -> pa.Table:
    """Return the doubtful rows as the table writes them, with the evidence as more columns.

    Parameters
    ----------
    review : LabelReview
    source : Source
        The table, from `find`.
    missing : sequence of str
        More ways to write a missing cell, as in `read`.
    typed : bool, default=False
        Give the columns of a CSV their types, for a file that stores them.
    """
    import pyarrow as pa

    target = review.target
    places = np.array([one.row - 1 for one in review.rows], dtype=np.int64)
    order = np.argsort(places)
    parts: list[pa.Table] = []
    start = 0
    for cells, _ in iter_chunks(source, missing=missing, labels=(target,)):
        inside = places[order]
        inside = inside[(inside >= start) & (inside < start + cells.num_rows)]
        if len(inside) or not parts:
            parts.append(cells.take(inside - start))
        start += cells.num_rows
    try:
        found = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise TableError(
            "The files of the table store the same column in types that do not go together, so "
            "its doubtful rows cannot be written to one file; review one file at a time.",
            code="review_types",
        ) from None
    found = found.take(np.argsort(order))
    if typed and source.format.is_text:
        found = text_types(source, missing=missing, labels=(target,)).cast(found)
    return _with_evidence(found, review)


def _with_evidence(cells: pa.Table, review: LabelReview) -> pa.Table:
    import pyarrow as pa

    names = review_columns(review.target)
    if taken := [name for name in names if name in cells.column_names]:
        raise TableError(
            f"The table already has a column {taken[0]!r}, a name that the review needs; rename or "
            "remove it.",
            code="review_column",
        )
    rows = review.rows
    columns = [
        pa.array([one.row for one in rows], pa.int64()),
        pa.array([one.likely for one in rows], pa.string()),
        pa.array([one.likely_probability for one in rows], pa.float64()),
        pa.array([one.given_probability for one in rows], pa.float64()),
        pa.array([one.doubt for one in rows], pa.float64()),
        pa.array([one.evidence for one in rows], pa.string()),
    ]
    for name, column in zip(names, columns, strict=True):
        cells = cells.append_column(name, [column])
    return cells
