"""Numbers: stored as such, durations in seconds, and text that is numbers throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pandas.api import types

from ..._utils.messages import Message, Parameter
from ..._utils.typing import Array
from ..._utils.words import counted
from ..errors import CellError, TableError
from ._cells import (
    BadCells,
    check_texts,
    factorize_texts,
    level_of,
    merge_bad,
    object_storage,
    text_of,
)
from ._moments import Moments, scales_of
from ._numerals import (
    THOUSANDS,
    Decoration,
    decoration_of,
    describe_form,
    parse_amounts,
    parse_floats,
)
from ._onnx import OnnxGraph
from ._protocol import (
    Cells,
    Column,
    ColumnType,
    Encoder,
    Feature,
    Profile,
    RowRange,
    fill_and_flag,
    merge_known,
    missing_flag,
    typical_flags,
)
from ._summary import ColumnSummary
from .excluded import COUNTING, FEW_ROWS, NUMBERING, identifier_word, unless_constant

LARGEST = 1e150
"""The squares of larger numbers, and their sums, overflow float64."""
_EXACT = 2.0**53
"""Float64 cannot tell all larger whole numbers apart."""
_REFUSED, _REMARKED = 0.5, 0.1
"""From these shares of numbers on, a column that also holds text is refused, or gets a remark."""
_BLOCK = 100_000
"""Cells that stay in the processor's cache while they are filled and scaled."""


# -- reading cells --------------------------------------------------------------------------------


def to_numbers(values: pd.Series, name: str, form: str | None = None) -> Array:
    """Return a column as float64, NaN for missing cells.

    Text may have the decoration of `form`, and in any case commas between thousands.

    Raises
    ------
    TableError
        If a cell is not a number, is infinite, or has a square that overflows.
    """
    numbers = read_numbers(values, name, form)
    _check_finite(name, *_find_overflows(numbers, values))
    return numbers


