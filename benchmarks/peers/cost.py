"""The cost of a fit: seconds and memory against the number of rows, most of them unlabeled.

Each fit runs in a new process, which draws the rows and first fits a few of them, so that imports
do not count. Methods take turns, three times each. A method that fails with some number of rows is
not tried with more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisquares.paper._ledger import Ledger, pack

from .fitting import OK, Fitter, Outcome
from .keeping import agree
from .methods import COMPETITORS

PART = "cost"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = 500
TURNS = 3
SECONDS = 60.0
BYTES = 8 * 2**30
MEASURES = ("cpu", "wall", "peak", "beyond", "accuracy")
COLUMNS = ["rows", "method", "turn", "status", "error", *MEASURES, "load"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """The cells to measure."""

    methods: tuple[str, ...] = COMPETITORS
    sizes: tuple[int, ...] = SIZES
    turns: int = TURNS

    def cells(self) -> Iterator[tuple[int, int, str]]:
        """Yield turn, rows and method, in the order of work."""
        for turn in range(self.turns):
            for n_rows in self.sizes:
                for method in self.methods:
                    if method in COMPETITORS:
                        yield turn, n_rows, method


def run(
    plan: Plan,
    ledger: Ledger,
    new_fitter: Callable[[], Fitter],
    *,
    progress: Progress = lambda done, total: None,
) -> None:
    """Fit the missing cells, one process at a time, and store each as soon as it is done."""
    with new_fitter() as fitter:
        for method in plan.methods:
            limits = {"seconds": fitter.limits.seconds, "bytes": fitter.limits.bytes}
            settings = {"labels": LABELS, **limits}
            agree(ledger, part_of(method), settings, fitter.versions(method))
        kept = {method: ledger.cells(part_of(method)) for method in plan.methods}
        failed = _failed(plan, ledger)
        cells = list(plan.cells())
        progress(0, len(cells))
        for done, (turn, n_rows, method) in enumerate(cells, start=1):
            name = f"{n_rows}/{turn}"
            if name not in kept[method] and n_rows < failed.get(method, np.inf):
                outcome = fitter.cost(method, n_rows, LABELS, turn)
                ledger.store(part_of(method), name, _packed(outcome), outcome.spent)
                if outcome.status != OK:
                    failed[method] = n_rows
            progress(done, len(cells))


def part_of(method: str) -> str:
    """Return the name of a method's cells in the ledger."""
    return f"{PART} {method}"


def gave_up(name: str, kept: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a method failed with at most as many rows as a cell has."""
    failed = [int(one.split("/")[0]) for one, cell in kept.items() if str(cell["status"]) != OK]
    return min(failed, default=np.inf) <= int(name.split("/")[0])


def _failed(plan: Plan, ledger: Ledger) -> dict[str, int]:
    """Return the smallest number of rows with which each method failed, from the stored cells."""
    found: dict[str, int] = {}
    for method in plan.methods:
        for name, cell in ledger.results(part_of(method)).items():
            if str(cell["status"]) != OK:
                n_rows = int(name.split("/")[0])
                found[method] = min(n_rows, found.get(method, n_rows))
    return found


def _packed(outcome: Outcome) -> bytes:
    numbers = {name: np.array(getattr(outcome, name)) for name in MEASURES}
    words = {"status": np.array(outcome.status), "error": np.array(outcome.error)}
    return pack({**words, **numbers, "load": np.array(os.getloadavg()[0])})


def _short(value: Any) -> Any:
    """Round to five significant digits."""
    return float(f"{value:.5g}") if isinstance(value, float) and np.isfinite(value) else value


def rows_of_cells(kept: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return one row for each cell of the methods."""
    found = []
    for method, cells in kept.items():
        for name, cell in cells.items():
            n_rows, turn = map(int, name.split("/"))
            values = {key: _short(value.item()) for key, value in cell.items()}
            found.append({"rows": n_rows, "method": method, "turn": turn, **values})
    return found
