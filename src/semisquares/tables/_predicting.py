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
from ._written import marker_column, prediction_columns
from .columns import Column
from .columns._cells import text_of
from .errors import TableError
from .io import Source, iter_chunks, text_types
from .models.model import Prediction, TableModel
from .target import has_label

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 100_000


@dataclass
class PredictionCounts:
    """Counts over a run of predictions."""

    n_rows: int = 0
    n_filled: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    """Predicted labels."""
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    replaced: Counter[str] = field(default_factory=Counter)
    """Texts of target cells that were filled although they were not empty."""
    signed: dict[str, bool] = field(default_factory=dict)
    """For columns that were fitted from cells with %: whether any cell has it here."""

    @property
    def notes(self) -> list[str]:
        """Remarks on the numbers, a sentence each."""
        return [
            f"Column {name!r} was fitted from cells with %, and here none has it: numbers are read "
            "as percent, so write 72.5 and not 0.725."
            for name, signed in self.signed.items()
            if not signed
        ]

    def add(self, prediction: Prediction) -> None:
        """Count the predictions of one batch."""
        self.n_filled += len(prediction.labels)
        self.labels.update(map(str, prediction.labels.tolist()))
        for column, levels in prediction.unseen.items():
            self.unseen.setdefault(column, Counter()).update(levels)

    def check_signs(self, frame: pd.DataFrame, columns: Iterable[Column]) -> None:
        """Check whether the numbers of one batch are written with %."""
        for name in (column.name for column in columns if column.format == "%"):
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
        Fill the cells of the target that are not a label (see `read_target`), and add a column
        that marks them. Otherwise add columns with the predicted label, soft labels and decision
        values of all rows.
    typed : bool, default=False
        Give the columns of a CSV the types of their cells, for a file that keeps types. Otherwise
        they are the text of the CSV.
    rows : int
        Rows per batch.
    progress : callable
        Called with the number of rows that are done.
    """
    names = _new_names(model, only_missing=only_missing)
    numbers = [column.name for column in model.encoder.columns if column.kind == "number"]
    cast = _caster(model, source, rows) if typed and source.format.is_text else lambda cells: cells
    for cells, frame in iter_chunks(
        source, missing=model.missing, rows=rows, numbers=numbers, labels=(model.target,)
    ):
        if counts.n_rows == 0:
            _check_names(model, cells, names, only_missing=only_missing)
        if only_missing:
            yield cast(_filled(model, cells, frame, names[0], counts))
        else:
            prediction = model.predict(frame)
            counts.add(prediction)
            yield cast(_beside(model, cells, prediction, names))
        counts.check_signs(frame, model.encoder.columns)
        counts.n_rows += len(frame)
        progress(counts.n_rows)


def _caster(model: TableModel, source: Source, rows: int) -> Callable[[pa.Table], pa.Table]:
    """Return a function that gives the columns of a CSV, with the predictions, their types."""
    types = text_types(source, missing=model.missing, rows=rows, labels=(model.target,))
    spelled = [model.spelling(value) for value in model.classes]
    for name in (model.target, f"{model.target}_predicted"):
        types.add_cells(name, spelled)  # the target need not hold all of them
    return types.cast


def _new_names(model: TableModel, *, only_missing: bool) -> list[str]:
    target, classes = model.target, [model.spelling(value) for value in model.classes]
    if only_missing:
        return [marker_column(target)]
    return prediction_columns(target, classes)


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
    model: TableModel, cells: pa.Table, prediction: Prediction, names: list[str]
) -> pa.Table:
    """Append the predictions to the cells of a batch."""
    decision = prediction.decision
    two = decision.ndim == 1
    soft = prediction.soft_labels[:, 1:] if two else prediction.soft_labels
    decisions = decision[:, None] if two else decision
    columns: list[Any] = [_labels(model, prediction.labels), *soft.T, *decisions.T]
    for name, column in zip(names, columns, strict=True):
        cells = cells.append_column(name, [column])
    return cells


def _filled(
    model: TableModel, cells: pa.Table, frame: pd.DataFrame, name: str, counts: PredictionCounts
) -> pa.Table:
    """Fill the cells of the target that are not a label, and mark them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = ~has_label(frame[model.target], model.unlabeled)
    prediction = model.predict(frame[empty])
    counts.add(prediction)
    place = cells.column_names.index(model.target)
    column = cells.column(place).combine_chunks()
    labels = _labels(model, prediction.labels)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    counts.replaced.update(_words(column.filter(pa.array(empty))))
    try:
        filled = pc.replace_with_mask(column, pa.array(empty), labels.cast(column.type))
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
    return cells.append_column(name, [pa.array(empty)])


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
