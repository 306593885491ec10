"""Ctrl-C and SIGTERM end a command with one sentence that says what was written."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_CLEANUP_SECONDS = 2.0


class Interrupt(KeyboardInterrupt):
    """Raised by Ctrl-C or SIGTERM.

    If a KeyboardInterrupt, but not a subclass, has passed through `exec`, Python ends itself with
    SIGINT when it exits, and our exit code is lost.
    """


class SignalHandler:
    """Stop the command at once while it imports modules, and by `Interrupt` later.

    A module may swallow an exception while it is imported, and there is nothing to clean up yet.
    Later, more signals are ignored for two seconds: a second Ctrl-C must not stop the cleanup.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.importing = True
        self.message: Callable[[], str] = lambda: "Stopped; nothing was written."
        self._last = -float("inf")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last <= _CLEANUP_SECONDS:
            return
        self._last, self.signal = now, number
        if not self.importing:
            raise Interrupt
        with suppress(OSError):  # not sys.stderr, which may be in the middle of a write
            os.write(2, f"{self.final_message()}\n".encode())
        os._exit(self.exit_code)

    def final_message(self) -> str:
        """Return the message, on a new line if the terminal shows ^C."""
        return "\n" * os.isatty(2) + self.message()

    @property
    def exit_code(self) -> int:
        """128 plus the number of the signal, as in shells."""
        return 128 + (self.signal or signal.SIGINT)


def set_handler(handler: SignalHandler | signal.Handlers) -> None:
    """Let `handler` handle both signals."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)
