"""Large tables: an exact soft fit against a supervised ridge fit with all labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve
from sklearn.linear_model import RidgeClassifier

from semisquares import SoftLabelClassifier

from .data import OVERLAPPING, SEPARATED, Array, gaussians
from .report import Line
from .timing import peak_memory, side_by_side

N, LABELS, ALPHA = 500_000, 2_000, 1.0


def run(repeats: int) -> Iterator[Line]:
    for d in (30, 100, 400):
        for s, kind in ((OVERLAPPING, "overlapping"), (SEPARATED, "separated")):
            yield from _one(d, s, kind, repeats)


def _one(d: int, s: float, kind: str, repeats: int) -> Iterator[Line]:
    X, truth, y = gaussians(N, d, LABELS, s)
    fits = side_by_side(
        {
            "soft": lambda: SoftLabelClassifier(ALPHA).fit(X, y),
            "ridge": lambda: RidgeClassifier(ALPHA, solver="cholesky").fit(X, truth),
            "bare": lambda: bare_solve(X, truth),
        },
        repeats,
    )
    model = SoftLabelClassifier(ALPHA).fit(X, y)
    what = f"{N:,} × {d}, {kind}"
    shown = f"{model.n_iter_} steps, gap {model.certificate_:.0e}, {model.termination_condition_}"
    half, twice = (0.5, 2.0) if s == OVERLAPPING else (0.7, 3.0)
    promised = d == 100
    for ratio_of, value, high in (
        ("soft fit / RidgeClassifier", fits["soft"] / fits["ridge"], half),
        ("soft fit / bare X'X + Cholesky", fits["soft"] / fits["bare"], twice),
        ("extra memory / X", _extra_memory(X, y), 0.2),
    ):
        yield Line(what, ratio_of, value, high=high if promised else None, remark=shown)
        shown = ""


def _extra_memory(X: Array, y: Array) -> float:
    return peak_memory(lambda: SoftLabelClassifier(ALPHA).fit(X, y)) / X.nbytes


def bare_solve(X: Array, truth: Array) -> Array:
    """Do only what every ridge fit must do: X'X, X'y and one Cholesky solve."""
    gram = X.T @ X
    gram.flat[:: len(gram) + 1] += ALPHA
    return np.asarray(solve(gram, X.T @ truth.astype(float), assume_a="pos"))
