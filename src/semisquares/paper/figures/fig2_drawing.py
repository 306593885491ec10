"""How Figure 2 is drawn: paths over the contours of J, in the whole plane and near the optima."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from .figure import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from matplotlib.lines import Line2D

Array = NDArray[Any]

WINDOWS = {
    "whole": ((-2.3, 3.3), (-3.2, 2.0), 33),
    "near": ((-0.15, 1.15), (-0.6, 0.62), 61),
}
"""The parts of the (intercept, slope) plane that are shown: from, to, and points of a grid."""
LEVELS = 0.28 * 1.5 ** np.arange(24)
"""The contours of J that are drawn."""
OUTCOMES = {
    (True, False): "clusters told apart",
    (False, False): "all in class +1",
    (True, True): "all in class −1",
    (False, True): "clusters swapped",
}
"""What weights make of the clusters at −1 and +1: whether each is in the class around −1."""


def draw_paths(table: Table) -> Picture:
    """Draw soft and hard runs side by side, and below them the framed part enlarged."""
    with plotting.style():
        picture, panels = plotting.facets(4, 2, row_height=3.1)
        shown = [(window, method) for window in WINDOWS for method in ("soft", "hard")]
        for panel, (window, method) in zip(panels, shown, strict=True):
            _draw_surface(panel, table.details["surface"], window, method)
            _draw_paths(panel, table, method)
            _draw_optima(panel, table.summary, method, named=window == "near")
            xlim, ylim, _ = WINDOWS[window]
            panel.set(xlim=xlim, ylim=ylim, xlabel="intercept", ylabel="slope")
        for panel in panels[:2]:
            _frame(panel, *WINDOWS["near"][:2])
        titles = (
            "Soft labels",
            "Hard labels",
            "Soft labels, framed part",
            "Hard labels, framed part",
        )
        plotting.letter(panels, titles)
        picture.legend(handles=_legend(), loc="outside lower center", ncols=3)
    return picture


def _draw_surface(panel: Axes, surface: pd.DataFrame, window: str, method: str) -> None:
    n = WINDOWS[window][2]
    shown = surface[surface["window"] == window]
    x, y, J = (shown[name].to_numpy().reshape(n, n) for name in ("intercept", "slope", method))
    plotting.draw_contours(panel, x, y, J, levels=LEVELS)


def _draw_paths(panel: Axes, table: Table, method: str) -> None:
    paths, runs = (
        part[part["method"] == method] for part in (table.details["paths"], table.summary)
    )
    ends = dict(zip(runs["run"], runs["optimum"], strict=True))
    lines = {
        run: plotting.visible(path[["intercept", "slope"]].to_numpy())
        for run, path in paths.groupby("run")
    }
    for optimum in runs["optimum"].unique():
        chosen = [lines[run] for run in lines if run > 0 and ends[run] == optimum]
        colour = _end_colour(method, optimum)
        plotting.draw_runs(panel, chosen, colour)
    plotting.draw_path(panel, lines[0], plotting.BLACK, bold=True)


def _draw_optima(panel: Axes, summary: pd.DataFrame, method: str, *, named: bool) -> None:
    runs = summary[(summary["method"] == method) & (summary["run"] > 0)]
    for optimum, ends in runs.groupby("optimum"):
        place = ends["end_intercept"].mean(), ends["end_slope"].mean()
        colour = _end_colour(method, optimum)
        plotting.draw_end(panel, place, colour, size=9.0 if named else 5.5)
        if named:
            outcome = OUTCOMES[place[0] - place[1] > 0.5, place[0] + place[1] > 0.5]
            alone = len(ends) == len(runs)
            _name(
                panel, place, f"all {len(ends)} runs" if alone else f"{len(ends)} runs\n{outcome}"
            )


def _name(panel: Axes, place: tuple[float, float], text: str) -> None:
    """Write beside an optimum, on the side of the middle of the four."""
    right, up = 0.5 - place[0], 0.0 - place[1]
    beside = abs(right) > abs(up)
    panel.annotate(
        text,
        place,
        xytext=(9 * np.sign(right), 0) if beside else (0, 9 * np.sign(up)),
        textcoords="offset points",
        ha={1.0: "left", -1.0: "right"}[np.sign(right)] if beside else "center",
        va="center" if beside else {1.0: "bottom", -1.0: "top"}[np.sign(up)],
        zorder=6,
        linespacing=1.15,
        bbox=plotting.BEHIND_TEXT,
    )


def _legend() -> list[Line2D]:
    from matplotlib.lines import Line2D

    run = Line2D([], [], color=plotting.GREY, linewidth=0.8, marker=".", markevery=[0])
    end = Line2D([], [], color=plotting.GREY, linestyle="", marker="o", markersize=7.0)
    end.set(markerfacecolor="white", markeredgewidth=1.8)
    first = Line2D([], [], color=plotting.BLACK, linewidth=1.8, marker="s", markevery=[0])
    labels = ("run and its start", "optimum", "run from the supervised weights")
    for handle, label in zip((run, end, first), labels, strict=True):
        handle.set_label(label)
    return [run, end, first]


def _end_colour(method: str, optimum: int) -> str:
    """Return the colour of the runs that end in an optimum; there is one colour for soft labels."""
    if method == "soft":
        return plotting.look("soft").colour
    return plotting.END_COLOURS[(optimum - 1) % len(plotting.END_COLOURS)]


def _frame(panel: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    (left, right), (low, high) = xlim, ylim
    corners = [left, right, right, left, left], [low, low, high, high, low]
    panel.plot(*corners, color=plotting.INK, linewidth=0.6, zorder=6)
