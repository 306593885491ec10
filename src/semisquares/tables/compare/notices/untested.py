"""Classes that cross-validation cannot test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._inputs.untested import describe_untested, rows_to_test
from ...dataset import Prepared
from ..comparison import Notice
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
    """Look for classes that no cross-validation can test."""
    return [untested(context.prepared)]


def untested(prepared: Prepared) -> Untested | None:
    """Name the classes that no test set of a plan has."""
    codes, groups = prepared.codes, prepared.groups
    left_out = np.setdiff1d(codes[codes >= 0], codes[rows_to_test(codes, groups)])
    if not len(left_out):
        return None
    classes = tuple(prepared.target.classes[k] for k in left_out)
    return Untested(classes, grouped=groups is not None)
