"""What `fit_table` decides: method, alpha and weight; and how well such fits do on unseen rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.messages import Parameter, join
from ..._utils.typing import Array
from ...estimators import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from .._arguments import amount, check_splits, instance, some_function, text
from ..compare._evaluation import evaluate
from ..compare._rivals import ALONE, CLASSIFIERS, RivalFits, Training
from ..compare._rows import TableRows
from ..compare._tasks import ordered_map
from ..compare._tuning import fit_rows, move_intercept, tune
from ..compare.comparison import METRICS, Estimate
from ..compare.intervals import honest_scores, interval
from ..compare.notices.majority import Majority, against_majority
from ..compare.scores import score
from ..compare.splits import Plan, plan, training_mask
from ..errors import TableError
from ._operating_point import PointOptions

__all__ = [
    "METHODS",
    "WITHOUT_ALPHA",
    "FitOptions",
    "Measurement",
    "Setting",
    "choose",
    "fit_setting",
    "measure",
    "without_alpha",
]

Progress = Callable[[int, int], None]
METHODS = CLASSIFIERS
WITHOUT_ALPHA = ("averaged", *ALONE)
"""Methods that have neither an alpha nor a weight of unlabeled rows."""


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit: see `fit_table`."""

    method: str = "averaged"
    alpha: float | None = None
    weight: float | None = None
    folds: int = 5
    repeats: int | None = None
    seed: int = 0
    jobs: int = 1
    progress: Progress | None = None
    point: PointOptions = field(default_factory=PointOptions)
    store_rows: bool | None = None

    def __post_init__(self) -> None:
        check_splits(folds=self.folds, repeats=self.repeats, seed=self.seed, jobs=self.jobs)
        for name in ("alpha", "weight"):
            amount(name, getattr(self, name))
        instance("point", self.point, PointOptions, "the operating point as PointOptions")
        if self.progress is not None:
            some_function("progress", self.progress, "a function of (done, total), or None")
        if self.store_rows is not None:
            instance("store_rows", self.store_rows, bool, "True, False or None")
        if text("method", self.method, f"one of {', '.join(METHODS)}") not in METHODS:
            raise TableError(
                f"There is no method {self.method!r}; take one of {', '.join(METHODS)}.",
                code="unknown_method",
            )
        if self.method in WITHOUT_ALPHA and (self.alpha is not None or self.weight is not None):
            raise TableError(
                "Method {name} has neither alpha nor weight; leave {alpha} and {weight} out, or "
                "use them with {method}.",
                code="method_without_alpha",
                name=self.method,
                alpha=Parameter("alpha"),
                weight=Parameter("weight"),
                method=Parameter("method", "soft"),
            )
        if self.method == "ridge" and self.weight is not None:
            raise TableError(
                "Method {name} leaves the unlabeled rows out, so it has no weight for them; "
                "leave {weight} out, or give {method} or hard.",
                code="method_ridge",
                name=self.method,
                weight=Parameter("weight"),
                method=Parameter("method", "soft"),
            )


# -- choosing -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A method with all its parameters, ready to be fitted."""

    method: str
    """One of `METHODS`."""
    alpha: float
    """NaN if the method has none, as has the weight."""
    unlabeled_weight: float
    seed: int
    shift: tuple[float, ...] = ()
    """What to add to the fitted intercept, for each output."""

    def classifier(self, count: float = 1.0) -> Any:
        """Make the classifier, for rows of which each unlabeled one stands for `count` rows."""
        if self.method == "ridge":
            return LeastSquaresClassifier(self.alpha)
        weight = count * self.unlabeled_weight
        if self.method == "soft":
            return SoftLabelClassifier(self.alpha, unlabeled_weight=weight)
        return HardLabelClassifier(self.alpha, unlabeled_weight=weight, random_state=self.seed)


def without_alpha(method: str, seed: int) -> Setting:
    """Return the setting of a method that has neither alpha nor weight."""
    return Setting(method, math.nan, math.nan, seed)


