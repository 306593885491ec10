"""Readers of the stored results: every measured number on a page comes from one of these files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.report import Line, read_lines

from semisquares.paper._store import read_table
from semisquares.paper.figures import FIGURES, Finding, Table

REPOSITORY = Path(__file__).parents[1]
RATIOS = REPOSITORY / "benchmarks" / "results.txt"
SCALE = REPOSITORY / "benchmarks" / "scale_results.txt"


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
    """Return a line of a benchmark, named by the beginnings of its first two columns.

    A file may hold several runs; the first that has the line counts.
    """
    for line in read_lines(file):
        if line.what.startswith(what) and line.ratio_of.startswith(ratio_of):
            return line
    raise LookupError(f"{file.name} has no line that begins with {what!r} and has {ratio_of!r}.")


def runs(file: Path) -> list[str]:
    """Return the runs in a file of benchmarks; each run begins with a line that has a #."""
    parts = re.split(r"^#.*\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [part.strip() for part in parts if part.strip()]


def paragraph(run: str, beginning: str) -> str:
    """Return the paragraph of a run that starts with `beginning`."""
    found = [part for part in run.split("\n\n") if part.strip().startswith(beginning)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} paragraphs of the run begin with {beginning!r}.")
    return found[0].strip()


def listing(run: str) -> str:
    """Return the ratios of a run as they were printed, for a page."""
    lines = [line.rstrip() for line in run.splitlines() if Line.read(line)]
    return "\n".join(["```text", *lines, "```"])


def cells(table_of: str) -> dict[str, list[str]]:
    """Return the rows of a Markdown table as a dictionary: first cell to the other cells."""
    lines = [line.strip().strip("|").split("|") for line in table_of.splitlines()[2:]]
    return {first.strip(): [cell.strip() for cell in rest] for first, *rest in lines}
