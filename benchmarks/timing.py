"""Side-by-side timing: machines are noisy, so rivals take turns and ratios are of medians."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

SETTLING = 0.1
"""Threads of BLAS spin for some 0.02 s after their last product, and that is CPU time, too."""


def seconds_of(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long one call takes."""
    start = clock()
    work()
    return clock() - start


def side_by_side(
    rivals: dict[str, Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Let rivals take turns, after a warm-up, and return the median seconds of each.

    With ``time.process_time`` they are CPU seconds of all threads; a pause before each turn lets
    those of the rival before it come to rest.
    """
    for work in rivals.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(repeats):
        for name, work in rivals.items():
            if clock is time.process_time:
                time.sleep(SETTLING)
            taken[name].append(seconds_of(work, clock))
    return {name: float(np.median(times)) for name, times in taken.items()}


def peak_memory(work: Callable[[], Any]) -> int:
    """Return the peak memory of a call in bytes, beyond what was allocated before it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
