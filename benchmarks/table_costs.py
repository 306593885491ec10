"""What the commands cost: seconds on tables of hundreds of rows, and ratios on a million.

Small tables are measured as a user waits for them: each command runs in a process of its own. Of
`fit`, the time is taken that it needs beyond a process that only imports the same modules. It needs
a quiet machine. `python -m benchmarks table_costs --json benchmarks/table_costs.json` stores it.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from semisquares.cli._commands import run as run_command
from semisquares.cli._signals import SignalHandler
from semisquares.cli.compare import compare
from semisquares.tables import _example as pumps
from semisquares.tables import find, read

from . import tables
from .report import Line
from .timing import side_by_side

PENGUINS, LABELED_PENGUINS = 344, 100
NEW_ROWS = 50
FIT, COMPARE, QUICK, INSPECT, PREDICT = 3.0, 20.0, 6.0, 1.0, 2.0
"""Seconds that are promised."""
CSV_RATIO, PARQUET_SECONDS = 2.2, 4.0
"""Promised for a million rows: fit to reading a CSV, and fit less reading a Parquet file."""
_NOTING_MODULES = """
import json, sys
from semisquares.cli import main
try:
    main()
finally:
    with open({path!r}, "w") as file:
        json.dump(list(sys.modules), file)
"""
_IMPORTING = """
import importlib, json
with open({path!r}) as file:
    for name in json.load(file):
        try:
            importlib.import_module(name)
        except Exception:  # made by a package while it ran
            pass
"""


def run(repeats: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _small_lines(f"{PENGUINS} × 17", _write_penguins(folder), "Species", repeats)
        pumps.write_example(folder)
        table = folder / pumps.TABLE
        rows, columns = pd.read_csv(table).shape
        yield from _small_lines(f"{rows} × {columns}, example", table, pumps.TARGET, repeats)
        for suffix in (".csv", ".parquet"):
            yield _large_line(folder / f"large{suffix}", max(1, repeats // 2))


def _small_lines(what: str, table: Path, target: str, repeats: int) -> Iterator[Line]:
    """Measure every command on a small table."""
    model, modules = table.with_suffix(".model"), table.with_suffix(".modules")
    new, out = table.with_name(f"new_{table.name}"), table.with_name(f"out_{table.name}")
    page = table.with_suffix(".html")
    pd.read_csv(table).head(NEW_ROWS).drop(columns=target).to_csv(new, index=False)
    fit = ["fit", table, "--target", target, "-o", model]
    comparing = ["compare", table, "--target", target, "-o", page]
    commands: dict[str, Sequence[object]] = {
        "fit": fit,
        "compare": comparing,
        "quick": [*comparing, "--quick"],
        "inspect": ["inspect", model],
        "predict": ["predict", model, new, "-o", out],
    }
    quick = has_quick()
    if not quick:
        del commands["quick"]
    noting = _NOTING_MODULES.format(path=str(modules))
    _process(["-c", noting, *map(str, fit)])
    taken = side_by_side(
        {
            "imports": partial(_process, ["-c", _IMPORTING.format(path=str(modules))]),
            **{
                name: partial(_process, ["-m", "semisquares", *map(str, words)])
                for name, words in commands.items()
            },
        },
        repeats,
    )
    beyond = taken["fit"] - taken["imports"]
    remark = f"{taken['fit']:.2f} s with imports"
    yield Line(what, "seconds of fit beyond imports", beyond, high=FIT, remark=remark)
    yield Line(what, "seconds of compare", taken["compare"], high=COMPARE)
    if quick:
        yield Line(what, "seconds of compare --quick", taken["quick"], high=QUICK)
    else:
        left_out = "left out: this version has no such option"
        yield Line(what, "seconds of compare --quick", np.nan, remark=left_out)
    yield Line(what, "seconds of inspect", taken["inspect"], high=INSPECT)
    yield Line(what, f"seconds of predict, {NEW_ROWS} rows", taken["predict"], high=PREDICT)


def has_quick() -> bool:
    """Return whether ``semisquares compare`` has the option --quick."""
    return any("--quick" in option.opts for option in compare.params)


def _large_line(table: Path, repeats: int) -> Line:
    """Measure a fit with default settings, relative to reading the same file."""
    tables._write(table, None)
    size = table.stat().st_size / 1e6
    model, source = table.with_suffix(".model"), find(str(table))
    arguments = ["fit", str(table), "--target", "y", "-o", str(model), "--quiet"]
    taken = side_by_side(
        {
            "read": lambda: read(source, labels=("y",)),
            "fit": partial(_command, arguments),
        },
        repeats,
    )
    kind = table.suffix.removeprefix(".")
    what = f"{tables.ROWS:,} × {tables.COLUMNS}, {kind} of {size:,.0f} MB"
    remark = f"fit {taken['fit']:.1f} s, reading {taken['read']:.1f} s"
    if kind == "csv":
        ratio = taken["fit"] / taken["read"]
        return Line(what, "fit / reading", ratio, high=CSV_RATIO, remark=remark)
    more = taken["fit"] - taken["read"]
    return Line(what, "seconds of fit beyond reading", more, high=PARQUET_SECONDS, remark=remark)


def _process(words: Sequence[str]) -> None:
    """Run Python and wait for it; what it prints is shown if it fails."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words[-6:])} failed: {done.stderr.strip()}")


