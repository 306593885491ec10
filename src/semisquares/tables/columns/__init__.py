"""Column types, one file each. A new type is a file here and an entry in `COLUMN_TYPES`."""

from ._protocol import Column, ColumnType, Encoder, Feature, Profile
from .boolean import BooleanType
from .category import CategoryType
from .date import DateType
from .excluded import TITLES
from .number import NumberType
from .text import TextType

__all__ = [
    "COLUMN_TYPES",
    "Column",
    "ColumnType",
    "Encoder",
    "Feature",
    "Profile",
    "kind_titles",
    "most_specific_first",
]

COLUMN_TYPES: dict[str, ColumnType] = {
    one.name: one for one in (NumberType(), CategoryType(), BooleanType(), DateType(), TextType())
}
"""By name, in the order of their features in the encoded matrix."""


def most_specific_first() -> list[ColumnType]:
    """Return the column types in the order in which they may accept a column of text."""
    return sorted(COLUMN_TYPES.values(), key=lambda one: one.takes_the_rest)


def kind_titles() -> dict[str, str]:
    """Return what the report calls each column type, and each kind that is left out."""
    return {name: one.title for name, one in COLUMN_TYPES.items()} | TITLES
