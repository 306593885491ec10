"""Check the arguments of public functions; a wrong one is a TableError of one sentence."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

from .errors import TableError

MOST_REPEATS, MOST_JOBS, MOST_SEED = 1_000, 1_000, 2**32 - 1
_LONGEST = 60

Kind = TypeVar("Kind")


def refuse(name: str, value: Any, needed: str) -> TableError:
    """Return an error that names an argument, its value and what to give instead.

    Examples
    --------
    >>> print(refuse("folds", 1.5, "a whole number"))
    folds is 1.5; give a whole number.
    >>> print(refuse("folds", [5], "a whole number"))
    folds is of type list; give a whole number.
    """
    plain = value is None or isinstance(value, bool | int | float | str)
    shown = repr(value) if plain else ""
    is_what = shown if 0 < len(shown) <= _LONGEST else f"of type {type(value).__name__}"
    return TableError(f"{name} is {is_what}; give {needed}.", code="bad_argument")


def instance(name: str, value: Any, kind: type[Kind], needed: str) -> Kind:
    """Return a value if it is an instance of a class; TableError otherwise."""
    if not isinstance(value, kind):
        raise refuse(name, value, needed)
    return value


def text(name: str, value: Any, needed: str = "a text") -> str:
    """Return a text."""
    return str(instance(name, value, str, needed))


def optional_text(name: str, value: Any, needed: str = "a text or None") -> str | None:
    """Return a text or None."""
    return None if value is None else text(name, value, needed)


def texts(name: str, value: Any, needed: str = "a list of texts") -> tuple[str, ...]:
    """Return several texts; a single text counts as a list of one."""
    if isinstance(value, str):
        return (value,)
    try:
        found = None if isinstance(value, Mapping) else tuple(value)
    except TypeError:
        found = None
    if found is None or not all(isinstance(one, str) for one in found):
        raise refuse(name, value, needed)
    return found


def mapping_of_texts(name: str, value: Any, needed: str) -> dict[str, str]:
    """Return a mapping from texts to texts."""
    if not isinstance(value, Mapping) or not all(
        isinstance(one, str) for one in (*value, *value.values())
    ):
        raise refuse(name, value, needed)
    return dict(value)


def mark_text(name: str, value: Any) -> str | None:
    """Return the mark of a missing label as text; it may be given as a number."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return str(value)
    return optional_text(name, value, "a text, a number or None")


def column_kinds(value: Any) -> dict[str, str]:
    """Return the kinds of columns by their names; an empty mapping for None."""
    if value is None:
        return {}
    return mapping_of_texts("kinds", value, "a mapping from columns to kinds, or None")


def columns_to_drop(value: Any) -> dict[str, str]:
    """Return the columns to leave out, with reasons."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(texts("drop", value, "a list of columns to leave out"), "as asked")
    return mapping_of_texts("drop", value, "a list of columns, or a mapping from them to reasons")


def date_order(value: Any) -> str | None:
    """Return the order of days, months and years in ambiguous dates."""
    orders = ("dmy", "mdy", "ymd")
    if value is None or (isinstance(value, str) and value in orders):
        return value
    raise refuse("dates", value, "'dmy', 'mdy', 'ymd' or None")


def path_text(name: str, value: Any) -> str:
    """Return a path as text."""
    needed = "the path of a file, as a text or a Path"
    path = text(name, os.fspath(value) if isinstance(value, os.PathLike) else value, needed)
    if "\0" in path:
        raise refuse(name, path, needed)
    return path


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number within bounds."""
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    if not fits or value < low or (high is not None and value > high):
        bounds = f"from {low:,} on" if high is None else f"from {low:,} to {high:,}"
        raise refuse(name, value, f"a whole number {bounds}")
    return int(value)


def amount(name: str, value: Any) -> float | None:
    """Return a finite number that is not negative, or None."""
    if value is None:
        return None
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not fits or not 0.0 <= value < math.inf:
        raise refuse(name, value, "a finite number from 0 on, or None to have it chosen")
    return float(value)


def some_function(name: str, value: Any, needed: str) -> Any:
    """Return a value if it can be called; TableError otherwise."""
    if not callable(value):
        raise refuse(name, value, needed)
    return value


def flag(name: str, value: Any) -> bool:
    """Check that a parameter is True or False."""
    return instance(name, value, bool, "True or False")


def check_splits(*, folds: Any, repeats: Any, seed: Any, jobs: Any) -> None:
    """Check the options of cross-validation; see `compare_table`."""
    whole_number("folds", folds, 2)
    if repeats is not None:
        whole_number("repeats", repeats, 1, MOST_REPEATS)
    whole_number("seed", seed, 0, MOST_SEED)
    whole_number("jobs", jobs, 1, MOST_JOBS)
