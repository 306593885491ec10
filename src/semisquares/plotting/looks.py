"""How every picture looks: one style, one colour per method."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Okabe & Ito's colours, told apart by people with any kind of colour vision.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, MUTED, GREY, LIGHT = "#222222", "#5C5C5C", "#8A8A8A", "#D4D4D4"

CLASS_COLOURS = (SKY, ORANGE, GREEN, PURPLE, BLUE, VERMILION, YELLOW, GREY)
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Points of the first class, of the second, and so on; of a ninth again as of the first."""
ONE_COLUMN, TWO_COLUMNS = 3.5, 7.1
"""Widths of a picture in a journal, in inches."""
PNG_DPI = 220

_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelpad": 3.0,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.titlesize": 9.0,
    "figure.dpi": 100.0,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 8.5,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "legend.borderaxespad": 0.3,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "mathtext.fontset": "dejavusans",
    "savefig.dpi": PNG_DPI,
    "svg.fonttype": "path",  # text as outlines: no font of the reader's machine is asked for
    "svg.hashsalt": "semisquares",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8.0,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "xtick.minor.width": 0.5,
    "ytick.color": INK,
    "ytick.labelsize": 8.0,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.5,
}
_LOCK = threading.RLock()  # matplotlib's settings are global


@dataclass(frozen=True)
class Look:
    """How one method looks wherever it appears: told apart by colour, marker and line alike."""

    label: str
    colour: str
    marker: str
    line: str | tuple[float, tuple[float, ...]]


LOOKS = {
    "supervised": Look("supervised", BLUE, "s", (0, (4, 1.5))),
    "soft": Look("soft labels", GREEN, "o", "-"),
    "hard": Look("hard labels", VERMILION, "^", (0, (6, 1.5, 1, 1.5))),
    "oracle": Look("oracle", BLACK, "D", (0, (1, 1.2))),
    "ridge": Look("tuned ridge", ORANGE, "v", (0, (2.5, 1.2))),
    "soft_ridge": Look("soft labels, ridge", SKY, "P", (0, (8, 1.5))),
    "hard_from_soft": Look("hard labels from soft", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
}
"""The methods, in the order of a legend; soft, hard and supervised have the paper's colours."""


def look(method: str) -> Look:
    """Return how a method looks.

    Examples
    --------
    >>> look("soft").colour
    '#009E73'
    """
    if method not in LOOKS:
        raise ValueError(f"{method!r} has no look; take one of {', '.join(LOOKS)}.")
    return LOOKS[method]


def choose_view(view: str | None, views: Sequence[str]) -> str:
    """Return the view to draw, the first where none is named.

    Examples
    --------
    >>> choose_view(None, ("error", "loss"))
    'error'
    """
    if view is not None and view not in views:
        raise ValueError(f"There is no view {view!r}; take one of {', '.join(views)}.")
    return views[0] if view is None else view


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style while this lasts; what the session had set comes back after."""
    matplotlib = need_matplotlib()
    with _LOCK, matplotlib.rc_context():
        # from the defaults on, so that no matplotlibrc of a user shows
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def need_matplotlib() -> Any:
    """Return matplotlib, or say how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            "Plots need matplotlib, which is not installed; run pip install 'semisquares[paper]'."
        ) from None
    return matplotlib
