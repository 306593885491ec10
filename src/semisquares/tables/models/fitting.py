"""From a prepared table to a model: measure, choose, fit, and record how the model was made."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd

from ..._inputs.untested import rows_to_test
from ..._utils.errors import CollapsedLabelsWarning
from ..._utils.messages import Message, Parameter
from ..._utils.typing import Array
from ..._utils.versions import versions
from ..._utils.words import percent
from ...estimators import AveragedClassifier
from .._arguments import instance, texts
from .._importance import column_importance, importance_rows
from ..compare._rows import TableRows, subsample
from ..compare.comparison import Notice, plain
from ..compare.notices import NoticeContext, find_notices
from ..compare.notices.majority import compare_with_majority
from ..compare.notices.never_predicted import looked_at, never_predicted
from ..compare.verdict import deciding_metric
from ..dataset import PREPARED, Prepared, TableInfo
from ._calibrating import calibrate_fit, decision_values, left_out_decisions
from ._calibration import DecisionCalibration
from ._converting import predictor_of
from ._left_out import measure_left_out
from ._measuring import (
    METHODS,
    WITHOUT_ALPHA,
    FitOptions,
    Measurement,
    Setting,
    choose,
    fit_setting,
    measure,
    without_alpha,
)
from ._noticing import Remark, notice_texts, record_notices, sample_of
from ._operating_point import OperatingPoint, PointOptions, most_probable, own_answers
from ._operating_scores import measure_at_point
from ._stored_rows import StoredRows, choose_rows
from .model import TableModel

__all__ = [
    "METHODS",
    "Fit",
    "assemble",
    "average_rows",
    "capture_warnings",
    "complete",
    "fit_prepared",
    "fit_table",
    "measure_method",
    "point_of",
]


Progress = Callable[[int, int], None]
_NO_CODES = np.empty(0, dtype=np.intp)
_NAMES = {
    "soft": "Soft labels",
    "hard": "Hard labels",
    "ridge": "Ridge on the labels alone",
    "averaged": "Averaged classifier",
    "logistic": "Logistic regression",
    "forest": "Random forest",
    "boosting": "Gradient boosting",
}


def fit_table(
    prepared: Prepared,
    *,
    method: str = "averaged",
    alpha: float | None = None,
    weight: float | None = None,
    balanced: bool = False,
    threshold: float | Mapping[Any, float] | None = None,
    costs: Mapping[Any, float] | pd.DataFrame | None = None,
    store_rows: bool | None = None,
    missing: Sequence[str] = (),
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> TableModel:
    """Fit a classifier to a prepared table.

    Parameters
    ----------
    prepared : Prepared
    method : str, default="averaged"
        One of "averaged", "ridge", "logistic", "forest", "boosting", "soft" and "hard":
        `compare_table` tells which is best. "averaged" is `AveragedClassifier`, whose scores are
        measured by leaving rows out; those of the others are cross-validated. "ridge", and
        "logistic", "forest" and "boosting" of scikit-learn, use the labeled rows alone.
    alpha : float, optional
        The ridge; by default chosen by cross-validation. Only for "ridge", "soft" and "hard".
    weight : float, optional
        The weight of an unlabeled row; by default chosen by cross-validation for soft labels, and 1
        for hard labels.
    balanced : bool, default=False
        Answer as if all classes were equally frequent. This, `threshold` and `costs` are operating
        points: one of them may be given. It is stored with the model, and the scores are those of
        its answers. `predict` may be given another.
    threshold : float or mapping, optional
        With two classes, answer one if its probability is at least this: the class with fewer
        labels, or that of a mapping, ``{"yes": 0.2}``.
    costs : mapping or DataFrame, optional
        Give the answer with the least expected cost. A mapping has the cost of missing a row of a
        class, ``{"yes": 5}``, and 1 for the classes that it does not name. A DataFrame has a row
        for each true class and a column for each answer.
    store_rows : bool, optional
        Whether the model may hold rows of the table, encoded and standardised, which members of an
        average on kernels and graphs compare new rows with. By default it holds none, unless
        leaving these members out costs half a point of accuracy or more on labeled rows that were
        left out; ``about["notes"]`` then says so. False leaves them out in any case and says what
        that costs, True keeps them. Models of the other methods hold no rows.
    missing : sequence of str
        Spellings of missing cells that the table was read with; they are stored with the model.
    folds, repeats, seed, jobs
        As in `compare_table`.
    progress : callable, optional
        Called as ``progress(done, total)`` during the cross-validation.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import fit_table, prepare
    >>> kinds = ["a", "a", "a", "b", "b", "b", None, None]
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 7, 8, 9, 2, 8], "kind": kinds})
    >>> model = fit_table(prepare(frame, "kind"))
    >>> model.predict(frame).labels.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b', 'a', 'b']

    If it costs much to miss a row of class b, unclear rows are predicted to be of it:

    >>> unclear = pd.DataFrame({"size": [1, 4, 5]})
    >>> for costs in ({"b": 1}, {"b": 9}):
    ...     print(model.predict(unclear, costs=costs).labels.tolist())
    ['a', 'a', 'a']
    ['a', 'b', 'b']
    """
    instance("prepared", prepared, Prepared, PREPARED)
    missing = texts("missing", missing)
    point = PointOptions(balanced, threshold, costs)
    options = FitOptions(
        method, alpha, weight, folds, repeats, seed, jobs, progress, point, store_rows
    )
    return fit_prepared(prepared, options, missing=missing)


def fit_prepared(
    prepared: Prepared, options: FitOptions, *, missing: Sequence[str] = ()
) -> TableModel:
    """Fit a classifier to a prepared table, as `fit_table` does."""
    point = point_of(prepared, options)
    rows = TableRows(np.asarray(prepared.X), prepared.codes, prepared.groups)
    tested = subsample(rows, options.seed)
    sample = prepared if tested is rows else sample_of(prepared, tested)
    n_rows, n_columns = len(rows.X), len(prepared.encoder.places)
    some = rows.X[importance_rows(0, n_rows, n_rows, n_columns)]
    if options.method == "averaged":
        fit, measured = average_rows(
            (rows.X, rows.codes, rows.groups), rows, prepared.target.classes, options, point
        )
        return assemble(prepared, sample, options, measured, fit, missing, some)
    measured = measure_method(tested, prepared.target.classes, options, point)
    with capture_warnings() as notes:
        setting = choose(rows, options)
        classifier = fit_setting(setting, rows)
    fit = Fit(options.method, setting, classifier, notes, point)
    fit = complete(fit, tested, looked_at(rows.X))
    return assemble(prepared, sample, options, measured, fit, missing, some)


def point_of(table: TableInfo, options: FitOptions) -> OperatingPoint | None:
    """Return the operating point that the options ask for, for the classes of a table."""
    target = table.target
    return options.point.resolve(target.classes, target.counts, target.spelling)


def measure_method(
    rows: TableRows, names: Sequence[Any], options: FitOptions, point: OperatingPoint | None
) -> Measurement:
    """Return the scores of a method, which are those of the operating point if there is one."""
    if point is None:
        return measure(rows, names, options)
    return measure_at_point(rows, names, options, point)


def complete(fit: Fit, rows: TableRows, X: Array) -> Fit:
    """Calibrate a fit by rows that are left out, and predict these and all rows.

    Parameters
    ----------
    fit : Fit
    rows : TableRows
        All labeled rows, and all or many of the others.
    X : ndarray of shape (n_rows, n_features)
        Rows to predict, for notices.
    """
    decision, codes = left_out_decisions(rows, fit.setting)
    calibration = calibrate_fit(rows, fit.setting, fit.classifier, (decision, codes))

    def answer(values: Array) -> Array:
        if fit.point is None or not len(values):
            return own_answers(values)
        return fit.point.decide(calibration.probabilities(values))

    return replace(
        fit,
        predicted=answer(decision_values(fit.classifier, X)),
        left_out=(answer(decision), codes),
        calibration=calibration,
    )


def average_rows(
    table: tuple[Any, Any, Any],
    rows: TableRows,
    names: Sequence[Any],
    options: FitOptions,
    point: OperatingPoint | None = None,
) -> tuple[Fit, Measurement]:
    """Fit the averaged classifier to all rows of a table; its scores are its own, out of sample.

    Parameters
    ----------
    table : tuple
        X, codes and groups of all rows, in memory or as Dask arrays.
    rows : TableRows
        All labeled rows in the same order, and all or some of the others.
    names : sequence
        The classes.
    options : FitOptions
    point : OperatingPoint, optional
        Whose answers are scored.
    """
    X, codes, groups = table
    with capture_warnings() as notes:
        classifier = AveragedClassifier(n_jobs=options.jobs).fit(X, codes, groups=groups)
    labeled = rows.codes >= 0
    known = None if rows.groups is None else rows.groups[labeled]
    classifier, stored = choose_rows(classifier, rows.codes[labeled], known, options.store_rows)
    decide = most_probable if point is None else point.decide
    p, truth = classifier.loo_proba_, rows.codes[labeled]
    measured = measure_left_out(p, truth, known, names, options.seed, decide)
    tested = rows_to_test(truth, known)
    fit = Fit(
        "averaged",
        without_alpha("averaged", options.seed),
        classifier,
        notes,
        point,
        decide(classifier.predict_proba(looked_at(rows.X))),
        (decide(p[tested]), truth[tested]),
        stored=stored,
    )
    return fit, measured


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted classifier, and how it was made."""

    method: str
    setting: Setting
    """Its method is "ridge" if the labels chose to leave the unlabeled rows out."""
    classifier: Any
    notes: Sequence[str]
    """Warnings of the fit."""
    point: OperatingPoint | None = None
    predicted: Array = field(default_factory=lambda: _NO_CODES)
    """Predictions for the rows that notices look at."""
    left_out: tuple[Array, Array] = field(default_factory=lambda: (_NO_CODES, _NO_CODES))
    """Predictions for labeled rows by fits without them, and the rows' classes."""
    calibration: DecisionCalibration | None = None
    stored: StoredRows | None = None
    """What was decided about rows that members of an average need."""


