"""``semisquares predict``: predict the labels of a table's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .._utils.words import counted
from . import _options as options
from ._operating_point import PointArguments, operating_point
from ._options import Reading
from ._paths import FILE, checked_paths

if TYPE_CHECKING:
    from ..tables._predicting import PredictionCounts
    from ._output import Output

_SHOWN = 5


@click.command(
    epilog=options.examples(
        "semisquares predict churn.model new_customers.csv -o predicted.csv",
        "semisquares predict churn.model churn.csv --only-missing -o filled.csv",
        "semisquares predict churn.model churn.csv -o sure.csv --min-confidence 0.9",
        "semisquares predict churn.model new_customers.csv -o explained.csv --explain 3",
        "semisquares predict churn.model churn.csv -o called.csv --threshold yes=0.2",
        "zcat rows.csv.gz | semisquares predict churn.model - -o - | head",
        "semisquares predict churn.model 'rows/*.parquet' -o predicted.parquet",
    )
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "-o", "--out", required=True, type=FILE, metavar="FILE",
    help="CSV, TSV, JSON lines, .xlsx, Parquet or Feather file to write, or - for CSV on standard "
    "output.",
)  # fmt: skip
@click.option(
    "--only-missing", is_flag=True,
    help="Only fill the cells of the target column that are empty, NA, NaN or null; mark them in a "
    "new column, with their probabilities in another.",
)  # fmt: skip
@click.option(
    "--all-probabilities", is_flag=True, help="Add a column with the probability of each class."
)
@click.option(
    "--min-confidence", type=click.FloatRange(0.0, 1.0), default=0.0, metavar="P",
    help="Leave labels empty whose probability is less than P.",
)  # fmt: skip
@operating_point
@click.option(
    "--explain", type=click.IntRange(min=1), metavar="N",
    help="Add the N columns that moved each row most, with the change in the probability of its "
    "label, compared with a typical value in the column.",
)  # fmt: skip
@options.reading
@options.output
def predict(
    model: str,
    table: str,
    reading: Reading,
    output: Output,
    out: str,
    only_missing: bool,
    all_probabilities: bool,
    min_confidence: float,
    point: PointArguments,
    explain: int | None,
) -> None:
    """Predict the labels of the rows of TABLE with MODEL; write the rows and their labels.

    Each row keeps its cells. New columns hold the predicted label, its probability (calibrated on
    labeled rows that were left out of the fit), the decision value (above 0 for the second class)
    and, for ridge, soft and hard labels, the soft label (from 0 to 1; not a probability). Rows are
    read, predicted and written in batches, so the table may be larger than memory.

    --balanced, --threshold or --costs replace the choice that fit has stored. They change the
    predicted labels, not the probabilities.
    """
    with checked_paths(reads=[model, table, *point.files], writes={"-o": out}):
        from ..tables._predicting import PredictionCounts, predict_rows
        from ..tables.io import writer
        from ._describe import describe_point
        from ._inputs import name_of, open_table
        from ._models import open_model

    asked = point.parse()
    stored = open_model(model).with_missing(reading.missing).with_operating_point(asked)
    answers = describe_point(stored)
    source = open_table(table, reading)
    tally = PredictionCounts()
    with (
        output.status(f"Predicting {name_of(table)}") as update,
        writer(out, dialect=source.dialect) as to,
    ):
        for batch in predict_rows(
            stored,
            source,
            tally,
            only_missing=only_missing,
            all_probabilities=all_probabilities,
            min_confidence=min_confidence,
            explain=explain or 0,
            typed=not to.format.is_text,
            progress=lambda done: update(f"{done:,} rows"),
        ):
            to.write(batch)
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.labels.items()))
    what = f"{tally.n_filled:,} missing labels filled" if only_missing else "labels predicted"
    output.info(f"{tally.n_rows:,} rows, {what} ({counts or 'none'}): {out}")
    if answers is not None:
        output.info(f"Operating point: {answers['sentence']}")
    for line in _confidence(tally, min_confidence, chosen=answers is not None):
        output.info(line)
    for text, count in tally.replaced.most_common():
        output.warn(f"{count:,} of the filled cells contained {text!r}, which is not a label.")
    for column, levels in tally.unseen.items():
        output.warn(_new_levels(column, dict(levels.most_common())))
    repeated = stored.warnings
    for note in (*tally.notes, *(f"Noticed in the fit: {note}" for note in repeated)):
        output.warn(note)
    output.data(
        {
            "rows": tally.n_rows,
            "predicted": tally.n_filled,
            "doubtful": tally.n_doubtful,
            "less_probable": tally.n_less_probable,
            "operating_point": answers,
            "missed_classes": [one.as_dict() for one in tally.missed],
            "counts": dict(sorted(tally.labels.items())),
            "reasons": tally.n_reasons,
            "replaced": dict(tally.replaced.most_common()),
            "notes": list(tally.notes),
            "fit_notices": repeated,
            "ignored_columns": list(tally.ignored),
            "drift": tally.drift.as_dict(),
            "new_levels": {name: dict(levels) for name, levels in tally.unseen.items()},
            "out": out,
        }
    )


def _confidence(tally: PredictionCounts, least: float, *, chosen: bool) -> Iterator[str]:
    """Say how many labels were left out, and how many are not the most probable ones."""
    if least:
        cells = counted(tally.n_doubtful, "cell")
        yield f"{cells} left empty: no prediction with a probability of at least {least:g}."
    if tally.calibrated and tally.n_less_probable:
        rows = counted(tally.n_less_probable, "row")
        why = "the operating point prefers the latter"
        if not chosen:
            why = "the classifier's threshold is not where the odds are equal"
        yield f"In {rows} another class is more probable than the predicted one: {why}."


def _new_levels(column: str, levels: dict[str, int]) -> str:
    shown = ", ".join(repr(level) for level in list(levels)[:_SHOWN])
    more = f" and {len(levels) - _SHOWN} more" if len(levels) > _SHOWN else ""
    rows = counted(sum(levels.values()), "row")
    return (
        f"Column {column!r} has values that the model has not seen, in {rows}: "
        f"{shown}{more}; they are treated as rare values."
    )
