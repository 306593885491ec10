"""The interface of a column type, and the records that travel between its steps.

A table becomes a matrix in four steps, each of which works chunk by chunk:

1. `ColumnType.profile` or `profile_texts` collects what is known about the cells of a column.
   Profiles of chunks are merged.
2. `ColumnType.infer` decides from the merged profile whether the column is of this type. The
   result is a `Column`; those of all columns are the schema.
3. `ColumnType.clean` converts the cells to one representation, and `statistics` sums over them.
   Statistics of chunks are merged.
4. `ColumnType.fit` turns the statistics into an `Encoder`, which writes the features of all columns
   of this type, describes them, exports itself to ONNX and converts itself to plain data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from ._cells import factorize_texts, level_of, storage_type, text_of
from ._counts import ValueCounts
from ._onnx import OnnxGraph
from ._summary import ColumnSummary

Plain = dict[str, Any]
"""JSON values and numpy arrays by name."""

EXCLUDED = ("id", "constant", "empty", "dropped")
"""Why a column may be left out, as a value of `Column.kind`."""

_LONG_TABLE, _SAMPLE = 100_000, 20_000


@dataclass(frozen=True)
class Column:
    """The inferred type of a column of a table."""

    name: str
    kind: str
    """The name of a column type, or why the column is left out (one of `EXCLUDED`)."""
    reason: str = ""
    """Why it is left out, as a clause; rarely a remark on a column that is used.

    It is stored with a model, so it quotes no cell except that of a constant column.
    """
    n_missing: int = 0
    n_distinct: int = 0
    """Number of different values.

    Numbers are counted in a sample if the table has more than 100,000 rows. The count is an
    estimate if a table that is read in chunks has more than 131,072 different values.
    """
    example: str = ""
    """One of its cells, to show to people; it is not stored with a model."""
    format: str | None = None
    """How dates or numbers are written, if they are text."""

    @property
    def used(self) -> bool:
        """Whether it becomes features."""
        return self.kind not in EXCLUDED

    def as_dict(self) -> dict[str, Any]:
        """Return all fields except the example."""
        return {name: value for name, value in vars(self).items() if name != "example"}


@dataclass(frozen=True)
class Feature:
    """One column of the encoded matrix."""

    name: str
    """Such as "age", "colour = red", "age is missing" or "joined, days"."""
    column: str
    """The column of the table that it comes from."""
    scale: float
    """User units per unit of the feature: coefficient / scale is the effect of one user unit."""
    unit: str
    """What the effect refers to: "per unit", "against not missing", "per day"."""
    role: str = "value"
    """What it encodes: "value", "level" (of a category), "date part", "text", "missing" (flag)."""


def missing_flag(column: str, scale: float = 1.0) -> Feature:
    """Return the feature that flags the missing cells of a column."""
    return Feature(f"{column} is missing", column, scale, "against not missing", "missing")


def fill_and_flag(out: Array, columns: Sequence[Array], fill: Array, flagged: Array) -> None:
    """Write columns into `out` with NaN replaced by `fill`, then flags for NaN in some of them."""
    n = len(columns)
    for k, column in enumerate(columns):
        out[:, k] = column
    empty = np.isnan(out[:, :n])
    out[:, n:] = empty[:, flagged]
    np.copyto(out[:, :n], fill, where=empty)


def typical_flags(gaps: Array) -> Array:
    """Return the flags of typical cells, 1 if most cells of a column are missing, else 0.

    Parameters
    ----------
    gaps : ndarray
        The share of missing cells in each column.
    """
    return (gaps > 0.5).astype(np.float64)


# -- profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowRange:
    """The position of a chunk in its table."""

    start: int
    total: int
    """Rows of the whole table."""

    @property
    def step(self) -> int:
        """The sample by which numbers are judged takes every `step`-th row of a long table."""
        return 1 if self.total <= _LONG_TABLE else self.total // _SAMPLE

    @property
    def sample(self) -> slice:
        """The positions, relative to `start`, of the rows in the sample."""
        return slice(-self.start % self.step, None, self.step)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column in one chunk."""

    values: pd.Series
    name: str
    """The name of the column, for messages."""
    rows: RowRange
    storage: str
    """As `storage_type` returns it."""

    @cached_property
    def texts(self) -> tuple[Array, Array]:
        """The cells as codes into their different texts, as `factorize_texts` returns them."""
        return factorize_texts(self.values, text_of)


@dataclass(frozen=True, eq=False)
class Profile:
    """What is known about a column, or about a chunk of it, before its type is decided.

    Profiles of chunks can be merged in any order and grouping.
    """

    storage: str
    """As `storage_type` returns it; meaningless if the column is empty."""
    n_rows: int
    n_filled: int
    example: tuple[int, str] = (0, "")
    """The row and the text of the first filled cell, unless the cells are stored as numbers."""
    counts: ValueCounts | None = None
    """How often each text, level or date occurs, unless the cells are stored as numbers."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What each column type has found, by its name; values have a method ``merge``."""

    @classmethod
    def of_values(cls, cells: Cells, codes: Array, values: Any) -> Profile:
        """Profile cells that are given as codes into different values, -1 if missing."""
        counts = ValueCounts.of(codes, getattr(values, "asi8", values), cells.rows.start)
        example = (int(counts.first[0]), text_of(values[0])[:80]) if len(values) else (0, "")
        n_filled = int(np.count_nonzero(codes >= 0))
        return cls(cells.storage, len(codes), n_filled, example, counts)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return self.n_rows - self.n_filled

    def merge(self, other: Profile) -> Profile:
        """Return the profile of both chunks."""
        n_rows = self.n_rows + other.n_rows
        if not self.n_filled or not other.n_filled:
            return replace(self if self.n_filled else other, n_rows=n_rows)
        shared = self.evidence.keys() & other.evidence.keys()
        return Profile(
            self.storage,
            n_rows,
            self.n_filled + other.n_filled,
            min(self.example, other.example),
            merge_known(self.counts, other.counts),
            {name: self.evidence[name].merge(other.evidence[name]) for name in shared},
        )

    def describe(self, name: str, kind: str, form: str | None = None) -> Column:
        """Return the column as one of a kind."""
        n_distinct = 0 if self.counts is None else min(self.n_filled, self.counts.n_distinct)
        return Column(name, kind, "", self.n_missing, n_distinct, self.example[1], form)


