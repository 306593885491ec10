"""Do new rows differ from those that a model was fitted on? Column by column, and overall.

A column differs if two things hold:

* the distance is large. It is the largest difference of the shares of cells up to a bound (for
  numbers, booleans and dates: Kolmogorov & Smirnov), half the sum of the differences of the shares
  of levels (for categories), or the difference of the shares of missing cells;
* chance does not explain it: with all columns of the table taken together, rows from the same
  source lead to a note in less than one of a thousand tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.typing import Array
from .._utils.words import counted, percent
from .columns._summary import ColumnSummary

LEAST_DISTANCE, LEAST_MISSING = 0.15, 0.1
"""Smaller differences are not worth a note: 0.15 is a shift by 0.38 standard deviations."""
CHANCE = 0.001
"""Tolerated probability of a note on rows from the same source."""
_FEWEST_EXPECTED = 5.0
"""Levels with fewer expected cells are counted together."""
_MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class ColumnDifference:
    """How a column of new rows differs from the rows of the fit."""

    column: str
    what: str
    """"values" or "missing"."""
    distance: float
    p_value: float
    """The probability of such a distance by chance."""
    differs: bool
    fitted: ColumnSummary
    here: ColumnSummary

    @property
    def sentence(self) -> str:
        """The difference in words."""
        if self.what == "missing":
            here, there = percent(self.here.missing), percent(self.fitted.missing)
            return f"Column {self.column!r} is missing in {here} of the rows instead of {there}."
        return f"Column {self.column!r} has {self._values()}."

    def _values(self) -> str:
        here, there = self.here, self.fitted
        if here.levels:
            k = int(np.abs(here.shares - there.shares).argmax())
            level = "rare or new levels" if k == len(here.levels) else repr(here.levels[k])
            return f"{level} in {_instead(here.shares[k], there.shares[k])} of its filled cells"
        if here.kind == "boolean":
            return f"yes in {_instead(here.moments.mean, there.moments.mean)} of its filled cells"
        if here.kind == "date":
            return f"the mean {_dates(here)} instead of {_dates(there)}"
        return f"the mean {_numbers(here)} instead of {_numbers(there)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        found = {
            "column": self.column,
            "what": self.what,
            "distance": self.distance,
            "p_value": self.p_value,
            "differs": self.differs,
            "missing": {"here": self.here.missing, "fitted": self.fitted.missing},
        }
        if self.what == "values" and self.here.levels:
            names = [*self.here.levels, None]
            parts = zip(names, self.here.shares, self.fitted.shares, strict=True)
            found["levels"] = [
                {"level": name, "here": float(one), "fitted": float(other)}
                for name, one, other in parts
            ]
        elif self.what == "values":
            found["mean"] = {"here": self.here.moments.mean, "fitted": self.fitted.moments.mean}
            found["sd"] = {"here": self.here.sd, "fitted": self.fitted.sd}
        return found


@dataclass(frozen=True, eq=False)
class Drift:
    """New rows beside those of the fit, as summaries of their columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import fit_table, prepare
    >>> frame = pd.DataFrame({"age": range(20, 100, 2), "sick": ["no", "yes"] * 20})
    >>> model = fit_table(prepare(frame, "sick"), method="ridge", alpha=1.0)
    >>> found = model.predict(pd.DataFrame({"age": range(90, 130)})).drift
    >>> for note in found.notes:
    ...     print(note)
    The rows differ from those that the model was fitted on in 1 of 1 column: its scores need not
    hold for them.
    Column 'age' has the mean 109.5 (standard deviation 11.54) instead of 59 (standard deviation
    23.09).
    """

    n_rows: int = 0
    fitted: Mapping[str, ColumnSummary] = field(default_factory=dict)
    here: Mapping[str, ColumnSummary] = field(default_factory=dict)

    def merge(self, other: Drift) -> Drift:
        """Return the summaries of both batches."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        here = {name: one.merge(other.here[name]) for name, one in self.here.items()}
        return Drift(self.n_rows + other.n_rows, self.fitted, here)

    @cached_property
    def columns(self) -> tuple[ColumnDifference, ...]:
        """The difference of each column in values, then in missing cells."""
        return tuple(self._compare()) if self.n_rows else ()

    @property
    def differing(self) -> tuple[ColumnDifference, ...]:
        """The differences that are large and not due to chance, the largest first."""
        found = (one for one in self.columns if one.differs)
        return tuple(sorted(found, key=lambda one: -one.distance))

    @property
    def notes(self) -> list[str]:
        """What differs, overall and by column, a sentence each."""
        found = self.differing
        if not found:
            return []
        n_columns = len({one.column for one in found})
        more = len(found) - _MOST_NAMED
        overall = (
            f"The rows differ from those that the model was fitted on in {n_columns:,} of "
            f"{counted(len(self.fitted), 'column')}: its scores need not hold for them."
        )
        named = [one.sentence for one in found[:_MOST_NAMED]]
        return [overall, *named, *([f"{more:,} more such differences."] if more > 0 else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return {
            "rows": self.n_rows,
            "compared": len(self.fitted),
            "differing": list(dict.fromkeys(one.column for one in self.differing)),
            "columns": [one.as_dict() for one in self.columns],
        }

    def _compare(self) -> Iterator[ColumnDifference]:
        tolerated = CHANCE / max(1, 2 * len(self.fitted))
        for name, fitted in self.fitted.items():
            here = self.here[name]
            if here.counts.sum() and fitted.counts.sum():
                distance, p = _by_level(here, fitted) if fitted.levels else _by_order(here, fitted)
                differs = distance >= LEAST_DISTANCE and p < tolerated
                yield ColumnDifference(name, "values", distance, p, differs, fitted, here)
            distance = abs(here.missing - fitted.missing)
            p = _same_share(here.n_missing, here.n_rows, fitted.n_missing, fitted.n_rows)
            differs = distance >= LEAST_MISSING and p < tolerated
            yield ColumnDifference(name, "missing", distance, p, differs, fitted, here)


# -- distances -------------------------------------------------------------------------------------


def _by_order(here: ColumnSummary, fitted: ColumnSummary) -> tuple[float, float]:
    """Return the largest difference of cumulative shares, and the bound of Massart (1990)."""
    distance = float(np.abs(np.cumsum(here.shares - fitted.shares)).max())
    n, m = int(here.counts.sum()), int(fitted.counts.sum())
    return distance, min(1.0, 2.0 * math.exp(-2.0 * distance**2 * n * m / (n + m)))


def _by_level(here: ColumnSummary, fitted: ColumnSummary) -> tuple[float, float]:
    """Return half the sum of the differences of shares, and the p-value of a chi-squared test."""
    distance = 0.5 * float(np.abs(here.shares - fitted.shares).sum())
    table = np.array([here.counts, fitted.counts], dtype=float)
    expected = table.sum(axis=0) * table.sum(axis=1, keepdims=True) / table.sum()
    rare = expected.min(axis=0) < _FEWEST_EXPECTED
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    p_rare = _same_share(table[0, -1], table[0].sum(), table[1, -1], table[1].sum())
    if table.shape[1] < 2:
        return distance, 1.0
    expected = table.sum(axis=0) * table.sum(axis=1, keepdims=True) / table.sum()
    if expected.min() < _FEWEST_EXPECTED:  # the rare levels together are still rare
        kept = table[:, :-1]
        rest = kept.sum(axis=0) * kept.sum(axis=1, keepdims=True) / max(1.0, kept.sum())
        return distance, min(1.0, 2.0 * min(p_rare, _chi_squared(kept, rest)))
    return distance, _chi_squared(table, expected)


def _chi_squared(table: Array, expected: Array) -> float:
    degrees = table.shape[1] - 1
    if not degrees:
        return 1.0
    return chi_squared_tail(float(((table - expected) ** 2 / expected).sum()), degrees)


def chi_squared_tail(x: float, degrees: int) -> float:
    """Return the probability that a chi-squared variable exceeds x > 0.

    The incomplete gamma function of half the degrees of freedom, from that of 1/2 or 1 upwards.
    Predicting does not import SciPy, which takes longer than a prediction.

    Examples
    --------
    >>> round(chi_squared_tail(11.07, 5), 4), round(chi_squared_tail(9.49, 4), 4)
    (0.05, 0.05)
    """
    if x <= 0.0:
        return 1.0
    x, a = x / 2.0, 1.0 if degrees % 2 == 0 else 0.5
    found = math.exp(-x) if a == 1.0 else math.erfc(math.sqrt(x))
    while a < degrees / 2.0:
        found += math.exp(a * math.log(x) - x - math.lgamma(a + 1.0))
        a += 1.0
    return min(1.0, found)


def _same_share(k: float, n: float, others: float, m: float) -> float:
    """Return the p-value of Fisher's exact test that k of n is others of m: twice the tail.

    Examples
    --------
    >>> round(_same_share(8, 10, 1, 10), 5)
    0.00548
    """
    k, n, others, m = int(k), int(n), int(others), int(m)
    if not n or not m or not 0 < k + others < n + m:
        return 1.0
    if k * m < others * n:  # the tail is that of the cells which are not missing
        k, others = n - k, m - others
    total = k + others
    term = math.exp(_log_comb(n, k) + _log_comb(m, others) - _log_comb(n + m, total))
    tail = 0.0
    while term > 1e-17 * tail:
        tail += term
        term *= (n - k) * (total - k) / ((k + 1) * (m - total + k + 1))
        k += 1
    return min(1.0, 2.0 * tail)


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


# -- words -----------------------------------------------------------------------------------------


def _instead(here: float, there: float) -> str:
    return f"{percent(float(here))} instead of {percent(float(there))}"


def _numbers(one: ColumnSummary) -> str:
    return f"{_written(one.moments.mean)} (standard deviation {_written(one.sd)})"


def _written(number: float) -> str:
    """Write a number with four digits.

    Examples
    --------
    >>> _written(21932.4), _written(0.50741), _written(90.0), _written(-3e9)
    ('21,930', '0.5074', '90', '-3e+09')
    """
    if number == 0.0 or not 1e-3 <= abs(number) < 1e7:
        return f"{number:.4g}"
    decimals = 3 - math.floor(math.log10(abs(number)))
    text = f"{round(number, decimals):,.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _dates(one: ColumnSummary) -> str:
    low, high = _day(one.moments.low), _day(one.moments.high)
    return f"{_day(one.moments.mean)} ({low} to {high})"


def _day(days: float) -> str:
    try:
        return (date(2000, 1, 1) + timedelta(days=math.floor(days))).isoformat()
    except OverflowError:
        return f"{days:.0f} days after 2000-01-01"
