"""Run the benchmarks and print their ratios; `python -m benchmarks large` runs one of them.

`scale`, which writes 8 GB of files, and `table_costs` run only if they are named. The pages read
the numbers that --json stores: results.json and, from the suite `scale`, scale_results.json. The
text files beside them are what the same runs printed.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path

import numpy
import scipy
import sklearn
from threadpoolctl import threadpool_info

from . import (
    averaged,
    classes,
    figures,
    hard,
    large,
    limits,
    scale,
    small,
    soft_cv,
    solvers,
    start_up,
    table_costs,
    tables,
)
from .report import Line

SUITES = {
    "start_up": start_up,
    "small": small,
    "classes": classes,
    "hard": hard,
    "soft_cv": soft_cv,
    "figures": figures,
    "solvers": solvers,
    "large": large,
    "averaged": averaged,
    "limits": limits,
    "tables": tables,
    "table_costs": table_costs,
    "scale": scale,
}
USUAL = [name for name in SUITES if name not in ("scale", "table_costs")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(SUITES)}")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each rival (default 5)")
    parser.add_argument("--rows", type=int, default=scale.ROWS, help="rows of the scale suite")
    parser.add_argument("--folder", type=Path, help="where it writes its files and keeps them")
    parser.add_argument("--json", type=Path, help="also write all numbers to this file")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"unknown suite {sorted(unknown)}; use some of {list(SUITES)}")
    versions = {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": _blas(),
    }
    print(f"Ratios of median times, {options.repeats} turns each, one run; {versions}\n")
    lines, costs = [], {}
    for name in options.suites or USUAL:
        given = (options.rows, options.folder) if name == "scale" else ()
        for line in SUITES[name].run(options.repeats, *given):
            print(line, flush=True)
            if isinstance(line, Line):
                lines.append(line)
            else:
                costs = {"cost_model": asdict(line)}
    missed = [line for line in lines if not line.kept]
    print(f"\n{len(lines)} ratios, {len(missed)} of those promised missed.")
    if options.json:
        run = {"repeats": options.repeats, "versions": versions}
        run |= {"lines": [asdict(line) for line in lines], **costs}
        text = json.dumps(run, indent=1, ensure_ascii=False)
        options.json.write_text(f"{text}\n", encoding="utf-8")


def _blas() -> str:
    """Name each BLAS and the kernels that it has chosen: many of the ratios depend on them."""
    found = [one for one in threadpool_info() if one["user_api"] == "blas"]
    names = (f"{one['internal_api']} {one['version']} {one.get('architecture')}" for one in found)
    return ", ".join(sorted(set(names)))


if __name__ == "__main__":
    main()
