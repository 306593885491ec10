"""Draw rows as dots with the colour and marker of their class, and their legend entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.typing import Array
from ._style import BLACK, CLASS_COLOURS, CLASS_MARKERS, INK, METHOD_STYLES, MethodStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


UNSURE = "#777777"
"""The colour of a row whose label gives all classes the same share."""
NOT_IMPUTED = "#B5B5B5"
"""The colour of rows without an imputed label."""
ENDS = (0, (1, 1.6))
"""The line style where soft labels become 0 or 1."""
STEPS = 4
"""Number of colour steps from unsure to sure."""


def class_style(code: int) -> tuple[str, str]:
    """Return the colour and the marker of a class.

    Examples
    --------
    >>> class_style(0)
    ('#56B4E9', 'o')
    """
    return CLASS_COLOURS[code % len(CLASS_COLOURS)], CLASS_MARKERS[code % len(CLASS_MARKERS)]


def draw_labeled_rows(
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
    """Draw labeled rows of a class: large dots with a black edge."""
    colour, marker = class_style(code)
    axes.plot(
        x, y, marker, color=colour, markersize=size, markeredgecolor=BLACK, markeredgewidth=edge,
        zorder=zorder, label=label,
    )  # fmt: skip


def draw_unlabeled_rows(
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
    """Draw unlabeled rows of a class: small dots in the colour of their true class."""
    colour, marker = class_style(code)
    axes.plot(
        x, y, marker, color=colour, markersize=size, alpha=alpha, markeredgewidth=0,
        zorder=zorder, label=label,
    )  # fmt: skip


def draw_imputed_rows(axes: Axes, rows: Array, imputed: Array, *, size: float) -> None:
    """Draw unlabeled rows in the colours of their imputed labels.

    Parameters
    ----------
    axes : Axes
    rows : array of shape (n, 2)
    imputed : array of shape (n,) or (n, n_classes)
        The label of each row, of the second class if binary. Rows of NaN have no label and are
        grey; labels below 0 or above 1, which a regression may impute, are drawn as rings.
    size : float
        Size of a dot, in points.
    """
    imputed = shares_of_classes(imputed)
    none = np.isnan(imputed).any(axis=1)
    beyond = ~none & (imputed < 0.0).any(axis=1)
    within = ~none & ~beyond
    grey: dict[str, Any] = {"color": NOT_IMPUTED, "markersize": 0.8 * size, "markeredgewidth": 0}
    axes.plot(*rows[none].T, "o", zorder=1, **grey)
    size *= 1.6 if none.any() and none.mean() > 0.5 else 1.0  # few among many would be invisible
    (x, y), (x_ring, y_ring) = rows[within].T, rows[beyond].T
    axes.scatter(x, y, s=size**2, c=label_colours(imputed[within]), linewidths=0, zorder=1)
    axes.scatter(
        x_ring, y_ring, s=size**2, facecolors="none", linewidths=0.3 * size, zorder=1,
        edgecolors=label_colours(imputed[beyond]).tolist(),
    )  # fmt: skip


def shares_of_classes(labels: ArrayLike) -> Array:
    """Return labels with one column per class.

    Examples
    --------
    >>> shares_of_classes([0.25, 1.0])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    labels = np.asarray(labels, dtype=float)
    return np.stack((1.0 - labels, labels), axis=1) if labels.ndim == 1 else labels


def label_colours(labels: Array) -> Array:
    """Return the colours of labels (n, n_classes), from grey (unsure) to the likeliest class's.

    Examples
    --------
    >>> label_colours(np.array([[0.5, 0.5], [0.0, 1.0]])).round(2)
    array([[0.47, 0.47, 0.47],
           [0.9 , 0.62, 0.  ]])
    """
    from matplotlib.colors import to_rgb

    n_classes = labels.shape[1]
    ends = np.array([to_rgb(class_style(k)[0]) for k in range(n_classes)])
    sure = np.clip((labels.max(axis=1) - 1 / n_classes) / (1 - 1 / n_classes), 0.0, 1.0)
    sure = np.rint(STEPS * sure) / STEPS  # finer steps are invisible, and make files larger
    return blend(np.array(to_rgb(UNSURE)), ends[labels.argmax(axis=1)], sure[:, None])


def blend(first: ArrayLike, second: ArrayLike, share: ArrayLike) -> Array:
    """Return colours between the first and the second."""
    share = np.asarray(share)
    return (1.0 - share) * np.asarray(first) + share * np.asarray(second)


def decision_entries(
    style: MethodStyle,
    beside: Sequence[str],
    classes: Sequence[Any],
    *,
    not_imputed: bool = True,
    imputed: bool = True,
    ends: bool = True,
) -> list[Line2D]:
    """Return legend entries for boundaries, labeled rows, and imputed labels.

    Parameters
    ----------
    style : MethodStyle
        Of the method.
    beside : sequence of str
        The names of other methods in `METHOD_STYLES`.
    classes : sequence
        Names of the classes.
    not_imputed, imputed, ends : bool
        Whether there are rows without and with an imputed label, and lines where labels are 0 or 1.
    """
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4.0, "markeredgewidth": 0}
    found = []
    for one, width in ((style, 1.9), *((METHOD_STYLES[method], 1.3) for method in beside)):
        line = Line2D([], [], color=one.colour, linewidth=width, label=one.label)
        line.set_linestyle(one.line)  # type: ignore[arg-type]
        found.append(line)
    if ends:
        words = "label becomes 0 or 1" if len(classes) == 2 else "one class has the whole label"
        found.append(Line2D([], [], color=INK, linestyle=ENDS, linewidth=1.1, label=words))
    for code, name in enumerate(classes):
        colour, marker = class_style(code)
        dots = Line2D([], [], color=colour, marker=marker, linestyle="", markersize=6.5)
        dots.set(markeredgecolor=BLACK, label=f"labeled, class {name}")
        found.append(dots)
    if not_imputed:
        found.append(Line2D([], [], color=NOT_IMPUTED, label="no imputed label", **dot))
    if imputed:
        entries = [(f"imputed label {name}", class_style(k)[0]) for k, name in enumerate(classes)]
        two = len(classes) == 2
        entries.insert(
            1 if two else 0, ("imputed label ½" if two else "equal shares of all classes", UNSURE)
        )
        found += [Line2D([], [], color=colour, label=name, **dot) for name, colour in entries]
    return found
