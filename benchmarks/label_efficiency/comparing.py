"""What the stored curves say: labels needed, ratios to random choice, promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from benchmarks.peers.sets import SETS

from .curves import Curve
from .strategies import STRATEGIES, Array

RANDOM, OURS = "random", "ours"
FEWER = 0.8
"""Promise: the labels that ours needs, as a share of those of random choice."""
MORE = 1.1
"""Promise: ours does not clearly need more than this share on any table."""
CLEAR = 0.05
"""Level of the test behind "clearly", before Holm's correction for the number of tables."""


@dataclass(frozen=True, eq=False)
class Efficiency:
    """The curves of one classifier, on the tables and splits that all strategies have."""

    curves: dict[tuple[str, str, int], Curve]
    """By strategy, table and split."""

    @classmethod
    def of(cls, curves: Iterable[Curve], classifier: str) -> Efficiency:
        """Take the curves of a classifier; leave out splits that some strategy has not finished."""
        mine = {
            (one.strategy, one.table, one.split): one
            for one in curves
            if one.classifier == classifier
        }
        names = {strategy for strategy, _, _ in mine}
        return cls(
            {
                key: one
                for key, one in mine.items()
                if all((name, *key[1:]) in mine for name in names)
            }
        )

    @cached_property
    def strategies(self) -> list[str]:
        """The strategies, in their usual order."""
        found = {strategy for strategy, _, _ in self.curves}
        return [name for name in STRATEGIES if name in found]

    @cached_property
    def tables(self) -> list[str]:
        """The tables, in their usual order."""
        found = {table for _, table, _ in self.curves}
        return [name for name in SETS if name in found]

    def of_table(self, strategy: str, table: str) -> list[Curve]:
        """Return the curves of a strategy on a table, by split."""
        keys = sorted(key for key in self.curves if key[:2] == (strategy, table))
        return [self.curves[key] for key in keys]

    @property
    def n_splits(self) -> tuple[int, int]:
        """The smallest and the largest number of splits of a table."""
        counts = [len(self.of_table(self.strategies[0], table)) for table in self.tables]
        return min(counts), max(counts)

    def needed(self, strategy: str, table: str) -> float:
        """Return the mean number of labels to reach 95 % of the accuracy with all labels."""
        return float(np.mean([one.needed for one in self.of_table(strategy, table)]))

    def ratio(self, strategy: str) -> float:
        """Return the labels needed on all tables, as a share of those of random choice."""
        mine, theirs = (
            sum(self.needed(one, table) for table in self.tables) for one in (strategy, RANDOM)
        )
        return mine / theirs

    def mean_accuracy(self, strategy: str) -> float:
        """Return the mean accuracy over the curves, then over splits, then over tables."""
        return float(
            np.mean(
                [
                    np.mean([one.mean_accuracy for one in self.of_table(strategy, table)])
                    for table in self.tables
                ]
            )
        )

    def mean_curve(self, strategy: str, table: str) -> tuple[Array, Array]:
        """Return the numbers of labels and the mean accuracies."""
        curves = self.of_table(strategy, table)
        shares = [np.array(one.correct) / one.test_rows for one in curves]
        return np.array(curves[0].labels), np.mean(shares, axis=0)

    def goal(self, table: str) -> float:
        """Return the mean over splits of the accuracy with all labels."""
        curves = self.of_table(self.strategies[0], table)
        return float(np.mean([one.all_labels / one.test_rows for one in curves]))

    @property
    def best_other(self) -> str:
        """The strategy that needs the fewest labels, besides ours."""
        return min((name for name in self.strategies if name != OURS), key=self.ratio)

    def clearly_worse(self) -> list[str]:
        """Return tables where ours clearly needs more than 1.1 × the labels of random choice.

        One-sided paired t tests over the splits, with Holm's correction for the number of tables.
        """
        p = {}
        for table in self.tables:
            mine, theirs = (
                np.array([one.needed for one in self.of_table(name, table)], dtype=float)
                for name in (OURS, RANDOM)
            )
            p[table] = _p_value(mine - MORE * theirs)
        order = sorted(p, key=p.__getitem__)
        passed = [p[table] * (len(order) - place) < CLEAR for place, table in enumerate(order)]
        n_clear = passed.index(False) if False in passed else len(passed)
        return [table for table in self.tables if table in order[:n_clear]]


def _p_value(differences: Array) -> float:
    """Return the p value of a positive mean."""
    if len(differences) < 2:
        return 1.0
    if np.ptp(differences) == 0.0:
        return float(differences[0] <= 0.0)
    return float(stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue)


@dataclass(frozen=True)
class Kept:
    """Whether a promise holds, and the evidence."""

    words: str
    holds: bool


def fewer_than_random(found: Efficiency) -> Kept:
    """Compare with random choice."""
    ratio = found.ratio(OURS)
    return Kept(f"{ratio:.2f}", ratio <= FEWER)


def best_of_all(found: Efficiency) -> Kept:
    """Compare with the other strategies."""
    best, mine = found.best_other, found.ratio(OURS)
    words = f"{mine:.2f}; {STRATEGIES[best].label}, the best of the others, {found.ratio(best):.2f}"
    return Kept(words, mine <= found.ratio(best))


def nowhere_clearly_worse(found: Efficiency) -> Kept:
    """Look at each table."""
    worse = found.clearly_worse()
    return Kept(", ".join(worse) or "no such table", not worse)


PROMISES: dict[str, Callable[[Efficiency], Kept]] = {
    f"at most {FEWER} × the labels of random choice": fewer_than_random,
    "no more labels than any other strategy": best_of_all,
    f"on no table clearly more than {MORE} × the labels of random choice": nowhere_clearly_worse,
}
