"""Checks of plain data that a model file holds."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_floats", "is_positive", "is_whole"]


def is_floats(value: Any, *shape: int) -> bool:
    """Tell whether a value is an array of finite numbers in double precision, of this shape.

    Examples
    --------
    >>> is_floats(np.ones((1, 2)), 1, 2), is_floats(np.array([np.nan]), 1), is_floats([1.0], 1)
    (True, False, False)
    """
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.shape == shape
        and bool(np.isfinite(value).all())
    )


def is_positive(value: Any, *shape: int) -> bool:
    """Tell whether a value is such an array, and all its numbers are above 0."""
    return is_floats(value, *shape) and bool((value > 0.0).all())


def is_whole(value: Any, low: int, high: int) -> bool:
    """Tell whether a value is a whole number within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
