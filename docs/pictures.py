"""Pictures of the method pages: boundaries on the common example, and the labels that are made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisquares import plotting

from .example import (
    METHODS,
    SHOWN,
    TEST_ROWS,
    Example,
    decide,
    draw,
    fit,
    made_labels,
    rows_of,
    wrong,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

PICTURES = {
    "supervised": ("supervised",),
    "missing_outcomes": ("missing_outcomes",),
    "complete_case": ("supervised", "missing_outcomes"),
    "soft": ("soft",),
    "soft_cv": ("soft_cv",),
    "hard": ("hard", "hard_from_soft"),
    "self_learning": ("self_learning",),
    "em_discriminant": ("em",),
    "all_labelings": ("all_labelings",),
    "implicitly_constrained": ("implicitly_constrained",),
    "contrastive_pessimistic": ("contrastive_pessimistic",),
    "least_labeling": ("implicitly_constrained", "contrastive_pessimistic"),
    "transductive_svm": ("transductive_svm",),
    "scikit_learn": ("label_spreading", "self_training"),
    "oracle": ("oracle",),
    "overview": tuple(METHODS),
}
"""The methods in each page's picture; all of them in that of the index."""

WIDTH, HEIGHT = 4.3, 2.9
"""How far the panels reach from the origin."""
CELLS = 61
"""Points of the grid on which a boundary is found, in each direction."""
SHADES = 9
"""How many steps of colour lead from label 0 to label 1."""
BARE = "#B5B5B5"
"""The colour of rows that get no label."""
COLOURS = 48
"""Of the PNG files, half as many where panels are many: smooth edges for a third of the bytes."""


def draw_picture(name: str) -> Picture:
    """Draw the picture of a page."""
    keys = PICTURES[name]
    with plotting.style():
        if len(keys) > 2:
            picture, panels = plotting.facets(len(keys) + 1, 4, width=5.6, row_height=1.14)
            _draw_key(panels.pop())
        else:
            width = 4.6 if len(keys) == 1 else plotting.TWO_COLUMNS
            height = 3.5 if len(keys) == 1 else 3.2
            picture, panels = plotting.facets(len(keys), 2, width=width, row_height=height)
            plotting.legend(picture, panels, n_columns=3, more=_handles())
        for panel, key in zip(panels, keys, strict=True):
            draw_panel(panel, key, small=len(keys) > 2)
    return picture


