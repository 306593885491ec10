"""``semisquares example``: a small table with missing labels, to try the commands on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options, require
from .places import checked

if TYPE_CHECKING:
    from .stopping import Stop
    from .talk import Talk


@click.command(epilog=options.examples("semisquares example pumps"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@options.words
@click.pass_obj
def example(stop: Stop, folder: Path, talk: Talk) -> None:
    """Write a small, made-up table with missing labels into DIR, and print what to try on it."""
    require("pandas", extras="cli,tables")
    with checked():
        from ..tables.example import NEW_ROWS, TABLE, TARGET, write_example
    stop.sentence = lambda: "Stopped; run the same command to write what is missing."

    written = write_example(folder)
    table, new = (shlex.quote(str(folder / name)) for name in (TABLE, NEW_ROWS))
    model, out = (shlex.quote(str(folder / name)) for name in ("my.model", "predicted.csv"))
    page = shlex.quote(str(folder / "report.html"))
    commands = [
        f"semisquares compare {table} --target {TARGET} -o {page}",
        f"semisquares fit {table} --target {TARGET} -o {model}",
        f"semisquares predict {model} {new} -o {out}",
    ]
    talk.say(f"Written: {', '.join(map(str, written))}. Try:\n")
    for command in commands:
        talk.answer(f"  {command}", style=None)
    talk.hand_over({"written": [str(path) for path in written], "commands": commands})
