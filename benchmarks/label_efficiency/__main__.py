"""How many labels does it take? ``python -m benchmarks.label_efficiency``.

Measures a learning curve for every table, strategy and split that is not stored yet, split by
split, and stores each as soon as it is done: run the same command again to continue. `page` writes
docs/evidence/labeling.md and its picture from the stored curves. Three strategies and more are from
scikit-activeml: ``pip install scikit-activeml``. Rules are chosen on splits from 1000 on, with
another file (--out).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.sets import SETS

from .curves import CLASSIFIERS, measure
from .storing import RESULTS, key_of, read, write
from .strategies import STRATEGIES

SPLITS = {"least_squares": 20, "all": 5}
"""Splits of each table, by the classifier."""
REPORTED = range(1000)


def main(words: Sequence[str] | None = None) -> None:
    """Measure the missing curves, or write the page."""
    options = _options(words)
    if options.part == "page":
        from .page import write_page

        write_page(options.out)
        return
    _measure(options)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.label_efficiency",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", nargs="?", choices=("measure", "page"), default="measure")
    parser.add_argument("--classifier", choices=tuple(CLASSIFIERS), default="least_squares")
    parser.add_argument("--strategies", type=_names, default=tuple(STRATEGIES))
    parser.add_argument("--sets", type=_names, default=SETS)
    parser.add_argument("--splits", type=int, help="of each table; 20, or 5 with all families")
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument(
        "--again", type=_names, default=(), help="measure the curves of these strategies again"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of stored curves")
    options = parser.parse_args(words)
    for given, known in (
        (options.strategies, STRATEGIES),
        (options.again, STRATEGIES),
        (options.sets, SETS),
    ):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"{unknown[0]!r} is unknown; give some of {', '.join(known)}")
    options.splits = options.splits or SPLITS[options.classifier]
    is_reported = {split in REPORTED for split in _splits(options)}
    if options.part == "measure" and is_reported != {options.out.resolve() == RESULTS}:
        parser.error(
            "splits below 1000 are reported and have their own file; give another file (--out) "
            "for others, and only for others"
        )
    return options


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _splits(options: argparse.Namespace) -> range:
    return range(options.first_split, options.first_split + options.splits)


def _measure(options: argparse.Namespace) -> None:
    curves = read(options.out)
    again = {key for key in curves if key[2] in options.again and key[0] == options.classifier}
    for split in _splits(options):
        for table in options.sets:
            for strategy in options.strategies:
                key = (options.classifier, table, strategy, split)
                if key in curves and key not in again:
                    continue
                start = time.monotonic()
                same = [one for one in curves.values() if key_of(one)[:2] == key[:2]]
                full = next((one.all_labels for one in same if one.split == split), None)
                curve = measure(table, options.classifier, strategy, split, full)
                curves[key] = curve
                write(curves.values(), options.out)
                sys.stdout.write(
                    f"{table}, split {split}, {strategy}: {curve.needed} labels, mean accuracy "
                    f"{curve.mean_accuracy:.4f} ({time.monotonic() - start:.0f} s)\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
