"""The importance of columns as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import plotting
from ...plotting._style import BLUE
from .._importance import ColumnImportance
from ._drawing import _name_rows, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["importance"]


def importance(shown: Sequence[ColumnImportance], *, narrow: bool = False) -> Picture:
    """Draw columns as bars, the first on top, in percentage points of probability.

    Parameters
    ----------
    shown : sequence of ColumnImportance
        From `column_importance` or `stored_importance`.
    narrow : bool, default=False
        For a phone.
    """
    width = 3.6 if narrow else 5.4
    with plotting.style():
        picture = plotting.new_picture(width, 0.8 + 0.22 * max(len(shown), 1))
        panel = picture.subplots()
        for place, one in enumerate(shown):
            panel.barh(place, 100.0 * one.importance, 0.7, color=BLUE, lw=0)
        _name_rows(panel, [plain(one.column, 16 if narrow else 34) for one in shown])
        panel.set_xlim(left=0.0)
        lines = "mean change in the probability\nof the predicted class, percentage points"
        picture.supxlabel(lines, fontsize="medium")  # it may be wider than the panel
    return picture
