"""``semisquares predict``: labels for the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .._utils.words import counted
from . import options
from .options import Reading
from .places import FILE, checked, files_of

if TYPE_CHECKING:
    from .talk import Talk

_SHOWN = 5


@click.command(
    epilog=options.examples(
        "semisquares predict churn.model new_customers.csv -o predicted.csv",
        "semisquares predict churn.model churn.csv --only-missing -o filled.csv",
        "zcat rows.csv.gz | semisquares predict churn.model - -o - | head",
        "semisquares predict churn.model 'rows/*.parquet' -o predicted.parquet",
    )
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "-o", "--out", required=True, type=FILE, metavar="FILE",
    help="A CSV, TSV, Parquet or Feather file, or - for CSV on standard output.",
)  # fmt: skip
@click.option(
    "--only-missing", is_flag=True,
    help="Fill the cells of the target column that are empty or say NA, NaN or null, and mark them "
    "in another column.",
)  # fmt: skip
@options.reading
@options.words
def predict(
    model: str, table: str, reading: Reading, talk: Talk, out: str, only_missing: bool
) -> None:
    """Write the rows of TABLE with the labels that MODEL predicts, to FILE.

    Each row keeps its cells, and gets its predicted label, its soft label (what the method would
    fill in, from 0 to 1; not a calibrated probability) and its decision value (above 0 for the
    second class). Rows are read, predicted and written in batches: tables of any length will do.
    """
    with checked(reads=[model, *files_of(table)], writes={"-o": out}):
        from ..tables.predicting import Tally, predict_rows
        from ..tables.writing import writer
        from .inputs import name_of, open_table
        from .models import open_model

    stored = open_model(talk, model).with_missing(reading.missing)
    source = open_table(table, reading)
    tally = Tally()
    with talk.busy(f"Predicting {name_of(table)}") as tell, writer(out, format=source.format) as to:
        for batch in predict_rows(
            stored,
            source,
            tally,
            only_missing=only_missing,
            typed=to.form.kind != "csv",
            progress=lambda done: tell(f"{done:,} rows"),
        ):
            to.write(batch)
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.counts.items()))
    what = f"{tally.n_filled:,} missing labels filled" if only_missing else "labels predicted"
    talk.say(f"{tally.n_rows:,} rows, {what} ({counts or 'none'}): {out}")
    for text, count in tally.replaced.most_common():
        talk.warn(f"{count:,} of the filled cells said {text!r}, which is no label.")
    for column, levels in tally.unseen.items():
        talk.warn(_new_levels(column, dict(levels.most_common())))
    for note in tally.notes:
        talk.warn(note)
    talk.hand_over(
        {
            "rows": tally.n_rows,
            "predicted": tally.n_filled,
            "counts": dict(sorted(tally.counts.items())),
            "replaced": dict(tally.replaced.most_common()),
            "notes": list(tally.notes),
            "new_levels": {name: dict(levels) for name, levels in tally.unseen.items()},
            "out": out,
        }
    )


def _new_levels(column: str, levels: dict[str, int]) -> str:
    shown = ", ".join(repr(level) for level in list(levels)[:_SHOWN])
    more = f" and {len(levels) - _SHOWN} more" if len(levels) > _SHOWN else ""
    rows = counted(sum(levels.values()), "row")
    return (
        f"Column {column!r} has values that the model has not seen, in {rows}: "
        f"{shown}{more}; they count as rare ones."
    )
