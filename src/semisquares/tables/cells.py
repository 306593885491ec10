"""The cells of a column: what they hold, as text, and in the one form of their kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, SupportsInt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from .._utils.words import counted
from .amounts import THOUSANDS, parse_amounts
from .dates import parse_dates
from .errors import CellError, TableError

Array = NDArray[Any]

BOOLEANS = {word: 1.0 for word in ("true", "yes", "y", "t")}
BOOLEANS |= {word: 0.0 for word in ("false", "no", "n", "f")}
LARGEST = 1e150
"""The squares of larger numbers, and their sums, leave float64."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_FAMILIES = {  # of what pandas finds in a column of objects
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    **dict.fromkeys(("timedelta", "timedelta64"), "number"),
    **dict.fromkeys(("datetime", "datetime64", "date"), "date"),
    **dict.fromkeys(("mixed", "mixed-integer"), "mixed"),
    **dict.fromkeys(("string", "empty"), "text"),
    "boolean": "boolean",
}


# -- what the cells are -------------------------------------------------------------------------


def family_of(values: pd.Series, name: str) -> str:
    """Tell by its type what a column holds: "number", "boolean", "date", "text", "category".

    Raises
    ------
    CellError
        Where cells are none of these, such as lists.
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if types.is_bool_dtype(dtype):
        return "boolean"
    if dtype.kind == "m" or (types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return "number"
    if dtype.kind == "M":
        return "date"
    found = types.infer_dtype(values, skipna=True)
    if found == "unknown-array":  # a type of Arrow's alone
        found = types.infer_dtype(values.astype(object), skipna=True)
    family = _FAMILIES.get(found)
    if family == "mixed":
        _check_cells(values, name)
        return "text"
    if family is None:
        raise CellError(
            f"Column {name!r} holds {found} values, but a table needs numbers, texts or dates",
            "rewrite it",
        )
    return family


def _check_cells(values: pd.Series, name: str, *others: type) -> None:
    """Refuse cells that are neither text nor numbers nor of other types, such as lists."""
    simple = (str, int, float, Decimal, np.number, np.bool_, *others)
    filled = np.flatnonzero(values.notna())
    for place, cell in zip(filled, values.to_numpy(object)[filled], strict=True):
        if not isinstance(cell, simple) or isinstance(cell, np.complexfloating):
            raise CellError(
                f"Column {name!r} holds a {type(cell).__name__} (row {row_number(values, place)}), "
                "but a cell has to be a number, a text or a date like the others",
                "rewrite it",
            )


def text_cells(values: pd.Series, write: Callable[[Any], str]) -> tuple[Array, Array]:
    """Return for each row the place of its text among the different texts, -1 for none.

    `write` makes text of a cell; blank text is a missing cell.
    """
    codes, distinct = pd.factorize(values)
    texts = [write(cell) or None for cell in np.asarray(distinct, dtype=object)]
    places, texts = pd.factorize(np.array([*texts, None], dtype=object))
    return places[codes], texts  # the last place is that of the code -1


def text_of(cell: Any) -> str:
    """Write a cell as text: as it is, without blanks around it."""
    return cell.strip() if isinstance(cell, str) else level_of(cell)


def level_of(cell: Any) -> str:
    """Write a cell as a level: 1, 1.0, "1" and "01" are one level, and so are True and "true".

    So levels do not depend on whether whoever read the table has guessed types.

    Examples
    --------
    >>> from semisquares.tables.cells import level_of
    >>> [level_of(cell) for cell in (1.0, " 01", "2.50", "red ", True, "TRUE")]
    ['1', '1', '2.5', 'red', 'True', 'True']
    """
    if isinstance(cell, str):
        cell = cell.strip()
        if cell.lower() in ("true", "false"):
            return cell.capitalize()
        if not _NUMBER.fullmatch(cell) or len(cell) > 300:
            return cell
        cell = int(cell) if cell.lstrip("+-").isdigit() else float(cell)
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating | Decimal):
        number = float(cell)
        return str(int(number)) if number.is_integer() and abs(number) < 1e22 else repr(number)
    return str(cell).strip().removesuffix(" 00:00:00")


def row_number(values: pd.Series, place: SupportsInt) -> int:
    """Return the number of a row for people, from 1, also in a part of a table."""
    index = values.index
    if types.is_integer_dtype(index.dtype) and index.is_unique:
        return int(index[int(place)]) + 1
    return int(place) + 1


# -- to the one form of a kind ------------------------------------------------------------------


def to_numbers(values: pd.Series, name: str, form: str | None = None) -> Array:
    """Return a column as float64, NaN where a cell is missing; TableError where one is no number.

    Infinities, and numbers whose squares are, are no numbers here. Text may be written in a form
    of `amounts`, too, and in any case with commas between thousands.
    """
    numbers = read_numbers(values, name, form)
    check_finite(name, *strays_of(numbers, values))
    return numbers


def read_numbers(values: pd.Series, name: str, form: str | None = None) -> Array:
    """Do what `to_numbers` does, but let infinities be."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return values.to_numpy(np.float64)
    if dtype.kind == "m":
        return values.dt.total_seconds().to_numpy(np.float64, na_value=np.nan)
    if types.is_numeric_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return values.to_numpy(np.float64, na_value=np.nan)
    return _parse_numbers(values.astype(object), name, form)


