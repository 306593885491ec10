"""The largest costs that are left, against what the machine allows: reading, multiplying, growing.

The limit of a pass over the rows is one product Xw, which reads X once; that of a matrix, the time
of as many operations in a product of two square matrices; that of a forest, the same trees grown by
scikit-learn's compiled code; that of reading a table, PyArrow's parser. In CPU time.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from semisquares import AveragedClassifier, HardLabelClassifier, SoftLabelClassifier
from semisquares.representations import GraphRepresentation
from semisquares.representations._summary import summarize
from semisquares.tables.columns.text import count_ngrams

from .data import OVERLAPPING, gaussians
from .report import Line
from .timing import side_by_side

SQUARE = 1_000
"""The size of the matrices whose product gives the rate of multiplications."""
WORDS = ("pump", "motor", "noise", "hot", "leak", "valve", "worn", "new")


def run(repeats: int) -> Iterator[Line]:
    yield _soft(repeats)
    yield from _long(repeats)
    yield from _averaged(repeats)
    yield _ngrams(repeats)


def _soft(repeats: int) -> Line:
    X, _, y = gaussians(500_000, 100, 2_000, OVERLAPPING)
    return _line("soft fit, 500,000 × 100", lambda: SoftLabelClassifier().fit(X, y),
                 "one pass", lambda: X @ X[0], repeats)  # fmt: skip


def _long(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(1_000_000, 50, 1_000, OVERLAPPING)
    yield _line("hard fit, 1,000,000 × 50", lambda: HardLabelClassifier().fit(X, y),
                "X'X", lambda: X.T @ X, repeats)  # fmt: skip
    yield _line("summary and sample of 1,000,000 × 50", lambda: summarize(X),
                "one pass", lambda: X @ X[0], repeats)  # fmt: skip


def _averaged(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(1_050, 241, 200, OVERLAPPING)
    known = y >= 0
    forest = RandomForestClassifier(200, bootstrap=False, random_state=0)
    yield _line("forest family, 200 × 241",
                lambda: AveragedClassifier("forest").fit(X[known], y[known]),
                "200 trees", lambda: forest.fit(X[known], y[known]), repeats)  # fmt: skip
    square = np.ones((SQUARE, SQUARE))
    # distances take 2n²d operations, the reduction to a tridiagonal matrix 4n³/3
    n, d = X.shape
    share = (2.0 * n * n * d + 4.0 * n**3 / 3.0) / (2.0 * SQUARE**3)
    yield _line("graph of 1,050 × 241", lambda: GraphRepresentation().fit(X),
                "its operations in a product", lambda: square @ square, repeats, share)  # fmt: skip


def _ngrams(repeats: int) -> Line:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(20_000)]
    table = io.BytesIO("\n".join(texts).encode())

    def read() -> object:
        from pyarrow import csv

        table.seek(0)
        return csv.read_csv(table, csv.ReadOptions(column_names=["text"]))

    return _line("n-grams of 20,000 texts", lambda: count_ngrams(texts),
                 "parsing them", read, repeats)  # fmt: skip


def _line(
    what: str,
    work: Callable[[], object],
    limit: str,
    least: Callable[[], object],
    repeats: int,
    share: float = 1.0,
) -> Line:
    """Compare CPU times; `least` takes 1/share of the limit."""
    taken = side_by_side({"work": work, "least": least}, repeats, time.process_time)
    ratio = taken["work"] / (share * taken["least"])
    return Line(what, f"CPU time / {limit}", ratio, remark=f"{taken['work']:.3f} CPU-s")
