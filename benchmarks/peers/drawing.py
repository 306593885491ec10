"""The pictures of the evidence pages, drawn from the stored tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semisquares import plotting
from semisquares.plotting import MethodStyle
from semisquares.plotting._style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PURPLE,
    SKY,
    TWO_COLUMNS,
    VERMILION,
)

from .comparing import Comparison, Mean
from .fitting import OK
from .methods import COMPETITORS, METHODS, OURS
from .promises import ALONE, AVERAGED, RIDGE, are_measured
from .sets import REGIMES
from .storing import Stored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

DASHED, DOTTED, MIXED = (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5))
_LOOKS = {
    "averaged": (GREEN, "*", MIXED),
    "averaged_supervised": (GREY, "*", DOTTED),
    "soft_cv": (GREEN, "o", "-"),
    "soft_cv_supervised": (GREY, "o", DOTTED),
    "soft": (GREEN, "v", DASHED),
    "hard": (GREEN, "^", DOTTED),
    "ridge_cv": (BLUE, "s", "-"),
    "ridge_fine": (BLUE, "o", DASHED),
    "ridge": (BLUE, "v", MIXED),
    "logistic": (BLUE, "D", DASHED),
    "logistic_cv": (BLUE, "P", DOTTED),
    "svc": (GREY, "o", "-"),
    "knn": (GREY, "s", DASHED),
    "random_forest": (GREY, "^", DOTTED),
    "extra_trees": (GREY, "v", MIXED),
    "hist_gradient_boosting": (GREY, "D", "-"),
    "self_training": (ORANGE, "o", "-"),
    "propagation_knn": (VERMILION, "v", DASHED),
    "propagation_rbf": (VERMILION, "^", DOTTED),
    "spreading_knn": (VERMILION, "s", "-"),
    "spreading_rbf": (VERMILION, "D", MIXED),
    "tri_training": (PURPLE, "o", "-"),
    "co_forest": (PURPLE, "v", DASHED),
    "tsvm": (SKY, "o", "-"),
    "lap_svm": (SKY, "v", DASHED),
}
LOOKS = {name: MethodStyle(METHODS[name].label, *look) for name, look in _LOOKS.items()}
"""A colour for each family: ours, linear and others of labels alone, self-training, graphs,
sslearn, LAMDA-SSL.
"""


def accuracy(stored: Stored) -> Picture:
    """Draw how much more accurate each method is than the tuned ridge, a panel for each regime."""
    known = {name for regime in REGIMES for name in Comparison(stored, regime).competitors}
    methods = [name for name in COMPETITORS if name in known and name != "ridge_cv"]
    height = 0.6 + 0.19 * len(methods)
    picture, panels = plotting.facets(len(REGIMES), 3, row_height=height, sharey=True)
    for panel, (regime, words) in zip(panels, REGIMES.items(), strict=True):
        comparison = Comparison(stored, regime)
        for place, name in enumerate(methods):
            _interval(panel, place, comparison.mean_difference(name, "ridge_cv"), LOOKS[name])
        _finish(panel, [METHODS[name].label for name in methods], words)
    panels[1].set_xlabel("points more accurate than RidgeClassifierCV, mean of the paper's tables")
    return picture


def helps(stored: Stored) -> Picture:
    """Draw, for each table, how soft labels do against the tuned ridge."""
    pairs = {
        ("soft_cv", "ridge_fine"): LOOKS["soft_cv"],
        ("soft", "ridge_fine"): replace(LOOKS["soft"], colour=GREY),
    }
    label = "points more accurate than RidgeClassifierCV (fine grid), which uses the labels alone"
    return _by_table(stored, pairs, label)


def averaged(stored: Stored) -> Picture:
    """Draw, for each table, how the averaged classifier does against others."""
    looks = {RIDGE: (GREEN, "o"), ALONE: (ORANGE, "s")}
    pairs = {
        (AVERAGED, other): MethodStyle(METHODS[other].label, colour, marker, "-")
        for other, (colour, marker) in looks.items()
        if are_measured(stored, other)
    }
    return _by_table(stored, pairs, "points by which AveragedClassifier is more accurate than")


def _by_table(stored: Stored, pairs: dict[tuple[str, str], MethodStyle], label: str) -> Picture:
    """Draw the differences of one or two pairs of methods, for each table."""
    picture, panels = plotting.facets(len(REGIMES), 3, row_height=4.6, sharey=True)
    for panel, (regime, words) in zip(panels, REGIMES.items(), strict=True):
        comparison = Comparison(stored, regime)
        for place, table in enumerate(comparison.tables):
            for (pair, look), shift in zip(pairs.items(), (-0.17, 0.17), strict=False):
                difference = comparison.difference(*pair, table)
                _interval(panel, place + shift, difference, look, labeled=place == 0)
        n_paper = len(comparison.paper)
        panel.axhline(n_paper - 0.5, color=LIGHT, linewidth=0.6)
        _finish(panel, comparison.tables, words)
        panel.set_xscale("symlog", linthresh=4.0, linscale=1.5)
        panel.set_xticks([-30, -10, -3, 0, 3, 10, 30], ["−30", "", "−3", "0", "3", "", "30"])
        panel.minorticks_off()
    panels[1].set_xlabel(label)
    plotting.legend(picture, panels)
    return picture


def time(stored: Stored) -> Picture:
    """Draw the seconds of a fit against the number of rows."""
    return _growth(stored, "wall", 1.0, "seconds of a fit")


def memory(stored: Stored) -> Picture:
    """Draw the peak memory of a fit beyond the rows themselves."""
    return _growth(stored, "beyond", 1e6, "MB beyond the rows")


PICTURES: dict[str, Callable[[Stored], Picture]] = {
    "accuracy": accuracy,
    "averaged": averaged,
    "helps": helps,
    "time": time,
    "memory": memory,
}


def drawn_from(stored: Stored) -> list[str]:
    """Return the names of the pictures whose numbers are stored."""
    lacks = {"averaged": not are_measured(stored, AVERAGED, RIDGE)}
    lacks |= dict.fromkeys(("time", "memory"), stored.cost.empty)
    return [name for name in PICTURES if not lacks.get(name)]


def draw(name: str, stored: Stored, inputs: str) -> bytes:
    """Return a picture as SVG, with the digest of its inputs in a comment."""
    with plotting.style():
        picture = PICTURES[name](stored)
    return plotting.render(picture, "svg") + f"<!-- inputs {inputs} -->\n".encode()


def inputs_of(folder: Path) -> str:
    """Return a digest of the inputs of the pictures: the stored tables and the code."""
    digest = hashlib.sha256()
    code = (Path(__file__).with_name(f"{name}.py") for name in ("comparing", "drawing", "sets"))
    for path in (*sorted(folder.glob("*.csv")), *code):
        digest.update(path.read_text(encoding="utf-8").encode())
    return digest.hexdigest()


def inputs_in(drawn: bytes) -> str:
    """Read the digest in a picture."""
    return drawn.decode().rsplit("<!-- inputs ", 1)[-1].partition(" -->")[0]


def _growth(stored: Stored, column: str, unit: float, label: str) -> Picture:
    picture = plotting.new_picture(TWO_COLUMNS, 4.6)
    panel = picture.add_subplot()
    done = stored.cost[stored.cost["status"] == OK]
    for name, look in LOOKS.items():
        if name not in set(stored.cost["method"]):
            continue
        medians = done[done["method"] == name].groupby("rows")[column].median() / unit
        panel.plot(
            medians.index, np.maximum(medians, 1e-3), color=look.colour, linestyle=look.line,
            marker=look.marker, markersize=3.6, markeredgewidth=0, label=look.label,
            linewidth=2.0 if METHODS[name].package == OURS else 1.1,
        )  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
    panel.grid(True)
    plotting.legend(picture, [panel], n_columns=3)
    return picture


def _interval(
    panel: Axes, place: float, mean: Mean, look: MethodStyle, *, labeled: bool = False
) -> None:
    """Draw a mean and its 95 % interval, in points."""
    if not np.isfinite(mean.value):
        return
    width = 100.0 * np.nan_to_num(mean.half_width)
    panel.errorbar(
        100.0 * mean.value, place, xerr=width, fmt=look.marker, color=look.colour, markersize=3.6,
        elinewidth=1.0, markeredgewidth=0, label=look.label if labeled else None,
    )  # fmt: skip


def _finish(panel: Any, names: Sequence[str], title: str) -> None:
    panel.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
    panel.set_yticks(range(len(names)), names, fontsize=7.0)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.grid(True, axis="x")
    panel.set_title(title, fontsize=7.6)
    panel.tick_params(axis="y", color=GREY)
