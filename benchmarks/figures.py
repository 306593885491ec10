"""Repeats of the paper's experiments against scikit-learn's ridge classifier, in CPU seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sklearn.linear_model import RidgeClassifier

from semisquares.paper.figures import FIGURES
from semisquares.paper.figures import fig6_learning_curves as fig6

from .report import Line
from .timing import side_by_side

DATASETS = ("Ionosphere", "Sonar", "WDBC")
"""Data sets that need no download."""
REPEATS = 5


def run(repeats: int) -> Iterator[Line]:
    for name, what in (("fig6", "Figure 6"), ("ridge", "ridges"), ("rivals", "rivals")):
        yield _repeat(name, what, repeats)


def _repeat(name: str, what: str, repeats: int) -> Line:
    """Compare repeats of a figure with fits of the oracle's rows by scikit-learn."""
    figure = FIGURES[name]
    settings = figure.settings("authors", datasets=DATASETS)
    cells = [f"{dataset}/0-{REPEATS - 1}" for dataset in DATASETS]
    taken = side_by_side(
        {
            "figure": lambda: [figure.compute_cell(settings, cell) for cell in cells],
            "ridge": _fit_oracles,
        },
        repeats,
        time.process_time,
    )
    shown = f"{1e3 * taken['figure'] / REPEATS:.0f} CPU-ms for a repeat of {', '.join(DATASETS)}"
    ratio = taken["figure"] / taken["ridge"]
    return Line(f"{what}, {REPEATS} repeats", "figure / RidgeClassifier", ratio, remark=shown)


def _fit_oracles() -> None:
    """Fit the labeled and the first unlabeled rows of every point of Figure 6, labels known."""
    settings = FIGURES["fig6"].settings("authors", datasets=DATASETS)
    for dataset in DATASETS:
        for repeat in range(REPEATS):
            drawn = fig6.draw_repeat(settings, dataset, repeat)
            for size in fig6.sizes(settings, len(drawn.y), drawn.n_labeled):
                rows = slice(drawn.n_labeled + size)
                RidgeClassifier().fit(drawn.X[rows, :-1], drawn.y[rows] > 0.5)
