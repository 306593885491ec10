"""The weights of the members of an average, grouped by family and representation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.typing import Array
from .._utils.words import counted, percent
from ._fitted import read_fitted
from ._pictures import Display
from ._rows import blend
from ._style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLUMNS = ("family", "representation", "setting", "weight")
NEGLIGIBLE = 0.001
FAMILY_COLOURS = {"least_squares": GREEN, "forest": ORANGE, "logistic": BLUE, "hard_labels": PURPLE}
SPARE_COLOURS = (VERMILION, SKY)
"""For families without a colour of their own, used in turn."""
LETTER = 0.062
"""Approximate width of a letter in a bar, in inches."""
LINE = 0.24
"""Height of a bar with the space around it, in inches."""


@dataclass(frozen=True, eq=False)
class _Bar:
    """The members of one family on one representation, drawn as one bar."""

    family: str
    name: str
    settings: list[str]
    weights: Array
    shades: Array
    """The darkness of each setting; the last one in the table is darkest."""


class MembersDisplay(Display):
    """Weights of the members of an average: one bar for each representation, settings inside.

    Bars are grouped by family, in the order of the table; within a bar settings go from light to
    dark. A setting is named if there is room, or shown as a number if there is little. Members with
    a negligible weight are summed up in a note.

    Create one with `from_estimator`, or from a table of your own.

    Parameters
    ----------
    members : mapping or frame
        Columns "family", "representation", "setting" and "weight", as in
        `AveragedClassifier.members_`.
    negligible : float, default=0.001
        Members with a smaller weight are not drawn.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.
    n_negligible, negligible_weight : int, float
        The number of members that are not drawn, and their total weight.

    Examples
    --------
    >>> from semisquares.plotting import MembersDisplay, new_picture
    >>> members = {
    ...     "family": ["forest", "logistic", "logistic"], "representation": ["columns"] * 3,
    ...     "setting": ["200 trees", "C = 0.1", "C = 1"], "weight": [0.3, 0.0004, 0.6996],
    ... }
    >>> shown = MembersDisplay(members).plot(new_picture().subplots())
    >>> shown.note
    '1 of 3 members has less than 0.1 %: 0.0 % in all'
    """

    def __init__(self, members: Mapping[str, ArrayLike], *, negligible: float = NEGLIGIBLE) -> None:
        missing = [name for name in COLUMNS if name not in members]
        if missing:
            raise ValueError(
                f"The table of members has no column {', '.join(missing)}; it needs "
                f"{', '.join(COLUMNS)}, as in members_ of an AveragedClassifier."
            )
        self.family, self.representation, self.setting = (
            np.asarray(members[name]).astype(str) for name in COLUMNS[:3]
        )
        self.weight = np.asarray(members["weight"], dtype=float)
        self.negligible = negligible
        small = self.weight < negligible
        self.n_negligible = int(small.sum())
        self.negligible_weight = float(self.weight[small].sum())

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, negligible: float = NEGLIGIBLE, ax: Axes | None = None
    ) -> MembersDisplay:
        """Draw the weights of the members of a fitted average.

        Parameters
        ----------
        estimator : AveragedClassifier, or pipeline or search that ends in one
            Fitted.
        negligible : float, default=0.001
            Members with a smaller weight are not drawn.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : MembersDisplay
            Drawn.
        """
        fitted = read_fitted(estimator)
        if not hasattr(fitted.last, "members_"):
            raise ValueError(
                f"{fitted.name} has no members; give a fitted AveragedClassifier, or a pipeline "
                "that ends in one."
            )
        return cls(fitted.last.members_, negligible=negligible).plot(ax)

    @property
    def note(self) -> str:
        """A note on the members that are not drawn; "" if all are."""
        if not self.n_negligible:
            return ""
        have = "have" if self.n_negligible > 1 else "has"
        each = " each" if self.n_negligible > 1 else ""
        return (
            f"{self.n_negligible} of {len(self.weight)} members {have} less than "
            f"{100 * self.negligible:g} %{each}: {percent(self.negligible_weight)} in all"
        )

    def plot(self, ax: Axes | None = None) -> MembersDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure whose height fits the bars.

        Returns
        -------
        self : MembersDisplay
        """
        bars = self._bars()
        families = list(dict.fromkeys(self.family.tolist()))
        n_lines = len(bars) + 1.3 * len(families)
        with self._drawing(ax, width=6.2, height=0.9 + LINE * n_lines) as axes:
            longest = max((bar.weights.sum() for bar in bars), default=1.0)
            axes.set_xlim(0.0, 114.0 * longest)  # room for a number behind the longest bar
            ticks, place = [], 0.0
            for k, family in enumerate(families):
                colour = FAMILY_COLOURS.get(family, SPARE_COLOURS[k % len(SPARE_COLOURS)])
                self._write_family(axes, family, place)
                for bar in (bar for bar in bars if bar.family == family):
                    place += 1.0
                    ticks.append(place)
                    _draw_bar(axes, bar, place, colour)
                place += 1.3
            axes.set_yticks(ticks, [bar.name for bar in bars])
            axes.set_ylim(place - 0.7, -0.6)
            axes.tick_params(axis="y", length=0)
            axes.set_xlabel("\n".join(filter(None, ("weight, %", self.note))))
        return self

    def _bars(self) -> list[_Bar]:
        found = []
        for family in dict.fromkeys(self.family.tolist()):
            of_family = self.family == family
            for name in dict.fromkeys(self.representation[of_family].tolist()):
                mine = np.flatnonzero(of_family & (self.representation == name))
                shades = np.linspace(0.35, 0.9, len(mine)) if len(mine) > 1 else np.array([0.7])
                drawn = self.weight[mine] >= self.negligible
                if drawn.any():
                    kept = mine[drawn]
                    found.append(
                        _Bar(
                            family, name, self.setting[kept].tolist(), self.weight[kept],
                            shades[drawn],
                        )
                    )  # fmt: skip
        return found

    def _write_family(self, axes: Axes, family: str, place: float) -> None:
        mine = self.family == family
        members = counted(int(mine.sum()), "member")
        axes.text(
            0.0, place, f" {family.replace('_', ' ')}: {percent(self.weight[mine].sum())} "
            f"({members})", va="center", fontsize=8.0, fontweight="bold",
        )  # fmt: skip


