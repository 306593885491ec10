"""Where a table is processed: in memory by this process, or in chunks by Dask workers."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import UserError
from ._options import Command, grouped

if TYPE_CHECKING:
    from ..tables.io import Source

SCHEDULER_TIMEOUT = "10s"
ENGINES = ("auto", "memory", "dask")
CHUNK_BYTES = 64 << 20
"""Size of a chunk of the table as numbers; smaller if workers have little memory."""
WORKER_BYTES = 300_000_000
"""Memory that a worker needs besides its chunks."""
COPIES = 6
"""Largest number of copies of a chunk that a worker holds while it reads and prepares it."""


@dataclass(frozen=True)
class Engine:
    """The options --engine, --scheduler and --memory-limit."""

    name: str
    scheduler: str | None
    memory_limit: str | None

    def __post_init__(self) -> None:
        if self.name == "memory" and (self.scheduler or self.memory_limit):
            raise click.UsageError(
                "--scheduler and --memory-limit need --engine dask; omit --engine memory."
            )

    def choose(self, source: Source) -> tuple[str, str]:
        """Return "memory" or "dask", and why."""
        if self.name != "auto":
            return self.name, "as requested"
        if self.scheduler or self.memory_limit:
            return "dask", "because --scheduler or --memory-limit is given"
        needed = source.n_bytes * source.format.memory_factor
        free = _free_memory()
        if needed <= 0.6 * free:
            return "memory", ""
        return "dask", (
            f"the table needs about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
            "free"
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
                # a default client that cannot start stays the default until it is collected
                client = Client(self.scheduler, timeout=SCHEDULER_TIMEOUT, set_as_default=False)
            except (OSError, ValueError, TimeoutError) as error:
                raise UserError(
                    f"No Dask scheduler answers at {self.scheduler} ({error}); give the address "
                    "that it prints, such as tcp://127.0.0.1:8786."
                ) from None
            with client, client.as_current():
                yield client
            return
        from .._utils.processes import block_sigint

        limit = self.bytes_per_worker(jobs)
        with block_sigint():
            cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, memory_limit=limit, host="127.0.0.1",
                dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
            )  # fmt: skip
        # silences complaints about pending tasks when the command is stopped
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        with cluster, Client(cluster) as client:
            yield client

    def bytes_per_worker(self, jobs: int) -> int:
        """Return the memory limit of one worker."""
        from dask.utils import parse_bytes

        if self.memory_limit is None:
            return int(0.7 * _free_memory() / jobs)
        try:
            limit = parse_bytes(self.memory_limit)
        except (ValueError, TypeError, OverflowError):
            raise UserError(
                f"--memory-limit {self.memory_limit!r} is not an amount of memory; write it as 2GB "
                "or 500MB."
            ) from None
        if limit / jobs < WORKER_BYTES + COPIES * (1 << 20):
            raise UserError(
                f"--memory-limit {self.memory_limit} leaves too little for each of {jobs} workers, "
                f"which need {WORKER_BYTES / 1e6:.0f} MB to start; give more, or fewer --jobs."
            )
        return int(limit / jobs)

    def folder(self, source: Source) -> str | None:
        """Return where chunks are stored: workers elsewhere see the folder of the table."""
        if self.scheduler is None or source.spool is not None:
            return None
        return os.path.dirname(os.path.abspath(source.paths[0]))

    def bytes_per_chunk(self, jobs: int) -> int:
        """Return the size of a chunk of the table."""
        if self.scheduler is not None:
            return CHUNK_BYTES
        room = (self.bytes_per_worker(jobs) - WORKER_BYTES) // COPIES
        return min(CHUNK_BYTES, max(1 << 20, room))


def _free_memory() -> float:
    """Return the free memory in bytes; infinity if it is not known, and Dask is not there."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return 1024.0 * float(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):  # macOS and Windows
        pass
    try:
        import psutil  # which distributed needs, too

        return float(psutil.virtual_memory().available)
    except ImportError:
        return math.inf


def options(command: Command) -> Command:
    """Add --engine, --scheduler and --memory-limit, passed as `engine`."""
    return grouped(
        command, "engine", Engine,
        click.option(
            "--engine", "name", type=click.Choice(ENGINES), default="auto", show_default=True,
            help="memory: read the whole table at once; dask: in chunks, several at a time; auto: "
            "memory if the table fits.",
        ),
        click.option(
            "--scheduler", metavar="ADDRESS",
            help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786; its workers must have "
            "access to the files.",
        ),
        click.option(
            "--memory-limit", metavar="SIZE",
            help="Memory for all Dask workers of this command together, such as 2GB.",
        ),
    )  # fmt: skip