def assemble(
    table: TableInfo,
    sample: Prepared,
    options: FitOptions,
    measured: Measurement,
    fit: Fit,
    missing: Sequence[str],
    some: Array,
) -> TableModel:
    """Make a model of the encoder of a table, a fitted classifier, and facts about both.

    `sample` has all labeled rows of the table, and all or many of the others; `some` are the
    encoded rows by which the importance of the columns is measured.
    """
    notices = _notices(table, sample, options, measured, fit)
    classifier = predictor_of(fit.classifier)
    stored = fit.stored or StoredRows(options.store_rows, useful=False, cost=0.0)
    notices += stored.remarks(classifier.n_rows_held) if fit.stored else []
    about = _about(table, options, measured, fit, notices)
    about["stored_rows"] = stored.facts(classifier.n_rows_held)
    importance = column_importance(table.encoder, classifier, fit.calibration, some)
    about["importance"] = [asdict(one) for one in importance]
    return TableModel(
        table.encoder,
        classifier,
        table.target.name,
        table.target.classes,
        group=table.group,
        unlabeled=table.unlabeled,
        missing=tuple(missing),
        about=about,
        calibration=fit.calibration,
        operating_point=fit.point,
    )


@contextmanager
def capture_warnings() -> Iterator[list[str]]:
    """Collect the warnings of a fit as notes for users, each once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    # others, such as warnings about files left open, are not for users
    found = (_for_users(w) for w in caught if issubclass(w.category, UserWarning))
    notes += dict.fromkeys(found)


def _for_users(warning: warnings.WarningMessage) -> str:
    """Reword a warning of a classifier, which numbers the classes and has other parameters."""
    if issubclass(warning.category, CollapsedLabelsWarning):
        return Message(
            "Some class was given to no unlabeled row at all: the labels may have collapsed; try "
            "{method}, or a smaller {weight}.",
            method=Parameter("method", "soft"),
            weight=Parameter("weight"),
        )
    return str(warning.message)


def _notices(
    table: TableInfo, sample: Prepared, options: FitOptions, measured: Measurement, fit: Fit
) -> list[Notice]:
    """Collect what to know about the table, the scores and the fit, in the order to be read."""
    found: list[Notice] = [Remark("table", note) for note in table.notes]
    classes, counts = table.target.classes, table.target.counts
    if measured.majority is not None and fit.point is None:  # which is not for the least error
        auc = measured.metrics["auc"]
        worse = compare_with_majority("The model", measured.majority, auc, classes)
        found += [worse] if worse is not None else []
    found += never_predicted("The model", fit.left_out, fit.predicted, classes, counts)
    if measured.failure:
        found.append(Remark("unmeasured", measured.failure))
    for notice in find_notices(NoticeContext(sample, options.seed)):
        if not (measured.failure and notice.kind == "untested"):  # the failure names these classes
            found.append(notice)
    return found + [Remark("fit_warning", note) for note in fit.notes]


def _about(
    table: TableInfo, options: FitOptions, measured: Measurement, fit: Fit, found: list[Notice]
) -> dict[str, Any]:
    """Record how the model was made, as JSON values."""
    target, notices = table.target, record_notices(found)
    return plain(
        {
            "method": fit.method,
            "alpha": float(fit.setting.alpha),
            "unlabeled_weight": float(fit.setting.unlabeled_weight),
            "source": table.source,
            "rows": target.n_rows,
            "labeled": target.n_labeled,
            "classes": list(target.classes),
            "spelling": list(target.spelling),
            "counts": list(target.counts),
            "columns": [column.as_dict() for column in table.columns],
            "metrics": {name: asdict(one) for name, one in measured.metrics.items()},
            "certificate": _certificate(fit),
            "seed": options.seed,
            "versions": versions("pandas"),
            "created": _today().isoformat(),
            "summary": _summary(table, measured, fit),
            "notices": notices,
            "notes": notice_texts(notices),
        }
    )


def _certificate(fit: Fit) -> float:
    """Return the proven gap of the fit; NaN if its method does not minimise one objective."""
    if fit.method in WITHOUT_ALPHA:
        return math.nan
    return float(getattr(fit.classifier, "certificate_", math.nan))


def _today() -> date:
    """Return the date; SOURCE_DATE_EPOCH sets it, so that fits can be repeated to the last bit."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else datetime.now(UTC)
    return now.date()


