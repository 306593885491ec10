"""Predict a table of any length batch by batch, and add the predictions as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.messages import Parameter
from .._utils.typing import Array
from .._utils.words import counted
from ._arguments import whole_number
from ._drift import Drift
from ._encoding import UNNAMED
from ._missed import MissedClass, find_missed, missed_notes
from ._written import marker_column, prediction_columns, probability_columns, reason_columns
from .columns import Column
from .columns._cells import text_of
from .errors import TableError
from .io import Source, iter_chunks, text_types
from .models.model import Prediction, TableModel, ignored_note
from .target import has_label

if TYPE_CHECKING:
    import pyarrow as pa

    from ._explaining import Explanation

BATCH = 100_000


@dataclass
class PredictionCounts:
    """Counts over a run of predictions."""

    n_rows: int = 0
    n_filled: int = 0
    n_doubtful: int = 0
    """Rows without a prediction, because it would be less probable than `min_confidence`."""
    n_less_probable: int = 0
    """Rows in which another class than the predicted one is more probable."""
    calibrated: bool = True
    """Whether the probabilities are calibrated."""
    labels: Counter[str] = field(default_factory=Counter)
    """Predicted labels."""
    answers: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """How often each class was the answer, also if it was left out as doubtful."""
    missed: tuple[MissedClass, ...] = ()
    """Classes that are the answer for no row, although the labels let expect some."""
    noticed: tuple[Any, ...] = ()
    """Classes of which the fit has said so."""
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    replaced: Counter[str] = field(default_factory=Counter)
    """Texts of target cells that were filled although they were not empty."""
    signed: dict[str, bool] = field(default_factory=dict)
    """For columns that were fitted from cells with %: whether any cell has it here."""
    ignored: tuple[str, ...] = ()
    """Columns that the fit has not seen."""
    drift: Drift = field(default_factory=Drift)
    """How the predicted rows differ from those of the fit."""
    n_reasons: int = 0
    """Reasons that are written for each row."""
    n_asked: int = 0
    """Reasons that were asked for, which may be more than the model has columns."""

    @property
    def notes(self) -> list[str]:
        """Remarks on columns and numbers, a sentence each."""
        signs = [
            f"Column {name!r} was fitted from cells with %, and here none has it: numbers are read "
            "as percent, so write 72.5 and not 0.725."
            for name, signed in self.signed.items()
            if not signed
        ]
        reasons = []
        if self.n_reasons < self.n_asked:
            reasons.append(
                f"The model uses {counted(self.n_reasons, 'column')}, so each row has at most "
                f"{counted(self.n_reasons, 'reason')}, not {self.n_asked:,}."
            )
        calibration = []
        if not self.calibrated:
            calibration.append(
                "The model was stored without a calibration: its probabilities are the "
                "classifier's own, and may be too sure."
            )
        missed = missed_notes([one for one in self.missed if one.name not in self.noticed])
        found = [*ignored_note(self.ignored), *signs, *calibration, *reasons, *missed]
        return [*found, *self.drift.notes]

    def add(self, prediction: Prediction, certain: Array) -> None:
        """Count the predictions of one batch; those that are not `certain` are left out."""
        self.n_filled += int(certain.sum())
        self.n_doubtful += int((~certain).sum())
        self.n_less_probable += int(prediction.is_less_probable[certain].sum())
        self.labels.update(map(str, prediction.labels[certain].tolist()))
        self.answers = self.answers + np.bincount(prediction.codes, minlength=len(self.answers))
        for column, levels in prediction.unseen.items():
            self.unseen.setdefault(column, Counter()).update(levels)
        self.ignored = prediction.ignored
        self.drift = self.drift.merge(prediction.drift)

    def check_signs(self, frame: pd.DataFrame, columns: Iterable[Column]) -> None:
        """Check whether the numbers of one batch are written with %."""
        for name in (column.name for column in columns if column.used and column.format == "%"):
            cells = frame[name].dropna()
            signed = cells.dtype.kind not in "iuf" and cells.astype(str).str.contains("%").any()
            if len(cells):
                self.signed[name] = bool(signed) or self.signed.get(name, False)


def predict_rows(
    model: TableModel,
    source: Source,
    counts: PredictionCounts,
    *,
    only_missing: bool = False,
    all_probabilities: bool = False,
    min_confidence: float = 0.0,
    explain: int = 0,
    typed: bool = False,
    rows: int = BATCH,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[pa.Table]:
    """Yield the rows of a table with their predictions.

    Parameters
    ----------
    model : TableModel
    source : Source
        From `find`.
    counts : PredictionCounts
        Updated with each batch.
    only_missing : bool, default=False
        Fill the cells of the target that are not a label (see `read_target`), and add columns
        that mark them and hold the probabilities of the labels. Otherwise add columns with the
        predicted label, its probability, decision values and, if the classifier has them, soft
        labels of all rows.
    all_probabilities : bool, default=False
        Add a column with the probability of each class.
    min_confidence : float, default=0
        Leave labels out that are less probable than this; their probabilities are written.
    explain : int, default=0
        Add this many pairs of columns, or as many as the model uses: the columns that moved a row
        most, and their changes in the probability of its label (see `TableModel.predict`). Empty
        if no further column moved the row, or if the row had a label.
    typed : bool, default=False
        Give the columns of a CSV the types of their cells, for a file that keeps types. Otherwise
        they are the text of the CSV.
    rows : int
        Rows per batch.
    progress : callable
        Called with the number of rows that are done.
    """
    counts.calibrated = model.is_calibrated
    counts.noticed = tuple(model.useless_for)
    counts.answers = np.zeros(len(model.classes), dtype=np.intp)
    names = _new_names(model, only_missing=only_missing, all_probabilities=all_probabilities)
    whole_number("explain", explain, 0)
    counts.n_asked, counts.n_reasons = explain, min(explain, len(model.encoder.places))
    reasons = reason_columns(model.target, counts.n_reasons)
    numbers = {column.name for column in model.encoder.columns if column.kind == "number"}
    numbers |= set(UNNAMED) if numbers.intersection(UNNAMED) else set()
    cast = _caster(model, source, rows) if typed and source.format.is_text else lambda cells: cells
    for cells, frame in iter_chunks(
        source, missing=model.missing, rows=rows, numbers=numbers, labels=(model.target,)
    ):
        if counts.n_rows == 0:
            _check_names(model, cells, [*names, *reasons], only_missing=only_missing)
        predicted = np.ones(len(frame), dtype=bool)
        if only_missing:
            predicted = ~np.array(has_label(frame[model.target], model.unlabeled))
        prediction = model.predict(frame[predicted], explain=counts.n_reasons)
        certain = prediction.confidence >= min_confidence
        counts.add(prediction, certain)
        if only_missing:
            cells = _filled(model, cells, predicted, prediction, names, counts, certain)
        else:
            cells = _beside(model, cells, prediction, names, certain)
        yield cast(_with_reasons(cells, prediction.explanation, reasons, predicted))
        counts.check_signs(model.encoder.rename_index(frame), model.encoder.columns)
        counts.n_rows += len(frame)
        counts.missed = find_missed(counts.answers, model.label_counts, model.classes)
        progress(counts.n_rows)


def _caster(model: TableModel, source: Source, rows: int) -> Callable[[pa.Table], pa.Table]:
    """Return a function that gives the columns of a CSV, with the predictions, their types."""
    types = text_types(source, missing=model.missing, rows=rows, labels=(model.target,))
    spelled = [model.spelling(value) for value in model.classes]
    for name in (model.target, f"{model.target}_predicted"):
        types.add_cells(name, spelled)  # the target need not hold all of them
    return types.cast


def _new_names(model: TableModel, *, only_missing: bool, all_probabilities: bool) -> list[str]:
    target, classes = model.target, [model.spelling(value) for value in model.classes]
    if only_missing:
        sure = probability_columns(target, classes, all_probabilities=all_probabilities)
        return [marker_column(target), *sure]
    return prediction_columns(
        target,
        classes,
        soft_labels=model.has_soft_labels,
        all_probabilities=all_probabilities,
    )


def _check_names(
    model: TableModel, cells: pa.Table, names: list[str], *, only_missing: bool
) -> None:
    if taken := [name for name in names if name in cells.column_names]:
        raise TableError(
            f"The table already has a column {taken[0]!r}, a name that the predictions need; "
            "rename or remove it.",
            code="column_exists",
        )
    if only_missing and model.target not in cells.column_names:
        raise TableError(
            "The table has no column {target!r} whose empty cells could be filled; leave "
            "{only_missing} out to predict all rows.",
            code="no_target",
            target=model.target,
            only_missing=Parameter("only_missing"),
        )


def _beside(
    model: TableModel, cells: pa.Table, prediction: Prediction, names: list[str], certain: Array
) -> pa.Table:
    """Append the predictions to the cells of a batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    decision = prediction.decision
    two = decision.ndim == 1
    soft = prediction.soft_labels[:, 1:] if two else prediction.soft_labels
    decisions = decision[:, None] if two else decision
    labels = _labels(model, prediction.labels)
    labels = pc.if_else(pa.array(certain), labels, pa.scalar(None, labels.type))
    numbers = [*(soft.T if model.has_soft_labels else ()), *decisions.T]
    n_probabilities = len(names) - len(numbers) - 1
    columns: list[Any] = [labels, *_probabilities(prediction, n_probabilities), *numbers]
    for name, column in zip(names, columns, strict=True):
        cells = cells.append_column(name, [column])
    return cells


