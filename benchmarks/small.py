"""Small tables and sparse rows: a fit against scikit-learn's ridge classifier.

On the small table, also the time to read y against that of the whole fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.linear_model import RidgeClassifier

from semisquares import SoftLabelClassifier
from semisquares._inputs.labels import read_labels

from .data import OVERLAPPING, gaussians, words
from .report import Line
from .timing import side_by_side


def run(repeats: int) -> Iterator[Line]:
    X, truth, y = gaussians(276, 10, 20, OVERLAPPING)
    taken = side_by_side(
        {
            "soft": lambda: SoftLabelClassifier().fit(X, y),
            "ridge": lambda: RidgeClassifier().fit(X, truth),
            "labels": lambda: read_labels(y),
        },
        50 * repeats,
    )
    what = "L=20, U=256, d=10"
    yield Line(what, "soft fit / RidgeClassifier", taken["soft"] / taken["ridge"], high=1.5)
    shown = f"{1e6 * taken['labels']:.0f} microseconds"
    ratio = taken["labels"] / taken["soft"]
    yield Line(what, "reading y / soft fit", ratio, high=0.1, remark=shown)

    X, truth, y = words(100_000, 50_000, 50, 2_000)
    model = SoftLabelClassifier(tol=1e-6)
    taken = side_by_side(
        {
            "soft": lambda: model.fit(X, y),
            "ridge": lambda: RidgeClassifier(solver="sparse_cg").fit(X, truth),
        },
        repeats,
    )
    passes = model.solution_.n_passes
    shown = f"{model.n_iter_} steps, {passes:.0f} passes, gap {model.certificate_:.0e}"
    what = f"sparse {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz / 1e6:.1f} M non-zeros"
    ratio = taken["soft"] / taken["ridge"]
    yield Line(what, "soft fit / RidgeClassifier(sparse_cg)", ratio, high=3.0, remark=shown)
