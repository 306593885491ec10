"""Figure 3: the first step of soft self-learning, and where it leads, in exact fractions.

Two labeled points, x = −1 with label 0 and x = 1 with label 1, and two unlabeled ones at −1 and 4.
All numbers are rational: the supervised line, the line after one step (fill in the labels, fit
again), and the limit of all steps. The limit is found by its active set: at the optimum the
decision value of each unlabeled point is below 0, in [0, 1] or above 1. Of these nine cases the
right one is that whose least squares line puts both points where the case assumes them. The
gradient of J is exactly 0 there, and J is convex, so the line is optimal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import plotting
from ..._html.tables import grid
from ...plotting._style import BLACK, GREY, LIGHT
from ._figure import Agreement, Arrays, Figure, Finding, Settings, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

LABELED = ((Fraction(-1), Fraction(0)), (Fraction(1), Fraction(1)))
UNLABELED = (Fraction(-1), Fraction(4))
LINE_NAMES = {
    "supervised": "The supervised line",
    "one step": "The line after one step",
    "limit": "The limit",
}
STEPS = tuple(LINE_NAMES)
PUBLISHED = {
    "supervised": (Fraction(1, 2), Fraction(1, 2)),
    "one step": (Fraction(23, 67), Fraction(14, 67)),
    "limit": (Fraction(8, 19), Fraction(7, 38)),
}
PUBLISHED_LABELS = (Fraction(9, 38), Fraction(1))
LINE, LABELS = ("intercept", "slope"), ("u_left", "u_right")
QUANTITIES = (*LINE, *LABELS, "J", "boundary")
GRADIENT = ("gradient_intercept", "gradient_slope")
DARK_ORANGE = "#B27A00"  # the orange of the palette is too light to read
DASHES = (0, (5, 3))

Points = Sequence[tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Line:
    """A decision function ``z = intercept + slope x``."""

    intercept: Fraction
    slope: Fraction

    def __call__(self, x: Fraction) -> Fraction:
        return self.intercept + self.slope * x


def fit(points: Points) -> Line:
    """Fit the least squares line to points (x, label)."""
    n = len(points)
    sx, sy = sum(x for x, _ in points), sum(y for _, y in points)
    sxx, sxy = sum(x * x for x, _ in points), sum(x * y for x, y in points)
    slope = Fraction(n * sxy - sx * sy) / (n * sxx - sx * sx)
    return Line((sy - slope * sx) / n, slope)


def impute(line: Line) -> list[Fraction]:
    """Fill in the soft labels of the unlabeled points: decision values clipped to [0, 1]."""
    return [min(max(line(x), Fraction(0)), Fraction(1)) for x in UNLABELED]


def descend(line: Line) -> Line:
    """Take one step of block descent: fill in the labels, fit again."""
    return fit(_fill_in(line))


def limits() -> list[Line]:
    """Return the minimisers of J: the lines that agree with the case they were fitted for."""
    return [
        line for case in product((-1, 0, 1), repeat=2) if _sides(line := _fit_case(case)) == case
    ]


def half_gradient(line: Line) -> tuple[Fraction, Fraction]:
    """Return half the gradient of J, labels minimised out: Σ (1, x) (z − label) over all points."""
    errors = [(x, line(x) - y) for x, y in _fill_in(line)]
    return sum((e for _, e in errors), Fraction(0)), sum((x * e for x, e in errors), Fraction(0))


def objective(line: Line) -> Fraction:
    """Evaluate J, the labels minimised out."""
    return sum(((line(x) - y) ** 2 for x, y in _fill_in(line)), Fraction(0))


def _fill_in(line: Line) -> Points:
    """Return all points, the unlabeled ones with their imputed labels."""
    return [*LABELED, *zip(UNLABELED, impute(line), strict=True)]


def _fit_case(case: tuple[int, ...]) -> Line:
    """Fit the labeled points and the unlabeled points outside [0, 1], whose label is 0 or 1."""
    sides = zip(UNLABELED, case, strict=True)
    return fit([*LABELED, *((x, Fraction(side > 0)) for x, side in sides if side != 0)])


def _sides(line: Line) -> tuple[int, ...]:
    """Return −1, 0 or 1 for each unlabeled point: below 0, inside [0, 1] or above 1."""
    return tuple((line(x) > 1) - (line(x) < 0) for x in UNLABELED)


class FirstStep(Figure):
    name: ClassVar = "fig3"
    place: ClassVar = "Figure 3"
    title: ClassVar = "The first step of soft self-learning"
    caption: ClassVar = (
        "Two labeled points (circles) and two unlabeled ones (dashed verticals). The supervised "
        "line exceeds 1 at the right unlabeled point, whose label can be at most 1. Fitting that "
        "label turns the line (one step), which changes the label on the left, and so on to the "
        "limit (crosses: its labels). Diamonds are the decision boundaries, where a line crosses "
        "½: at 0, 3/4 and 3/7. All numbers are exact fractions."
    )
    uses_seed: ClassVar = False
    columns: ClassVar = {
        "step": "supervised, one step of block descent, or the limit of all steps",
        "intercept": "of the decision function",
        "slope": "of the decision function",
        "u_left": "label that it gives to the unlabeled point at −1",
        "u_right": "label that it gives to the unlabeled point at 4",
        "J": "the objective J_l of these weights, with the best labels",
        "boundary": "where the decision function is ½",
        "intercept_exact": "the intercept as a fraction",
        "slope_exact": "the slope as a fraction",
        "u_left_exact": "the label at −1 as a fraction",
        "u_right_exact": "the label at 4 as a fraction",
        "J_exact": "the objective as a fraction",
        "boundary_exact": "the boundary as a fraction",
        "gradient_intercept_exact": "half the derivative of J by the intercept, as a fraction",
        "gradient_slope_exact": "half the derivative of J by the slope: both are 0 at the optimum",
        "optima": "how many of the nine active sets agree with the line fitted for them",
    }

    def cells(self, settings: Settings) -> list[str]:
        return ["fractions"]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        supervised, found = fit(LABELED), limits()
        rows = [_measure(line) for line in (supervised, descend(supervised), found[0])]
        return {
            "numerator": np.array([[f.numerator for f in row] for row in rows]),
            "denominator": np.array([[f.denominator for f in row] for row in rows]),
            "optima": np.array(len(found)),
        }

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        found = results["fractions"]
        parts = zip(found["numerator"].T.tolist(), found["denominator"].T.tolist(), strict=True)
        exact = dict(
            zip((*QUANTITIES, *GRADIENT), map(_fractions, *zip(*parts, strict=True)), strict=True)
        )
        columns: dict[str, Any] = {"step": STEPS}
        columns |= {name: [float(f) for f in exact[name]] for name in QUANTITIES}
        columns |= {f"{name}_exact": [str(f) for f in exact[name]] for name in exact}
        return Table(settings, pd.DataFrame({**columns, "optima": int(found["optima"])}))

    def draw(self, table: Table, view: str) -> Picture:
        picture = plotting.new_picture(5.2, 3.0)
        _draw_lines(picture.subplots(), table.summary.set_index("step"))
        return picture

    def findings(self, table: Table) -> list[Finding]:
        rows = table.summary.set_index("step")
        return [
            *(
                _pair_finding(rows, f"{name} is", step, LINE, PUBLISHED[step])
                for step, name in LINE_NAMES.items()
            ),
            _pair_finding(rows, "In the limit the labels are", "limit", LABELS, PUBLISHED_LABELS),
            _optimal_finding(rows),
        ]

    def describe_run(self, settings: Settings) -> str:
        return "Arithmetic with fractions. Nothing is random, and nothing is rounded."

    def compare_with_paper(self, table: Table) -> Agreement:
        return _compare(table.summary.set_index("step"))


def _measure(line: Line) -> list[Fraction]:
    """Return the numbers of a line in the order of the table's columns."""
    boundary = (Fraction(1, 2) - line.intercept) / line.slope
    return [
        line.intercept,
        line.slope,
        *impute(line),
        objective(line),
        boundary,
        *half_gradient(line),
    ]


