"""Samples: with very many unlabeled rows, parts of a comparison see only some of them."""

from __future__ import annotations

from dataclasses import dataclass

from .._rows import MOST_TESTED
from .._tuning import search_size
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["SampleChecked", "Sampled", "find"]

PRIORITY = 80


@dataclass(frozen=True)
class Sampled(Notice):
    """Numbers of unlabeled rows: all, those that were searched, and those that were tested."""

    kind = "sampled"
    n_unlabeled: int
    n_searched: int
    n_tested: int

    def words(self) -> tuple[str, str]:
        return (
            f"With {self.n_unlabeled:,} unlabeled rows, some work was done on random samples of "
            f"them: the choice of alpha and weight on {self.n_searched:,}, the tests on "
            f"{self.n_tested:,}, and those of slow rivals on fewer.",
            "Sampled rows are weighted to make up for the others, and the final fits use all rows.",
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
    n_searched = search_size(context.prepared.X.shape[1])
    if context.results is None or n_unlabeled <= n_searched:
        return []
    return [Sampled(n_unlabeled, n_searched, min(n_unlabeled, MOST_TESTED))]
