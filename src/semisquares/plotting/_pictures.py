"""Pictures: panels, titles, a legend for all panels, and reproducible files.

Pictures are drawn inside `style` and on a `matplotlib.figure.Figure`, never through pyplot: no
figure stays open, and a user's settings neither affect the pictures nor change. Only the displays,
which users call, make a pyplot figure if they are given no axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.files import make_folder
from ._style import MUTED, TWO_COLUMNS, need_matplotlib, style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


class Display:
    """What all displays share: the axes and figure of the last plot."""

    ax_: Axes
    figure_: Picture

    @contextmanager
    def _drawing(
        self, ax: Axes | None, *, width: float = 4.8, height: float = 3.6
    ) -> Iterator[Axes]:
        """Yield the axes to draw on: the given axes, or those of a new figure.

        The new figure belongs to pyplot, so that a notebook shows it, and has the package's style.
        """
        need_matplotlib()
        with nullcontext() if ax is not None else style():
            if ax is None:
                from matplotlib import pyplot

                _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
            self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
            yield ax


def new_picture(width: float = TWO_COLUMNS, height: float = 3.0) -> Picture:
    """Return an empty picture of a size in inches; call this inside `style`."""
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
    """Return a picture with n panels, row by row; the rest of the last row stays empty."""
    n_columns = min(n, n_columns)
    n_rows = -(-n // n_columns)
    picture = new_picture(width, row_height * n_rows)
    grid = picture.subplots(n_rows, n_columns, sharex=sharex, sharey=sharey, squeeze=False)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    if sharex:  # a panel above an empty place needs tick labels of its own
        for panel in panels[max(0, n - n_columns) : n]:
            panel.xaxis.set_tick_params(labelbottom=True)
    return picture, panels[:n]


def legend(
    picture: Picture, panels: Sequence[Axes], *, n_columns: int = 4, more: Sequence[Artist] = ()
) -> None:
    """Put one legend below all panels, with each label once; `more` are additional handles."""
    entries: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries.update({str(handle.get_label()): handle for handle in more})
    picture.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=n_columns,
        handlelength=2.8,  # dashes have to be visible on both sides of the marker
    )  # fmt: skip


def title_panel(panel: Axes, name: str, note: str = "") -> None:
    """Title a panel with a name on the left and a muted note on the right."""
    panel.set_title(name, fontsize=8.2)
    panel.set_title(note, loc="right", color=MUTED, fontsize=6.8)


def letter_panels(panels: Sequence[Axes], titles: Sequence[str]) -> None:
    """Title panels with letters a, b, c … as journals do."""
    for name, panel, title in zip("abcdefghijklmnopqrstuvwxyz", panels, titles, strict=False):
        panel.set_title(rf"$\bf{{{name}}}$  {title}")


def render(picture: Picture, kind: str) -> bytes:
    """Return a picture as the bytes of an SVG or PNG file; they are the same every time."""
    with style():
        if picture.get_layout_engine() is not None:
            # Lay out only once: a second layout would change the last digits of the positions.
            # With "none" instead of None, savefig would draw twice, as if it had to lay out.
            picture.draw_without_rendering()
            picture.set_layout_engine(None)
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
