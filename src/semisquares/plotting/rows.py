"""Rows as dots in the colour and with the marker of their class, and the legend of all that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .looks import BLACK, CLASS_COLOURS, CLASS_MARKERS, INK, LOOKS, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Array = NDArray[Any]

UNSURE = "#777777"
"""The colour of a row whose label is equally of all classes."""
BARE = "#B5B5B5"
"""The colour of rows that got no label."""
ENDS = (0, (1, 1.6))
"""The line where soft labels become 0 or 1."""
STEPS = 4
"""How many steps of colour lead from unsure to sure."""


def class_look(code: int) -> tuple[str, str]:
    """Return colour and marker of a class.

    Examples
    --------
    >>> class_look(0)
    ('#56B4E9', 'o')
    """
    return CLASS_COLOURS[code % len(CLASS_COLOURS)], CLASS_MARKERS[code % len(CLASS_MARKERS)]


def labeled_dots(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    code: int,
    *,
    size: float = 8.0,
    edge: float = 1.2,
    zorder: float = 4.0,
    label: str | None = None,
) -> None:
    """Draw rows of a class whose label is known: large, with a black edge."""
    colour, marker = class_look(code)
    axes.plot(
        x, y, marker, color=colour, markersize=size, markeredgecolor=BLACK, markeredgewidth=edge,
        zorder=zorder, label=label,
    )  # fmt: skip


def true_dots(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    code: int,
    *,
    size: float,
    alpha: float,
    zorder: float = 2.0,
    label: str | None = None,
) -> None:
    """Draw rows without a label, small, in the colour of the class that they truly have."""
    colour, marker = class_look(code)
    axes.plot(
        x, y, marker, color=colour, markersize=size, alpha=alpha, markeredgewidth=0,
        zorder=zorder, label=label,
    )  # fmt: skip


def made_dots(axes: Axes, rows: Array, made: Array, *, size: float) -> None:
    """Draw rows without a label in the colour of the label that they got.

    Parameters
    ----------
    axes : Axes
    rows : array of shape (n, 2)
    made : array of shape (n,) or (n, n_classes)
        The label of each, of two classes that of the second. A row of NaN got none and is grey;
        a label below 0 or above 1, which a regression may give, is a ring.
    size : float
        Of a dot, in points.
    """
    made = shares_of_classes(made)
    bare = np.isnan(made).any(axis=1)
    beyond = ~bare & (made < 0.0).any(axis=1)
    within = ~bare & ~beyond
    axes.plot(*rows[bare].T, "o", color=BARE, markersize=0.8 * size, markeredgewidth=0, zorder=1)
    size *= 1.6 if bare.any() and bare.mean() > 0.5 else 1.0  # few among many would be lost
    (x, y), (x_ring, y_ring) = rows[within].T, rows[beyond].T
    axes.scatter(x, y, s=size**2, c=label_colours(made[within]), linewidths=0, zorder=1)
    axes.scatter(
        x_ring, y_ring, s=size**2, facecolors="none", linewidths=0.3 * size, zorder=1,
        edgecolors=label_colours(made[beyond]).tolist(),
    )  # fmt: skip


def shares_of_classes(made: ArrayLike) -> Array:
    """Return labels with a column for each class.

    Examples
    --------
    >>> shares_of_classes([0.25, 1.0])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    made = np.asarray(made, dtype=float)
    return np.stack((1.0 - made, made), axis=1) if made.ndim == 1 else made


def label_colours(made: Array) -> Array:
    """Return the colours of labels (n, n_classes): from grey, unsure, to that of the likeliest.

    Examples
    --------
    >>> label_colours(np.array([[0.5, 0.5], [0.0, 1.0]])).round(2)
    array([[0.47, 0.47, 0.47],
           [0.9 , 0.62, 0.  ]])
    """
    from matplotlib.colors import to_rgb

    n_classes = made.shape[1]
    ends = np.array([to_rgb(class_look(k)[0]) for k in range(n_classes)])
    sure = np.clip((made.max(axis=1) - 1 / n_classes) / (1 - 1 / n_classes), 0.0, 1.0)
    sure = np.rint(STEPS * sure) / STEPS  # no eye tells more, and a file of few colours is small
    return blend(np.array(to_rgb(UNSURE)), ends[made.argmax(axis=1)], sure[:, None])


def blend(first: ArrayLike, second: ArrayLike, share: ArrayLike) -> Array:
    """Return colours on the way from the first to the second."""
    share = np.asarray(share)
    return (1.0 - share) * np.asarray(first) + share * np.asarray(second)


def legend_of_decision(
    look: Look,
    beside: Sequence[str],
    classes: Sequence[Any],
    *,
    bare: bool = True,
    made: bool = True,
    ends: bool = True,
) -> list[Line2D]:
    """Return the entries of a legend: boundaries, labeled rows, labels that the others got.

    Parameters
    ----------
    look : Look
        Of the method.
    beside : sequence of str
        Other methods, by their names in `LOOKS`.
    classes : sequence
        Names of the classes.
    bare, made, ends : bool
        Whether there are rows that got no label, rows that got one, lines where labels are 0 or 1.
    """
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4.0, "markeredgewidth": 0}
    found = []
    for one, width in ((look, 1.9), *((LOOKS[method], 1.3) for method in beside)):
        line = Line2D([], [], color=one.colour, linewidth=width, label=one.label)
        line.set_linestyle(one.line)  # type: ignore[arg-type]
        found.append(line)
    if ends:
        words = "label is 0 or 1 from here on" if len(classes) == 2 else "label is whole from here"
        found.append(Line2D([], [], color=INK, linestyle=ENDS, linewidth=1.1, label=words))
    for code, name in enumerate(classes):
        colour, marker = class_look(code)
        dots = Line2D([], [], color=colour, marker=marker, linestyle="", markersize=6.5)
        dots.set(markeredgecolor=BLACK, label=f"labeled, class {name}")
        found.append(dots)
    if bare:
        found.append(Line2D([], [], color=BARE, label="no label made", **dot))
    if made:
        entries = [(f"got label {name}", class_look(k)[0]) for k, name in enumerate(classes)]
        two = len(classes) == 2
        entries.insert(1 if two else 0, ("got label ½" if two else "got a bit of each", UNSURE))
        found += [Line2D([], [], color=colour, label=name, **dot) for name, colour in entries]
    return found
