"""The command line: ``semisquares reproduce`` and ``semisquares datasets``."""

from __future__ import annotations

import signal
import sys
import time
from importlib.util import find_spec
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command that was typed; what a user can put right is said in one sentence."""
    require("click", "rich")
    import click

    from .commands import commands

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _Interrupt())
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a tick is no reason to fail on an old terminal
    try:
        sys.exit(commands.main(prog_name="semisquares", standalone_mode=False))
    except click.UsageError as error:  # without the page of usage that click puts before it
        click.echo(f"Error: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped; run the same command to continue.", err=True)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python's own end would fall back to dying


def require(*packages: str) -> None:
    """Leave with the line that installs what is missing, if something is."""
    if missing := [name for name in packages if find_spec(name) is None]:
        sys.stderr.write(
            f"Error: this command needs {' and '.join(missing)}, not installed here; run "
            "pip install 'semisquares[cli,experiments]'.\n"
        )
        sys.exit(1)


class _Interrupt:
    """Make the first Ctrl-C (or SIGTERM) a KeyboardInterrupt, and leave it two seconds to clean up.

    Impatient fingers send more, and each would cut short the cleaning up after the one before.
    """

    def __init__(self) -> None:
        self._last = -float("inf")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > 2:
            self._last = now
            raise KeyboardInterrupt
