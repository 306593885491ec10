"""The page on time and memory."""

from __future__ import annotations

import numpy as np
import pandas as pd

from . import cost
from .draws import COLUMNS
from .fitting import OK
from .markdown import grid, number
from .methods import COMPETITORS, METHODS, OURS
from .storing import Stored

TEXT = """
# Time and memory

This page shows what a fit costs as the number of unlabeled rows grows. The rows are two simulated
clusters in {columns} columns, with {labels} labels whatever the number of rows. Each fit has its
own process, one thread, and at most {seconds:g} s of CPU time and {gigabytes:g} GB of address
space. The methods take turns, and the numbers are medians of {turns} turns. A first fit to few rows
is not counted, because it imports modules. A method that fails at some size is not run with more
rows.

![Seconds of a fit against the number of rows](pictures/time.svg)

![Memory of a fit against the number of rows](pictures/memory.svg)

Thick green lines are semisquares. Blue lines use the {labels} labeled rows alone: they are flat
because they ignore the other rows.

{words}

## Seconds

{seconds_table}

## Memory beyond the rows, MB

This is the peak memory of the process during the fit, minus its memory before the fit, which
includes the rows and all imported modules.

{memory_table}

## Which fits failed

{failures}
"""
NOT_YET = """
# Time and memory

Not measured yet: run `python -m benchmarks.peers cost` on a machine without other load. """


def cost_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    if stored.cost.empty:
        return NOT_YET
    return TEXT.format(
        columns=COLUMNS,
        labels=cost.LABELS,
        seconds=cost.SECONDS,
        gigabytes=cost.BYTES / 2**30,
        turns=int(stored.cost["turn"].max()) + 1,
        words=_words(stored),
        seconds_table=_table(stored, "wall", 1.0),
        memory_table=_table(stored, "beyond", 1e6),
        failures=_failures(stored),
    )


def medians(stored: Stored, column: str) -> pd.DataFrame:
    """Return medians over turns, methods × rows; NaN if a turn gave no model."""
    done = stored.cost.copy()
    done.loc[done["status"] != OK, column] = np.nan
    found = done.pivot_table(
        index="method", columns="rows", values=column, aggfunc=lambda one: one.median(skipna=False),
        dropna=False,
    )  # fmt: skip
    return found.reindex([name for name in COMPETITORS if name in found.index])


def _words(stored: Stored) -> str:
    """Compare the largest sizes that methods reach, and their growth."""
    seconds = medians(stored, "wall")
    largest = seconds.columns.max()
    lines = []
    for name in seconds.index:
        if not METHODS[name].uses_unlabeled:
            continue
        known = seconds.loc[name].dropna()
        if known.empty:
            lines.append(f"- `{METHODS[name].label}` gave no model at any size.")
            continue
        line = f"- `{METHODS[name].label}`: {number(known.iloc[-1])} s for {known.index[-1]:,} rows"
        tail = known[known.index >= 10_000]
        if len(tail) > 2:
            slope = np.polyfit(np.log(tail.index), np.log(tail), 1)[0]
            line += f"; from 10,000 rows on it grows as rows^{slope:.1f}"
        if known.index[-1] < largest:
            line += "; for more rows see the last table"
        lines.append(line + ".")
    return "\n".join(lines)


def _table(stored: Stored, column: str, unit: float) -> str:
    found = medians(stored, column) / unit
    rows = []
    for name in found.index:
        bold = "**" if METHODS[name].package == OURS else ""
        label = f"{bold}`{METHODS[name].label}`{bold}"
        rows.append([label, *(number(value) for value in found.loc[name])])
    return grid(["method", *(f"{n:,}" for n in found.columns)], rows)


def _failures(stored: Stored) -> str:
    bad = stored.cost[stored.cost["status"] != OK]
    if bad.empty:
        return "Every fit gave a model."
    rows = []
    for name in COMPETITORS:
        mine = bad[bad["method"] == name]
        if not mine.empty:
            first = mine.sort_values(["rows", "turn"]).iloc[0]
            cells = (f"{first['rows']:,}", first["status"], first["error"])
            rows.append([f"`{METHODS[name].label}`", *cells])
    return grid(["method", "rows", "outcome", "error message"], rows)
