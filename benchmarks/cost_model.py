"""The cost of a pass over rows in blocks: arithmetic, bytes and messages, from five rates.

`docs/scale.md` explains the terms; `benchmarks scale` compares them with measurements.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from semisquares.core.rows import DenseTable, Pass
from semisquares.core.rows.blocks import GATHERED_BYTES, NEAR_SHARE
from semisquares.core.rows.reduce import FAN
from semisquares.core.rows.table import BLOCK_BYTES

from .timing import seconds_of

KINDS = ("sweep, all active rows", "sweep, changed rows", "the same, rows in memory")
WHOLE = "a pass"
"""The line of the estimates that has the seconds of all parts together."""


@dataclass(frozen=True)
class Rates:
    """Work per second of one worker while all are busy, and the rates of tasks and messages."""

    read: float
    """Bytes read from files into arrays, in a pass that only adds them up."""
    stream: float
    """Operations of matrix-vector products, including the conversion of float32 to float64."""
    gram: float
    """Operations of X'X."""
    tasks: float
    """Tasks that the scheduler hands out to all workers together."""
    link: float = 1.25e9
    """Bytes that a worker sends or receives: 10 Gbit/s."""


@dataclass(frozen=True)
class Work:
    """A pass over a table: its size, its blocks and the number of workers."""

    rows: float
    columns: int
    block_rows: int
    workers: int
    active: float = 0.0
    """The share of rows with a decision value outside [0, 1], which have a gradient."""
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
        """One task for each block, and those of the tree that adds their sums."""
        level = -(-self.blocks // FAN)
        tasks = self.blocks + level
        while level > 1:
            level = -(-level // FAN)
            tasks += level
        return tasks

    @property
    def near(self) -> int:
        """Rows near a border that a block sends."""
        fit = GATHERED_BYTES // (8 * self.weights)
        return int(-(-min(fit, self.rows // NEAR_SHARE) // self.blocks))

    @property
    def sent_by_block(self) -> int:
        """Float64 sums, and rows near a border.

        The sums are the Gram matrix, the gradient, three numbers and, in the first sweep, the
        squares of the columns over the labeled rows and over the others.
        With each row come its place, weight, decision value, distance from the border and piece.
        """
        row = (self.value_bytes or 4) * self.columns + 33
        return 8 * (self.weights**2 + 3 * self.weights + 3) + self.near * row

    @property
    def sent_to_block(self) -> int:
        """The weights and four more numbers; and the changes of a few pieces, not counted here."""
        return 8 * (self.weights + 4)

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
        """Return the seconds of each part; the scheduler works while the workers do."""
        return {
            "reading": self.file_bytes / self.workers / rates.read,
            "decisions and gradient": self.stream_flops / self.workers / rates.stream,
            "Gram matrix": self.gram_flops / self.workers / rates.gram,
            "sending": self.sent / self.workers / rates.link,
            "scheduler": self.tasks / rates.tasks,
        }

    def total(self, rates: Rates) -> float:
        """Return the seconds of the pass: the workers' or, if longer, the scheduler's."""
        parts = self.seconds(rates)
        scheduler = parts.pop("scheduler")
        return max(sum(parts.values()), scheduler)


@dataclass(frozen=True)
class PassCost:
    """What the model predicts for one kind of pass of a fit, and what was measured."""

    name: str
    model_seconds: float
    measured_seconds: float
    model_bytes: float
    measured_bytes: float

    @property
    def ratio(self) -> float:
        """Measured seconds, relative to those of the model."""
        return self.measured_seconds / self.model_seconds


@dataclass(frozen=True)
class CostReport:
    """The model beside the passes of a fit, and its estimate for a larger table."""

    rates: Rates
    active: float
    flipped: float
    """The share of rows that enter or leave the active set in a step."""
    passes: Sequence[PassCost]
    large: Work
    """The passes over the larger table."""
    seconds: Mapping[str, Sequence[float]]
    """Estimated seconds of each part of such a pass and of all, one number for each of `KINDS`."""

    @classmethod
    def read(cls, path: Path) -> CostReport:
        """Read the report that ``python -m benchmarks scale --json`` wrote to a file."""
        found = json.loads(path.read_text(encoding="utf-8"))["cost_model"]
        found["rates"], found["large"] = Rates(**found["rates"]), Work(**found["large"])
        found["passes"] = [PassCost(**one) for one in found["passes"]]
        return cls(**found)

    @property
    def rates_text(self) -> str:
        rates = self.rates
        return (
            f"A worker reads {rates.read / 1e6:.0f} MB/s and does {rates.stream / 1e9:.2f} Gflop/s "
            f"with vectors, {rates.gram / 1e9:.1f} in X'X; the scheduler {rates.tasks:.0f} tasks/s."
            f"\nActive: {100 * self.active:.2g} %; {100 * self.flipped:.2g} % change their side a "
            "step."
        )

    @property
    def passes_table(self) -> str:
        lines = [
            "| pass | model, s | measured, s | measured / model | sent, model, MB | measured, MB |",
            "|---|---|---|---|---|---|",
        ]
        for one in self.passes:
            seconds = f"{one.model_seconds:.2f} | {one.measured_seconds:.2f} | {one.ratio:.2f}"
            sent = f"{one.model_bytes / 1e6:.2f} | {one.measured_bytes / 1e6:.2f}"
            lines.append(f"| {one.name} | {seconds} | {sent} |")
        return "\n".join(lines)

    @property
    def large_table(self) -> str:
        work = self.large
        size = f"{work.rows:,.0f} × {work.columns}, {work.workers} workers, {work.blocks:,} blocks"
        lines = [f"| {size} | {' | '.join(f'{kind}, s' for kind in KINDS)} |", "|---|---|---|---|"]
        for name, seconds in self.seconds.items():
            shown = f"**{name}**" if name == WHOLE else name
            lines.append(f"| {shown} | {' | '.join(f'{one:.1f}' for one in seconds)} |")
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(["", self.rates_text, "", self.passes_table, "", self.large_table])


def report_costs(
    sweep: Work, large: Work, flipped: float, rates: Rates, passes: Sequence[Pass]
) -> CostReport:
    """Compare the model with the passes of a fit, and evaluate it for a larger table."""
    whole, later = _kinds(sweep, flipped)
    sweeps = [one for one in passes if one.what == "sweep"]
    costs = [
        PassCost(
            name,
            work.total(rates),
            float(np.mean([one.seconds for one in measured])),
            work.sent,
            measured[0].bytes_sent,
        )
        for name, work, measured in (
            ("sweep with the Gram matrix of all active rows", whole, [sweeps[0], sweeps[-1]]),
            ("sweep with that of the rows that changed", later, sweeps[1:-1] or sweeps),
        )
    ]
    whole, later = _kinds(large, flipped)
    works = (whole, later, replace(later, value_bytes=0))
    parts = [work.seconds(rates) for work in works]
    seconds = {name: [part[name] for part in parts] for name in parts[0]}
    seconds[WHOLE] = [work.total(rates) for work in works]
    return CostReport(rates, sweep.active, flipped, costs, large, seconds)


def _kinds(sweep: Work, flipped: float) -> tuple[Work, Work]:
    """Return the pass that sums the Gram matrix of all active rows, and of those that changed."""
    return replace(sweep, in_gram=sweep.active), replace(sweep, in_gram=flipped)


def rates_here(X: Any, read: float, tasks: float) -> Rates:
    """Measure two rates of this process on a block as it was read; the others are given."""
    w = np.ones(X.shape[1])
    few = X[: max(1, len(X) // 4)].astype(np.float64)
    table = DenseTable(X, None, np.empty(BLOCK_BYTES // 8))  # as the fit reads a block

    def stream() -> None:
        for start in range(0, len(X), table.block_rows):
            table.slice(start, start + table.block_rows) @ w

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