def parse_floats(cells: pd.Series) -> Array:
    """Read each text as the float64 nearest to it, NaN where it is no number.

    Examples
    --------
    >>> parse_floats(pd.Series(["10000.003289696295", "1e3", "few"])).tolist()
    [10000.003289696295, 1000.0, nan]
    """
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan, copy=True)
    found = np.isfinite(numbers)
    # before 3.1, pandas gets the last bit of one in four long numbers wrong
    numbers[found] = list(map(_nearest_float, cells.to_numpy(object)[found], numbers[found]))
    return numbers


def _nearest_float(cell: Any, number: float) -> float:
    """Return what Python reads; `number`, which pandas has read, where Python refuses to."""
    try:
        return float(cell)
    except ValueError:  # such as 4e 8
        return number


def _parse_numbers(values: pd.Series, name: str, form: str | None) -> Array:
    found = types.infer_dtype(values, skipna=True)
    if found.startswith("timedelta"):
        return pd.to_timedelta(values).dt.total_seconds().to_numpy(np.float64)
    is_date = _FAMILIES.get(found) == "date"  # which pandas would count in nanoseconds
    cells = values.astype(str).where(values.notna(), None) if is_date else values
    numbers = parse_floats(cells)
    lost = np.isnan(numbers) & values.notna().to_numpy()
    if lost.any():
        codes, texts = text_cells(values.where(lost), text_of)  # of which blanks are none
        read = parse_amounts(texts, form or THOUSANDS)
        _check_all(values, name, codes, np.isnan(read), "numbers", "none")
        numbers = np.where(codes >= 0, np.append(read, np.nan)[codes], numbers)
    return numbers


@dataclass(frozen=True)
class Stray:
    """Cells that do not fit their column: how many, and where the first is."""

    n: int
    place: int
    """Of the first, in the table."""
    row: int
    """The same for people."""
    cell: str = ""

    @classmethod
    def of(cls, bad: Array, values: pd.Series, start: int = 0) -> Stray | None:
        """Find the cells of a mask; None where it has none."""
        if not bad.any():
            return None
        place = int(bad.argmax())
        cell = text_of(values.iloc[place])
        return cls(int(np.count_nonzero(bad)), start + place, row_number(values, place), cell)


def first_of(one: Stray | None, other: Stray | None) -> Stray | None:
    """Join what does not fit in two parts of a column."""
    if one is None or other is None:
        return one or other
    return replace(min(one, other, key=lambda stray: stray.place), n=one.n + other.n)


