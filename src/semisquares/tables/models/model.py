"""A fitted table model: encoder, classifier, and how they came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.messages import Parameter, join, render
from ..._utils.typing import Array
from .._arguments import instance, optional_text, refuse, text, texts, whole_number
from .._drift import Drift
from .._encoding import Encoding, as_frame, listed_columns
from .._explaining import Explanation, probability_changes
from .._missed import MissedClass, find_missed, missed_notes
from ._calibration import DecisionCalibration
from ._operating_point import OperatingPoint, PointOptions, own_answers, read_point
from .predictors import LinearScores, Predictor, read_predictor

__all__ = ["Prediction", "TableModel", "ignored_note"]


MODEL = "a model that fit_table or load has returned"
"""What functions that take a model need, for messages."""
MOST_MADE_UP = 1_000_000
"""Most rows that `made_up_rows` returns."""
_NEVER = "never_predicted"
_REPEATED = ("shift", "leak", _NEVER)
"""Kinds of notices that also matter when the model predicts."""
_MOST_NAMED = 5
_MOST_LABELS = 2**53
"""Larger numbers of labels are not exact as floats, and make no sense."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictions of a model for the rows of a table."""

    labels: Array
    """(n,) in the user's own classes."""
    codes: Array
    """(n,) the places of the labels among the classes."""
    soft_labels: Array
    """(n, n_classes): not negative, each row sums to one. Probabilities, if the classifier has
    them: if it is not linear least squares."""
    decision: Array
    """(n,), positive for the second class; (n, n_classes) if there are more than two."""
    probabilities: Array
    """(n, n_classes): calibrated (see `TableModel.is_calibrated`); each row sums to one."""
    unseen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Levels that the fit has not seen, by column, with their numbers of rows."""
    ignored: tuple[str, ...] = ()
    """Columns of the table that the fit has not seen."""
    drift: Drift = field(default_factory=Drift)
    """How the rows differ from those of the fit."""
    missed: tuple[MissedClass, ...] = ()
    """Classes that no row was given, although the labels let expect some."""
    explanation: Explanation | None = None
    """The columns that moved each row most, if asked for."""

    @property
    def notes(self) -> list[str]:
        """What to know: columns that were ignored, missed classes, and differences to the fit."""
        return [*ignored_note(self.ignored), *missed_notes(self.missed), *self.drift.notes]

    @property
    def confidence(self) -> Array:
        """The probability of the predicted class, (n,)."""
        return self.probabilities[np.arange(len(self.labels)), self.codes]

    @property
    def is_less_probable(self) -> Array:
        """Whether another class is more probable than the predicted one, (n,)."""
        return self.confidence < self.probabilities.max(axis=1)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted encoder and classifier, with the target and the classes of their table.

    Parameters
    ----------
    encoder : Encoding
        Turns the columns of a table into numbers: ``encoding_`` of a fitted `TableEncoder`.
    classifier : Predictor
        Turns encoded rows into decision values and probabilities.
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
    calibration : DecisionCalibration, optional
        Turns decision values into probabilities; None for the classifier's own.
    operating_point : OperatingPoint, optional
        Which class is answered, given the probabilities; None for the classifier's own answers.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61, 70], "town": ["A", "B", "B", "A", "A"]})
    >>> pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, [0, 0, 1, -1, -1])
    >>> model = TableModel.from_pipeline(pipeline, "sick", ("no", "yes"))
    >>> model.predict(frame).labels.tolist()
    ['no', 'no', 'yes', 'yes', 'yes']
    """

    encoder: Encoding
    classifier: Predictor
    target: str
    classes: tuple[Any, ...]
    group: str | None = None
    unlabeled: str | None = None
    missing: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    calibration: DecisionCalibration | None = None
    operating_point: OperatingPoint | None = None

    def __post_init__(self) -> None:
        instance("encoder", self.encoder, Encoding, "the encoding_ of a fitted TableEncoder")
        instance("classifier", self.classifier, Predictor, "the weights of a classifier")  # type: ignore[type-abstract]
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
        if self.calibration is not None:
            instance(
                "calibration",
                self.calibration,
                DecisionCalibration,
                "a DecisionCalibration, or None",
            )
        if self.operating_point is not None:
            needed = "an operating point, or None; predict and fit_table make it"
            instance("operating_point", self.operating_point, OperatingPoint, needed)  # type: ignore[type-abstract]

    @classmethod
    def from_pipeline(
        cls, pipeline: Any, target: str, classes: tuple[Any, ...], **details: Any
    ) -> TableModel:
        """Make a model of a fitted pipeline.

        Parameters
        ----------
        pipeline : Pipeline
            Fitted steps "encoder" (a `TableEncoder`) and "classifier" (of semisquares, or logistic
            regression, a random forest or histogram gradient boosting, fitted with the classes
            0, 1, …), as `make_table_pipeline` returns it.
        target, classes
            As in `TableModel`.
        **details
            Its other parameters.
        """
        steps = getattr(pipeline, "named_steps", {})
        encoding = getattr(steps.get("encoder"), "encoding_", None)
        fitted = hasattr(steps.get("classifier"), "classes_")
        if encoding is None or not fitted:
            needed = "a fitted pipeline with the steps encoder and classifier"
            raise refuse("pipeline", pipeline, needed)
        from ._converting import predictor_of  # which needs scikit-learn

        scores = predictor_of(steps["classifier"])
        return cls(encoding, scores, target, classes, **details)

    def features(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table without its target and its group, if it has them.

        Parameters
        ----------
        frame : DataFrame
            A table as in the fit; the target is optional.
        """
        names = [name for name in (self.target, self.group) if name is not None]
        features = as_frame(frame, "frame").drop(columns=names, errors="ignore")
        return self.encoder.rename_index(features)

    def predict(
        self,
        frame: pd.DataFrame,
        *,
        explain: int = 0,
        balanced: bool = False,
        threshold: float | Mapping[Any, float] | None = None,
        costs: Mapping[Any, float] | pd.DataFrame | None = None,
    ) -> Prediction:
        """Predict the label of every row; cells of the target are ignored.

        Parameters
        ----------
        frame : DataFrame
            A table with the columns of the fit. Others are ignored, and listed in the prediction.
            Levels of a category that the fit has not seen are counted, and encoded as rare levels.
        explain : int, default=0
            Find this many columns for each row that moved it most, or as many as the model uses:
            ``explanation`` has their signed changes in the probability of the predicted class,
            compared with the column being set to its typical value. That is the mean of numbers,
            of parts of dates and of the features of texts, the most frequent level of categories
            and booleans, and missing if most of its cells are.
        balanced, threshold, costs
            Another operating point than that of the model, as in `fit_table`.

        Examples
        --------
        >>> import pandas as pd
        >>> from semisquares.tables import fit_table, prepare
        >>> kinds = ["a", "a", "a", "b", "b", "b", None, None]
        >>> sizes, tags = [1, 2, 3, 7, 8, 9, 2, 8], [0, 1, 0, 1, 0, 1, 0, 1]
        >>> frame = pd.DataFrame({"size": sizes, "tag": tags, "kind": kinds})
        >>> model = fit_table(prepare(frame, "kind"), method="soft", alpha=1.0, weight=1.0)
        >>> found = model.predict(frame[:1], explain=1)
        >>> found.labels.tolist(), found.explanation.names.tolist()
        (['a'], [['size']])
        >>> found.explanation.changes.round(1).tolist()
        [[0.4]]
        """
        whole_number("explain", explain, 0)
        asked = PointOptions(balanced, threshold, costs)
        return self.with_operating_point(asked)._predict(frame, explain)

    def with_operating_point(self, options: PointOptions) -> TableModel:
        """Return the model with another operating point, or itself if none is asked for.

        The scores in `about` stay those of the fit; what it says of classes that are never
        predicted no longer holds, and is left out.
        """
        if not options.is_given:
            return self
        point = options.resolve(self.classes, self.label_counts, self.spelled)
        notices = [one for one in self.about.get("notices", ()) if one["kind"] != _NEVER]
        return replace(self, operating_point=point, about={**self.about, "notices": notices})

    @property
    def label_counts(self) -> tuple[int, ...] | None:
        """The number of labels of each class in the fit; None if that is not known."""
        counts = self.about.get("counts")
        if not isinstance(counts, list | tuple) or len(counts) != len(self.classes):
            return None
        sensible = all(type(one) is int and 0 < one < _MOST_LABELS for one in counts)
        return tuple(counts) if sensible else None

    def _predict(self, frame: pd.DataFrame, explain: int) -> Prediction:
        """Predict the label of every row with the model's own operating point."""
        features = self.features(frame)
        unseen = self.encoder.unseen(features)
        cells = self.encoder.clean(features)
        X = self.encoder.encode(cells)
        decision, soft = self.classifier.evaluate(X)
        known, point = self.calibration, self.operating_point
        probabilities = soft
        if known is not None:
            probabilities = known.probabilities(self.classifier.to_calibrate(decision))
        codes = own_answers(decision) if point is None else point.decide(probabilities)
        answers = np.bincount(codes, minlength=len(self.classes))
        return Prediction(
            self.class_values()[codes],
            codes,
            soft,
            decision,
            probabilities,
            unseen,
            self.encoder.unknown(features),
            self.encoder.drift(cells),
            find_missed(answers, self.label_counts, self.classes),
            self._explain(X, codes, explain) if explain else None,
        )

    def _explain(self, X: Array, codes: Array, most: int) -> Explanation:
        """Find the columns that moved each row most towards or away from its class."""
        changes = probability_changes(self.encoder, self.classifier, self.calibration, X, codes)
        return Explanation.strongest(tuple(self.encoder.places), changes, most)

    @property
    def has_soft_labels(self) -> bool:
        """Whether its classifier is linear least squares; others have probabilities instead."""
        return isinstance(self.classifier, LinearScores)

    @property
    def is_calibrated(self) -> bool:
        """Whether its probabilities are calibrated; otherwise they are the classifier's own."""
        return self.calibration is not None or self.classifier.type == "averaged"

    def class_values(self) -> Array:
        """Return the classes as an array, of objects if they are texts."""
        text = any(isinstance(value, str) for value in self.classes)
        return np.array(self.classes, dtype=object if text else None)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The classes as the table writes them, such as "TRUE"; () if that is not known."""
        return tuple(self.about.get("spelling", ()))

    @property
    def warnings(self) -> list[str]:
        """What was noticed in the fit and matters for all predictions, such as shifts and leaks."""
        found = (one for one in self.about.get("notices", ()) if one["kind"] in _REPEATED)
        return [join(" ", (one["sentence"], one["meaning"])) for one in found]

    @property
    def useless_for(self) -> list[Any]:
        """Classes that, as was noticed in the fit, are never predicted."""
        found = (one for one in self.about.get("notices", ()) if one["kind"] == _NEVER)
        return [name for one in found for name in one.get("facts", {}).get("classes", ())]

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
            for encoder in self.encoder.encoders.values()
            for place, name in enumerate(encoder.columns)
        }
        n_rows = max(n_rows, *map(len, columns.values()))
        return pd.DataFrame(
            {name: rng.permutation(np.resize(cells, n_rows)) for name, cells in columns.items()}
        )

    def to_plain(self, write: Callable[[Parameter], str] = str) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores the model.

        They hold no row of the table, unless ``classifier.holds_rows``: then they hold encoded and
        standardised rows. Of single cells they hold the levels of categories, and of each column
        of numbers or dates the range and some quantiles.

        Parameters
        ----------
        write : callable, default=str
            Writes the parameters that notes name: the command line stores options.
        """
        point = self.operating_point
        return {
            "target": self.target,
            "classes": [v.item() if isinstance(v, np.generic) else v for v in self.classes],
            "group": self.group,
            "unlabeled": self.unlabeled,
            "missing": list(self.missing),
            "encoder": self.encoder.to_plain(write),
            "classifier": self.classifier.to_plain(),
            "calibration": None if self.calibration is None else self.calibration.to_plain(),
            "operating_point": None if point is None else point.to_plain(),
            "about": render(dict(self.about), write),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TableModel:
        """Restore a model; raise any exception if its parts do not fit each other."""
        # neither is in files of the first versions
        stored, point = plain.get("calibration"), plain.get("operating_point")
        model = cls(
            encoder=Encoding.from_plain(plain["encoder"]),
            classifier=read_predictor(plain["classifier"]),
            target=plain["target"],
            classes=tuple(plain["classes"]),
            group=plain["group"],
            unlabeled=plain["unlabeled"],
            missing=tuple(plain["missing"]),
            about=plain["about"],
            calibration=None if stored is None else DecisionCalibration.from_plain(stored),
            operating_point=None if point is None else read_point(point),
        )
        n_classes = len(model.classes)
        if not (
            n_classes == len(set(model.classes)) >= 2
            and len(model.spelled) in (0, n_classes)
            and model.classifier.fits(len(model.encoder.features), n_classes)
            and (model.calibration is None or model.calibration.fits(n_classes))
            and (model.operating_point is None or model.operating_point.fits(n_classes))
        ):
            raise ValueError("parts that do not fit each other")
        model.predict(model.made_up_rows(8))  # runs every encoder
        return model


def ignored_note(names: Sequence[str]) -> list[str]:
    """Say which columns were ignored, in one sentence; none if there are none.

    Examples
    --------
    >>> print(*ignored_note(["visit", "clinic"]))
    The table has columns 'visit', 'clinic' that the model was not fitted with; they are ignored.
    """
    if not names:
        return []
    more = len(names) - _MOST_NAMED
    listed = listed_columns(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    they_are = "it is" if len(names) == 1 else "they are"
    return [f"The table has {listed} that the model was not fitted with; {they_are} ignored."]
