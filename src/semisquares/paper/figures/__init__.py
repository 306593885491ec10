"""The paper's experiments and some beyond them, run by `semisquares reproduce`.

A figure computes a table from settings, and makes plots and findings from the table::

    from semisquares.paper.figures import FIGURES
    figure = FIGURES["fig3"]
    table = figure.compute(figure.settings("authors"))
    figure.plot(table)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._figure import PRESETS, Figure, Finding, Settings, Table

if TYPE_CHECKING:
    from ._catalogue import FIGURES

__all__ = ["FIGURES", "PRESETS", "Figure", "Finding", "Settings", "Table"]


def __getattr__(name: str) -> Any:
    """Import the figures when `FIGURES` is first used: the ledger and workers need none."""
    if name != "FIGURES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._catalogue import FIGURES

    return FIGURES
