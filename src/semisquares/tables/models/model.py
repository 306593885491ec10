"""A fitted table model: preparation, classifier, and what is known of both."""

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
from ...estimators.base import soft_labels
from ..arguments import instance, optional_text, refuse, text, texts, whole_number
from ..preparation import TablePreparation, as_frame

__all__ = ["Prediction", "TableModel", "slim", "without_cells"]

Array = NDArray[Any]

MODEL = "a model that fit_table or load has returned"
"""What functions of a model have to be given."""
WEIGHTS = ("coef_", "intercept_", "classes_", "feature_names_in_")
UNKNOWN = "a level that no table has"
MOST_MADE_UP = 1_000_000
"""Most rows that are made up to try a model with."""
MOST_ENTRIES = 256
"""Longest list kept of a classifier's parameters: grids are shorter, a value per row is not."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model says of the rows of a table."""

    labels: Array
    """(n,) in the user's own classes."""
    soft_labels: Array
    """(n, n_classes): not negative, each row sums to one."""
    decision: Array
    """(n,), positive for the second class; (n, n_classes) where there are more."""
    unseen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Levels that the fit has not seen, by column, with the number of their rows."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline, with the names that its table gave to target and classes.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted steps "preparation" (a `TablePreparation`) and "classifier" (one of this package's,
        fitted with the classes 0, 1, …).
    target : str
        The column that it predicts.
    classes : tuple
        The user's classes in the order of the classifier's: texts, whole numbers, floats or bools.
    group : str, optional
        The column that marked rows which belong together; it is no feature.
    unlabeled : str, optional
        What marked a missing label, besides an empty cell.
    missing : tuple of str
        The spellings of missing cells that the table was read with.
    about : mapping
        How it came about, as JSON can say it: method, alpha, metrics, certificate, versions, …;
        under "spelling" how the table writes the classes, where that is not Python's way.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables.preparation import make_table_pipeline
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
        needed = "a fitted pipeline with the steps preparation and classifier"
        steps = instance("pipeline", self.pipeline, Pipeline, needed).named_steps
        if not {"preparation", "classifier"} <= set(steps):
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
    def preparation(self) -> TablePreparation:
        """What turns the columns of a table into numbers."""
        return self.pipeline.named_steps["preparation"]

    @property
    def classifier(self) -> Any:
        """What turns those numbers into decision values."""
        return self.pipeline.named_steps["classifier"]

    def features(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table without its target and its group, where it has them.

        Parameters
        ----------
        frame : DataFrame
            A table as in the fit; the target may be there or not.
        """
        names = [name for name in (self.target, self.group) if name is not None]
        return as_frame(frame, "frame").drop(columns=names, errors="ignore")

    def predict(self, frame: pd.DataFrame) -> Prediction:
        """Predict the label of every row; cells of the target are not looked at.

        Parameters
        ----------
        frame : DataFrame
            A table with the columns of the fit. Levels of a category that the fit has not seen
            are taken as rare ones, and counted.
        """
        features = self.features(frame)
        unseen = self.preparation.unseen(features)
        if not len(features):  # scikit-learn refuses an empty table, though its answer is plain
            return self._nothing()
        X = self.preparation.transform(features)
        decision = self.classifier.decision_function(X)
        codes = decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0.0).astype(np.intp)
        return Prediction(
            self.class_values()[codes],
            soft_labels(decision + 0.5),
            decision,
            unseen,
        )

    def class_values(self) -> Array:
        """Return the classes as an array: of objects where they are texts."""
        text = any(isinstance(value, str) for value in self.classes)
        return np.array(self.classes, dtype=object if text else None)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The classes as the table writes them, such as "TRUE"; () where that is not known."""
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
        """Return rows to try the model with: values all over, unseen levels, missing cells.

        Parameters
        ----------
        n_rows : int
            At least so many; each level of a category is there at least once.
        """
        whole_number("n_rows", n_rows, 1, MOST_MADE_UP)
        rng = np.random.default_rng(0)
        columns = {}
        parts = self.preparation.transformer_.transformers_
        for kind, part, names in parts:
            for k, name in enumerate(names):
                columns[name] = _made_up(kind, part, k, rng)
        n_rows = max(n_rows, *map(len, columns.values()))
        return pd.DataFrame(
            {name: rng.permutation(np.resize(cells, n_rows)) for name, cells in columns.items()}
        )

    def _nothing(self) -> Prediction:
        n_classes = len(self.classes)
        decision = np.empty(0 if n_classes == 2 else (0, n_classes))
        return Prediction(self.class_values()[:0], np.empty((0, n_classes)), decision)


def slim(classifier: Any) -> Any:
    """Return a copy of a fitted classifier that predicts alike, and holds nothing of its rows.

    Kept are the weights, the numbers and words that the fit has set (`alpha_`, `certificate_`,
    `objective_`, …) and the parameters. A parameter that is no plain data, such as a splitter or
    labels to start from, goes back to its default: it mattered for the fit alone.

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


def without_cells(
    preparation: TablePreparation, write: Callable[[Parameter], str] = str
) -> TablePreparation:
    """Return a copy of a fitted preparation that does the same, without its examples of cells.

    Parameters
    ----------
    preparation : TablePreparation
    write : callable, default=str
        Writes the parameters that reasons name.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.preparation import TablePreparation
    >>> preparation = TablePreparation().fit(pd.DataFrame({"age": [30, 40], "name": ["Ann", "Bo"]}))
    >>> [column.example for column in preparation.columns_]
    ['30', 'Ann']
    >>> [column.example for column in without_cells(preparation).columns_]
    ['', '']
    """
    bare = copy(preparation)
    bare.columns_ = tuple(
        replace(column, example="", reason=render(column.reason, write))
        for column in preparation.columns_
    )
    return bare


def _made_up(kind: str, part: Any, place: int, rng: np.random.Generator) -> Array:
    """Return values of the column at a place of a part of the preparation, missing ones too."""
    if kind == "number":
        scaler = part["scale"]
        spread = rng.normal(scaler.mean_[place], 3.0 * scaler.scale_[place], 79)
        return np.append(spread, [np.nan] * 20)
    if kind == "boolean":
        return np.array([0.0, 1.0, np.nan])
    if kind == "date":
        days = rng.integers(0, 20_000, 79).astype("timedelta64[D]")
        return np.append(np.datetime64("1990-01-01", "us") + days, np.datetime64("NaT", "us"))
    return np.array([*part.categories_[place], UNKNOWN, None], dtype=object)


def _is_plain(value: Any) -> bool:
    """Say whether a parameter is data, and so little of it that it cannot be one value per row."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf" and len(value) <= MOST_ENTRIES
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return len(value) <= MOST_ENTRIES and all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _unwrapped(value: Any) -> Any:
    """Return plain data with numbers of Python in place of numpy's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {_unwrapped(k): _unwrapped(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_unwrapped(one) for one in value)
    return value
