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

What a fit takes as the unlabeled rows grow in number: two clusters in {columns} columns, drawn,
{labels} labels whatever the number of rows. Each fit has a process of its own, one thread,
{seconds:g} s of CPU time and {gigabytes:g} GB of address space at most; methods take turns, and the
numbers are medians of {turns} turns. One fit of few rows comes before and does not count, as it
imports what a method needs. A method that fails at some size is not asked for more rows.

![Seconds of a fit against the number of rows](pictures/time.svg)

![Memory of a fit against the number of rows](pictures/memory.svg)

Thick green lines are semisquares. Blue lines use the {labels} labels alone: they are flat because
they do not look at the other rows.

{words}

## Seconds

{seconds_table}

## Memory beyond the rows, MB

The most that the process held during the fit, less what it held before it: the rows, and all that
was imported.

{memory_table}

## What ended where

{failures}
"""
NOT_YET = """
# Time and memory

Not measured yet: `python -m benchmarks.peers cost` on a quiet machine does it.
"""


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
    """Return medians over turns, methods × rows; NaN where a turn gave no model."""
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
        said = f"- `{METHODS[name].label}`: {number(known.iloc[-1])} s for {known.index[-1]:,} rows"
        tail = known[known.index >= 10_000]
        if len(tail) > 2:
            slope = np.polyfit(np.log(tail.index), np.log(tail), 1)[0]
            said += f", growing as the power {slope:.1f} of the rows from 10,000 on"
        if known.index[-1] < largest:
            said += "; more rows ended as the last table says"
        lines.append(said + ".")
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
    return grid(["method", "rows", "what came of it", "the error in its own words"], rows)
