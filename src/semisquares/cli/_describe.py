"""Describe in words what was found in a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .._utils.words import counted
from ..tables.columns import COLUMN_TYPES, Column
from ..tables.columns.excluded import REASONS
from ..tables.dataset import TableInfo
from ..tables.models import TableModel
from ._output import Output
from ._parameters import in_options

_SHOWN = 6


def describe(output: Output, prepared: TableInfo) -> None:
    """Print the numbers of rows and labels, the columns used, and why others are left out."""
    target = prepared.target
    counts = ", ".join(
        f"{name} {count:,}" for name, count in zip(target.classes, target.counts, strict=True)
    )
    labels = f"{target.n_labeled:,} with a label in {target.name!r}"
    labels += f" ({counts})" if counts else ""
    output.info(
        f"{prepared.source}: {counted(target.n_rows, 'row')}, {labels}, {target.n_unlabeled:,} "
        "without"
    )
    output.info(f"  {used(prepared.columns)}")
    if prepared.n_groups is not None:
        output.info(f"  {prepared.n_groups:,} groups by {prepared.group!r}")
    left_out = _left_out(prepared.columns)
    for line in left_out[:_SHOWN]:
        output.info(f"  {line}")
    if len(left_out) > _SHOWN:
        output.info(f"  left out: {len(left_out) - _SHOWN} more; --json lists them")
    for note in prepared.notes:
        output.warn(note)
    output.info()


def used(columns: tuple[Column, ...]) -> str:
    """Return how many columns of each type are used, and how many cells are missing.

    Examples
    --------
    >>> from semisquares.tables.columns import Column
    >>> used((Column("age", "number", "", 3, 40, "17", None),))
    '1 column is used: 1 number; 3 missing cells are filled'
    """
    taken = [column for column in columns if column.used]
    kinds = Counter(column.kind for column in taken)
    counts = ", ".join(
        counted(kinds[kind], kind, column_type.plural)
        for kind, column_type in COLUMN_TYPES.items()
        if kinds[kind]
    )
    missing = sum(column.n_missing for column in taken)
    verb = "is" if len(taken) == 1 else "are"
    filled = f"{counted(missing, 'missing cell')} {'is' if missing == 1 else 'are'} filled"
    return f"{counted(len(taken), 'column')} {verb} used: {counts}; {filled}"


def listed(columns: tuple[Column, ...]) -> list[str]:
    """List the columns by type, then those that are left out, each with its reason.

    Examples
    --------
    >>> from semisquares.tables.columns import Column
    >>> age, town = (Column(name, "number", "", 0, 9, "1", None) for name in ("age", "town"))
    >>> listed((age, town, Column("key", "id", "a row number", 0, 9, "1", None)))
    ['numbers: age, town', 'left out: key, an id (a row number)']
    """
    lines = []
    for kind, column_type in COLUMN_TYPES.items():
        if names := [column.name for column in columns if column.used and column.kind == kind]:
            lines.append(f"{column_type.plural}: {', '.join(names)}")
    return lines + _left_out(columns)


def _left_out(columns: tuple[Column, ...]) -> list[str]:
    return [f"left out: {column.name}, {why(column)}" for column in columns if not column.used]


def why(column: Column) -> str:
    """Return why a column is left out.

    Examples
    --------
    >>> why(Column("filled", "dropped", "it marks the labels that were filled in by a model"))
    'it marks the labels that were filled in by a model'
    >>> why(Column("nr", "id", "it counts the rows"))
    'an id (it counts the rows)'
    """
    what, reason = REASONS.get(column.kind, ""), in_options(column.reason)
    return f"{what} ({reason})" if what and reason else what or reason


def describe_point(model: TableModel) -> dict[str, Any] | None:
    """Return the operating point of a model for JSON; None if it has none."""
    point = model.operating_point
    return None if point is None else point.as_dict(model.classes)


def facts(prepared: TableInfo) -> dict[str, Any]:
    """Return the description for JSON."""
    target = prepared.target
    return {
        "source": prepared.source,
        "target": target.name,
        "group": prepared.group,
        "rows": target.n_rows,
        "labeled": target.n_labeled,
        "classes": list(target.classes),
        "counts": list(target.counts),
        "columns": [
            {"name": c.name, "kind": c.kind, "reason": c.reason, "missing": c.n_missing}
            for c in prepared.columns
        ],
    }
