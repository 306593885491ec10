"""Tables as the page shows them: cells of text, a caption, and row names in the first column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._utils.words import counted, minus

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 6


@dataclass(frozen=True)
class Grid:
    """A table of text; `numeric` columns are right-aligned."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


def grid(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """Make a table; a column all of whose cells are numbers, or empty, is numeric."""
    numeric = tuple(all(_is_number(row[k]) for row in rows) for k in range(len(header)))
    return Grid(caption, tuple(header), tuple(map(tuple, rows)), numeric)


def preview(frame: pd.DataFrame, file: str) -> Grid:
    """Show the first rows of a stored table."""
    first = frame.head(SHOWN_ROWS)
    part = "all" if len(first) == len(frame) else f"the first {len(first)} of"
    size = f"{part} {counted(len(frame), 'row')}"
    rows = [[text(value) for value in row] for row in first.itertuples(index=False, name=None)]
    return grid(f"{file}: {size}, to four digits", [str(c) for c in frame.columns], rows)


def text(value: Any) -> str:
    """Return a value as a cell shows it.

    Examples
    --------
    >>> [text(value) for value in (1, True, "soft", 0.123456, 1000000.0, 0.0, float("nan"), None)]
    ['1', 'True', 'soft', '0.1235', '1e+06', '0', '', '']
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else minus(f"{value:.4g}")
    return minus(str(value)) if isinstance(value, int) else str(value)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace("−", "-").replace("–", "").replace(",", "") or "0")
    except ValueError:
        return False
    return True
