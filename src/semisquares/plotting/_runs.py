"""Draw paths of weights in the plane: contours, one path, many runs, and their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.typing import Array
from ._style import BLUE, LIGHT, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes


VISIBLE = 0.003
"""The least distance at which two points of a path are visibly different."""
END_COLOURS = (VERMILION, BLUE, ORANGE, PURPLE)
"""Colours of the optima that runs end in."""
BEHIND_TEXT = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}
N_CONTOURS = 24


def draw_contours(
    axes: Axes, first: Array, second: Array, J: Array, *, levels: Array | None = None
) -> None:
    """Draw the contours of J faintly behind the paths; the default levels grow geometrically."""
    if levels is None:
        lowest, highest = max(float(J.min()), 1e-4 * float(J.max())), float(J.max())
        above = min(1.02, np.sqrt(highest / lowest))  # J may rise by less than 2 %
        levels = np.geomspace(above * lowest, highest, N_CONTOURS)
    axes.contour(first, second, J, levels=levels, colors=LIGHT, linewidths=0.6, zorder=0.5)


def draw_path(
    axes: Axes, weights: Array, colour: str, *, label: str | None = None, bold: bool = False
) -> None:
    """Draw one path of weights, of shape (steps, 2), with a square at its start."""
    line = thin_path(weights)
    axes.plot(*line.T, color=colour, linewidth=1.8 if bold else 1.3, zorder=4, label=label)
    axes.plot(*line[0], "s", color=colour, markersize=4.5, zorder=4)


def draw_runs(axes: Axes, lines: Sequence[Array], colour: str) -> None:
    """Draw many thin paths, each with a dot at its start."""
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(list(lines), colors=colour, linewidths=0.7, alpha=0.7))
    starts = np.array([line[0] for line in lines]).reshape(-1, 2)
    axes.plot(*starts.T, ".", color=colour, markersize=3.2)


def draw_end(axes: Axes, place: Any, colour: str, *, size: float = 9.0) -> None:
    """Draw a ring at the end of paths."""
    axes.plot(
        *place, "o", markersize=size, markerfacecolor="white", markeredgecolor=colour,
        markeredgewidth=1.8, zorder=3,
    )  # fmt: skip


def thin_path(line: Array, apart: float = VISIBLE) -> Array:
    """Drop the points of a path that are not visibly different from the one before.

    Examples
    --------
    >>> thin_path(np.array([[0.0, 0.0], [0.001, 0.0], [1.0, 0.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    kept = [line[0]]
    for point in line[1:]:
        if np.abs(point - kept[-1]).max() > apart:
            kept.append(point)
    return np.array(kept)
