"""How Figure 5 is drawn: accuracies by method, and the hard objective against the accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from .curves import label_axes, mark_round, n_columns, panel_grid, put_legend
from .figure import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Picture
    from matplotlib.lines import Line2D

Array = NDArray[Any]

ROW_NAMES = {"soft": "soft", "soft exact": "soft,\nexact", "hard": "hard"}
SUPERVISED_LINE: dict[str, Any] = {
    "color": plotting.look("supervised").colour,
    "linestyle": plotting.look("supervised").line,
    "linewidth": 1.2,
    "zorder": 1,
}
FULL = 50
COLUMN = 0.7
"""How tall a column of so many random starts (FULL) is that end with one accuracy, in rows."""


def plot_accuracy(table: Table) -> Picture:
    """Draw where the runs of the first resample end: a row of dots for each method."""
    first = _first_resample(table)
    names = list(first["dataset"].unique())
    picture, panels = panel_grid(len(names))
    for name, panel in zip(names, panels, strict=True):
        counts = first[first["dataset"] == name].set_index("method")
        runs = table.details["runs"]
        panel.axvline(
            counts["accuracy_supervised"].iloc[0], **SUPERVISED_LINE, label="supervised weights"
        )
        for height, method in enumerate(ROW_NAMES):
            mine = runs[(runs["dataset"] == name) & (runs["method"] == method)]
            _draw_ends(panel, mine, method, height=-height)
            _write_counts(panel, counts.loc[method], height=-height)
        _frame_ends(panel)
        plotting.headline(panel, name)
    _name_methods(panels)
    label_axes(picture, panels, "accuracy on test rows")
    put_legend(picture, panels, [_remark("right: distinct accuracies | labelings")])
    return picture


def _first_resample(table: Table) -> pd.DataFrame:
    return table.summary[table.summary["resample"] == 1]


def _draw_ends(panel: Axes, runs: pd.DataFrame, method: str, *, height: int) -> None:
    """Draw the random starts as dots, equal ones spread upwards and downwards, and the other."""
    look = plotting.look(method.split()[0])
    random, supervised = runs[runs["run"] > 0], runs[runs["run"] == 0]
    panel.plot(
        random["accuracy"], height + spread(random["accuracy"].to_numpy()), "o",
        color=look.colour, markersize=2.3, alpha=0.6, markeredgewidth=0, zorder=2,
        label=f"{look.label}, random starts",
    )  # fmt: skip
    panel.plot(
        supervised["accuracy"], [height], look.marker, color=look.colour, markersize=6.0,
        markeredgecolor=plotting.BLACK, markeredgewidth=0.9, zorder=4,
        label=f"{look.label}, supervised start",
    )  # fmt: skip


def spread(values: Array) -> Array:
    """Move equal values apart, around 0: the more of them, the taller their column, at most 0.7.

    Examples
    --------
    >>> spread(np.array([0.5, 0.7, 0.5])).round(2)
    array([-0.05,  0.  ,  0.05])
    """
    places = np.zeros(len(values))
    for value in np.unique(values):
        equal = np.flatnonzero(values == value)
        tall = COLUMN * np.sqrt((len(equal) - 1) / (FULL - 1))
        places[equal] = np.linspace(-tall / 2, tall / 2, len(equal)) if len(equal) > 1 else 0.0
    return places


def _write_counts(panel: Axes, counts: pd.Series, *, height: int) -> None:
    """Write at the right of a row how many accuracies and labelings there are."""
    panel.text(
        1.02, height, f"{counts['distinct_accuracies']} | {counts['distinct_labelings']}",
        transform=panel.get_yaxis_transform(), va="center", fontsize=6.8, color=plotting.MUTED,
    )  # fmt: skip


def _remark(text: str) -> Line2D:
    """Return an entry of a legend that is only text."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=text)


def _frame_ends(panel: Axes) -> None:
    """Set the limits of a panel of rows, and draw lines between these."""
    _mark_accuracies(panel.xaxis, panel.dataLim.intervalx, at_most=4)
    panel.set_ylim(-len(ROW_NAMES) + 0.5, 0.5)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    for height in range(1, len(ROW_NAMES)):
        panel.axhline(0.5 - height, color=plotting.LIGHT, linewidth=0.5, zorder=0.4)


def _mark_accuracies(axis: Axis, found: Array, *, at_most: int) -> None:
    """Set limits around accuracies, with some room where all are the same, and mark few."""
    low, high = found
    margin = max(0.07 * (high - low), 0.01)
    axis.set_view_interval(low - margin, high + margin, ignore=True)
    mark_round(axis, low - margin, high + margin, at_most=at_most)


def _name_methods(panels: list[Axes]) -> None:
    """Name the rows of the first panel of each line."""
    for panel in panels[:: n_columns(panels)]:
        panel.set_yticks(-np.arange(len(ROW_NAMES)), list(ROW_NAMES.values()))
        panel.tick_params(axis="y", length=0)


def plot_objective(table: Table) -> Picture:
    """Draw J_r against accuracy for the hard runs of the first resample."""
    first = _first_resample(table)
    names = list(first["dataset"].unique())
    picture, panels = panel_grid(len(names))
    for name, panel in zip(names, panels, strict=True):
        runs = table.details["runs"]
        mine = runs[(runs["dataset"] == name) & (runs["method"] == "hard")]
        found = first[first["dataset"] == name].set_index("method")
        _draw_levels(panel, found)
        _draw_hard_runs(panel, mine)
        _mark_accuracies(panel.yaxis, panel.dataLim.intervaly, at_most=6)
        rank = found.loc["hard", "rank_correlation"]
        plotting.headline(panel, name, "" if np.isnan(rank) else f"ρ {rank:+.2f}".replace("-", "−"))
    label_axes(picture, panels, "objective $J_r$", "accuracy on test rows")
    put_legend(picture, panels, [_remark("ρ: rank correlation")])
    return picture


def _draw_levels(panel: Axes, found: pd.DataFrame) -> None:
    """Draw the accuracies of the soft solution and of the supervised weights."""
    look = plotting.look("soft")
    panel.axhline(
        found.loc["soft exact", "accuracy_supervised_start"], color=look.colour,
        linestyle=look.line, linewidth=1.2, zorder=1, label="soft solution",
    )  # fmt: skip
    panel.axhline(
        found.loc["hard", "accuracy_supervised"], **SUPERVISED_LINE, label="supervised weights"
    )


def _draw_hard_runs(panel: Axes, runs: pd.DataFrame) -> None:
    from matplotlib.ticker import MaxNLocator

    look = plotting.look("hard")
    random, supervised = runs[runs["run"] > 0], runs[runs["run"] == 0]
    panel.plot(
        random["J"], random["accuracy"], "o", color=look.colour, markersize=3.0, alpha=0.55,
        markeredgewidth=0, label="hard labels, random starts",
    )  # fmt: skip
    lowest = random.loc[random["J"].idxmin()]
    panel.plot(
        lowest["J"], lowest["accuracy"], "o", markersize=7.0, markerfacecolor="none",
        markeredgecolor=plotting.BLACK, markeredgewidth=1.1, zorder=3,
        label="lowest $J_r$ of these",
    )  # fmt: skip
    panel.plot(
        supervised["J"], supervised["accuracy"], look.marker, color=look.colour, markersize=6.0,
        markeredgecolor=plotting.BLACK, markeredgewidth=0.9, zorder=4,
        label="hard labels, supervised start",
    )  # fmt: skip
    panel.margins(0.08)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
