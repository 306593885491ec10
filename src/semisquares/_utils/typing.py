"""Types that most modules need."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["Array"]

Array = NDArray[Any]
"""A NumPy array of any type and shape."""
