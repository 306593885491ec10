"""The labels of a table: which rows have one, and what the classes are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import family_of, level_of, text_cells, text_of, to_numbers
from .dates import find_format
from .errors import TableError
from .formats.columns import NO_LABEL
from .wishes import check_column

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


def read_target(
    frame: pd.DataFrame, name: str, *, unlabeled: str | None = None, as_levels: bool = False
) -> Target:
    """Read the labels of a table.

    An empty or blank cell is a row without a label, and so is the text NA, N/A, n/a, #N/A, NaN,
    nan, null or NULL, which a hint tells; the text None is a class like any other.

    Parameters
    ----------
    frame : DataFrame
    name : str
        The column of the labels.
    unlabeled : str, optional
        What else marks a row without a label, such as "?"; "-1" means the number as well.
    as_levels : bool, default=False
        Take each value as a class, be it a fraction or a date.

    Raises
    ------
    TableError
        Where there is no such column, no label, or one class only, and where the column holds
        dates, a quantity, ids or free text.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.target import read_target
    >>> frame = pd.DataFrame({"damage": ["Minor", "?", "None", None, "NA"]})
    >>> target = read_target(frame, "damage", unlabeled="?")
    >>> target.classes, target.codes.tolist()
    (('Minor', 'None'), [0, -1, 1, -1, -1])
    """
    check_column(frame, name, "target")
    codes, cells = _different_cells(frame[name], name, as_levels)
    marked = np.array([is_marker(cell, unlabeled) for cell in cells], dtype=bool)
    marks = _counted(codes, cells, marked)
    kept = np.flatnonzero(~marked)
    values = [cells[k] for k in kept] if as_levels else _as_classes([cells[k] for k in kept], name)
    classes = tuple(sorted(set(values)))
    place = np.full(len(cells) + 1, -1)  # the last place is that of the code -1
    places = {value: k for k, value in enumerate(classes)}
    place[kept] = [places[value] for value in values]
    codes = place[codes]
    n_labeled = int(np.count_nonzero(codes >= 0))
    _check_classes(name, classes, n_labeled, len(codes))
    _check_two(name, classes, n_labeled, marks, unlabeled)
    counts = tuple(np.bincount(codes[codes >= 0], minlength=len(classes)).tolist())
    hints = _hints(name, classes, marks, unlabeled)
    spelling = _spelling(frame[name], codes, classes)
    return Target(name, classes, counts, len(codes), n_labeled, codes, spelling, hints)


def has_label(values: pd.Series, unlabeled: str | None = None) -> Array:
    """Say which cells of a target hold a label, by the rules of `read_target`.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.target import has_label
    >>> has_label(pd.Series(["None", " ", "?", None, "no", "NA"]), "?").tolist()
    [True, False, False, False, True, False]
    """
    codes, texts = text_cells(values, text_of)
    return np.array([not is_marker(text, unlabeled) for text in texts] + [False])[codes]


def is_marker(value: Any, unlabeled: str | None) -> bool:
    """Say whether a cell is the mark of a missing label: "-1", -1 and "-1.0" are the same mark."""
    if isinstance(value, str) and value in NO_LABEL:
        return True
    return unlabeled is not None and level_of(value) == level_of(unlabeled)


def marker_column(target: str) -> str:
    """Name the column that marks the labels which a model has filled in.

    Examples
    --------
    >>> marker_column("ripe")
    'ripe_filled'
    """
    return f"{target}_filled"


def _counted(codes: Array, cells: Sequence[Any], marked: Array) -> Counter[str]:
    """Count the rows of each mark of a missing label."""
    counts = np.bincount(codes[codes >= 0], minlength=len(cells))
    found: Counter[str] = Counter()
    for k in np.flatnonzero(marked).tolist():
        found[level_of(cells[k])] += int(counts[k])
    return found


def _spelling(values: pd.Series, codes: Array, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return how the first row of each class writes it."""
    found, first = np.unique(codes, return_index=True)
    cells = [values.iloc[row] for row in first[found >= 0]]
    return tuple(
        cell.strip() if isinstance(cell, str) else str(value)
        for cell, value in zip(cells, classes, strict=True)
    )


