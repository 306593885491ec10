"""Types for columns of text, for files that store types: numbers, booleans, dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from .._numbers import EXACT, EXACT_WHOLE, EXPONENT, SIGN, amount, grouped, number
from ._columns import Column, is_text, mark_missing, spellings, swap_marks, without_groups

_PATTERNS = {
    "int64": f"^{SIGN}{EXACT_WHOLE}$",
    "double": f"^{SIGN}{EXACT}{EXPONENT}$",
    "bool": r"^(?i:true|false)$",
    "date32": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "timestamp": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$",
}
"""By type, the text that it holds without loss; narrower types first."""
_AMOUNTS = f"^{amount(f'(?:{grouped()}|{number()})?')}$"
"""Text that stays text, but without decimal commas: 5.263 € would become something else."""


class TextTypes:
    """Find the narrowest type that holds all cells of each column of text, chunk by chunk.

    Parameters
    ----------
    missing : mapping of str to sequence of str
        By column, the spellings of missing cells.
    decimal : str
        The decimal mark.

    Examples
    --------
    >>> import pyarrow as pa
    >>> types = TextTypes({"age": ["", "NA"], "code": [""]}, decimal=".")
    >>> cells = pa.table({"age": ["30", "NA"], "code": ["007", ""]})
    >>> types.add(cells)
    >>> types.cast(cells).to_pydict()
    {'age': [30, None], 'code': ['007', None]}
    """

    def __init__(self, missing: Mapping[str, Sequence[str]], *, decimal: str) -> None:
        self._missing, self._decimal = missing, decimal
        self._patterns = _PATTERNS | ({"string": _AMOUNTS} if decimal == "," else {})
        self._left = {name: list(self._patterns) for name in missing}
        self._filled: set[str] = set()

    def add(self, table: Any) -> None:
        """Take the cells of a chunk into account."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            if self._left.get(name):
                self.add_cells(name, column)

    def add_cells(self, name: str, cells: Iterable[str] | Column) -> None:
        """Take more cells of one column into account, which the table need not have yet."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([list(cells)])
        self._left.setdefault(name, list(self._patterns))
        if not is_text(column.type):
            return
        column = pc.drop_null(self._plain(name, column))
        if len(column):
            self._filled.add(name)
        self._left[name] = [
            type for type in self._left[name] if _fits(column, type, self._patterns[type])
        ]

    def cast(self, table: Any) -> Any:
        """Cast the columns of a chunk to their types; an empty text is a missing cell."""
        import pyarrow as pa

        columns = [
            self._cast(name, column) if name in self._left and is_text(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        return pa.table(columns, names=table.column_names, metadata=table.schema.metadata)

    def _cast(self, name: str, column: Column) -> Column:
        """Cast a column of text to its type."""
        import pyarrow as pa

        if types := self._left[name] if name in self._filled else ():
            return self._plain(name, column).cast(_type(types[0]))
        return mark_missing(column, spellings(())).cast(pa.string())

    def _plain(self, name: str, column: Column) -> Column:
        """Write cells without blanks around them and with decimal points; missing ones are null."""
        import pyarrow.compute as pc

        column = mark_missing(pc.utf8_trim_whitespace(column), self._missing.get(name, ()))
        if self._decimal != ",":
            return column
        # a file that stores types has no decimal mark by which 5.263 is 5263
        return without_groups(swap_marks(column))


def _fits(column: Column, type: str, pattern: str) -> bool:
    """Tell whether all cells are of a type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py():
        return False
    with suppress(pa.ArrowInvalid):  # beyond int64, or not a day of the calendar
        column.cast(_type(type))
        return True
    return False


def _type(name: str) -> Any:
    import pyarrow as pa

    return pa.timestamp("us") if name == "timestamp" else pa.type_for_alias(name)
