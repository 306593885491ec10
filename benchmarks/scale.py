"""More rows than memory: fits of Parquet files on Dask workers against reading the same files."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
import numpy as np
import psutil
from distributed import Client, LocalCluster

from semisquares import SoftLabelClassifier

from . import scale_rivals
from .cost_model import CostReport, Rates, Work, mean_rates, rates_here, report_costs
from .report import Line
from .scale_files import COLUMNS, NAMES, SIZES, Files, files_in

ROWS, ALPHA, MEMORY = 20_000_000, 1.0, 3e9
TASKS, ADDITIONS = 500, 5_000_000
"""Numbers of tasks and of additions that are timed, for the scheduler and the free cores."""
LARGE = Work(1e9, 200, 62_500, 50)
"""The table for which the cost model is evaluated at the end."""

Cluster = Callable[[int], Any]


def local_cluster(n_workers: int) -> LocalCluster:
    """Start worker processes that share the memory limit."""
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit=int(MEMORY / 2),
        dashboard_address=":0", host="127.0.0.1", silence_logs=50,
    )  # fmt: skip


def run(
    repeats: int, rows: int = ROWS, folder: Path | None = None, cluster: Cluster = local_cluster
) -> Iterator[Line | CostReport]:
    """Yield the measurements; ranges are promised only for the full number of rows."""
    with files_in(folder, rows) as files:
        with cluster(2) as workers, Client(workers) as client:
            dask.compute([dask.delayed(files.write)(k) for k in range(files.n_files)])
        with (
            cluster(2) as workers,
            Client(workers) as client,
        ):  # new ones: their peak memory is that of a fit
            two = Measured(client, files)
            yield from _out_of_core(two, rows)
            yield from _growth(two, rows, repeats)
            cores, rates = two.free_cores(), two.rates()
            yield from scale_rivals.run(two, rows)
            costs = _report_costs(two, rates)
        with cluster(1) as worker, Client(worker) as client:
            yield _speedup(Measured(client, files), two, cores, rows)
        yield costs


@dataclass(frozen=True)
class Fit:
    """A fit of the first files: how long it took, and what it found."""

    seconds: float
    cpu: float
    """CPU seconds of the workers."""
    model: SoftLabelClassifier

    @property
    def passes(self) -> tuple[Any, ...]:
        return self.model.solution_.passes


class Measured:
    """Timed work on the files, on the workers of a client."""

    def __init__(self, client: Client, files: Files) -> None:
        self.client, self.files = client, files
        self.fits: dict[int, Fit] = {}
        self.read_seconds = np.nan
        """The time that Dask alone takes for all files."""

    def timed(self, work: Callable[[], Any]) -> tuple[float, float, Any]:
        """Return the seconds, the CPU seconds of the workers, and the result."""
        before = sum(self.client.run(time.process_time).values())
        start = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - start
        return seconds, sum(self.client.run(time.process_time).values()) - before, found

    def features(self, n_files: int) -> Any:
        return self.files.frame(n_files)[NAMES]

    def fit(self, n_files: int) -> Fit:
        """Fit the first files, and keep the fit in `fits`."""
        y = self.files.frame(n_files)["y"]
        model = SoftLabelClassifier(ALPHA, record_path=True)
        seconds, cpu, _ = self.timed(lambda: model.fit(self.features(n_files), y))
        self.fits[n_files] = Fit(seconds, cpu, model)
        return self.fits[n_files]

    def reading(self, n_files: int) -> tuple[float, float]:
        """Time Dask alone: read each partition into an array and sum it."""
        parts = self.features(n_files).to_delayed()
        add = dask.delayed(_sum)
        return self.timed(lambda: dask.compute([add(part) for part in parts]))[:2]

    def memory(self) -> list[int]:
        """Return the current memory of each worker, in bytes."""
        return list(self.client.run(_memory).values())

    def peak_memory(self) -> list[int]:
        """Return the peak memory of each worker, in bytes."""
        return list(self.client.run(_peak_memory).values())

    def rates(self) -> Rates:
        """Measure the rates of the workers, all at the same time."""
        trivial = [dask.delayed(int)(k) for k in range(TASKS)]
        dask.compute(trivial)
        seconds = self.timed(lambda: dask.compute(trivial))[0]
        read = self.files.bytes / len(self.memory()) / self.read_seconds
        tasks = len(trivial) / seconds
        found = self.client.run(_rates, str(self.files.path(0)), read, tasks)
        return mean_rates(list(found.values()))

    def free_cores(self) -> float:
        """Return the throughput of all workers together, relative to one worker alone."""
        names = list(self.client.run(os.getpid))
        alone = self.client.run(_spin, ADDITIONS, workers=names[:1])[names[0]]
        return len(names) * alone / max(self.client.run(_spin, ADDITIONS).values())


def _out_of_core(on: Measured, rows: int) -> Iterator[Line]:
    n_files = on.files.n_files
    promised = rows >= ROWS
    before = on.memory()
    pids = set(on.client.run(os.getpid).values())
    first, first_cpu = on.reading(n_files)
    fit = on.fit(n_files)
    second, second_cpu = on.reading(n_files)
    reading, cpu = (first + second) / 2, (first_cpu + second_cpu) / 2
    on.read_seconds = reading
    n_passes = sum(made.share for made in fit.passes)
    what = f"{rows:,} × {COLUMNS}, 2 workers"
    shown = (
        f"fit {fit.seconds:.1f} s, {len(fit.passes)} passes that read all blocks {n_passes:.2f} "
        f"times, reading {reading:.1f} s"
    )
    ratio = fit.seconds / (n_passes * reading)
    yield Line(what, "fit / (passes × reading)", ratio, high=_if(promised, 2.0), remark=shown)
    shown = f"fit {fit.cpu:.1f} s, reading {cpu:.1f} s"
    yield Line(what, "the same in the workers' CPU time", fit.cpu / (n_passes * cpu), remark=shown)
    shown = f"{fit.model.n_iter_} steps, {fit.model.termination_condition_}"
    gap = float(fit.model.certificate_)
    yield Line(what, "certified relative gap", gap, high=_if(promised, 1e-12), remark=shown)
    peaks, here = on.peak_memory(), _peak_memory()
    started = "all" if set(on.client.run(os.getpid).values()) == pids else "not all"
    shown = (
        f"{on.files.bytes / 1e9:.2g} GB of files; workers {_gigabytes(peaks)}, {_gigabytes(before)}"
        f" before the fit; client and scheduler {here / 1e9:.2f}; {started} lived to the end"
    )
    total = (sum(peaks) + here) / 1e9
    yield Line(what, "peak memory, GB", total, high=_if(promised, MEMORY / 1e9), remark=shown)


def _growth(on: Measured, rows: int, repeats: int) -> Iterator[Line]:
    """Fit the log-log slope of time in rows."""
    files = on.files
    counts = sorted({files.count(rows / part) for part in (SIZES, 6, 2)} - {files.n_files})
    seconds = [
        float(np.median([on.fit(n).seconds for _ in range(max(1, repeats // 2))])) for n in counts
    ]
    counts, seconds = [*counts, files.n_files], [*seconds, on.fits[files.n_files].seconds]
    slope = float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])
    passes = [len(on.fits[n].passes) for n in counts]
    shown = f"s: {', '.join(f'{t:.3g}' for t in seconds)}; passes: {', '.join(map(str, passes))}"
    numbers = {"seconds": seconds, "passes": passes}
    what = f"rows from {counts[0] * files.rows_per_file:,} to {rows:,}"
    high = _if(rows >= ROWS, 1.1)
    yield Line(what, "log-log slope of time in rows", slope, None, high, shown, numbers)


def _speedup(one: Measured, two: Measured, cores: float, rows: int) -> Line:
    """Compare one worker with two, on the second largest of the sizes."""
    n_files = max(set(two.fits) - {two.files.n_files}, default=two.files.n_files)
    alone = one.fit(n_files).seconds
    what = f"{n_files * two.files.rows_per_file:,} × {COLUMNS}"
    shown = f"{alone:.1f} s and {two.fits[n_files].seconds:.1f} s; {cores:.2f} cores were free"
    low = _if(rows >= ROWS and cores >= 1.8, 1.6)
    ratio = alone / two.fits[n_files].seconds
    return Line(what, "one worker / two workers", ratio, low=low, remark=shown)


# -- the cost model -----------------------------------------------------------------------------


def _report_costs(on: Measured, rates: Rates) -> CostReport:
    """Compare the model with the passes of the largest fit, and evaluate it for more rows."""
    files, fit = on.files, on.fits[on.files.n_files]
    some = files.frame(files.count(files.rows / SIZES))[NAMES]
    active = float((abs(fit.model.decision_function(some)) > 0.5).mean().compute())
    changed = [step.changed for step in fit.model.path_]
    flipped = float(np.median(changed)) / files.rows
    rows = files.n_files * files.rows_per_file
    here = Work(rows, COLUMNS, files.rows_per_file, len(on.memory()), active)
    return report_costs(here, replace(LARGE, active=active), flipped, rates, fit.passes)


# -- what workers do ----------------------------------------------------------------------------


def _sum(part: Any) -> float:
    return float(np.asarray(part).sum())


def _rates(path: str, read: float, tasks: float) -> Rates:
    part = dask.dataframe.read_parquet([path])[NAMES].to_delayed()[0]
    return rates_here(np.asarray(part.compute(scheduler="synchronous")), read, tasks)


def _spin(n_additions: int) -> float:
    """Return the seconds that some arithmetic takes."""
    start = time.perf_counter()
    total = 0
    for k in range(n_additions):
        total += k
    return time.perf_counter() - start


def _memory() -> int:
    return int(psutil.Process().memory_info().rss)


def _peak_memory() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _gigabytes(sizes: list[int]) -> str:
    return " and ".join(f"{size / 1e9:.2f}" for size in sizes)


def _if(promised: bool, end: float) -> float | None:
    return end if promised else None
