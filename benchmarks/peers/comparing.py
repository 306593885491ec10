"""Comparisons from the stored tables: means, differences in the same splits, tests.

Splits of a table share rows. Their spread shows how certain a result is for this table under new
splits, not for a new table; claims about tables are counted over tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from semisquares.paper.figures._ranking import LEVEL, holm, mean_and_error, paired_p, ranks

from .fitting import NOT_INSTALLED
from .methods import COMPETITORS
from .sets import PAPER
from .storing import Stored

Array = NDArray[Any]


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error over `n` splits, or over tables (`n` is None)."""

    value: float
    error: float
    n: int | None = None

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval."""
        if self.n is not None and self.n < 2:
            return np.nan
        quantile = stats.norm.ppf(0.975) if self.n is None else stats.t.ppf(0.975, self.n - 1)
        return float(quantile * self.error)

    @property
    def low(self) -> float:
        return self.value - self.half_width

    @property
    def high(self) -> float:
        return self.value + self.half_width


@dataclass(frozen=True)
class Pair:
    """One method against another: the tables on which it is clearly better, neither, or worse."""

    better: tuple[str, ...]
    equal: tuple[str, ...]
    worse: tuple[str, ...]
    untold: tuple[str, ...]
    """Tables with fewer than two splits in which both have a model."""

    def __str__(self) -> str:
        return f"{len(self.better)} / {len(self.equal)} / {len(self.worse)}"


@dataclass(frozen=True)
class Comparison:
    """The results of one regime."""

    stored: Stored
    regime: str

    @cached_property
    def _shares(self) -> dict[str, dict[str, Array]]:
        """Accuracies in all splits, by table and method."""
        methods = self.stored.methods
        mine = self.stored.errors[self.stored.errors["regime"] == self.regime]
        found = {}
        for table, rows in mine.groupby("table", sort=False):
            wrong = rows[methods].to_numpy(dtype=float).T
            right = 1.0 - wrong / rows["test_rows"].to_numpy()
            found[str(table)] = dict(zip(methods, right, strict=True))
        return found

    @cached_property
    def _scores(self) -> dict[str, dict[str, dict[str, Array]]]:
        """Log loss, balanced accuracy and calibration error, each by table and method."""
        return {
            name: {
                str(table): {method: column.to_numpy() for method, column in rows.items()}
                for table, rows in frame[frame["regime"] == self.regime].groupby("table")
            }
            for name, frame in self.stored.scores.items()
        }

    @cached_property
    def tables(self) -> list[str]:
        """The tables that are measured in this regime."""
        errors = self.stored.errors
        return [str(name) for name in errors.loc[errors["regime"] == self.regime, "table"].unique()]

    @cached_property
    def competitors(self) -> list[str]:
        """The measured methods that are compared with each other."""
        return [name for name in COMPETITORS if self.is_measured(name)]

    def is_measured(self, method: str) -> bool:
        """Return whether a method was tried in all splits of the paper's tables, or given up there.

        The means of others are over other splits and would mislead.
        """
        return method in self.stored.methods and set(self.paper) <= self._tried[method]

    @cached_property
    def _tried(self) -> dict[str, set[str]]:
        """The tables on which a method was tried in all splits, or given up."""
        fits = self.stored.fits
        tried = (fits["fits"] == self.stored.n_splits) | (fits["ok"] == 0)
        tried &= (fits["status"] != NOT_INSTALLED) & (fits["regime"] == self.regime)
        found: dict[str, set[str]] = defaultdict(set)
        for method, table in zip(fits.loc[tried, "method"], fits.loc[tried, "table"], strict=True):
            found[method].add(table)
        return found

    @cached_property
    def paper(self) -> list[str]:
        """The paper's tables, over which means are taken."""
        return [table for table in self.tables if table in PAPER]

    def sizes(self, table: str) -> pd.Series:
        """Return the numbers of labeled, unlabeled and test rows."""
        errors = self.stored.errors
        mine = errors[(errors["regime"] == self.regime) & (errors["table"] == table)]
        return mine.iloc[0][["labels", "unlabeled", "test_rows"]]

    def accuracy(self, method: str, table: str) -> Mean:
        """Return the mean accuracy of a method on a table."""
        return _mean(self._column(method, table))

    def difference(self, method: str, other: str, table: str) -> Mean:
        """Return how much more accurate a method is than another, in the splits that both have."""
        return _mean(self._column(method, table) - self._column(other, table))

    def differing(self, method: str, other: str) -> float:
        """Return the share of splits of the paper's tables in which accuracies differ."""
        gaps = [self._column(method, one) - self._column(other, one) for one in self.paper]
        known = np.concatenate([gap[np.isfinite(gap)] for gap in gaps])
        return float(np.mean(known != 0.0))

    def has(self, method: str, table: str) -> bool:
        """Return whether a method has a model in some split of a table."""
        return bool(np.isfinite(self._column(method, table)).any())

    def tables_of(self, *methods: str) -> list[str]:
        """Return the paper's tables on which all of these methods have models."""
        return [table for table in self.paper if all(self.has(one, table) for one in methods)]

    def mean_accuracy(self, method: str) -> Mean:
        """Return the mean accuracy over the paper's tables on which the method has models."""
        return _over_tables([self.accuracy(method, table) for table in self.tables_of(method)])

    def mean_difference(self, method: str, other: str) -> Mean:
        """Return the mean difference over the paper's tables, in the splits that both have."""
        tables = self.tables_of(method, other)
        return _over_tables([self.difference(method, other, table) for table in tables])

    def score(self, name: str, method: str, table: str) -> Mean:
        """Return the mean of a stored score (`scoring.SCORES`) of a method on a table."""
        values = self._scores[name].get(table, {}).get(method, np.empty(0))
        return _mean(values.astype(float))

    def mean_score(self, name: str, method: str) -> Mean:
        """Return the mean of a score over the paper's tables, NaN unless all of them have it."""
        means = [self.score(name, method, table) for table in self.paper]
        return _over_tables(means)

    def pair(self, method: str, other: str, tables: Sequence[str] | None = None) -> Pair:
        """Compare one method with another on each table.

        Uses paired t tests over the splits that both have, with Holm's correction for the number
        of tables.
        """
        tables = self.tables if tables is None else list(tables)
        found = {one: self._column(method, one) - self._column(other, one) for one in tables}
        known = {one: values[np.isfinite(values)] for one, values in found.items()}
        tested = {one: values for one, values in known.items() if len(values) > 1}
        p = np.array([paired_p(values[:, None])[0] for values in tested.values()])
        sides: dict[float, list[str]] = {1.0: [], 0.0: [], -1.0: []}
        for (table, values), adjusted in zip(tested.items(), holm(p), strict=True):
            sides[float(np.sign(values.mean())) if adjusted < LEVEL else 0.0].append(table)
        untold = [table for table in tables if table not in tested]
        return Pair(*map(tuple, (sides[1.0], sides[0.0], sides[-1.0], untold)))

    @cached_property
    def mean_ranks(self) -> dict[str, float]:
        """Mean ranks of the methods over the paper's tables; 1 is the most accurate.

        A method without a model comes last.
        """
        methods = self.competitors
        errors = [
            [1.0 - self.accuracy(method, table).value for method in methods] for table in self.paper
        ]
        return dict(zip(methods, ranks(np.array(errors)).mean(axis=0), strict=True))

    def _column(self, method: str, table: str) -> Array:
        return self._shares[table][method]


def _mean(values: Array) -> Mean:
    known = values[np.isfinite(values)]
    mean, error = mean_and_error(known[:, None])
    return Mean(float(mean[0]), float(error[0]), len(known))


def _over_tables(means: Sequence[Mean]) -> Mean:
    """Return the mean over given tables; its error is due to the splits."""
    if not means:
        return Mean(np.nan, np.nan)
    errors = np.array([one.error for one in means])
    value = float(np.mean([one.value for one in means]))
    return Mean(value, float(np.sqrt((errors**2).sum()) / len(means)))
