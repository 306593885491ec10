"""What the checks of a comparison may look at: the table, and the results of its tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ...dataset import Prepared

if TYPE_CHECKING:
    from .._evaluation import Evaluation

__all__ = ["NoticeContext", "Results"]


@dataclass(frozen=True, eq=False)
class Results:
    """The cross-validation of a table, and the classifier that it recommends."""

    evaluation: Evaluation
    codes: NDArray[Any]
    """The classes of the cross-validated rows: all rows, or a sample of them."""
    method: str
    """The recommended rival."""
    model: Any
    """That rival, fitted to all rows."""


@dataclass(frozen=True, eq=False)
class NoticeContext:
    """A prepared table and, unless only the table itself is checked, the results of its tests."""

    prepared: Prepared
    seed: int
    results: Results | None = None
