"""A fitted encoder: how the columns of a table become numbers. It needs no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._utils.messages import Parameter, render
from .._utils.typing import Array
from .columns import COLUMN_TYPES, Column, Encoder, Feature
from .errors import TableError
from .io import check_width
from .schema import infer_schema

MAX_LEVELS = 50
"""Default of the most features that a category may have."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """The schema of a table, and a fitted encoder for each column type in it."""

    names: tuple[str, ...]
    """The columns of the table, used or not."""
    columns: tuple[Column, ...]
    """The inferred schema, with the reasons for which columns are left out."""
    encoders: Mapping[str, Encoder]
    """By column type, in the order of their features."""

    @classmethod
    def fit(
        cls,
        names: Sequence[str],
        columns: Sequence[Column],
        statistics: TableStatistics,
        *,
        max_levels: int = MAX_LEVELS,
    ) -> Encoding:
        """Fit the encoders to statistics of all rows, which may be merged from chunks.

        Parameters
        ----------
        names : sequence of str
            The columns of the table.
        columns : sequence of Column
            Its schema.
        statistics : TableStatistics
            Of the columns that are used.
        max_levels : int
            The most features that a category may have.
        """
        encoders = {}
        for kind, column_type in COLUMN_TYPES.items():
            mine = [column.name for column in columns if column.kind == kind]
            if mine:
                found = {name: statistics.columns[name] for name in mine}
                encoders[kind] = column_type.fit(found, statistics.n_rows, max_levels=max_levels)
        return cls(tuple(names), tuple(columns), encoders)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the result is."""
        return tuple(f for encoder in self.encoders.values() for f in encoder.features)

    def transform(self, X: Any) -> Array:
        """Return the encoded rows of a table, (n_rows, n_features), float64.

        Raises
        ------
        TableError
            If columns are missing or were not there in the fit, or if a cell does not fit its
            column.
        """
        return self.encode(clean(self._checked(X), self.columns))

    def encode(self, cells: pd.DataFrame) -> Array:
        """Return the encoded rows of clean cells."""
        out = np.empty((len(cells), len(self.features)))
        start = 0
        for encoder in self.encoders.values() if len(cells) else ():
            stop = start + len(encoder.features)
            encoder.encode(cells, out[:, start:stop])
            start = stop
        return out

    def unseen(self, X: Any) -> dict[str, dict[str, int]]:
        """Count, in each category, the levels that the fit has not seen: column, level, rows."""
        frame = self._checked(X)
        return {
            name: values
            for encoder in self.encoders.values()
            for name, values in encoder.unseen(frame).items()
        }

    def _checked(self, X: Any) -> pd.DataFrame:
        """Return X as a frame that has all columns in use, and none that the fit has not seen."""
        frame = as_frame(X)
        used = [column for column in self.columns if column.used]
        given = set(frame.columns)
        lacking = [column.name for column in used if column.name not in given]
        if lacking:
            raise TableError(
                f"The table lacks {_listed(lacking)} that the model was fitted with; add "
                f"{'it' if len(lacking) == 1 else 'them'}, empty where nothing is known.",
                code="missing_columns",
            )
        known = set(self.names)
        extra = [name for name in frame.columns if name not in known]
        if extra:
            raise TableError(
                f"The table has {_listed(extra)} that the model was not fitted with; remove "
                f"{'it' if len(extra) == 1 else 'them'}.",
                code="unknown_columns",
            )
        for column in used:
            COLUMN_TYPES[column.kind].check(frame[column.name], column.name)
        return frame

    def to_plain(self, write: Callable[[Parameter], str] = str) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it, without any cell.

        `write` writes the parameters that reasons name.
        """
        columns = (
            replace(column, example="", reason=render(column.reason, write))
            for column in self.columns
        )
        return {
            "names": list(self.names),
            "columns": [column.as_dict() for column in columns],
            "encoders": {kind: encoder.to_plain() for kind, encoder in self.encoders.items()},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Encoding:
        """Restore a fitted encoder."""
        return cls(
            tuple(plain["names"]),
            tuple(Column(**one) for one in plain["columns"]),
            {
                kind: COLUMN_TYPES[kind].encoder.from_plain(one)
                for kind, one in plain["encoders"].items()
            },
        )


def fit_encoding(
    frame: pd.DataFrame,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] | Mapping[str, str] = (),
    dates: str | None = None,
    max_levels: int = MAX_LEVELS,
) -> tuple[Encoding, Array]:
    """Infer the schema of a table and fit its encoders; return them and the encoded rows."""
    if not len(frame):
        raise TableError("The table has no rows; a model needs some to learn from.", code="no_rows")
    columns = infer_schema(frame, kinds=kinds, drop=drop, dates=dates)
    cells = clean(frame, columns)
    statistics = TableStatistics.of(cells, columns)
    encoding = Encoding.fit(list(frame.columns), columns, statistics, max_levels=max_levels)
    return encoding, encoding.encode(cells)


@dataclass(frozen=True, eq=False)
class TableStatistics:
    """The statistics of all columns that are used."""

    n_rows: int
    columns: Mapping[str, Any]
    """By name, what `ColumnType.statistics` returns."""

    @classmethod
    def of(cls, cells: pd.DataFrame, columns: Iterable[Column]) -> TableStatistics:
        """Summarise clean cells."""
        used = {column.name: COLUMN_TYPES[column.kind] for column in columns if column.used}
        return cls(len(cells), {name: one.statistics(cells[name]) for name, one in used.items()})

    def merge(self, other: TableStatistics) -> TableStatistics:
        """Return the statistics of both chunks."""
        pairs = zip(self.columns.items(), other.columns.values(), strict=True)
        merged = {name: one.merge(two) for (name, one), two in pairs}
        return TableStatistics(self.n_rows + other.n_rows, merged)


def clean(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """Convert each used column of a table to the representation of its type."""
    cells = {
        column.name: COLUMN_TYPES[column.kind].clean(frame[column.name], column)
        for column in columns
        if column.used
    }
    return pd.DataFrame(cells, index=range(len(frame)), copy=False)


def as_frame(X: Any, name: str = "X") -> pd.DataFrame:
    """Return a table as a pandas DataFrame whose column names are texts and all different."""
    frame = X if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas") else X.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise TableError(
            f"{name} is of type {type(X).__name__}; pass a DataFrame with named columns.",
            code="not_a_table",
        )
    check_width(frame.shape[1], "The table")
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(
            f"The table has two columns {twice!r}; rename one of them.", code="two_columns"
        )
    return frame


def _listed(names: list[str]) -> str:
    """Write "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
