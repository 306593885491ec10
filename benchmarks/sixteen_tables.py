"""The paper's sixteen data sets as people's tables, with 80 % of the labels removed.

``python -m benchmarks.sixteen_tables`` (about ten minutes on two cores) prints the answer of
`compare` for each, and the errors on the rows with hidden labels.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

from semisquares.paper.datasets import DATASETS, load
from semisquares.tables import compare_table, fit_table, prepare
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tuning import fit_pair

KEPT = 0.2
_HEADER = (
    "",
    "rows",
    "labels",
    "answer",
    "without",
    "with",
    "gain",
    "hidden: ridge",
    "soft",
    "s",
)
_WIDTHS = (12, 6, 7, 8, 8, 8, 20, 14, 8, 5)


def table_of(name: str, seed: int = 0, *, download: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a data set as a table with labels for a fifth of its rows, and all true labels."""
    bunch = load(name, download=download)
    frame = pd.DataFrame(bunch.data, columns=[str(one) for one in bunch.feature_names])
    truth = np.asarray(bunch.target_names, dtype=object)[bunch.target]
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(truth), dtype=bool)
    for k in np.unique(bunch.target):
        rows = np.flatnonzero(bunch.target == k)
        kept[rng.choice(rows, round(KEPT * len(rows)), replace=False)] = True
    frame["label"] = np.where(kept, truth, None)
    return frame, truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", default=list(DATASETS))
    options = parser.parse_args()
    print("".join(f"{head:>{width}s}" for head, width in zip(_HEADER, _WIDTHS, strict=True)))
    for name in options.names:
        print(_row(name, options.jobs), flush=True)


def _row(name: str, jobs: int) -> str:
    frame, truth = table_of(name)
    prepared = prepare(frame, "label", source=name)
    start = time.perf_counter()
    verdict = compare_table(prepared, jobs=jobs).verdict
    seconds = time.perf_counter() - start
    model = fit_table(prepared, method="ridge", alpha=1.0)
    assert len(model.predict(frame).labels) == len(frame)
    pair = fit_pair(TableRows(prepared.X, prepared.codes))
    hidden = prepared.codes < 0
    codes = pd.Index(prepared.target.spelling).get_indexer(truth.astype(str))
    errors = [
        np.mean(one.predict(prepared.X[hidden]) != codes[hidden]) for one in (pair.ridge, pair.soft)
    ]
    gain = verdict.gain
    cells = (
        name,
        f"{len(frame):,}",
        f"{verdict.n_labels}",
        verdict.answer,
        f"{1 - verdict.score_without:.3f}",
        f"{1 - verdict.score:.3f}",
        f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})",
        *(f"{error:.3f}" for error in errors),
        f"{seconds:.0f}",
    )
    return "".join(f"{cell:>{width}s}" for cell, width in zip(cells, _WIDTHS, strict=True))


if __name__ == "__main__":
    main()
