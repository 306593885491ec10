"""The command line. Exit codes: 0 done, 1 the answer is "no" (only with ``--check``), 2 wrong use
or bad input, 3 a defect of ours, 130 stopped by Ctrl-C, 143 stopped by SIGTERM."""

from __future__ import annotations

import sys

from .. import __version__
from .._utils.errors import NotEnoughMemory, UserError
from . import streams
from .stopping import Interrupted, Stop

__all__ = ["main"]

NO, WRONG, DEFECT = 1, 2, 3


def main() -> None:
    """Run the command that was typed; what a user can put right is said in one sentence."""
    stop = Stop()
    stop.listen()
    try:
        code = _run(stop)
        stop.ignore()
    except KeyboardInterrupt:
        stop.ignore()
        streams.complain(stop.last_words())
        code = stop.code
        exec("")  # Python would die of a KeyboardInterrupt that went through the last exec
    streams.end()
    sys.exit(code)


def require(*packages: str, extras: str) -> None:
    """Raise UserError with the line that installs what is missing, if something is."""
    from importlib.util import find_spec

    if missing := [name for name in packages if find_spec(name) is None]:
        raise UserError(
            f"this command needs {' and '.join(missing)}, not installed here; run "
            f"pip install 'semisquares[{extras}]'."
        )


def _run(stop: Stop) -> int:
    """Run the command and return its exit code; KeyboardInterrupt whatever became of a signal."""
    try:
        streams.prepare()
        code = _command(stop)
        sys.stdout.flush()  # a full disk is to be noticed here, not when Python ends
    except BaseException as error:
        if stop.signal is not None:
            raise KeyboardInterrupt from None
        return _explained(error)
    return code


def _command(stop: Stop) -> int:
    import warnings

    require("click", "rich", extras="cli,tables")
    from .commands import commands

    # what joblib says of work that Ctrl-C cut short
    warnings.filterwarnings("ignore", message=r"\d+ tasks which", category=UserWarning)
    return commands.main(prog_name="semisquares", standalone_mode=False, obj=stop) or 0


def _explained(error: BaseException) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, UserError):
        from .parameters import in_options

        return _refused(in_options(error))
    if isinstance(error, BrokenPipeError):  # as in `semisquares … | head`: nobody reads on
        return 0
    if isinstance(error, SystemExit):  # click's way to say the same is 1
        return 0 if error.code == 1 else int(error.code or 0)
    if isinstance(error, KeyboardInterrupt | Interrupted):
        raise KeyboardInterrupt from None
    import click

    if isinstance(error, click.Abort) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, click.ClickException):  # without click's page of usage before it
        return _refused(error.format_message())
    return _beyond_us(error) or _defect(error)


def _beyond_us(error: BaseException) -> int:
    """Say that the machine is at its limits, if that is what an error means."""
    import errno
    from concurrent.futures.process import BrokenProcessPool

    if isinstance(error, NotEnoughMemory):
        return _refused(str(error))
    if isinstance(error, MemoryError | BrokenProcessPool):
        return _refused(
            "Memory ran out, or a worker process was killed for it; try --jobs 1, fewer columns "
            "(--drop), or a machine with more memory."
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" of {error.filename}" if error.filename else ""
        return _refused(f"The disk{where} is full; make room, and run the command again.")
    return 0


def _defect(error: BaseException) -> int:
    import shlex
    import traceback

    streams.complain("".join(traceback.format_exception(error)).rstrip())
    python = ".".join(map(str, sys.version_info[:3]))
    streams.complain(
        f"\nThis is a defect of semisquares, not of your input. Please report it to the project "
        "with the lines above and these two:\n"
        f"  {shlex.join(['semisquares', *sys.argv[1:]])}\n"
        f"  semisquares {__version__}, Python {python} on {sys.platform}"
    )
    return DEFECT


def _refused(sentence: str) -> int:
    streams.complain(f"Error: {sentence}")
    return WRONG
