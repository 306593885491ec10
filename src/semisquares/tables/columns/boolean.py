"""Booleans: true/false, yes/no, y/n and t/f."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from ._cells import check_texts, factorize_texts, level_of
from ._counts import ValueCounts
from ._moments import Moments
from ._onnx import OnnxGraph
from ._protocol import (
    Cells,
    Column,
    ColumnType,
    Encoder,
    Feature,
    Profile,
    fill_and_flag,
    missing_flag,
    typical_flags,
)
from ._summary import ColumnSummary
from .excluded import unless_constant

_WORDS = {word: 1.0 for word in ("true", "yes", "y", "t")}
_WORDS |= {word: 0.0 for word in ("false", "no", "n", "f")}


def to_booleans(values: pd.Series, name: str) -> Array:
    """Return a column as 1.0, 0.0 and NaN; TableError if a cell is neither true nor false."""
    if values.dtype == np.bool_:
        return values.to_numpy(np.float64)
    codes, texts = factorize_texts(values, level_of)
    known = _WORDS | {"1": 1.0, "0": 0.0}
    numbers = np.array([known.get(text.lower(), np.nan) for text in texts] + [np.nan])
    check_texts(values, name, codes, np.isnan(numbers[:-1]), "true or false", "neither")
    return numbers[codes]


@dataclass(frozen=True, eq=False)
class BooleanEncoder(Encoder):
    """Fills missing booleans with the more frequent value, and appends flags for them."""

    columns: tuple[str, ...]
    missing: Array
    """The columns, as positions, that have a flag because `fit` saw missing cells."""
    modes: Array

    def describe(self) -> list[Feature]:
        """Describe the booleans, then the flags."""
        values = [Feature(name, name, 1.0, "against not") for name in self.columns]
        return values + [missing_flag(self.columns[place]) for place in self.missing]

    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Fill and flag."""
        fill_and_flag(out, [cells[name] for name in self.columns], self.modes, self.missing)

    def typical(self, statistics: Mapping[str, ValueCounts], n_rows: int) -> Array:
        """Return the more frequent values."""
        filled = np.array([counts.counts.sum() for counts in statistics.values()])
        return np.append(self.modes, typical_flags(1.0 - filled[self.missing] / n_rows))

    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return false, true and a missing cell."""
        return np.array([0.0, 1.0, np.nan])

    def add_to_graph(self, graph: OnnxGraph) -> list[str]:
        """Add a double input for each column, filled and flagged."""
        return [graph.add_filled(self.columns, self.modes, self.missing)]


class BooleanType(ColumnType):
    """True or false as 1 and 0, missing cells filled with the more frequent and flagged."""

    name = "boolean"
    plural = "booleans"
    title = "yes or no"
    onnx_input = "yes or no ({columns}) as the doubles 1 and 0, NaN where missing"
    encoder = BooleanEncoder

    def profile(self, cells: Cells, *, requested: bool) -> Profile:
        """Check cells if booleans are requested; 1 and 0 are accepted then."""
        if requested:
            to_booleans(cells.values, cells.name)
        return super().profile(cells, requested=requested)

    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column | None:
        """Accept text that consists of words for true and false only."""
        if not requested and profile.storage != self.name:
            texts = () if profile.counts is None else profile.counts.values
            most = len(_WORDS) ** 2  # enough for all spellings
            if not 0 < len(texts) <= most or not all(text.lower() in _WORDS for text in texts):
                return None
        return unless_constant(profile.describe(name, self.name), profile.n_rows)

    def clean(self, values: pd.Series, column: Column) -> Array:
        """Return 1.0, 0.0 and NaN."""
        return to_booleans(values, column.name)

    def statistics(self, cells: pd.Series) -> ValueCounts:
        """Count true and false."""
        return ValueCounts.of(*pd.factorize(cells.to_numpy()), most=None)

    def comparable(self, cells: pd.Series) -> Array:
        """Return 1.0, 0.0 and NaN."""
        return cells.to_numpy()

    def summary(self, statistics: ValueCounts, n_rows: int, sample: Array) -> ColumnSummary:
        """Take false and true for bins."""
        counts = np.zeros(2, dtype=np.int64)
        counts[statistics.values.astype(np.intp)] = statistics.counts
        n, n_true = int(counts.sum()), int(counts[1])
        mean = n_true / max(1, n)
        moments = Moments(
            n, mean, 0.0, n_true * (1.0 - mean), float(n_true == n), float(n_true > 0)
        )
        return ColumnSummary(self.name, n_rows, n_rows - n, counts, (0.0,), (), moments)

    def fit(
        self, statistics: Mapping[str, ValueCounts], n_rows: int, *, max_levels: int
    ) -> BooleanEncoder:
        """Find the more frequent value of each column, and the columns with missing cells."""
        counted = [counts.sorted for counts in statistics.values()]
        modes = np.array([values[counts.argmax()] for values, counts in counted])
        missing = np.flatnonzero([counts.sum() < n_rows for _, counts in counted])
        return BooleanEncoder(tuple(statistics), missing, modes)
