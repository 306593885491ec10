"""One learning curve: label batches of rows as a strategy chooses them, and count test errors.

The rows are those of a split of `benchmarks.peers`; at most 2,000 training rows are drawn from it.
Four of them, of two classes at least, have a label at first: the same for every strategy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.peers import sets
from semisquares import AveragedClassifier

from .strategies import PEER, STRATEGIES, Array, Situation, Strategy, random

FIRST = 4
BATCH = 10
MOST = 200
ROWS = 2_000
"""Training rows at most."""
ENOUGH = 0.95
"""The share of the accuracy with all labels that is to be reached."""

CLASSIFIERS: dict[str, Callable[[], AveragedClassifier]] = {
    "least_squares": lambda: AveragedClassifier(families="least_squares"),
    "all": AveragedClassifier,
}


@dataclass(frozen=True)
class Curve:
    """Test rows that are classified correctly, against the number of labels."""

    table: str
    classifier: str
    strategy: str
    split: int
    labels: tuple[int, ...]
    correct: tuple[int, ...]
    all_labels: int
    """Correct test rows of the classifier that has all labels."""
    test_rows: int
    version: str = ""
    """Of the strategy's package."""
    failures: int = 0
    """Batches that were drawn at random, as the strategy raised an error or repeated a row."""

    @property
    def needed(self) -> int:
        """Labels to reach 95 % of the accuracy with all labels; 200 if that never happens."""
        reached = (
            n for n, right in zip(self.labels, self.correct, strict=True)
            if right >= ENOUGH * self.all_labels
        )  # fmt: skip
        return next(reached, MOST)

    @property
    def mean_accuracy(self) -> float:
        """The mean over the curve."""
        return float(np.mean(self.correct)) / self.test_rows


@dataclass(frozen=True)
class Rows:
    """Training rows, test rows, and the training rows that have a label at first."""

    X: Array
    truth: Array
    X_test: Array
    y_test: Array
    first: Array


@lru_cache(maxsize=4)
def rows_of(table: str, split: int) -> Rows:
    """Draw the rows of a split."""
    found = sets.draw(table, "ten", split)
    rng = np.random.default_rng([sets.SEED, split, FIRST])
    kept = np.sort(rng.permutation(len(found.X))[:ROWS])
    X, truth = found.X[kept], found.truth[kept]
    first = rng.permutation(len(X))[:FIRST]
    while len(np.unique(truth[first])) < 2:
        first = rng.permutation(len(X))[:FIRST]
    return Rows(X, truth, found.X_test, found.y_test, first)


def measure(
    table: str, classifier: str, strategy: str, split: int, all_labels: int | None = None
) -> Curve:
    """Measure a curve; `all_labels` is known if another strategy has been measured."""
    rows, chosen = rows_of(table, split), STRATEGIES[strategy]
    model = _classifier(classifier, table, split)
    if all_labels is None:
        all_labels = _correct(_fitted(model, rows, rows.truth), rows)
    y = np.full(len(rows.X), -1)
    y[rows.first] = rows.truth[rows.first]
    rng = np.random.default_rng([sets.SEED, split, BATCH])
    labels, correct, failures = [], [], 0
    while True:
        _fitted(model, rows, y)
        labels.append(int((y >= 0).sum()))
        correct.append(_correct(model, rows))
        if labels[-1] + BATCH > min(MOST, len(y)):
            break
        picked, failed = _choose(chosen, Situation(model, rows.X, y.copy(), BATCH, rng))
        failures += failed
        y[picked] = rows.truth[picked]
    return Curve(
        table, classifier, strategy, split, tuple(labels), tuple(correct), all_labels,
        len(rows.y_test), chosen.version, failures,
    )  # fmt: skip


def _choose(strategy: Strategy, now: Situation) -> tuple[Array, bool]:
    """Choose a batch; at random if a strategy of another package fails."""
    try:
        picked = strategy.choose(now)
        if len(np.unique(picked)) != now.n or (now.y[picked] >= 0).any():
            raise RuntimeError(f"{strategy.label} did not choose {now.n} rows without a label")
        return picked, False
    except Exception:
        if strategy.package != PEER:
            raise
        return random(now), True


@lru_cache(maxsize=1)
def _classifier(name: str, table: str, split: int) -> AveragedClassifier:
    """Return the classifier of a split, which learns its representations once."""
    return CLASSIFIERS[name]().set_params(warm_start=True)


def _fitted(model: AveragedClassifier, rows: Rows, y: Array) -> AveragedClassifier:
    with warnings.catch_warnings():  # of classes that have one label
        warnings.simplefilter("ignore")
        return model.fit(rows.X, y)


def _correct(model: Any, rows: Rows) -> int:
    return int((model.predict(rows.X_test) == rows.y_test).sum())
