"""How well a way of fitting does on labeled rows that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._utils.messages import Parameter, join
from ...estimators import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from ..arguments import amount, check_splits, some_function, text
from ..compare.choice import fit_pair, fit_rows
from ..compare.comparison import METRICS, Estimate, Verdict
from ..compare.evaluation import evaluate, in_order
from ..compare.intervals import honest_scores, interval
from ..compare.majority import Majority, against_majority
from ..compare.notices import untested
from ..compare.scores import score
from ..compare.splits import Plan, plan, training_mask
from ..errors import TableError

__all__ = ["METHODS", "Measured", "Order", "Rows", "decided", "fit_as_asked", "measure"]

Array = NDArray[Any]
Progress = Callable[[int, int], None]
METHODS = ("auto", "soft", "hard", "supervised")
_RIVALS = {"soft": "soft_cv", "hard": "hard", "supervised": "ridge"}


@dataclass(frozen=True, eq=False)
class Rows:
    """What a fit looks at."""

    X: Array
    codes: Array
    groups: Array | None
    count: float = 1.0
    """How often an unlabeled row counts, where these are a sample."""


@dataclass(frozen=True)
class Measured:
    """How well a way of fitting does on labeled rows that it has not seen."""

    metrics: Mapping[str, Estimate]
    verdict: Verdict | None = None
    majority: Majority | None = None
    note: str = ""


@dataclass(frozen=True)
class Order:
    """What was asked for: see `fit_table`."""

    method: str = "auto"
    alpha: float | None = None
    weight: float | None = None
    folds: int = 5
    repeats: int | None = None
    seed: int = 0
    jobs: int = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_splits(folds=self.folds, repeats=self.repeats, seed=self.seed, jobs=self.jobs)
        for name in ("alpha", "weight"):
            amount(name, getattr(self, name))
        if self.progress is not None:
            some_function("progress", self.progress, "a function of (done, total), or None")
        if text("method", self.method, f"one of {', '.join(METHODS)}") not in METHODS:
            raise TableError(
                f"There is no method {self.method!r}; take one of {', '.join(METHODS)}."
            )
        if self.method == "auto" and (self.alpha is not None or self.weight is not None):
            raise TableError(
                "Method auto chooses alpha and weight itself; leave {alpha} and {weight} out, or "
                "name the method ({method}).",
                code="method_auto",
                alpha=Parameter("alpha"),
                weight=Parameter("weight"),
                method=Parameter("method", "soft"),
            )
        if self.method == "supervised" and self.weight is not None:
            raise TableError(
                "Method supervised leaves the unlabeled rows out, so it has no weight for them; "
                "leave {weight} out, or give {method} or hard.",
                code="method_supervised",
                weight=Parameter("weight"),
                method=Parameter("method", "soft"),
            )


def measure(rows: Rows, names: Sequence[Any], order: Order) -> Measured:
    """Cross-validate what was asked for, where the labels allow that."""
    X, codes, groups, count = rows.X, rows.codes, rows.groups, rows.count
    method, alpha, weight, seed = order.method, order.alpha, order.weight, order.seed
    folds, repeats, jobs, progress = order.folds, order.repeats, order.jobs, order.progress
    alone = not (codes < 0).any()
    scores: Mapping[str, Estimate]
    try:
        if alone or alpha is not None or weight is not None:
            method = decided(method, None)
            work = partial(_test_given, rows, method, alpha, weight, seed)
            planned = plan(codes, groups, folds=folds, repeats=repeats, seed=seed, names=names)
            tested = np.array(in_order(work, planned.tests, jobs=jobs, progress=progress)).T
            values = dict(zip(METRICS, tested, strict=True))
            scores = {name: interval(values[name], planned.ratio, lowest=0.0) for name in METRICS}
            measured = _summed_up(honest_scores(scores, planned.n_tested), values, planned, codes)
            return replace(measured, note=_untested(planned, names, groups))
        rivals = dict.fromkeys(("ridge", "soft_cv", _RIVALS.get(method, "ridge")))
        found = evaluate(
            X, codes, groups, folds=folds, repeats=repeats, seed=seed, jobs=jobs, count=count,
            progress=progress, rivals=tuple(rivals), names=names,
        )  # fmt: skip
    except TableError as error:
        return Measured({}, note=join(" ", ("No scores could be measured.", error.message)))
    name = _RIVALS[decided(method, found.verdict)]
    scores = next(rival.scores for rival in found.rivals if rival.name == name)
    measured = _summed_up(scores, found.scores[name], found.plan, codes, found.verdict)
    return replace(measured, note=_untested(found.plan, names, groups))


def _untested(planned: Plan, names: Sequence[Any], groups: Array | None) -> str:
    """Say which classes the scores say nothing about; "" if there are none."""
    found = untested(planned, names, grouped=groups is not None)
    return join(" ", (notice.text for notice in found))


def _summed_up(
    scores: Mapping[str, Estimate],
    values: Mapping[str, Array],
    planned: Plan,
    codes: Array,
    verdict: Verdict | None = None,
) -> Measured:
    if not scores:  # it failed
        return Measured({}, verdict)
    majority = against_majority(values["accuracy"], planned, codes)
    return Measured(scores, verdict, majority)


def decided(method: str, verdict: Verdict | None) -> str:
    """Return the method itself or, for "auto", that of the verdict."""
    if method != "auto":
        return method
    return "soft" if verdict is not None and verdict.answer == "yes" else "supervised"


def _test_given(
    rows: Rows, method: str, alpha: float | None, weight: float | None, seed: int, test: Array
) -> tuple[float, ...]:
    """Fit as asked to all rows but those of a test set, and score that."""
    inside = training_mask(test, rows.codes, rows.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows tells
        model = fit_as_asked(rows, method, alpha, weight, seed, inside)
    return score(model, np.asarray(rows.X)[test], rows.codes[test])


def fit_as_asked(
    rows: Rows,
    method: str,
    alpha: float | None,
    weight: float | None,
    seed: int,
    inside: Array | None = None,
) -> Any:
    """Fit what was asked for to all rows, or to those of a mask."""
    X, codes = np.asarray(rows.X), rows.codes
    if alpha is None or (method == "soft" and weight is None):
        pair = fit_pair(
            X, codes, inside=inside, groups=rows.groups, seed=seed, count=rows.count,
            alpha=alpha, weight=weight if method == "soft" else None,
        )  # fmt: skip
        if method != "hard":
            return pair.soft_cv if method == "soft" else pair.ridge
        alpha = pair.choice.supervised_alpha
    weight = rows.count * (1.0 if weight is None else weight)
    if method == "supervised" or not (codes < 0).any():
        return fit_rows(LeastSquaresClassifier(alpha), X, codes, inside)
    if method == "soft":
        return fit_rows(SoftLabelClassifier(alpha, unlabeled_weight=weight), X, codes, inside)
    hard = HardLabelClassifier(alpha, unlabeled_weight=weight, random_state=seed)
    return fit_rows(hard, X, codes, inside)
