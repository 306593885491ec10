"""The commands by their names; each is imported when it is typed."""

from __future__ import annotations

import click

from .. import __version__
from . import require


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["datasets", "reproduce"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "datasets":
            from .datasets import datasets

            return datasets
        if cmd_name == "reproduce":
            require("jinja2", "matplotlib", "pandas", "pooch")
            from .reproduce import reproduce

            return reproduce
        return None


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="semisquares")
@click.pass_context
def commands(context: click.Context) -> None:
    """Least squares classification for tables where few rows have labels."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
