"""Classes that cross-validation cannot test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...._inputs.untested import describe_untested
from ..comparison import Notice
from ..splits import Plan
from ._context import NoticeContext

__all__ = ["Untested", "find", "untested"]

PRIORITY = 60


@dataclass(frozen=True)
class Untested(Notice):
    """Classes that are not in any test set."""

    kind = "untested"
    classes: tuple[Any, ...]
    grouped: bool
    """Whether groups are kept together."""

    def words(self) -> tuple[str, str]:
        these = "this one" if len(self.classes) == 1 else "these"
        return (
            describe_untested(self.classes, grouped=self.grouped),
            f"All scores are about the other classes and say nothing about {these}.",
        )


def find(context: NoticeContext) -> list[Untested | None]:
    """Look for classes that the cross-validation did not test."""
    if context.results is None:
        return []
    prepared, planned = context.prepared, context.results.evaluation.plan
    return [untested(planned, prepared.target.classes, grouped=prepared.groups is not None)]


def untested(planned: Plan, classes: Sequence[Any], *, grouped: bool) -> Untested | None:
    """Name the classes that a plan does not test."""
    if not planned.untested:
        return None
    return Untested(tuple(classes[k] for k in planned.untested), grouped)
