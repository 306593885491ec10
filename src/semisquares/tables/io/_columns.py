"""Columns as Arrow holds them, brought to the few types that tables have here.

Whole numbers, numbers, booleans, timestamps and text; missing cells are null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._numbers import BLANKS, EXPONENT, SIGN, amount, fraction, grouped
from ..errors import TableError

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None")
"""Cells that mean a missing value, in columns of features."""
NO_LABEL = tuple(word for word in MISSING if word not in ("", "None"))
"""Cells that mean a missing label, besides empty ones.

None is not among them, as it may be a class: None, Minor, Major.
"""

Column = Any  # pyarrow.ChunkedArray; pyarrow has no types to check

_DECIMAL_COMMA = rf"^({BLANKS}{SIGN}[0-9]*),([0-9]+{EXPONENT}{BLANKS})$"
_WITH_MARK = f"(?:{grouped(',')}|(?:{fraction(',')}|{fraction()}){EXPONENT})"
"""Numbers with decimal commas that hold a mark; 5.26 as well, which is not a number there."""
_MARKS_TO_SWAP = f"^{amount(_WITH_MARK)}$"
_GROUPED = f"^{SIGN}{grouped()}$"


@dataclass(frozen=True)
class MissingWords:
    """How missing cells are written: in columns of features, and in those of labels."""

    more: tuple[str, ...] = ()
    """Words that the user has named, besides `MISSING`."""
    labels: frozenset[str] = frozenset()
    """Columns of labels: only empty cells and `more` are missing there."""

    @property
    def words(self) -> list[str]:
        """The spellings in columns of features."""
        return spellings((*MISSING, *self.more))

    def of(self, name: str) -> list[str]:
        """Return the spellings in a column."""
        return spellings(self.more) if name in self.labels else self.words


def spellings(words: Iterable[str]) -> list[str]:
    """List how a missing cell may be written: empty or a word, with or without blanks around it."""
    words = dict.fromkeys(("", *(word.strip() for word in words)))
    padded = [
        before + word + after for word in words for before in ("", " ") for after in ("", " ")
    ]
    blanks = [" " * n for n in range(3, 9)]
    return list(dict.fromkeys([*padded, *blanks]))


# -- types -----------------------------------------------------------------------------------------


def to_plain_type(column: Column, name: str, where: str) -> Column:
    """Cast a column to int64, float64, bool, timestamp, string or null.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
    name, where : str
        The names of the column and of its file, for the message of a TableError.
    """
    import pyarrow as pa

    type, types = column.type, pa.types
    if types.is_dictionary(type):
        return to_plain_type(column.cast(type.value_type), name, where)
    if types.is_integer(type):
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.int64())
        return column.cast(pa.float64(), safe=False)  # beyond int64
    if types.is_floating(type) or types.is_decimal(type):
        return column.cast(pa.float64())
    if types.is_timestamp(type):
        return column.cast(pa.timestamp(type.unit))  # with a time zone: the time in UTC
    if types.is_date(type):
        return column.cast(pa.timestamp("s" if types.is_date32(type) else "ms"))
    if types.is_duration(type):
        return _seconds(column)
    if types.is_binary(type) or types.is_large_binary(type):
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.string())
    if types.is_string_view(type) or types.is_time(type):
        return column.cast(pa.string())
    if is_text(type) or types.is_boolean(type) or types.is_null(type):
        return column
    raise TableError(
        f"{where} has cells of the type {type} in column {name!r}; a cell has to be a number, a "
        "text, a date or true/false, so leave the column out of the file or split it up.",
        code="column_type",
    )


def plain_table(
    table: Any,
    text: Collection[str],
    missing: MissingWords,
    where: str,
    types: Mapping[str, Any] | None = None,
) -> Any:
    """Bring a table of stored types to plain ones; see `Reader.read`.

    Numbers of a chunk become `types`, those of the whole file, if these are given.
    """
    import pyarrow as pa

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        column = to_plain_type(column, name, where)
        if types is not None and not is_text(types[name]):
            column = column.cast(types[name], safe=False)
        column = as_text(column) if name in text else column
        columns.append(mark_missing(column, missing.of(name)))
    return pa.Table.from_arrays(columns, names=table.column_names)


def is_text(type: Any) -> bool:
    """Tell whether cells of a type are text."""
    import pyarrow as pa

    return pa.types.is_string(type) or pa.types.is_large_string(type)


def as_text(column: Column) -> Column:
    """Write the cells of a column of a plain type as text; NaN is a missing cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column.cast(pa.large_string())


def common_type(types: Sequence[Any]) -> Any:
    """Return the type that holds the cells of a column of several files."""
    import pyarrow as pa

    types = [type for type in dict.fromkeys(types) if not pa.types.is_null(type)]
    if len(types) <= 1:
        return types[0] if types else pa.null()
    if all(pa.types.is_integer(type) or pa.types.is_floating(type) for type in types):
        return pa.float64()
    if all(pa.types.is_timestamp(type) for type in types):
        return pa.timestamp("us")
    return pa.large_string()


# -- cells -----------------------------------------------------------------------------------------


def mark_missing(column: Column, words: Sequence[str]) -> Column:
    """Make cells null that are spelled like missing ones; numbers too, if a word is a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        found = pc.is_in(column, value_set=pa.array(words, column.type))
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        numbers = _as_numbers(words)
        if not len(numbers):
            return column
        found = pc.is_in(column.cast(pa.float64(), safe=False), value_set=numbers)
    else:
        return column
    if not pc.any(found).as_py():
        return column
    return pc.if_else(found, pa.scalar(None, column.type), column)


def swap_marks(column: Column, *, label: bool = False) -> Column:
    """Exchange points and commas in text that is a number of a table with decimal commas.

    So 1.234,5 becomes 1,234.5, and 5.26, which is not a number there, becomes 5,26, which is not a
    number here. The points of a label stay, as it is written later as it was read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.chunked_array([["1,5", "5.263", "1.234,5 €", "31.12.2020", "a, b."]])
    >>> swap_marks(column).to_pylist()
    ['1.5', '5,263', '1,234.5 €', '31.12.2020', 'a, b.']
    """
    import pyarrow.compute as pc

    if not is_text(column.type):
        return column
    if label:
        return pc.replace_substring_regex(column, _DECIMAL_COMMA, r"\1.\2")
    found = pc.match_substring_regex(column, _MARKS_TO_SWAP)
    if not pc.any(found).as_py():
        return column
    swapped = column
    for old, new in ((",", "\0"), (".", ","), ("\0", ".")):
        swapped = pc.replace_substring(swapped, old, new)
    return pc.if_else(found, swapped, column)


def without_groups(column: Column) -> Column:
    """Remove the commas between thousands from text that is a number."""
    import pyarrow.compute as pc

    found = pc.match_substring_regex(column, _GROUPED)
    return pc.if_else(found, pc.replace_substring(column, ",", ""), column)


def numbers_or_text(column: Column) -> Column:
    """Turn text into numbers if all cells are numbers; otherwise leave it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column.type):
        return column
    with suppress(pa.ArrowInvalid):
        return column.cast(pa.float64())
    with suppress(pa.ArrowInvalid):
        return pc.utf8_trim_whitespace(column).cast(pa.float64())
    with suppress(pa.ArrowInvalid):
        return column.cast(pa.int64()).cast(pa.float64(), safe=False)  # 0x1F, which `read` reads
    return column


def to_pandas(table: Any) -> Any:
    """Convert a table to pandas, freeing each Arrow column on the way."""
    import pyarrow as pa

    schema = pa.schema(  # in pandas, an empty column is NaN
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
