"""Fit models in a process of its own, so that the page answers at once while a fit runs.

In a thread, a fit of many rows would hold Python's lock for a tenth of a second at a time. The
process gets the rows once, then a task after the other through a pipe. It ends with this process,
also if that is killed, and it does not see Ctrl-C.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._utils.typing import Array
from ..estimators import AveragedClassifier
from ._updates import Update, find_update

__all__ = ["WorkerProcess"]

_COMMAND = "from semisquares.labeling._worker import work; work()"
_OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""On Windows, where there are no sessions, keeps Ctrl-C from a process."""


class WorkerProcess:
    """A process that runs `find_update` for the rows of one table.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    groups : array of shape (n_rows,), optional
    model : AveragedClassifier, optional
    """

    def __init__(
        self, X: Array, groups: Array | None = None, model: AveragedClassifier | None = None
    ) -> None:
        model = AveragedClassifier(warm_start=True) if model is None else model
        self._rows = {"X": X, "groups": groups, "model": model}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def find(self, task: dict[str, Any]) -> Update:
        """Run `find_update` with more arguments; RuntimeError if that fails."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(task, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            found = pickle.load(process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            code = _end(process)
            raise RuntimeError(
                f"the process that fits it has ended with code {code}, perhaps for lack of memory."
            ) from None
        if isinstance(found, str):
            raise RuntimeError(found)
        answer: Update = found
        return answer

    def stop(self) -> None:
        """End the process at once."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                _end(self._process)

    def _started(self) -> subprocess.Popen[bytes]:
        """Return the process; start it if there is none, or if it has ended."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("the session has ended.")
            if self._process is not None:
                if self._process.poll() is None:
                    return self._process
                _end(self._process)
            package = str(Path(__file__).parents[2])
            path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND],  # -P: import nothing from this folder
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
                creationflags=_OWN_GROUP,
            )
        assert self._process.stdin is not None
        with suppress(OSError):  # `find` reports that it has ended
            pickle.dump(self._rows, self._process.stdin, pickle.HIGHEST_PROTOCOL)
        return self._process


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a process, and close its pipes; return its exit code."""
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    return code


def work() -> None:
    """Read rows and tasks from standard input, and write what was found, until that is closed."""
    tasks, found = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between
    warnings.simplefilter("ignore")
    with suppress(EOFError, BrokenPipeError):
        rows = pickle.load(tasks)
        while True:
            task = pickle.load(tasks)
            try:
                answer: Update | str = find_update(**rows, **task)
            except Exception as error:  # labels that no classifier can be fitted to
                answer = " ".join(str(error).split())
            pickle.dump(answer, found, pickle.HIGHEST_PROTOCOL)
            found.flush()
