"""Compare semisquares with its alternatives: ``python -m benchmarks.peers``.

accuracy: tables × regimes × splits × methods. cost: seconds and memory against the number of rows,
each fit in its own process; run it on an idle machine. Fits are stored as soon as they are done,
and those in the tables of --out are not repeated: run the same command again to continue.
pages: write the pages in docs/evidence from the stored tables; with another --out, write them into
its folder `pages`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from joblib import cpu_count
from rich.console import Console

from semisquares._utils.errors import UserError
from semisquares.cli._progress import ProgressBar
from semisquares.paper._ledger import Ledger

from . import accuracy, cost, sets
from .fitting import Fitter, Limits
from .methods import METHODS
from .restoring import restore
from .storing import PARTS, RESULTS, read
from .writing import write_tables


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; end with a message if that is impossible."""
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
    parser.add_argument(
        "--first-split",
        type=int,
        default=0,
        help="number of the first split (0); choose rules on other splits",
    )
    parser.add_argument("--rows", type=_numbers, default=cost.SIZES, help="sizes of the cost part")
    parser.add_argument("--turns", type=int, default=cost.TURNS, help="of the cost part (3)")
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="processes of the accuracy part (all cores)"
    )
    parser.add_argument(
        "--again",
        type=partial(_names, known=METHODS),
        default=(),
        help="measure these methods again; their stored fits stay until all are replaced",
    )
    parser.add_argument(
        "--python",
        action="append",
        type=_name_and_path,
        default=[],
        metavar="NAME=PATH",
        help="the Python of another environment, such as lamda",
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder of the tables and the ledger"
    )
    return parser.parse_args(words)


def _names(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Parse names, in the order of `known`; ``-NAME`` means all but this one."""
    given = [part.strip() for part in text.split(",")]
    less = {name[1:] for name in given if name.startswith("-")}
    more = {name for name in given if not name.startswith("-")} or set(known)
    if unknown := sorted((less | more) - set(known)):
        raise argparse.ArgumentTypeError(f"unknown: {unknown}; use some of {', '.join(known)}")
    return tuple(name for name in known if name in more - less)


def _name_and_path(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not NAME=PATH, such as lamda=.venv/bin/python"
        )
    return name, path


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(","))


def _measure(options: argparse.Namespace) -> None:
    methods = tuple(name for name in METHODS if name in (*options.methods, *options.again))
    plan = _plan(options, methods)
    options.out.mkdir(parents=True, exist_ok=True)
    pythons = {name: str(Path(path).absolute()) for name, path in options.python}
    part = PARTS[options.part]
    new_fitter = partial(Fitter, Limits(part.SECONDS, part.BYTES), pythons)
    console = Console(stderr=True)
    with Ledger(options.out / f"{part.PART}.sqlite") as ledger:
        for method in options.again:
            ledger.forget(part.part_of(method))
        others = [method for method in methods if method not in options.again]
        restore(ledger, read(options.out), part, others)
        try:
            with ProgressBar(console, options.part, "fits") as progress:
                if options.part == "accuracy":
                    accuracy.run(plan, ledger, new_fitter, jobs=options.jobs, progress=progress)
                else:
                    cost.run(plan, ledger, new_fitter, progress=progress)
        except KeyboardInterrupt:
            command = "the same command without --again" if options.again else "the same command"
            console.print(f"Stopped; all finished fits are kept: run {command} to continue.")
            sys.exit(130)
        finally:
            for method, n_missing in write_tables(ledger, options.out, part).items():
                console.print(
                    f"The tables keep the stored fits of {method} until {n_missing:,} more of "
                    "them are measured again."
                )


def _plan(options: argparse.Namespace, methods: tuple[str, ...]) -> Any:
    """Return the plan; refuse to mix the reported splits with others."""
    if options.part == "cost":
        return cost.Plan(methods, options.rows, options.turns)
    first = options.first_split
    plan = accuracy.Plan(methods, options.sets, splits=options.splits, first_split=first)
    known = set(read(options.out).errors["split"])
    if options.out.resolve() == RESULTS:
        known |= set(accuracy.REPORTED)
    reported = {number in accuracy.REPORTED for number in (*plan.numbers, *known)}
    if len(reported) > 1:
        raise UserError(
            f"Splits {first} to {plan.numbers[-1]} do not belong in {options.out}: splits 0 to "
            f"{accuracy.REPORTED[-1]}, which are reported, have their own folder; give another "
            "folder (--out)."
        )
    return plan


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # also if a shell started it in the background
        signal.signal(number, signal.default_int_handler)
    main()
