"""Columns as Arrow has them, brought to the few types that tables have here.

Whole numbers, numbers, booleans, moments and text; missing cells are null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import TableError

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None")
"""Cells that are no value, in columns of features."""
NO_LABEL = tuple(word for word in MISSING if word not in ("", "None"))
"""Cells that are no label, besides empty ones: None may be a class, as in None, Minor, Major."""

Column = Any  # pyarrow.ChunkedArray; pyarrow has no types to check

_DECIMAL_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*)$"
_GROUPED_POINTS = r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?"
_GROUPED_COMMAS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
_BLANK = "[\\s\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]*"
_WITH_COMMAS = (  # 1,5 and 1.234,5 with what `amounts` knows beside them; 5.26 is no number
    rf"^{_BLANK}\(?{_BLANK}[+-]?{_BLANK}[$€£¥]?{_BLANK}\(?{_BLANK}[+-]?{_BLANK}"
    rf"(?:{_GROUPED_POINTS}|[0-9]*[.,][0-9]+(?:[eE][+-]?[0-9]+)?)"
    rf"{_BLANK}[$€£¥%]?{_BLANK}\)?{_BLANK}\)?{_BLANK}$"
)


@dataclass(frozen=True)
class Missing:
    """How missing cells are written: in columns of features, and in those of labels."""

    more: tuple[str, ...] = ()
    """What the user has named besides."""
    labels: frozenset[str] = frozenset()
    """Columns whose words stay, but for these: which of them are no label is not decided here."""

    @property
    def words(self) -> list[str]:
        """The spellings in columns of features."""
        return spellings((*MISSING, *self.more))

    def of(self, name: str) -> list[str]:
        """Return the spellings in a column."""
        return spellings(self.more) if name in self.labels else self.words


def spellings(words: Iterable[str]) -> list[str]:
    """List how a missing cell may be written, with a blank on either side or not."""
    words = dict.fromkeys(("", *(word.strip() for word in words)))
    padded = [
        before + word + after for word in words for before in ("", " ") for after in ("", " ")
    ]
    blanks = [" " * n for n in range(3, 9)]
    return list(dict.fromkeys([*padded, *blanks]))


def plain(column: Column, name: str, where: str) -> Column:
    """Cast a column to int64, float64, bool, timestamp, string or null."""
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return plain(column.cast(kind.value_type), name, where)
    if types.is_integer(kind):
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.int64())
        return column.cast(pa.float64(), safe=False)  # beyond int64
    if types.is_floating(kind) or types.is_decimal(kind):
        return column.cast(pa.float64())
    if types.is_timestamp(kind):
        return column.cast(pa.timestamp(kind.unit))  # with a zone: what clocks show in UTC
    if types.is_date(kind):
        return column.cast(pa.timestamp("s" if types.is_date32(kind) else "ms"))
    if types.is_duration(kind):
        return _seconds(column)
    if types.is_binary(kind) or types.is_large_binary(kind):
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.string())
    if types.is_string_view(kind) or types.is_time(kind):
        return column.cast(pa.string())
    if is_text(kind) or types.is_boolean(kind) or types.is_null(kind):
        return column
    raise TableError(
        f"{where} has cells of the type {kind} in column {name!r}; a cell has to be a number, a "
        "text, a date or true/false, so leave the column out of the file or split it up."
    )


def is_text(kind: Any) -> bool:
    """Tell whether cells are text."""
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def as_text(column: Column) -> Column:
    """Write the cells of a column of one of these types as text; NaN is a missing cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column.cast(pa.large_string())


def common_type(kinds: Sequence[Any]) -> Any:
    """Return the type that holds the cells of a column of several files."""
    import pyarrow as pa

    kinds = [kind for kind in dict.fromkeys(kinds) if not pa.types.is_null(kind)]
    if len(kinds) <= 1:
        return kinds[0] if kinds else pa.null()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    if all(pa.types.is_timestamp(kind) for kind in kinds):
        return pa.timestamp("us")
    return pa.large_string()


def blanked(column: Column, words: Sequence[str]) -> Column:
    """Make the cells missing that are spelled like it; numbers too, if a spelling is a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        found = pc.is_in(column, value_set=pa.array(words, column.type))
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        marks = _as_numbers(words)
        if not len(marks):
            return column
        found = pc.is_in(column.cast(pa.float64(), safe=False), value_set=marks)
    else:
        return column
    if not pc.any(found).as_py():
        return column
    return pc.if_else(found, pa.scalar(None, column.type), column)


def with_points(column: Column, *, label: bool = False) -> Column:
    """Exchange points and commas in text that is a number of a table with decimal commas.

    So 1.234,5 is 1,234.5, and 5.26, which is no number there, is 5,26 and none here. The points of
    a label stay: it is to be written as it was read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.chunked_array([["1,5", "5.263", "1.234,5 €", "31.12.2020", "a, b."]])
    >>> with_points(column).to_pylist()
    ['1.5', '5,263', '1,234.5 €', '31.12.2020', 'a, b.']
    """
    import pyarrow.compute as pc

    if not is_text(column.type):
        return column
    if label:
        return pc.replace_substring_regex(column, _DECIMAL_COMMA, r"\1.\2")
    found = pc.match_substring_regex(column, _WITH_COMMAS)
    if not pc.any(found).as_py():
        return column
    exchanged = column
    for old, new in ((",", "\0"), (".", ","), ("\0", ".")):
        exchanged = pc.replace_substring(exchanged, old, new)
    return pc.if_else(found, exchanged, column)


def without_groups(column: Column) -> Column:
    """Leave out the commas between the thousands of text that is a number."""
    import pyarrow.compute as pc

    grouped = pc.match_substring_regex(column, _GROUPED_COMMAS)
    return pc.if_else(grouped, pc.replace_substring(column, ",", ""), column)


def numbers_or_text(column: Column) -> Column:
    """Turn text into numbers where all cells are numbers; else leave it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column.type):
        return column
    with suppress(pa.ArrowInvalid):
        return column.cast(pa.float64())
    with suppress(pa.ArrowInvalid):
        return pc.utf8_trim_whitespace(column).cast(pa.float64())
    with suppress(pa.ArrowInvalid):
        return column.cast(pa.int64()).cast(pa.float64(), safe=False)  # 0x1F, as `read` takes it
    return column


def to_pandas(table: Any) -> Any:
    """Hand the columns of a table to pandas, and free them here as they go."""
    import pyarrow as pa

    schema = pa.schema(  # pandas' own way to say that nothing is there is NaN
        field.with_type(pa.float64()) if pa.types.is_null(field.type) else field
        for field in table.schema
    )
    if schema != table.schema:
        table = table.cast(schema)
    return table.to_pandas(split_blocks=True, self_destruct=True, ignore_metadata=True)


def _seconds(column: Column) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    return pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), float(per_second))


def _as_numbers(words: Iterable[str]) -> Any:
    import pyarrow as pa

    numbers = []
    for word in words:
        with suppress(ValueError):
            numbers.append(float(word))
    return pa.array([number for number in numbers if number == number], pa.float64())
