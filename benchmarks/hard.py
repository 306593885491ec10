"""Hard labels on a large table: descents from two starts against the exact soft fit."""

from __future__ import annotations

import time
from collections.abc import Iterator

from semisquares import HardLabelClassifier, SoftLabelClassifier

from .data import OVERLAPPING, gaussians
from .report import Line
from .timing import side_by_side

N, D, LABELS = 1_000_000, 50, 1_000


def run(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(N, D, LABELS, OVERLAPPING)
    models = {"supervised": HardLabelClassifier(), "path": HardLabelClassifier(init="path")}
    highest = {"supervised": 5.0, "path": 12.0}
    rivals = {name: lambda model=model: model.fit(X, y) for name, model in models.items()}
    soft = SoftLabelClassifier()
    taken = side_by_side({"soft": lambda: soft.fit(X, y), **rivals}, repeats, time.process_time)
    for name, model in models.items():
        ratio = taken[name] / taken["soft"]
        shown = f"{model.n_iter_} steps"
        ratio_of = f"hard fit from {name} / soft fit"
        yield Line(f"{N:,} × {D}", ratio_of, ratio, high=highest[name], remark=shown)
