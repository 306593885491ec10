"""The labels of a table: which rows have one, and what the classes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import family_of, level_of, text_cells, text_of, to_numbers
from .dates import find_format
from .errors import TableError
from .formats.columns import NO_LABEL
from .hints import check_classes, check_two, free_text, hints_of, quantity
from .tallies import Tally
from .wishes import check_column

Array = NDArray[Any]


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
    """The place of each row's label among `classes`, -1 where it has none.

    Empty where the table is read in parts.
    """
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
    check_column(frame.columns, name, "target")
    codes, cells = _different_cells(frame[name], name, as_levels)
    look = _known(frame[name], name, codes, cells)
    labels = decide_target(look, name, unlabeled=unlabeled, as_levels=as_levels)
    return replace(labels.target, codes=labels.places(cells)[codes])


@dataclass(frozen=True, eq=False)
class TargetLook:
    """What is known of the cells of a target, or of some of its rows."""

    family: str
    """It says nothing where no cell is filled."""
    n_rows: int
    n_filled: int
    cells: Tally

    def merge(self, other: TargetLook) -> TargetLook:
        """Return what is known of both."""
        n_rows = self.n_rows + other.n_rows
        if not self.n_filled or not other.n_filled:
            return replace(self if self.n_filled else other, n_rows=n_rows)
        cells = self.cells.merge(other.cells)
        return TargetLook(self.family, n_rows, self.n_filled + other.n_filled, cells)


def look_at_target(
    values: pd.Series, name: str, *, as_levels: bool = False, start: int = 0
) -> TargetLook:
    """Look at cells of a target, the first of which is in row `start` of the table."""
    return _known(values, name, *_different_cells(values, name, as_levels), start)


def _known(values: pd.Series, name: str, codes: Array, cells: Array, start: int = 0) -> TargetLook:
    n_filled = int(np.count_nonzero(codes >= 0))
    return TargetLook(family_of(values, name), len(codes), n_filled, Tally.of(codes, cells, start))


@dataclass(frozen=True, eq=False)
class Labels:
    """A target whose classes are decided, and which class each cell is."""

    target: Target
    """Without its codes."""
    known: Mapping[Any, int]
    """The place of each cell's class among the classes, if it is a label."""
    as_levels: bool

    def codes_of(self, values: pd.Series) -> Array:
        """Return the codes of some rows."""
        codes, cells = _different_cells(values, self.target.name, self.as_levels)
        return self.places(cells)[codes]

    def places(self, cells: Array) -> Array:
        """Return the codes of different cells, and at the end that of an empty one."""
        return np.array([self.known.get(cell, -1) for cell in cells.tolist()] + [-1])


def decide_target(
    look: TargetLook, name: str, *, unlabeled: str | None = None, as_levels: bool = False
) -> Labels:
    """Decide what the classes are by what is known of a target; as in `read_target`."""
    cells = look.cells.values.tolist()
    _check_known(look, name, as_levels)
    marked = [is_marker(cell, unlabeled) for cell in cells]
    marks = _counted(look.cells, marked)
    kept = [k for k in range(len(cells)) if not marked[k]]
    labels = [cells[k] for k in kept]
    values = [level_of(cell) for cell in labels] if as_levels else _as_classes(labels, name)
    classes = tuple(sorted(set(values)))
    places = {value: k for k, value in enumerate(classes)}
    codes = np.array([places[value] for value in values], dtype=np.int64)
    counts = np.zeros(len(classes), dtype=np.int64)
    np.add.at(counts, codes, look.cells.counts[kept])
    n_labeled = int(counts.sum())
    check_classes(name, classes, n_labeled, look.n_rows)
    check_two(name, classes, n_labeled, marks, unlabeled)
    target = Target(
        name,
        classes,
        tuple(counts.tolist()),
        look.n_rows,
        n_labeled,
        np.empty(0, dtype=np.int64),
        _spelling(labels, values, classes),
        hints_of(name, classes, marks, unlabeled),
    )
    return Labels(target, dict(zip(labels, codes.tolist(), strict=True)), as_levels)


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


def _counted(cells: Tally, marked: Sequence[bool]) -> Counter[str]:
    """Count the rows of each mark of a missing label."""
    found: Counter[str] = Counter()
    for cell, n, is_mark in zip(cells.values.tolist(), cells.counts.tolist(), marked, strict=True):
        if is_mark:
            found[level_of(cell)] += n
    return found


def _spelling(cells: list[Any], values: list[Any], classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return how the first row of each class writes it; the cells are in the order of the rows."""
    first: dict[Any, Any] = {}
    for cell, value in zip(cells, values, strict=True):
        first.setdefault(value, cell)
    spelled = ((first[value], value) for value in classes)
    return tuple(cell if isinstance(cell, str) else str(value) for cell, value in spelled)


def _different_cells(values: pd.Series, name: str, as_levels: bool) -> tuple[Array, Array]:
    """Return the place of each cell among the different ones, -1 where it is empty, and those."""
    kind = family_of(values, name)
    if as_levels:
        return text_cells(values, text_of)
    if kind == "number":
        return pd.factorize(to_numbers(values, name))
    if kind == "boolean":
        codes, found = pd.factorize(values)
        return codes, np.asarray(found, dtype=bool)
    return text_cells(values, text_of)


def _check_known(look: TargetLook, name: str, as_levels: bool) -> None:
    """Refuse numbers that floats would merge, and more values than are kept apart."""
    cells, number = look.cells, look.family == "number" and not as_levels
    if number and look.n_filled and np.abs(cells.values).max() >= 2.0**53:
        raise quantity(name, cells.n_distinct, f", such as {cells.values[0]:.0f}")
    if not cells.complete:
        raise (
            quantity(name, cells.n_distinct)
            if number
            else free_text(name, cells.n_distinct, look.n_filled)
        )


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
        raise quantity(name, n, f", such as {parts[0].item()!r}")
    return [int(number) for number in numbers]
