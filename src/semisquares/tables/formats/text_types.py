"""The types that cells of text have, for files that keep types: numbers, true or false, dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from .columns import Column, blanked, is_text, spellings, with_points, without_groups

_PATTERNS = {
    "int64": r"^[+-]?(0|[1-9][0-9]*)$",  # 007 is a code, and 0x1F too
    "double": r"^[+-]?((0|[1-9][0-9]{0,15})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$",
    "bool": r"^(?i:true|false)$",
    "date32": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "timestamp": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$",
}
"""Of each type the text that it holds without loss; the narrower type first."""
_AMOUNTS = (
    r"^\(?[+-]?\s*[$€£¥]?\s*\(?[+-]?\s*([1-9][0-9]{0,2}(,[0-9]{3})+|[0-9]*)(\.[0-9]*)?"
    "[\\s\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]*[$€£¥%]?\\)?$"
)
"""Text that stays text, but not with decimal commas: there, 5.263 € would be something else."""


class TextTypes:
    """Find the narrowest type that holds all cells of each column of text, piece by piece.

    Parameters
    ----------
    missing : mapping of str to sequence of str
        Of each column, the spellings of missing cells.
    decimal : str
        The decimal mark.

    Examples
    --------
    >>> import pyarrow as pa
    >>> types = TextTypes({"age": ["", "NA"], "code": [""]}, decimal=".")
    >>> cells = pa.table({"age": ["30", "NA"], "code": ["007", ""]})
    >>> types.look(cells)
    >>> types.cast(cells).to_pydict()
    {'age': [30, None], 'code': ['007', None]}
    """

    def __init__(self, missing: Mapping[str, Sequence[str]], *, decimal: str) -> None:
        self._missing, self._decimal = missing, decimal
        self._patterns = _PATTERNS | ({"string": _AMOUNTS} if decimal == "," else {})
        self._left = {name: list(self._patterns) for name in missing}
        self._filled: set[str] = set()

    def look(self, table: Any) -> None:
        """Look at the cells of a piece."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            if self._left.get(name):
                self.look_at(name, column)

    def look_at(self, name: str, cells: Iterable[str] | Column) -> None:
        """Look at more cells of one column, which the table need not have yet."""
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
            kind for kind in self._left[name] if _fits(column, kind, self._patterns[kind])
        ]

    def cast(self, table: Any) -> Any:
        """Give the columns of a piece their types; an empty text is a missing cell."""
        import pyarrow as pa

        columns = [
            self._cast(name, column) if name in self._left and is_text(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        return pa.table(columns, names=table.column_names, metadata=table.schema.metadata)

    def _cast(self, name: str, column: Column) -> Column:
        """Give a column of text its type."""
        import pyarrow as pa

        if kinds := self._left[name] if name in self._filled else ():
            return self._plain(name, column).cast(_type(kinds[0]))
        return blanked(column, spellings(())).cast(pa.string())

    def _plain(self, name: str, column: Column) -> Column:
        """Write cells without blanks and with decimal points; missing ones are missing."""
        import pyarrow.compute as pc

        column = blanked(pc.utf8_trim_whitespace(column), self._missing.get(name, ()))
        if self._decimal != ",":
            return column
        # other files have no decimal mark to tell that 5.263 is 5263
        return without_groups(with_points(column))


def _fits(column: Column, kind: str, pattern: str) -> bool:
    """Tell whether all cells can be of a type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py():
        return False
    with suppress(pa.ArrowInvalid):  # beyond int64, or no day of the calendar
        column.cast(_type(kind))
        return True
    return False


def _type(kind: str) -> Any:
    import pyarrow as pa

    return pa.timestamp("us") if kind == "timestamp" else pa.type_for_alias(kind)
