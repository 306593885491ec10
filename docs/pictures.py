"""Pictures of the method pages: boundaries and imputed labels on the common example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisquares import plotting
from semisquares.plotting._pictures import title_panel
from semisquares.plotting._rows import decision_entries
from semisquares.plotting._style import INK, PNG_DPI, TWO_COLUMNS

from .example import (
    METHODS,
    SHOWN,
    TEST_ROWS,
    Example,
    decide,
    draw,
    fit,
    imputed_labels,
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
    "averaged": ("averaged",),
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
"""The methods in the picture of each page; the index shows all."""

WIDTH, HEIGHT = 4.3, 2.9
"""The limits of the panels on both sides of the origin."""
CELLS = 61
"""Number of grid points in each direction, on which boundaries are found."""
BESIDE = ("supervised", "oracle")
"""Methods whose boundaries every panel shows."""
THIS = plotting.MethodStyle("this method", INK, "", "-")
COLOURS, FEW_COLOURS = 48, 20
"""Numbers of colours in a PNG file with few and with many panels, to keep files small."""


def draw_picture(name: str) -> Picture:
    """Draw the picture of a page."""
    keys = PICTURES[name]
    with plotting.style():
        if len(keys) > 2:
            picture, panels = plotting.facets(len(keys) + 1, 4, width=5.4, row_height=1.1)
            _draw_key(panels.pop())
        else:
            width = 4.6 if len(keys) == 1 else TWO_COLUMNS
            height = 3.5 if len(keys) == 1 else 3.2
            picture, panels = plotting.facets(len(keys), 2, width=width, row_height=height)
            plotting.legend(picture, panels, n_columns=3, more=_entries())
        for panel, key in zip(panels, keys, strict=True):
            draw_panel(panel, key, small=len(keys) > 2)
    return picture


def pack(picture: Picture, inputs: str) -> bytes:
    """Return a picture as a small PNG file that contains the digest of its inputs."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    note = PngInfo()
    note.add_text("inputs", inputs)
    full = Image.open(BytesIO(plotting.render(picture, "png"))).convert("RGB")
    colours = COLOURS if len(picture.axes) <= 2 else FEW_COLOURS
    file = BytesIO()
    full.quantize(colours, dither=Image.Dither.NONE).save(
        file, "png", optimize=True, pnginfo=note, dpi=(PNG_DPI, PNG_DPI)
    )
    return file.getvalue()


@cache
def shown(key: str) -> tuple[Example, Any]:
    """Return the example that the pictures show, and a method fitted to it."""
    example = draw(SHOWN)
    return example, fit(METHODS[key], example)


def draw_panel(panel: Axes, key: str, *, small: bool) -> None:
    """Draw the rows, their imputed labels, and the boundaries of the method and of two others.

    Everything is rounded far below what is visible, so that files do not depend on the last bits,
    which differ between processors.
    """
    example, model = shown(key)
    imputed = np.full(len(example.y), np.nan)
    imputed[rows_of(METHODS[key], example)] = imputed_labels(model)
    x, y = np.linspace(-WIDTH, WIDTH, CELLS), np.linspace(-HEIGHT, HEIGHT, CELLS)
    places = np.stack([axis.ravel() for axis in np.meshgrid(x, y)], axis=1)
    values = {
        name: np.round(decide(shown(name)[1], places), 5).reshape(CELLS, -1)
        for name in (key, *BESIDE)
    }
    plotting.DecisionDisplay(
        x, y, values[key], rows=np.round(example.X, 5), codes=example.y,
        imputed=np.round(imputed, 3), style=THIS, beside={name: values[name] for name in BESIDE},
    ).plot(panel, shades=False, scale=0.46 if small else 1.0)  # fmt: skip
    error = f"{wrong(model) / TEST_ROWS:.3f}"
    panel.set(aspect="equal")
    if small:
        panel.set_title(METHODS[key].name, fontsize=6.4, pad=2.5)
        panel.text(0.03, 0.04, error, transform=panel.transAxes, fontsize=6.8)
        panel.set(xticks=[], yticks=[], xlabel="", ylabel="")
    else:
        title_panel(panel, METHODS[key].name, f"test error {error}")


def _entries() -> Sequence[Any]:
    """Return the legend entries."""
    return decision_entries(THIS, BESIDE, (0, 1), ends=False)


def _draw_key(panel: Axes) -> None:
    """Turn a panel into the legend."""
    panel.set_axis_off()
    panel.legend(handles=_entries(), loc="center", fontsize=5.8, labelspacing=0.3, markerscale=0.75)
