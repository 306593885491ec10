"""A fitted encoder: how the columns of a table become numbers. It needs no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._utils.messages import Parameter, render
from .._utils.typing import Array
from ._drift import Drift
from .columns import COLUMN_TYPES, Column, Encoder, Feature
from .columns._protocol import RowRange
from .columns._summary import ColumnSummary, sampled_rows
from .errors import TableError
from .io import UNNAMED_COLUMN, check_width
from .schema import infer_schema

MAX_LEVELS = 50
"""Default of the most features that a category may have."""
UNNAMED = (UNNAMED_COLUMN, "Unnamed: 0", "")
"""What a first column without a name in a CSV is called: by us, by pandas and by polars."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """The schema of a table, and a fitted encoder for each column type in it."""

    names: tuple[str, ...]
    """The columns of the table, used or not."""
    columns: tuple[Column, ...]
    """The inferred schema, with the reasons for which columns are left out."""
    encoders: Mapping[str, Encoder]
    """By column type, in the order of their features."""
    summaries: Mapping[str, ColumnSummary] = field(default_factory=dict)
    """What is kept of the columns to compare new rows with, by name."""
    typical: Array | None = None
    """The features of a row with typical cells, (n_features,); old model files have none."""

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
        encoders: dict[str, Encoder] = {}
        typical = [np.empty(0)]
        for kind, column_type in COLUMN_TYPES.items():
            mine = [column.name for column in columns if column.kind == kind]
            if mine:
                found = {name: statistics.columns[name] for name in mine}
                encoders[kind] = column_type.fit(found, statistics.n_rows, max_levels=max_levels)
                typical.append(encoders[kind].typical(found, statistics.n_rows))
        return cls(
            tuple(names),
            tuple(columns),
            encoders,
            statistics.summaries(columns),
            np.concatenate(typical),
        )

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the result is."""
        return tuple(f for encoder in self.encoders.values() for f in encoder.features)

    @cached_property
    def places(self) -> dict[str, Array]:
        """The features of each column that is used, as positions; in the order of the table."""
        found: dict[str, list[int]] = {c.name: [] for c in self.columns if c.used}
        for place, feature in enumerate(self.features):
            found[feature.column].append(place)
        return {name: np.array(places, dtype=np.intp) for name, places in found.items()}

    def transform(self, X: Any) -> Array:
        """Return the encoded rows of a table, (n_rows, n_features), float64.

        Raises
        ------
        TableError
            If columns are missing or were not there in the fit, or if a cell does not fit its
            column.
        """
        self.check_known(X)
        return self.encode(self.clean(X))

    def clean(self, X: Any) -> pd.DataFrame:
        """Return the clean cells of the columns in use; others are ignored.

        Raises
        ------
        TableError
            If columns are missing, or if a cell does not fit its column.
        """
        return clean(self._checked(X), self.columns)

    def encode(self, cells: pd.DataFrame) -> Array:
        """Return the encoded rows of clean cells."""
        out = np.empty((len(cells), len(self.features)))
        start = 0
        for encoder in self.encoders.values() if len(cells) else ():
            stop = start + len(encoder.features)
            encoder.encode(cells, out[:, start:stop])
            start = stop
        return out

    def drift(self, cells: pd.DataFrame) -> Drift:
        """Compare clean cells with the rows of the fit."""
        kinds = {column.name: column.kind for column in self.columns}
        here = {
            name: summary.count(COLUMN_TYPES[kinds[name]].comparable(cells[name]))
            for name, summary in self.summaries.items()
        }
        return Drift(len(cells), self.summaries, here)

    def unseen(self, X: Any) -> dict[str, dict[str, int]]:
        """Count, in each category, the levels that the fit has not seen: column, level, rows."""
        frame = self._checked(X)
        return {
            name: values
            for encoder in self.encoders.values()
            for name, values in encoder.unseen(frame).items()
        }

    def _checked(self, X: Any) -> pd.DataFrame:
        """Return X as a frame that has all columns in use."""
        frame = as_frame(X)
        used = [column for column in self.columns if column.used]
        given = set(frame.columns)
        lacking = [column.name for column in used if column.name not in given]
        if lacking:
            raise TableError(
                f"The table lacks {listed_columns(lacking)} that the model was fitted with; add "
                f"{'it' if len(lacking) == 1 else 'them'}, empty where nothing is known.",
                code="missing_columns",
            )
        for column in used:
            COLUMN_TYPES[column.kind].check(frame[column.name], column.name)
        return frame

    def rename_index(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Give the first column of a CSV, if it has no name there, the name that it had in the fit.

        It is "column 1" in tables that we read and "Unnamed: 0" in those that pandas reads.
        """
        given = [name for name in UNNAMED if name in frame.columns and name not in self.names]
        fitted = [name for name in UNNAMED if name in self.names and name not in frame.columns]
        if len(given) != 1 or len(fitted) != 1:
            return frame
        return frame.rename(columns={given[0]: fitted[0]})

    def unknown(self, X: Any) -> tuple[str, ...]:
        """Return the columns of a table that the fit has not seen."""
        known = set(self.names)
        return tuple(name for name in as_frame(X).columns if name not in known)

    def check_known(self, X: Any) -> None:
        """Raise TableError if a table has columns that the fit has not seen."""
        if extra := self.unknown(X):
            raise TableError(
                f"The table has {listed_columns(extra)} that the model was not fitted with; remove "
                f"{'it' if len(extra) == 1 else 'them'}.",
                code="unknown_columns",
            )

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
            "summaries": {name: one.to_plain() for name, one in self.summaries.items()},
            "typical": self.typical,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Encoding:
        """Restore a fitted encoder.

        Models that were fitted before free text became features have left such columns out.
        """
        columns = (Column(**one) for one in plain["columns"])
        found = cls(
            tuple(plain["names"]),
            tuple(
                replace(one, kind="dropped")
                if one.used and one.kind not in plain["encoders"]
                else one
                for one in columns
            ),
            {
                kind: COLUMN_TYPES[kind].encoder.from_plain(one)
                for kind, one in plain["encoders"].items()
            },
            {
                name: ColumnSummary.from_plain(one)
                for name, one in plain.get("summaries", {}).items()
            },
            plain.get("typical"),
        )
        if found.typical is not None and not _is_row(found.typical, len(found.features)):
            raise ValueError("a typical row that does not fit the features")
        return found


def _is_row(typical: Any, n_features: int) -> bool:
    return (
        isinstance(typical, np.ndarray)
        and typical.dtype == np.float64
        and typical.shape == (n_features,)
        and bool(np.isfinite(typical).all())
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
    samples: Mapping[str, Array] = field(default_factory=dict)
    """By name, filled cells of a sample of the rows, if `ColumnType.comparable` returns numbers."""

    @classmethod
    def of(
        cls, cells: pd.DataFrame, columns: Iterable[Column], rows: RowRange | None = None
    ) -> TableStatistics:
        """Summarise clean cells; `rows` is their position in the table, if they are not all."""
        used = {column.name: COLUMN_TYPES[column.kind] for column in columns if column.used}
        start, total = (0, len(cells)) if rows is None else (rows.start, rows.total)
        chosen = sampled_rows(start, len(cells), total)
        samples = {}
        for name, one in used.items():
            found = one.comparable(cells[name])
            if isinstance(found, np.ndarray):
                sample = found[chosen]
                samples[name] = sample[~np.isnan(sample)]
        statistics = {name: one.statistics(cells[name]) for name, one in used.items()}
        return cls(len(cells), statistics, samples)

    def merge(self, other: TableStatistics) -> TableStatistics:
        """Return the statistics of both chunks."""
        pairs = zip(self.columns.items(), other.columns.values(), strict=True)
        merged = {name: one.merge(two) for (name, one), two in pairs}
        samples = {
            name: np.concatenate([one, other.samples[name]]) for name, one in self.samples.items()
        }
        return TableStatistics(self.n_rows + other.n_rows, merged, samples)

    def summaries(self, columns: Iterable[Column]) -> dict[str, ColumnSummary]:
        """Return what a model keeps of each column to compare new rows with."""
        found = {}
        for column in columns:
            if column.used:
                name, sample = column.name, self.samples.get(column.name, np.empty(0))
                statistics, kind = self.columns[name], COLUMN_TYPES[column.kind]
                found[name] = kind.summary(statistics, self.n_rows, sample)
        return {name: one for name, one in found.items() if one is not None}


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


def listed_columns(names: Sequence[str]) -> str:
    """Write "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
