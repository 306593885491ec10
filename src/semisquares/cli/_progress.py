"""Progress of a long step: a bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn
from rich.progress import Progress as RichBar
from rich.text import Text

from .._utils.words import counted, duration

_SECONDS_BETWEEN_LINES = 10.0
_TRUSTED = 0.25
"""Share of the work after which the pace says more about the rest than what was expected."""


class ProgressBar:
    """Call it as `progress(done, total)` inside a `with` block."""

    def __init__(self, console: Console, name: str, unit: str, at_end: str = "in all") -> None:
        self.done = self.total = 0
        self._expected: tuple[float, float, int] | None = None
        self._console, self._unit, self._at_end = console, unit, at_end
        self._bar = RichBar(
            TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn(f"{unit},"), _Seconds(self), TextColumn("{task.fields[after]}"),
            console=console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task(name, total=None, start=False, after="left")

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.total == 0:  # what was done before the first call says nothing about the pace
            self._start, self._done_before, self._printed = now, done, now
            self._bar.reset(self._task, total=total, completed=done)
        self.done, self.total = done, total
        after = self._at_end if done == total else "left"
        self._bar.update(self._task, completed=done, after=after)
        is_due = now - self._printed >= _SECONDS_BETWEEN_LINES and done > self._done_before
        if is_due and not self._console.is_terminal:
            self._printed = now
            left = self.seconds_left(now)
            about = "" if left is None else f", about {duration(left)} left"
            self._console.print(f"  {done} of {total} {self._unit}{about}")

    def expect(self, seconds: float) -> None:
        """Say how long the rest takes, as far as that is known before the pace can be seen."""
        self._expected = (time.monotonic(), seconds, self.done)

    def seconds_left(self, now: float) -> float | None:
        """Estimate the rest: first what was expected, then more and more by the pace."""
        if self.total == 0:
            return None
        done, left = self.done - self._done_before, self.total - self.done
        by_pace = (now - self._start) / done * left if done > 0 else None
        if self._expected is None:
            return by_pace
        when, expected, done_then = self._expected
        done = self.done - done_then
        expected = max(expected - (now - when), 0.0)
        if done <= 0:
            return expected
        trust = min(1.0, done / (_TRUSTED * max(self.total - done_then, 1)))
        return (1.0 - trust) * expected + trust * (now - when) / done * left

    def seconds_taken(self) -> float:
        """Return the time since the first call."""
        return time.monotonic() - self._start if self.total else 0.0

    def __enter__(self) -> ProgressBar:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()


class _Seconds(ProgressColumn):
    """How long the rest takes; at the end, how long all of it took."""

    def __init__(self, bar: ProgressBar) -> None:
        super().__init__()
        self._bar = bar

    def render(self, task: Task) -> Text:
        if task.finished:
            return Text(duration(self._bar.seconds_taken()))
        left = self._bar.seconds_left(time.monotonic())
        return Text("…" if left is None else duration(left))


class CellProgress(ProgressBar):
    """Progress of the cells of a figure, with their CPU time."""

    def __init__(self, console: Console, name: str) -> None:
        super().__init__(console, name, "cells", "in all; writing the table and the plots")
        self.cpu_seconds = 0.0

    def update(self, done: int, total: int, cpu_seconds: float) -> None:
        """Show how many cells are done; the first call tells those of earlier runs."""
        is_first = self.total == 0
        self.cpu_seconds = cpu_seconds
        self(done, total)  # before the line, as Ctrl-C may follow it at once
        if is_first:
            before = f"; {done} of them are already done" if done else ""
            self._console.print(f"  {counted(total, 'cell')}{before}")
