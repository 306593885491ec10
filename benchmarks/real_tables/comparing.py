"""Means over tables, differences between our classifier and its rivals, and promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import LABELS, SPLITS
from .methods import METHODS, OURS, RIVALS
from .storing import Results

Array = NDArray[Any]

BETTER_IF_LOWER = ("log_loss", "seconds")


@dataclass(frozen=True)
class Gain:
    """How much better ours is than a rival: the mean over tables, with its standard error."""

    by_table: dict[str, float]
    errors: dict[str, float]
    """The standard error on each table, over splits."""

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.by_table.values())))

    @property
    def median(self) -> float:
        return float(np.median(list(self.by_table.values())))

    @property
    def n_better(self) -> int:
        """On how many tables the gain is positive."""
        return sum(value > 0.0 for value in self.by_table.values())

    @property
    def error(self) -> float:
        """The standard error over tables."""
        values = np.array(list(self.by_table.values()))
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan

    @property
    def worst(self) -> str:
        return min(self.by_table, key=self.by_table.__getitem__)

    @property
    def best(self) -> str:
        return max(self.by_table, key=self.by_table.__getitem__)

    def count_clear(self, sign: int) -> int:
        """Return on how many tables the gain has this sign and is two standard errors or more."""
        return sum(
            bool(sign * value > 2.0 * self.errors[table]) for table, value in self.by_table.items()
        )


@dataclass(frozen=True)
class Comparison:
    """The results with one number of labels."""

    results: Results
    labels: int

    @property
    def tables(self) -> list[str]:
        """The tables on which all methods have all reported splits."""
        return [
            table
            for table in self.results.fits
            if all(set(SPLITS) <= set(self._values(table, name, "accuracy")) for name in METHODS)
        ]

    def by_table(self, method: str, measure: str) -> dict[str, float]:
        """Return the mean over splits for each table."""
        return {one: float(self._array(one, method, measure).mean()) for one in self.tables}

    def mean(self, method: str, measure: str) -> float:
        """Return the mean over tables."""
        return float(np.mean(list(self.by_table(method, measure).values())))

    def gain(self, rival: str, measure: str) -> Gain:
        """Return by how much our classifier is better than a rival."""
        sign = -1.0 if measure in BETTER_IF_LOWER else 1.0
        gains, errors = {}, {}
        for table in self.tables:
            ours, theirs = (self._array(table, one, measure) for one in (OURS, rival))
            found = sign * (ours - theirs)
            gains[table] = float(found.mean())
            errors[table] = float(found.std(ddof=1) / np.sqrt(len(found)))
        return Gain(gains, errors)

    def first(self, measure: str) -> str:
        """Return the best method on average."""
        sign = -1.0 if measure in BETTER_IF_LOWER else 1.0
        return max(having(measure), key=lambda name: sign * self.mean(name, measure))

    def _array(self, table: str, method: str, measure: str) -> Array:
        found = self._values(table, method, measure)
        return np.array([found[split] for split in SPLITS])

    def _values(self, table: str, method: str, measure: str) -> dict[int, float]:
        return self.results.values(table, self.labels, method, measure)


def having(measure: str) -> list[str]:
    """Return the methods that have a measure."""
    return [name for name, one in METHODS.items() if measure != "log_loss" or one.has_probabilities]


def comparisons(results: Results) -> dict[int, Comparison]:
    """Return the comparisons by number of labels, of those that are measured."""
    found = {labels: Comparison(results, labels) for labels in LABELS}
    return {labels: one for labels, one in found.items() if one.tables}


@dataclass(frozen=True)
class Found:
    """The evidence for a promise: the rival that comes closest, and our gain."""

    rival: str
    gain: Gain

    @property
    def holds(self) -> bool:
        return self.gain.mean > 0.0


def closest(comparison: Comparison, measure: str) -> Found:
    """Find the rival to which our gain is least."""
    gains = {name: comparison.gain(name, measure) for name in RIVALS if name in having(measure)}
    nearest = min(gains, key=lambda name: gains[name].mean)
    return Found(nearest, gains[nearest])


PROMISES: dict[str, Callable[[Comparison], Found]] = {
    "more accurate on average than each of the others": lambda one: closest(one, "accuracy"),
    "lower log loss on average than each that has probabilities": lambda one: closest(
        one, "log_loss"
    ),
}
