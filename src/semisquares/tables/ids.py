"""Identifiers: numbers and names that tell rows apart, and tell nothing of them."""

from __future__ import annotations

import re
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FEW_ROWS = 20
"""In so few rows it says nothing that a value does not repeat."""


def why_id(name: str, numbers: Array, sample: Array, n_missing: int, n_distinct: int) -> str:
    """Say why numbers are an identifier, "" where they are a quantity."""
    n = len(numbers)
    if not np.array_equal(sample, np.trunc(sample)):
        return ""
    if n >= FEW_ROWS and numbers[-1] - numbers[0] == n - 1 and (np.diff(numbers) == 1.0).all():
        return "it counts the rows"
    word = word_of_ids(name)
    repeats = n_distinct < len(sample)
    # "house number" names a house, but Number = 3 may be how many: there, values tell
    if word in ("index", "row", "nr", "no", "number") and (
        n_distinct <= FEW_ROWS or n_distinct < 0.1 * len(sample)
    ):
        return ""
    if not word or np.count_nonzero(numbers != np.trunc(numbers)) > n_missing:
        return ""
    hint = f", and it repeats: rows may belong together, see --group {quote(name)}"
    return f"{word!r} in its name says that it is an identifier{hint if repeats else ''}"


def word_of_ids(name: str) -> str:
    """Return the word that makes "customer_id", "rowId" or "House No" the name of an identifier."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    anywhere = [word for word in words if word in ("id", "uuid", "guid")]
    at_the_end = [w for w in words[-1:] if w in ("key", "index", "row", "nr", "no", "number")]
    return next(iter(anywhere + at_the_end), "")
