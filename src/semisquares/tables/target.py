"""The labels of a table: which rows have one, what the classes are, and likely mistakes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._utils.messages import Message, Parameter
from .._utils.typing import Array
from .._utils.words import counted
from ._options import check_column
from .columns._cells import factorize_texts, level_of, storage_type, text_of
from .columns._counts import ValueCounts
from .columns._numerals import parse_floats
from .columns.date import are_dates
from .columns.number import to_numbers
from .errors import TableError
from .io import NO_LABEL

_MARKERS = {"?", "-", "--", ".", "na", "n/a", "nan", "none", "null", "nil", "unknown", "tbd"}
_MARKERS |= {"missing", "unlabeled", "unlabelled", "-1", "-9", "-99", "-999"}
"""Common marks of a missing label, in lower case."""
_MOST_NUMBERS = 100
"""More different numbers than this are a quantity."""
_FEW_CLASSES = 20
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
    """The position of each row's label in `classes`, -1 if it has none.

    Empty if the table is read in chunks.
    """
    spelling: tuple[str, ...] = ()
    """The classes as the table writes them: "1.0" or "TRUE" if the class is 1 or True."""
    hints: tuple[str, ...] = ()
    """Likely mistakes, a sentence each."""

    @property
    def n_unlabeled(self) -> int:
        """Rows without a label."""
        return self.n_rows - self.n_labeled


def read_target(
    frame: pd.DataFrame,
    name: str,
    *,
    unlabeled: str | None = None,
    as_levels: bool = False,
    min_classes: int = 2,
) -> Target:
    """Read the labels of a table.

    A row has no label if its cell is empty or blank, or the text NA, N/A, n/a, #N/A, NaN, nan, null
    or NULL; a hint reports such texts. The text None is a class like any other.

    Parameters
    ----------
    frame : DataFrame
    name : str
        The column of the labels.
    unlabeled : str, optional
        What else marks a row without a label, such as "?"; "-1" means the number as well.
    as_levels : bool, default=False
        Take each value as a class, even fractions and dates.
    min_classes : int, default=2
        The number of classes that the labels must have; 0 if there may be no label yet.

    Raises
    ------
    TableError
        If there is no such column, no label, or only one class, or if the column holds dates, a
        quantity, identifiers or free text.

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
    codes, cells = _factorize(frame[name], name, as_levels)
    profile = _profile(frame[name], name, codes, cells)
    labels = infer_target(
        profile, name, unlabeled=unlabeled, as_levels=as_levels, min_classes=min_classes
    )
    return replace(labels.target, codes=labels.codes_of_cells(cells)[codes])


# -- profile and infer ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetProfile:
    """What is known about a target, or about a chunk of it, before the classes are decided."""

    storage: str
    """As `storage_type` returns it; meaningless if the column is empty."""
    n_rows: int
    n_filled: int
    cells: ValueCounts

    def merge(self, other: TargetProfile) -> TargetProfile:
        """Return the profile of both chunks."""
        n_rows = self.n_rows + other.n_rows
        if not self.n_filled or not other.n_filled:
            return replace(self if self.n_filled else other, n_rows=n_rows)
        cells = self.cells.merge(other.cells)
        return TargetProfile(self.storage, n_rows, self.n_filled + other.n_filled, cells)


def profile_target(
    values: pd.Series, name: str, *, as_levels: bool = False, start: int = 0
) -> TargetProfile:
    """Profile cells of a target, the first of which is in row `start` of the table."""
    return _profile(values, name, *_factorize(values, name, as_levels), start)


def _profile(
    values: pd.Series, name: str, codes: Array, cells: Array, start: int = 0
) -> TargetProfile:
    storage, n_filled = storage_type(values, name), int(np.count_nonzero(codes >= 0))
    return TargetProfile(storage, len(codes), n_filled, ValueCounts.of(codes, cells, start))


def _factorize(values: pd.Series, name: str, as_levels: bool) -> tuple[Array, Array]:
    """Return codes of the cells into the different cells, -1 if empty, and these cells."""
    storage = storage_type(values, name)
    if storage == "number" and not as_levels:
        return pd.factorize(to_numbers(values, name))
    if storage == "boolean" and not as_levels:
        codes, found = pd.factorize(values)
        return codes, np.asarray(found, dtype=bool)
    return factorize_texts(values, text_of)


@dataclass(frozen=True, eq=False)
class TargetCoder:
    """A target with decided classes, and the class of each different cell."""

    target: Target
    """Without its codes."""
    known: Mapping[Any, int]
    """The position of each label's class in the classes."""
    as_levels: bool

    def codes_of(self, values: pd.Series) -> Array:
        """Return the codes of some rows."""
        codes, cells = _factorize(values, self.target.name, self.as_levels)
        return self.codes_of_cells(cells)[codes]

    def codes_of_cells(self, cells: Array) -> Array:
        """Return the codes of different cells, and at the end that of an empty one."""
        return np.array([self.known.get(cell, -1) for cell in cells.tolist()] + [-1])