def read_numbers(values: pd.Series, name: str, form: str | None = None) -> Array:
    """Return a column as `to_numbers` does, but accept infinities."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return values.to_numpy(np.float64)
    if dtype.kind == "m":
        return values.dt.total_seconds().to_numpy(np.float64, na_value=np.nan)
    if types.is_numeric_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return values.to_numpy(np.float64, na_value=np.nan)
    return _parse_objects(values.astype(object), name, form)


def _parse_objects(values: pd.Series, name: str, form: str | None) -> Array:
    if types.infer_dtype(values, skipna=True).startswith("timedelta"):
        return pd.to_timedelta(values).dt.total_seconds().to_numpy(np.float64)
    is_date = object_storage(values) == "date"  # which pandas would count in nanoseconds
    cells = values.astype(str).where(values.notna(), None) if is_date else values
    numbers = parse_floats(cells)
    unread = np.isnan(numbers) & values.notna().to_numpy()
    if unread.any():
        codes, texts = factorize_texts(values.where(unread), text_of)  # drops blank cells
        amounts = parse_amounts(texts, form or THOUSANDS)
        check_texts(values, name, codes, np.isnan(amounts), "numbers", "not one")
        numbers = np.where(codes >= 0, np.append(amounts, np.nan)[codes], numbers)
    return numbers


def _find_overflows(
    numbers: Array, values: pd.Series, start: int = 0
) -> tuple[BadCells | None, BadCells | None]:
    """Find infinities, and numbers whose squares overflow."""
    if not len(numbers) or (
        np.fmin.reduce(numbers) >= -LARGEST and np.fmax.reduce(numbers) <= LARGEST
    ):
        return None, None
    infinite = np.isinf(numbers)
    beyond = (np.abs(numbers) > LARGEST) & ~infinite
    return BadCells.of(infinite, values, start), BadCells.of(beyond, values, start)


def _check_finite(name: str, infinite: BadCells | None, beyond: BadCells | None) -> None:
    """Refuse infinities and numbers whose squares overflow."""
    bad, what = (infinite, "infinite") if infinite else (beyond, f"beyond {LARGEST:g}")
    if bad is not None:
        raise CellError(
            f"Column {name!r} has {counted(bad.n, 'cell')} that "
            f"{'are' if bad.n > 1 else 'is'} {what} (the first in row {bad.row}), and numbers have "
            "to be finite",
            "empty such cells",
            code="infinite_cells",
        )


# -- profile --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberSummary:
    """What distinguishes a quantity from an identifier."""

    first: tuple[int, float]
    """The row and the value of the first number."""
    low: float
    high: float
    sample: Array
    """The different numbers in the sample, as integers if float64 would confuse some of them."""
    n_sample: int
    whole: bool
    """Whether all are whole."""
    offset: float
    """The difference between each number and its row, NaN if that varies."""
    infinite: BadCells | None
    beyond: BadCells | None

    @classmethod
    def of(cls, numbers: Array, values: pd.Series, rows: RowRange) -> NumberSummary:
        """Summarise numbers that have been read from the cells `values`."""
        sample = numbers[rows.sample]
        sample = sample[~np.isnan(sample)]
        place = int(np.isnan(numbers).argmin()) if len(numbers) else 0
        bad = _find_overflows(numbers, values, rows.start)
        whole = bad == (None, None) and _are_whole(sample) and _are_whole(numbers)
        found = cls(
            first=(rows.start + place, float(numbers[place]) if len(numbers) else np.nan),
            low=np.fmin.reduce(numbers, initial=np.inf),
            high=np.fmax.reduce(numbers, initial=-np.inf),
            sample=pd.unique(sample),
            n_sample=len(sample),
            whole=whole,
            offset=_row_offset(numbers, rows.start) if whole else np.nan,
            infinite=bad[0],
            beyond=bad[1],
        )
        rounded = whole and max(abs(found.low), abs(found.high)) > _EXACT
        return found._exact(values, rows) if rounded and len(sample) else found

    def _exact(self, values: pd.Series, rows: RowRange) -> NumberSummary:
        """Summarise whole numbers again as integers, if possible, because floats are rounded."""
        numbers, sample = _integers(values), _integers(values.iloc[rows.sample])
        if numbers is None or sample is None:
            return replace(self, offset=np.nan)
        return replace(
            self,
            first=(self.first[0], int(numbers[0])),
            low=int(numbers.min()),
            high=int(numbers.max()),
            sample=pd.unique(sample).astype(object),  # so that a merge with floats does not round
            offset=_row_offset(numbers, rows.start) if len(numbers) == len(values) else np.nan,
        )

    @property
    def n_distinct(self) -> int:
        """Different numbers in the sample; at least two if the numbers vary at all."""
        return max(2, len(self.sample)) if self.low < self.high else 1

    @property
    def count_rows(self) -> bool:
        """Whether each number is one more than that of the previous row."""
        return not np.isnan(self.offset)

    def merge(self, other: NumberSummary) -> NumberSummary:
        """Return the summary of both chunks."""
        return NumberSummary(
            first=min(self.first, other.first),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            sample=pd.unique(np.concatenate([self.sample, other.sample])),
            n_sample=self.n_sample + other.n_sample,
            whole=self.whole and other.whole,
            offset=self.offset if self.offset == other.offset else np.nan,
            infinite=merge_bad(self.infinite, other.infinite),
            beyond=merge_bad(self.beyond, other.beyond),
        )


def _are_whole(numbers: Array) -> bool:
    return bool(((numbers == np.trunc(numbers)) | np.isnan(numbers)).all())


def _integers(values: pd.Series) -> Array | None:
    """Return the cells that are not missing as int64; None if one does not fit."""
    filled = values.dropna()
    if not types.is_numeric_dtype(filled.dtype):
        filled = pd.to_numeric(filled.astype(object), errors="coerce")
    return filled.to_numpy(np.int64) if filled.dtype.kind == "i" else None


def _row_offset(numbers: Array, start: int) -> float:
    """Return the difference between whole numbers and their rows, NaN if that varies."""
    if not len(numbers) or numbers[-1] - numbers[0] != len(numbers) - 1:
        return np.nan
    offsets = numbers - np.arange(start, start + len(numbers))
    return offsets[0].item() if (offsets == offsets[0]).all() else np.nan


@dataclass(frozen=True, eq=False)
class NumberEvidence:
    """How far cells are numbers, and how they are written if they are text."""

    n_numbers: int = 0
    """Texts that are numbers without a sign."""
    not_numbers: BadCells | None = None
    """Texts that are not."""
    decoration: Decoration | None = None
    summary: NumberSummary | None = None
    """None if a cell is not a number."""
    padded: bool = False
    """Whether any text starts with a zero before another digit."""
    digits: bool = False
    """Whether all texts are digits only."""

    @classmethod
    def of_texts(cls, cells: Cells) -> tuple[NumberEvidence, Array]:
        """Find how texts are written; return also the numbers, NaN if a text is not one."""
        codes, texts = cells.texts
        numbers = parse_floats(pd.Series(texts, dtype=object))
        if (unread := np.isnan(numbers)).any():
            numbers[unread] = parse_amounts(texts[unread], THOUSANDS)
        unread = np.isnan(numbers)
        bad = BadCells.of(np.append(unread, False)[codes], cells.values, cells.rows.start)
        n_numbers = int(np.count_nonzero(codes >= 0)) - (bad.n if bad else 0)
        padded = any(text[0] == "0" and text.isdecimal() for text in texts if len(text) > 1)
        digits = all(map(str.isdecimal, texts))
        evidence = cls(n_numbers, bad, decoration_of(texts), padded=padded, digits=digits)
        if bad and evidence.form is not None:
            numbers = parse_amounts(texts, evidence.form)
        return evidence, numbers

    @property
    def form(self) -> str | None:
        """How the numbers are decorated; see `Decoration.form`."""
        return None if self.decoration is None else self.decoration.form

    @property
    def enumerates(self) -> bool:
        """Whether texts number the items of a list; see `Decoration.enumerates`."""
        return self.decoration is not None and self.decoration.enumerates

    @property
    def are_codes(self) -> bool:
        """Whether texts are digits that zeros fill up to a width, such as the ZIP code 01234."""
        return self.padded and self.digits

    def merge(self, other: NumberEvidence) -> NumberEvidence:
        """Return the evidence of both chunks."""
        return NumberEvidence(
            self.n_numbers + other.n_numbers,
            merge_bad(self.not_numbers, other.not_numbers),
            merge_known(self.decoration, other.decoration),
            merge_known(self.summary, other.summary),
            self.padded or other.padded,
            self.digits and other.digits,
        )


# -- the encoder ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberEncoder(Encoder):
    """Fills missing numbers with the mean, appends flags for them, and scales all features."""

    columns: tuple[str, ...]
    missing: Array
    """The columns, as positions, that have a flag because `fit` saw missing cells."""
    means: Array
    """Of the numbers, then of the flags."""
    scales: Array

    def describe(self) -> list[Feature]:
        """Describe the numbers, then the flags."""
        scales = self.scales.tolist()
        n = len(self.columns)
        numbers = [
            Feature(name, name, scale, "per unit")
            for name, scale in zip(self.columns, scales[:n], strict=True)
        ]
        flags = zip(self.missing, scales[n:], strict=True)
        return numbers + [missing_flag(self.columns[place], scale) for place, scale in flags]

    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Fill and scale, a block of rows at a time."""
        columns = [cells[name].to_numpy() for name in self.columns]
        means = self.means[: len(columns)]
        n_rows = max(64, _BLOCK // len(self.means))
        for start in range(0, len(out), n_rows):
            rows = slice(start, start + n_rows)
            block = out[rows]
            fill_and_flag(block, [column[rows] for column in columns], means, self.missing)
            block -= self.means
            block /= self.scales

    def typical(self, statistics: Mapping[str, Moments], n_rows: int) -> Array:
        """Return the features of the means."""
        row = np.array(self.means)
        row[len(self.columns) :] = typical_flags(row[len(self.columns) :])
        return (row - self.means) / self.scales

    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return numbers far and wide, one in five missing."""
        numbers = rng.normal(self.means[place], 3.0 * self.scales[place], 79)
        return np.append(numbers, [np.nan] * 20)

    def add_to_graph(self, graph: OnnxGraph) -> list[str]:
        """Add a double input for each column, filled and scaled."""
        filled = graph.add_filled(self.columns, self.means[: len(self.columns)], self.missing)
        centred = graph.add("Sub", filled, graph.constant(self.means[None]))
        return [graph.add("Div", centred, graph.constant(self.scales[None]))]


# -- the column type ------------------------------------------------------------------------------


class NumberType(ColumnType):
    """Numbers, filled with the mean and scaled, with a flag for missing cells."""

    name = "number"
    plural = title = "numbers"
    onnx_input = "numbers as doubles, NaN where missing"
    encoder = NumberEncoder

    def profile_texts(self, cells: Cells) -> NumberEvidence:
        """Try to read texts as numbers."""
        evidence, numbers = NumberEvidence.of_texts(cells)
        if np.isnan(numbers).any():
            return evidence
        numbers = np.append(numbers, np.nan)[cells.texts[0]]
        return replace(evidence, summary=NumberSummary.of(numbers, cells.values, cells.rows))

    def profile(self, cells: Cells, *, requested: bool) -> Profile:
        """Read numbers, from text too if requested."""
        evidence = NumberEvidence()
        if cells.storage in ("text", "category"):
            evidence, _ = NumberEvidence.of_texts(cells)
        numbers = read_numbers(cells.values, cells.name, evidence.form)
        n_filled = len(numbers) - int(np.count_nonzero(np.isnan(numbers)))
        summary = NumberSummary.of(numbers, cells.values, cells.rows)
        found = {self.name: replace(evidence, summary=summary)}
        return Profile(cells.storage, len(numbers), n_filled, evidence=found)

    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column | None:
        """Accept cells that are all numbers; refuse a mixture that is mostly numbers."""
        found: NumberEvidence | None = profile.evidence.get(self.name)
        if requested or profile.storage == self.name:
            found = found or NumberEvidence()
            if found.form is None and found.not_numbers is not None:  # signs differ
                raise found.not_numbers.error(name, "numbers", "not one")
            column = _describe(profile, name, found.summary, may_be_id=not requested)
            return replace(column, format=found.form)
        if found is None or found.enumerates or found.are_codes:
            return None
        bad = found.not_numbers
        if found.summary is not None and (bad is None or found.form is not None):
            return _with_form(_describe(profile, name, found.summary), found.form)
        if bad is not None and found.n_numbers >= _REFUSED * profile.n_filled:
            raise _mixed(name, found.n_numbers, bad)
        return None

    def remark(self, profile: Profile, column: Column) -> str:
        """Point out that many cells of a column of text are numbers, or numbers that are codes."""
        found: NumberEvidence | None = profile.evidence.get(self.name)
        if found is None or column.kind == "id" or found.enumerates:
            return ""
        if found.are_codes:
            return _codes(column)
        if found.n_numbers < _REMARKED * profile.n_filled:
            return ""
        taken = {"category": "taken for categories", "text": "read as text"}.get(column.kind, "")
        return Message(
            "{n_numbers:,} of its {n_cells:,} cells are numbers and the others text{taken}: name "
            "the text that means missing with {missing}, or give {kinds} if all of them are "
            "categories",
            n_numbers=found.n_numbers,
            n_cells=profile.n_filled,
            taken=taken and f", and all are {taken}",
            missing=Parameter("missing", ["TEXT"]),
            kinds=Parameter("kinds", {column.name: "category"}),
        )

    def clean(self, values: pd.Series, column: Column) -> Array:
        """Return float64, NaN for missing cells."""
        return to_numbers(values, column.name, column.format)

    def statistics(self, cells: pd.Series) -> Moments:
        """Return mean, variance and range."""
        return Moments.of(cells.to_numpy())

    def comparable(self, cells: pd.Series) -> Array:
        """Return the numbers."""
        return cells.to_numpy()

    def summary(self, statistics: Moments, n_rows: int, sample: Array) -> ColumnSummary:
        """Choose bins by the sample."""
        return ColumnSummary.of_numbers(self.name, statistics, n_rows, sample)

    def fit(
        self, statistics: Mapping[str, Moments], n_rows: int, *, max_levels: int
    ) -> NumberEncoder:
        """Scale by the moments of all rows, missing cells filled with the mean."""
        moments = statistics.values()
        gaps = np.array([0.0 if m.n == n_rows else 1.0 - m.n / n_rows for m in moments])
        missing = np.flatnonzero(gaps > 0.0)
        gaps = gaps[missing]
        means = np.append([m.mean for m in moments], gaps)
        variances = np.append([m.squares / n_rows for m in moments], gaps * (1.0 - gaps))
        return NumberEncoder(tuple(statistics), missing, means, scales_of(means, variances))


def _describe(
    profile: Profile, name: str, summary: NumberSummary | None, *, may_be_id: bool = True
) -> Column:
    """Describe a column of numbers, or leave it out as an identifier or a constant."""
    if summary is None or not profile.n_filled:
        column = Column(name, "number", "", profile.n_missing)
        return unless_constant(column, profile.n_rows)
    _check_finite(name, summary.infinite, summary.beyond)
    example = level_of(summary.first[1])
    column = Column(name, "number", "", profile.n_missing, summary.n_distinct, example)
    varies = summary.low < summary.high
    if varies and may_be_id and (reason := _identifier_reason(name, summary, profile)):
        return replace(column, kind="id", reason=reason)
    return unless_constant(column, profile.n_rows)


def _identifier_reason(name: str, numbers: NumberSummary, profile: Profile) -> str:
    """Return why numbers are an identifier, or "" if they are a quantity."""
    if not numbers.whole:
        return ""
    if profile.n_rows == profile.n_filled >= FEW_ROWS and numbers.count_rows:
        return "it counts the rows"
    word = identifier_word(name)
    # "House Number" is an identifier, but "Number" may be a quantity: there the values decide
    few = numbers.n_distinct <= FEW_ROWS or numbers.n_distinct < 0.1 * numbers.n_sample
    if not word or (word in (*NUMBERING, *COUNTING) and few):
        return ""
    gaps = numbers.high - numbers.low >= 2 * profile.n_filled
    if word in COUNTING and (numbers.n_distinct < numbers.n_sample or gaps):
        return ""
    reason = Message("{word!r} in its name says that it is an identifier", word=word)
    if numbers.n_distinct >= numbers.n_sample:
        return reason
    return Message(
        "{reason}, and it repeats: rows may belong together, see {group}",
        reason=reason,
        group=Parameter("group", name),
    )


def _with_form(column: Column, form: str | None) -> Column:
    """Add how decorated numbers are written."""
    if form is None or not column.used:
        return column
    note = f"its numbers are written with {describe_form(form)}, and read without"
    return replace(column, format=form, reason=note)


def _codes(column: Column) -> str:
    """Return a remark on numbers with leading zeros."""
    return Message(
        "its numbers have leading zeros, so they are taken for categories: give {kinds} if they "
        "are quantities",
        kinds=Parameter("kinds", {column.name: "number"}),
    )


def _mixed(name: str, n_good: int, bad: BadCells) -> TableError:
    return TableError(
        "Column {name!r} mixes numbers and text: {n_good:,} cells are numbers and {n_bad:,} {are} "
        "not (the first is {cell!r}, row {row}); clean it, name the text that means missing with "
        "{missing}, treat it as categories with {kinds}, or leave it out with {drop}.",
        code="mixed_column",
        name=name,
        n_good=n_good,
        n_bad=bad.n,
        are="are" if bad.n > 1 else "is",
        cell=bad.cell,
        row=bad.row,
        missing=Parameter("missing", [bad.cell]),
        kinds=Parameter("kinds", {name: "category"}),
        drop=Parameter("drop", [name]),
    )