def _different_cells(values: pd.Series, name: str, as_levels: bool) -> tuple[Array, list[Any]]:
    """Return the place of each cell among the different ones, -1 where it is empty, and those."""
    kind = family_of(values, name)
    if as_levels:
        codes, texts = text_cells(values, level_of)
        return codes, texts.tolist()
    if kind == "number":
        codes, numbers = pd.factorize(to_numbers(values, name))
        if len(numbers) and np.abs(numbers).max() >= 2.0**53:  # floats would merge neighbours
            raise _quantity(name, len(numbers), f", such as {numbers[0]:.0f}")
        return codes, numbers.tolist()
    if kind == "boolean":
        codes, found = pd.factorize(values)
        return codes, [bool(value) for value in found]
    codes, texts = text_cells(values, text_of)
    return codes, texts.tolist()


def _as_classes(cells: list[Any], name: str) -> list[Any]:
    """Turn labels into whole numbers or booleans where all of them are, text or not."""
    if not cells or isinstance(cells[0], bool):
        return cells
    if isinstance(cells[0], str) and find_format(np.array(cells, dtype=object)) != (None, False):
        raise TableError(
            f"Column {name!r} holds dates, such as {cells[0]!r}, but a target needs classes; name "
            "another column, or cut the dates into classes."
        )
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
    levels = f", or say --kind {quote(f'{name}=category')} if each of them is a class"
    return TableError(
        f"Column {name!r} holds {n:,} different numbers{example}: that is a quantity, not a class; "
        f"name another column as the target, or cut this one into classes first"
        f"{levels if n <= FEW_CLASSES else ''}."
    )


def _check_two(
    name: str,
    classes: tuple[Any, ...],
    n_labeled: int,
    marks: Mapping[str, int],
    unlabeled: str | None,
) -> None:
    """Refuse a single class, and say where the other may be."""
    if len(classes) > 1:
        return
    if _looks_missing(classes[0]):
        why = f"; {classes[0]!r} looks like a missing label, so name the column with the labels"
    elif marks:
        listed = " and ".join(f"{mark!r} in {n:,} row{'s' * (n > 1)}" for mark, n in marks.items())
        why = f"; {listed} was read as no label"
        why += "" if unlabeled else ", so spell it otherwise if it is a class"
    else:
        why = "; fill in labels of another class, or name another column as the target"
    raise TableError(
        f"Column {name!r} has labels of one class only, {classes[0]!r} ({n_labeled:,} "
        f"row{'s' * (n_labeled > 1)}), and a classifier needs two{why}."
    )


def _looks_missing(value: Any) -> bool:
    return str(value).lower() in MARKERS and not isinstance(value, bool)


def _hints(
    name: str, classes: tuple[Any, ...], marks: Mapping[str, int], unlabeled: str | None
) -> tuple[str, ...]:
    """Say what may be a slip: a mark taken for a class, a class for a mark, two spellings."""
    found = [
        f"Class {value!r} of column {name!r} looks like a missing label; if it is, give "
        f"--unlabeled {quote(str(value))}."
        for value in classes
        # -1 and 1 are a usual pair of classes
        if _looks_missing(value) and (isinstance(value, str) or len(classes) > 2)
    ]
    asked = None if unlabeled is None else level_of(unlabeled)
    found += [
        f"{n:,} cell{'s' * (n > 1)} of column {name!r} say{'s' * (n == 1)} {word!r}, which is read "
        "as no label; spell it otherwise if it is a class."
        for word, n in marks.items()
        if word != asked
    ]
    if asked is not None and asked not in marks:
        found.append(f"No cell of column {name!r} is {unlabeled!r}, the mark of a missing label.")
    return (*found, *_spelled_alike(name, classes))


def _spelled_alike(name: str, classes: tuple[Any, ...]) -> list[str]:
    """Say which classes differ in capital letters or blanks alone."""
    alike = defaultdict(list)
    for value in classes:
        alike[" ".join(str(value).casefold().split())].append(repr(value))
    return [
        f"Classes {' and '.join(same)} of column {name!r} differ in capital letters or blanks "
        "alone; spell them alike if they are the same."
        for same in alike.values()
        if len(same) > 1
    ]