def _summary(table: TableInfo, measured: Measurement, fit: Fit) -> str:
    """Say in a sentence what the model is and how well it does."""
    weight = fit.setting.unlabeled_weight
    if fit.method in WITHOUT_ALPHA or fit.method == "ridge":
        counts = ""
    elif not table.target.n_unlabeled:
        counts = ", no unlabeled rows"
    else:
        counts = f", an unlabeled row counts {weight:g}" if weight else ", unlabeled rows left out"
    alpha = "" if fit.method in WITHOUT_ALPHA else f", alpha {fit.setting.alpha:.3g}"
    model = f"{_NAMES[fit.method]}{alpha}{counts}"
    how = "" if fit.point is None else f"; the model {fit.point.phrase(table.target.classes)}"
    accuracy = measured.metrics.get("accuracy")
    if accuracy is None:
        return f"{model}{how}."
    return (
        f"{model}: error {percent(1 - accuracy.mean)} on labeled rows that the fit had not seen "
        f"(95 % interval {percent(1 - accuracy.high)} to {percent(1 - accuracy.low)})"
        f"{_balanced_accuracy(table, measured, fit)}{how}{_agreement(table)}."
    )


def _balanced_accuracy(table: TableInfo, measured: Measurement, fit: Fit) -> str:
    """Give the balanced accuracy if the error says little: of skewed labels, or by choice."""
    counts = table.target.counts
    if fit.point is None and deciding_metric(counts) == "accuracy":
        return ""
    return f", balanced accuracy {percent(measured.metrics['balanced_accuracy'].mean)}"


def _agreement(table: TableInfo) -> str:
    """Say what an error means if labels were filled in by a model."""
    if not table.n_filled:
        return ""
    n_labels, verb = table.target.n_labeled, "was" if table.n_filled == 1 else "were"
    much = "mostly" if 2 * table.n_filled > n_labels else "partly"
    return (
        f"; {table.n_filled:,} of the {n_labels:,} labels {verb} filled in by a model, "
        f"so this error {much} says how far it agrees with that model"
    )
