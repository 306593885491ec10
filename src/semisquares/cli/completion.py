"""``semisquares completion``: Tab completion of the commands."""

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
    """Print a script with which the shell completes commands, options and file names on Tab.

    Run the script when the shell starts, as in the examples.
    """
    from ._commands import COMPLETE_VARIABLE, commands

    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(commands, {}, "semisquares", COMPLETE_VARIABLE).source())