def pack(picture: Picture, inputs: str) -> bytes:
    """Return a picture as a small PNG file that says what it was made from."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    note = PngInfo()
    note.add_text("inputs", inputs)
    full = Image.open(BytesIO(plotting.render(picture, "png"))).convert("RGB")
    colours = COLOURS if len(picture.axes) <= 2 else COLOURS // 2
    file = BytesIO()
    full.quantize(colours, dither=Image.Dither.NONE).save(
        file, "png", optimize=True, pnginfo=note, dpi=(plotting.PNG_DPI, plotting.PNG_DPI)
    )
    return file.getvalue()


@cache
def shown(key: str) -> tuple[Example, Any]:
    """Return the example of the pictures and a method fitted to it."""
    example = draw(SHOWN)
    return example, fit(METHODS[key], example)


def draw_panel(panel: Axes, key: str, *, small: bool) -> None:
    """Draw rows, the labels that they got, and the boundary beside those of two others."""
    example, model = shown(key)
    _draw_boundary(panel, model, tinted=True, color=plotting.INK, linewidth=1.3 if small else 1.9)
    for other in ("supervised", "oracle"):
        look = plotting.look(other)
        looks = {"color": look.colour, "linestyle": look.line, "linewidth": 0.9 if small else 1.3}
        _draw_boundary(panel, shown(other)[1], **looks)
    _draw_unlabeled(panel, key, size=1.3 if small else 2.6)
    for code in (0, 1):
        rows = example.y == code
        panel.plot(
            *example.X[rows].T, plotting.CLASS_MARKERS[code], color=plotting.CLASS_COLOURS[code],
            markersize=4.2 if small else 8.0, markeredgecolor=plotting.BLACK,
            markeredgewidth=0.7 if small else 1.2, zorder=4,
        )  # fmt: skip
    error = f"{wrong(model) / TEST_ROWS:.3f}"
    panel.set(xlim=(-WIDTH, WIDTH), ylim=(-HEIGHT, HEIGHT), aspect="equal")
    if small:
        panel.set_title(METHODS[key].name, fontsize=6.4, pad=2.5)
        panel.text(0.03, 0.04, error, transform=panel.transAxes, fontsize=6.8)
        panel.set(xticks=[], yticks=[])
    else:
        plotting.headline(panel, METHODS[key].name, f"test error {error}")
        panel.set(xlabel=r"$x_1$", ylabel=r"$x_2$")


def _draw_boundary(panel: Axes, model: Any, *, tinted: bool = False, **looks: Any) -> None:
    """Draw where the decision value is 0, and tint the two sides in the colours of the classes."""
    x, y = np.linspace(-WIDTH, WIDTH, CELLS), np.linspace(-HEIGHT, HEIGHT, CELLS)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    values = decide(model, grid.reshape(-1, 2)).reshape(CELLS, CELLS)
    if tinted:
        ends = np.abs(values).max() + 1.0
        panel.contourf(
            x, y, values, levels=[-ends, 0.0, ends], colors=plotting.CLASS_COLOURS, alpha=0.1
        )
    names = {"color": "colors", "linestyle": "linestyles", "linewidth": "linewidths"}
    looks = {names[name]: [value] for name, value in looks.items()}
    panel.contour(x, y, values, levels=[0.0], zorder=3, **looks)


def _draw_unlabeled(panel: Axes, key: str, size: float) -> None:
    """Draw rows without a label in the colour of the label that they got; grey where none."""
    example, model = shown(key)
    made = np.full(len(example.y), np.nan)
    made[rows_of(METHODS[key], example)] = made_labels(model)
    free = example.y < 0
    dots = {"marker": "o", "linestyle": "", "markeredgewidth": 0, "zorder": 1}
    bare = free & np.isnan(made)
    panel.plot(*example.X[bare].T, color=BARE, markersize=0.8 * size, **dots)
    size *= 1.6 if METHODS[key].few else 1.0
    step = np.rint(np.clip(made, 0.0, 1.0) * (SHADES - 1))
    for k, colour in enumerate(_shades()):
        rows = free & (step == k) & (made >= 0.0) & (made <= 1.0)
        panel.plot(*example.X[rows].T, color=colour, markersize=size, **dots)
    for code, beyond in enumerate((made < 0.0, made > 1.0)):
        panel.plot(
            *example.X[free & beyond].T, "o", markersize=size, markerfacecolor="none",
            markeredgecolor=plotting.CLASS_COLOURS[code], markeredgewidth=0.3 * size, zorder=1,
        )  # fmt: skip


def _shades() -> list[str]:
    """Return colours from that of class 0 over grey to that of class 1."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    first, last = plotting.CLASS_COLOURS
    shades = LinearSegmentedColormap.from_list("", [first, "#777777", last])
    return [to_hex(shades(k / (SHADES - 1))) for k in range(SHADES)]


def _handles() -> Sequence[Any]:
    """Return the entries of the legend."""
    from matplotlib.lines import Line2D

    shades = _shades()
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4.0, "markeredgewidth": 0}
    handles = [Line2D([], [], color=plotting.INK, linewidth=1.9, label="this method")]
    for other in ("supervised", "oracle"):
        look = plotting.look(other)
        handles.append(Line2D([], [], color=look.colour, linestyle=look.line, label=look.label))
    for code in (0, 1):
        handles.append(
            Line2D(
                [], [], marker=plotting.CLASS_MARKERS[code], linestyle="", markersize=6.5,
                color=plotting.CLASS_COLOURS[code], markeredgecolor=plotting.BLACK,
                label=f"labeled, class {code}",
            )
        )  # fmt: skip
    handles.append(Line2D([], [], color=BARE, label="no label made", **dot))
    names = {0: "got label 0", SHADES // 2: "got label ½", SHADES - 1: "got label 1"}
    handles += [Line2D([], [], color=shades[k], label=name, **dot) for k, name in names.items()]
    return handles


def _draw_key(panel: Axes) -> None:
    """Turn a panel into the legend."""
    panel.set_axis_off()
    panel.legend(handles=_handles(), loc="center", fontsize=5.8, labelspacing=0.3, markerscale=0.75)
