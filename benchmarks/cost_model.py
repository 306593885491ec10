"""What a pass over rows in blocks costs: arithmetic, bytes and messages, from five rates.

`docs/scale.md` explains the terms; `benchmarks scale` compares them with what it measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from semisquares.core.rows import Pass
from semisquares.core.rows.reduce import FAN

from .timing import seconds_of


@dataclass(frozen=True)
class Rates:
    """What one worker does in a second, the others busy too; and what a task and a message cost."""

    read: float
    """Bytes that come out of files as an array, in a pass that only adds them up."""
    stream: float
    """Operations of a matrix with a vector, the writing of float32 as float64 included."""
    gram: float
    """Operations of X'X."""
    tasks: float
    """Tasks that the scheduler hands out, all workers together."""
    link: float = 1.25e9
    """Bytes that go in or out of a worker: 10 Gbit/s."""


@dataclass(frozen=True)
class Work:
    """A pass: so many rows and columns in so many blocks on so many workers."""

    rows: float
    columns: int
    block_rows: int
    workers: int
    active: float = 0.0
    """The share of rows outside [0, 1]: these have a gradient."""
    in_gram: float = 0.0
    """The share of rows whose Gram matrix is summed."""
    value_bytes: int = 4

    @property
    def blocks(self) -> int:
        return int(-(-self.rows // self.block_rows))

    @property
    def weights(self) -> int:
        return self.columns + 1

    @property
    def tasks(self) -> int:
        """One for a block, and the tree that adds their sums."""
        level = -(-self.blocks // FAN)
        tasks = self.blocks + level
        while level > 1:
            level = -(-level // FAN)
            tasks += level
        return tasks

    @property
    def sent_by_block(self) -> int:
        """Loss, gradient, number of changes, sum of squares and Gram matrix, as float64."""
        return 8 * (self.weights**2 + self.weights + 3)

    @property
    def sent_to_block(self) -> int:
        """The weights, and two numbers beside them."""
        return 8 * (self.weights + 2)

    @property
    def sent(self) -> int:
        return self.blocks * (self.sent_by_block + self.sent_to_block)

    @property
    def file_bytes(self) -> float:
        return self.value_bytes * self.rows * self.columns

    @property
    def stream_flops(self) -> float:
        return 2.0 * self.rows * self.columns * (1.0 + self.active)

    @property
    def gram_flops(self) -> float:
        return self.in_gram * self.rows * self.columns**2

    def seconds(self, rates: Rates) -> dict[str, float]:
        """Return the seconds of each part; the scheduler's run beside the others."""
        return {
            "reading": self.file_bytes / self.workers / rates.read,
            "decisions and gradient": self.stream_flops / self.workers / rates.stream,
            "Gram matrix": self.gram_flops / self.workers / rates.gram,
            "sending": self.sent / self.workers / rates.link,
            "scheduler": self.tasks / rates.tasks,
        }

    def total(self, rates: Rates) -> float:
        """Return the seconds of the pass: the workers', or the scheduler's if these are more."""
        parts = self.seconds(rates)
        scheduler = parts.pop("scheduler")
        return max(sum(parts.values()), scheduler)


def compared(sweep: Work, flipped: float, rates: Rates, passes: Sequence[Pass]) -> str:
    """Write what the model says of the passes of a fit beside what they took.

    `flipped` is the share of rows that change their side in a step.
    """
    whole, later = replace(sweep, in_gram=sweep.active), replace(sweep, in_gram=flipped)
    sweeps = [one for one in passes if one.bytes_sent == sweep.sent]
    lines = [
        f"A worker reads {rates.read / 1e6:.0f} MB/s and does {rates.stream / 1e9:.2f} Gflop/s "
        f"with vectors, {rates.gram / 1e9:.1f} in X'X; the scheduler {rates.tasks:.0f} tasks/s.",
        f"Active: {100 * sweep.active:.2g} %; {100 * flipped:.2g} % change their side a step.",
        "",
        "| pass | model, s | measured, s | measured / model | sent, model, MB | measured, MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, work, of in (
        ("sweep with the Gram matrix of all active rows", whole, [sweeps[0], sweeps[-1]]),
        ("sweep with that of the rows that changed", later, sweeps[1:-1] or sweeps),
    ):
        model, took = work.total(rates), float(np.mean([one.seconds for one in of]))
        sent = f"{work.sent / 1e6:.2f} | {of[0].bytes_sent / 1e6:.2f}"
        lines.append(f"| {name} | {model:.2f} | {took:.2f} | {took / model:.2f} | {sent} |")
    return "\n".join(["", *lines])


def worked_out(sweep: Work, flipped: float, rates: Rates) -> str:
    """Write the parts of a pass that is not at hand, in seconds."""
    whole, later = replace(sweep, in_gram=sweep.active), replace(sweep, in_gram=flipped)
    kept = replace(later, value_bytes=0)
    works = (whole, later, kept)
    parts = [work.seconds(rates) for work in works]
    rows = [(name, [part[name] for part in parts]) for name in parts[0]]
    rows.append(("**a pass**", [work.total(rates) for work in works]))
    heads = ("sweep, all active rows, s", "sweep, changed rows, s", "the same, rows in memory, s")
    size = f"{sweep.rows:,.0f} × {sweep.columns}, {sweep.workers} workers, {sweep.blocks:,} blocks"
    lines = [
        "",
        f"| {size} | {' | '.join(heads)} |",
        "|---|---|---|---|",
        *(f"| {name} | {' | '.join(f'{t:.1f}' for t in cells)} |" for name, cells in rows),
    ]
    return "\n".join(lines)


def rates_here(X: Any, read: float, tasks: float) -> Rates:
    """Measure the rates of this process on a block as it was read; two are known already."""
    w = np.ones(X.shape[1])
    few = X[: max(1, len(X) // 4)].astype(np.float64)

    def stream() -> None:
        step = max(256, (1 << 23) // (8 * X.shape[1]))  # as the fit cuts a block for the cache
        for start in range(0, len(X), step):
            X[start : start + step].astype(np.float64) @ w

    best = partial(_median_seconds, repeats=5)
    return Rates(
        read=read,
        stream=2.0 * X.size / best(stream),
        gram=few.size * few.shape[1] / best(lambda: few.T @ few),
        tasks=tasks,
    )


def mean_rates(several: list[Rates]) -> Rates:
    """Return the mean rates of workers that were measured at the same time."""
    names = ("read", "stream", "gram", "tasks")
    means = {name: float(np.mean([getattr(rates, name) for rates in several])) for name in names}
    return replace(several[0], **means)


def _median_seconds(work: Callable[[], Any], repeats: int) -> float:
    return float(np.median([seconds_of(work) for _ in range(repeats)]))
