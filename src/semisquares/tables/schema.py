"""The schema of a table: profile its columns, merge profiles of chunks, infer the types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd

from .._utils.messages import Message, Parameter, join
from ._arguments import column_kinds, columns_to_drop, date_order
from ._options import check_column_options
from .columns import COLUMN_TYPES, Column, ColumnType, Profile, most_specific_first
from .columns._cells import storage_type
from .columns._protocol import Cells, RowRange
from .columns.date import settle_dates
from .columns.excluded import describe_dropped, profile_dropped, unless_constant
from .errors import CellError, TableError


def infer_schema(
    frame: pd.DataFrame,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] | Mapping[str, str] = (),
    dates: str | None = None,
) -> tuple[Column, ...]:
    """Infer the type of each column of a table, in the order of the table.

    * number: numbers, durations (in seconds), and text that is numbers throughout. Such text may
      have the same sign everywhere ($, €, £, ¥ or %), commas between thousands, or brackets around
      negative numbers. If it is digits only and some start with a zero, such as the ZIP code 01234,
      the column is a category.
    * boolean: true/false, and text that is true/false, yes/no, y/n or t/f only. 0/1 are numbers.
    * date: dates, and text that is dates throughout, all in one format. If no day is beyond the
      12th, days and months cannot be distinguished, and the column stays text unless `dates` names
      their order. So do dates whose years have two digits.
    * category: other text whose values repeat, and pandas' categoricals.
    * text: free text, whose values hardly repeat. If at least half of the cells of a category or a
      text are numbers, the column is refused; from a tenth on it gets a remark.
    * Left out are columns without any value ("empty") or with the same value in all rows
      ("constant"), and identifiers ("id"): whole numbers that count the rows or have the name of an
      identifier, and single words that never repeat.

    Parameters
    ----------
    frame : DataFrame
    kinds : mapping of column to column type, optional
        Sets the types of some columns.
    drop : sequence of str, or mapping of str to str
        Columns to leave out, and why.
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in text that can be read as dates in several ways. Dates
        that can be read in one way only are not affected.

    Raises
    ------
    TableError
        If a column mixes numbers and text or holds infinities, cannot be of the type that `kinds`
        sets, or no column is left to learn from.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.schema import infer_schema
    >>> frame = pd.DataFrame({"age": [30, 40], "sex": ["f", "m"], "site": ["A", "A"]})
    >>> [(column.name, column.kind) for column in infer_schema(frame)]
    [('age', 'number'), ('sex', 'category'), ('site', 'constant')]
    """
    kinds, reasons = check_schema_options(frame.columns, kinds, drop)
    dates = date_order(dates)
    series = ((name, frame.iloc[:, place]) for place, name in enumerate(frame.columns))
    return infer_columns(profile_columns(series, kinds, reasons), kinds, reasons, dates)


def check_schema_options(
    names: Sequence[str],
    kinds: Mapping[str, str] | None,
    drop: Sequence[str] | Mapping[str, str],
) -> tuple[dict[str, str], dict[str, str]]:
    """Check the options; return the requested types, and the columns to drop with reasons."""
    requested, reasons = column_kinds(kinds), columns_to_drop(drop)
    check_column_options(names, requested, reasons, list(COLUMN_TYPES))
    return requested, reasons


def profile_columns(
    series: Iterable[tuple[str, pd.Series]],
    kinds: Mapping[str, str],
    drop: Collection[str],
    rows: RowRange | None = None,
) -> Iterator[tuple[str, Profile]]:
    """Yield the name and the profile of each column; of those in `drop`, only count the cells."""
    for name, values in series:
        with _suggest_drop(name):
            if name in drop:
                yield name, profile_dropped(values)
            else:
                yield name, profile_column(values, name, requested=kinds.get(name), rows=rows)


def profile_column(
    values: pd.Series, name: str, *, requested: str | None = None, rows: RowRange | None = None
) -> Profile:
    """Profile the cells of a column.

    Parameters
    ----------
    values : Series
    name : str
        For messages.
    requested : str, optional
        The type that the user has set; TableError if a cell cannot be of that type.
    rows : RowRange, optional
        The position of these cells in the table, if they are not all of it.

    Examples
    --------
    >>> import pandas as pd
    >>> one = profile_column(pd.Series(["a", None, "b"]), "x", rows=RowRange(0, 5))
    >>> other = profile_column(pd.Series(["c", "a"]), "x", rows=RowRange(3, 5))
    >>> one.merge(other).counts.values.tolist(), one.merge(other).n_filled
    (['a', 'b', 'c'], 4)
    """
    storage = storage_type(values, name)
    cells = Cells(values, name, rows or RowRange(0, len(values)), storage)
    known = _known_type(storage, requested)
    if known is not None:
        return known.profile(cells, requested=requested is not None)
    profile = Profile.of_values(cells, *cells.texts)
    if storage == "category":  # declared, so it is neither number nor date
        return profile
    found = {kind: one.profile_texts(cells) for kind, one in COLUMN_TYPES.items()}
    evidence = {kind: one for kind, one in found.items() if one is not None}
    return replace(profile, evidence=evidence)


def infer_columns(
    profiles: Iterable[tuple[str, Profile]],
    kinds: Mapping[str, str],
    drop: Mapping[str, str],
    dates: str | None = None,
) -> tuple[Column, ...]:
    """Infer the type of each column from its profile; `drop` maps columns to reasons."""
    columns = []
    for name, profile in profiles:
        if name in drop:
            columns.append(describe_dropped(profile, name, drop[name]))
            continue
        with _suggest_drop(name):
            settled = settle_dates(profile, dates)
            columns.append(_infer_column(settled, name, kinds.get(name)))
    if not any(column.used for column in columns):
        listed = join(
            "; ",
            (Message("{name!r}: {reason}", name=c.name, reason=c.reason) for c in columns[:10]),
        )
        raise TableError(
            "The table has no column to learn from ({listed}); add one, or set the kind of one "
            "with {kinds}.",
            code="no_features",
            listed=listed or "it has no columns",
            kinds=Parameter("kinds", {"COLUMN": "KIND"}),
        )
    return tuple(columns)


def _infer_column(profile: Profile, name: str, requested: str | None) -> Column:
    known = _known_type(profile.storage, requested)
    if known is None:
        column = unless_constant(profile.describe(name, "category"), profile.n_rows)
        if not column.used:
            return column
    for one in most_specific_first() if known is None else [known]:
        found = one.infer(profile, name, requested=requested is not None)
        if found is not None:
            return _with_remark(found, profile) if known is None and one.takes_the_rest else found
    raise NotImplementedError(f"no column type accepts column {name!r}")


def _known_type(storage: str, requested: str | None) -> ColumnType | None:
    """Return the type that the user has set, or else that of the stored cells; None for text."""
    if requested is not None:
        return COLUMN_TYPES[requested]
    return COLUMN_TYPES[storage] if storage in ("number", "boolean", "date") else None


def _with_remark(column: Column, profile: Profile) -> Column:
    """Add a remark if a column of text is almost of another type."""
    remarks = (one.remark(profile, column) for one in COLUMN_TYPES.values())
    return replace(column, reason=next(filter(None, remarks), column.reason))


@contextmanager
def _suggest_drop(name: str) -> Iterator[None]:
    """Add to an error that the column can be left out."""
    try:
        yield
    except CellError as error:
        drop = Message("leave the column out with {drop}", drop=Parameter("drop", [name]))
        raise error.or_else(drop) from None
