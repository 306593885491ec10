"""Readers of the stored results: every measured number on a page comes from one of these files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.cost_model import CostReport
from benchmarks.report import Line, read_lines

from semisquares.paper._store import read_table
from semisquares.paper.figures import FIGURES, Finding, Table

REPOSITORY = Path(__file__).parents[1]
RATIOS = REPOSITORY / "benchmarks" / "results.json"
SCALE = REPOSITORY / "benchmarks" / "scale_results.json"


@cache
def table(figure: str) -> Table:
    """Return the stored table of an experiment."""
    return read_table(REPOSITORY / "results" / figure)


@cache
def findings(figure: str) -> tuple[Finding, ...]:
    """Return the findings of an experiment on its stored table."""
    return tuple(FIGURES[figure].findings(table(figure)))


def numbers(figure: str, key: str) -> Mapping[str, Any]:
    """Return the numbers of one finding, those that the report of an experiment prints."""
    known = {finding.key: finding.numbers for finding in findings(figure) if finding.key}
    if key not in known:
        raise LookupError(f"{figure} has no finding {key!r}; use one of {', '.join(known)}.")
    return known[key]


def ratio(what: str, ratio_of: str, file: Path = RATIOS) -> Line:
    """Return a line of a benchmark, given the beginnings of its first two columns."""
    for line in read_lines(file):
        if line.what.startswith(what) and line.ratio_of.startswith(ratio_of):
            return line
    raise LookupError(f"{file.name} has no line that begins with {what!r} and has {ratio_of!r}.")


def listing(file: Path) -> str:
    """Return the ratios of a file as the benchmarks print them, for a page."""
    lines = [str(line).rstrip() for line in read_lines(file)]
    return "\n".join(["```text", *lines, "```"])


def costs() -> CostReport:
    """Return the measured and the estimated costs of passes over many rows."""
    return CostReport.read(SCALE)
