"""Cells that a parser returns as Python objects: their Arrow type, and their text if types mix."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

_KINDS: tuple[tuple[type, str], ...] = (  # bool before int, datetime before date: subclasses first
    (bool, "boolean"),
    (int, "whole"),
    (float, "number"),
    (str, "text"),
    (datetime, "moment"),
    (date, "day"),
    (time, "text"),
    (timedelta, "duration"),
)
_INT64 = 2**63


def kind_of(cell: Any) -> str | None:
    """Name the kind of a cell: "missing" for None, None for lists and other objects."""
    if cell is None:
        return "missing"
    kind = next((kind for one, kind in _KINDS if isinstance(cell, one)), None)
    return "number" if kind == "whole" and not -_INT64 <= cell < _INT64 else kind


def arrow_type(kinds: Collection[str]) -> Any:
    """Return the Arrow type that holds cells of some kinds; text if they have nothing in common.

    Examples
    --------
    >>> arrow_type({"whole", "missing"}), arrow_type({"whole", "text"})
    (DataType(int64), DataType(string))
    """
    import pyarrow as pa

    kinds = {*kinds} - {"missing"}
    if not kinds:
        return pa.null()
    if kinds == {"whole"}:
        return pa.int64()
    if kinds <= {"whole", "number"}:
        return pa.float64()
    if kinds == {"boolean"}:
        return pa.bool_()
    if kinds == {"day"}:
        return pa.date32()
    if kinds <= {"day", "moment"}:
        return pa.timestamp("us")
    return pa.duration("us") if kinds == {"duration"} else pa.string()


def arrow_column(cells: Iterable[Any], type: Any) -> Any:
    """Return cells as an Arrow array of a type that `arrow_type` has found."""
    import pyarrow as pa

    if pa.types.is_string(type):
        cells = [cell_text(cell) for cell in cells]
    elif pa.types.is_timestamp(type):
        cells = [
            cell if kind_of(cell) != "day" else datetime(*cell.timetuple()[:3]) for cell in cells
        ]
    elif pa.types.is_floating(type):
        cells = [None if cell is None else float(cell) for cell in cells]
    return pa.array(cells, type)


def cell_text(cell: Any) -> str | None:
    """Write a cell as text: 30.0 is 30, True is true, and dates are yyyy-mm-dd.

    Examples
    --------
    >>> [cell_text(cell) for cell in (30.0, 0.5, True, date(2020, 1, 5), "a", None)]
    ['30', '0.5', 'true', '2020-01-05', 'a', None]
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, date | time):
        return cell.isoformat(*[" "] * isinstance(cell, datetime))
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2.0**53:
        return str(int(cell))
    return str(cell) if isinstance(cell, timedelta) else json.dumps(cell)
