"""Methods, each from the files of a case to predictions and probabilities."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from ..peers.supervised import CS, FINE_ALPHAS, TREES, leaf_size
from .cases import Case

Array = NDArray[Any]

FOLDS = 5
"""Also if a class has fewer labels: then it is not in every fold."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Predicted classes as numbers, and probabilities of all classes if there are any."""

    predicted: Array
    probabilities: Array | None


@dataclass(frozen=True)
class Method:
    """A method: `run` gets a case and returns its predictions."""

    label: str
    settings: str
    run: Callable[[Case], Answer]
    has_probabilities: bool = True


def averaged(case: Case) -> Answer:
    """Run ``semisquares fit`` and ``semisquares predict`` in this process."""
    from semisquares.cli._commands import run
    from semisquares.cli._signals import SignalHandler

    model, out = case.table.with_suffix(".model"), case.rows.with_suffix(".predicted.csv")
    fit = ["fit", str(case.table), "--target", case.target, "--method", "averaged"]
    predict = ["predict", str(model), str(case.rows), "--all-probabilities", "-o", str(out)]
    for arguments in ([*fit, "-o", str(model)], predict):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = run([*arguments, "--quiet"], SignalHandler())
        if code:
            raise RuntimeError(f"semisquares {arguments[0]} ended with code {code}.")
    found = pd.read_csv(out, dtype={f"{case.target}_predicted": str}, keep_default_na=False)
    columns = [f"{case.target}_probability_{name}" for name in case.classes]
    return Answer(
        _codes(found[f"{case.target}_predicted"], case.classes),
        found[columns].to_numpy(dtype=float),
    )


def _codes(labels: Any, classes: Sequence[str]) -> Array:
    """Return labels as numbers of classes."""
    codes = pd.Categorical(labels, categories=list(classes)).codes.astype(int)
    if (codes < 0).any():
        raise RuntimeError(f"{int((codes < 0).sum())} predictions are not a known class.")
    return codes


def supervised(make: Callable[[int, int], Any]) -> Callable[[Case], Answer]:
    """Return a function that fits a classifier to the labeled rows, behind skrub's pipeline.

    `make` gets the number of labels and the number of the split, which seeds random numbers.
    """

    def run(case: Case) -> Answer:
        from skrub import tabular_pipeline

        frame = pd.read_csv(case.table, dtype={case.target: str}, low_memory=False)
        labeled = frame[frame[case.target].notna()]
        model = tabular_pipeline(make(len(labeled), case.split))
        rows = pd.read_csv(case.rows, low_memory=False)
        with warnings.catch_warnings():  # unknown categories, rare classes in folds
            warnings.simplefilter("ignore")
            model.fit(labeled.drop(columns=case.target), labeled[case.target])
            predicted = _codes(model.predict(rows), case.classes)
            if not hasattr(model, "predict_proba"):
                return Answer(predicted, None)
            order = _codes(case.classes, model.classes_)
            return Answer(predicted, model.predict_proba(rows)[:, order])

    return run


def _ridge(n_labels: int, seed: int) -> Any:
    from sklearn.linear_model import RidgeClassifierCV

    return RidgeClassifierCV(FINE_ALPHAS)


def _logistic(n_labels: int, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _logistic_cv(n_labels: int, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import StratifiedKFold

    # shuffled, because the rows of many tables are sorted by some column
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return LogisticRegressionCV(
        Cs=list(CS), cv=folds, scoring="neg_log_loss", max_iter=1000,
        use_legacy_attributes=False, l1_ratios=(0.0,),
    )  # fmt: skip


def _forest(n_labels: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=seed)


def _boosting(n_labels: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(min_samples_leaf=leaf_size(n_labels), random_state=seed)


OURS = "averaged"
METHODS = {
    OURS: Method(
        "semisquares", "`semisquares fit --method averaged`, then `semisquares predict`", averaged
    ),
    "ridge": Method(
        "RidgeClassifierCV", "`alphas=np.logspace(-3, 4, 15)`, by leave-one-out",
        supervised(_ridge), has_probabilities=False,
    ),
    "logistic": Method("LogisticRegression", "`C=1`", supervised(_logistic)),
    "logistic_cv": Method(
        "LogisticRegressionCV",
        "five values of `C` from 0.001 to 10, five shuffled folds, by log loss",
        supervised(_logistic_cv),
    ),
    "forest": Method("RandomForestClassifier", f"{TREES} trees", supervised(_forest)),
    "boosting": Method(
        "HistGradientBoostingClassifier",
        "default settings, but leaves of a third of the labels if that is less than 20 rows",
        supervised(_boosting),
    ),
}  # fmt: skip
RIVALS = tuple(name for name in METHODS if name != OURS)
