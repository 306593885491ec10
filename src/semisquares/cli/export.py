"""``semisquares export``: a stored model as ONNX."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ..tables.models import TableModel, export_onnx
from . import options
from .models import open_model
from .talk import Talk


@click.command(epilog=options.examples("semisquares export churn.model -o churn.onnx"))
@click.argument("model")
@click.option("-o", "--out", required=True, metavar="FILE", help="The ONNX file to write.")
@options.words
def export(model: str, talk: Talk, out: str) -> None:
    """Write MODEL as ONNX, for programs without Python.

    The preparation of the columns is part of the file where ONNX can express it; dates cannot be
    read there, and then the file holds the classifier alone, which is said. The file's predictions
    are checked against the model's with onnxruntime before it is written.
    """
    if out == "-":
        raise click.UsageError("ONNX goes to a file only; give -o a name that ends in .onnx.")
    talk.hand_over(write_onnx(talk, open_model(talk, model), out))


def write_onnx(talk: Talk, model: TableModel, path: str) -> dict[str, Any]:
    """Write and check the file, say what is in it, and return that for JSON."""
    with talk.busy("Checking the ONNX file"):
        done = export_onnx(model, path)
    talk.say(
        f"{done.note} Its decision values for {done.n_checked:,} rows agree with the model's to "
        f"{done.largest_difference:.1e}."
    )
    talk.answer(f"ONNX: {path}", style=None)
    return asdict(done)
