"""Side-by-side timing: machines are noisy, so rivals take turns and ratios are of medians."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np


def seconds_of(work: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def side_by_side(rivals: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each rival, after one warm-up turn, in turns."""
    for work in rivals.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(repeats):
        for name, work in rivals.items():
            taken[name].append(seconds_of(work))
    return {name: float(np.median(times)) for name, times in taken.items()}


def peak_memory(work: Callable[[], Any]) -> int:
    """Return the most bytes that a call holds beyond what there was before it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
