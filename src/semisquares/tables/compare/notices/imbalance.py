"""Imbalance: classes with very few labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...target import Target
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["Imbalance", "find", "imbalance"]

PRIORITY = 50
RARE, FRAGILE = 0.05, 10
"""A class is named if it has a smaller share of the labels, or fewer of them."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class Imbalance(Notice):
    """Classes with few labels."""

    kind = "imbalance"
    rare: tuple[tuple[Any, int], ...]
    """The classes and their numbers of labels, fewest first."""
    n_labels: int
    """Labels of all classes."""

    def words(self) -> tuple[str, str]:
        named = ", ".join(f"{name!r} has {count:,}" for name, count in self.rare[:_MOST_NAMED])
        n_more = len(self.rare) - _MOST_NAMED
        more = f", and {n_more} more have as few" if n_more > 0 else ""
        meaning = "Scores for a class with so few labels rest on few rows; label more of it."
        if self.rare[0][1] < RARE * self.n_labels:
            meaning += (
                " A classifier that never predicts it is still right most of the time: look at the "
                "balanced accuracy."
            )
        return f"Of {self.n_labels:,} labels class {named}{more}.", meaning


def find(context: NoticeContext) -> list[Imbalance | None]:
    """Look for classes with few labels."""
    return [imbalance(context.prepared.target)]


def imbalance(target: Target) -> Imbalance | None:
    """Find the classes that have few labels; those with a single one are `untested`."""
    counts = sorted(zip(target.classes, target.counts, strict=True), key=lambda one: one[1])
    few = max(FRAGILE, RARE * target.n_labeled)
    rare = tuple((name, count) for name, count in counts if 1 < count < few)
    return Imbalance(rare, target.n_labeled) if rare else None