def merge_known(one: Any, other: Any) -> Any:
    """Merge two records; None if either is unknown."""
    return None if one is None or other is None else one.merge(other)


# -- column types ---------------------------------------------------------------------------------


class ColumnType(ABC):
    """One type of columns: how to recognise, clean, summarise and encode them."""

    name: ClassVar[str]
    """As in ``--kind COLUMN=KIND`` and `Column.kind`."""
    plural: ClassVar[str]
    """What messages call several columns of this type."""
    title: ClassVar[str]
    """What the report calls them."""
    onnx_input: ClassVar[str] = ""
    """How a caller of an ONNX graph passes such a column; "" if ONNX cannot read its cells."""
    takes_the_rest: ClassVar[bool] = False
    """Whether `infer` accepts every column of text; such a type comes last."""
    encoder: ClassVar[type[Encoder]]

    # profile and infer

    def profile_texts(self, cells: Cells) -> Any:
        """Return evidence that cells stored as text are of this type, or None if they are not.

        Evidence is any record with a method ``merge``; `Profile.evidence` keeps it.
        """
        return None

    def profile(self, cells: Cells, *, requested: bool) -> Profile:
        """Profile cells that are of this type, either as stored or because the user requested it.

        Raises
        ------
        TableError
            If a cell cannot be of this type.
        """
        return Profile.of_values(cells, *factorize_texts(cells.values, level_of))

    @abstractmethod
    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column | None:
        """Describe a column if it is of this type, else return None.

        It is not None if the cells are stored as this type or the user requested it.
        """

    def remark(self, profile: Profile, column: Column) -> str:
        """Return a remark on a column of text that is not quite of this type, or ""."""
        return ""

    # encode

    def check(self, values: pd.Series, name: str) -> None:
        """Raise TableError if cells cannot be of any type, such as lists."""
        storage_type(values, name)

    @abstractmethod
    def clean(self, values: pd.Series, column: Column) -> Any:
        """Convert cells to the representation that `statistics` and `Encoder.encode` take.

        Raises
        ------
        TableError
            If a cell cannot be of this type.
        """

    @abstractmethod
    def statistics(self, cells: pd.Series) -> Any:
        """Summarise clean cells; the result has a method ``merge``."""

    def comparable(self, cells: pd.Series) -> Any:
        """Return clean cells as `ColumnSummary.count` takes them: float64, or a Categorical.

        None if new rows are not compared with those of the fit in columns of this type.
        """
        return None

    def summary(self, statistics: Any, n_rows: int, sample: Array) -> ColumnSummary | None:
        """Return what a model keeps of a column to compare new rows with; None for nothing.

        Parameters
        ----------
        statistics : statistics
            Merged over all chunks.
        n_rows : int
            Rows of the table.
        sample : ndarray
            Filled cells of some rows, as `comparable` returns them; empty for a Categorical.
        """
        return None

    @abstractmethod
    def fit(self, statistics: Mapping[str, Any], n_rows: int, *, max_levels: int) -> Encoder:
        """Return the encoder of columns with these statistics.

        Parameters
        ----------
        statistics : mapping of str to statistics
            By column, merged over all chunks.
        n_rows : int
            Rows of the table.
        max_levels : int
            The most features that a category may have.
        """


class Encoder(ABC):
    """A fitted encoder of all columns of one type.

    Subclasses are frozen dataclasses of numbers, texts, arrays, and tuples of these.
    """

    columns: tuple[str, ...]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features that `encode` writes, in its order."""
        return tuple(self.describe())

    @abstractmethod
    def describe(self) -> list[Feature]:
        """Describe each feature."""

    @abstractmethod
    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Write the features of clean cells into `out`, (n_rows, n_features)."""

    @abstractmethod
    def typical(self, statistics: Mapping[str, Any], n_rows: int) -> Array:
        """Return the features of a row with typical cells, (n_features,).

        A typical cell is what a missing one is filled with, or the most frequent level. It is
        flagged as missing only if most cells of its column are (see `typical_flags`).

        Parameters
        ----------
        statistics : mapping of str to statistics
            By column, as in `ColumnType.fit`.
        n_rows : int
            Rows of the table.
        """

    @abstractmethod
    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return cells to try the column at `place` with, missing and unusual ones among them."""

    def unseen(self, frame: pd.DataFrame) -> dict[str, dict[str, int]]:
        """Count the values of a raw table that `fit` has not seen: column, value, rows."""
        return {}

    def add_to_graph(self, graph: OnnxGraph) -> list[str]:
        """Add inputs and operators to an ONNX graph; return the outputs that are the features."""
        raise NotImplementedError

    def to_plain(self) -> Plain:
        """Return JSON values and arrays from which `from_plain` restores the encoder."""
        return {one.name: _lists(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_plain(cls, plain: Plain) -> Self:
        """Restore an encoder."""
        return cls(**{name: _tuples(value) for name, value in plain.items()})


def _lists(value: Any) -> Any:
    return [_lists(one) for one in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value
