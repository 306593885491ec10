"""How long an import takes: what everybody waits for before anything happens.

Each import runs in a process of its own, which measures itself, so that the start of Python does
not count. `RidgeClassifier` stands for what a user of scikit-learn waits for anyway.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

from .report import Line

PACKAGE, BEYOND_RIDGE = 20.0, 50.0
"""Milliseconds that are promised."""
_IMPORTS = {
    "package": "import semisquares",
    "soft": "from semisquares import SoftLabelClassifier",
    "averaged": "from semisquares import AveragedClassifier",
    "ridge": "from sklearn.linear_model import RidgeClassifier",
}
_TIMED = "import time; start = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


def run(repeats: int) -> Iterator[Line]:
    taken: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for turn in range(repeats + 1):
        for name, statement in _IMPORTS.items():
            seconds = _measure(statement)
            if turn:  # the first turn compiles, and fills the caches of the file system
                taken[name].append(seconds)
    ms = {name: 1e3 * float(np.median(times)) for name, times in taken.items()}
    yield Line("import semisquares", "milliseconds", ms["package"], high=PACKAGE)
    remark = f"{ms['soft']:.0f} and {ms['ridge']:.0f} ms"
    yield Line(
        "import of SoftLabelClassifier", "milliseconds beyond RidgeClassifier",
        ms["soft"] - ms["ridge"], high=BEYOND_RIDGE, remark=remark,
    )  # fmt: skip
    yield Line(
        "import of AveragedClassifier", "milliseconds beyond RidgeClassifier",
        ms["averaged"] - ms["ridge"],
    )  # fmt: skip


def _measure(statement: str) -> float:
    """Return the seconds of an import in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(statement)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
