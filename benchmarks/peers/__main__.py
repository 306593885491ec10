"""Compare semisquares with what a user would pick instead: ``python -m benchmarks.peers``.

accuracy: tables × regimes × splits × methods, each fit kept as soon as it is there; run the same
command again to go on. cost: seconds and memory against the number of rows, each fit in a process
of its own; it wants a quiet machine. pages: the pages in docs/evidence, from the stored tables, or
those in the folder `pages` of --out.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from joblib import cpu_count
from rich.console import Console

from semisquares.cli.watch import Meter
from semisquares.errors import UserError

from . import accuracy, cost, sets
from .fitting import Fitter, Limits
from .methods import METHODS
from .storing import PARTS, RESULTS, open_ledger, write_tables


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says, end with code 2 and a sentence where that cannot be."""
    options = _options(words)
    try:
        if options.part == "pages":
            from .pages import DOCS, write_pages

            here = options.out.resolve() == RESULTS
            write_pages(options.out, DOCS if here else options.out / "pages")
        else:
            _measure(options)
    except UserError as error:
        sys.exit(f"Error: {error}")


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", choices=("accuracy", "cost", "pages"))
    parser.add_argument("--methods", type=partial(_names, known=METHODS), default=tuple(METHODS))
    parser.add_argument("--sets", type=partial(_names, known=sets.SETS), default=sets.SETS)
    parser.add_argument("--splits", type=int, default=accuracy.SPLITS, help="of each table (50)")
    parser.add_argument("--rows", type=_numbers, default=cost.SIZES, help="sizes of the cost part")
    parser.add_argument("--turns", type=int, default=cost.TURNS, help="of the cost part (3)")
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="processes of the accuracy part (all cores)"
    )
    parser.add_argument(
        "--again",
        type=partial(_names, known=METHODS),
        default=(),
        help="forget what is kept of these methods, and measure them anew",
    )
    parser.add_argument(
        "--python",
        action="append",
        type=_name_and_path,
        default=[],
        metavar="NAME=PATH",
        help="the Python of an environment of its own, such as lamda",
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="where tables and ledger are")
    return parser.parse_args(words)


def _names(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Read names, in the order in which they are known; ``-NAME`` leaves one out of all."""
    asked = [part.strip() for part in text.split(",")]
    less = {name[1:] for name in asked if name.startswith("-")}
    more = {name for name in asked if not name.startswith("-")} or set(known)
    if unknown := sorted((less | more) - set(known)):
        raise argparse.ArgumentTypeError(f"unknown: {unknown}; use some of {', '.join(known)}")
    return tuple(name for name in known if name in more - less)


def _name_and_path(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no NAME=PATH, such as lamda=.venv/bin/python"
        )
    return name, path


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(","))


def _measure(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    pythons = {name: str(Path(path).absolute()) for name, path in options.python}
    part = PARTS[options.part]
    new_fitter = partial(Fitter, Limits(part.SECONDS, part.BYTES), pythons)
    console = Console(stderr=True)
    with open_ledger(options.out, part) as ledger:
        for method in options.again:
            ledger.forget(part.part_of(method))
        try:
            with Meter(console, options.part, "fits") as meter:
                if options.part == "accuracy":
                    plan = accuracy.Plan(options.methods, options.sets, splits=options.splits)
                    accuracy.run(plan, ledger, new_fitter, jobs=options.jobs, progress=meter)
                else:
                    plan = cost.Plan(options.methods, options.rows, options.turns)
                    cost.run(plan, ledger, new_fitter, progress=meter)
        except KeyboardInterrupt:
            console.print("Stopped; what was measured is kept: run the same command to go on.")
            sys.exit(130)
        finally:
            write_tables(ledger, options.out, part)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell put it in the background
        signal.signal(number, signal.default_int_handler)
    main()