def infer_target(
    profile: TargetProfile,
    name: str,
    *,
    unlabeled: str | None = None,
    as_levels: bool = False,
    min_classes: int = 2,
) -> TargetCoder:
    """Decide what the classes are; parameters as in `read_target`."""
    cells = profile.cells.values.tolist()
    _check_complete(profile, name, as_levels)
    marked = [is_marker(cell, unlabeled) for cell in cells]
    marks = _count_marks(profile.cells, marked)
    kept = [k for k in range(len(cells)) if not marked[k]]
    labels = [cells[k] for k in kept]
    values = [level_of(cell) for cell in labels] if as_levels else _as_classes(labels, name)
    classes = tuple(sorted(set(values)))
    places = {value: k for k, value in enumerate(classes)}
    codes = np.array([places[value] for value in values], dtype=np.int64)
    counts = np.zeros(len(classes), dtype=np.int64)
    np.add.at(counts, codes, profile.cells.counts[kept])
    n_labeled = int(counts.sum())
    if classes or min_classes > 0:
        _check_classes(name, classes, n_labeled, profile.n_rows)
    if len(classes) < min(min_classes, 2):
        _check_two(name, classes, n_labeled, marks, unlabeled)
    target = Target(
        name,
        classes,
        tuple(counts.tolist()),
        profile.n_rows,
        n_labeled,
        np.empty(0, dtype=np.int64),
        _spelling(labels, values, classes),
        _find_hints(name, classes, marks, unlabeled),
    )
    return TargetCoder(target, dict(zip(labels, codes.tolist(), strict=True)), as_levels)


def has_label(values: pd.Series, unlabeled: str | None = None) -> Array:
    """Tell which cells of a target hold a label, by the rules of `read_target`.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.target import has_label
    >>> has_label(pd.Series(["None", " ", "?", None, "no", "NA"]), "?").tolist()
    [True, False, False, False, True, False]
    """
    codes, texts = factorize_texts(values, text_of)
    return np.array([not is_marker(text, unlabeled) for text in texts] + [False])[codes]


def is_marker(value: Any, unlabeled: str | None) -> bool:
    """Tell whether a cell marks a missing label: "-1", -1 and "-1.0" are the same mark."""
    if isinstance(value, str) and value in NO_LABEL:
        return True
    return unlabeled is not None and level_of(value) == level_of(unlabeled)


def _count_marks(cells: ValueCounts, marked: Sequence[bool]) -> Counter[str]:
    """Count the rows of each mark of a missing label."""
    found: Counter[str] = Counter()
    for cell, n, is_mark in zip(cells.values.tolist(), cells.counts.tolist(), marked, strict=True):
        if is_mark:
            found[level_of(cell)] += n
    return found


