"""`SoftLabelClassifierCV` against scikit-learn's tuned ridge, and against one soft fit."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.linear_model import RidgeClassifierCV

from semisquares import SoftLabelClassifier, SoftLabelClassifierCV

from .peers.cost import LABELS
from .peers.draws import scaled_rows
from .peers.supervised import FINE_ALPHAS
from .report import Line
from .timing import side_by_side

SMALL, LARGE = 1_000, 1_000_000


def run(repeats: int) -> Iterator[Line]:
    rows = scaled_rows(SMALL, LABELS, seed=0)
    labeled = rows.labeled
    taken = side_by_side(
        {
            "chosen": lambda: SoftLabelClassifierCV().fit(rows.X, rows.y),
            "ridge": lambda: RidgeClassifierCV(FINE_ALPHAS).fit(*labeled),
        },
        10 * repeats,
    )
    what = f"L={LABELS}, {SMALL:,} × {rows.X.shape[1]}"
    ratio = taken["chosen"] / taken["ridge"]
    shown = f"{1e3 * taken['chosen']:.0f} ms"
    yield Line(what, "SoftLabelClassifierCV / RidgeClassifierCV", ratio, high=10.0, remark=shown)

    many = scaled_rows(LARGE, LABELS, seed=0)
    taken = side_by_side(
        {
            "chosen": lambda: SoftLabelClassifierCV().fit(many.X, many.y),
            "soft": lambda: SoftLabelClassifier().fit(many.X, many.y),
        },
        repeats,
    )
    what = f"L={LABELS}, {LARGE:,} × {many.X.shape[1]}"
    ratio = taken["chosen"] / taken["soft"]
    shown = f"{taken['chosen']:.2g} s"
    yield Line(what, "SoftLabelClassifierCV / soft fit", ratio, high=10.0, remark=shown)
