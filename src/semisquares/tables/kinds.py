"""What each column of a table holds: numbers, categories, booleans, dates, or nothing to learn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from .._utils.messages import Message, Parameter, join
from .amounts import described
from .arguments import column_kinds, columns_to_drop
from .cells import BOOLEANS, Stray, check_finite, level_of, no_such
from .dates import one_format
from .errors import CellError, TableError
from .ids import kind_of_words, why_id
from .looks import Look, count_filled, look_at
from .quantities import Rows
from .tallies import Tally
from .wishes import check_wishes

KINDS = ("number", "category", "boolean", "date")
"""The kinds of columns that become features."""

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
    """Different values; for numbers in a table of more than 100,000 rows, those of a sample.

    About so many, where there are more than 131,072 in a table that is read in parts.
    """
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
      same sign everywhere ($, €, £, ¥ or %), with commas between thousands, or with brackets around
      those below zero.
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
    kinds, why = wishes_of(frame.columns, kinds, drop)
    series = ((name, frame.iloc[:, place]) for place, name in enumerate(frame.columns))
    return columns_of(look_at_all(series, kinds, why), kinds, why)


def wishes_of(
    names: Sequence[str],
    kinds: Mapping[str, str] | None,
    drop: Sequence[str] | Mapping[str, str],
) -> tuple[dict[str, str], dict[str, str]]:
    """Check what is asked of columns; return their kinds, and why some are left out."""
    settled, why = column_kinds(kinds), columns_to_drop(drop)
    check_wishes(names, settled, why, KINDS)
    return settled, why


def look_at_all(
    series: Iterable[tuple[str, pd.Series]],
    kinds: Mapping[str, str],
    why: Collection[str],
    rows: Rows | None = None,
) -> Iterator[tuple[str, Look]]:
    """Look at columns, one at a time, each as it is asked for."""
    for name, values in series:
        with _way_out(name):
            left_out = name in why
            asked = kinds.get(name)
            yield (
                name,
                (
                    count_filled(values)
                    if left_out
                    else look_at(values, name, asked=asked, rows=rows)
                ),
            )


def columns_of(
    looks: Iterable[tuple[str, Look]], kinds: Mapping[str, str], why: Mapping[str, str]
) -> tuple[Column, ...]:
    """Decide what each column is by what is known of it."""
    columns = []
    for name, look in looks:
        if name in why:
            columns.append(Column(name, "dropped", why[name], look.n_rows - look.n_filled))
            continue
        with _way_out(name):
            columns.append(_decided(look, name, kinds.get(name)))
    if not any(column.used for column in columns):
        listed = join("; ", (_named(column) for column in columns[:10]))
        raise TableError(
            "The table has no column to learn from ({listed}); add one, or settle the kind of one "
            "with {kinds}.",
            code="no_features",
            listed=listed or "it has no columns",
            kinds=Parameter("kinds", {"COLUMN": "KIND"}),
        )
    return tuple(columns)


def _named(column: Column) -> Message:
    return Message("{name!r}: {reason}", name=column.name, reason=column.reason)


@contextmanager
def _way_out(name: str) -> Iterator[None]:
    """Add to an error that the column can be left out."""
    try:
        yield
    except CellError as error:
        drop = Message("leave the column out with {drop}", drop=Parameter("drop", [name]))
        raise error.or_else(drop) from None


# -- deciding what a column is ------------------------------------------------------------------


def _decided(look: Look, name: str, asked: str | None) -> Column:
    """Tell the kind of one column."""
    if asked is not None:
        return _decided_as_asked(look, name, asked)
    if look.family in ("text", "category"):
        return _decided_text(look, name)
    if look.family == "number":
        return _decided_numbers(look, name)
    return _as_kind(look, name, look.family)


def _decided_as_asked(look: Look, name: str, kind: str) -> Column:
    """Check that a column can be of the kind that is asked for."""
    form, writing = None, look.writing
    if kind == "number":
        if writing is not None:
            form = writing.form
            if form is None and writing.no_number is not None:  # signs differ
                raise no_such(name, writing.no_number, "numbers", "none")
        return replace(_decided_numbers(look, name, may_be_id=False), format=form)
    if kind == "date" and writing is not None and look.n_filled:
        form, ambiguous = one_format(writing.formats)
        if ambiguous:
            raise TableError(
                f"Column {name!r} cannot be read as dates: cells such as {look.example[1]!r} may "
                "be day/month or month/day; write them as yyyy-mm-dd."
            )
    column = _as_kind(look, name, kind, form)
    if kind == "category" and column.used and not _complete(look):
        raise TableError(
            "Column {name!r} holds about {n_distinct:,} different values, too many for categories "
            "in a table that is read in parts; leave it out with {drop}.",
            code="too_many_categories",
            name=name,
            n_distinct=column.n_distinct,
            drop=Parameter("drop", [name]),
        )
    return column


def _as_kind(look: Look, name: str, kind: str, form: str | None = None) -> Column:
    """Describe a column whose kind is known."""
    n_distinct = 0 if look.tally is None else min(look.n_filled, look.tally.n_distinct)
    n_missing = look.n_rows - look.n_filled
    column = Column(name, kind, "", n_missing, n_distinct, look.example[1], form)
    return _unless_constant(column, look.n_rows)


def _decided_numbers(look: Look, name: str, *, may_be_id: bool = True) -> Column:
    numbers, n_missing = look.numbers, look.n_rows - look.n_filled
    if numbers is None or not look.n_filled:
        return _unless_constant(Column(name, "number", "", n_missing), look.n_rows)
    check_finite(name, numbers.infinite, numbers.beyond)
    example = level_of(numbers.first[1])
    column = Column(name, "number", "", n_missing, numbers.n_distinct, example)
    varies = numbers.low < numbers.high
    if varies and may_be_id and (why := why_id(name, numbers, look.n_rows, look.n_filled)):
        return replace(column, kind="id", reason=why)
    return _unless_constant(column, look.n_rows)


def _decided_text(look: Look, name: str) -> Column:
    """Tell what text holds; where it is declared to be categories, it is no number and no date."""
    column, tally, writing = _as_kind(look, name, "category"), look.tally, look.writing
    if not column.used or tally is None:
        return column
    texts = tally.values
    if len(texts) <= len(BOOLEANS) ** 2 and all(text.lower() in BOOLEANS for text in texts):
        return replace(column, kind="boolean")
    if writing is None:
        return _decided_words(column, tally, look.n_filled)
    if writing.decoration is not None and writing.decoration.enumerates:
        return _decided_words(column, tally, look.n_filled)
    if look.numbers is not None and (writing.no_number is None or writing.form is not None):
        return _with_form(_decided_numbers(look, name), writing.form)
    if writing.no_number is not None and writing.n_numbers >= _REFUSED * look.n_filled:
        raise _mixed(name, writing.n_numbers, writing.no_number)
    form, ambiguous = one_format(writing.formats)
    if form is not None:
        return replace(column, kind="date", format=form)
    column = _decided_words(column, tally, look.n_filled)
    if ambiguous:
        note = "its dates may be day/month or month/day: write them as yyyy-mm-dd"
        return replace(column, reason=note)
    return _with_mix(column, writing.n_numbers, look.n_filled)


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
    taken = ", and all are taken for categories" if column.used else ""
    reason = Message(
        "{n_numbers:,} of its {n_cells:,} cells are numbers and the others text{taken}: name the "
        "text that means missing with {missing}, or give {kinds} if all of them are categories",
        n_numbers=n_numbers,
        n_cells=n_cells,
        taken=taken,
        missing=Parameter("missing", ["TEXT"]),
        kinds=Parameter("kinds", {column.name: "category"}),
    )
    return replace(column, reason=reason)


def _decided_words(column: Column, tally: Tally, n_filled: int) -> Column:
    """Tell identifiers, free text and categories apart."""
    kind, reason = kind_of_words(column.name, tally, column.n_distinct, n_filled)
    return replace(column, kind=kind, reason=reason)


def _unless_constant(column: Column, n_rows: int) -> Column:
    """Leave a column out that has no value, or the same in all rows."""
    if column.n_missing == n_rows:
        return replace(column, kind="empty", reason="it holds no value")
    if column.n_distinct == 1 and not column.n_missing:
        return replace(column, kind="constant", reason=f"it is {column.example!r} in all rows")
    return column


def _complete(look: Look) -> bool:
    return look.tally is None or look.tally.complete


def _mixed(name: str, n_good: int, bad: Stray) -> TableError:
    return TableError(
        "Column {name!r} mixes numbers and text: {n_good:,} cells are numbers and {n_bad:,} {are} "
        "not (the first is {cell!r}, row {row}); clean it, name the text that means missing with "
        "{missing}, treat it as text with {kinds}, or leave it out with {drop}.",
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