def _spelling(cells: list[Any], values: list[Any], classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return how the first row of each class writes it; `cells` are in the order of the rows."""
    first: dict[Any, Any] = {}
    for cell, value in zip(cells, values, strict=True):
        first.setdefault(value, cell)
    spelled = ((first[value], value) for value in classes)
    return tuple(cell if isinstance(cell, str) else str(value) for cell, value in spelled)


def _as_classes(cells: list[Any], name: str) -> list[Any]:
    """Turn labels into whole numbers or booleans if all of them are, as text or not."""
    if not cells or isinstance(cells[0], bool):
        return cells
    if isinstance(cells[0], str) and are_dates(np.array(cells, dtype=object)):
        raise TableError(
            f"Column {name!r} holds dates, such as {cells[0]!r}, but a target needs classes; name "
            "another column, or cut the dates into classes.",
            code="target_dates",
        )
    if all(str(cell).lower() in ("true", "false") for cell in cells):
        return [cell.lower() == "true" for cell in cells]
    numbers = parse_floats(pd.Series(cells, dtype=object))
    if np.isnan(numbers).any():
        return cells
    if np.isinf(numbers).any():
        raise TableError(
            f"Column {name!r} holds {cells[int(np.isinf(numbers).argmax())]!r}, but a target needs "
            "classes; empty such cells.",
            code="target_infinite",
        )
    if (fractions := numbers[numbers != np.trunc(numbers)]).size:
        n = len(np.unique(numbers))
        raise _quantity(name, n, f", such as {fractions[0].item()!r}")
    return [int(number) for number in numbers]


# -- refusals -------------------------------------------------------------------------------------


def _check_complete(profile: TargetProfile, name: str, as_levels: bool) -> None:
    """Refuse numbers that floats cannot tell apart, and more values than are kept."""
    cells, number = profile.cells, profile.storage == "number" and not as_levels
    if number and profile.n_filled and np.abs(cells.values).max() >= 2.0**53:
        raise _quantity(name, cells.n_distinct, f", such as {cells.values[0]:.0f}")
    if cells.complete:
        return
    if number:
        raise _quantity(name, cells.n_distinct)
    raise _free_text(name, cells.n_distinct, profile.n_filled)


def _check_classes(name: str, classes: tuple[Any, ...], n_labeled: int, n_rows: int) -> None:
    """Refuse a column without labels, and one with too many values to be classes."""
    if not classes:
        raise TableError(
            f"Column {name!r} has no label in any of the {n_rows:,} rows; fill in some of each "
            "class, or name another column as the target.",
            code="target_no_labels",
        )
    numeric = not isinstance(classes[0], str)
    if numeric and len(classes) > _MOST_NUMBERS:
        raise _quantity(name, len(classes))
    if len(classes) > _FEW_CLASSES and 2 * len(classes) > n_labeled:
        if numeric:
            raise _quantity(name, len(classes))
        raise _free_text(name, len(classes), n_labeled)


def _check_two(
    name: str,
    classes: tuple[Any, ...],
    n_labeled: int,
    marks: Mapping[str, int],
    unlabeled: str | None,
) -> None:
    """Refuse a single class, and suggest where the other may be."""
    if len(classes) > 1:
        return
    if _looks_missing(classes[0]):
        why = f"; {classes[0]!r} looks like a missing label, so name the column with the labels"
    elif marks:
        listed = " and ".join(f"{mark!r} in {counted(n, 'row')}" for mark, n in marks.items())
        why = f"; {listed} was read as no label"
        why += "" if unlabeled else ", so spell it differently if it is a class"
    else:
        why = "; fill in labels of another class, or name another column as the target"
    raise TableError(
        f"Column {name!r} has labels of one class only, {classes[0]!r} "
        f"({counted(n_labeled, 'row')}), and a classifier needs two{why}.",
        code="target_one_class",
    )


def _free_text(name: str, n: int, n_labeled: int) -> TableError:
    return TableError(
        f"Column {name!r} holds {n:,} different texts in {n_labeled:,} rows: that is an id or free "
        "text, not a class; name another column as the target.",
        code="target_text",
    )


def _quantity(name: str, n: int, example: str = "") -> TableError:
    kinds = Parameter("kinds", {name: "category"})
    levels = Message(", or give {kinds} if each of them is a class", kinds=kinds)
    return TableError(
        "Column {name!r} holds {n:,} different numbers{example}: that is a quantity, not a class; "
        "name another column as the target, or cut this one into classes first{levels}.",
        code="target_quantity",
        name=name,
        n=n,
        example=example,
        levels=levels if n <= _FEW_CLASSES else "",
    )


# -- hints ----------------------------------------------------------------------------------------


def _looks_missing(value: Any) -> bool:
    return str(value).lower() in _MARKERS and not isinstance(value, bool)


def _find_hints(
    name: str, classes: tuple[Any, ...], marks: Mapping[str, int], unlabeled: str | None
) -> tuple[str, ...]:
    """Report likely mistakes: a mark taken for a class, a class for a mark, two spellings."""
    found: list[str] = [
        Message(
            "Class {value!r} of column {name!r} looks like a missing label; if it is, give {mark}.",
            value=value,
            name=name,
            mark=Parameter("unlabeled", str(value)),
        )
        for value in classes
        # -1 and 1 are a usual pair of classes
        if _looks_missing(value) and (isinstance(value, str) or len(classes) > 2)
    ]
    given = None if unlabeled is None else level_of(unlabeled)
    found += [
        f"{counted(n, 'cell')} of column {name!r} say{'s' * (n == 1)} {word!r}, which is read "
        "as no label; spell it differently if it is a class."
        for word, n in marks.items()
        if word != given
    ]
    if given is not None and given not in marks:
        found.append(f"No cell of column {name!r} is {unlabeled!r}, the mark of a missing label.")
    return (*found, *_find_similar_spellings(name, classes))


def _find_similar_spellings(name: str, classes: tuple[Any, ...]) -> list[str]:
    """Report classes that differ only in capital letters or blanks."""
    alike = defaultdict(list)
    for value in classes:
        alike[" ".join(str(value).casefold().split())].append(repr(value))
    return [
        f"Classes {' and '.join(same)} of column {name!r} differ only in capital letters or "
        "blanks; spell them alike if they are the same."
        for same in alike.values()
        if len(same) > 1
    ]