def _fractions(numerators: list[int], denominators: list[int]) -> list[Fraction]:
    return [Fraction(n, d) for n, d in zip(numerators, denominators, strict=True)]


def _draw_lines(axes: Axes, rows: pd.DataFrame) -> None:
    supervised, soft = map(plotting.method_style, ("supervised", "soft"))
    styles = {
        "supervised": (supervised.colour, supervised.line),
        "one step": (DARK_ORANGE, (0, (1, 1.2))),
        "limit": (soft.colour, "-"),
    }
    left, right = -1.6, 4.6
    for level in (0.0, 0.5, 1.0):
        axes.axhline(level, color=LIGHT, linewidth=0.6, zorder=0.5)
    for x in UNLABELED:
        axes.axvline(float(x), color=GREY, linewidth=0.9, linestyle=DASHES, zorder=0.8)
    for step, (colour, line) in styles.items():
        row = rows.loc[step]
        ends = np.array([left, right])
        axes.plot(ends, row["intercept"] + row["slope"] * ends, color=colour, linestyle=line)
        axes.plot(row["boundary"], 0.5, "D", color=colour, markersize=4.0, zorder=3)
        text = f"{step}\n{row['intercept_exact']} + {row['slope_exact']} x"
        place = right + 0.08, row["intercept"] + row["slope"] * right
        offset = {"one step": 0.2, "limit": -0.2}.get(step, 0.0)
        axes.text(place[0], place[1] + offset, text, color=colour, va="center", linespacing=1.2)
    labels = rows.loc["limit", ["u_left", "u_right"]].astype(float).to_numpy()
    x, y = np.array(LABELED, dtype=float).T
    axes.plot(
        x, y, "o", color=BLACK, markersize=7.0, markerfacecolor="white",
        markeredgewidth=1.4, zorder=4, label="labeled point",
    )  # fmt: skip
    axes.plot(
        [float(x) for x in UNLABELED], labels, "x", color=soft.colour, markersize=6.0,
        markeredgewidth=1.8, zorder=4, label="soft label in the limit",
    )  # fmt: skip
    axes.plot([], [], color=GREY, linestyle=DASHES, label="place of an unlabeled point")
    axes.plot([], [], "D", color=GREY, markersize=4.0, label="decision boundary")
    axes.legend(loc="upper left", bbox_to_anchor=(0.14, 1.0))
    axes.set(
        xlim=(left, right), ylim=(-0.4, 2.9), xlabel="x", ylabel="decision value",
        xticks=[-1, 0, 1, 2, 3, 4], yticks=[0, 0.5, 1, 2], yticklabels=["0", "½", "1", "2"],
    )  # fmt: skip


