"""Categories: text whose values repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pandas as pd

from ..._utils.messages import Parameter
from ..._utils.typing import Array
from ..._utils.words import counted
from ..errors import TableError
from ._cells import factorize_texts, level_of
from ._counts import ValueCounts
from ._onnx import OnnxGraph
from ._protocol import Column, ColumnType, Encoder, Feature, Profile
from ._summary import ColumnSummary
from .excluded import classify_words, unless_constant

UNKNOWN = "a level that no table has"


@dataclass(frozen=True, eq=False)
class CategoryEncoder(Encoder):
    """Encodes levels one-hot: the frequent ones in sorted order, then one feature for the rare.

    Levels that `fit` has not seen count as rare; without rare levels, all their features are 0.
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    """The levels of each column, sorted; "" is a missing cell."""
    frequent: tuple[tuple[bool, ...], ...]
    """Which levels of each column have a feature of their own."""

    def describe(self) -> list[Feature]:
        """Describe the levels of each column in turn."""
        found: list[Feature] = []
        for name, levels, frequent in zip(self.columns, self.levels, self.frequent, strict=True):
            own = [level for level, often in zip(levels, frequent, strict=True) if often]
            found += [_level_feature(name, level) for level in own]
            if n_rare := len(levels) - len(own):
                rare = f"other ({counted(n_rare, 'rare level')})"
                found.append(_level_feature(name, rare))
        return found

    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Write one-hot rows."""
        start = 0
        for place, name in enumerate(self.columns):
            rows = self.encode_levels(place, _levels_of(cells[name]))
            stop = start + rows.shape[1]
            out[:, start:stop] = rows[cells[name].cat.codes]
            start = stop

    def encode_levels(self, place: int, levels: Array) -> Array:
        """Return the features of levels of the column at `place`, a row for each level."""
        frequent = np.array(self.frequent[place], dtype=bool)
        n_own = int(np.count_nonzero(frequent))
        feature_of = np.where(frequent, np.cumsum(frequent) - 1, n_own)
        known = dict(zip(self.levels[place], feature_of.tolist(), strict=True))
        chosen = np.array([known.get(level, n_own) for level in levels], dtype=np.intp)
        return np.eye(n_own + 1, n_own + (n_own < len(frequent)))[chosen]

    def typical(self, statistics: Mapping[str, ValueCounts], n_rows: int) -> Array:
        """Return the features of the most frequent level of each column, the first if several."""
        rows = []
        for place, found in enumerate(statistics.values()):
            levels, counts = found.sorted
            rows.append(self.encode_levels(place, levels[[counts.argmax()]])[0])
        return np.concatenate(rows)

    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return each level, an unseen one and a missing cell."""
        return np.array([*self.levels[place], UNKNOWN, None], dtype=object)

    def unseen(self, frame: pd.DataFrame) -> dict[str, dict[str, int]]:
        """Count the levels that `fit` has not seen."""
        found = {}
        for name, levels in zip(self.columns, self.levels, strict=True):
            codes, texts = factorize_texts(frame[name], level_of)
            counts = np.bincount(codes[codes >= 0], minlength=len(texts))
            known = set(levels)
            new = {str(t): int(n) for t, n in zip(texts, counts, strict=True) if t not in known}
            if new:
                found[name] = new
        return found

    def add_to_graph(self, graph: OnnxGraph) -> list[str]:
        """Add a string input for each column, and look up the features of its level."""
        return [
            graph.add_lookup(
                name, levels, self.encode_levels(place, np.append(levels, UNKNOWN).astype(object))
            )
            for place, (name, levels) in enumerate(zip(self.columns, self.levels, strict=True))
        ]


def _level_feature(column: str, level: str) -> Feature:
    name, role = (f"{column} = {level}", "level") if level else (f"{column} is missing", "missing")
    return Feature(name, column, 1.0, "against not", role)


class CategoryType(ColumnType):
    """Levels, one-hot with rare levels pooled; a missing cell is one more level, ""."""

    name = "category"
    plural = title = "categories"
    onnx_input = "categories as text, empty where missing"
    takes_the_rest = True
    encoder = CategoryEncoder

    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column | None:
        """Accept any text whose values repeat; leave out identifiers."""
        column = unless_constant(profile.describe(name, self.name), profile.n_rows)
        if not column.used or profile.counts is None:
            return column
        if not requested:
            counts, n_distinct = profile.counts, column.n_distinct
            kind, reason = classify_words(name, counts, n_distinct, profile.n_filled)
            return None if kind == "text" else replace(column, kind=kind, reason=reason)
        if not profile.counts.complete:
            raise TableError(
                "Column {name!r} holds about {n_distinct:,} different values, too many for "
                "categories in a table that is read in chunks; leave it out with {drop}.",
                code="too_many_categories",
                name=name,
                n_distinct=column.n_distinct,
                drop=Parameter("drop", [name]),
            )
        return column

    def clean(self, values: pd.Series, column: Column) -> pd.Categorical:
        """Return levels in sorted order, "" for missing cells."""
        codes, levels = factorize_texts(values, level_of)
        levels = np.append(levels, [""] * bool((codes < 0).any()))
        order = np.argsort(levels)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        # the code -1 reads the last place, which is that of "" if there is such a code
        return pd.Categorical.from_codes(places[codes], levels[order])

    def statistics(self, cells: pd.Series) -> ValueCounts:
        """Count the levels."""
        return ValueCounts.of(cells.cat.codes.to_numpy(), _levels_of(cells), most=None)

    def comparable(self, cells: pd.Series) -> pd.Categorical:
        """Return the levels."""
        return cells.array

    def summary(self, statistics: ValueCounts, n_rows: int, sample: Array) -> ColumnSummary:
        """Count the levels of all rows."""
        return ColumnSummary.of_levels(self.name, statistics, n_rows)

    def fit(
        self, statistics: Mapping[str, ValueCounts], n_rows: int, *, max_levels: int
    ) -> CategoryEncoder:
        """Pool levels with less than 1 % of the rows (2 to 20 rows), or beyond `max_levels`."""
        min_count = min(20, max(2, ceil(0.01 * n_rows)))
        counted = [counts.sorted for counts in statistics.values()]
        return CategoryEncoder(
            tuple(statistics),
            tuple(tuple(map(str, levels)) for levels, _ in counted),
            tuple(
                tuple(_are_frequent(counts, min_count, max_levels).tolist())
                for _, counts in counted
            ),
        )


def _are_frequent(counts: Array, min_count: int, max_levels: int) -> Array:
    """Tell which levels have a feature of their own; one feature is for all others."""
    frequent = counts >= min_count
    if np.count_nonzero(frequent) >= max_levels:
        rarest = np.argsort(counts, kind="stable")[: len(counts) - max_levels + 1]
        frequent[rarest] = False
    return frequent


def _levels_of(cells: pd.Series) -> Array:
    return np.asarray(cells.cat.categories, dtype=object)
