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


@click.command(
    epilog=options.examples(
        "semisquares example pumps",
        "semisquares example pumps --without-labels",
    )
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--without-labels", is_flag=True,
    help="Write the table without any label, to try labeling it, and the true labels in a file of "
    "their own.",
)  # fmt: skip
@options.output
@click.pass_obj
def example(handler: SignalHandler, folder: Path, without_labels: bool, output: Output) -> None:
    """Write a small artificial table with missing labels to DIR; print commands to try on it."""
    require("pandas", extras="cli,tables")
    with checked_paths():
        from ..tables._example import NEW_ROWS, STATES, TARGET, write_example
    handler.message = lambda: "Stopped; run the same command to write the missing files."

    written = write_example(folder, labels=not without_labels)
    names = (written[0].name, "labeled.csv", NEW_ROWS, "report.html", "my.model", "predicted.csv")
    table, labeled, new, page, model, out = (shlex.quote(str(folder / name)) for name in names)
    commands = []
    if without_labels:
        classes = " ".join(f"--class {name}" for name in STATES)
        commands = [
            f"semisquares suggest {table} --target {TARGET}",
            f"semisquares label {table} --target {TARGET} {classes} -o {labeled}",
        ]
        table = labeled
    commands += [
        f"semisquares compare {table} --target {TARGET} -o {page}",
        f"semisquares fit {table} --target {TARGET} -o {model}",
        f"semisquares predict {model} {new} -o {out}",
    ]
    output.info(f"Written: {', '.join(map(str, written))}. Try:\n")
    for command in commands:
        output.result(f"  {command}", style=None)
    output.data({"written": [str(path) for path in written], "commands": commands})
