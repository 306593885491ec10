"""Suggested: labels of rows that were chosen because their class was uncertain."""

from __future__ import annotations

from dataclasses import dataclass

from ..._written import drawn_column
from ...dataset import TableInfo
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["SuggestedLabels", "find", "suggested_labels"]

PRIORITY = 15
LEAST = 0.1
"""A smaller share of suggested labels is not worth a notice."""


@dataclass(frozen=True)
class SuggestedLabels(Notice):
    """Labels that do not represent the table."""

    kind = "suggested"
    n_suggested: int
    n_labels: int
    column: str
    """Where the table says so."""

    def words(self) -> tuple[str, str]:
        return (
            f"{self.n_suggested:,} of the {self.n_labels:,} labels are of rows that were suggested "
            f"because they tell most, as {self.column!r} says.",
            "Such rows are harder than others, so errors that are measured on them are probably "
            "larger than on all rows; the rows that were drawn at random tell more.",
        )


def find(context: NoticeContext) -> list[SuggestedLabels | None]:
    """Look for labels that a labeling session has suggested."""
    return [suggested_labels(context.prepared)]


def suggested_labels(table: TableInfo) -> SuggestedLabels | None:
    """Return a notice if a tenth of the labels were suggested."""
    n_labels = table.target.n_labeled
    if not n_labels or table.n_suggested < LEAST * n_labels:
        return None
    return SuggestedLabels(table.n_suggested, n_labels, drawn_column(table.target.name))