def _probabilities(prediction: Prediction, n_columns: int) -> list[Array]:
    """Return the probability of the predicted class and, if there are more columns, of each."""
    found = [prediction.confidence]
    return found if n_columns == 1 else [*found, *prediction.probabilities.T]


def _with_reasons(
    cells: pa.Table, explanation: Explanation | None, names: list[str], predicted: Array
) -> pa.Table:
    """Append the columns that moved the rows most, and their changes."""
    import pyarrow as pa

    if explanation is None:
        return cells
    known = pa.array(explanation.columns, type=pa.string())
    for k, pair in enumerate(zip(names[::2], names[1::2], strict=True)):
        places, changes = np.full(len(predicted), -1), np.zeros(len(predicted))
        places[predicted] = explanation.places[:, k]
        changes[predicted] = explanation.changes[:, k]
        none = places < 0
        reasons = known.take(pa.array(places, mask=none))
        for name, column in zip(pair, (reasons, pa.array(changes, mask=none)), strict=True):
            cells = cells.append_column(name, [column])
    return cells


def _filled(
    model: TableModel,
    cells: pa.Table,
    empty: Array,
    prediction: Prediction,
    names: list[str],
    counts: PredictionCounts,
    certain: Array,
) -> pa.Table:
    """Fill the cells of the target that are not a label, and mark them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = cells.column_names.index(model.target)
    column = cells.column(place).combine_chunks()
    labels = _labels(model, prediction.labels).filter(pa.array(certain))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    marks = empty.copy()
    marks[marks] = certain
    counts.replaced.update(_words(column.filter(pa.array(marks))))
    try:
        filled = pc.replace_with_mask(column, pa.array(marks), labels.cast(column.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TableError(
            "Column {target!r} holds {type} here, and the model's classes {classes} cannot be "
            "written into it; leave {only_missing} out to get them in a column of their own.",
            code="target_type",
            target=model.target,
            type=str(column.type),
            classes=", ".join(map(repr, model.classes)),
            only_missing=Parameter("only_missing"),
        ) from None
    cells = cells.set_column(place, model.target, filled)
    cells = cells.append_column(names[0], [pa.array(marks)])
    found = _probabilities(prediction, len(names) - 1)
    for name, known in zip(names[1:], found, strict=True):
        values = np.zeros(len(marks))
        values[empty] = known
        cells = cells.append_column(name, [pa.array(values, mask=~empty)])
    return cells


def _words(cells: pa.Array) -> Iterator[str]:
    """Yield the cells that are not empty as text."""
    for cell in pd.Series(cells.to_pandas()).dropna():
        if text := text_of(cell):
            yield text


def _labels(model: TableModel, labels: Array) -> pa.Array:
    """Return labels as an Arrow array, with texts as the fitted table spells them."""
    import pyarrow as pa

    spelled = np.array([model.spelling(value) for value in model.classes], dtype=object)
    if any(isinstance(value, str) for value in model.classes) or model.spelled:
        codes = pd.Index(model.class_values()).get_indexer(labels)
        return pa.array(spelled[codes], type=pa.string())
    return pa.array(labels)
