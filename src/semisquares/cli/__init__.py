"""The command line. Exit codes: 0 success, 1 the answer is not yes (only with ``--check``), 2 wrong
use or bad input, 3 a bug in semisquares, 130 stopped by Ctrl-C, 143 stopped by SIGTERM."""

from __future__ import annotations

import signal
import sys

from .. import __version__
from .._utils.errors import NotEnoughMemory, UserError
from . import _streams
from ._signals import Interrupt, SignalHandler, set_handler

__all__ = ["main"]

NO, WRONG, DEFECT = 1, 2, 3


def main() -> None:
    """Run the command line; errors that the user can fix are printed as one sentence."""
    handler = SignalHandler()
    set_handler(handler)
    try:
        code = _run(handler)
        set_handler(signal.SIG_IGN)  # a signal while Python exits would print a traceback
    except KeyboardInterrupt:
        set_handler(signal.SIG_IGN)
        _print_error(handler.final_message())
        code = handler.exit_code
    _streams.finish()
    sys.exit(code)


def require(*packages: str, extras: str) -> None:
    """Raise UserError with the command that installs the missing packages, if any is missing."""
    from importlib.util import find_spec

    if missing := [name for name in packages if find_spec(name) is None]:
        raise UserError(
            f"This command needs {' and '.join(missing)}; run pip install 'semisquares[{extras}]'."
        )


def _run(handler: SignalHandler) -> int:
    """Run the command and return its exit code; raise KeyboardInterrupt if a signal stopped it."""
    try:
        _streams.prepare()
        code = _command(handler)
        sys.stdout.flush()  # report a full disk now, not while Python exits
        return code
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if handler.signal is not None:  # the Interrupt was turned into another exception
            raise Interrupt from None
        return _explain(error)


def _command(handler: SignalHandler) -> int:
    import warnings

    require("click", "rich", extras="cli,tables")
    from ._commands import run

    # joblib's warning about work that Ctrl-C has cut short
    warnings.filterwarnings("ignore", message=r"\d+ tasks which", category=UserWarning)
    return run(sys.argv[1:], handler)


def _explain(error: BaseException) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, UserError):
        from ._parameters import in_options

        return _refuse(in_options(error))
    if isinstance(error, BrokenPipeError):  # the reader has left, as in `semisquares … | head`
        return 0
    import click

    if isinstance(error, click.ClickException):  # without click's usage text
        return _refuse(error.format_message())
    return _explain_shortage(error) or _explain_bug(error)


def _explain_shortage(error: BaseException) -> int:
    """Explain that memory or disk space ran out; return 0 for any other error."""
    import errno
    from concurrent.futures.process import BrokenProcessPool

    if isinstance(error, NotEnoughMemory):
        return _refuse(str(error))
    if isinstance(error, MemoryError | BrokenProcessPool):
        return _refuse(
            "Memory ran out, or a worker process was killed for it; try --jobs 1, fewer columns "
            "(--drop), or a machine with more memory."
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" of {error.filename}" if error.filename else ""
        return _refuse(f"The disk{where} is full; free some space, and run the command again.")
    return 0


def _explain_bug(error: BaseException) -> int:
    import shlex
    import traceback

    _print_error("".join(traceback.format_exception(error)).rstrip())
    python = ".".join(map(str, sys.version_info[:3]))
    _print_error(
        f"\nThis is a bug in semisquares, not an error in your input. Please report it to the "
        "project with the lines above and these two:\n"
        f"  {shlex.join(['semisquares', *sys.argv[1:]])}\n"
        f"  semisquares {__version__}, Python {python} on {sys.platform}"
    )
    return DEFECT


def _refuse(sentence: str) -> int:
    _print_error(f"Error: {sentence}")
    return WRONG


def _print_error(text: str) -> None:
    sys.stderr.write(f"{text}\n")
