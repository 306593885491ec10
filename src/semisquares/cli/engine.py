"""Where a table is worked on: in the memory of this process, or in parts by Dask."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import UserError

if TYPE_CHECKING:
    from ..tables.reading import Source

PATIENCE = "10s"
"""How long a scheduler may take to answer."""
ENGINES = ("auto", "memory", "dask")
EXPANDS = {"csv": 2.5, "parquet": 6.0, "feather": 4.0}
"""How much memory a table takes while it is prepared, in sizes of its files."""
PARTITION = 64 << 20
"""Bytes of a part of the table, as numbers; less where workers have little memory."""
START = 300_000_000
"""Bytes that a worker needs to start at all, and beside the parts that it works on."""
COPIES = 6
"""So many times a part is held while it is read and prepared, at the most."""


@dataclass(frozen=True)
class Engine:
    """What the options say."""

    name: str
    scheduler: str | None
    memory_limit: str | None

    def chosen(self, source: Source) -> tuple[str, str]:
        """Return "memory" or "dask", and why."""
        if self.name != "auto":
            return self.name, "as asked"
        if self.scheduler or self.memory_limit:
            return "dask", "as --scheduler or --memory-limit is given"
        needed = source.n_bytes * EXPANDS.get(source.format.kind, 4.0)
        free = _free_memory()
        if needed <= 0.6 * free:
            return "memory", ""
        return "dask", (
            f"the table would take about {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB of free "
            "memory"
        )

    @contextmanager
    def workers(self, jobs: int) -> Iterator[Any]:
        """Start workers, or connect to those of a scheduler."""
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise UserError(
                "Dask is not installed; install it with: pip install 'semisquares[dask]'."
            ) from None
        if self.scheduler is not None:
            try:
                client = Client(self.scheduler, timeout=PATIENCE)
            except (OSError, ValueError, TimeoutError) as error:
                raise UserError(
                    f"No Dask scheduler answers at {self.scheduler} ({error}); give the address "
                    "that it prints, as in tcp://127.0.0.1:8786."
                ) from None
            with client:
                yield client
            return
        from .._utils.processes import workers_deaf_to_ctrl_c

        limit = self.per_worker(jobs)
        with workers_deaf_to_ctrl_c():
            cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, memory_limit=limit, host="127.0.0.1",
                dashboard_address=None, silence_logs=logging.CRITICAL,
            )  # fmt: skip
        # what Dask was waiting for when it was stopped is nothing that people need to know
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        with cluster, Client(cluster) as client:
            yield client

    def per_worker(self, jobs: int) -> int:
        """Return the bytes that a worker may use."""
        from dask.utils import parse_bytes

        if self.memory_limit is None:
            return int(0.7 * _free_memory() / jobs)
        try:
            limit = parse_bytes(self.memory_limit)
        except (ValueError, TypeError, OverflowError):
            raise UserError(
                f"--memory-limit {self.memory_limit!r} is no amount of memory; write 2GB or 500MB."
            ) from None
        if limit / jobs < START + COPIES * (1 << 20):
            raise UserError(
                f"--memory-limit {self.memory_limit} leaves too little to each of {jobs} "
                f"workers, who need {START / 1e6:.0f} MB to start with; give more, or fewer --jobs."
            )
        return int(limit / jobs)

    def partition(self, jobs: int) -> int:
        """Return the bytes of a part of the table."""
        if self.scheduler is not None:
            return PARTITION
        return min(PARTITION, max(1 << 20, (self.per_worker(jobs) - START) // COPIES))


def _free_memory() -> float:
    """Return how many bytes of memory are free."""
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:
            lines = dict(line.split(":", 1) for line in facts)
        return 1024.0 * float(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def options(command: Any) -> Any:
    """Add --engine, --scheduler and --memory-limit, handed over as `engine`."""

    @click.option(
        "--engine", type=click.Choice(ENGINES), default="auto", show_default=True,
        help="memory: read the whole table; dask: in parts, several at a time; auto: memory where "
        "it fits.",
    )  # fmt: skip
    @click.option(
        "--scheduler", metavar="ADDRESS",
        help="A Dask scheduler whose workers see the files, as tcp://127.0.0.1:8786.",
    )  # fmt: skip
    @click.option(
        "--memory-limit", metavar="SIZE",
        help="Of all workers that are started here together, as 2GB.",
    )  # fmt: skip
    @wraps(command)
    def with_engine(
        *args: Any, engine: str, scheduler: str | None, memory_limit: str | None, **rest: Any
    ) -> Any:
        if engine == "memory" and (scheduler or memory_limit):
            raise click.UsageError(
                "--scheduler and --memory-limit are for --engine dask; leave --engine memory out."
            )
        return command(*args, engine=Engine(engine, scheduler, memory_limit), **rest)

    return with_engine
