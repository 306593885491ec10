"""One HTML page about a comparison: it needs no network, runs no scripts, and contains no date.

Names from the table are data: they are always escaped, and never typeset as formulas.
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
from ..compare.comparison import Comparison, Verdict
from ..errors import TableError
from . import _drawing as drawing
from . import _tables as tables
from . import _words as words
from ._numbers import few_digits, percent, spread, unbroken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["render_comparison", "write_comparison"]

OPEN_ROWS = 12
"""A longer table is folded."""
STRONGEST, MOST_COLUMNS = 15, 200
"""Numbers of columns whose importance is visible at once, and that are on the page at all."""
LARGE = 100_000
"""Bytes of an SVG from which a PNG may be smaller."""


@dataclass(frozen=True)
class ResponsivePicture:
    """A picture for wide windows, one for narrow ones, and a description of what they show."""

    wide: Picture
    narrow: Picture
    alt: str


@dataclass(frozen=True)
class GainLine:
    """The interval of the gain drawn on a line, in percent of the line's length."""

    zero: str
    low: str
    width: str
    mean: str
    label: str
    ends: str
    what: str
    """What is measured in points."""


def write_comparison(
    comparison: Comparison,
    path: str | Path,
    command: str,
    next_command: str | None = None,
    *,
    write: Callable[[Parameter], str] = str,
) -> Path:
    """Write the page of a comparison to a file, atomically; return its path.

    Parameters
    ----------
    comparison : Comparison
    path : path
        The file to write.
    command : str
        The command that repeats the comparison.
    next_command : str, optional
        The command that suggests rows to label.
    write : callable, default=str
        Writes the parameters that notices name: the command line shows options.
    """
    text = render_comparison(comparison, command, next_command, write=write)
    try:
        with atomic_write(path) as file:
            # the command may hold bytes that are not text
            file.write(text.encode(errors="replace"))
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'writing', str(path))}; name another file for the report.",
            code="report_not_writable",
        ) from error
    return Path(path)


def render_comparison(
    comparison: Comparison,
    command: str,
    next_command: str | None = None,
    *,
    write: Callable[[Parameter], str] = str,
) -> str:
    """Return the page of a comparison as text; the same comparison gives the same text."""
    environment = load_templates("tables")  # first, as a package may be missing
    environment.filters |= {
        "few_digits": few_digits,
        "percent": percent,
        "sentence": lambda message: unbroken(render(message, write)),
    }
    columns = (replace(one, reason=render(one.reason, write)) for one in comparison.columns)
    comparison = replace(comparison, columns=tuple(columns))
    return environment.get_template("comparison.html").render(
        version=__version__,
        command_line=command,
        next_command=next_command,
        found=comparison,
        words=words,
        tables=tables,
        line=None if comparison.verdict.answer == "none" else _line(comparison.verdict),
        pictures=_pictures(comparison),
        scored=drawing.scored_rivals(comparison),
        open_rows=OPEN_ROWS,
        strongest=STRONGEST,
        most_columns=MOST_COLUMNS,
        style=style(environment, "colours.css", "style.css", "comparison.css"),
    )


def _line(verdict: Verdict) -> GainLine | None:
    """Place an interval and zero on a line, with some space at both ends."""
    gain = verdict.gain
    if not all(map(math.isfinite, (gain.mean, gain.low, gain.high))):
        return None
    low, high = min(gain.low, 0.0), max(gain.high, 0.0)
    room = 0.16 * (high - low) or 1.0
    low, length = low - room, high - low + 2 * room

    def place(value: float) -> float:
        return 100 * (value - low) / length

    return GainLine(
        zero=f"{place(0.0):.1f}%",
        low=f"{place(gain.low):.1f}%",
        width=f"{place(gain.high) - place(gain.low):.1f}%",
        mean=f"{place(gain.mean):.1f}%",
        label=f"{points(gain.mean)} points",
        ends=f"{spread(points(gain.low), points(gain.high))} points",
        what="error" if verdict.metric == "accuracy" else "AUC, one point being 0.01",
    )


def _pictures(comparison: Comparison) -> Mapping[str, ResponsivePicture]:
    """Draw the pictures for which there are values."""
    drawn = {}
    if drawing.scored_rivals(comparison):
        drawn["rivals"] = (drawing.rivals, words.rivals_alt(comparison))
    if comparison.unlabeled_curve:
        alt = words.curve_alt(comparison.unlabeled_curve, "unlabeled rows used")
        drawn["unlabeled"] = (drawing.unlabeled_curve, alt)
    if comparison.label_curve:
        alt = words.curve_alt(comparison.label_curve, "labeled rows in training")
        drawn["labels"] = (drawing.label_curve, alt)
    if comparison.changes is not None and comparison.changes.before:
        drawn["changes"] = (drawing.changes, words.changes_alt(comparison.changes))
    return {
        name: ResponsivePicture(
            _picture(draw(comparison)), _picture(draw(comparison, narrow=True)), alt
        )
        for name, (draw, alt) in drawn.items()
    }


def _picture(picture: Figure) -> Picture:
    """Render a picture as SVG, or as PNG if that is smaller, as with very many dots."""
    svg = plotting.render(picture, "svg")
    if len(svg) < LARGE:
        return packed({"svg": svg})
    return packed({"svg": svg, "png": plotting.render(picture, "png")})
