"""What each column of a table holds: numbers, categories, booleans, dates, or nothing to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .amounts import described, find_form, parse_amounts
from .cells import (
    BOOLEANS,
    check_finite,
    family_of,
    level_of,
    row_number,
    text_cells,
    text_of,
    to_booleans,
    to_dates,
    to_numbers,
)
from .dates import find_format
from .errors import CellError, TableError
from .ids import FEW_ROWS, why_id, word_of_ids
from .wishes import check_wishes

Array = NDArray[Any]

KINDS = ("number", "category", "boolean", "date")
"""The kinds of columns that become features."""

_MANY_ROWS, _SAMPLE = 100_000, 20_000
_REFUSED, _REMARKED = 0.5, 0.1
"""From these shares of numbers on, a column that also holds text is bad input, or gets a remark."""


@dataclass(frozen=True)
class Column:
    """A column of a table and what becomes of it."""

    name: str
    kind: str
    """One of `KINDS`, or why it is left out: "id", "constant", "empty", "text", "dropped"."""
    reason: str = ""
    """Why it is left out, as a clause for people; rarely a remark on a column that is used.

    It is stored with a model, so it quotes no cell, but for the one of a constant column.
    """
    n_missing: int = 0
    n_distinct: int = 0
    """Different values; for numbers in a table of more than 100,000 rows, those of a sample."""
    example: str = ""
    """One of its cells, for people who look at the table; no model keeps it."""
    format: str | None = None
    """How dates or numbers are written, where they are text."""

    @property
    def used(self) -> bool:
        """Whether it becomes features."""
        return self.kind in KINDS

    def as_dict(self) -> dict[str, Any]:
        """Return all that is known of it but its example, which belongs to the table."""
        return {name: value for name, value in vars(self).items() if name != "example"}


def kinds_of(
    frame: pd.DataFrame,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] | Mapping[str, str] = (),
) -> tuple[Column, ...]:
    """Tell the kind of each column of a table, in the order of the table.

    * number: numbers, durations (in seconds), and text that is numbers throughout, be it with the
      same sign everywhere ($, €, £, ¥ or %) or with commas between thousands.
    * boolean: true/false, and text with true/false, yes/no, y/n or t/f alone. 0/1 are numbers.
    * date: dates, and text that is dates throughout, all in one form. Where nothing tells days
      from months (no day is beyond the 12th), it stays text.
    * category: other text, whose values repeat, and pandas' categoricals. Where half of the cells
      or more are numbers it is bad input, and from a tenth on the column gets a remark.
    * Left out are columns without any value ("empty") or with the same in all rows ("constant"),
      free text ("text"), and identifiers ("id"): whole numbers that count the rows or have the name
      of an identifier, and text of single words that never repeats.

    Parameters
    ----------
    frame : DataFrame
    kinds : mapping of column to kind, optional
        Settles the kind of some columns.
    drop : sequence of str, or mapping of str to str
        Columns to leave out, and why.

    Raises
    ------
    TableError
        Where a column mixes numbers and text or holds infinities, cannot be what is asked for, or
        no column is left to learn from.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.kinds import kinds_of
    >>> frame = pd.DataFrame({"age": [30, 40], "sex": ["f", "m"], "site": ["A", "A"]})
    >>> [(column.name, column.kind) for column in kinds_of(frame)]
    [('age', 'number'), ('sex', 'category'), ('site', 'constant')]
    """
    kinds = dict(kinds or {})
    drop = (drop,) if isinstance(drop, str) else drop
    why = drop if isinstance(drop, Mapping) else dict.fromkeys(drop, "as asked")
    check_wishes(frame, kinds, why, KINDS)
    columns = []
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if name in why:
            columns.append(Column(name, "dropped", why[name], int(values.isna().sum())))
            continue
        try:
            asked = kinds.get(name)
            columns.append(_look_as_asked(values, name, asked) if asked else _look(values, name))
        except CellError as error:
            way_out = f"leave the column out with --drop {quote(name)}"
            raise error.with_way_out(way_out) from None
    if not any(column.used for column in columns):
        listed = "; ".join(f"{column.name!r}: {column.reason}" for column in columns[:10])
        raise TableError(
            f"The table has no column to learn from ({listed or 'it has no columns'}); add one, or "
            "settle the kind of one with --kind COLUMN=KIND."
        )
    return tuple(columns)


# -- looking at a column ------------------------------------------------------------------------


def _look(values: pd.Series, name: str) -> Column:
    """Tell the kind of one column."""
    family = family_of(values, name)
    if family == "number":
        return _look_at_numbers(to_numbers(values, name), name)
    if family in ("text", "category"):
        return _look_at_text(values, name, declared=family == "category")
    return _as_kind(values, name, family)


def _look_as_asked(values: pd.Series, name: str, kind: str) -> Column:
    """Check that a column can be of the kind that is asked for."""
    family = family_of(values, name)
    form = None
    if kind == "number":
        if family in ("text", "category"):
            form = find_form(text_cells(values, text_of)[1])
        column = _look_at_numbers(to_numbers(values, name, form), name, may_be_id=False)
        return replace(column, format=form)
    if kind == "boolean":
        to_booleans(values, name)
    if kind == "date" and family != "date":
        _, texts = text_cells(values, text_of)
        form, ambiguous = find_format(texts)
        if ambiguous:
            raise TableError(
                f"Column {name!r} cannot be read as dates: cells such as {texts[0]!r} may be "
                "day/month or month/day; write them as yyyy-mm-dd."
            )
        to_dates(values, name, form)  # says which cell is no date
    return _as_kind(values, name, kind, form)


def _as_kind(values: pd.Series, name: str, kind: str, form: str | None = None) -> Column:
    """Describe a column whose kind is known."""
    if values.dtype.kind in "bM":  # a million different dates need not become text
        codes, distinct = pd.factorize(values)
    else:
        codes, distinct = text_cells(values, level_of)
    n_missing = int(np.count_nonzero(codes < 0))
    column = Column(name, kind, "", n_missing, len(distinct), _example(distinct), form)
    return _unless_constant(column, len(values))


def _look_at_numbers(numbers: Array, name: str, *, may_be_id: bool = True) -> Column:
    missing = np.isnan(numbers)
    n_missing = int(np.count_nonzero(missing))
    step = 1 if len(numbers) <= _MANY_ROWS else len(numbers) // _SAMPLE
    sample = numbers[::step][~missing[::step]]
    if n_missing == len(numbers):
        return _unless_constant(Column(name, "number", "", n_missing), n_missing)
    varies = np.fmin.reduce(numbers) < np.fmax.reduce(numbers)
    n_distinct = max(2, len(pd.unique(sample))) if varies else 1
    example = level_of(numbers[int(missing.argmin())])
    column = Column(name, "number", "", n_missing, n_distinct, example)
    if varies and may_be_id and (reason := why_id(name, numbers, sample, n_missing, n_distinct)):
        return replace(column, kind="id", reason=reason)
    return _unless_constant(column, len(numbers))


def _look_at_text(values: pd.Series, name: str, *, declared: bool) -> Column:
    """Tell what text holds; where it is declared to be categories, it is no number and no date."""
    codes, texts = text_cells(values, text_of)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    n_missing = len(values) - int(counts.sum())
    column = Column(name, "category", "", n_missing, len(texts), _example(texts))
    if (left_out := _unless_constant(column, len(values))) != column:
        return left_out
    if len(texts) <= len(BOOLEANS) ** 2 and all(text.lower() in BOOLEANS for text in texts):
        return replace(column, kind="boolean")
    if declared:
        return _look_at_words(column, texts, counts)
    numbers = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    written = find_form(texts) if np.isnan(numbers).any() else None
    if written is not None:
        numbers = parse_amounts(texts, written)
    if not np.isnan(numbers).any():
        cells = np.append(numbers, np.nan)[codes]
        check_finite(cells, values, name)
        return _with_form(_look_at_numbers(cells, name), written)
    n_numbers = int(counts[~np.isnan(numbers)].sum())
    if n_numbers >= _REFUSED * counts.sum():
        raise _mixed(values, name, codes, np.isnan(numbers))
    form, ambiguous = find_format(texts)
    if form is not None:
        return replace(column, kind="date", format=form)
    column = _look_at_words(column, texts, counts)
    if ambiguous:
        note = "its dates may be day/month or month/day: write them as yyyy-mm-dd"
        return replace(column, reason=note)
    return _with_mix(column, n_numbers, int(counts.sum()))


def _with_form(column: Column, form: str | None) -> Column:
    """Say how numbers are written that are read in spite of it."""
    if form is None or not column.used:
        return column
    note = f"its numbers are written with {described(form)}, and read without"
    return replace(column, format=form, reason=note)


def _with_mix(column: Column, n_numbers: int, n_cells: int) -> Column:
    """Say that many cells of a column of text are numbers."""
    if column.kind == "id" or n_numbers < _REMARKED * n_cells:
        return column
    mix = f"{n_numbers:,} of its {n_cells:,} cells are numbers and the others text"
    ways = (
        "name the text that means missing with --missing, or say --kind "
        f"{quote(f'{column.name}=category')} if all of them are categories"
    )
    verb = ", and all are taken for categories: " if column.used else ": "
    return replace(column, reason=mix + verb + ways)


def _look_at_words(column: Column, texts: Array, counts: Array) -> Column:
    """Tell identifiers, free text and categories apart."""
    filled = int(counts.sum())
    share = len(texts) / filled
    sample = slice(None, None, max(1, len(texts) // _SAMPLE))
    n_words = np.array([len(text.split()) for text in texts[sample]])
    short = max(map(len, texts[sample])) <= 64 and n_words.max() == 1
    if share > 0.95 and filled >= FEW_ROWS and short:
        how = "each" if len(texts) == filled else "almost each"
        why = f"{how} of its {len(texts):,} values occurs once"
        return replace(column, kind="id", reason=why)
    many = share > 0.5 and filled >= FEW_ROWS
    if many and short and word_of_ids(column.name) in ("id", "uuid", "guid", "key"):
        why = "its name says that it is an identifier: rows may belong together, see --group "
        return replace(column, kind="id", reason=why + quote(column.name))
    if many or (share > 0.2 and np.average(n_words, weights=counts[sample]) >= 4.0):
        why = f"it is free text, {len(texts):,} different ones in {filled:,} cells"
        return replace(column, kind="text", reason=why)
    return column


def _unless_constant(column: Column, n_rows: int) -> Column:
    """Leave a column out that has no value, or the same in all rows."""
    if column.n_missing == n_rows:
        return replace(column, kind="empty", reason="it holds no value")
    if column.n_distinct == 1 and not column.n_missing:
        return replace(column, kind="constant", reason=f"it is {column.example!r} in all rows")
    return column


def _example(distinct: Any) -> str:
    return text_of(distinct[0])[:80] if len(distinct) else ""


def _mixed(values: pd.Series, name: str, codes: Array, is_text: Array) -> TableError:
    bad = np.append(is_text, False)[codes]
    n_bad, n_good = np.count_nonzero(bad), np.count_nonzero((codes >= 0) & ~bad)
    place = int(bad.argmax())
    cell = text_of(values.iloc[place])
    return TableError(
        f"Column {name!r} mixes numbers and text: {n_good:,} cells are numbers and {n_bad:,} "
        f"{'are' if n_bad > 1 else 'is'} not (the first is {cell!r}, row "
        f"{row_number(values, place)}); clean it, name the text that means missing with --missing "
        f"{quote(cell)}, treat it as text with --kind {quote(f'{name}=category')}, or leave it "
        f"out with --drop {quote(name)}."
    )