def strays_of(
    numbers: Array, values: pd.Series, start: int = 0
) -> tuple[Stray | None, Stray | None]:
    """Find infinities, and numbers whose squares leave float64."""
    if not len(numbers) or (
        np.fmin.reduce(numbers) >= -LARGEST and np.fmax.reduce(numbers) <= LARGEST
    ):
        return None, None
    infinite = np.isinf(numbers)
    beyond = (np.abs(numbers) > LARGEST) & ~infinite
    return Stray.of(infinite, values, start), Stray.of(beyond, values, start)


def check_finite(name: str, infinite: Stray | None, beyond: Stray | None) -> None:
    """Refuse infinities and numbers whose squares leave float64."""
    bad, what = (infinite, "infinite") if infinite else (beyond, f"beyond {LARGEST:g}")
    if bad is not None:
        raise CellError(
            f"Column {name!r} has {counted(bad.n, 'cell')} that "
            f"{'are' if bad.n > 1 else 'is'} {what} (the first in row {bad.row}), and numbers have "
            "to be finite",
            "empty such cells",
        )


def to_booleans(values: pd.Series, name: str) -> Array:
    """Return a column as 1.0, 0.0 and NaN; TableError where a cell is neither true nor false."""
    if values.dtype == np.bool_:
        return values.to_numpy(np.float64)
    codes, texts = text_cells(values, level_of)
    known = BOOLEANS | {"1": 1.0, "0": 0.0}
    numbers = np.array([known.get(text.lower(), np.nan) for text in texts] + [np.nan])
    _check_all(values, name, codes, np.isnan(numbers[:-1]), "true or false", "neither")
    return numbers[codes]


def to_dates(values: pd.Series, name: str, form: str | None) -> Array:
    """Return a column as datetime64[us], NaT where missing; TableError where a cell is no date."""
    if values.dtype.kind == "M":
        dtype = getattr(values.dtype, "pyarrow_dtype", values.dtype)
        if getattr(dtype, "tz", None) is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        return values.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT", "us"))
    family = _FAMILIES.get(types.infer_dtype(values, skipna=True))
    if family == "date":
        return _dates_of_objects(values)
    if family == "mixed":
        _check_cells(values, name, date, np.datetime64)
    form = form or "yyyy-mm-dd"
    codes, texts = text_cells(values, text_of)
    dates = np.append(parse_dates(texts, form), np.datetime64("NaT", "us"))
    _check_all(values, name, codes, np.isnat(dates[:-1]), f"dates of the form {form}", "none")
    return dates[codes]


def _dates_of_objects(values: pd.Series) -> Array:
    """Return objects such as ``datetime.date`` as datetime64[us], in UTC."""
    found = pd.to_datetime(values, errors="coerce", utc=True).dt.tz_localize(None)
    dates = found.to_numpy(dtype="datetime64[us]", copy=True)
    # where pandas counts nanoseconds, it loses the dates after 2262
    lost = np.flatnonzero(np.isnat(dates) & values.notna().to_numpy())
    for place in lost:
        stamp = pd.Timestamp(values.iloc[place])
        stamp = stamp if stamp.tz is None else stamp.tz_convert(None)
        dates[place] = stamp.as_unit("us").to_datetime64()
    return dates


def _check_all(
    values: pd.Series, name: str, codes: Array, bad: Array, needed: str, verdict: str
) -> None:
    """Refuse a column in which some of the different texts are bad."""
    stray = Stray.of(np.append(bad, False)[codes], values)
    if stray is not None:
        raise no_such(name, stray, needed, verdict)


def no_such(name: str, stray: Stray, needed: str, verdict: str) -> TableError:
    """Say which cell is not what a column has to hold."""
    return TableError(
        f"Column {name!r} has to hold {needed}, but {stray.cell!r} in row {stray.row} is "
        f"{verdict}; correct that cell, or empty it."
    )
