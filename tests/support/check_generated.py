"""Fit generated problems and ask the oracle: a command for as many as one likes.

    make test-generated PROBLEMS=1000

It prints what was wrong, and a line of counts; the exit code is 1 if anything was.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from support.generated import Generated, generate
from support.oracle import AVAILABLE, REASON, second_opinion

PROVEN = 1e-9
CHUNK = 100


@dataclass(frozen=True)
class Checked:
    """What came out of one fit."""

    kind: str
    tame: bool
    certificate: float
    """NaN if the problem was refused in a sentence."""
    faults: tuple[str, ...]


@dataclass
class Tally:
    """Counts over many fits."""

    problems: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)
    tame: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, checked: Checked) -> None:
        self.problems += 1
        self.faults.extend(checked.faults)
        if np.isnan(checked.certificate):
            self.refused += 1
            return
        self.by_kind[checked.kind].append(checked.certificate)
        if checked.tame:
            self.tame.append(checked.certificate)

    def count(self, word: str) -> int:
        return sum(fault.startswith(word) for fault in self.faults)


def check(problem: Generated, **parameters: Any) -> Checked:
    """Fit a problem and compare what the fit says of itself with what the oracle finds."""
    try:
        model = problem.fit(**parameters)
        labels = model.predict_proba(problem.dense)
    except Exception as error:
        ours = type(error) is ValueError
        faults = () if ours else (f"exception {error!r}: {problem}",)
        return Checked(problem.kind, problem.is_tame, np.nan, faults)
    certificate = model.certificate_
    faults = []
    true = second_opinion(problem, coef=model.coef_, intercept=model.intercept_)
    if not true.lower <= certificate:
        faults.append(f"false: {certificate:.2g} where {true.lower:.2g} is missing: {problem}")
    if model.termination_condition_.startswith("exact") and not certificate <= PROVEN:
        faults.append(f"contradiction: exact with {certificate:.2g}: {problem}")
    if not true.value <= true.constant * (1.0 + PROVEN):
        faults.append(f"worse than a constant: {true.value / true.constant:.3g}: {problem}")
    if not np.isfinite(labels).all():
        faults.append(f"not finite: {problem}")
    return Checked(problem.kind, problem.is_tame, certificate, tuple(faults))


def _check_some(numbers: range) -> list[Checked]:
    return [check(generate(number)) for number in numbers]


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("problems", type=int, nargs="?", default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    if not AVAILABLE:
        sys.exit(REASON)
    last = options.first + options.problems
    chunks = [range(a, min(a + CHUNK, last)) for a in range(options.first, last, CHUNK)]
    tally = Tally()
    with ProcessPoolExecutor(options.jobs) as pool:
        for done, checked in enumerate(pool.map(_check_some, chunks), 1):
            for one in checked:
                tally.add(one)
                for fault in one.faults:
                    sys.stdout.write(fault + "\n")
            sys.stderr.write(f"\r{done * CHUNK} of {options.problems}")
    sys.stderr.write("\n")
    for kind, found in tally.by_kind.items():
        middle, most = np.quantile(found, [0.5, 0.9])
        unproven = int((np.array(found) > PROVEN).sum())
        sys.stdout.write(
            f"{kind:12} {len(found):6} fits, median certificate {middle:.2g}, 90 % below "
            f"{most:.2g}, {unproven} above {PROVEN:.0e}\n"
        )
    sys.stdout.write(
        f"{tally.problems} problems, {tally.refused} refused in a sentence: "
        f"{tally.count('false')} false certificates, "
        f"{tally.count('contradiction')} contradictions, "
        f"{tally.count('exception')} numerical exceptions, "
        f"{tally.count('worse')} worse than a constant, {tally.count('not finite')} not finite; "
        f"median certificate where the data allow it {np.median(tally.tame):.2g}\n"
    )
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
