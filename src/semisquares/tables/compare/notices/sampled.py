"""Samples: with very many unlabeled rows, parts of a comparison see only some of them."""

from __future__ import annotations

from dataclasses import dataclass

from .._rows import MOST_TESTED
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["SampleChecked", "Sampled", "find"]

PRIORITY = 80


@dataclass(frozen=True)
class Sampled(Notice):
    """Numbers of unlabeled rows: all, and those that were used in the tests."""

    kind = "sampled"
    n_unlabeled: int
    n_tested: int

    def words(self) -> tuple[str, str]:
        return (
            f"The tests used a random sample of {self.n_tested:,} of the {self.n_unlabeled:,} "
            "unlabeled rows, and those of slow rivals fewer.",
            "Sampled rows are weighted to make up for the others.",
        )


@dataclass(frozen=True)
class SampleChecked(Notice):
    """Numbers of unlabeled rows: all, and those in which a fit looked for the other notices."""

    kind = "sample_checked"
    n_unlabeled: int
    n_checked: int

    def words(self) -> tuple[str, str]:
        return (
            f"Copies, leaks and a shift were looked for in a random sample of {self.n_checked:,} "
            f"of the {self.n_unlabeled:,} unlabeled rows.",
            "Copies among the others are not counted.",
        )


def find(context: NoticeContext) -> list[Sampled | SampleChecked]:
    """Tell whether rows were sampled."""
    n_checked = int((context.prepared.codes < 0).sum())
    if n_checked < context.prepared.target.n_unlabeled:
        return [SampleChecked(context.prepared.target.n_unlabeled, n_checked)]
    n_unlabeled = context.prepared.target.n_unlabeled
    if context.results is None or n_unlabeled <= MOST_TESTED:
        return []
    return [Sampled(n_unlabeled, MOST_TESTED)]
