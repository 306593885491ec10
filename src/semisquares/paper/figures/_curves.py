"""Pictures with one panel per data set, and curves with bands in them.

The panels of a picture share the x axis and have a y axis each: curves are compared within a data
set, not between data sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ... import plotting
from ..._utils.typing import Array
from ...plotting._curves import (
    band_ends,
    band_entry,
    draw_band,
    draw_published_curve,
    published_entry,
)
from ...plotting._pictures import title_panel
from ...plotting._style import GREY, TWO_COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Picture


Y_LABELS = {"error": "error on test rows", "loss": "squared loss on test rows (log scale)"}
"""The columns that can be drawn; losses in one panel differ by factors of hundreds."""
N_COMPONENTS = {
    "Haberman": 3, "Ionosphere": 30, "Parkinsons": 12, "Diabetes": 8, "Sonar": 43, "SPECT": 21,
    "SPECTF": 37, "Transfusion": 103, "WDBC": 17, "Mammography": 9, "Digit1": 221, "USPS": 183,
    "COIL2": 114, "BCI": 45, "g241c": 235, "g241d": 235,
}  # fmt: skip
"""Principal components with 99 % of the variance, stored so that titles need no data."""
N_COMPONENTS_OF_NUMBERS = {"Transfusion": 3}
"""The numbers that differ in the preset `paper`, which takes no numeric column as text."""
MARGIN = 0.06


def n_components(name: str, preset: str) -> int:
    """Return the number of principal components of a data set in a preset."""
    other = N_COMPONENTS_OF_NUMBERS if preset == "paper" else {}
    return other.get(name, N_COMPONENTS[name])


@dataclass(frozen=True)
class Curves:
    """What to draw: the columns, the methods with their labels and styles, and notes."""

    x: str
    y: str
    x_label: str
    labels: Mapping[str, str]
    """The label of each method in the legend, in the order of drawing."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Text beside the name of a data set."""
    uprights: Mapping[str, float] = field(default_factory=dict)
    """Positions of vertical lines, by data set."""
    upright_label: str = ""
    log_x: bool = True
    styles: Mapping[str, plotting.MethodStyle] = field(default_factory=dict)
    """Styles of methods that `plotting` has no style for."""


def method_labels(methods: Sequence[str]) -> dict[str, str]:
    """Return the usual labels of methods."""
    return {method: plotting.method_style(method).label for method in methods}


def draw_curves(
    summary: pd.DataFrame, curves: Curves, *, published: pd.DataFrame | None = None
) -> Picture:
    """Draw one panel per data set; `published` has the summary's columns without errors."""
    names = list(summary["dataset"].unique())
    picture, panels = panel_grid(len(names), sharex=True)
    for name, panel in zip(names, panels, strict=True):
        ours = summary[summary["dataset"] == name]
        theirs = None if published is None else published[published["dataset"] == name]
        _draw_panel(panel, ours, theirs, curves)
        title_panel(panel, name, curves.notes.get(name, ""))
        if name in curves.uprights:
            panel.axvline(
                curves.uprights[name], color=GREY, linewidth=0.8, zorder=0.5,
                label=curves.upright_label,
            )  # fmt: skip
    (log_ticks if curves.log_x else share_ticks)(panels, summary[curves.x].to_numpy())
    label_axes(picture, panels, curves.x_label, Y_LABELS[curves.y])
    more = [band_entry()] if summary[f"{curves.y}_se"].notna().any() else []
    put_legend(picture, panels, more if published is None else [*more, published_entry()])
    return picture


def panel_grid(n: int, *, sharex: bool = False) -> tuple[Picture, list[Axes]]:
    """Return a picture with n panels; its size depends on n."""
    across = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}.get(n, 4)
    width = 4.8 if n == 1 else TWO_COLUMNS
    n_rows = -(-n // across)
    height = {1: 2.7, 2: 2.3, 3: 1.9, 4: 1.5}[across]
    below = 0.8  # the axis label and the legend, once
    picture, panels = plotting.facets(
        n, across, width=width, row_height=height + below / n_rows, sharex=sharex
    )
    picture.set_layout_engine("constrained", w_pad=0.03)
    return picture, panels


def n_columns(panels: Sequence[Axes]) -> int:
    """Return the number of columns of panels."""
    grid = panels[0].get_gridspec()
    assert grid is not None
    return int(grid.ncols)


def label_axes(picture: Picture, panels: Sequence[Axes], x: str, y: str = "") -> None:
    """Label the x axis under the lowest panel of each column, and the y axis once if given."""
    for panel in panels[-n_columns(panels) :]:
        panel.set_xlabel(x)
    if y:
        picture.supylabel(y, fontsize="medium")


def put_legend(picture: Picture, panels: Sequence[Axes], more: Sequence[Artist] = ()) -> None:
    """Put the legend of all panels below them, as wide as the picture allows."""
    labels = {label for panel in panels for label in panel.get_legend_handles_labels()[1]}
    n_entries = len(labels) + len(more)
    wide = 4 if n_entries > 6 else 3
    across = wide if picture.get_figwidth() > 5.0 else 2
    plotting.legend(picture, panels, n_columns=across, more=more)


def log_ticks(panels: Sequence[Axes], x: Array) -> None:
    """Mark powers of two; label every second or third in narrow panels."""
    from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

    first, last = (int(np.log2(value)) for value in (x.min(), x.max()))
    powers = 2 ** np.arange(first, last + 1)
    step = {1: 1, 2: 1}.get(n_columns(panels), 2 if len(powers) < 10 else 3)
    for panel in panels:
        panel.set_xscale("log", base=2)
        panel.set_xlim(2 ** (first - 0.4), 2 ** (last + 0.4))
        panel.xaxis.set_major_locator(FixedLocator(powers[::step].tolist()))
        panel.xaxis.set_minor_locator(FixedLocator(powers.tolist()))
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.xaxis.set_minor_formatter(NullFormatter())


def share_ticks(panels: Sequence[Axes], x: Array) -> None:
    """Mark shares in per cent."""
    from matplotlib.ticker import FixedLocator, PercentFormatter

    for panel in panels:
        panel.set_xlim(x.min() - 0.04, x.max() + 0.04)
        panel.xaxis.set_major_locator(FixedLocator([0.1, 0.3, 0.5, 0.7, 0.9]))
        panel.xaxis.set_minor_locator(FixedLocator([k / 10 for k in range(1, 10)]))
        panel.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))


