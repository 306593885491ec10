"""``semisquares fit``: fit a classifier to a table and store it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from . import _options as options
from ._engine import Engine
from ._engine import options as engines
from ._operating_point import PointArguments, operating_point
from ._options import Columns, Reading
from ._paths import FILE, checked_paths
from .export import load_onnx, refuse_standard_output, write_onnx

if TYPE_CHECKING:
    from ._output import Output

METHODS = ("averaged", "ridge", "logistic", "forest", "boosting", "soft", "hard")
"""The methods of `fit_table`, repeated here so that shells complete them without its imports."""


class _NumberOrAuto(click.ParamType):
    """A number of at least 0, or auto (None)."""

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
            self.fail(f"{value!r} is neither auto nor a number of at least 0.", param, ctx)
        return number


@click.command(
    epilog=options.examples(
        "semisquares fit churn.csv --target churned -o churn.model",
        "semisquares fit churn.csv --target churned -o churn.model --method soft --weight 1",
        "semisquares fit churn.csv --target churned -o churn.model --costs yes=5",
        "semisquares fit 'rows/*.parquet' --target y -o y.model --onnx y.onnx",
        "semisquares fit 'rows/*.parquet' --target y -o y.model --engine dask --memory-limit 2GB",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", required=True, type=FILE, metavar="MODEL",
    help="Model file to write, or - for standard output.",
)  # fmt: skip
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="averaged",
    show_default=True,
    help="averaged: many classifiers, weighted by their out-of-sample losses. The others are "
    "those of compare, which says which one is best.",
)
@click.option(
    "--alpha", type=_NumberOrAuto(), default="auto", show_default=True, metavar="NUMBER",
    help="Ridge penalty of ridge, soft and hard; auto: chosen by cross-validation.",
)  # fmt: skip
@click.option(
    "--weight", type=_NumberOrAuto(), default="auto", show_default=True, metavar="NUMBER",
    help="Weight of an unlabeled row, relative to a labeled one; auto: chosen by cross-validation "
    "for soft, 1 for hard.",
)  # fmt: skip
@operating_point
@click.option(
    "--store-rows/--no-rows",
    "store_rows",
    default=None,
    help="Let members of an average hold rows of the table, encoded and standardised, or leave "
    "these members out.  [default: leave out, unless that costs half a point of accuracy]",
)
@click.option("--onnx", type=FILE, metavar="FILE", help="Also write the model as ONNX.")
@options.splits
@options.reading
@options.seed
@options.jobs
@engines
@options.output
def fit(
    table: str,
    columns: Columns,
    reading: Reading,
    output: Output,
    out: str,
    method: str,
    alpha: float | None,
    weight: float | None,
    point: PointArguments,
    store_rows: bool | None,
    onnx: str | None,
    folds: int,
    repeats: int | None,
    seed: int,
    jobs: int,
    engine: Engine,
) -> None:
    """Fit a classifier to TABLE and store it in a model file.

    TABLE is a CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or Feather file, a quoted pattern
    such as 'data/*.csv', or - for standard input. The model file contains the cleaning, encoding
    and scaling of the columns, the classifier, its scores on held-out labeled rows, its certificate
    of optimality and the versions of all packages. It holds no row of the table, unless the method
    is averaged and leaving out the members that compare rows would cost half a point of accuracy;
    then the command says so, and --no-rows leaves them out. Reading the file executes no code.

    With --balanced, --threshold or --costs the model gives other answers than its classifier would.
    The choice is stored in the model, and the scores are those of these answers.
    """
    refuse_standard_output("--onnx", onnx)
    with checked_paths(
        reads=[table, *point.files],
        writes={"-o": out, "--onnx": onnx},
        endings={"-o": ".model", "--onnx": ".onnx"},
    ):
        from ..tables.models._measuring import FitOptions
        from ..tables.models._streaming import fit_streamed
        from ..tables.models.fitting import fit_prepared
        from ..tables.models.onnx import check_exportable
        from ._describe import describe, describe_point, facts
        from ._inputs import open_table, read_in_chunks, read_prepared
        from ._models import store_model

        if onnx is not None:
            load_onnx()

    asked = point.parse()
    source = open_table(table, reading)
    engine_name, why = engine.choose(source)
    output.info(f"Engine: {engine_name}{f' ({why})' if why else ''}")
    with engine.workers(jobs) if engine_name == "dask" else nullcontext():
        prepared: Any
        if engine_name == "dask":
            n_bytes, folder = engine.bytes_per_chunk(jobs), engine.folder(source)
            prepared = read_in_chunks(output, table, reading, columns, source, n_bytes, folder)
        else:
            prepared = read_prepared(output, table, reading, columns, source)
        describe(output, prepared)
        if onnx is not None:
            check_exportable(prepared.encoder)
        with output.progress("choosing", "fits") as progress:
            chosen = FitOptions(
                method, alpha, weight, folds, repeats, seed, jobs, progress, asked, store_rows
            )
            fitted = fit_streamed if engine_name == "dask" else fit_prepared
            model = fitted(prepared, chosen, missing=reading.missing)
    store_model(model, out)
    for note in model.about["notes"]:
        if note not in prepared.notes:  # which are printed already
            output.warn(note)
    output.info(model.about["summary"])
    output.result(f"Model: {out}", style=None)
    exported = None if onnx is None else write_onnx(output, model, onnx)
    answers = describe_point(model)
    written = {"operating_point": answers, "engine": engine_name, "model": out, "onnx": exported}
    output.data({**facts(prepared), **model.about, **written})
