"""The labels of a table: which rows have one, and what the classes are."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import family_of, level_of, text_cells, text_of, to_numbers
from .dates import find_format
from .errors import TableError
from .kinds import check_column

Array = NDArray[Any]

MARKERS = {"?", "-", "--", ".", "na", "n/a", "nan", "none", "null", "nil", "unknown", "tbd"}
MARKERS |= {"missing", "unlabeled", "unlabelled", "-1", "-9", "-99", "-999"}
"""What people write where a label is missing, in lower case."""
MOST_NUMBERS = 100
"""More different numbers than this are a quantity."""
FEW_CLASSES = 20
"""With more classes than this, each has to have two rows on average."""


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of a table."""

    name: str
    classes: tuple[Any, ...]
    """Texts, whole numbers or booleans, sorted."""
    counts: tuple[int, ...]
    """Labeled rows of each class."""
    n_rows: int
    n_labeled: int
    codes: Array
    """The place of each row's label among `classes`, -1 where it has none."""
    spelling: tuple[str, ...] = ()
    """The classes as the table writes them: "1.0" or "TRUE" where the class is 1 or True."""
    hints: tuple[str, ...] = ()
    """What is worth saying though it is no error, a sentence each."""

    @property
    def n_unlabeled(self) -> int:
        """Rows without a label."""
        return self.n_rows - self.n_labeled


def read_target(frame: pd.DataFrame, name: str, *, unlabeled: str | None = None) -> Target:
    """Read the labels of a table.

    Parameters
    ----------
    frame : DataFrame
    name : str
        The column of the labels. A missing or blank cell is a row without a label.
    unlabeled : str, optional
        What else marks a row without a label, such as "?"; "-1" means the number as well.

    Raises
    ------
    TableError
        Where there is no such column, no label, or one class only, and where the column holds
        dates, a quantity, ids or free text.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.target import read_target
    >>> frame = pd.DataFrame({"ripe": ["yes", "?", "no", None]})
    >>> target = read_target(frame, "ripe", unlabeled="?")
    >>> target.classes, target.codes.tolist()
    (('no', 'yes'), [1, -1, 0, -1])
    """
    check_column(frame, name, "target")
    codes, cells = _different_cells(frame[name], name)
    marked = np.array([is_marker(cell, unlabeled) for cell in cells], dtype=bool)
    n_marked = int(np.count_nonzero(np.append(marked, False)[codes]))
    kept = np.flatnonzero(~marked)
    values = _as_classes([cells[k] for k in kept], name)
    classes = tuple(sorted(set(values)))
    place = np.full(len(cells) + 1, -1)  # the last place is that of the code -1
    places = {value: k for k, value in enumerate(classes)}
    place[kept] = [places[value] for value in values]
    codes = place[codes]
    n_labeled = int(np.count_nonzero(codes >= 0))
    _check_classes(name, classes, n_labeled, len(codes))
    _check_two(name, classes, n_labeled, n_marked, unlabeled)
    counts = tuple(np.bincount(codes[codes >= 0], minlength=len(classes)).tolist())
    hints = _hints(name, classes, n_marked, unlabeled)
    spelling = _spelling(frame[name], codes, classes)
    return Target(name, classes, counts, len(codes), n_labeled, codes, spelling, hints)


def has_label(values: pd.Series, unlabeled: str | None = None) -> Array:
    """Say which cells of a target hold a label, by the rules of `read_target`.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.target import has_label
    >>> has_label(pd.Series(["yes", " ", "?", None, "no"]), "?").tolist()
    [True, False, False, False, True]
    """
    codes, texts = text_cells(values, text_of)
    return np.array([not is_marker(text, unlabeled) for text in texts] + [False])[codes]


def is_marker(value: Any, unlabeled: str | None) -> bool:
    """Say whether a cell is the mark of a missing label: "-1", -1 and "-1.0" are the same mark."""
    return unlabeled is not None and level_of(value) == level_of(unlabeled)