def _draw_panel(
    panel: Axes, ours: pd.DataFrame, theirs: pd.DataFrame | None, curves: Curves
) -> None:
    log = curves.y == "loss"
    if log:
        panel.set_yscale("log")
    means: list[Array] = []
    ends: list[Array] = []
    for method, label in curves.labels.items():
        curve = ours[ours["method"] == method]
        x, mean, error = (curve[name].to_numpy() for name in (curves.x, curves.y, f"{curves.y}_se"))
        style = curves.styles.get(method, method)
        draw_band(panel, x, mean, error, style, label=label, log=log)
        means.append(mean)
        ends += band_ends(mean, error, log=log)
        if theirs is not None:
            line = theirs[theirs["method"] == method]
            draw_published_curve(panel, line[curves.x], line[curves.y], method)
            means.append(line[curves.y].to_numpy())
    low, high = limits(np.concatenate(means), np.concatenate(ends), log=log)
    panel.set_ylim(low, high)
    if log:
        _mark_log(panel, low, high)
    else:
        mark_round(panel.yaxis, low, high)


def limits(means: Array, ends: Array, *, log: bool) -> tuple[float, float]:
    """Return limits that include all means, and the bands unless they would dwarf the means.

    Examples
    --------
    >>> limits(np.array([1.0, 2.0]), np.array([0.9, 9.0]), log=False)
    (0.774, 3.126)
    """
    scale, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    means = scale(means)
    ends = scale(ends[np.isfinite(ends)])
    span = max(np.ptp(means), 0.02)
    low = max(np.min(ends, initial=means.min()), means.min() - span)
    high = min(np.max(ends, initial=means.max()), means.max() + span)
    margin = MARGIN * max(high - low, span)
    return float(back(low - margin)), float(back(high + margin))


def _mark_log(panel: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter

    panel.yaxis.set_major_locator(FixedLocator(log_marks(low, high).tolist()))
    panel.yaxis.set_minor_locator(FixedLocator(_multiples(low, high, range(1, 10)).tolist()))
    panel.yaxis.set_major_formatter(_log_name)
    panel.yaxis.set_minor_formatter(NullFormatter())


def mark_round(axis: Axis, low: float, high: float, *, at_most: int = 7) -> None:
    """Mark round numbers on an axis, with at least two decimals."""
    from matplotlib.ticker import FixedLocator, StrMethodFormatter

    marks = round_marks(low, high, at_most=at_most)
    decimals = next(n for n in range(2, 16) if np.allclose(marks.round(n), marks, 0, 1e-12))
    axis.set_major_locator(FixedLocator(marks.tolist()))
    axis.set_major_formatter(StrMethodFormatter(f"{{x:.{decimals}f}}"))


def round_marks(low: float, high: float, *, at_most: int = 7) -> Array:
    """Return multiples of 1, 2 or 5 times a power of ten in a range.

    Examples
    --------
    >>> round_marks(0.23, 0.31)
    array([0.24, 0.26, 0.28, 0.3 ])
    """
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(at_most - 1, steps=[1, 2, 5, 10]).tick_values(low, high)
    marks = np.asarray(found).round(12)
    return marks[(low <= marks) & (marks <= high)]


def _log_name(value: float, _: object) -> str:
    """Format a tick: large powers of ten as powers, other numbers as decimals."""
    power = float(np.log10(value))
    return f"$10^{{{power:.0f}}}$" if power > 3.5 and power.is_integer() else f"{value:g}"


def log_marks(low: float, high: float) -> Array:
    """Return a few numbers to label on a logarithmic axis, at least three if possible.

    Examples
    --------
    >>> log_marks(0.08, 30.0)
    array([ 0.1,  1. , 10. ])
    >>> log_marks(0.15, 1.2)
    array([0.2, 0.5, 1. ])
    """
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        marks = _multiples(low, high, factors)
        if len(marks) >= 3:
            return marks[:: -(-len(marks) // 5)]
    return round_marks(low, high, at_most=8)


def _multiples(low: float, high: float, factors: Sequence[float]) -> Array:
    """Return the products of factors and powers of ten that lie between two numbers."""
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    marks = np.array([float(f"{factor}e{power:.0f}") for power in powers for factor in factors])
    return marks[(low <= marks) & (marks <= high)]
