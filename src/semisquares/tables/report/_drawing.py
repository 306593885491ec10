"""The pictures of a comparison: they show its values and compute nothing.

A ``narrow`` picture has its panels one below the other, for a phone. Names in a picture come from
the user's table: `plain` keeps them from being read as formulas.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ... import plotting
from ...plotting import MethodStyle
from ...plotting._style import (
    BLACK,
    BLUE,
    GREY,
    INK,
    LIGHT,
    METHOD_STYLES,
    PURPLE,
    SKY,
    TWO_COLUMNS,
    VERMILION,
)
from ..compare._rivals import LABELS
from ..compare.comparison import Changes, Comparison, CurvePoint, Estimate, Rival

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


STYLES = {
    "averaged": MethodStyle(LABELS["averaged"], BLUE, "D", (0, (5, 1))),
    "labeled_only": MethodStyle(LABELS["labeled_only"], SKY, "d", (0, (3, 1, 1, 1))),
    "ridge": METHOD_STYLES["ridge"],
    "logistic": MethodStyle(LABELS["logistic"], PURPLE, "X", (0, (1, 1))),
    "forest": MethodStyle(LABELS["forest"], GREY, "P", (0, (4, 2))),
    "boosting": MethodStyle(LABELS["boosting"], BLACK, "s", (0, (2, 2))),
    **{name: METHOD_STYLES[name] for name in ("soft", "hard")},
}
"""Styles of the rivals, in the order in which they are shown."""
WIDE, NARROW = TWO_COLUMNS, 3.6
"""Widths in inches of pictures with panels side by side, and one below the other."""
LONGEST = 34
_NO_GLYPH = "\N{WHITE SQUARE}"  # stands for a character that the font does not have


def plain(name: str, longest: int = LONGEST) -> str:
    """Shorten a name to one line, and escape it so that it is not read as a formula.

    Examples
    --------
    >>> plain("a_b costs $5 or $6"), plain("x" * 50, longest=9)
    ('a_b costs \\\\$5 or \\\\$6', 'xxxx…xxxx')
    """
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    text = text or "(blank)"
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[: longest - 1 - half]}…{text[-half:]}"
    known = _characters()
    return "".join(c if ord(c) in known else _NO_GLYPH for c in text).replace("$", r"\$")


@cache
def _characters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def rivals(comparison: Comparison, *, narrow: bool = False) -> Picture:
    """Draw how much better or worse each rival is than the averaged classifier, and its error."""
    shown = scored_rivals(comparison)
    with plotting.style():
        picture, (gains, errors) = _panels(2, 0.95 + 0.29 * len(shown), narrow)
        for place, rival in enumerate(shown):
            gain = rival.gains.get("accuracy", Estimate(0.0, 0.0, 0.0))  # against itself
            _dot(gains, place, rival, _points(gain))
            _dot(errors, place, rival, _error(rival.scores["accuracy"]))
        gains.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
        gains.set_xlabel("error points better than\nthe averaged classifier")
        errors.set_xlabel("error on held-out labels, %")
        for panel in (gains, errors):
            _name_rows(panel, [textwrap.fill(rival.label, 20) for rival in shown])
        if not narrow:
            errors.tick_params(labelleft=False)
    return picture


def scored_rivals(comparison: Comparison) -> list[Rival]:
    """Return the rivals that have scores."""
    order = {name: place for place, name in enumerate(STYLES)}
    scored = [one for one in comparison.rivals if not one.failed and "accuracy" in one.scores]
    return sorted(scored, key=lambda rival: order.get(rival.name, len(order)))


def unlabeled_curve(comparison: Comparison, *, narrow: bool = False) -> Picture:
    """Draw the error against the number of unlabeled rows used."""
    return _curve(comparison.unlabeled_curve, "unlabeled rows used", narrow)


def label_curve(comparison: Comparison, *, narrow: bool = False) -> Picture:
    """Draw the error against the number of labeled rows in training."""
    return _curve(comparison.label_curve, "labeled rows in training", narrow)


def changes(comparison: Comparison, *, narrow: bool = False) -> Picture:
    """Draw probabilities without and with the unlabeled rows, and a histogram of the latter."""
    found = comparison.changes
    if found is None:
        raise ValueError("a quick comparison has no changes to draw")
    with plotting.style():
        picture, (values, labels) = _panels(2, 2.9, narrow)
        _draw_values(values, found, comparison.classes)
        _draw_histogram(labels, found, comparison.classes)
    return picture


def _name_rows(panel: Axes, names: Sequence[str]) -> None:
    """Label the rows at 0, 1, …, from the top down."""
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(max(len(names), 1) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    panel.margins(x=0.08)


def _panels(n: int, height: float, narrow: bool) -> tuple[Picture, list[Axes]]:
    across = 1 if narrow else n
    return plotting.facets(n, across, width=NARROW if narrow else WIDE, row_height=height)


def _points(gain: Estimate) -> Estimate:
    return Estimate(100 * gain.mean, 100 * gain.low, 100 * gain.high)


def _error(accuracy: Estimate) -> Estimate:
    return Estimate(*(100 * (1 - end) for end in (accuracy.mean, accuracy.high, accuracy.low)))


def _dot(panel: Axes, place: int, rival: Rival, value: Estimate) -> None:
    style = STYLES[rival.name]
    panel.plot([value.low, value.high], [place, place], color=style.colour, linewidth=1.8)
    panel.plot(
        value.mean, place, color=style.colour, marker=style.marker, markersize=6.0,
        markeredgecolor="white", markeredgewidth=0.6, linestyle="", label=rival.label,
    )  # fmt: skip


def _curve(points: Sequence[CurvePoint], x_label: str, narrow: bool) -> Picture:
    """Draw errors with their intervals."""
    shown = plotting.LearningCurveDisplay(
        [_errors(STYLES[method], line) for method, line in points_by_method(points).items()],
        x_label=x_label,
        y_label="error on held-out labels, %",
        bands="95 % interval",
    )
    with plotting.style():
        picture = plotting.new_picture(*(NARROW, 3.3) if narrow else (5.4, 3.2))
        panel = picture.subplots()
        shown.plot(panel, at_most=5 if narrow else 8, edged=True)
        plotting.legend(picture, [panel], n_columns=1 if narrow else 2, more=shown.handles_)
    return picture


def points_by_method(points: Sequence[CurvePoint]) -> dict[str, list[CurvePoint]]:
    """Return the points of each method that has any, by increasing numbers of rows."""
    ordered = sorted(points, key=lambda one: one.n)
    lines = {method: [one for one in ordered if one.method == method] for method in STYLES}
    return {method: line for method, line in lines.items() if line}


def _errors(style: MethodStyle, points: Sequence[CurvePoint]) -> plotting.Curve:
    """Return the errors of a method in percent."""
    mean, low, high = (
        np.array([100 * getattr(point.error, end) for point in points])
        for end in ("mean", "low", "high")
    )
    return plotting.Curve(style, np.array([point.n for point in points]), mean, low, high)


def _draw_values(panel: Axes, found: Changes, classes: Sequence[str]) -> None:
    """Draw the probabilities of each row before and after; mark the rows that changed."""
    before, after = 100 * np.array(found.before), 100 * np.array(found.after)
    changed = np.array(found.changed, dtype=bool)
    if len(classes) == 2:
        for line in (panel.axhline, panel.axvline):
            line(50.0, color=GREY, linewidth=0.8, zorder=1)
    panel.axline((50.0, 50.0), slope=1.0, color=LIGHT, linewidth=0.8, zorder=0.5)
    for rows, colour, marker, label in (
        (~changed, SKY, "o", "same class"),
        (changed, VERMILION, "^", "another class"),
    ):
        panel.plot(
            before[rows], after[rows], linestyle="", marker=marker, color=colour, alpha=0.75,
            markersize=2.6 if marker == "o" else 4.0, markeredgewidth=0, label=label,
        )  # fmt: skip
    whose = _whose(classes)
    panel.set_xlabel(f"{whose}, %\nwithout the unlabeled rows")
    panel.set_ylabel("with them, %")
    panel.set_title("Probabilities before and after")
    panel.legend(
        loc="upper left", markerscale=1.6, handlelength=1.0, borderpad=0.2, frameon=True,
        framealpha=0.85, edgecolor="none", fontsize=7.5,
    )  # fmt: skip


def _draw_histogram(panel: Axes, found: Changes, classes: Sequence[str]) -> None:
    """Draw how many rows have which probability."""
    edges = 100 * np.array(found.histogram_edges)
    panel.bar(
        edges[:-1], found.histogram, np.diff(edges), align="edge", color=SKY, ec="white", lw=0.5
    )
    panel.set_xlabel(f"{_whose(classes)}, %")
    panel.set_ylabel("unlabeled rows")
    panel.set_title("Probabilities with them")


def _whose(classes: Sequence[str]) -> str:
    return plain(classes[1], 18) if len(classes) == 2 else "the likeliest class"
