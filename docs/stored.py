"""Readers of the stored tables: what a page says was measured comes from one of these files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from benchmarks.report import Line, read_lines

from semisquares.paper.figures import FIGURES, Finding, Table
from semisquares.paper.store import read_table

REPOSITORY = Path(__file__).parents[1]
RATIOS = REPOSITORY / "benchmarks" / "results.txt"
SCALE = REPOSITORY / "benchmarks" / "scale_results.txt"


@cache
def table(figure: str) -> Table:
    """Return the stored table of an experiment."""
    return read_table(REPOSITORY / "results" / figure)


@cache
def findings(figure: str) -> tuple[Finding, ...]:
    """Return what the stored table of an experiment says of the claims about it."""
    return tuple(FIGURES[figure].findings(table(figure)))


def said(figure: str, claim: str, pattern: str) -> tuple[str, ...]:
    """Return the numbers in the evidence of a claim: the groups of a pattern.

    The claim is named by its beginning. Findings write their numbers themselves, so that a page and
    the report of `semisquares reproduce` cannot differ.
    """
    matching = [one for one in findings(figure) if one.claim.startswith(claim)]
    if len(matching) != 1:
        raise LookupError(f"{len(matching)} findings of {figure} begin with {claim!r}; name one.")
    found = re.search(pattern, matching[0].evidence)
    if found is None:
        raise LookupError(f"{figure} does not say {pattern!r}; it says: {matching[0].evidence}")
    return found.groups()


def ratio(what: str, ratio_of: str, file: Path = RATIOS) -> Line:
    """Return a line of a benchmark, named by the beginnings of its first two columns.

    A file may hold several runs; the first that has the line counts.
    """
    for line in read_lines(file):
        if line.what.startswith(what) and line.ratio_of.startswith(ratio_of):
            return line
    raise LookupError(f"{file.name} has no line that begins with {what!r} and has {ratio_of!r}.")


def runs(file: Path) -> list[str]:
    """Return what a file of benchmarks holds, run by run; a run begins with a line with a #."""
    parts = re.split(r"^#.*\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [part.strip() for part in parts if part.strip()]


def paragraph(run: str, beginning: str) -> str:
    """Return the lines of a run between two empty ones of which the first begins as said."""
    found = [part for part in run.split("\n\n") if part.strip().startswith(beginning)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} paragraphs of the run begin with {beginning!r}.")
    return found[0].strip()


def listing(run: str) -> str:
    """Return the ratios of a run as they were printed, for a page."""
    lines = [line.rstrip() for line in run.splitlines() if Line.read(line)]
    return "\n".join(["```text", *lines, "```"])


def cells(table_of: str) -> dict[str, list[str]]:
    """Return the rows of a Markdown table: from the first cell of each to the others."""
    lines = [line.strip().strip("|").split("|") for line in table_of.splitlines()[2:]]
    return {first.strip(): [cell.strip() for cell in rest] for first, *rest in lines}
