"""A fitted table model: encoder, classifier, and how they came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..._utils.messages import Parameter, render
from ...estimators._base import soft_labels
from .._arguments import instance, optional_text, refuse, text, texts, whole_number
from ..encoder import TableEncoder, as_frame

__all__ = ["Prediction", "TableModel", "slim", "without_cells"]

Array = NDArray[Any]

MODEL = "a model that fit_table or load has returned"
"""What functions that take a model need, for messages."""
WEIGHTS = ("coef_", "intercept_", "classes_", "feature_names_in_")
MOST_MADE_UP = 1_000_000
"""Most rows that `made_up_rows` returns."""
MOST_ENTRIES = 256
"""Longest list that is kept as a parameter: grids are shorter, a value per row is longer."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictions of a model for the rows of a table."""

    labels: Array
    """(n,) in the user's own classes."""
    soft_labels: Array
    """(n, n_classes): not negative, each row sums to one."""
    decision: Array
    """(n,), positive for the second class; (n, n_classes) if there are more than two."""
    unseen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Levels that the fit has not seen, by column, with their numbers of rows."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline with the target and the classes of its table.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted steps "encoder" (a `TableEncoder`) and "classifier" (one of this package, fitted with
        the classes 0, 1, …).
    target : str
        The column that it predicts.
    classes : tuple
        The user's classes in the order of the classifier: texts, whole numbers, floats or bools.
    group : str, optional
        The column that marks rows which belong together; it is not a feature.
    unlabeled : str, optional
        What marks a missing label, besides an empty cell.
    missing : tuple of str
        The spellings of missing cells that the table was read with.
    about : mapping
        How it came about, as JSON values: method, alpha, metrics, certificate, versions, …;
        "spelling" is how the table writes the classes, if Python writes them differently.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61, 70], "town": ["A", "B", "B", "A", "A"]})
    >>> pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, [0, 0, 1, -1, -1])
    >>> model = TableModel(pipeline, "sick", ("no", "yes"))
    >>> model.predict(frame).labels.tolist()
    ['no', 'no', 'yes', 'yes', 'yes']
    """

    pipeline: Pipeline
    target: str
    classes: tuple[Any, ...]
    group: str | None = None
    unlabeled: str | None = None
    missing: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        needed = "a fitted pipeline with the steps encoder and classifier"
        steps = instance("pipeline", self.pipeline, Pipeline, needed).named_steps
        if not {"encoder", "classifier"} <= set(steps):
            raise refuse("pipeline", self.pipeline, needed)
        text("target", self.target, "the name of a column, a text")
        classes = "the classes as a tuple of texts or numbers"
        if not all(
            isinstance(value, str | int | float | np.generic)
            for value in instance("classes", self.classes, tuple, classes)
        ):
            raise refuse("classes", self.classes, classes)
        optional_text("group", self.group, "the name of a column, a text, or None")
        optional_text("unlabeled", self.unlabeled)
        texts("missing", self.missing)
        if not isinstance(self.about, Mapping):
            raise refuse("about", self.about, "a mapping")

    @property
    def encoder(self) -> TableEncoder:
        """Turns the columns of a table into numbers."""
        return self.pipeline.named_steps["encoder"]

    @property
    def classifier(self) -> Any:
        """Turns encoded rows into decision values."""
        return self.pipeline.named_steps["classifier"]

    def features(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table without its target and its group, if it has them.

        Parameters
        ----------
        frame : DataFrame
            A table as in the fit; the target is optional.
        """
        names = [name for name in (self.target, self.group) if name is not None]
        return as_frame(frame, "frame").drop(columns=names, errors="ignore")

    def predict(self, frame: pd.DataFrame) -> Prediction:
        """Predict the label of every row; cells of the target are ignored.

        Parameters
        ----------
        frame : DataFrame
            A table with the columns of the fit. Levels of a category that the fit has not seen
            are counted, and encoded as rare levels.
        """
        features = self.features(frame)
        unseen = self.encoder.unseen(features)
        if not len(features):  # which scikit-learn refuses
            return self._nothing()
        X = self.encoder.transform(features)
        decision = self.classifier.decision_function(X)
        codes = decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0.0).astype(np.intp)
        return Prediction(
            self.class_values()[codes],
            soft_labels(decision + 0.5),
            decision,
            unseen,
        )

    def class_values(self) -> Array:
        """Return the classes as an array, of objects if they are texts."""
        text = any(isinstance(value, str) for value in self.classes)
        return np.array(self.classes, dtype=object if text else None)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The classes as the table writes them, such as "TRUE"; () if that is not known."""
        return tuple(self.about.get("spelling", ()))

    def spelling(self, value: Any) -> str:
        """Return a class as the table writes it."""
        if not isinstance(value, str | int | float | np.generic) or value not in self.classes:
            raise refuse("value", value, f"one of the classes {', '.join(map(repr, self.classes))}")
        return self.spelled[self.classes.index(value)] if self.spelled else str(value)

    def with_missing(self, more: Sequence[str]) -> TableModel:
        """Return the model with more spellings of missing cells."""
        found = dict.fromkeys((*self.missing, *texts("more", more)))
        return replace(self, missing=tuple(found))

    def made_up_rows(self, n_rows: int = 200) -> pd.DataFrame:
        """Return rows to try the model with: a wide range of values, unseen levels, missing cells.

        Parameters
        ----------
        n_rows : int
            The least number of rows; each level of a category is there at least once.
        """
        whole_number("n_rows", n_rows, 1, MOST_MADE_UP)
        rng = np.random.default_rng(0)
        columns = {
            name: encoder.made_up_cells(place, rng)
            for encoder in self.encoder.encoders_.values()
            for place, name in enumerate(encoder.columns)
        }
        n_rows = max(n_rows, *map(len, columns.values()))
        return pd.DataFrame(
            {name: rng.permutation(np.resize(cells, n_rows)) for name, cells in columns.items()}
        )

    def _nothing(self) -> Prediction:
        n_classes = len(self.classes)
        decision = np.empty(0 if n_classes == 2 else (0, n_classes))
        return Prediction(self.class_values()[:0], np.empty((0, n_classes)), decision)


def slim(classifier: Any) -> Any:
    """Return a copy of a fitted classifier that predicts the same and holds no rows.

    It keeps the weights, the numbers and texts that the fit has set (`alpha_`, `certificate_`,
    `objective_`, …) and the parameters. A parameter that is not plain data, such as a splitter or
    initial labels, is reset to its default: it mattered only for the fit.

    Parameters
    ----------
    classifier : estimator
        A fitted classifier of this package.

    Examples
    --------
    >>> from semisquares import SoftLabelClassifier
    >>> model = SoftLabelClassifier().fit([[0.0], [1.0], [3.0]], [0, 1, -1])
    >>> hasattr(model, "transduction_"), hasattr(slim(model), "transduction_")
    (True, False)
    >>> bool((slim(model).coef_ == model.coef_).all())
    True
    """
    parameters = classifier.get_params(deep=False)
    bare = type(classifier)(**{k: _unwrapped(v) for k, v in parameters.items() if _is_plain(v)})
    for name, value in vars(classifier).items():
        if name in WEIGHTS:
            setattr(bare, name, value)
        elif name.endswith("_") and isinstance(value, bool | int | float | str | np.generic):
            setattr(bare, name, _unwrapped(value))
    return bare


def without_cells(encoder: TableEncoder, write: Callable[[Parameter], str] = str) -> TableEncoder:
    """Return a copy of a fitted encoder without its examples of cells.

    Parameters
    ----------
    encoder : TableEncoder
    write : callable, default=str
        Writes the parameters that reasons name.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = TableEncoder().fit(pd.DataFrame({"age": [30, 40], "name": ["Ann", "Bo"]}))
    >>> [column.example for column in encoder.columns_]
    ['30', 'Ann']
    >>> [column.example for column in without_cells(encoder).columns_]
    ['', '']
    """
    bare = copy(encoder)
    bare.columns_ = tuple(
        replace(column, example="", reason=render(column.reason, write))
        for column in encoder.columns_
    )
    return bare


def _is_plain(value: Any) -> bool:
    """Tell whether a parameter is plain data, and too short to be one value per row."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf" and len(value) <= MOST_ENTRIES
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return len(value) <= MOST_ENTRIES and all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _unwrapped(value: Any) -> Any:
    """Return plain data with Python numbers in place of NumPy numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {_unwrapped(k): _unwrapped(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_unwrapped(one) for one in value)
    return value
