"""People's tables: fit and predict against reading the same file, a million rows × 50 columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from semisquares.tables import TableModel, find, fit_table, prepare, read, save
from semisquares.tables.predicting import Tally, predict_rows
from semisquares.tables.reading import batches
from semisquares.tables.writing import writer

from .report import Line
from .timing import side_by_side

ROWS, COLUMNS, LABELS = 1_000_000, 50, 2_000


def run(repeats: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        for name, digits in (("whole.csv", None), ("short.csv", 4), ("whole.parquet", None)):
            table = Path(folder) / name
            _write(table, digits)
            yield from _lines(table, max(1, repeats // 2))


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
            "auto": lambda: save(fit_table(prepare(reading(), "y"), jobs=2), model_file),
        },
        repeats,
    )
    ratio = taken["given"] / taken["read"]
    yield Line(what, "fit, alpha and weight given / reading", ratio, high=dominated)
    choosing = taken["auto"] - taken["given"]
    shown = f"choosing takes {choosing:.1f} s of {taken['auto']:.1f} s, whatever the number of rows"
    ratio = taken["auto"] / taken["read"]
    yield Line(what, "fit, method auto / reading", ratio, high=dominated, remark=shown)
    model = given()

    def predict() -> None:
        with writer(str(out), format=source.format) as to:
            for batch in predict_rows(model, source, Tally()):
                to.write(batch)

    def copy() -> None:
        with writer(str(out), format=source.format) as to:
            for cells, _ in batches(source):
                to.write(cells)

    taken = side_by_side({"predict": predict, "copy": copy}, repeats)
    ratio = taken["predict"] / taken["copy"]
    yield Line(what, "predict / reading and writing it", ratio, high=dominated)


def _write(path: Path, digits: int | None) -> None:
    """Write a table of two overlapping classes, few of whose rows have a label."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) + 0.4 * truth[:, None] * (np.arange(COLUMNS) < 10)
    labeled = rng.permutation(ROWS) < LABELS
    y = np.where(labeled, np.where(truth == 1, "yes", "no"), None)
    X = X if digits is None else X.round(digits)
    cells = {f"x{j}": X[:, j] for j in range(COLUMNS)}
    table = pa.table({**cells, "y": pa.array(y)})
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
