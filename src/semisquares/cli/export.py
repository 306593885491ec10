"""``semisquares export``: a stored model as ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options, require
from .places import FILE, checked

if TYPE_CHECKING:
    from ..tables.models import TableModel
    from .talk import Talk


@click.command(epilog=options.examples("semisquares export churn.model -o churn.onnx"))
@click.argument("model", type=FILE)
@click.option(
    "-o", "--out", required=True, type=FILE, metavar="FILE", help="The ONNX file to write."
)
@options.words
def export(model: str, talk: Talk, out: str) -> None:
    """Write MODEL as ONNX, for programs without Python.

    The preparation of the columns is part of the file where ONNX can express it; dates cannot be
    read there, and then the file holds the classifier alone, which is said. The file's predictions
    are checked against the model's with onnxruntime before it is written.
    """
    refuse_standard_output("-o", out)
    with checked(reads=[model], writes={"-o": out}, endings={"-o": ".onnx"}):
        load_onnx()
        from .models import open_model

    talk.hand_over(write_onnx(talk, open_model(talk, model), out))


def refuse_standard_output(option: str, path: str | None) -> None:
    """Raise click.UsageError where ONNX is to go to standard output."""
    if path == "-":
        raise click.UsageError(
            f"ONNX goes to a file only; give {option} a name that ends in .onnx."
        )


def load_onnx() -> None:
    """Import what writing ONNX takes, before the work."""
    require("onnx", "onnxruntime", extras="cli,tables,export")
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401


def write_onnx(talk: Talk, model: TableModel, path: str) -> dict[str, Any]:
    """Write and check the file, say what is in it, and return that for JSON."""
    from dataclasses import asdict

    from ..tables.models import export_onnx

    with talk.busy("Checking the ONNX file"):
        done = export_onnx(model, path)
    talk.say(
        f"{done.note} Its decision values for {done.n_checked:,} rows agree with the model's to "
        f"{done.largest_difference:.1e}."
    )
    talk.answer(f"ONNX: {path}", style=None)
    return asdict(done)
