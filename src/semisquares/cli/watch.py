"""How far something is: a bar with the time left, or now and then a line where nobody watches."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from .._utils.words import counted, duration

_SECONDS_BETWEEN_LINES = 10.0


class Meter:
    """Hear of things done, and show how many there are still to do."""

    finishing = "in all"
    """Said at the end of a full bar."""

    def __init__(self, console: Console, name: str, unit: str) -> None:
        self.done = self.total = 0
        self._console, self._unit = console, unit
        self._bar: Bar | None = None
        if console.is_terminal:
            self._bar = Bar(
                TextColumn("  {task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn(f"{unit},"),
                TimeRemainingColumn(compact=True, elapsed_when_finished=True),
                TextColumn("{task.fields[what]}"),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task(name, total=None, start=False, what="left")

    def __call__(self, done: int, total: int) -> None:
        first = self.total == 0
        self.done, self.total = done, total
        if first:
            self._start()
        elif self._bar is None:
            self._line()
        if self._bar is not None:
            what = self.finishing if done == total else "left"
            self._bar.update(self._task, completed=done, what=what)

    def _start(self) -> None:
        self._began = self._said = time.monotonic()
        self._before = self.done
        if self._bar is not None:
            self._bar.reset(self._task, total=self.total, completed=self.done, what="left")

    def _line(self) -> None:
        now = time.monotonic()
        if now - self._said < _SECONDS_BETWEEN_LINES or self.done == self._before:
            return
        self._said = now
        pace = (now - self._began) / (self.done - self._before)
        left = duration(pace * (self.total - self.done))
        self._console.print(f"  {self.done} of {self.total} {self._unit}, about {left} left")

    def __enter__(self) -> Meter:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class Watch(Meter):
    """Hear of finished cells, as `runner.Progress`, and remember the last word."""

    finishing = "in all; writing the table and the plots"

    def __init__(self, console: Console, name: str) -> None:
        super().__init__(console, name, "cells")
        self.cpu_seconds = 0.0

    def hear(self, done: int, total: int, cpu_seconds: float) -> None:
        """Hear of the cells done, of how many, and the CPU seconds that they took."""
        self.cpu_seconds = cpu_seconds
        self(done, total)

    def _start(self) -> None:
        super()._start()
        kept = f"; {self.done} of them are kept from before" if self.done else ""
        self._console.print(f"  {counted(self.total, 'cell')}{kept}")
