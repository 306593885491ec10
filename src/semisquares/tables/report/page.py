"""One HTML page about a comparison: it needs no network, runs no scripts, and has no date in it.

Names from the table are data: they are escaped wherever they stand, and never set as formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__, plotting
from ..._html.environment import load_templates, style
from ..._html.pictures import Picture, packed
from ..._utils.files import atomic_write
from ..._utils.messages import Parameter, render
from ..._utils.words import os_error, points
from ..compare.comparison import Comparison, Estimate
from ..errors import TableError
from . import drawing, words
from . import grids as tables
from .numbers import few_digits, percent, spread, unbroken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["render_comparison", "write_comparison"]

OPEN_ROWS = 12
"""A table of more rows than this is folded away."""
STRONGEST, MOST_FEATURES = 15, 200
"""So many features are in sight, and on the page at all."""
LARGE = 100_000
"""Bytes of an SVG for which there may be something smaller."""


@dataclass(frozen=True)
class View:
    """A picture for wide windows and one for narrow ones, and what they show in words."""

    wide: Picture
    narrow: Picture
    alt: str


@dataclass(frozen=True)
class Line:
    """The interval of the gain on a line, in per cent of its length."""

    zero: str
    low: str
    width: str
    mean: str
    label: str
    ends: str


def write_comparison(
    comparison: Comparison,
    path: str | Path,
    command: str,
    *,
    write: Callable[[Parameter], str] = str,
) -> Path:
    """Write the page of a comparison to a file, whole or not at all, and return its path.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Where to write it.
    command : str
        What made the comparison, for whoever wants to run it again.
    write : callable, default=str
        Writes the parameters that notices name: the command line shows options.
    """
    text = render_comparison(comparison, command, write=write)
    try:
        with atomic_write(path) as file:
            file.write(text.encode(errors="replace"))  # the command may hold bytes that are no text
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'writing', str(path))}; name another file for the report."
        ) from error
    return Path(path)


def render_comparison(
    comparison: Comparison, command: str, *, write: Callable[[Parameter], str] = str
) -> str:
    """Return the page of a comparison as text; the same comparison gives the same text."""
    comparison = _rendered(comparison, write)
    environment = load_templates("tables")  # a missing package is said before any work
    environment.filters |= {"few_digits": few_digits, "percent": percent, "unbroken": unbroken}
    return environment.get_template("comparison.html").render(
        version=__version__,
        command_line=command,
        found=comparison,
        words=words,
        tables=tables,
        line=_line(comparison.verdict.gain),
        views=_views(comparison),
        open_rows=OPEN_ROWS,
        strongest=STRONGEST,
        most_features=MOST_FEATURES,
        style=style(environment, "style.css", "comparison.css"),
    )


def _rendered(comparison: Comparison, write: Callable[[Parameter], str]) -> Comparison:
    """Write the parameters that columns and notices name."""
    columns = tuple(replace(one, reason=render(one.reason, write)) for one in comparison.columns)
    notices = tuple(
        replace(one, sentence=render(one.sentence, write), meaning=render(one.meaning, write))
        for one in comparison.notices
    )
    return replace(comparison, columns=columns, notices=notices)


def _line(gain: Estimate) -> Line | None:
    """Place an interval, and zero, on a line with some room at both ends."""
    if not all(map(math.isfinite, (gain.mean, gain.low, gain.high))):
        return None
    low, high = min(gain.low, 0.0), max(gain.high, 0.0)
    room = 0.16 * (high - low) or 1.0
    low, length = low - room, high - low + 2 * room

    def place(value: float) -> float:
        return 100 * (value - low) / length

    return Line(
        zero=f"{place(0.0):.1f}%",
        low=f"{place(gain.low):.1f}%",
        width=f"{place(gain.high) - place(gain.low):.1f}%",
        mean=f"{place(gain.mean):.1f}%",
        label=f"{points(gain.mean)} points",
        ends=f"{spread(points(gain.low), points(gain.high))} points",
    )


def _views(comparison: Comparison) -> Mapping[str, View]:
    """Draw what there is to draw."""
    drawn = {}
    if drawing.in_order(comparison.rivals):
        drawn["rivals"] = (drawing.rivals, words.rivals_alt(comparison))
    if comparison.unlabeled_curve:
        alt = words.curve_alt(comparison.unlabeled_curve, "unlabeled rows used")
        drawn["unlabeled"] = (drawing.unlabeled_curve, alt)
    if comparison.label_curve:
        alt = words.curve_alt(comparison.label_curve, "labeled rows in training")
        drawn["labels"] = (drawing.label_curve, alt)
    if comparison.changes.before:
        drawn["changes"] = (drawing.changes, words.changes_alt(comparison))
    return {
        name: View(_picture(draw(comparison)), _picture(draw(comparison, narrow=True)), alt)
        for name, (draw, alt) in drawn.items()
    }


def _picture(picture: Figure) -> Picture:
    """Render a picture; one of a great many dots is smaller as PNG."""
    svg = plotting.render(picture, "svg")
    if len(svg) < LARGE:
        return packed({"svg": svg})
    return packed({"svg": svg, "png": plotting.render(picture, "png")})
