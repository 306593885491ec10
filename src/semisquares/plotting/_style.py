"""The style of all pictures, and a colour, marker and line for each method."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Okabe & Ito's colours, which people with any kind of colour vision can distinguish.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, MUTED, GREY, LIGHT = "#222222", "#5C5C5C", "#8A8A8A", "#D4D4D4"

CLASS_COLOURS = (SKY, ORANGE, GREEN, PURPLE, BLUE, VERMILION, YELLOW, GREY)
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Of the first class, the second, and so on; a ninth class looks like the first."""
TWO_COLUMNS = 7.1
"""Width in inches of a picture across both columns of a journal."""
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
    "svg.fonttype": "path",  # text as outlines: needs no font on the reader's machine
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
class MethodStyle:
    """Label, colour, marker and line of a method; each of the three alone identifies it."""

    label: str
    colour: str
    marker: str
    line: str | tuple[float, tuple[float, ...]]


METHOD_STYLES = {
    "supervised": MethodStyle("supervised", BLUE, "s", (0, (4, 1.5))),
    "soft": MethodStyle("soft labels", GREEN, "o", "-"),
    "hard": MethodStyle("hard labels", VERMILION, "^", (0, (6, 1.5, 1, 1.5))),
    "oracle": MethodStyle("oracle", BLACK, "D", (0, (1, 1.2))),
    "ridge": MethodStyle("tuned ridge", ORANGE, "v", (0, (2.5, 1.2))),
    "soft_ridge": MethodStyle("soft labels, ridge", SKY, "P", (0, (8, 1.5))),
    "hard_from_soft": MethodStyle("hard labels from soft", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
}
"""The methods in the order of a legend; soft, hard and supervised have the paper's colours."""


def method_style(method: str) -> MethodStyle:
    """Return the style of a method.

    Examples
    --------
    >>> method_style("soft").colour
    '#009E73'
    """
    if method not in METHOD_STYLES:
        raise ValueError(f"{method!r} has no style; take one of {', '.join(METHOD_STYLES)}.")
    return METHOD_STYLES[method]


@contextmanager
def style() -> Iterator[None]:
    """Use the style of this package inside the ``with``, and restore the session's settings."""
    matplotlib = need_matplotlib()
    with _LOCK, matplotlib.rc_context():
        # start from the defaults, so that a user's matplotlibrc has no effect
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def need_matplotlib() -> Any:
    """Return matplotlib, or raise an error that says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            "Plots need matplotlib, which is not installed; run pip install 'semisquares[paper]'."
        ) from None
    return matplotlib
