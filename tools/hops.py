"""Count the files and functions of semisquares that one call enters.

A reader who follows a call from top to bottom opens these files and jumps to these functions:

    python tools/hops.py soft       SoftLabelClassifier().fit on a small dense table, two classes
    python tools/hops.py fit        semisquares fit on the table of `semisquares example`
    python tools/hops.py compare    semisquares compare on the same table

``--list`` also prints every function, grouped by file, in the order in which it is first entered.
Module and class bodies are not counted.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

import semisquares

PACKAGE = Path(semisquares.__file__).parent


def entered(call: Callable[[], object]) -> dict[Path, list[str]]:
    """Return the functions of semisquares that a call enters, by file, in order of first entry."""
    codes: dict[CodeType, None] = {}

    def notice(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.setdefault(frame.f_code)

    sys.setprofile(notice)
    try:
        call()
    finally:
        sys.setprofile(None)
    found: dict[Path, list[str]] = {}
    for code in codes:
        path = Path(code.co_filename)
        # lambdas and comprehensions are part of the function that contains them
        is_named = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
        if path.is_relative_to(PACKAGE) and is_named:
            found.setdefault(path.relative_to(PACKAGE), []).append(code.co_qualname)
    return found


def soft() -> Callable[[], object]:
    """Return a fit of the soft-label classifier."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    X = rng.normal(size=(200, 5)) + truth[:, None]
    y = np.where(np.arange(200) < 20, truth, -1)
    model = semisquares.SoftLabelClassifier()  # imported before the count begins
    return lambda: model.fit(X, y)


def command(name: str, folder: Path) -> Callable[[], object]:
    """Return a run of the command line on the table of `semisquares example`."""
    from click.testing import CliRunner

    from semisquares.cli._commands import commands
    from semisquares.cli._signals import SignalHandler
    from semisquares.tables._example import TABLE, TARGET, write_example

    write_example(folder)
    out = folder / {"fit": "pumps.model", "compare": "report.html"}[name]
    arguments = [name, str(folder / TABLE), "--target", TARGET, "--jobs", "1", "-o", str(out)]

    def run() -> None:
        done = CliRunner().invoke(commands, arguments, obj=SignalHandler(), catch_exceptions=False)
        if done.exit_code:
            raise SystemExit(f"semisquares {' '.join(arguments)} failed:\n{done.output}")

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("soft", "fit", "compare"))
    parser.add_argument("--list", action="store_true", help="print every function")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        call = soft() if given.what == "soft" else command(given.what, Path(folder))
        found = entered(call)
    if given.list:
        for path, names in found.items():
            print(path, *names, sep="\n    ")  # noqa: T201 (it is there to print)
    n_functions = sum(map(len, found.values()))
    print(f"{given.what}: {len(found)} files, {n_functions} functions")  # noqa: T201


if __name__ == "__main__":
    main()
