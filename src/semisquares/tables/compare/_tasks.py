"""Tasks: rivals are fitted to the training rows of a split, or to fewer, and scored on its test."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.processes import parallel_map
from ..._utils.typing import Array
from ..errors import TableError
from ._rivals import FittedRival, RivalFits, Training
from ._rows import TableRows
from .comparison import METRICS
from .scores import score
from .splits import stratified_order, training_mask

__all__ = ["Outcome", "Progress", "Task", "ordered_map", "run_tasks", "split_seed"]

Progress = Callable[[int, int], None]

WORTH_PROCESSES, START_UP = 4.0, 2.0
"""Seconds of work from which more processes pay off, and about what they take to start."""
SHARED = 1_000_000
"""Bytes from which an array is mapped by all processes instead of sent to each."""
STEPS = {"averaged": 4, "labeled_only": 2}
"""Steps of progress for rivals that take longer than others, which have one."""


@dataclass(frozen=True, eq=False)
class Task:
    """Fit rivals to the training rows of a split, and score them on its test rows."""

    split: int
    """The number of the split."""
    test: Array
    rivals: tuple[str, ...]
    n_unlabeled: int | None = None
    n_labels: int | None = None
    """Numbers of rows to learn from; None for all. Smaller sets are nested in larger ones."""

    @property
    def steps(self) -> int:
        """How far the task advances the progress: about its share of the time."""
        return sum(STEPS.get(name, 1) for name in self.rivals)


@dataclass(frozen=True)
class Outcome:
    """A rival after a task."""

    scores: tuple[float, ...]
    """By each of `METRICS`; NaN if the fit failed."""
    fitted: FittedRival
    """Without its model."""


def run_tasks(
    rows: TableRows,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Outcome]]:
    """Run tasks in any number of processes; return the outcomes of each by rival, in order.

    Parameters
    ----------
    rows : TableRows
    tasks : sequence of Task
    seed : int, default=0
        Draws samples. The same seed gives the same outcomes, whatever the number of jobs.
    jobs : int, default=1
        Number of processes.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> X = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    >>> rows = TableRows(X, np.where(np.arange(60) < 20, truth, -1))
    >>> (found,) = run_tasks(rows, [Task(0, np.arange(8), ("ridge",), n_unlabeled=5)])
    >>> len(found["ridge"].scores)
    4
    """
    return ordered_map(
        partial(_run, rows, seed), tasks, jobs=jobs, progress=progress,
        steps=[task.steps for task in tasks],
    )  # fmt: skip


def ordered_map(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    steps: Sequence[int] | None = None,
) -> list[Any]:
    """Apply a function to every item; return the results in order, whatever the number of jobs.

    Parameters
    ----------
    work : callable
    items : sequence
    jobs : int, default=1
    progress : callable, optional
        Called as ``progress(done, total)``. After the first item, its method `expect`, if there is
        one, is called with an estimate of the seconds that the others take.
    steps : sequence of int, optional
        How much each item counts in `progress`; by default 1.

    Examples
    --------
    >>> ordered_map(abs, [-1, 2, -3], progress=lambda done, total: None)
    [1, 2, 3]
    """
    report = progress or (lambda done, total: None)
    steps = steps or [1] * len(items)
    total = sum(steps)
    numbered, waiting = partial(_numbered, work), list(enumerate(items))
    start = time.perf_counter()
    report(0, total)
    found = dict(parallel_map(numbered, waiting[:1]))
    done = steps[0] if items else 0
    report(done, total)
    # the time of the first item tells whether the others are worth more processes
    pace = (time.perf_counter() - start) / max(done, 1)
    here = pace * (total - done)
    worth = here > WORTH_PROCESSES
    expect = getattr(progress, "expect", lambda seconds: None)
    expect(START_UP + here / jobs if worth and jobs > 1 else here)
    with closing(
        parallel_map(numbered, waiting[1:], jobs=jobs if worth else 1, max_nbytes=SHARED)
    ) as results:
        for index, result in results:
            found[index] = result
            done += steps[index]
            report(done, total)
    return [found[index] for index in range(len(items))]


def split_seed(seed: int, index: int) -> int:
    """Return the seed of a split, the same in every process.

    Examples
    --------
    >>> split_seed(0, 1) == split_seed(0, 1), split_seed(0, 1) == split_seed(0, 2)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0] >> 1)


def _numbered(work: Callable[[Any], Any], item: tuple[int, Any]) -> tuple[int, Any]:
    return item[0], work(item[1])


def _run(rows: TableRows, seed: int, task: Task) -> dict[str, Outcome]:
    """Fit and score the rivals of a task."""
    rows = replace(rows, X=np.asarray(rows.X))  # a worker gets a memory map
    seed = split_seed(seed, task.split)
    training = _training(rows, task, seed)
    fits, outcomes = RivalFits(training), {}
    for name in task.rivals:
        try:
            fitted = fits.fit(name)
        except ValueError as error:
            raise TableError(str(error), code="fit_failed") from error
        scores = (np.nan,) * len(METRICS)
        if not fitted.failed:
            scores = score(fitted.model, rows.X[task.test], rows.codes[task.test])
        outcomes[name] = Outcome(scores, replace(fitted, model=None))  # not to be sent back
    return outcomes


def _training(rows: TableRows, task: Task, seed: int) -> Training:
    """Return the rows to learn from."""
    codes = rows.codes
    inside = training_mask(task.test, codes, rows.groups)
    if task.n_unlabeled is not None:
        unlabeled = np.flatnonzero(inside & (codes < 0))
        inside &= codes >= 0
        inside[np.random.default_rng(seed).permutation(unlabeled)[: task.n_unlabeled]] = True
        rows = replace(rows, count=1.0)
    if task.n_labels is not None:
        labeled = np.flatnonzero(inside & (codes >= 0))
        inside &= codes < 0
        order = stratified_order(codes[labeled], np.random.default_rng(seed))
        inside[labeled[order[: task.n_labels]]] = True
    return Training(rows, inside, seed)
