"""How `rivals` is drawn: learning curves by kind of method, mean ranks, and pairs of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from . import fig6_learning_curves as fig6
from .curves import draw_curves, log_ticks, mark_round
from .figure import Table
from .ranking import not_told_apart
from .rivals_methods import DISCRIMINANTS, LABELS_ALONE, LEAST_SQUARES, METHODS, OTHERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

BESIDE = ("soft", "oracle")
"""The methods that stand in every picture of curves."""
SIDES = ("better", "worse")
BLUE_IS_BETTER = (plotting.VERMILION, "white", plotting.BLUE)


def shown_with(group: str) -> list[str]:
    """Return the methods that a picture of one kind of methods shows."""
    return [name for name, one in METHODS.items() if one.group == group or name in BESIDE]


def plot_overview(table: Table) -> Picture:
    """Draw the mean error over all data sets, at the sizes that all of them have."""
    means = table.details["means"]
    picture, panels = plotting.facets(3, 3, row_height=3.9, sharey=True)
    for panel, group in zip(panels, (LEAST_SQUARES, DISCRIMINANTS, OTHERS), strict=True):
        for name in shown_with(group):
            curve = means[means["method"] == name].dropna(subset=["error"])
            look = METHODS[name].look
            plotting.band(panel, curve["n_unlabeled"], curve["error"], curve["error_se"], look)
        plotting.headline(panel, group)
        panel.set_xlabel("unlabeled rows")
    log_ticks(panels, means["n_unlabeled"].to_numpy())
    low, high = panels[0].get_ylim()
    mark_round(panels[0].yaxis, low, high)
    panels[0].set_ylabel(f"mean error over {table.summary['dataset'].nunique()} data sets")
    for panel in panels:
        panel.legend(
            loc="upper center", bbox_to_anchor=(0.45, -0.14), fontsize=7.4, handlelength=3.0,
            labelspacing=0.25,
        )  # fmt: skip
    return picture


def _plot_curves(group: str) -> Callable[[Table], Picture]:
    def plot(table: Table) -> Picture:
        looks = {name: METHODS[name].look for name in shown_with(group)}
        labels = {name: look.label for name, look in looks.items()}
        shown = fig6.learning_curve_axes(table.settings, "error", labels, looks=looks)
        return draw_curves(table.summary.dropna(subset=["error"]), shown)

    return plot


def plot_ranks(table: Table) -> Picture:
    """Draw the mean ranks, and bars beside methods that the test does not tell apart."""
    found = table.details["ranks"]
    test = table.details["friedman"].iloc[0]
    n = len(found)
    picture = plotting.new_picture(height=0.24 * n + 1.2)
    panel = picture.subplots()
    panel.hlines(
        np.arange(n), found["best_rank"], found["worst_rank"], color=plotting.LIGHT, linewidth=4.0,
        label="from the best to the worst rank",
    )  # fmt: skip
    for row, (name, rank) in enumerate(zip(found["method"], found["mean_rank"], strict=True)):
        alone = name in LABELS_ALONE
        colour = plotting.look("soft").colour if name == "soft" else plotting.INK
        panel.plot(
            rank, row, "o", color=colour, markersize=6.0, markeredgewidth=1.3, zorder=3,
            markerfacecolor="white" if alone else colour,
            label="mean rank, labels alone" if alone else "mean rank, with unlabeled rows",
        )  # fmt: skip
        panel.annotate(
            f"{rank:.1f}", (rank, row), (0, 4.5), textcoords="offset points", ha="center",
            fontsize=6.8, color=colour, zorder=4,
        )  # fmt: skip
    runs = not_told_apart(found["mean_rank"].tolist(), float(test["critical_difference"]))
    for place, (first, last) in enumerate(runs):
        panel.plot(
            2 * [n + 0.9 + 0.4 * place], [first - 0.3, last + 0.3], color=plotting.INK,
            linewidth=2.6, solid_capstyle="butt", label="not told apart",
        )  # fmt: skip
    _mark_difference(panel, found["mean_rank"].iloc[0], float(test["critical_difference"]), n)
    panel.set_yticks(range(n), [METHODS[name].look.label for name in found["method"]])
    panel.set_ylim(n - 0.4, -1.0)
    panel.set_xlim(0.6, n + 0.8 + 0.4 * len(runs))
    panel.spines["bottom"].set_bounds(0.6, n + 0.4)
    panel.set_xticks(range(1, n + 1, 2))
    panel.set_xlabel(
        f"rank of the error at {test['n_unlabeled']:.0f} unlabeled rows, 1 is the lowest error"
    )
    plotting.legend(picture, [panel], n_columns=2)
    return picture


def _mark_difference(panel: Axes, low: float, difference: float, n: int) -> None:
    """Draw the critical difference as a length above the ranks, where it is not longer than all."""
    height, high = -1.1, low + difference
    words = f"critical difference {difference:.1f}"
    if high > n:
        panel.text(n, height, words, ha="right", va="bottom", fontsize=7.2)
        return
    panel.plot([low, high], [height, height], "|-", color=plotting.INK, clip_on=False, linewidth=1)
    panel.text((low + high) / 2, height - 0.2, words, ha="center", va="bottom", fontsize=7.2)


def plot_pairs(table: Table) -> Picture:
    """Draw for each pair of methods on how many data sets the one is better than the other."""
    from matplotlib.colors import LinearSegmentedColormap

    order = ["oracle", *table.details["ranks"]["method"]]
    pairs = table.details["pairs"].set_index(["method", "other"])
    n, most = len(order), table.summary["dataset"].nunique()
    better, worse = (pairs[side].unstack().loc[order, order].to_numpy() for side in SIDES)
    lead = better - worse
    colours = LinearSegmentedColormap.from_list("pairs", BLUE_IS_BETTER)
    picture = plotting.new_picture(height=6.6)
    panel = picture.subplots()
    drawn = panel.imshow(lead, cmap=colours, vmin=-most, vmax=most, aspect="equal")
    for i, j in np.argwhere(~np.isnan(better)):
        dark = abs(lead[i, j]) > 0.85 * most
        panel.text(
            j, i, f"{better[i, j]:.0f}", ha="center", va="center", fontsize=7.2,
            color="white" if dark else plotting.INK,
        )  # fmt: skip
    labels = [METHODS[name].look.label for name in order]
    panel.set_xticks(range(n), labels, rotation=90)
    panel.set_yticks(range(n), labels)
    panel.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    panel.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    panel.grid(which="minor")
    panel.tick_params(which="both", length=0)
    panel.spines[:].set_visible(False)
    panel.set_facecolor(plotting.LIGHT)
    panel.set_title(f"on how many of {most} data sets the row is clearly better than the column")
    bar = picture.colorbar(drawn, ax=panel, shrink=0.5, aspect=24, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("data sets on which the row is better,\nless those on which it is worse")
    return picture


VIEWS: dict[str, Callable[[Table], Picture]] = {
    "overview": plot_overview,
    "least_squares": _plot_curves(LEAST_SQUARES),
    "discriminants": _plot_curves(DISCRIMINANTS),
    "others": _plot_curves(OTHERS),
    "ranks": plot_ranks,
    "pairs": plot_pairs,
}
"""Every picture by its name; the first is the one to look at first."""
