"""Fits in other processes, which may take too long, need too much memory, or crash."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .methods import METHODS, Method
from .worker import MODULES, receive, send

Array = NDArray[Any]

OK, FAILED, TIMED_OUT, NOT_INSTALLED = "ok", "failed", "timed out", "not installed"
PATIENCE = 20.0
"""A worker that is idle for 20 times its CPU seconds is killed."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Limits:
    """Limits of a fit: CPU seconds and, unless None, bytes."""

    seconds: float
    bytes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a fit: its status, the message of its error, and its cost."""

    status: str
    error: str = ""
    cpu: float = np.nan
    wall: float = np.nan
    peak: float = np.nan
    beyond: float = np.nan
    accuracy: float = np.nan
    predicted: Array | None = None
    probabilities: Array | None = None
    """Of the test rows, one column for each class; None if the model gives none."""

    @property
    def spent(self) -> float:
        """CPU seconds, 0 if unknown: SQLite stores NaN as NULL."""
        return 0.0 if np.isnan(self.cpu) else self.cpu


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process, 0 on systems other than Linux."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Fitter:
    """Worker processes, one for each environment, started when needed."""

    limits: Limits
    pythons: Mapping[str, str] = field(default_factory=dict)
    """The Python of each named environment."""
    registry: str = "benchmarks.peers.methods"
    methods: Mapping[str, Method] = field(default_factory=lambda: METHODS)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def versions(self, name: str) -> dict[str, str]:
        """Return the versions that a method runs with; empty if its Python is missing."""
        found = self._ask(name, {"ask": "versions"})
        return {} if found is None or isinstance(found, Outcome) else found[0]["versions"]

    def fit(self, name: str, seed: int, **arrays: Array) -> Outcome:
        """Fit X, y by a method and predict X_test."""
        return self._outcome(name, {"ask": "fit", "seed": seed}, **arrays)

    def cost(self, name: str, n_rows: int, n_labels: int, seed: int) -> Outcome:
        """Fit generated rows in a new process."""
        self.close()
        about = {"ask": "cost", "rows": n_rows, "labels": n_labels, "seed": seed}
        try:
            return self._outcome(name, about)
        finally:
            self.close()

    def kill(self) -> None:
        """Kill all processes, from another thread: calls that wait for them return."""
        for process in list(self._running.values()):
            process.kill()

    def close(self) -> None:
        """Kill all processes; no call may be waiting for one."""
        self.kill()
        for process in self._running.values():
            process.communicate()
        self._running.clear()

    def __enter__(self) -> Fitter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _outcome(self, name: str, about: dict[str, Any], **arrays: Array) -> Outcome:
        about |= {"seconds": self.limits.seconds, "bytes": self.limits.bytes}
        found = self._ask(name, about, **arrays)
        if isinstance(found, Outcome):
            return found
        reply, results = found
        return Outcome(**reply, **results)

    def _ask(self, name: str, about: dict[str, Any], **arrays: Array) -> Any:
        """Return the answer of the method's process, or an outcome if there is no answer."""
        environment = self.methods[name].environment
        python = self.pythons.get(environment) if environment else sys.executable
        if python is None or not Path(python).exists():
            return Outcome(
                NOT_INSTALLED,
                f"{self.methods[name].package} needs an environment of its own "
                f"(--python {environment}=PATH), and none was given",
            )
        process = self._process(environment, python)
        answer, silent = None, False
        try:
            send(process.stdin, {**about, "method": name, "registry": self.registry}, **arrays)
            silent = not self._answers(process)
            answer = None if silent else receive(process.stdout)
        except BrokenPipeError:
            pass
        return self._end(environment, silent=silent) if answer is None else answer

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for an answer while the process makes progress: the machine may be busy."""
        wall = PATIENCE * self.limits.seconds + 60.0
        before = -1.0
        while not select.select([process.stdout], [], [], wall)[0]:
            spent = cpu_seconds(process.pid)
            if spent <= before:
                return False
            before = spent
        return True

    def _end(self, environment: str, *, silent: bool) -> Outcome:
        """Kill a process that gives no answer, and return the reason."""
        process = self._running.pop(environment)
        if silent:
            process.kill()
        process.communicate()
        if silent or process.returncode == -signal.SIGPROF:
            return Outcome(TIMED_OUT, f"no model after {self.limits.seconds:g} s of CPU time")
        if process.returncode == -signal.SIGKILL:
            return Outcome(FAILED, "its process was killed, as the system does for want of memory")
        return Outcome(FAILED, f"its process ended with code {process.returncode}")

    def _process(self, environment: str, python: str) -> subprocess.Popen[bytes]:
        if environment not in self._running:
            self._running[environment] = subprocess.Popen(
                [python, str(Path(__file__).with_name("worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # so that Ctrl-C reaches this process only
                cwd=MODULES,
            )
        return self._running[environment]
