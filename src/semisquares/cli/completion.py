"""``semisquares completion``: the script that makes a shell complete the commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="\b\nExamples:\n"
    '  eval "$(semisquares completion bash)"        in ~/.bashrc\n'
    '  eval "$(semisquares completion zsh)"         in ~/.zshrc\n'
    "  semisquares completion fish | source         in ~/.config/fish/config.fish\n"
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands and options at the Tab key."""
    from .commands import commands

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(commands, {}, "semisquares", "_SEMISQUARES_COMPLETE").source())
