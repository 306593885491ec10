"""``semisquares fit``: from a table to a stored model."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from . import options
from .engine import Engine
from .engine import options as engines
from .export import load_onnx, refuse_standard_output, write_onnx
from .options import Columns, Reading
from .places import FILE, checked, files_of

if TYPE_CHECKING:
    from .talk import Talk

METHODS = ("auto", "soft", "hard", "supervised")
"""Those of `fit_table`, here as well: a shell that completes them does not wait for imports."""


class _Amount(click.ParamType):
    """A number that is not negative, or auto (None)."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        if value in (None, "auto"):
            return None
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0.0 <= number < float("inf"):
            self.fail(f"{value!r} is neither auto nor a number from 0 on.", param, ctx)
        return number


@click.command(
    epilog=options.examples(
        "semisquares fit churn.csv --target churned -o churn.model",
        "semisquares fit churn.csv --target churned -o churn.model --method soft --weight 1",
        "semisquares fit 'rows/*.parquet' --target y -o y.model --onnx y.onnx",
        "semisquares fit 'rows/*.parquet' --target y -o y.model --engine dask --memory-limit 2GB",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", required=True, type=FILE, metavar="MODEL",
    help="The file to write; - for standard output.",
)  # fmt: skip
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="auto: soft labels where compare would find that they help, else the tuned ridge.",
)
@click.option(
    "--alpha", type=_Amount(), default="auto", show_default=True, metavar="NUMBER",
    help="The ridge; auto: chosen by cross-validation.",
)  # fmt: skip
@click.option(
    "--weight", type=_Amount(), default="auto", show_default=True, metavar="NUMBER",
    help="How much an unlabeled row counts, beside 1 for a labeled one; auto: chosen by "
    "cross-validation for soft, 1 for hard.",
)  # fmt: skip
@click.option("--onnx", type=FILE, metavar="FILE", help="Write the model as ONNX, too.")
@options.splits
@options.reading
@options.seed
@options.jobs
@engines
@options.words
def fit(
    table: str,
    columns: Columns,
    reading: Reading,
    talk: Talk,
    out: str,
    method: str,
    alpha: float | None,
    weight: float | None,
    onnx: str | None,
    folds: int,
    repeats: int | None,
    seed: int,
    jobs: int,
    engine: Engine,
) -> None:
    """Fit a classifier to TABLE and store it with all that prepares a table for it.

    TABLE is a CSV, TSV, Parquet or Feather file, a quoted pattern such as 'data/*.csv', or - for
    standard input. The stored file holds the cleaning, encoding and scaling of the columns, the
    classifier, its scores on labeled rows that it had not seen, its certificate and all versions,
    and none of the table's rows. Reading it runs no code.
    """
    refuse_standard_output("--onnx", onnx)
    with checked(
        reads=files_of(table),
        writes={"-o": out, "--onnx": onnx},
        endings={"-o": ".model", "--onnx": ".onnx"},
    ):
        from ..tables.models.fitting import fit_order
        from ..tables.models.measuring import Order
        from ..tables.models.streaming import fit_streamed
        from .describe import describe, facts
        from .inputs import open_table, read_in_parts, read_prepared
        from .models import store_model

        if onnx is not None:
            load_onnx()

    source = open_table(table, reading)
    where, why = engine.chosen(source)
    talk.say(f"Engine: {where}{f' ({why})' if why else ''}")
    with engine.workers(jobs) if where == "dask" else nullcontext():
        prepared: Any
        if where == "dask":
            n_bytes = engine.partition(jobs)
            prepared = read_in_parts(talk, table, reading, columns, source, n_bytes)
        else:
            prepared = read_prepared(talk, table, reading, columns, source)
        describe(talk, prepared)
        with talk.progress("choosing", "fits") as progress:
            order = Order(method, alpha, weight, folds, repeats, seed, jobs, progress)
            fitted = fit_streamed if where == "dask" else fit_order
            model = fitted(prepared, order, missing=reading.missing)
    store_model(model, out)
    for note in model.about["notes"]:
        if note not in prepared.notes:  # which were told before the work
            talk.warn(note)
    talk.say(model.about["summary"])
    talk.answer(f"Model: {out}", style=None)
    exported = None if onnx is None else write_onnx(talk, model, onnx)
    written = {"engine": where, "model": out, "onnx": exported}
    talk.hand_over({**facts(prepared), **model.about, **written})
