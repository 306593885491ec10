"""``semisquares review``: which labels are doubtful, and how many are wrong."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from .._utils.words import counted, percent
from . import _options as options
from ._options import Columns, Reading
from ._paths import FILE, STANDARD, checked_paths, is_single_file
from .label import REVIEW

if TYPE_CHECKING:
    from rich.table import Table

    from ..tables._reviewing import LabelReview
    from ._output import Output

_SHOWN = 20
"""Rows that are printed."""


@click.command(
    epilog=options.examples(
        "semisquares review churn.csv --target churned",
        "semisquares review churn.csv --target churned -o doubtful.csv",
        "semisquares review 'visits/*.parquet' --target diagnosis --group patient",
        "semisquares review churn.csv --target churned --json | jq .expected_wrong",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", type=FILE, metavar="FILE",
    help="CSV, TSV, JSON lines, .xlsx, Parquet or Feather file for all doubtful rows, the most "
    "doubtful first, or - for CSV on standard output.",
)  # fmt: skip
@options.reading
@options.jobs
@options.output
def review(
    table: str,
    columns: Columns,
    reading: Reading,
    output: Output,
    out: str | None,
    jobs: int,
) -> None:
    """Find doubtful labels in TABLE, and estimate how many are wrong.

    TABLE is a CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or Feather file, a quoted pattern
    such as 'data/*.csv', or - for standard input. A label is doubtful if the averaged classifier,
    fitted without it, finds another class more probable. Row 1 is the first row below the
    header. With -o, each row keeps its cells, and new columns hold its number, the likely label,
    the probabilities of both, the probability that the label is wrong, and the nearest labeled rows
    with their labels.

    At the end, it prints the `semisquares label` command that shows these rows on a page, to
    confirm or correct each label.
    """
    with checked_paths(reads=[table], writes={"-o": out}):
        from ..tables._reviewing import doubtful_cells, review_table
        from ..tables.io import writer
        from ._describe import describe, facts
        from ._inputs import open_table, read_prepared

    source = open_table(table, reading)
    to: Any
    with nullcontext() if out is None else writer(out, dialect=source.dialect) as to:
        prepared = read_prepared(output, table, reading, columns, source)
        describe(output, prepared)
        with output.status(f"Reviewing {counted(prepared.target.n_labeled, 'label')}"):
            found = review_table(prepared, jobs=jobs)
        if out is not None:
            cells = doubtful_cells(
                found, source, missing=reading.missing, typed=not to.format.is_text
            )
            to.write(cells)
    given = [*columns.arguments(), *reading.arguments()]
    next_command = _next_command(table, found, given)
    _print(output, found, out, next_command)
    written = {"written": out, "next": next_command}
    output.data({**facts(prepared), **found.as_dict(), **written})


def _next_command(table: str, found: LabelReview, given: Sequence[str]) -> str | None:
    """Return the command that shows the doubtful rows on a page, if there are any."""
    if not found.rows or table == STANDARD:  # what was read from there is gone
        return None
    words = ["label", table, *given, "--order", REVIEW]
    if not is_single_file(table):
        words += ["-o", "labeled.csv"]
    return shlex.join(["semisquares", *words])


def _print(output: Output, found: LabelReview, out: str | None, next_command: str | None) -> None:
    for note in found.notes:
        output.warn(note)
    output.result(found.sentence)
    if not found.rows:
        return
    output.result(_table(found), style=None)
    n_more = len(found.rows) - _SHOWN
    if n_more > 0 and out is None:
        output.info(f"{n_more:,} more labels are less doubtful; -o FILE writes all.")
    if out is not None:
        output.info(f"{counted(len(found.rows), 'doubtful row')}: {out}")
    output.info("Look at these rows, correct the labels that are wrong, and review again.")
    if next_command is not None:
        output.info(f"To do so on a page: {next_command}")


def _table(found: LabelReview) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("row", "label", "likely", "wrong?", "P(label)", "P(likely)"):
        table.add_column(name, justify="left" if name in ("label", "likely") else "right")
    table.add_column("nearest labeled rows")
    for one in found.rows[:_SHOWN]:
        numbers = (one.doubt, one.given_probability, one.likely_probability)
        shares = [percent(number, 0, never_zero=True) for number in numbers]
        table.add_row(f"{one.row:,}", one.given, one.likely, *shares, one.evidence)
    return table
