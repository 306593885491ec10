"""Checks of the options that name columns and column types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .._utils.words import did_you_mean
from .errors import TableError


def check_column(
    columns: Collection[str], name: str, role: str = "", where: str = "The table"
) -> None:
    """Raise TableError, with the closest name, if a table has no such column."""
    if name in columns:
        return
    names = list(columns)
    listed = ", ".join(map(repr, names[:20])) + ", …" * (len(names) > 20)
    hint = did_you_mean(name, names, f"its columns are {listed}.", cutoff=0.5)
    role = role and f" for the {role}"
    raise TableError(f"{where} has no column {name!r}{role}; {hint}", code="unknown_column")


def check_column_options(
    columns: Iterable[str],
    kinds: Mapping[str, str],
    drop: Collection[str],
    known: Sequence[str],
) -> None:
    """Raise TableError if an option names a column or a column type that does not exist."""
    names = dict.fromkeys(columns)
    for name in drop:
        check_column(names, name, "columns to leave out")
    for name, kind in kinds.items():
        check_column(names, name, "kinds of columns")
        if kind not in known:
            hint = did_you_mean(kind, known, f"choose from {', '.join(known)}.")
            raise TableError(
                f"Column {name!r} cannot be of kind {kind!r}; {hint}", code="unknown_kind"
            )