def plot_members(estimator: Any, *, ax: Axes | None = None) -> MembersDisplay:
    """Draw the weight of each member of an average.

    See `MembersDisplay.from_estimator` for all parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import AveragedClassifier
    >>> from semisquares.plotting import new_picture, plot_members
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.where(np.arange(60) < 20, X[:, 0] > 0, -1)
    >>> model = AveragedClassifier("least_squares", representations="linear").fit(X, y)
    >>> shown = plot_members(model, ax=new_picture().subplots())
    >>> [label.get_text() for label in shown.ax_.get_yticklabels()]
    ['linear, p = 0', 'linear, p = 1', 'linear, p = 2']
    """
    return MembersDisplay.from_estimator(estimator, ax=ax)


def _draw_bar(axes: Axes, bar: _Bar, place: float, colour: str) -> None:
    """Draw the members of a bar side by side, name the wide ones, and write the sum behind."""
    from matplotlib.colors import to_rgb

    shares = 100.0 * bar.weights
    colours = blend(np.ones(3), np.array(to_rgb(colour)), bar.shades[:, None])
    starts = np.cumsum(shares) - shares
    axes.barh(
        np.full(len(shares), place), shares, height=0.8, left=starts, color=list(colours),
        edgecolor="white", linewidth=0.5,
    )  # fmt: skip
    # tick labels take about a quarter of the width
    inches = 0.75 * axes.get_window_extent().width / axes.figure.dpi
    room = inches * shares / axes.get_xlim()[1]
    for start, share, setting, free in zip(starts, shares, bar.settings, room, strict=True):
        names = [
            name for name in (setting, _number(setting)) if LETTER * max(len(name) + 1, 4) <= free
        ]
        if names:
            axes.text(
                start + share / 2, place, names[0], ha="center", va="center", fontsize=6.8,
                color=INK,
            )  # fmt: skip
    axes.text(shares.sum(), place, f" {shares.sum():.1f}", va="center", fontsize=7.5)


def _number(setting: str) -> str:
    """Return the number in a setting, which needs less room, or the whole setting if it has none.

    Examples
    --------
    >>> _number("strength 0.178"), _number("C = 10"), _number("shallow")
    ('0.178', '10', 'shallow')
    """
    found = re.search(r"-?\d[\d.e+-]*", setting)
    return found[0] if found else setting
