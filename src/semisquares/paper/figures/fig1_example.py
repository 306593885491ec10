"""Figure 1: the example on a line, 400 points of which four have a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import plotting
from ..._utils.typing import Array
from ...plotting._rows import draw_labeled_rows, draw_unlabeled_rows
from ...plotting._style import TWO_COLUMNS
from ..datasets.generators import published_line
from ._figure import Agreement, Arrays, Figure, Finding, Settings, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


BIN = 0.05
"""Width of a stack of dots, in units of x."""
NAMES = ("class around −1", "class around +1")


class Example(Figure):
    name: ClassVar = "fig1"
    place: ClassVar = "Figure 1"
    title: ClassVar = "Four labels among 400 points"
    caption: ClassVar = (
        "The example of Figure 1 on the published data: 200 points around −1 and 200 around +1, "
        "variance 0.2, of which four have a label (large). Each dot is a point, and points that "
        "lie close are stacked. The methods do not know the classes of the small dots."
    )
    uses_seed: ClassVar = False
    columns: ClassVar = {
        "row": "number of the point in the order of the draws, from 1",
        "x": "its position on the line",
        "class": "its class: 0 around −1, 1 around +1",
        "label": "its class if the label is known, −1 if the label was removed",
    }

    def cells(self, settings: Settings) -> list[str]:
        return ["data"]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        line = published_line()
        return {"x": line.X[:, 0], "class": line.truth, "label": line.y}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        data = results["data"]
        return Table(settings, pd.DataFrame({"row": np.arange(1, len(data["x"]) + 1), **data}))

    def draw(self, table: Table, view: str) -> Picture:
        picture = plotting.new_picture(TWO_COLUMNS, 1.85)
        _draw_points(picture.subplots(), table.summary)
        picture.legend(loc="outside upper center", ncols=2, columnspacing=3.0)
        return picture

    def findings(self, table: Table) -> list[Finding]:
        points = table.summary
        known = points[points["label"] >= 0]
        counts = points["class"].value_counts()
        places = ", ".join(f"{x:.3f}" for x in known["x"])
        right = len(points) == 400 and counts[0] == counts[1] == 200 and len(known) == 4
        return [
            Finding(
                "400 points, 200 of each class, and four labels are left.",
                bool(right),
                f"{counts[0]} and {counts[1]} points; labels at x = {places}.",
            )
        ]

    def describe_run(self, settings: Settings) -> str:
        return (
            "The published points, re-created with R's generator (seed 4). Nothing else is random."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        return Agreement(
            "The points are the published ones: they are re-created with R's generator, and the "
            "tests of semisquares compare them with the authors' points, to twelve digits."
        )


def _draw_points(axes: Axes, points: pd.DataFrame) -> None:
    x, labeled = points["x"].to_numpy(), points["label"].to_numpy() >= 0
    place, height = _stack(x, labeled)
    for code, name in enumerate(NAMES):
        of_class = points["class"].to_numpy() == code
        small, large = of_class & ~labeled, of_class & labeled
        draw_unlabeled_rows(
            axes, place[small], height[small], code, size=3.2, alpha=0.75,
            label=f"{name}, unlabeled",
        )  # fmt: skip
        draw_labeled_rows(
            axes, place[large], height[large], code, size=7.5, edge=1.0, zorder=2,
            label=f"{name}, labeled",
        )  # fmt: skip
    axes.set(xlabel="x", ylim=(-0.7, height.max() + 1.2), yticks=[])
    axes.spines["left"].set_visible(False)


def _stack(x: Array, first: Array) -> tuple[Array, Array]:
    """Stack dots that lie close; return the middle of each dot's stack and its height in it.

    Dots with `first` set are at the bottom; they are larger, so the next dot starts higher.
    """
    bins = np.floor(x / BIN).astype(int)
    order = np.lexsort((x, ~first, bins))
    height = np.empty(len(x))
    level, before = 0.0, None
    for i in order:
        level = level if bins[i] == before else 0.0
        before = bins[i]
        level += 0.5 if first[i] else 0.0
        height[i] = level
        level += 1.5 if first[i] else 1.0
    return (bins + 0.5) * BIN, height


FIG1 = Example()
