"""Alternatives on the same files: stochastic gradients, dask-ml and Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from sklearn.linear_model import SGDClassifier

from semisquares import LeastSquaresClassifier

from .data import Array
from .report import Line
from .scale_files import COLUMNS, NAMES, SIZES
from .timing import seconds_of

if TYPE_CHECKING:
    from .scale import Measured

ALPHA = 1.0
PART = 10
"""With all labels, a tenth of the files is fitted."""
MOST_EPOCHS = 5

Blocks = Callable[[], Iterator[tuple[Array, Array]]]


def run(on: Measured, rows: int) -> Iterator[Line]:
    yield _few_labels(on, rows)
    yield from _all_labels(on, rows)


def _few_labels(on: Measured, rows: int) -> Line:
    """Compare the soft fit with stochastic gradients, which can only use the labeled rows.

    They are timed until the labeled loss is 1 % above its minimum. The labeled rows are read once
    and kept, which is generous: a loop over all blocks would read all files in every epoch.
    """
    files, soft = on.files, on.fits[on.files.n_files]
    parts, take = files.frame(files.n_files).to_delayed(), dask.delayed(_labeled)
    seconds, _, found = on.timed(lambda: dask.compute([take(part) for part in parts])[0])
    X, y = (np.concatenate(column) for column in zip(*found, strict=True))
    supervised = LeastSquaresClassifier(ALPHA).fit(X, y)
    (spent,), descended = descend(lambda: iter([(X, y)]), supervised, [(X, y)], [0.01], 1_000)
    held = files.frame(files.count(rows / SIZES))
    scores = {
        name: _accuracy(model, held)
        for name, model in (("soft", soft.model), ("SGD", descended), ("supervised", supervised))
    }
    shown = f"reading {seconds:.1f} s, descent {spent:.2f} s; accuracy "
    shown += ", ".join(f"{name} {score:.4f}" for name, score in scores.items())
    what = f"{rows:,} × {COLUMNS}, {files.n_labels:,} labels"
    ratio = soft.seconds / (seconds + spent)
    return Line(what, "soft fit / SGD to 1 % of labeled loss", ratio, remark=shown)


def _all_labels(on: Measured, rows: int) -> Iterator[Line]:
    """Compare supervised fits of labeled rows, the part of the work that rivals do too."""
    n_files = on.files.count(rows / PART)
    frame = on.files.frame(n_files)
    X, y = frame[NAMES], frame["truth"]
    model = LeastSquaresClassifier(ALPHA)
    least = on.timed(lambda: model.fit(X, y))[0]
    held = on.files.frame(on.files.count(rows / SIZES))
    what = f"{n_files * on.files.rows_per_file:,} × {COLUMNS}, all labeled"
    ours = f"least squares {least:.1f} s, accuracy {_accuracy(model, held):.4f}"

    parts = frame.to_delayed()

    def blocks() -> Iterator[tuple[Array, Array]]:
        for part in parts:
            yield _arrays(part.compute(scheduler="synchronous"), "truth")

    goals = (0.01, 1e-5)
    taken, descended = descend(blocks, model, blocks(), goals, MOST_EPOCHS)
    shown = f"{ours}; SGD {_accuracy(descended, held):.4f}"
    for goal, seconds in zip(goals, taken, strict=True):
        ratio_of = f"SGD to {goal:g} of the loss / least squares"
        yield Line(what, ratio_of, seconds / least, remark=shown)
        shown = f"inf means: not reached in {MOST_EPOCHS} epochs"
    for name, module, fit in (
        ("dask-ml LogisticRegression", "dask_ml", _dask_ml),
        ("Spark LinearRegression", "pyspark", _spark),
    ):
        if find_spec(module) is not None:
            seconds, accuracy = fit(on, n_files, held)
            shown = f"{seconds:.1f} s, accuracy {accuracy:.4f}"
            yield Line(what, f"{name} / least squares", seconds / least, remark=shown)


# -- stochastic gradients -----------------------------------------------------------------------


def descend(
    blocks: Blocks,
    best: LeastSquaresClassifier,
    all_rows: Any,
    goals: Sequence[float],
    most_epochs: int,
) -> tuple[list[float], SGDClassifier]:
    """Return the seconds until the squared loss is within each of `goals` of the minimum.

    Goals are relative and decreasing; one that is not reached takes infinite seconds. Evaluating
    the loss is not timed: it is a quadratic function of the weights, known in advance. Step sizes
    decrease slowly and iterates are averaged: of eight settings tried on half a million such rows,
    all labeled, these had the smallest final loss.
    """
    moments, n_rows = _moments(all_rows)

    def loss(coef: Array, intercept: Array) -> float:
        v = np.concatenate((coef.ravel(), intercept.ravel(), [-1.0]))
        return float(v @ moments @ v)

    least = loss(2.0 * best.coef_, 2.0 * best.intercept_)  # its targets are ½ away from 0, not 1
    model = SGDClassifier(
        loss="squared_error", alpha=ALPHA / n_rows, learning_rate="invscaling", eta0=0.01,
        power_t=0.5, average=True, random_state=0,
    )  # fmt: skip
    taken, spent, open_goals = [], 0.0, list(goals)
    for _ in range(most_epochs):
        start = time.perf_counter()
        for X, y in blocks():
            model.partial_fit(X, y, classes=[0, 1])
            spent += time.perf_counter() - start
            while open_goals and loss(model.coef_, model.intercept_) <= (1 + open_goals[0]) * least:
                taken.append(spent)
                open_goals.pop(0)
            if not open_goals:
                return taken, model
            start = time.perf_counter()
    return taken + [float("inf")] * len(open_goals), model


def _moments(blocks: Any) -> tuple[Array, int]:
    """Return the mean of vv', v = (x, 1, ±1), and the number of rows."""
    total, n_rows = np.zeros((COLUMNS + 2, COLUMNS + 2)), 0
    for X, y in blocks:
        v = np.column_stack((X.astype(np.float64), np.ones(len(X)), 2.0 * y - 1.0))
        total += v.T @ v
        n_rows += len(X)
    return total / n_rows, n_rows


