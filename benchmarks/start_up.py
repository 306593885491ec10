"""How long an import takes: what everybody waits for before anything happens.

Each import runs in a process of its own, which measures itself, so that the start of Python does
not count. What a classifier takes is measured after the import of `RidgeClassifier`, which stands
for what a user of scikit-learn waits for anyway.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from os import environ

import numpy as np

from .report import Line

PACKAGE, BEYOND_RIDGE = 20.0, 50.0
"""Milliseconds that are promised."""
_RIDGE = "from sklearn.linear_model import RidgeClassifier"
_TIMED = "import time; {}\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


def run(repeats: int) -> Iterator[Line]:
    what = "milliseconds after RidgeClassifier"
    for name, before, high in (
        ("import semisquares", "", PACKAGE),
        ("from semisquares import SoftLabelClassifier", _RIDGE, BEYOND_RIDGE),
        ("from semisquares import AveragedClassifier", _RIDGE, None),
    ):
        # the first turn compiles, and fills the caches of the file system
        taken = [_measure(name, before) for _ in range(repeats + 1)][1:]
        yield Line(
            name, what if before else "milliseconds", 1e3 * float(np.median(taken)), high=high
        )


def _measure(statement: str, before: str = "") -> float:
    """Return the seconds of an import in a new process, after others."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(before, statement)],
        capture_output=True, text=True, check=True,
        env=environ | {"PYTHONDONTWRITEBYTECODE": ""},  # what is compiled is kept, as usual
    )  # fmt: skip
    return float(done.stdout)
