"""``semisquares export``: convert a model to ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import _options as options
from . import require
from ._paths import FILE, checked_paths

if TYPE_CHECKING:
    from ..tables.models import TableModel
    from ._output import Output


@click.command(epilog=options.examples("semisquares export churn.model -o churn.onnx"))
@click.argument("model", type=FILE)
@click.option("-o", "--out", required=True, type=FILE, metavar="FILE", help="ONNX file to write.")
@options.output
def export(model: str, output: Output, out: str) -> None:
    """Convert MODEL to ONNX, for programs without Python.

    Models of every method can be converted. The file includes the encoding of the columns, and
    gives labels, calibrated probabilities and decision values. ONNX cannot read dates: if the model
    uses some, the file has the classifier alone, and the command says so. A model that uses text
    columns is refused. If the model holds rows of the table, so does the file. Before it is
    written, onnxruntime checks that its predictions agree with the model's.
    """
    refuse_standard_output("-o", out)
    with checked_paths(reads=[model], writes={"-o": out}, endings={"-o": ".onnx"}):
        load_onnx()
        from ._models import open_model

    output.data(write_onnx(output, open_model(model), out))


def refuse_standard_output(option: str, path: str | None) -> None:
    """Raise click.UsageError if ONNX would be written to standard output."""
    if path == "-":
        raise click.UsageError(
            f"ONNX cannot be written to standard output; give {option} a name that ends in .onnx."
        )


def load_onnx() -> None:
    """Import what writing ONNX needs, before the work."""
    require("onnx", "onnxruntime", extras="cli,tables,export")
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401


def write_onnx(output: Output, model: TableModel, path: str) -> dict[str, Any]:
    """Check and write the file, describe it, and return the description for JSON."""
    from dataclasses import asdict

    from ..tables.models import export_onnx

    with output.status("Checking the ONNX file"):
        done = export_onnx(model, path)
    output.info(
        f"{done.note} Its probabilities of {done.n_checked:,} rows agree with the model's to "
        f"{done.largest_difference:.1e}."
    )
    output.result(f"ONNX: {path}", style=None)
    return asdict(done)
