"""A short summary of a column: what a model keeps of it to recognise that new rows differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from ._counts import ValueCounts
from ._moments import Moments

MOST_SAMPLED = 1_000
"""Rows by which the bins of numbers are chosen, at most."""
_SHARES = np.arange(1, 20) / 20
_MOST_LEVELS = 1_000
"""Levels that are counted on their own, at most."""
_RARE = range(5, 21)
"""Levels with up to so many rows are rare: how many, within these bounds, depends on the column."""


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Counts of the cells of a column in bins, or by level; no row can be told from them.

    The summary of a fit chooses bins or levels, and `count` counts other cells in the same ones.
    """

    kind: str
    """The column type."""
    n_rows: int
    n_missing: int
    counts: Array
    """Filled cells in each bin (of a sample, if the table is large), or of each level."""
    edges: tuple[float, ...] = ()
    """The upper bounds of all bins but the last, which belong to their bins."""
    levels: tuple[str, ...] = ()
    """Of a category; the last count is that of all other levels."""
    moments: Moments = field(default_factory=Moments)
    """Of all filled cells, unless it is a category. Dates are days since 2000-01-01."""

    @classmethod
    def of_numbers(cls, kind: str, moments: Moments, n_rows: int, sample: Array) -> ColumnSummary:
        """Choose bins with equal counts by a sample of filled cells.

        Examples
        --------
        >>> numbers = np.arange(100.0)
        >>> summary = ColumnSummary.of_numbers("number", Moments.of(numbers), 110, numbers)
        >>> summary.n_missing, summary.edges[:3], summary.counts[:3].tolist()
        (10, (4.0, 9.0, 14.0), [5, 5, 5])
        """
        found = (
            np.unique(np.quantile(sample, _SHARES, method="inverted_cdf")) if len(sample) else ()
        )
        edges = tuple(map(float, found))
        return cls(kind, n_rows, n_rows - moments.n, _in_bins(sample, edges), edges, (), moments)

    @classmethod
    def of_levels(cls, kind: str, counts: ValueCounts, n_rows: int) -> ColumnSummary:
        """Count the levels that are not rare; "" is a missing cell.

        New rows have levels that the fit has not seen even if they come from the same source. Good
        (1953): levels with up to r rows in the fit, and unseen ones, have in new rows the share
        that levels with up to r + 1 rows have in the fit. So all of them share a count, with an r
        for which few rows make a difference.
        """
        names, found = counts.sorted
        filled = np.array([name != "" for name in names], dtype=bool)
        n_missing = n_rows - int(found[filled].sum())
        names, found = names[filled], found[filled]
        r = min(_RARE, key=lambda r: (r + 1) * np.count_nonzero(found == r + 1))
        kept = np.flatnonzero(found > r)
        if len(kept) > _MOST_LEVELS:  # any choice by their counts would favour some
            hashes = pd.util.hash_array(names[kept].astype(object), categorize=False)
            kept = np.sort(kept[np.argsort(hashes, kind="stable")[:_MOST_LEVELS]])
        others = int(found.sum() - found[kept].sum())
        levels = tuple(map(str, names[kept]))
        return cls(kind, n_rows, n_missing, np.append(found[kept], others), (), levels)

    def count(self, cells: Any) -> ColumnSummary:
        """Count other cells in the same bins: float64, NaN if missing, or a Categorical."""
        n_rows = len(cells)
        if not isinstance(cells, pd.Categorical):
            filled = cells[~np.isnan(cells)]
            counts, moments = _in_bins(filled, self.edges), Moments.of(filled)
            return replace(
                self, n_rows=n_rows, n_missing=n_rows - len(filled), counts=counts, moments=moments
            )
        known = {name: place for place, name in enumerate(self.levels)} | {"": -1}
        places = [known.get(name, len(self.levels)) for name in cells.categories]
        found = np.array([*places, -1], dtype=np.intp)[cells.codes]
        counts = np.bincount(found[found >= 0], minlength=len(self.levels) + 1)
        return replace(self, n_rows=n_rows, n_missing=n_rows - int(counts.sum()), counts=counts)

    def merge(self, other: ColumnSummary) -> ColumnSummary:
        """Return the summary of both chunks, which have the same bins."""
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            n_missing=self.n_missing + other.n_missing,
            counts=self.counts + other.counts,
            moments=self.moments.merge(other.moments),
        )

    @property
    def missing(self) -> float:
        """The share of missing cells."""
        return self.n_missing / max(1, self.n_rows)

    @property
    def shares(self) -> Array:
        """The share of each bin or level in the filled cells."""
        return self.counts / max(1, int(self.counts.sum()))

    @property
    def sd(self) -> float:
        """The standard deviation of the filled cells."""
        return float(np.sqrt(self.moments.squares / max(1, self.moments.n)))

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values from which `from_plain` restores it."""
        moments = None
        if self.moments.n:
            m = self.moments
            moments = [m.n, m.mean, m.squares, m.low, m.high]
        return {
            "kind": self.kind,
            "rows": self.n_rows,
            "missing": self.n_missing,
            "counts": self.counts.tolist(),
            "edges": list(self.edges),
            "levels": list(self.levels),
            "moments": moments,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ColumnSummary:
        """Restore a summary."""
        counts = np.array(plain["counts"], dtype=np.int64)
        edges, levels = tuple(map(float, plain["edges"])), tuple(map(str, plain["levels"]))
        if len(counts) != max(len(edges), len(levels)) + 1 or (counts < 0).any():
            raise ValueError("counts that do not fit their bins")
        moments = Moments()
        if plain["moments"] is not None:
            n, mean, squares, low, high = plain["moments"]
            moments = Moments(int(n), float(mean), 0.0, float(squares), float(low), float(high))
        n_rows, n_missing = int(plain["rows"]), int(plain["missing"])
        return cls(str(plain["kind"]), n_rows, n_missing, counts, edges, levels, moments)


def sampled_rows(start: int, n_rows: int, total: int, most: int | None = None) -> Array | slice:
    """Choose rows of a chunk that make up a sample of about `most`, or 1,000, rows of the table.

    Whether a row is chosen depends on its number alone, so that chunks do not change the sample,
    and at random, as the rows of a table may have a rhythm.

    Examples
    --------
    >>> sampled_rows(0, 3, 100)
    slice(None, None, None)
    >>> whole = sampled_rows(0, 100_000, 100_000)
    >>> int(whole.sum())
    1018
    """
    most = MOST_SAMPLED if most is None else most
    if total <= most:
        return slice(None)
    number = np.arange(start, start + n_rows, dtype=np.uint64)
    number = number * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64
        number = (number ^ (number >> np.uint64(shift))) * np.uint64(factor)
    number ^= number >> np.uint64(31)
    return number < np.uint64(most / total * 2.0**64)


def _in_bins(cells: Array, edges: Sequence[float]) -> Array:
    return np.bincount(np.searchsorted(edges, cells), minlength=len(edges) + 1)
