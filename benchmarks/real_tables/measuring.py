"""Run what is missing: every method on every table, number of labels and split."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import semisquares

from ..peers.scoring import balanced_accuracy
from .cases import Case, counts_for, write_case
from .catalogue import RealTable
from .methods import METHODS, Answer, Method
from .packages import FOLDER, PACKAGES
from .storing import RESULTS, Results

LEAST = 1e-3
"""Probabilities of the true class are clipped here, so that no single row decides a log loss."""
VERSIONS = ("scikit-learn", "skrub", "pandas")


def measure(
    tables: Iterable[RealTable],
    splits: Sequence[int],
    *,
    out: Path = RESULTS,
    folder: Path = FOLDER,
    methods: Sequence[str] = tuple(METHODS),
    again: bool = False,
) -> Results:
    """Measure all fits that are not stored in `out`, or `again` all, and store each when done."""
    results = Results.read(out)
    results.versions |= _versions()
    warmed: set[str] = set()
    for table in tables:
        frame = table.load(folder)
        results.tables[table.name] = describe(frame, table.target)
        for labels in counts_for(len(frame)):
            for split in splits:
                missing = [
                    name
                    for name in methods
                    if again or not results.has(table.name, labels, name, split)
                ]
                if missing:
                    where = (frame, table.target, labels, split)
                    for name, scores in _run(where, missing, warmed):
                        results.add(table.name, labels, name, split, scores)
                    results.write(out)
            print(_line(results, table.name, labels, methods), flush=True)
    results.write(out)
    return results


def _run(
    where: tuple[pd.DataFrame, str, int, int], methods: Sequence[str], warmed: set[str]
) -> Iterator[tuple[str, dict[str, float | None]]]:
    """Yield the scores of methods on one case; the first fit of each imports its packages."""
    with tempfile.TemporaryDirectory() as folder:
        case = write_case(*where, Path(folder))
        for name in methods:
            if name not in warmed:
                METHODS[name].run(case)
                warmed.add(name)
            yield name, score(METHODS[name], case)


def score(method: Method, case: Case) -> dict[str, float | None]:
    """Run a method, from files to probabilities, and return its scores and CPU seconds."""
    start = time.process_time()
    answer = method.run(case)
    seconds = time.process_time() - start
    return {
        "accuracy": float(np.mean(answer.predicted == case.truth)),
        "balanced": balanced_accuracy(case.truth, answer.predicted),
        "log_loss": log_loss(answer, case),
        "seconds": seconds,
    }


def log_loss(answer: Answer, case: Case) -> float | None:
    """Return the mean of -log p of the true class, p clipped to at least 0.001."""
    if answer.probabilities is None:
        return None
    given = answer.probabilities[np.arange(len(case.truth)), case.truth]
    return float(-np.log(np.clip(given, LEAST, 1.0)).mean())


def describe(frame: pd.DataFrame, target: str) -> dict[str, Any]:
    """Return the size of a table, and how its classes are distributed."""
    shares = frame[target].value_counts(normalize=True)
    return {
        "rows": len(frame),
        "columns": frame.shape[1] - 1,
        "classes": len(shares),
        "rarest": round(float(shares.iloc[-1]), 4),
        "most_common": round(float(shares.iloc[0]), 4),
    }


def _versions() -> dict[str, str]:
    found = {**PACKAGES, "semisquares": semisquares.__version__}
    for name in VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _line(results: Results, table: str, labels: int, methods: Sequence[str]) -> str:
    """Return the mean accuracies of all methods on a table."""
    words = []
    for name in methods:
        found = results.values(table, labels, name, "accuracy")
        words.append(f"{name} {np.mean(list(found.values())):.3f}" if found else f"{name} –")
    return f"{table:12s}{labels:6,d}  " + "  ".join(words)
