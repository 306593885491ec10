"""Beyond Figure 6: does a ridge do the same?

The same draws as Figure 6 with more rivals: a supervised ridge tuned by leave-one-out
(`RidgeClassifierCV`), all methods with ridges of λ > 0, and hard labels that start at the soft
solution instead of the supervised one. The intercept is free throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from . import fig6_learning_curves as fig6
from .curves import draw_curves
from .figure import Arrays, Figure, Finding, Settings, Table
from .nested import Draw, nested_weights
from .protocol import DATASETS_OF, MEASURES, block_range, compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

ALPHAS = (0.0, 1.0, 10.0)
METHODS = ("supervised", "soft", "hard", "hard_from_soft")
TUNED_ALPHAS = tuple(10.0 ** np.arange(-3, 4.01, 0.5))
RIVALS = (
    *((method, f"{alpha:g}") for alpha in ALPHAS for method in METHODS),
    ("ridge", "tuned"),
    ("oracle", "0"),
)
"""Every curve: the method and its λ."""
CLAIMS = (
    ("Without a ridge, soft labels help", ("soft", "0"), ("supervised", "0")),
    ("Without a ridge, they beat a tuned supervised one", ("soft", "0"), ("ridge", "tuned")),
    ("With λ = 10 they beat a tuned supervised ridge", ("soft", "10"), ("ridge", "tuned")),
    ("With λ = 10 they still help", ("soft", "10"), ("supervised", "10")),
    ("Hard labels are better started at the soft solution", ("hard_from_soft", "0"), ("hard", "0")),
)
"""What is held against the table: which curve is said to be lower than which."""

SHOWN = {
    ("supervised", "0"): ("supervised", "supervised"),
    ("soft", "0"): ("soft", "soft labels"),
    ("hard_from_soft", "0"): ("hard_from_soft", "hard labels from soft"),
    ("ridge", "tuned"): ("ridge", "supervised, tuned ridge"),
    ("soft", "10"): ("soft_ridge", "soft labels, λ = 10"),
    ("oracle", "0"): ("oracle", "oracle"),
}
"""The curves that are drawn: how each looks, and what the legend says."""


def tuned_ridge(drawn: Draw) -> Array:
    """Return the weights of `RidgeClassifierCV` on the labeled rows, in the scale of 0 and 1."""
    from sklearn.linear_model import RidgeClassifierCV

    L = drawn.n_labeled
    model = RidgeClassifierCV(alphas=TUNED_ALPHAS).fit(drawn.X[:L, :-1], drawn.y[:L] > 0.5)
    return 0.5 * np.append(model.coef_.ravel(), model.intercept_[0] + 1.0)


class Ridge(Figure):
    name: ClassVar = "ridge"
    title: ClassVar = "What a ridge does without unlabeled rows"
    caption: ClassVar = (
        "Figure 6 with a ridge: error, then squared loss, as unlabeled rows are added to L labeled "
        "ones. A supervised ridge tuned by leave-one-out needs none of them (its line bends only "
        "as the test rows become fewer); beside it soft labels with a ridge of λ = 10, and without "
        "one the supervised fit, soft labels, and hard labels started at the soft solution. "
        "Without a ridge the unlabeled rows help a lot; much of that a well-chosen ridge does too. "
        "Bands are two standard errors, on the logarithmic axis of the logarithm."
    )
    repeats: ClassVar = {"authors": 100, "paper": 100, "quick": 10}
    datasets: ClassVar = DATASETS_OF
    views: ClassVar = ("error", "loss")
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": "supervised, soft, hard, hard_from_soft (started at soft), ridge or oracle",
        "alpha": "the ridge λ; 'tuned' for the supervised ridge chosen by leave-one-out",
        "n_unlabeled": "number of unlabeled rows",
        **MEASURES,
    }

    def cells(self, settings: Settings) -> list[str]:
        return fig6.FIG6.cells(settings)

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, repeats = block_range(cell)
        as_figure_6 = replace(settings, figure=fig6.FIG6.name)  # the same random generator
        found = []
        for repeat in repeats:
            drawn = replace(fig6.draw(as_figure_6, name, repeat), as_authors=False)
            at = fig6.sizes(settings, len(drawn.y), drawn.n_labeled)
            weights = {
                alpha: nested_weights(replace(drawn, alpha=alpha), at, METHODS) for alpha in ALPHAS
            }
            curves = [weights[alpha][method] for alpha in ALPHAS for method in METHODS]
            curves.append(np.tile(tuned_ridge(drawn), (len(at), 1)))
            curves.append(nested_weights(drawn, at, ("oracle",))["oracle"])
            found.append(fig6.measure(drawn, np.stack(curves), at))
        error, loss = map(np.array, zip(*found, strict=True))
        return {"n_unlabeled": np.array(at), "error": error, "loss": loss}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        summary = fig6.curves(settings, results, tuple(f"{m} {a}" for m, a in RIVALS))
        both = summary["method"].str.rsplit(" ", n=1, expand=True)
        summary["method"] = both[0]
        summary.insert(2, "alpha", both[1])
        return Table(settings, summary)

    def plot(self, table: Table, view: str | None = None) -> Picture:
        view = plotting.choose_view(view, self.views)
        labels = dict(SHOWN.values())
        rivals = zip(table.summary["method"], table.summary["alpha"], strict=True)
        looks = [SHOWN.get(rival, (None,))[0] for rival in rivals]
        summary = table.summary.assign(method=looks)
        with plotting.style():
            return draw_curves(summary, fig6.learning_curve_axes(table.settings, view, labels))

    def findings(self, table: Table) -> list[Finding]:
        largest = table.summary.groupby("dataset")["n_unlabeled"].transform("max")
        last = table.summary[table.summary["n_unlabeled"] == largest]
        curves = {
            curve: rows.set_index("dataset") for curve, rows in last.groupby(["method", "alpha"])
        }
        return [compared(claim, curves[first], curves[second]) for claim, first, second in CLAIMS]


RIDGE = Ridge()
