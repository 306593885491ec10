"""Curves with bands, and axes of numbers of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .looks import GREY, INK, Look, look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Array = NDArray[Any]

BAND_ALPHA = 0.18
_PUBLISHED: dict[str, Any] = {
    "linewidth": 4.0, "alpha": 0.3, "solid_capstyle": "round", "zorder": 1.2,
}  # fmt: skip


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
    looks = looks if label is None else replace(looks, label=label)
    low, high = band_ends(mean, error, log=log)
    interval_curve(axes, x, mean, low, high, looks, marked=marked)


def interval_curve(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    look: Look,
    *,
    marked: bool = True,
    edged: bool = False,
) -> None:
    """Draw a curve with a band from `low` to `high`, whose edges show where it is `edged`.

    Bands that lie over each other are told apart by their edges.
    """
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    axes.fill_between(x, low, high, color=look.colour, alpha=BAND_ALPHA, linewidth=0)
    for edge in (low, high) if edged else ():
        axes.plot(x, edge, color=look.colour, linewidth=0.5, alpha=0.6)
    axes.plot(
        x,
        mean,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker if marked else "",
        markersize=3.4,
        markeredgewidth=0,
        label=look.label,
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


def legend_of_bands(label: str = "± 2 standard errors") -> Artist:
    """Return the entry that tells what bands are."""
    from matplotlib.patches import Patch

    return Patch(color=GREY, alpha=2 * BAND_ALPHA, linewidth=0, label=label)


def legend_of_published() -> Artist:
    """Return the entry that tells what `published_curve` is."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, label="published", **_PUBLISHED)


def size_places(n: Array, sizes: Array) -> Array:
    """Return where numbers of rows stand: doublings are equally far apart, 0 is one before.

    Where the `sizes` of the axis do not span two doublings, numbers stand where they are.

    Examples
    --------
    >>> size_places(np.array([0, 10, 80]), np.array([0, 10, 20, 40, 80])).round(2)
    array([2.32, 3.32, 6.32])
    """
    least = sizes[sizes > 0].min(initial=sizes.max())
    if sizes.max() < 4 * least:
        return n
    return np.log2(np.where(n > 0, n, least / 2))


def mark_sizes(axes: Axes, sizes: Array, *, at_most: int = 8) -> None:
    """Name the sizes on the x axis, the largest first, as far as there is room."""
    places = size_places(sizes, sizes)
    room = max(float(np.ptp(places)), 1e-9) / at_most
    named = [len(sizes) - 1]
    for k in range(len(sizes) - 2, -1, -1):
        if places[named[-1]] - places[k] >= room:
            named.append(k)
    axes.set_xticks(places[named], [f"{sizes[k]:,.0f}" if sizes[k] else "none" for k in named])
    axes.set_xticks(places, minor=True)
