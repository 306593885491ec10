"""Many classes: an exact soft fit against a supervised ridge fit with all labels, in CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sklearn.linear_model import RidgeClassifier

from semisquares import SoftLabelClassifier

from .data import Array, many_classes, overlapping_classes
from .report import Line
from .timing import side_by_side

N, D = 50_000, 100


def run(repeats: int) -> Iterator[Line]:
    yield _one("10 classes, apart", many_classes(N, D, 10, 2_000), repeats, high=2.0)
    yield _one("10 classes, overlapping", overlapping_classes(N, D, 10, 3_000), repeats, high=2.0)
    yield _one("100 classes, apart", many_classes(N, D, 100, 5_000), repeats, high=4.0)


def _one(name: str, data: tuple[Array, Array, Array], repeats: int, high: float) -> Line:
    X, truth, y = data
    model = SoftLabelClassifier()
    taken = side_by_side(
        {"soft": lambda: model.fit(X, y), "ridge": lambda: RidgeClassifier().fit(X, truth)},
        repeats,
        time.process_time,
    )
    passes = model.solution_.n_passes
    shown = f"{model.n_iter_} steps, {passes:.0f} passes, gap {model.certificate_:.0e}"
    ratio = taken["soft"] / taken["ridge"]
    what = f"{name}, {N:,} × {D}"
    return Line(what, "soft fit / RidgeClassifier", ratio, high=high, remark=shown)
