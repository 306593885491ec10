"""People's tables: fit and predict against reading the same file, a million rows × 50 columns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from semisquares.tables import find, fit_table, prepare, read, save
from semisquares.tables.predicting import Tally, predict_rows
from semisquares.tables.reading import batches
from semisquares.tables.writing import writer

from .report import Line
from .timing import side_by_side

ROWS, COLUMNS, LABELS = 1_000_000, 50, 2_000


def run(repeats: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("csv", "parquet"):
            table = Path(folder) / f"table.{ending}"
            _write(table)
            yield from _lines(table, max(1, repeats // 2))


def _lines(table: Path, repeats: int) -> Iterator[Line]:
    model_file, out = table.with_suffix(".model"), table.with_name(f"out{table.suffix}")
    source = find(str(table))
    what = f"{ROWS:,} × {COLUMNS}, {table.suffix.removeprefix('.').upper()}"
    parts: dict[str, list[float]] = {"reading": [], "preparing": [], "choosing and fitting": []}

    def fit() -> None:
        clock = [time.perf_counter()]
        frame = read(source, text=("y",))
        clock.append(time.perf_counter())
        prepared = prepare(frame, "y")
        clock.append(time.perf_counter())
        save(fit_table(prepared, jobs=2), model_file)
        clock.append(time.perf_counter())
        for name, start, end in zip(parts, clock, clock[1:], strict=False):
            parts[name].append(end - start)

    taken = side_by_side({"fit": fit, "read": lambda: read(source, text=("y",))}, repeats)
    shown = ", ".join(f"{name} {median(seconds):.1f} s" for name, seconds in parts.items())
    yield Line(what, "fit / reading the table", taken["fit"] / taken["read"], remark=shown)

    model = fit_table(prepare(read(source, text=("y",)), "y"), method="soft", alpha=1.0, weight=1.0)

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
    yield Line(what, "predict / reading and writing it", ratio)


def _write(path: Path) -> None:
    """Write a table of two overlapping classes, few of whose rows have a label."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) + 0.4 * truth[:, None] * (np.arange(COLUMNS) < 10)
    labeled = rng.permutation(ROWS) < LABELS
    y = np.where(labeled, np.where(truth == 1, "yes", "no"), None)
    cells = {f"x{j}": X[:, j].round(4) for j in range(COLUMNS)}
    table = pa.table({**cells, "y": pa.array(y)})
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
