"""Curves with bands, and axes that show numbers of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.typing import Array
from ._style import GREY, INK, MethodStyle, method_style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


BAND_ALPHA = 0.18
_PUBLISHED: dict[str, Any] = {
    "linewidth": 4.0, "alpha": 0.3, "solid_capstyle": "round", "zorder": 1.2,
}  # fmt: skip


def draw_band(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    error: ArrayLike,
    method: str | MethodStyle,
    *,
    label: str | None = None,
    marked: bool = True,
    log: bool = False,
) -> None:
    """Draw a method's curve with a band of two standard errors on either side (`band_ends`).

    The method is a name in `METHOD_STYLES`, or a style.
    """
    style = method_style(method) if isinstance(method, str) else method
    style = style if label is None else replace(style, label=label)
    low, high = band_ends(mean, error, log=log)
    draw_interval_curve(axes, x, mean, low, high, style, marked=marked)


def draw_interval_curve(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    style: MethodStyle,
    *,
    marked: bool = True,
    edged: bool = False,
) -> None:
    """Draw a curve with a band from `low` to `high`.

    With `edged`, the band has visible edges, which helps if bands overlap.
    """
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    axes.fill_between(x, low, high, color=style.colour, alpha=BAND_ALPHA, linewidth=0)
    for edge in (low, high) if edged else ():
        axes.plot(x, edge, color=style.colour, linewidth=0.5, alpha=0.6)
    axes.plot(
        x,
        mean,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker if marked else "",
        markersize=3.4,
        markeredgewidth=0,
        label=style.label,
    )


def band_ends(mean: ArrayLike, error: ArrayLike, *, log: bool = False) -> tuple[Array, Array]:
    """Return the ends of a band: the mean plus and minus two standard errors.

    With `log` the standard error is that of the mean's logarithm, so that the band stays positive
    on a logarithmic axis.

    Examples
    --------
    >>> band_ends([3.0], [0.5])
    (array([2.]), array([4.]))
    """
    mean, error = np.asarray(mean, dtype=float), np.asarray(error, dtype=float)
    if log:
        factor = np.exp(np.minimum(2 * error / mean, 100.0))  # more would overflow
        return mean / factor, mean * factor
    return mean - 2 * error, mean + 2 * error


def draw_published_curve(axes: Axes, x: ArrayLike, y: ArrayLike, method: str) -> None:
    """Draw the paper's curve of a method faintly behind ours, without a legend entry."""
    axes.plot(np.asarray(x), np.asarray(y), color=method_style(method).colour, **_PUBLISHED)


def band_entry(label: str = "± 2 standard errors") -> Artist:
    """Return the legend entry of the bands."""
    from matplotlib.patches import Patch

    return Patch(color=GREY, alpha=2 * BAND_ALPHA, linewidth=0, label=label)


def published_entry() -> Artist:
    """Return the legend entry of `draw_published_curve`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, label="published", **_PUBLISHED)


def size_positions(n: Array, sizes: Array) -> Array:
    """Return positions on an axis of row numbers: logarithmic, with 0 one doubling below the least.

    The axis is linear if its `sizes` span less than two doublings.

    Examples
    --------
    >>> size_positions(np.array([0, 10, 80]), np.array([0, 10, 20, 40, 80])).round(2)
    array([2.32, 3.32, 6.32])
    """
    least = sizes[sizes > 0].min(initial=sizes.max())
    if sizes.max() < 4 * least:
        return n
    return np.log2(np.where(n > 0, n, least / 2))


def label_sizes(axes: Axes, sizes: Array, *, at_most: int = 8) -> None:
    """Label the sizes on the x axis, starting with the largest, as far as there is room."""
    places = size_positions(sizes, sizes)
    room = max(float(np.ptp(places)), 1e-9) / at_most
    named = [len(sizes) - 1]
    for k in range(len(sizes) - 2, -1, -1):
        if places[named[-1]] - places[k] >= room:
            named.append(k)
    axes.set_xticks(places[named], [f"{sizes[k]:,.0f}" if sizes[k] else "none" for k in named])
    axes.set_xticks(places, minor=True)
