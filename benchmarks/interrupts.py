"""The longest wait for Ctrl-C in each solver: `python -m benchmarks.interrupts`.

A timer sends a signal twenty times a second during a fit of a large table. Python handles it, like
Ctrl-C, only between its own instructions, so the longest time between two signals is the longest
wait. A fit is stopped after `--seconds`, and the time that it takes to stop counts too.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.baselines import (
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    TransductiveSVM,
)
from semisquares.core.solvers.enumerate import MAX_UNLABELED

SIGNAL_SECONDS = 0.05
SOLVERS: dict[str, Any] = {
    "supervised, alpha 0": LeastSquaresClassifier(0.0),
    "newton": SoftLabelClassifier(),
    "newton, alpha 0": SoftLabelClassifier(0.0),
    "block, alpha 0": SoftLabelClassifier(0.0, solver="block"),
    "hard, alpha 0": HardLabelClassifier(0.0),
    "enumerate": HardLabelClassifier(solver="enumerate"),
    "EM": EMDiscriminantClassifier(),
    "implicitly constrained": ImplicitlyConstrainedClassifier(),
    "transductive": TransductiveSVM(),
    "missing outcomes": MissingOutcomeRegressor(),
}


def longest_wait(work: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """Return the longest time without a signal while `work` runs, and how long it ran."""
    start = last = time.perf_counter()
    longest, pressed = 0.0, False

    def handle(number: int, frame: object) -> None:
        nonlocal last, longest, pressed
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        if now - start > seconds and not pressed:
            pressed = True
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, SIGNAL_SECONDS, SIGNAL_SECONDS)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    end = time.perf_counter()
    return max(longest, end - last), end - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interrupts", description=__doc__)
    parser.add_argument("solvers", nargs="*", metavar="SOLVER", help=f"one of {', '.join(SOLVERS)}")
    parser.add_argument("--rows", type=int, default=4_200)
    parser.add_argument("--columns", type=int, default=4_000)
    parser.add_argument("--seconds", type=float, default=120.0, help="when to stop a fit")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, options.columns))
    truth = (X[:, 0] > 0.0).astype(float)
    n_free = min(MAX_UNLABELED, options.rows // 2)
    y = np.where(np.arange(options.rows) < options.rows - n_free, truth, np.nan)
    print(
        f"{options.rows:,} × {options.columns:,}: longest wait for Ctrl-C, and the time of the fit"
    )
    warnings.simplefilter("ignore")
    for name in options.solvers or SOLVERS:
        with threadpool_limits(1):
            wait, taken = longest_wait(lambda m=SOLVERS[name]: m.fit(X, y), options.seconds)
        print(f"{name:24s} {wait:6.2f} s of {taken:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
