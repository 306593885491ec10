"""What each column of a table holds: numbers, categories, booleans, dates, or nothing to learn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
from .errors import TableError

Array = NDArray[Any]

KINDS = ("number", "category", "boolean", "date")
"""The kinds of columns that become features."""

_FEW_ROWS = 20
"""In so few rows it says nothing that a value does not repeat."""
_MANY_ROWS, _SAMPLE = 100_000, 20_000


@dataclass(frozen=True)
class Column:
    """A column of a table and what becomes of it."""

    name: str
    kind: str
    """One of `KINDS`, or why it is left out: "id", "constant", "empty", "text", "dropped"."""
    reason: str = ""
    """Why it is left out, as a clause for people; rarely a remark on a column that is used."""
    n_missing: int = 0
    n_distinct: int = 0
    """Different values; for numbers in a table of more than 100,000 rows, those of a sample."""
    example: str = ""
    format: str | None = None
    """How dates are written, where they are text."""

    @property
    def used(self) -> bool:
        """Whether it becomes features."""
        return self.kind in KINDS


def kinds_of(
    frame: pd.DataFrame, *, kinds: Mapping[str, str] | None = None, drop: Sequence[str] = ()
) -> tuple[Column, ...]:
    """Tell the kind of each column of a table, in the order of the table.

    * number: numbers, durations (in seconds), and text that is numbers throughout.
    * boolean: true/false, and text with true/false, yes/no, y/n or t/f alone. 0/1 are numbers.
    * date: dates, and text that is dates throughout, all in one form. Where nothing tells days
      from months (no day is beyond the 12th), it stays text.
    * category: other text, whose values repeat, and pandas' categoricals.
    * Left out are columns without any value ("empty") or with the same in all rows ("constant"),
      free text ("text"), and identifiers ("id"): whole numbers that count the rows or have the name
      of an identifier, and text of single words that never repeats.

    Parameters
    ----------
    frame : DataFrame
    kinds : mapping of column to kind, optional
        Settles the kind of some columns.
    drop : sequence of str
        Columns to leave out.

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
    kinds, drop = dict(kinds or {}), (drop,) if isinstance(drop, str) else tuple(drop)
    _check_request(frame, kinds, drop)
    columns = []
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if name in drop:
            columns.append(Column(name, "dropped", "as asked", int(values.isna().sum())))
        elif name in kinds:
            columns.append(_look_as_asked(values, name, kinds[name]))
        else:
            columns.append(_look(values, name))
    if not any(column.used for column in columns):
        why = "; ".join(f"{column.name!r}: {column.reason}" for column in columns[:10])
        raise TableError(
            f"The table has no column to learn from ({why or 'it has no columns'}); add one, or "
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
    if kind == "number":
        return _look_at_numbers(to_numbers(values, name), name, may_be_id=False)
    if kind == "boolean":
        to_booleans(values, name)
    form = None
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
    if varies and may_be_id and (reason := _why_id(numbers, sample, column)):
        return replace(column, kind="id", reason=reason)
    return _unless_constant(column, len(numbers))


def _why_id(numbers: Array, sample: Array, column: Column) -> str:
    """Say why numbers are an identifier, "" where they are a quantity."""
    n = len(numbers)
    if not np.array_equal(sample, np.trunc(sample)):
        return ""
    if n >= _FEW_ROWS and numbers[-1] - numbers[0] == n - 1 and (np.diff(numbers) == 1.0).all():
        return "it counts the rows"
    word = _word_of_ids(column.name)
    repeats = column.n_distinct < len(sample)
    # "house number" names a house, but Number = 3 may be how many: there, values tell
    if word in ("index", "row", "nr", "no", "number") and (
        column.n_distinct <= _FEW_ROWS or column.n_distinct < 0.1 * len(sample)
    ):
        return ""
    if not word or np.count_nonzero(numbers != np.trunc(numbers)) > column.n_missing:
        return ""
    hint = f", and it repeats: rows may belong together, see --group {quote(column.name)}"
    return f"{word!r} in its name says that it is an identifier{hint if repeats else ''}"


def _word_of_ids(name: str) -> str:
    """Return the word that makes "customer_id", "rowId" or "House No" the name of an identifier."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    anywhere = [word for word in words if word in ("id", "uuid", "guid")]
    at_the_end = [w for w in words[-1:] if w in ("key", "index", "row", "nr", "no", "number")]
    return next(iter(anywhere + at_the_end), "")


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
    if not np.isnan(numbers).any():
        cells = np.append(numbers, np.nan)[codes]
        check_finite(cells, values, name)
        return _look_at_numbers(cells, name)
    if 2 * counts[~np.isnan(numbers)].sum() >= counts.sum():
        raise _mixed(values, name, codes, np.isnan(numbers))
    form, ambiguous = find_format(texts)
    if form is not None:
        return replace(column, kind="date", format=form)
    column = _look_at_words(column, texts, counts)
    note = "its dates may be day/month or month/day: write them as yyyy-mm-dd"
    return replace(column, reason=note) if ambiguous else column


def _look_at_words(column: Column, texts: Array, counts: Array) -> Column:
    """Tell identifiers, free text and categories apart."""
    filled = int(counts.sum())
    share = len(texts) / filled
    sample = slice(None, None, max(1, len(texts) // _SAMPLE))
    n_words = np.array([len(text.split()) for text in texts[sample]])
    short = max(map(len, texts[sample])) <= 64 and n_words.max() == 1
    if share > 0.95 and filled >= _FEW_ROWS and short:
        how = "each" if len(texts) == filled else "almost each"
        why = f"{how} of its {len(texts):,} values occurs once"
        return replace(column, kind="id", reason=why)
    many = share > 0.5 and filled >= _FEW_ROWS
    if many and short and _word_of_ids(column.name) in ("id", "uuid", "guid", "key"):
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


# -- what is wrong with a request ---------------------------------------------------------------


def check_column(frame: pd.DataFrame, name: str, role: str) -> None:
    """Raise TableError, with the nearest name, where a table has no such column."""
    if name in frame.columns:
        return
    names = list(map(str, frame.columns))
    near = get_close_matches(str(name), names, n=1, cutoff=0.5)
    listed = ", ".join(map(repr, names[:20])) + ", …" * (len(names) > 20)
    hint = f"did you mean {near[0]!r}?" if near else f"its columns are {listed}."
    raise TableError(f"The table has no column {name!r} for the {role}; {hint}")


def _check_request(frame: pd.DataFrame, kinds: Mapping[str, str], drop: Sequence[str]) -> None:
    for name in drop:
        check_column(frame, name, "columns to leave out")
    for name, kind in kinds.items():
        check_column(frame, name, "kinds of columns")
        if kind not in KINDS:
            near = get_close_matches(str(kind), KINDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(KINDS)}."
            raise TableError(f"Column {name!r} cannot be of kind {kind!r}; {hint}")


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
