"""What is wrong with the labels of a table, and what may be a slip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from .._utils.messages import Message, Parameter
from .._utils.words import counted
from .cells import level_of
from .errors import TableError

MARKERS = {"?", "-", "--", ".", "na", "n/a", "nan", "none", "null", "nil", "unknown", "tbd"}
MARKERS |= {"missing", "unlabeled", "unlabelled", "-1", "-9", "-99", "-999"}
"""What people write where a label is missing, in lower case."""
MOST_NUMBERS = 100
"""More different numbers than this are a quantity."""
FEW_CLASSES = 20
"""With more classes than this, each has to have two rows on average."""


def check_classes(name: str, classes: tuple[Any, ...], n_labeled: int, n_rows: int) -> None:
    """Refuse a column without labels, and one whose values are too many to be classes."""
    if not classes:
        raise TableError(
            f"Column {name!r} has no label in any of the {n_rows:,} rows; fill in some of each "
            "class, or name another column as the target."
        )
    numeric = not isinstance(classes[0], str)
    if numeric and len(classes) > MOST_NUMBERS:
        raise quantity(name, len(classes))
    if len(classes) > FEW_CLASSES and 2 * len(classes) > n_labeled:
        if numeric:
            raise quantity(name, len(classes))
        raise free_text(name, len(classes), n_labeled)


def free_text(name: str, n: int, n_labeled: int) -> TableError:
    """Say that there are too many different texts for classes."""
    return TableError(
        f"Column {name!r} holds {n:,} different texts in {n_labeled:,} rows: that is an id or free "
        "text, not a class; name another column as the target."
    )


def quantity(name: str, n: int, example: str = "") -> TableError:
    """Say that numbers are no classes."""
    kinds = Parameter("kinds", {name: "category"})
    levels = Message(", or give {kinds} if each of them is a class", kinds=kinds)
    return TableError(
        "Column {name!r} holds {n:,} different numbers{example}: that is a quantity, not a class; "
        "name another column as the target, or cut this one into classes first{levels}.",
        code="target_quantity",
        name=name,
        n=n,
        example=example,
        levels=levels if n <= FEW_CLASSES else "",
    )


def check_two(
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
        listed = " and ".join(f"{mark!r} in {counted(n, 'row')}" for mark, n in marks.items())
        why = f"; {listed} was read as no label"
        why += "" if unlabeled else ", so spell it otherwise if it is a class"
    else:
        why = "; fill in labels of another class, or name another column as the target"
    raise TableError(
        f"Column {name!r} has labels of one class only, {classes[0]!r} "
        f"({counted(n_labeled, 'row')}), and a classifier needs two{why}."
    )


def _looks_missing(value: Any) -> bool:
    return str(value).lower() in MARKERS and not isinstance(value, bool)


def hints_of(
    name: str, classes: tuple[Any, ...], marks: Mapping[str, int], unlabeled: str | None
) -> tuple[str, ...]:
    """Say what may be a slip: a mark taken for a class, a class for a mark, two spellings."""
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
    asked = None if unlabeled is None else level_of(unlabeled)
    found += [
        f"{counted(n, 'cell')} of column {name!r} say{'s' * (n == 1)} {word!r}, which is read "
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
