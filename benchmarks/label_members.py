"""Soft and hard labels as members of the average: trials on splits that are not reported.

`python -m benchmarks.label_members` fits the families of `AveragedClassifier` once for each split,
adds one family at a time that labels unlabeled rows, and writes the changes of accuracy and log
loss to label_members.csv. It takes about ten minutes of one core.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from docs import example as method_pages
from semisquares import AveragedClassifier
from semisquares.core.rows import single_threaded_blas
from semisquares.estimators._average import priors_of, score_members
from semisquares.families import (
    Family,
    Forest,
    HardLabelRidges,
    LabeledRows,
    LeastSquares,
    Logistic,
)
from semisquares.tables import _example as pumps
from semisquares.tables import prepare

from .peers import sets

Array = NDArray[Any]

RESULTS = Path(__file__).with_name("label_members.csv")
MOST_TESTED = 2000
SPLITS = {"ten": range(1020, 1026), "columns": range(1020, 1026), "half": range(1020, 1023)}
DRAWS = range(1020, 1040)
SEEDS = range(7, 13)
BASE: tuple[Family, ...] = (LeastSquares(), Forest(), Logistic())
SOFT = 20 * (0.0,)
HARD = 20 * (1.0,)
TRIALS: dict[str, HardLabelRidges] = {
    "soft labels": HardLabelRidges(dial=SOFT),
    "hard labels": HardLabelRidges(dial=HARD),
    "hard from soft": HardLabelRidges(dial=SOFT + HARD),
    "by the dial": HardLabelRidges(),
    "by the dial, prior 1": HardLabelRidges(prior=1.0),
    "by the dial, prior ¼": HardLabelRidges(prior=0.25),
    "by the dial, all unlabeled rows count 1": HardLabelRidges(mass=np.inf),
    "by the dial, p = 0, 1": HardLabelRidges(powers=(0, 1)),
}
KEPT = "by the dial"


@dataclass(frozen=True, eq=False)
class Case:
    """A split of a table; `y` is -1 for rows without a label."""

    group: str
    table: str
    X: Array
    y: Array
    X_test: Array
    y_test: Array


def cases() -> Iterator[Case]:
    """Yield all splits, table by table."""
    for seed in SEEDS:
        yield _pumps(seed)
    X_test, y_test = method_pages.test_rows()
    for number in DRAWS:
        drawn = method_pages.draw(number)
        yield Case("example", "example", drawn.X, drawn.y, X_test[::5], y_test[::5])
    for regime, numbers in SPLITS.items():
        for name in (*sets.PAPER, "Clusters", "Lengthwise"):
            group = f"paper, {regime}" if name in sets.PAPER else f"{name}, {regime}"
            for number in numbers:
                one = sets.draw(name, regime, number)
                tested = slice(0, MOST_TESTED)
                yield Case(group, name, one.X, one.y, one.X_test[tested], one.y_test[tested])


def _pumps(seed: int) -> Case:
    table = pumps._tables(seed)[pumps.TABLE]
    frame = pd.read_csv(io.BytesIO(pumps._as_csv(table.columns)))
    prepared = prepare(frame, pumps.TARGET)
    y, free = prepared.codes, prepared.codes < 0
    return Case("pumps", "pumps", prepared.X, y, prepared.X[free], table.worn[free].astype(int))


def changes(case: Case) -> dict[str, tuple[float, float]]:
    """Return the accuracy and the log loss without labels, and how each trial changes them."""
    model = AveragedClassifier("least_squares").fit(case.X, case.y)
    learned = model.average_.learned
    rows = model._later.distinct.rows(learned, None)
    with single_threaded_blas():
        features = learned.features(case.X_test)
        fitted = [one.fit(rows) for one in BASE]
        known = [one.log_odds(features, np.arange(len(one.members))) for one in fitted]
        base = _scores(rows, BASE, fitted, known, case.y_test)
        found = {"": base}
        for name, family in TRIALS.items():
            more = family.fit(rows)
            added = more.log_odds(features, np.arange(len(more.members)))
            families, members = (*BASE, family), [*fitted, more]
            now = _scores(rows, families, members, [*known, added], case.y_test)
            found[name] = (now[0] - base[0], now[1] - base[1])
    return found


def _scores(
    rows: LabeledRows, families: Any, fitted: list[Any], log_odds: list[Array], truth: Array
) -> tuple[float, float]:
    left_out = np.concatenate([one.left_out for one in fitted])
    scores = score_members(rows, left_out, priors_of(families, fitted, {}), 0.5)
    p = scores.calibration.probabilities(np.concatenate(log_odds))
    mean = np.einsum("m,mik->ik", scores.weights, p)
    own = np.maximum(mean[np.arange(len(truth)), truth], np.finfo(float).tiny)
    return float(np.mean(mean.argmax(axis=1) == truth)), float(-np.log(own).mean())


def main() -> None:
    found: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for case in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for trial, pair in changes(case).items():
                found.setdefault((trial, case.group), {}).setdefault(case.table, []).append(pair)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(("trial", "group", "accuracy", "error", "log_loss", "log_loss_error"))
        for (trial, group), tables in found.items():
            pairs = [np.array(one) for one in tables.values()]
            means = np.mean([one.mean(axis=0) for one in pairs], axis=0)
            variances = [one.var(axis=0, ddof=1) / len(one) for one in pairs]
            errors = np.sqrt(np.sum(variances, axis=0)) / len(pairs)
            numbers = (means[0], errors[0], means[1], errors[1])
            write.writerow((trial, group, *(f"{number:.5f}" for number in numbers)))


if __name__ == "__main__":
    main()
