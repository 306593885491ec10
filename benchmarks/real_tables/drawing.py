"""The picture of the page: on each table, how much more accurate ours is than each rival."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semisquares import plotting
from semisquares.plotting import MethodStyle
from semisquares.plotting._style import BLUE, GREY, INK, LIGHT, ORANGE, PURPLE, SKY

from ..peers.drawing import inputs_in
from .comparing import Comparison, comparisons
from .methods import METHODS, RIVALS
from .storing import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["draw", "inputs_in", "inputs_of"]

LOOKS = {
    "ridge": (BLUE, "s"),
    "logistic": (SKY, "D"),
    "logistic_cv": (PURPLE, "v"),
    "forest": (ORANGE, "^"),
    "boosting": (GREY, "o"),
}
STYLES = {
    name: MethodStyle(METHODS[name].label, colour, marker, "")
    for name, (colour, marker) in LOOKS.items()
}
MEAN = "mean of the tables"
TICKS = {-30: "−30", -10: "−10", -3: "−3", -1: "−1", 0: "0", 1: "1", 3: "3", 10: "10", 30: "30"}
STRAIGHT = 1.0
"""The axis is linear up to this many points on both sides, and logarithmic beyond."""
MEANS_AT = -0.7
APART = 0.28
"""Where the means are drawn, in rows, and how far apart."""


def picture(results: Results) -> Picture:
    """Draw a panel for each number of labels and a row for each table, the means at the top."""
    found = comparisons(results)
    tables = [one for one in results.tables if any(one in c.tables for c in found.values())]
    height = 1.0 + 0.21 * len(tables)
    drawn, panels = plotting.facets(len(found), 3, row_height=height, sharey=True)
    limits = _limits(found)
    for panel, (labels, comparison) in zip(panels, found.items(), strict=True):
        _fill(panel, comparison, tables)
        panel.set_xlim(*limits)
        panel.set_title(f"{labels:,} labels", fontsize=7.6)
    panels[len(panels) // 2].set_xlabel("points by which semisquares is more accurate than")
    plotting.legend(drawn, panels, n_columns=3)
    return drawn


def _limits(found: dict[int, Comparison]) -> tuple[float, float]:
    """Return limits that show all gains, in points, with some space beside them."""
    gains = [
        gain
        for one in found.values()
        for name in RIVALS
        for gain in one.gain(name, "accuracy").by_table.values()
    ]
    return min(130.0 * min(gains), -STRAIGHT), max(130.0 * max(gains), STRAIGHT)


def _fill(panel: Axes, comparison: Comparison, tables: list[str]) -> None:
    for name in RIVALS:
        gain, look = comparison.gain(name, "accuracy"), STYLES[name]
        places = [tables.index(table) + 1 for table in gain.by_table]
        panel.plot(
            100.0 * np.array(list(gain.by_table.values())), places, look.marker, color=look.colour,
            markersize=3.4, markeredgewidth=0, alpha=0.85, label=look.label,
        )  # fmt: skip
        place = MEANS_AT + APART * (RIVALS.index(name) - (len(RIVALS) - 1) / 2)
        panel.errorbar(
            100.0 * gain.mean, place, xerr=100.0 * gain.error, fmt=look.marker, color=look.colour,
            markersize=3.4, markeredgewidth=0, elinewidth=1.0,
        )  # fmt: skip
    panel.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
    panel.axhline(0.3, color=LIGHT, linewidth=0.6)
    places = [MEANS_AT, *range(1, len(tables) + 1)]
    panel.set_yticks(places, [MEAN, *tables], fontsize=7.0)
    panel.set_ylim(len(tables) + 0.5, MEANS_AT - 3 * APART)
    panel.set_xscale("symlog", linthresh=STRAIGHT, linscale=0.6)
    panel.set_xticks(list(TICKS), list(TICKS.values()), fontsize=7.0)
    panel.minorticks_off()
    panel.grid(True, axis="both", linewidth=0.3)
    panel.tick_params(axis="y", color=GREY)


def draw(results: Results, inputs: str) -> bytes:
    """Return the picture as SVG, with the digest of its inputs in a comment."""
    with plotting.style():
        drawn = picture(results)
    return plotting.render(drawn, "svg") + f"<!-- inputs {inputs} -->\n".encode()


def inputs_of(path: Path) -> str:
    """Return a digest of the inputs of the picture: the stored results and the code."""
    digest = hashlib.sha256()
    code = (Path(__file__).with_name(f"{name}.py") for name in ("comparing", "drawing"))
    for one in (path, *code):
        digest.update(one.read_text(encoding="utf-8").encode())
    return digest.hexdigest()
