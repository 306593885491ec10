"""``semisquares suggest``: which rows of a table to label next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .._utils.words import counted
from . import _options as options
from ._options import Columns, Reading
from ._paths import FILE, checked_paths

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from ..tables._suggesting import RowsToLabel
    from ..tables.dataset import Prepared
    from ._output import Output

_MOST = 1_000
_CELL = 16
"""Characters of a printed cell at most."""
_SHOWN = 4
"""Columns whose cells are printed, so that rows can be recognised."""


@click.command(
    epilog=options.examples(
        "semisquares suggest churn.csv --target churned",
        "semisquares suggest churn.csv --target churned -n 50 -o to_label.csv",
        "semisquares suggest visits.parquet --target diagnosis --group patient -o to_label.xlsx",
        "semisquares suggest churn.csv --target churned --json | jq '.suggestions[].row'",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-n", "--number", type=click.IntRange(1, _MOST), default=20, show_default=True, metavar="N",
    help="Number of rows to suggest.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=FILE, metavar="FILE",
    help="CSV, TSV, JSON lines, .xlsx, Parquet or Feather file to write the rows to, or - for CSV "
    "on standard output.",
)  # fmt: skip
@options.reading
@options.seed_of("the draws from which the gain is estimated; the suggestions do not depend on it")
@options.output
def suggest(
    table: str,
    columns: Columns,
    reading: Reading,
    output: Output,
    number: int,
    out: str | None,
    seed: int,
) -> None:
    """Suggest which rows of TABLE to label next, in the order in which to label them.

    These are the rows whose labels tell most about other rows whose class is uncertain. The target
    column may have few labels, or none. With --group, no group gets a
    second suggestion before every group has one.

    With -o the rows are written to a file, ready to be filled in: all columns as in TABLE, with an
    empty target column, and two more for the number of the row in TABLE (from 1 on) and the reason.
    """
    with checked_paths(reads=[table], writes={"-o": out}):
        from ..tables._suggesting import suggest_rows, suggested_cells
        from ..tables.io import writer
        from ._describe import describe, facts
        from ._inputs import open_table, read_prepared

    source = open_table(table, reading)
    prepared = read_prepared(output, table, reading, columns, source, min_classes=0)
    describe(output, prepared)
    with output.status("Choosing rows"):
        chosen = suggest_rows(prepared, number, seed=seed)
    found = chosen.found
    cells = partial(
        suggested_cells, source, columns.target, found.indices, found.reasons,
        missing=reading.missing,
    )  # fmt: skip
    written = cells()
    _print(output.result if out is None else output.info, chosen, written, prepared)
    output.info("Row 1 is the first row below the header.\n", "dim")
    if out is not None:
        with writer(out, dialect=source.dialect) as to:
            to.write(written if to.format.is_text else cells(typed=True))
        output.result(f"{counted(len(found), 'row')} to label: {out}")
    if len(found) < number:
        output.info(f"There are no more than {counted(len(found), 'different row')} to label.")
    output.info(chosen.outlook)
    output.data(
        {**facts(prepared), "suggestions": _as_json(chosen), **_expected(chosen), "out": out}
    )


def _print(
    show: Callable[[Table, str | None], None],
    chosen: RowsToLabel,
    cells: pa.Table,
    prepared: Prepared,
) -> None:
    """Print the number of each row, the reason, and its first cells."""
    names = [column.name for column in prepared.columns if column.name in cells.column_names]
    shown = names[:_SHOWN]
    table = _table(shown)
    values = [[_short(value) for value in cells.column(name).to_pylist()] for name in shown]
    for i, (row, reason) in enumerate(zip(chosen.numbers, chosen.found.reasons, strict=True)):
        table.add_row(f"{row:,}", reason, *(column[i] for column in values))
    show(table, None)


def _table(names: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("row", justify="right", no_wrap=True)
    table.add_column("why", no_wrap=True)
    for name in names:
        table.add_column(_short(name), no_wrap=True)
    return table


def _short(value: object) -> str:
    """Write a cell in one short line.

    Examples
    --------
    >>> _short("red\\nand blue and green"), _short(None), _short(3.5)
    ('red and blue an…', '', '3.5')
    """
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _as_json(chosen: RowsToLabel) -> list[dict[str, Any]]:
    found = chosen.found
    numbers = (found.scores, found.uncertainty, found.novelty, found.reach)
    return [
        dict(zip(("row", "reason", "score", "uncertainty", "novelty", "reach"), one, strict=True))
        for one in zip(
            chosen.numbers.tolist(),
            found.reasons,
            *(part.tolist() for part in numbers),
            strict=True,
        )
    ]


def _expected(chosen: RowsToLabel) -> dict[str, Any]:
    one = chosen.expected
    errors = None
    if one is not None:
        errors = {
            "labels": one.n_labels,
            "more": one.n_more,
            "error": one.now,
            "error_with_more": one.then,
            "low": one.low,
            "high": one.high,
            "error_with_half": one.at_half,
            "error_with_quarter": one.at_quarter,
        }
    return {"expected": errors, "outlook": chosen.outlook}
