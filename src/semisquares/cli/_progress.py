"""Progress of a long step: a bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichBar

from .._utils.words import counted, duration

_SECONDS_BETWEEN_LINES = 10.0


class ProgressBar:
    """Call it as `progress(done, total)` inside a `with` block."""

    def __init__(self, console: Console, name: str, unit: str, at_end: str = "in all") -> None:
        self.done = self.total = 0
        self._console, self._unit, self._at_end = console, unit, at_end
        self._bar = RichBar(
            TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn(f"{unit},"), TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("{task.fields[after]}"), console=console, transient=True,
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
            left = (now - self._start) / (done - self._done_before) * (total - done)
            line = f"  {done} of {total} {self._unit}, about {duration(left)} left"
            self._console.print(line)

    def __enter__(self) -> ProgressBar:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()


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
