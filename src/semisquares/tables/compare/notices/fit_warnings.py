"""Warnings of the classifiers that were fitted during cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

from .._rivals import DECIDING, LABELS
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["FitWarning", "find"]

PRIORITY = 70
_WORDS = {
    "lost_class": "gave a class to no unlabeled row at all: its labels collapsed.",
    "convergence": "stopped before it converged.",
}


@dataclass(frozen=True)
class FitWarning(Notice):
    """A warning that some fits of a rival gave."""

    kind: str
    """"lost_class", "convergence" or "other"."""
    rival: str
    n_fits: int
    """Fits that gave the warning."""
    n_all: int
    """All fits of the rival."""
    warning: str
    """What the first of these fits wrote."""

    def words(self) -> tuple[str, str]:
        what = _WORDS.get(self.kind, f"warned: {self.warning}")
        return (
            f"In {self.n_fits} of {self.n_all} fits, {LABELS[self.rival]} {what}",
            "Its scores here may say little about it.",
        )


def find(context: NoticeContext) -> list[FitWarning]:
    """Collect the warnings of the fits that the answers rest on."""
    if context.results is None:
        return []
    shown = (context.results.method, *DECIDING)
    return [one for one in context.results.evaluation.warnings if one.rival in shown]
