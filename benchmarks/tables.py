"""People's tables: fit and predict against reading the same file, a million rows × 50 columns.

The last line has the largest number of columns that a table may have: time must grow linearly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from semisquares.tables import TableModel, find, fit_table, load, prepare, read, save
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.io import MOST_COLUMNS, iter_chunks, writer

from .report import Line
from .timing import side_by_side

ROWS, COLUMNS, LABELS = 1_000_000, 50, 2_000
WIDE_ROWS = 12
"""Rows of the table with the largest number of columns."""


def run(repeats: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        for name, digits in (("whole.csv", None), ("short.csv", 4), ("whole.parquet", None)):
            table = Path(folder) / name
            _write(table, digits)
            yield from _lines(table, max(1, repeats // 2))
        yield _wide_line(Path(folder), max(1, repeats // 2))


def _lines(table: Path, repeats: int) -> Iterator[Line]:
    model_file, out = table.with_suffix(".model"), table.with_name(f"out{table.suffix}")
    source = find(str(table))
    size = table.stat().st_size / 1e6
    what = f"{ROWS:,} × {COLUMNS}, {table.suffix.removeprefix('.')} of {size:,.0f} MB"
    dominated = 2.0 if table.name == "whole.csv" else None

    def reading() -> pd.DataFrame:
        return read(source, text=("y",))

    def given() -> TableModel:
        return fit_table(prepare(reading(), "y"), method="soft", alpha=1.0, weight=1.0)

    taken = side_by_side(
        {
            "read": reading,
            "given": lambda: save(given(), model_file),
            "averaged": lambda: save(fit_table(prepare(reading(), "y"), jobs=2), model_file),
        },
        repeats,
    )
    ratio = taken["given"] / taken["read"]
    yield Line(what, "fit, alpha and weight given / reading", ratio, high=dominated)
    more = taken["averaged"] - taken["read"]
    ratio = taken["averaged"] / taken["read"]
    shown = f"{more:.1f} s more than reading"
    yield Line(what, "fit, method averaged / reading", ratio, high=dominated, remark=shown)
    model = given()

    def predict() -> None:
        with writer(str(out), dialect=source.dialect) as to:
            for batch in predict_rows(model, source, PredictionCounts()):
                to.write(batch)

    def copy() -> None:
        with writer(str(out), dialect=source.dialect) as to:
            for cells, _ in iter_chunks(source):
                to.write(cells)

    taken = side_by_side({"predict": predict, "copy": copy}, repeats)
    ratio = taken["predict"] / taken["copy"]
    yield Line(what, "predict / reading and writing it", ratio, high=dominated)


def _wide_line(folder: Path, repeats: int) -> Line:
    """Compare the largest number of columns with a tenth of it."""

    def fit_and_predict(table: Path) -> None:
        frame, stored = read(find(str(table)), text=("y",)), table.with_suffix(".model")
        save(fit_table(prepare(frame, "y"), method="soft", alpha=1.0, weight=1.0), stored)
        load(stored).predict(frame)

    paths = {n: folder / f"{n}.csv" for n in (MOST_COLUMNS // 10, MOST_COLUMNS - 1)}
    for n_columns, path in paths.items():
        _write(path, 4, n_rows=WIDE_ROWS, n_columns=n_columns, n_labels=WIDE_ROWS - 4)
    few, many = side_by_side(
        {str(n): partial(fit_and_predict, path) for n, path in paths.items()}, repeats
    ).values()
    what = f"{WIDE_ROWS} × {MOST_COLUMNS:,}, csv"
    return Line(
        what, "fit and predict / ten times that of a tenth of the columns", many / (10 * few),
        high=2.0, remark=f"{many:.1f} s",
    )  # fmt: skip


def _write(
    path: Path,
    digits: int | None,
    *,
    n_rows: int = ROWS,
    n_columns: int = COLUMNS,
    n_labels: int = LABELS,
) -> None:
    """Write a table of two overlapping classes with few labels."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns)) + 0.4 * truth[:, None] * (np.arange(n_columns) < 10)
    labeled = rng.permutation(n_rows) < n_labels
    y = np.where(labeled, np.where(truth == 1, "yes", "no"), None)
    X = X if digits is None else X.round(digits)
    cells = {f"x{j}": X[:, j] for j in range(n_columns)}
    table = pa.table({**cells, "y": pa.array(y)})
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