def choose(rows: TableRows, options: FitOptions, inside: Array | None = None) -> Setting:
    """Choose alpha, weight and intercept as far as the options leave them open.

    Parameters
    ----------
    rows : TableRows
    options : FitOptions
    inside : ndarray of shape (n_rows,), optional
        A mask of the rows to learn from; None for all rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TableRows(np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 1, 1, -1, -1]))
    >>> choose(rows, FitOptions("soft", alpha=2.0, weight=0.5))
    Setting(method='soft', alpha=2.0, unlabeled_weight=0.5, seed=0, shift=())
    """
    method = options.method
    if method in WITHOUT_ALPHA:
        return without_alpha(method, options.seed)
    alpha, weight = options.alpha, options.weight
    shift: tuple[float, ...] = ()
    if alpha is None or (method == "soft" and weight is None):
        given = weight if method == "soft" else None
        choice = tune(rows, inside=inside, seed=options.seed, alpha=alpha, weight=given)
        if method == "soft" and choice.unlabeled_weight > 0.0:
            alpha, weight, shift = choice.alpha, choice.unlabeled_weight, choice.shift
        elif method == "hard":
            alpha = choice.supervised_alpha
        else:
            method, alpha, shift = "ridge", choice.supervised_alpha, choice.supervised_shift
    if method == "ridge" or not (rows.codes < 0).any():
        return Setting("ridge", alpha, 0.0, options.seed, shift)
    return Setting(method, alpha, 1.0 if weight is None else weight, options.seed, shift)


def fit_setting(setting: Setting, rows: TableRows, inside: Array | None = None) -> Any:
    """Fit a classifier with chosen parameters to all rows, or to those of a mask."""
    if setting.method in ALONE:
        return _fit_alone(setting, rows, inside)
    return move_intercept(fit_rows(setting.classifier(rows.count), rows, inside), setting.shift)


def _fit_alone(setting: Setting, rows: TableRows, inside: Array | None) -> Any:
    """Fit a method of scikit-learn to the labels; give its warnings again, each once."""
    mask = np.ones(len(rows.codes), dtype=bool) if inside is None else inside
    training = Training(rows, mask, setting.seed, all_labels=inside is None)
    found = RivalFits(training).fit(setting.method)
    if found.failed:
        raise TableError(found.failed, code="method_failed")
    kinds = {one.kind: one.message for one in found.warnings}
    if kinds.pop("convergence", None):
        warnings.warn(
            f"Method {setting.method} did not converge within its iterations, so its coefficients "
            "are approximate.",
            UserWarning,
            stacklevel=2,
        )
    for message in kinds.values():
        warnings.warn(message, UserWarning, stacklevel=2)
    return found.model


# -- measuring ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measurement:
    """How well a way of fitting does on labeled rows that it has not seen."""

    metrics: Mapping[str, Estimate]
    majority: Majority | None = None
    failure: str = ""
    """Why nothing could be measured."""


def measure(rows: TableRows, names: Sequence[Any], options: FitOptions) -> Measurement:
    """Cross-validate the fit that the options describe, if the labels allow it."""
    given = options.alpha is not None or options.weight is not None
    try:
        if given or not (rows.codes < 0).any():
            return _measure_settings(rows, names, options)
        return _measure_rival(rows, names, options)
    except TableError as error:
        return Measurement({}, failure=join(" ", ("No scores could be measured.", error.message)))


def _measure_settings(rows: TableRows, names: Sequence[Any], options: FitOptions) -> Measurement:
    """Choose and fit anew in every split."""
    planned = plan(
        rows.codes, rows.groups, folds=options.folds, repeats=options.repeats, seed=options.seed,
        names=names,
    )  # fmt: skip
    sent = replace(options, progress=None)  # a progress bar cannot be sent to other processes
    work = partial(_test_split, rows, sent)
    tested = ordered_map(work, planned.tests, jobs=options.jobs, progress=options.progress)
    values = dict(zip(METRICS, np.array(tested).T, strict=True))
    scores = {name: interval(values[name], planned.ratio, lowest=0.0) for name in METRICS}
    scores = honest_scores(scores, planned.n_tested)
    return _summarise(rows, planned, scores, values)


def _measure_rival(rows: TableRows, names: Sequence[Any], options: FitOptions) -> Measurement:
    """Take the scores of the rival that is the same method."""
    found = evaluate(
        rows, folds=options.folds, repeats=options.repeats, seed=options.seed, jobs=options.jobs,
        progress=options.progress, rivals=(options.method,), names=names,
    )  # fmt: skip
    (rival,) = found.rivals
    return _summarise(rows, found.plan, rival.scores, found.scores[options.method])


def _summarise(
    rows: TableRows,
    planned: Plan,
    scores: Mapping[str, Estimate],
    values: Mapping[str, Array],
) -> Measurement:
    majority = None
    if scores:  # empty if the rival failed
        majority = against_majority(values["accuracy"], planned, rows.codes)
    return Measurement(scores, majority)


def _test_split(rows: TableRows, options: FitOptions, test: Array) -> tuple[float, ...]:
    """Choose and fit without the rows of a test set; score the fit on them."""
    rows = replace(rows, X=np.asarray(rows.X))  # a worker gets a memory map
    inside = training_mask(test, rows.codes, rows.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows gives them again
        model = fit_setting(choose(rows, options, inside), rows, inside)
    return score(model, rows.X[test], rows.codes[test])
