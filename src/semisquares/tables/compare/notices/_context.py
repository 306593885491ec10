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
    label: str
    """What it is called."""
    predicted: NDArray[Any]
    """The classes that it predicts for rows of the table, fitted to all of them."""
    left_out: tuple[NDArray[Any], NDArray[Any]]
    """The classes that it predicts for labeled rows by fits without them, and those that they have;
    empty if that is not known."""

    @property
    def subject(self) -> str:
        """The classifier, as the start of a sentence."""
        return "The averaged classifier" if self.method == "averaged" else self.label.capitalize()


@dataclass(frozen=True, eq=False)
class NoticeContext:
    """A prepared table and, unless only the table itself is checked, the results of its tests."""

    prepared: Prepared
    seed: int
    results: Results | None = None
