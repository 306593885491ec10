"""Pictures: panels, titles, one legend for all of them, files that are the same every time.

Pictures are drawn inside `style` and on `matplotlib.figure.Figure` itself, never through pyplot:
nothing is kept open, and the settings of a user's session neither show in them nor change. Only the
displays, which a user calls, make a figure of pyplot where they are given no axes (`drawing_on`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.files import make_folder
from .looks import MUTED, TWO_COLUMNS, need_matplotlib, style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


@contextmanager
def drawing_on(ax: Axes | None, *, width: float = 4.8, height: float = 3.6) -> Iterator[Axes]:
    """Give the axes that a display draws on: those given, as they are, or those of a new figure.

    The figure is one of pyplot, so that a notebook shows it, and has this style.
    """
    need_matplotlib()
    if ax is not None:
        yield ax
        return
    with style():
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
        yield axes


def new_picture(width: float = TWO_COLUMNS, height: float = 3.0) -> Picture:
    """Return an empty picture, sizes in inches; call inside `style`."""
    need_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    return picture


def facets(
    n: int,
    n_columns: int,
    *,
    width: float = TWO_COLUMNS,
    row_height: float = 1.5,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Picture, list[Axes]]:
    """Return a picture with n panels, row by row; places left over in the last row stay empty."""
    n_columns = min(n, n_columns)
    n_rows = -(-n // n_columns)
    picture = new_picture(width, row_height * n_rows)
    grid = picture.subplots(n_rows, n_columns, sharex=sharex, sharey=sharey, squeeze=False)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    if sharex:  # a panel above an empty place has to carry its own numbers
        for panel in panels[max(0, n - n_columns) : n]:
            panel.xaxis.set_tick_params(labelbottom=True)
    return picture, panels[:n]


def legend(
    picture: Picture, panels: Sequence[Axes], *, n_columns: int = 4, more: Sequence[Artist] = ()
) -> None:
    """Put one legend for all panels below them, each label once; `more` are labeled handles."""
    entries: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries.update({str(handle.get_label()): handle for handle in more})
    picture.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=n_columns,
        handlelength=2.8,  # a pattern of dashes has to show on both sides of the marker
    )  # fmt: skip


def headline(panel: Axes, name: str, note: str = "") -> None:
    """Title a panel with a name at its left, and a muted note at its right."""
    panel.set_title(name, fontsize=8.2)
    panel.set_title(note, loc="right", color=MUTED, fontsize=6.8)


def letter(panels: Sequence[Axes], titles: Sequence[str]) -> None:
    """Title panels a, b, c … as journals do."""
    for name, panel, title in zip("abcdefghijklmnopqrstuvwxyz", panels, titles, strict=False):
        panel.set_title(rf"$\bf{{{name}}}$  {title}")


def render(picture: Picture, kind: str) -> bytes:
    """Return a picture as the bytes of an SVG or PNG file, the same ones every time."""
    with style():
        if picture.get_layout_engine() is not None:
            # Laid out once: again, from where it is, the last digits would come out otherwise.
            picture.draw_without_rendering()
            picture.set_layout_engine("none")
        nothing = {"svg": ("Date", "Creator"), "png": ("Software",)}[kind]
        file = BytesIO()
        picture.savefig(file, format=kind, metadata=dict.fromkeys(nothing))
        return file.getvalue()


def save(picture: Picture, stem: str | Path) -> tuple[Path, Path]:
    """Write a picture to `stem`.svg and `stem`.png, and return the two paths."""
    stem = Path(stem)
    make_folder(stem.parent)
    paths = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    for path, kind in zip(paths, ("svg", "png"), strict=True):
        path.write_bytes(render(picture, kind))
    return paths
