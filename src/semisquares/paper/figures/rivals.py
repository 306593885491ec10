"""Beyond Figure 6: its learning curves with all the other methods that the paper names.

The same draws as Figure 6, at every second number of unlabeled rows, the intercept free. Methods
are ranked, and held against each other in pairs, at the largest number of unlabeled rows that all
data sets have. Regression with missing outcomes (Yates) is the supervised fit; the table says how
closely, and it has no curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import plotting
from . import fig6_learning_curves as fig6
from . import rivals_drawing as drawing
from . import rivals_findings, rivals_methods
from . import rivals_tables as tables
from .figure import Arrays, Figure, Finding, Settings, Table
from .protocol import ALL, MEASURES, block_range, blocks, cells_of
from .rivals_methods import METHODS, MOST_TO_ENUMERATE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

REPEATS_PER_CELL = 5
QUICK = ("Haberman", "Ionosphere", "Sonar", "WDBC")
"""Small data sets that need no download."""


class Rivals(Figure):
    name: ClassVar = "rivals"
    title: ClassVar = "Soft labels among their rivals"
    caption: ClassVar = (
        "Figure 6 with the other methods that the paper names, and scikit-learn's. First the mean "
        "error over the data sets, at the numbers of unlabeled rows that all of them have; then "
        "each data set, in a picture for every kind of methods, with soft labels and the oracle "
        "(least squares that knows all labels) in each. Bands are two standard errors. Least "
        "squares has no ridge, as in the paper, but for the tuned two; the others are regularised "
        "(LDA by a shrinkage of one row, SVM by C = 1), so that what unlabeled rows do is to be "
        "seen beside the same classifier without them. The best of all labelings is within reach "
        f"for up to {MOST_TO_ENUMERATE} unlabeled rows only. Then the mean ranks at the largest "
        "number of unlabeled rows that all data sets have, bars beside methods that Nemenyi's test "
        "does not tell apart; and for each pair of methods on how many data sets the one is "
        "clearly better, by paired t tests over the repeats, corrected by Holm for the number of "
        "data sets."
    )
    repeats: ClassVar = {"authors": 100, "paper": 100, "quick": 4}
    datasets: ClassVar = {"authors": ALL, "paper": ALL, "quick": QUICK}
    views: ClassVar = tuple(drawing.VIEWS)
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": f"one of {', '.join(METHODS)}",
        "n_unlabeled": "number of unlabeled rows",
        "error": MEASURES["error"],
        "error_se": MEASURES["error_se"],
        "difference": "that error less the one of supervised in the same repeats",
        "difference_se": "its standard error",
        "loss": "mean squared loss of the decision values, or of the probabilities, on the test "
        "rows; empty where a method gives neither",
        "loss_se": "its standard error",
        "repeats": "number of repeats",
        "failures": "number of repeats in which the fit gave an error instead of an answer, left "
        "out of the means",
        "unfinished": "number of repeats in which the fit warned that it had not converged",
    }

    def cells(self, settings: Settings) -> list[str]:
        return cells_of(settings, REPEATS_PER_CELL)

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, repeats = block_range(cell)
        as_figure_6 = replace(settings, figure=fig6.FIG6.name)  # the same random generator
        found: list[Arrays] = []
        for repeat in repeats:
            drawn = replace(fig6.draw(as_figure_6, name, repeat), as_authors=False)
            at = fig6.sizes(settings, len(drawn.y), drawn.n_labeled)[::2]
            measured = rivals_methods.measure(drawn, at)
            measured["missing_outcomes"] = rivals_methods.missing_outcomes(drawn, at)
            found.append(measured)
        stacked = {name: np.array([one[name] for one in found]) for name in found[0]}
        return {"n_unlabeled": np.array(at), **stacked}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        cells = {name: _joined(settings, name, results) for name in settings.datasets}
        curves = [tables.curves(name, cell) for name, cell in cells.items()]
        summary = pd.concat(curves, ignore_index=True)
        details = {
            "means": tables.means(summary),
            **tables.standings(cells),
            "missing_outcomes": tables.missing_outcomes(cells),
        }
        return Table(settings, summary, details)

    def plot(self, table: Table, view: str | None = None) -> Picture:
        view = plotting.choose_view(view, self.views)
        with plotting.style():
            return drawing.VIEWS[view](table)

    def findings(self, table: Table) -> list[Finding]:
        return rivals_findings.findings(table)


def _joined(settings: Settings, name: str, results: Mapping[str, Arrays]) -> Arrays:
    """Put the blocks of repeats of a data set together."""
    mine = [results[f"{name}/{block}"] for block in blocks(settings.repeats, REPEATS_PER_CELL)]
    joined = {key: np.concatenate([cell[key] for cell in mine]) for key in mine[0]}
    return {**joined, "n_unlabeled": mine[0]["n_unlabeled"]}


RIVALS = Rivals()