def _pair_finding(
    rows: pd.DataFrame, what: str, step: str, columns: Sequence[str], published: Sequence[Fraction]
) -> Finding:
    """Compare a pair of fractions with the published pair."""
    ours = tuple(_exact(rows, step, name) for name in columns)
    return Finding(
        f"{what} ({published[0]}, {published[1]}).",
        ours == tuple(published),
        f"({ours[0]}, {ours[1]}), exactly.",
    )


def _exact(rows: pd.DataFrame, step: str, name: str) -> Fraction:
    return Fraction(str(rows.loc[step, f"{name}_exact"]))


def _optimal_finding(rows: pd.DataFrame) -> Finding:
    gradient = [str(rows.loc["limit", f"{name}_exact"]) for name in GRADIENT]
    only = int(rows.loc["limit", "optima"]) == 1
    return Finding(
        "The limit minimises J, and is the only minimiser.",
        gradient == ["0", "0"] and only,
        f"The gradient of J there is exactly ({gradient[0]}, {gradient[1]}) and J is convex; "
        f"{rows.loc['limit', 'optima']} of the nine active sets agrees with its own line.",
    )


def _compare(rows: pd.DataFrame) -> Agreement:
    published = {
        (step, name): value
        for step, line in PUBLISHED.items()
        for name, value in zip(LINE, line, strict=True)
    }
    published |= {("limit", name): u for name, u in zip(LABELS, PUBLISHED_LABELS, strict=True)}
    names = {"u_left": "label at −1", "u_right": "label at 4"}
    lines = [
        (f"{step}, {names.get(name, name)}", str(_exact(rows, step, name)), str(value))
        for (step, name), value in published.items()
    ]
    n_equal = sum(ours == theirs for _, ours, theirs in lines)
    return Agreement(
        f"{n_equal} of {len(lines)} fractions are equal to those that follow from the paper's "
        "example.",
        grid("Exact values", ("", "ours", "from the paper"), lines),
    )


FIG3 = FirstStep()
