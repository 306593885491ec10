"""The averaged classifier against growing a forest on the same labeled rows, in CPU seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from semisquares import AveragedClassifier

from .data import OVERLAPPING, Array, gaussians
from .report import Line
from .timing import peak_memory, seconds_of, side_by_side

NO_GRAPH = ("linear", "kernel")
ROWS, LABELS, COLUMNS = 1_000_000, 1_000, 50
PREDICTED = 100_000
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
cpu_seconds = partial(side_by_side, clock=time.process_time)


def run(repeats: int) -> Iterator[Line]:
    yield from _wide(repeats)
    yield from _long(repeats)
    yield from _growth()


def forest() -> RandomForestClassifier:
    """Return the forest whose CPU time is the unit."""
    return RandomForestClassifier(200, oob_score=True, random_state=0)


def _fit_times(X: Array, y: Array, repeats: int) -> dict[str, float]:
    known = y >= 0
    return cpu_seconds(
        {
            "all": lambda: AveragedClassifier().fit(X, y),
            "least squares": lambda: AveragedClassifier("least_squares").fit(X, y),
            "forest": lambda: forest().fit(X[known], y[known]),
        },
        repeats,
    )


def _wide(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(1_050, 241, 200, OVERLAPPING)
    taken = _fit_times(X, y, repeats)
    what = "1,050 × 241, 200 labels"
    ratio = taken["all"] / taken["forest"]
    yield Line(what, "averaged fit / forest", ratio, high=2.5, remark=f"{taken['all']:.2f} CPU-s")
    yield Line(what, "least squares alone / forest", taken["least squares"] / taken["forest"])
    X, _, y = gaussians(600, 2_000, 100, OVERLAPPING)
    seconds = seconds_of(lambda: AveragedClassifier().fit(X, y), time.process_time)
    yield Line("600 × 2,000, 100 labels", "CPU seconds of an averaged fit", seconds, high=3.0)


def _long(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(ROWS, COLUMNS, LABELS, OVERLAPPING)
    known = y >= 0
    grown = forest().fit(X[known], y[known])
    taken = _fit_times(X, y, repeats)
    what = f"{ROWS:,} × {COLUMNS}, {LABELS:,} labels"
    shown = f"{taken['all']:.2f} CPU-s"
    yield Line(
        what, "averaged fit / forest", taken["all"] / taken["forest"], high=4.5, remark=shown
    )
    ratio = taken["least squares"] / taken["forest"]
    yield Line(what, "least squares alone / forest", ratio, high=3.0)
    extra = peak_memory(lambda: AveragedClassifier("least_squares").fit(X, y)) / X.nbytes
    yield Line(what, "extra memory / X", extra, high=0.1)
    # a sharpness of 0 keeps all members, those of the graph among them
    with_graph = AveragedClassifier(sharpness=0.0).fit(X, y)
    without = AveragedClassifier(representations=NO_GRAPH, sharpness=0.0).fit(X, y)
    rows = X[:PREDICTED]
    taken = cpu_seconds(
        {
            "with": lambda: with_graph.predict_proba(rows),
            "without": lambda: without.predict_proba(rows),
            "forest": lambda: grown.predict_proba(rows),
        },
        max(1, repeats // 2),
    )
    what = f"predicting {PREDICTED:,} × {COLUMNS}"
    shown = f"all {len(with_graph.members_['weight'])} members"
    ratio = taken["with"] / taken["forest"]
    yield Line(what, "averaged / forest", ratio, high=9.0, remark=shown)
    ratio = taken["without"] / taken["forest"]
    yield Line(what, "averaged without graph / forest", ratio, high=4.0)


def _growth() -> Iterator[Line]:
    seconds = [_fit_seconds(n) for n in SIZES]
    slope = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    shown = "CPU-s: " + ", ".join(f"{one:.3g}" for one in seconds)
    what = "n from 10⁴ to 10⁶, d=50, 1,000 labels"
    yield Line(what, "log-log slope of time in n", slope, high=1.0, remark=shown)


def _fit_seconds(n: int) -> float:
    X, _, y = gaussians(n, COLUMNS, LABELS, OVERLAPPING)

    def fit() -> Array:
        return AveragedClassifier("least_squares").fit(X, y).classes_

    return min(seconds_of(fit, time.process_time) for _ in range(2))
