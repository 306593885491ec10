"""The commands by their names; each is imported when it is typed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .. import __version__
from . import require
from .stopping import Interrupted

_TABLES = ("pandas", "pyarrow", "skops")
_PAGES = ("jinja2", "matplotlib")

COMMANDS = {
    "example": (),
    "compare": (*_TABLES, *_PAGES),
    "fit": _TABLES,
    "predict": _TABLES,
    "inspect": _TABLES,
    "export": (*_TABLES, "onnx", "onnxruntime"),
    "reproduce": (*_PAGES, "pandas", "pooch"),
    "datasets": (),
    "completion": (),
}
"""What each command needs besides click and rich, in the order of the help."""
_EXTRAS = {"reproduce": "cli,paper", "export": "cli,tables,export"}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if not ctx.resilient_parsing:
            require(*COMMANDS[cmd_name], extras=_EXTRAS.get(cmd_name, "cli,tables"))
        module = import_module(f".{cmd_name}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing what they need."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_SHORT.items()))


_SHORT = {
    "example": "Write a small table with missing labels to try the commands on.",
    "compare": "Say whether the unlabeled rows of a table help, and write a page about it.",
    "fit": "Fit a classifier to a table and store it.",
    "predict": "Predict labels for the rows of a table with a stored model.",
    "inspect": "Show what is in a stored model.",
    "export": "Write a stored model as ONNX.",
    "reproduce": "Re-run the paper's figures.",
    "datasets": "Print citation, licence and source of the paper's sixteen data sets.",
    "completion": "Print the script that makes a shell complete these commands.",
}


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="semisquares")
@click.pass_context
def commands(context: click.Context) -> None:
    """Least squares classification for tables where few rows have labels.

    \b
    Try it:  semisquares example pumps
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
