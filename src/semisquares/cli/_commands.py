"""The commands by name; each is imported when it is used."""

from __future__ import annotations

import os
from importlib import import_module

import click
from click.shell_completion import shell_complete

from .. import __version__
from . import require
from ._signals import SignalHandler

COMPLETE_VARIABLE = "_SEMISQUARES_COMPLETE"

_TABLES = ("pandas", "pyarrow")
_PAGES = ("jinja2", "matplotlib")

COMMANDS = {
    "example": (),
    "compare": (*_TABLES, *_PAGES),
    "suggest": _TABLES,
    "label": (*_TABLES, "starlette", "uvicorn"),
    "fit": _TABLES,
    "predict": _TABLES,
    "inspect": _TABLES,
    "review": _TABLES,
    "export": (*_TABLES, "onnx", "onnxruntime"),
    "reproduce": (*_PAGES, "pandas", "pooch"),
    "datasets": (),
    "completion": (),
}
"""The packages that each command needs besides click and rich, in the order of the help."""
_EXTRAS = {"reproduce": "cli,paper", "export": "cli,tables,export", "label": "cli,tables,label"}


def run(arguments: list[str], handler: SignalHandler) -> int:
    """Run a command, or answer a shell that completes one; return the exit code.

    click's own `main` would print an empty line after Ctrl-C and hide errors of standard output.
    """
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(commands, {}, "semisquares", COMPLETE_VARIABLE, instruction)
    try:
        with commands.make_context("semisquares", arguments, obj=handler) as context:
            return commands.invoke(context) or 0
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing what they need."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_SHORT.items()))


_SHORT = {
    "example": "Write a small example table to try the commands on.",
    "compare": "Find out which classifier suits a table, and whether unlabeled rows help.",
    "suggest": "Suggest which rows of a table to label next.",
    "label": "Label rows of a table on a page in the browser.",
    "fit": "Fit a classifier to a table and store it as a model.",
    "predict": "Predict the labels of a table's rows with a model.",
    "inspect": "Show what a model predicts, how well, and from which columns.",
    "review": "Find doubtful labels in a table, and estimate how many are wrong.",
    "export": "Convert a model to ONNX.",
    "reproduce": "Re-run the paper's figures.",
    "datasets": "List the paper's sixteen data sets: citation, licence, source.",
    "completion": "Print a script that enables Tab completion in a shell.",
}


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="semisquares")
@click.pass_context
def commands(context: click.Context) -> None:
    """Classify tables in which few rows have labels.

    \b
    Try it:  semisquares example pumps
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