# -- others, if they are installed --------------------------------------------------------------


def _dask_ml(on: Measured, n_files: int, held: Any) -> tuple[float, float]:
    from dask_ml.linear_model import LogisticRegression

    parts, size = on.files.frame(n_files).to_delayed(), on.files.rows_per_file
    X, y = (
        da.concatenate([da.from_delayed(pick(part), shape, kind) for part in parts])
        for pick, shape, kind in (
            (dask.delayed(_features), (size, COLUMNS), np.float32),
            (dask.delayed(_truth), (size,), np.int8),
        )
    )
    model = LogisticRegression(solver="lbfgs", C=1.0 / ALPHA)
    seconds = on.timed(lambda: model.fit(X, y))[0]
    coef, intercept = np.ravel(model.coef_), np.ravel(model.intercept_)
    return seconds, _share_right(coef, intercept, held)


def _spark(on: Measured, n_files: int, held: Any) -> tuple[float, float]:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression
    from pyspark.sql import SparkSession

    paths = [str(on.files.path(k)) for k in range(n_files)]
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        frame = spark.read.parquet(*paths)
        rows = VectorAssembler(inputCols=NAMES, outputCol="x").transform(frame)
        regression = LinearRegression(
            featuresCol="x", labelCol="truth", solver="normal", standardization=False,
            regParam=ALPHA / (n_files * on.files.rows_per_file),
        )  # fmt: skip
        regression.fit(rows.limit(1000))  # Java warms up
        fitted = []
        seconds = seconds_of(lambda: fitted.append(regression.fit(rows)))
        coef, intercept = np.array(fitted[0].coefficients), fitted[0].intercept - 0.5
        return seconds, _share_right(coef, intercept, held)
    finally:
        spark.stop()


# -- blocks -------------------------------------------------------------------------------------


def _features(part: Any) -> Array:
    return np.ascontiguousarray(part[NAMES].to_numpy())


def _truth(part: Any) -> Array:
    return np.asarray(part["truth"])


def _arrays(part: Any, labels: str) -> tuple[Array, Array]:
    return _features(part), np.asarray(part[labels])


def _labeled(part: Any) -> tuple[Array, Array]:
    return _arrays(part[part["y"] >= 0], "y")


def _accuracy(model: Any, held: Any) -> float:
    return _share_right(np.ravel(model.coef_), np.ravel(model.intercept_), held)


def _share_right(coef: Array, intercept: Any, held: Any) -> float:
    right = dask.delayed(_n_right)
    counts = dask.compute([right(part, coef, intercept) for part in held.to_delayed()])[0]
    return float(np.sum([n for n, _ in counts]) / np.sum([n for _, n in counts]))


def _n_right(part: Any, coef: Array, intercept: Any) -> tuple[int, int]:
    X, truth = _arrays(part, "truth")
    return int(((X @ coef + intercept > 0.0) == truth).sum()), len(truth)