def _command(arguments: list[str]) -> None:
    """Run a command in this process."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = run_command(arguments, SignalHandler())
    if code:
        raise RuntimeError(f"semisquares {arguments[0]} ended with code {code}.")


def _write_penguins(folder: Path) -> Path:
    """Write a table with the columns of a field study: measures, codes, dates and remarks."""
    rng = np.random.default_rng(0)
    n = PENGUINS
    kind = rng.choice(3, n, p=[0.44, 0.2, 0.36])
    size = rng.normal(size=n)
    species = np.array(["Adelie", "Chinstrap", "Gentoo"])[kind]
    remarks = ["", "", "", "Nest never observed with full clutch.", "Not enough blood."]

    def measure(means: Sequence[float], spread: float) -> list[float]:
        noise = 0.6 * size + 0.8 * rng.normal(size=n)
        return (np.array(means)[kind] + spread * noise).round(1).tolist()

    frame = pd.DataFrame(
        {
            "studyName": rng.choice(["PAL0708", "PAL0809", "PAL0910"], n),
            "Sample Number": np.arange(n) % 152 + 1,
            "Species": np.where(rng.permutation(n) < LABELED_PENGUINS, species, ""),
            "Region": "Anvers",
            "Island": np.where(kind == 2, "Biscoe", rng.choice(["Dream", "Torgersen"], n)),
            "Stage": "Adult, 1 Egg Stage",
            "Individual ID": [f"N{row // 2 + 1}A{row % 2 + 1}" for row in range(n)],
            "Clutch Completion": rng.choice(["Yes", "No"], n, p=[0.9, 0.1]),
            "Date Egg": pd.Timestamp("2007-11-09") + pd.to_timedelta(rng.integers(25, size=n), "D"),
            "Culmen Length (mm)": measure([38.8, 48.8, 47.5], 3.0),
            "Culmen Depth (mm)": measure([18.3, 18.4, 15.0], 1.1),
            "Flipper Length (mm)": measure([190.0, 195.8, 217.2], 6.6),
            "Body Mass (g)": measure([3700.0, 3733.0, 5076.0], 460.0),
            "Sex": rng.choice(["MALE", "FEMALE", ""], n, p=[0.49, 0.48, 0.03]),
            "Delta 15 N (o/oo)": measure([8.86, 9.36, 8.25], 0.4),
            "Delta 13 C (o/oo)": measure([-25.8, -24.6, -26.2], 0.6),
            "Comments": rng.choice(remarks, n),
        }
    )
    path = folder / "penguins.csv"
    frame.to_csv(path, index=False)
    return path
