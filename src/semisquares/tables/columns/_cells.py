"""Cells as text and as levels, how a column is stored, and cells that do not fit their column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, SupportsInt

import numpy as np
import pandas as pd
from pandas.api import types

from ..._utils.typing import Array
from ..errors import CellError, TableError
from ._numerals import NUMBER

_STORAGE = {  # by what pandas infers for a column of objects
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    **dict.fromkeys(("timedelta", "timedelta64"), "number"),
    **dict.fromkeys(("datetime", "datetime64", "date"), "date"),
    **dict.fromkeys(("mixed", "mixed-integer"), "mixed"),
    **dict.fromkeys(("string", "empty"), "text"),
    "boolean": "boolean",
}


# -- storage --------------------------------------------------------------------------------------


def storage_type(values: pd.Series, name: str) -> str:
    """Return how a column is stored: as "number", "boolean", "date", "text" or "category".

    Raises
    ------
    CellError
        If cells are none of these, such as lists.
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
    if found == "unknown-array":  # a type that only Arrow has
        found = types.infer_dtype(values.astype(object), skipna=True)
    storage = _STORAGE.get(found)
    if storage == "mixed":
        check_cells(values, name)
        return "text"
    if storage is None:
        raise CellError(
            f"Column {name!r} holds {found} values, but a table needs numbers, texts or dates",
            "rewrite it",
            code="cell_type",
        )
    return storage


def object_storage(values: pd.Series) -> str | None:
    """Return how a column of objects is stored; "mixed" for several types, None for others."""
    return _STORAGE.get(types.infer_dtype(values, skipna=True))


def check_cells(values: pd.Series, name: str, *others: type) -> None:
    """Refuse cells that are neither text nor numbers nor of other given types, such as lists."""
    simple = (str, int, float, Decimal, np.number, np.bool_, *others)
    filled = np.flatnonzero(values.notna())
    for place, cell in zip(filled, values.to_numpy(object)[filled], strict=True):
        if not isinstance(cell, simple) or isinstance(cell, np.complexfloating):
            raise CellError(
                f"Column {name!r} holds a {type(cell).__name__} (row {row_number(values, place)}), "
                "but a cell has to be a number, a text or a date like the others",
                "rewrite it",
                code="cell_type",
            )


# -- text -----------------------------------------------------------------------------------------


def factorize_texts(values: pd.Series, write: Callable[[Any], str]) -> tuple[Array, Array]:
    """Return codes of the cells into their different texts, -1 if missing, and these texts.

    `write` converts a cell to text; blank text is a missing cell.
    """
    codes, distinct = pd.factorize(values)
    texts = [write(cell) or None for cell in np.asarray(distinct, dtype=object)]
    places, texts = pd.factorize(np.array([*texts, None], dtype=object))
    return places[codes], texts  # the code -1 reads the last place, which is that of None


def text_of(cell: Any) -> str:
    """Write a cell as text: unchanged, without blanks around it."""
    return cell.strip() if isinstance(cell, str) else level_of(cell)


def level_of(cell: Any) -> str:
    """Write a cell as a level: 1, 1.0, "1" and "01" are one level, and so are True and "true".

    Levels therefore do not depend on whether the reader of the table has guessed types.

    Examples
    --------
    >>> from semisquares.tables.columns._cells import level_of
    >>> [level_of(cell) for cell in (1.0, " 01", "2.50", "red ", True, "TRUE")]
    ['1', '1', '2.5', 'red', 'True', 'True']
    """
    if isinstance(cell, str):
        cell = cell.strip()
        if cell.lower() in ("true", "false"):
            return cell.capitalize()
        if not NUMBER.fullmatch(cell) or len(cell) > 300:
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
    """Return the number of a row in the table, counted from 1; `values` may be a chunk."""
    index = values.index
    if types.is_integer_dtype(index.dtype) and index.is_unique:
        return int(index[int(place)]) + 1
    return int(place) + 1


# -- cells that do not fit their column -----------------------------------------------------------


@dataclass(frozen=True)
class BadCells:
    """Cells that do not fit their column: how many there are, and the first of them."""

    n: int
    place: int
    """The position of the first in the table."""
    row: int
    """The same as a row number for people."""
    cell: str = ""

    @classmethod
    def of(cls, bad: Array, values: pd.Series, start: int = 0) -> BadCells | None:
        """Find the cells that a mask marks; None if it marks none."""
        if not bad.any():
            return None
        place = int(bad.argmax())
        cell = text_of(values.iloc[place])
        return cls(int(np.count_nonzero(bad)), start + place, row_number(values, place), cell)

    def error(self, name: str, needed: str, verdict: str) -> TableError:
        """Return the error that names the first bad cell."""
        return TableError(
            f"Column {name!r} has to hold {needed}, but {self.cell!r} in row {self.row} is "
            f"{verdict}; correct that cell, or empty it.",
            code="bad_cell",
        )


def merge_bad(one: BadCells | None, other: BadCells | None) -> BadCells | None:
    """Merge the bad cells of two chunks."""
    if one is None or other is None:
        return one or other
    return replace(min(one, other, key=lambda bad: bad.place), n=one.n + other.n)


def check_texts(
    values: pd.Series, name: str, codes: Array, bad: Array, needed: str, verdict: str
) -> None:
    """Refuse a column in which some of the different texts are bad."""
    found = BadCells.of(np.append(bad, False)[codes], values)
    if found is not None:
        raise found.error(name, needed, verdict)
