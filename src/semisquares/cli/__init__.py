"""The command line. Exit codes: 0 done, 1 the answer is "no" (only with ``--check``), 2 wrong use
or bad input, 3 a defect of ours, 130 stopped by Ctrl-C."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
import traceback
import warnings
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from types import FrameType
from typing import Any

from .. import __version__
from ..errors import UserError

__all__ = ["main"]

NO, WRONG, DEFECT, STOPPED = 1, 2, 3, 130


class Stopped(Exception):
    """Ctrl-C, with what was kept."""


def main() -> None:
    """Run the command that was typed; what a user can put right is said in one sentence."""
    require("click", "rich", extras="cli,tables")
    import click

    from .commands import commands

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _Interrupt())
    # what joblib says of work that Ctrl-C cut short
    warnings.filterwarnings("ignore", message=r"\d+ tasks which", category=UserWarning)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a tick is no reason to fail on an old terminal
    try:
        code = commands.main(prog_name="semisquares", standalone_mode=False)
        sys.stdout.flush()  # a full disk is to be noticed here, not when Python ends
    except BrokenPipeError:  # as in `semisquares … | head`: nobody reads on
        _silence(sys.stdout)
        code = 0
    except SystemExit as end:  # click's way to say the same is 1; ours are refusals
        code = 0 if end.code == 1 else end.code
    except click.UsageError as error:  # without the page of usage that click puts before it
        code = _refuse(error.format_message())
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except UserError as error:
        code = _refuse(str(error))
    except Stopped as stop:
        _complain(str(stop))
        code = STOPPED
    except (click.Abort, KeyboardInterrupt):
        _complain("Stopped; nothing was written.")
        code = STOPPED
    except Exception as error:
        code = _explain(error)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python's own end would fall back to dying
    sys.exit(code)


def require(*packages: str, extras: str) -> None:
    """Leave with the line that installs what is missing, if something is."""
    if missing := [name for name in packages if find_spec(name) is None]:
        sys.exit(
            _refuse(
                f"this command needs {' and '.join(missing)}, not installed here; run "
                f"pip install 'semisquares[{extras}]'."
            )
        )


def _explain(error: Exception) -> int:
    """Tell what an unexpected error is: a machine at its limits, or a defect of ours."""
    if isinstance(error, MemoryError | BrokenProcessPool):
        return _refuse(
            "Memory ran out, or a worker process was killed for it; try --jobs 1, fewer columns "
            "(--drop), or a machine with more memory."
        )
    if isinstance(error, OSError) and error.errno and sys.stdout.closed is False:
        try:
            sys.stdout.flush()
        except OSError:
            _silence(sys.stdout)
            return _refuse(f"Standard output cannot be written ({error.strerror}).")
    _complain("".join(traceback.format_exception(error)).rstrip())
    python = ".".join(map(str, sys.version_info[:3]))
    _complain(
        f"\nThis is a defect of semisquares, not of your input. Please report it to the project "
        "with the lines above and these two:\n"
        f"  {shlex.join(['semisquares', *sys.argv[1:]])}\n"
        f"  semisquares {__version__}, Python {python} on {sys.platform}"
    )
    return DEFECT


def _refuse(sentence: str) -> int:
    _complain(f"Error: {sentence}")
    return WRONG


def _complain(text: str) -> None:
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:  # nobody listens
        _silence(sys.stderr)


def _silence(stream: Any) -> None:
    """Let what is still to be written go nowhere: Python would complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


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
