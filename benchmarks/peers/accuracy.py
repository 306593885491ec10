"""How often each method is right: every table × regime × split × method is a cell that is kept.

Cells of a method depend on the method, the names of the cell and the seed alone. Splits come first
in the order of work, so that what is there after an hour is balanced; and a method that failed
alike in the first splits of a table and regime is not asked again there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np

from semisquares.experiments.ledger import Ledger, pack

from . import sets
from .fitting import OK, Fitter, Outcome
from .keeping import agree
from .methods import METHODS, Method

PART = "accuracy"
SPLITS = 50
SECONDS = 5.0
"""CPU time that a fit may take."""
BYTES = 8 * 2**30
STRIKES = 3
"""After so many failures in a row, and none but failures, a table and regime is given up."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Cell:
    """One fit."""

    table: str
    regime: str
    split: int
    method: str

    @property
    def name(self) -> str:
        return f"{self.table}/{self.regime}/{self.split}"

    @property
    def group(self) -> tuple[str, str, str]:
        return self.table, self.regime, self.method


@dataclass(frozen=True)
class Plan:
    """What is to be there at the end."""

    methods: tuple[str, ...] = tuple(METHODS)
    tables: tuple[str, ...] = sets.SETS
    regimes: tuple[str, ...] = tuple(sets.REGIMES)
    splits: int = SPLITS

    def cells(self) -> Iterator[Cell]:
        for split in range(self.splits):
            for table in self.tables:
                for regime in self.regimes:
                    for method in self.methods:
                        yield Cell(table, regime, split, method)


def run(
    plan: Plan,
    ledger: Ledger,
    new_fitter: Callable[[], Fitter],
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
) -> None:
    """Fit what is missing and keep each cell as soon as it is there."""
    with new_fitter() as fitter:
        for method in plan.methods:
            settings = {"seed": sets.SEED, "test_share": sets.TEST_SHARE}
            settings["seconds"] = fitter.limits.seconds
            agree(ledger, part_of(method), settings, fitter.versions(method))
    kept = {method: ledger.cells(part_of(method)) for method in plan.methods}
    cells = list(plan.cells())
    failures = _failures(plan, ledger)
    missing = [cell for cell in cells if cell.name not in kept[cell.method]]
    done = len(cells) - len(missing)
    progress(done, len(cells))
    for cell, outcome in _fitted(missing, failures, new_fitter, jobs):
        if outcome is not None:
            ledger.store(part_of(cell.method), cell.name, _packed(cell, outcome), outcome.spent)
            failures[cell.group].append(outcome.status)
        done += 1
        progress(done, len(cells))


def part_of(method: str) -> str:
    """Return the name under which the ledger has the cells of a method."""
    return f"{PART} {method}"


def given_up(statuses: Sequence[str]) -> bool:
    """Tell whether a table and regime is given up, by what came of the splits so far.

    Examples
    --------
    >>> given_up(["failed"] * 3), given_up(["failed", "ok", "failed", "failed"])
    (True, False)
    """
    return len(statuses) >= STRIKES and OK not in statuses


def _failures(plan: Plan, ledger: Ledger) -> dict[tuple[str, str, str], list[str]]:
    """Return what came of the cells that are kept."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for method in plan.methods:
        for name, cell in ledger.results(part_of(method)).items():
            table, regime, _ = name.split("/")
            found[table, regime, method].append(str(cell["status"]))
    return found


def _packed(cell: Cell, outcome: Outcome) -> bytes:
    """Pack how many test rows got the wrong class, −1 where there is no model."""
    split = sets.draw(cell.table, cell.regime, cell.split)
    wrong = -1
    if outcome.predicted is not None:
        wrong = int((outcome.predicted != split.y_test).sum())
    return pack(
        {
            "wrong": np.array(wrong),
            "status": np.array(outcome.status),
            "error": np.array(outcome.error),
            "cpu": np.array(outcome.cpu),
            "wall": np.array(outcome.wall),
        }
    )


def _fitted(
    cells: Sequence[Cell],
    failures: dict[tuple[str, str, str], list[str]],
    new_fitter: Callable[[], Fitter],
    jobs: int,
) -> Iterator[tuple[Cell, Outcome | None]]:
    """Yield what comes of each cell, in order with one job; None where it is given up."""
    fitters: list[Fitter] = []
    mine = local()

    def fit(cell: Cell) -> tuple[Cell, Outcome]:
        if not hasattr(mine, "fitter"):
            mine.fitter = new_fitter()
            fitters.append(mine.fitter)
        split = sets.draw(cell.table, cell.regime, cell.split)
        arrays = {"X": split.X, "y": split.y, "truth": split.truth, "X_test": split.X_test}
        return cell, mine.fitter.fit(cell.method, cell.split, **arrays)

    pool = ThreadPoolExecutor(jobs)
    waiting: set[Future[Any]] = set()
    try:
        for cell in cells:
            while len(waiting) >= jobs:
                ready, waiting = wait(waiting, return_when=FIRST)
                yield from (one.result() for one in ready)
            if given_up(failures[cell.group]):
                yield cell, None
            else:
                waiting.add(pool.submit(fit, cell))
        for one in waiting:
            yield one.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for fitter in list(fitters):  # what is under way is of no use to anybody
            fitter.kill()
        pool.shutdown()
        for fitter in fitters:
            fitter.close()


def rows_of_cells(ledger: Ledger, methods: dict[str, Method] = METHODS) -> list[dict[str, Any]]:
    """Return all cells that are kept, in the order of tables, regimes, splits and methods."""
    found = {}
    for method in methods:
        for name, cell in ledger.results(part_of(method)).items():
            table, regime, split = name.split("/")
            found[table, regime, int(split), method] = {
                key: value.item() for key, value in cell.items()
            }
    order = {name: place for place, name in enumerate((*sets.SETS, *sets.REGIMES, *methods))}
    keys = sorted(found, key=lambda key: tuple(order.get(part, part) for part in key))
    names = ("table", "regime", "split", "method")
    return [{**dict(zip(names, key, strict=True)), **found[key]} for key in keys]
