"""The accuracy of each method: one stored cell for every table × regime × split × method.

A cell depends only on its method, its name and the seed. Work goes split by split, so that results
after an hour are balanced. A method that fails in the first splits of a table and regime is not
tried there again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from threading import local
from typing import Any

import numpy as np

from semisquares.paper._ledger import Ledger, pack

from . import sets
from .fitting import OK, Fitter, Outcome
from .keeping import agree
from .methods import METHODS
from .scoring import SCORES, scores

PART = "accuracy"
SPLITS = 50
REPORTED = range(SPLITS)
"""Numbers of the splits that are reported; rules are chosen on others, in other folders."""
SECONDS = 5.0
"""CPU time that a fit may take."""
BYTES = 8 * 2**30
STRIKES = 3
"""A method is given up for a table and regime after this many failures and no success."""

PLACES = {name: place for place, name in enumerate((*sets.SETS, *sets.REGIMES, *METHODS))}
"""The order of tables, regimes and methods."""

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
class Result:
    """The content of a cell in the ledger; missing scores are NaN."""

    wrong: int
    """Misclassified test rows, −1 if there is no model."""
    status: str
    error: str
    cpu: float
    wall: float = np.nan
    log_loss: float = np.nan
    balanced: float = np.nan
    calibration: float = np.nan

    def packed(self) -> bytes:
        return pack({name: np.array(value) for name, value in asdict(self).items()})


@dataclass(frozen=True)
class Plan:
    """The cells to measure."""

    methods: tuple[str, ...] = tuple(METHODS)
    tables: tuple[str, ...] = sets.SETS
    regimes: tuple[str, ...] = tuple(sets.REGIMES)
    splits: int = SPLITS
    first_split: int = 0

    @property
    def numbers(self) -> range:
        """The numbers of the splits."""
        return range(self.first_split, self.first_split + self.splits)

    def cells(self) -> Iterator[Cell]:
        for split in self.numbers:
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
    """Fit the missing cells and store each as soon as it is done."""
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
    """Return the name of a method's cells in the ledger."""
    return f"{PART} {method}"


def given_up(statuses: Sequence[str]) -> bool:
    """Return whether a table and regime is given up, from the statuses of its splits so far.

    Examples
    --------
    >>> given_up(["failed"] * 3), given_up(["failed", "ok", "failed", "failed"])
    (True, False)
    """
    return len(statuses) >= STRIKES and OK not in statuses


def gave_up(name: str, kept: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the table and regime of a cell is given up, from the cells of its method."""
    group = name.rsplit("/", 1)[0] + "/"
    return given_up([str(cell["status"]) for one, cell in kept.items() if one.startswith(group)])


def _failures(plan: Plan, ledger: Ledger) -> dict[tuple[str, str, str], list[str]]:
    """Return the statuses of the stored cells."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for method in plan.methods:
        for name, cell in ledger.results(part_of(method)).items():
            table, regime, _ = name.split("/")
            found[table, regime, method].append(str(cell["status"]))
    return found


def _packed(cell: Cell, outcome: Outcome) -> bytes:
    """Score the predictions of a cell and pack the result."""
    truth = sets.draw(cell.table, cell.regime, cell.split).y_test
    wrong, found = -1, dict.fromkeys(SCORES, np.nan)
    if outcome.predicted is not None:
        wrong = int((outcome.predicted != truth).sum())
        found = scores(truth, outcome.predicted, outcome.probabilities)
    return Result(wrong, outcome.status, outcome.error, outcome.cpu, outcome.wall, **found).packed()


def _fitted(
    cells: Sequence[Cell],
    failures: dict[tuple[str, str, str], list[str]],
    new_fitter: Callable[[], Fitter],
    jobs: int,
) -> Iterator[tuple[Cell, Outcome | None]]:
    """Yield the outcome of each cell, in order with one job; None if it is given up."""
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
        for fitter in list(fitters):  # nobody needs what is still running
            fitter.kill()
        pool.shutdown()
        for fitter in fitters:
            fitter.close()


def rows_of_cells(kept: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the cells of methods in the order of tables, regimes, splits and methods."""
    found = {}
    for method, cells in kept.items():
        for name, cell in cells.items():
            table, regime, split = name.split("/")
            found[table, regime, int(split), method] = {
                key: value.item() for key, value in cell.items()
            }
    keys = sorted(found, key=lambda key: tuple(PLACES.get(part, part) for part in key))
    names = ("table", "regime", "split", "method")
    return [{**dict(zip(names, key, strict=True)), **found[key]} for key in keys]
