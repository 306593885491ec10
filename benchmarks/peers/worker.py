"""A process that fits the rows it receives: ``python worker.py``, in any environment.

A message is its length in eight bytes, followed by an npz of arrays and one line of JSON. The
operating system limits time and memory, and can end a fit that Python itself cannot interrupt.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import struct
import sys
import time
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

HEADER = struct.Struct("<Q")
MODULES = Path(__file__).parents[2]
"""The folder of `benchmarks`, which is on the path of every environment."""


def send(file: BinaryIO, about: dict[str, Any], **arrays: Any) -> None:
    """Write a message."""
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array(json.dumps(about)), **arrays)
    content = buffer.getvalue()
    file.write(HEADER.pack(len(content)) + content)
    file.flush()


def receive(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Read a message; None if the other side has exited."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    content = file.read(length)
    if len(content) < length:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        found = dict(arrays)
    return json.loads(str(found.pop("about"))), found


def main() -> None:
    """Answer messages until there are no more."""
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a peer prints must not mix with the answers
    warnings.simplefilter("ignore")
    while (message := receive(inbox)) is not None:
        about, arrays = message
        answer = {"versions": _versions, "fit": _fit, "cost": _cost}[about["ask"]]
        try:
            reply, results = answer(about, arrays)
        except ImportError as error:
            reply, results = {"status": "not installed", "error": _first_line(error)}, {}
        except (Exception, SystemExit) as error:
            reply, results = {"status": "failed", "error": _first_line(error)}, {}
        send(outbox, reply, **results)


def _first_line(error: BaseException) -> str:
    """Return the type and the first line of an error."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".rstrip(": ")[:300]


def _method(about: dict[str, Any]) -> Any:
    return importlib.import_module(about["registry"]).METHODS[about["method"]]


def _warmed(about: dict[str, Any]) -> Any:
    """Return the method after a fit of few rows, which imports all that it needs."""
    method, key = _method(about), (about["registry"], about["method"])
    if key not in _WARM:
        from benchmarks.peers.draws import scaled_rows

        _WARM.add(key)
        with contextlib.suppress(Exception), _limited(about):  # the measured fit raises it again
            method.fit(scaled_rows(60, 20, seed=0))
    return method


_WARM: set[tuple[str, str]] = set()


def _versions(about: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict]:
    """Return the versions that a method runs with."""
    from importlib import metadata

    found = {"python": ".".join(map(str, sys.version_info[:2]))}
    for package in ("numpy", "scipy", "scikit-learn", _method(about).package):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return {"status": "ok", "versions": found}, {}


def _fit(about: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fit the received rows and predict the test rows."""
    from benchmarks.peers.methods import Rows

    rows = Rows(arrays["X"], arrays["y"], about["seed"], arrays["truth"])
    method = _warmed(about)
    with _limited(about):
        cpu, wall = time.process_time(), time.perf_counter()
        model = method.fit(rows)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        predicted = np.asarray(model.predict(arrays["X_test"]))
        given = _probabilities(model, arrays["X_test"], int(rows.truth.max()) + 1)
    if predicted.shape != (len(arrays["X_test"]),) or not np.isfinite(predicted).all():
        raise ValueError(f"predictions of shape {predicted.shape}, not all of them classes")
    given["predicted"] = predicted.astype(np.int64)
    return {"status": "ok", "cpu": cpu, "wall": wall}, given


def _probabilities(model: Any, X: Any, n_classes: int) -> dict[str, Any]:
    """Return the probabilities of the classes 0, 1, …; nothing if the model has none.

    Classes that the model has not seen have probability 0. Rows without finite probabilities, such
    as those that no label reaches in label propagation, get equal probabilities.
    """
    if not (hasattr(model, "predict_proba") and hasattr(model, "classes_")):
        return {}
    found = np.zeros((len(X), n_classes))
    found[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(X)
    found[~np.isfinite(found).all(axis=1)] = 1.0 / n_classes
    return {"probabilities": found}


def _cost(about: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw and fit rows; return the seconds, and the peak memory beyond the rows."""
    from benchmarks.peers.draws import scaled_rows

    rows = scaled_rows(about["rows"], about["labels"], seed=about["seed"])
    method = _warmed(about)
    with _limited(about):
        _forget_peak()
        before = _memory("VmRSS")
        cpu, wall = time.process_time(), time.perf_counter()
        model = method.fit(rows)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = _memory("VmHWM")
    right = np.asarray(model.predict(rows.X[:1000])) == rows.truth[:1000]
    costs = {"cpu": cpu, "wall": wall, "peak": peak, "beyond": peak - before}
    return {"status": "ok", **costs, "accuracy": float(right.mean())}, {}


# -- limits -------------------------------------------------------------------------------------


class _limited:
    """Limit the CPU seconds and the memory of this process."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.seconds, self.bytes = about["seconds"], about.get("bytes")

    def __enter__(self) -> None:
        import resource
        import signal

        if self.bytes:
            resource.setrlimit(resource.RLIMIT_AS, (self.bytes, resource.RLIM_INFINITY))
        signal.signal(
            signal.SIGPROF, signal.SIG_DFL
        )  # the default ends the process, whatever it does
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *error: object) -> None:
        import resource
        import signal

        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if self.bytes:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _memory(what: str) -> int:
    """Return the current (VmRSS) or peak (VmHWM) memory of this process in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(what + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {what}; measure memory on Linux")


def _forget_peak() -> None:
    """Reset the peak memory to the current one."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


if __name__ == "__main__":
    sys.path[0] = str(MODULES)  # not the folder of this file, whose modules would hide others
    main()
