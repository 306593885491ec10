"""The standard streams of a command: open, and with a sentence where they fail."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from .._utils.errors import UserError

TYPE_CHECKING = False  # a module less to import before Ctrl-C is listened to
if TYPE_CHECKING:
    from typing import Any

__all__ = ["OutputError", "complain", "complain_at_once", "end", "hush", "prepare"]


class OutputError(UserError):
    """Standard output takes no more."""


class _Out(io.FileIO):
    """Standard output: what it does not take is told in a sentence, whoever wrote it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:  # nobody reads on, as in `semisquares … | head`
            raise
        except OSError as error:
            from .._utils.words import os_error

            raise OutputError(
                f"{os_error(error, 'writing', 'standard output')}; send it to another place."
            ) from None


class _Beside(io.FileIO):
    """Standard error: what cannot be said is not worth a failure."""

    def write(self, data: Any) -> int:
        with suppress(OSError):
            return super().write(data)
        return len(data)


def prepare() -> None:
    """Make the three streams ready; OutputError if standard output is closed."""
    closed = [number for number in range(3) if _stream(number) is None]
    for number in closed:
        _point_nowhere(number)  # else the next file to be opened would take its place
        mode = "r" if number == 0 else "w"
        setattr(sys, _NAMES[number], open(number, mode, closefd=False))  # noqa: SIM115
    for number, kind in ((1, _Out), (2, _Beside)):
        stream = _stream(number)
        # no console of Windows, which takes text alone
        if number not in closed and type(_raw(stream)) is io.FileIO:
            setattr(sys, _NAMES[number], _on(kind(stream.fileno(), "wb", closefd=False), stream))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if 1 in closed:
        raise OutputError("Standard output is closed; leave it open, or send it to a file.")


def end() -> None:
    """Let what standard output did not take go nowhere: Python would complain at its end."""
    # click puts a wrapper around a stream that nobody reads, which hides that flushing fails
    stream = getattr(sys.stdout, "wrapped", sys.stdout)
    try:
        stream.flush()
    except (OSError, OutputError):
        hush()


def hush() -> None:
    """Let all that is written to standard output go nowhere from here on."""
    _point_nowhere(sys.stdout.fileno())


def complain(text: str) -> None:
    """Say a sentence on standard error."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def complain_at_once(text: str) -> None:
    """Say a sentence from within a signal handler, when a stream may be in mid-word."""
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())


_NAMES = ("stdin", "stdout", "stderr")


def _stream(number: int) -> Any:
    return getattr(sys, _NAMES[number])


def _raw(stream: Any) -> Any:
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def _on(raw: io.FileIO, stream: Any) -> io.TextIOWrapper:
    """Return a text stream such as `stream` that writes to `raw`."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="replace",  # a tick is no reason to fail on an old terminal
        newline="\n" if os.name == "posix" else None,
        line_buffering=stream.line_buffering or stream.write_through,
    )


def _point_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