def _spelling(values: pd.Series, codes: Array, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return how the first row of each class writes it."""
    found, first = np.unique(codes, return_index=True)
    cells = [values.iloc[row] for row in first[found >= 0]]
    return tuple(
        cell.strip() if isinstance(cell, str) else str(value)
        for cell, value in zip(cells, classes, strict=True)
    )


def _different_cells(values: pd.Series, name: str) -> tuple[Array, list[Any]]:
    """Return the place of each cell among the different ones, -1 where it is empty, and those."""
    kind = family_of(values, name)
    if kind == "number":
        codes, numbers = pd.factorize(to_numbers(values, name))
        if len(numbers) and np.abs(numbers).max() >= 2.0**53:  # floats would merge neighbours
            raise _quantity(name, len(numbers), f", such as {numbers[0]:.0f}")
        return codes, numbers.tolist()
    if kind == "boolean":
        codes, found = pd.factorize(values)
        return codes, [bool(value) for value in found]
    codes, texts = text_cells(values, text_of)
    if len(texts) and find_format(texts) != (None, False):
        raise TableError(
            f"Column {name!r} holds dates, such as {texts[0]!r}, but a target needs classes; name "
            "another column, or cut the dates into classes."
        )
    return codes, texts.tolist()


def _as_classes(cells: list[Any], name: str) -> list[Any]:
    """Turn labels into whole numbers or booleans where all of them are, text or not."""
    if not cells or isinstance(cells[0], bool):
        return cells
    if all(str(cell).lower() in ("true", "false") for cell in cells):
        return [cell.lower() == "true" for cell in cells]
    numbers = np.asarray(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
    if np.isnan(numbers).any():
        return cells
    if np.isinf(numbers).any():
        raise TableError(
            f"Column {name!r} holds {cells[int(np.isinf(numbers).argmax())]!r}, but a target needs "
            "classes; empty such cells."
        )
    if (parts := numbers[numbers != np.trunc(numbers)]).size:
        n = len(np.unique(numbers))
        raise _quantity(name, n, f", such as {parts[0].item()!r}")
    return [int(number) for number in numbers]


def _check_classes(name: str, classes: tuple[Any, ...], n_labeled: int, n_rows: int) -> None:
    """Refuse a column without labels, and one whose values are too many to be classes."""
    if not classes:
        raise TableError(
            f"Column {name!r} has no label in any of the {n_rows:,} rows; fill in some of each "
            "class, or name another column as the target."
        )
    numeric = not isinstance(classes[0], str)
    if numeric and len(classes) > MOST_NUMBERS:
        raise _quantity(name, len(classes))
    if len(classes) > FEW_CLASSES and 2 * len(classes) > n_labeled:
        if numeric:
            raise _quantity(name, len(classes))
        raise TableError(
            f"Column {name!r} holds {len(classes):,} different texts in {n_labeled:,} rows: that "
            "is an id or free text, not a class; name another column as the target."
        )


def _quantity(name: str, n: int, example: str = "") -> TableError:
    return TableError(
        f"Column {name!r} holds {n:,} different numbers{example}: that is a quantity, not a class; "
        "name another column as the target, or cut this one into classes first."
    )


def _check_two(
    name: str, classes: tuple[Any, ...], n_labeled: int, n_marked: int, unlabeled: str | None
) -> None:
    """Refuse a single class, and say where the other may be."""
    if len(classes) > 1:
        return
    if _looks_missing(classes[0]):
        why = f"; {classes[0]!r} looks like a missing label, so name the column with the labels"
    elif n_marked:
        why = f"; the other {n_marked:,} rows hold {unlabeled!r}, which was read as no label"
    else:
        why = "; fill in labels of another class, or name another column as the target"
    raise TableError(
        f"Column {name!r} has labels of one class only, {classes[0]!r} ({n_labeled:,} "
        f"row{'s' * (n_labeled > 1)}), and a classifier needs two{why}."
    )


def _looks_missing(value: Any) -> bool:
    return str(value).lower() in MARKERS and not isinstance(value, bool)


def _hints(
    name: str, classes: tuple[Any, ...], n_marked: int, unlabeled: str | None
) -> tuple[str, ...]:
    """Say what may be a slip: a marker taken for a class, or one that does not occur."""
    found = [
        f"Class {value!r} of column {name!r} looks like a missing label; if it is, give "
        f"--unlabeled {quote(str(value))}."
        for value in classes
        # -1 and 1 are a usual pair of classes
        if _looks_missing(value) and (isinstance(value, str) or len(classes) > 2)
    ]
    if unlabeled is not None and not n_marked:
        found.append(f"No cell of column {name!r} is {unlabeled!r}, the mark of a missing label.")
    return tuple(found)
