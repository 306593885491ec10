"""Fit any number of generated problems and compare them with the oracle, as a command.

    make test-generated PROBLEMS=1000

It prints all faults and a line of counts; the exit code is 1 if there are faults.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from support.generated import Generated, generate
from support.oracle import AVAILABLE, REASON, second_opinion

PROVEN = 1e-9
CHUNK = 100
FAULTS = {
    "false": "false certificates",
    "contradiction": "contradictions",
    "exception": "numerical exceptions",
    "worse": "worse than a constant",
    "not finite": "not finite",
}
"""The kinds of faults, and what the last line of the output calls them."""


@dataclass(frozen=True)
class Fault:
    """Something wrong with a fit: its kind, one of `FAULTS`, and a sentence with the numbers."""

    kind: str
    sentence: str


@dataclass(frozen=True)
class Checked:
    """The result of one fit."""

    kind: str
    tame: bool
    certificate: float
    """NaN if the problem was refused with an error message."""
    faults: tuple[Fault, ...]


@dataclass
class Tally:
    """Counts over many fits."""

    problems: int = 0
    refused: int = 0
    faults: list[Fault] = field(default_factory=list)
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

    @property
    def counts(self) -> Counter[str]:
        """The number of faults of each kind."""
        return Counter(fault.kind for fault in self.faults)


def check(problem: Generated, **parameters: Any) -> Checked:
    """Fit a problem and compare its certificate and status with what the oracle finds."""
    try:
        model = problem.fit(**parameters)
        labels = model.predict_proba(problem.dense)
    except Exception as error:
        ours = type(error) is ValueError
        raised = () if ours else (Fault("exception", f"exception {error!r}: {problem}"),)
        return Checked(problem.kind, problem.is_tame, np.nan, raised)
    certificate = model.certificate_
    true = second_opinion(problem, coef=model.coef_, intercept=model.intercept_)
    faults = {}
    if not true.lower <= certificate:
        faults["false"] = f"certificate {certificate:.2g}, but the gap is {true.lower:.2g}"
    if model.solution_.status.claims_optimum and not certificate <= PROVEN:
        faults["contradiction"] = f"exact with a certificate of {certificate:.2g}"
    if not true.value <= true.constant * (1.0 + PROVEN):
        faults["worse"] = f"J is {true.value / true.constant:.3g} times that of a constant"
    if not np.isfinite(labels).all():
        faults["not finite"] = "labels are not finite"
    found = tuple(Fault(kind, f"{kind}: {words}: {problem}") for kind, words in faults.items())
    return Checked(problem.kind, problem.is_tame, certificate, found)


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
                    sys.stdout.write(fault.sentence + "\n")
            sys.stderr.write(f"\r{done * CHUNK} of {options.problems}")
    sys.stderr.write("\n")
    for kind, found in tally.by_kind.items():
        middle, most = np.quantile(found, [0.5, 0.9])
        unproven = int((np.array(found) > PROVEN).sum())
        sys.stdout.write(
            f"{kind:12} {len(found):6} fits, median certificate {middle:.2g}, 90 % below "
            f"{most:.2g}, {unproven} above {PROVEN:.0e}\n"
        )
    counts = ", ".join(f"{tally.counts[kind]} {words}" for kind, words in FAULTS.items())
    sys.stdout.write(
        f"{tally.problems} problems, {tally.refused} refused with an error message: {counts}; "
        f"median certificate of the others that are not too hard {np.median(tally.tame):.2g}\n"
    )
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
