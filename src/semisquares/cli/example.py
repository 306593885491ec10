"""``semisquares example``: a small table with missing labels, to try the commands on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import _options as options
from . import require
from ._paths import checked_paths

if TYPE_CHECKING:
    from ._output import Output
    from ._signals import SignalHandler


@click.command(epilog=options.examples("semisquares example pumps"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@options.output
@click.pass_obj
def example(handler: SignalHandler, folder: Path, output: Output) -> None:
    """Write a small artificial table with missing labels to DIR; print commands to try on it."""
    require("pandas", extras="cli,tables")
    with checked_paths():
        from ..tables._example import NEW_ROWS, TABLE, TARGET, write_example
    handler.message = lambda: "Stopped; run the same command to write the missing files."

    written = write_example(folder)
    table, new = (shlex.quote(str(folder / name)) for name in (TABLE, NEW_ROWS))
    model, out = (shlex.quote(str(folder / name)) for name in ("my.model", "predicted.csv"))
    page = shlex.quote(str(folder / "report.html"))
    commands = [
        f"semisquares compare {table} --target {TARGET} -o {page}",
        f"semisquares fit {table} --target {TARGET} -o {model}",
        f"semisquares predict {model} {new} -o {out}",
    ]
    output.info(f"Written: {', '.join(map(str, written))}. Try:\n")
    for command in commands:
        output.result(f"  {command}", style=None)
    output.data({"written": [str(path) for path in written], "commands": commands})
