"""Beyond Figure 6: does a ridge do the same?

The draws of Figure 6 with more methods: a supervised ridge tuned by leave-one-out
(`RidgeClassifierCV`), all methods with ridges λ > 0, and hard labels that start at the soft
solution instead of the supervised one. The intercept is never penalised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..._utils.typing import Array
from . import fig6_learning_curves as fig6
from ._curves import draw_curves
from ._figure import Arrays, Finding, Settings, Table
from ._nested import Draw, nested_weights
from ._protocol import MEASURES, RepeatedFigure, compare_errors, describe_repeats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


ALPHAS = (0.0, 1.0, 10.0)
METHODS = ("supervised", "soft", "hard", "hard_from_soft")
TUNED_ALPHAS = tuple(10.0 ** np.arange(-3, 4.01, 0.5))
CURVES = (
    *((method, f"{alpha:g}") for alpha in ALPHAS for method in METHODS),
    ("ridge", "tuned"),
    ("oracle", "0"),
)
"""Every curve: the method and its λ."""
CLAIMS = {
    "soft_helps": ("Without a ridge, soft labels help", ("soft", "0"), ("supervised", "0")),
    "soft_beats_ridge": (
        "Without a ridge, soft labels beat a tuned supervised ridge",
        ("soft", "0"), ("ridge", "tuned"),
    ),
    "soft_ridge_beats_ridge": (
        "With λ = 10, soft labels beat a tuned supervised ridge",
        ("soft", "10"), ("ridge", "tuned"),
    ),
    "soft_ridge_helps": (
        "With λ = 10, soft labels still help", ("soft", "10"), ("supervised", "10"),
    ),
    "start_at_soft": (
        "Hard labels are better started at the soft solution",
        ("hard_from_soft", "0"), ("hard", "0"),
    ),
}  # fmt: skip
"""The claims by key: the sentence, the curve claimed to be lower, and the other curve."""

SHOWN = {
    ("supervised", "0"): ("supervised", "supervised"),
    ("soft", "0"): ("soft", "soft labels"),
    ("hard_from_soft", "0"): ("hard_from_soft", "hard labels from soft"),
    ("ridge", "tuned"): ("ridge", "supervised, tuned ridge"),
    ("soft", "10"): ("soft_ridge", "soft labels, λ = 10"),
    ("oracle", "0"): ("oracle", "oracle"),
}
"""The curves that are drawn: the style of each, and its label in the legend."""


def tuned_ridge(drawn: Draw) -> Array:
    """Return the weights of the ridge with the least leave-one-out error on the labeled rows.

    They are those of `RidgeClassifierCV` for targets 0 and 1; one decomposition serves all ridges.
    Leaving a row out divides its error by 1 - h, with its leverage h (Allen, 1974).
    """
    L, alphas = drawn.n_labeled, np.array(TUNED_ALPHAS)
    X, y = drawn.X[:L, :-1], drawn.y[:L]
    centre, share = X.mean(axis=0), y.mean()
    squares, axes = np.linalg.eigh((X - centre).T @ (X - centre))
    rows = (X - centre) @ axes
    inverse = 1.0 / (np.maximum(squares, 0.0)[:, None] + alphas)
    weights = inverse * (rows.T @ (y - share))[:, None]
    kept = 1.0 - 1.0 / L - rows**2 @ inverse
    errors = (y[:, None] - share - rows @ weights) / kept
    w = axes @ weights[:, np.argmin(np.sum(errors**2, axis=0))]
    return np.append(w, share - centre @ w)


class Ridge(RepeatedFigure):
    name: ClassVar = "ridge"
    title: ClassVar = "What a ridge does without unlabeled rows"
    caption: ClassVar = (
        "Figure 6 with a ridge: error, then squared loss, as unlabeled rows are added to L labeled "
        "ones. A supervised ridge tuned by leave-one-out uses none of them (its line bends only "
        "because there are fewer test rows on the right). Beside it are soft labels with a ridge "
        "of λ = 10 and, without a ridge, the supervised fit, soft labels, and hard labels started "
        "at the soft solution. Without a ridge the unlabeled rows help a lot; a well-chosen ridge "
        "achieves much of that without them. Bands are two standard errors (of the logarithm, on "
        "the logarithmic axis)."
    )
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": "supervised, soft, hard, hard_from_soft (started at soft), ridge or oracle",
        "alpha": "the ridge λ; 'tuned' for the supervised ridge chosen by leave-one-out",
        "n_unlabeled": "number of unlabeled rows",
        **MEASURES,
    }

    def measure_repeat(self, settings: Settings, name: str, repeat: int) -> Arrays:
        drawn = replace(fig6.draw_repeat(settings, name, repeat), as_authors=False)
        at = fig6.sizes(settings, len(drawn.y), drawn.n_labeled)
        curves: list[Array] = []
        for alpha in ALPHAS:
            weights = nested_weights(replace(drawn, alpha=alpha), at, METHODS)
            curves += [weights[method] for method in METHODS]
        curves.append(np.tile(tuned_ridge(drawn), (len(at), 1)))
        curves.append(nested_weights(drawn, at, ("oracle",))["oracle"])
        return fig6.measure(drawn, np.stack(curves), at)

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        cells = self.join_blocks(settings, results)
        summary = fig6.average_curves(cells, tuple(f"{m} {a}" for m, a in CURVES))
        both = summary["method"].str.rsplit(" ", n=1, expand=True)
        summary["method"] = both[0]
        summary.insert(2, "alpha", both[1])
        return Table(settings, summary)

    def draw(self, table: Table, view: str) -> Picture:
        curves = zip(table.summary["method"], table.summary["alpha"], strict=True)
        styles = [SHOWN.get(curve, (None,))[0] for curve in curves]
        shown = fig6.describe_curves(table.settings, view, dict(SHOWN.values()))
        return draw_curves(table.summary.assign(method=styles), shown)

    def findings(self, table: Table) -> list[Finding]:
        largest = table.summary.groupby("dataset")["n_unlabeled"].transform("max")
        last = table.summary[table.summary["n_unlabeled"] == largest]
        curves = {
            curve: rows.set_index("dataset") for curve, rows in last.groupby(["method", "alpha"])
        }
        return [
            compare_errors(claim, curves[first], curves[second], key=key)
            for key, (claim, first, second) in CLAIMS.items()
        ]

    def describe_run(self, settings: Settings) -> str:
        return (
            f"{describe_repeats(settings)}, drawn as in Figure 6; ridges of λ = "
            f"{', '.join(f'{alpha:g}' for alpha in ALPHAS)}, a supervised ridge tuned by "
            "leave-one-out, and hard labels that start at the soft solution. The intercept is free."
        )


RIDGE = Ridge()
