"""How every picture looks: one style, one colour per method, files that are the same every time.

Pictures are drawn inside `style` and on `matplotlib.figure.Figure` itself, never through pyplot:
nothing is kept open, and the settings of a user's session neither show in them nor change.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

# Okabe & Ito's colours, told apart by people with any kind of colour vision.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, MUTED, GREY, LIGHT = "#222222", "#5C5C5C", "#8A8A8A", "#D4D4D4"

CLASS_COLOURS, CLASS_MARKERS = (SKY, ORANGE), ("o", "s")
"""Points of the first and of the second class."""
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
BAND_ALPHA = 0.18
_PUBLISHED: dict[str, Any] = {
    "linewidth": 4.0, "alpha": 0.3, "solid_capstyle": "round", "zorder": 1.2,
}  # fmt: skip
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
    matplotlib = _matplotlib()
    with _LOCK, matplotlib.rc_context():
        # from the defaults on, so that no matplotlibrc of a user shows
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def new_picture(width: float = TWO_COLUMNS, height: float = 3.0) -> Picture:
    """Return an empty picture, sizes in inches; call inside `style`."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    return picture


def facets(
    n: int,
    n_columns: int,
    *,
    width: float = TWO_COLUMNS,
    row_height: float = 1.5,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Picture, list[Axes]]:
    """Return a picture with n panels, row by row; places left over in the last row stay empty."""
    n_columns = min(n, n_columns)
    n_rows = -(-n // n_columns)
    picture = new_picture(width, row_height * n_rows)
    grid = picture.subplots(n_rows, n_columns, sharex=sharex, sharey=sharey, squeeze=False)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    if sharex:  # a panel above an empty place has to carry its own numbers
        for panel in panels[max(0, n - n_columns) : n]:
            panel.xaxis.set_tick_params(labelbottom=True)
    return picture, panels[:n]


def band(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    error: ArrayLike,
    method: str | Look,
    *,
    label: str | None = None,
    marked: bool = True,
    log: bool = False,
) -> None:
    """Draw a method's curve with a band of two standard errors on either side (`band_ends`).

    The method is one of `LOOKS`, or a look of its own.
    """
    looks = look(method) if isinstance(method, str) else method
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    low, high = band_ends(mean, error, log=log)
    axes.fill_between(x, low, high, color=looks.colour, alpha=BAND_ALPHA, linewidth=0)
    axes.plot(
        x,
        mean,
        color=looks.colour,
        linestyle=looks.line,
        marker=looks.marker if marked else "",
        markersize=3.4,
        markeredgewidth=0,
        label=looks.label if label is None else label,
    )


def band_ends(mean: ArrayLike, error: ArrayLike, *, log: bool = False) -> tuple[Array, Array]:
    """Return the ends of a band: two standard errors, with `log` those of the mean's logarithm.

    A mean that is not much larger than its error then has a band on a logarithmic axis, too.

    Examples
    --------
    >>> band_ends([3.0], [0.5])
    (array([2.]), array([4.]))
    """
    mean, error = np.asarray(mean, dtype=float), np.asarray(error, dtype=float)
    if log:
        factor = np.exp(np.minimum(2 * error / mean, 100.0))  # no axis shows more
        return mean / factor, mean * factor
    return mean - 2 * error, mean + 2 * error


def published_curve(axes: Axes, x: ArrayLike, y: ArrayLike, method: str) -> None:
    """Draw the paper's curve of a method, faintly, behind ours; it has no entry in the legend."""
    axes.plot(np.asarray(x), np.asarray(y), color=look(method).colour, **_PUBLISHED)


def legend_of_bands() -> Artist:
    """Return the entry that tells what bands are."""
    from matplotlib.patches import Patch

    return Patch(color=GREY, alpha=2 * BAND_ALPHA, linewidth=0, label="± 2 standard errors")


def legend_of_published() -> Artist:
    """Return the entry that tells what `published_curve` is."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, label="published", **_PUBLISHED)


def legend(
    picture: Picture, panels: Sequence[Axes], *, n_columns: int = 4, more: Sequence[Artist] = ()
) -> None:
    """Put one legend for all panels below them, each label once; `more` are labeled handles."""
    entries: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries.update({str(handle.get_label()): handle for handle in more})
    picture.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=n_columns,
        handlelength=2.8,  # a pattern of dashes has to show on both sides of the marker
    )  # fmt: skip


def headline(panel: Axes, name: str, note: str = "") -> None:
    """Title a panel with a name at its left, and a muted note at its right."""
    panel.set_title(name, fontsize=8.2)
    panel.set_title(note, loc="right", color=MUTED, fontsize=6.8)


def letter(panels: Sequence[Axes], titles: Sequence[str]) -> None:
    """Title panels a, b, c … as journals do."""
    for name, panel, title in zip("abcdefghijklmnopqrstuvwxyz", panels, titles, strict=False):
        panel.set_title(rf"$\bf{{{name}}}$  {title}")


def render(picture: Picture, kind: str) -> bytes:
    """Return a picture as the bytes of an SVG or PNG file, the same ones every time."""
    with style():
        if picture.get_layout_engine() is not None:
            # Laid out once: again, from where it is, the last digits would come out otherwise.
            picture.draw_without_rendering()
            picture.set_layout_engine("none")
        nothing = {"svg": ("Date", "Creator"), "png": ("Software",)}[kind]
        file = BytesIO()
        picture.savefig(file, format=kind, metadata=dict.fromkeys(nothing))
        return file.getvalue()


def save(picture: Picture, stem: str | Path) -> tuple[Path, Path]:
    """Write a picture to `stem`.svg and `stem`.png, and return the two paths."""
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    for path, kind in zip(paths, ("svg", "png"), strict=True):
        path.write_bytes(render(picture, kind))
    return paths


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            "Plots need matplotlib, which is not installed; run "
            "pip install 'semisquares[experiments]'."
        ) from None
    return matplotlib
