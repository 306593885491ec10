"""Standard streams that may be closed, full, or abandoned by their reader."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from .._utils.errors import UserError

TYPE_CHECKING = False  # without typing, whose import would delay the handling of Ctrl-C
if TYPE_CHECKING:
    from typing import Any


class OutputError(UserError):
    """Standard output cannot be written."""


class _Stdout(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:  # as in `semisquares … | head`
            raise
        except OSError as error:
            from .._utils.words import os_error

            raise OutputError(
                f"{os_error(error, 'writing', 'standard output')}; redirect it to another place."
            ) from None


class _Stderr(io.FileIO):
    def write(self, data: Any) -> int:
        with suppress(OSError):  # a lost message is not worth a failure
            return super().write(data)
        return len(data)


def prepare() -> None:
    """Make the three streams safe to use; raise OutputError if standard output is closed."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # a file that is opened later must not get the number of a closed stream
    os.close(fd)
    is_closed = sys.stdout is None
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = _wrap(sys.stdout or os.fdopen(1, "w", closefd=False), _Stdout)
    sys.stderr = _wrap(sys.stderr or os.fdopen(2, "w", closefd=False), _Stderr)
    if is_closed:
        raise OutputError("Standard output is closed; open it, or redirect it to a file.")


def finish() -> None:
    """Flush standard output; if that fails, drop the rest, or Python would complain on exit."""
    try:
        sys.stdout.flush()
    except (OSError, OutputError):
        with open(os.devnull, "wb") as null:
            os.dup2(null.fileno(), sys.stdout.fileno())


def _wrap(stream: Any, raw_class: type[io.FileIO]) -> Any:
    """Write to the same file through `raw_class`; replace characters it cannot encode."""
    buffer = getattr(stream, "buffer", None)
    if type(getattr(buffer, "raw", buffer)) is io.FileIO:  # not a Windows console
        raw = raw_class(stream.fileno(), "wb", closefd=False)
        buffering = stream.line_buffering or stream.write_through
        return io.TextIOWrapper(
            io.BufferedWriter(raw), stream.encoding, errors="replace", line_buffering=buffering
        )
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    return stream
