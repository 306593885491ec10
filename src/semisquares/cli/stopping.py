"""Ctrl-C and SIGTERM: a command ends in one sentence that says what was kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from types import FrameType

from .streams import complain_at_once

__all__ = ["Interrupted", "Stop"]

_SECONDS_TO_CLEAN_UP = 2.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """A KeyboardInterrupt on its way through click, which would print an empty line for it."""


def _nothing() -> str:
    return "Stopped; nothing was written."


class Stop:
    """The signals that stop a command, and what is to be said then.

    While modules are being imported a signal ends the process at once: an exception there may turn
    into another one, or be swallowed, and there is nothing to clean up yet. Later it becomes a
    KeyboardInterrupt with two seconds to clean up. Impatient fingers send more, and each would cut
    short the cleaning up after the one before.

    Attributes
    ----------
    signal : int or None
        The signal that came, if one did.
    loading : bool
        Whether modules are being imported and nothing else has begun.
    sentence : callable
        Returns what is to be said.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.loading = True
        self.sentence: Callable[[], str] = _nothing
        self._last = -float("inf")

    @property
    def code(self) -> int:
        """The exit code: 128 and the number of the signal, as shells have it."""
        return 128 + (self.signal or signal.SIGINT)

    def last_words(self) -> str:
        """Return what is to be said, on a line of its own where a terminal shows ^C."""
        return "\n" * os.isatty(2) + self.sentence()

    def listen(self) -> None:
        """Take the signals."""
        for number in _SIGNALS:
            signal.signal(number, self)

    def ignore(self) -> None:
        """Take no more of them, as Python's own end would fall back to dying."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last <= _SECONDS_TO_CLEAN_UP:
            return
        self._last, self.signal = now, number
        if self.loading:
            complain_at_once(self.last_words())
            os._exit(self.code)
        raise KeyboardInterrupt
