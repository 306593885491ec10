"""How commands talk: answers on standard output, the rest beside it, and neither where unwanted."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from .parameters import in_options
from .streams import hush
from .watch import Meter

_WORTH_A_WORD = 2.0  # seconds
_WIDTH = 120  # of tables in a file or a pipe


class Talk:
    """The voice of one command.

    Parameters
    ----------
    json : bool
        Print one JSON object at the end and no other word on standard output.
    quiet : bool
        No progress and no explanations, only the answer.
    aside : bool
        Standard output holds data: words go to standard error.
    """

    def __init__(self, *, json: bool = False, quiet: bool = False, aside: bool = False) -> None:
        self.json, self.quiet = json, quiet
        self._out = console_on(sys.stderr if aside or json else sys.stdout)
        self._beside = console_on(sys.stderr)

    @property
    def width(self) -> int:
        """How many characters a line of a table has."""
        return self._out.width

    def say(self, text: str = "", style: str | None = None) -> None:
        """Explain something."""
        if not (self.json or self.quiet):
            self._out.print(text, style=style)

    def say_table(self, table: Table) -> None:
        """Explain something by a table."""
        if not (self.json or self.quiet):
            self._out.print(table, soft_wrap=False)
            self._out.print()

    def answer(self, text: str, style: str | None = "bold") -> None:
        """Say what was asked for."""
        if not self.json:
            self._out.print(text, style=style)

    def warn(self, text: str) -> None:
        """Say what has to be known, whoever listens."""
        self._beside.print(f"Note: {in_options(text)}", style="yellow")

    def hand_over(self, facts: Mapping[str, Any]) -> None:
        """Print the facts where JSON was asked for."""
        if self.json:
            click.echo(json.dumps(in_options(facts), indent=2, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def busy(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show that something goes on whose end is not known; hand the function how far it is."""
        if self.quiet:
            yield lambda far: None
            return
        start = time.monotonic()
        if self._beside.is_terminal:
            with self._beside.status(f"{what} …") as status:
                yield lambda far: status.update(f"{what} … {far}")
        else:
            yield lambda far: None
            if (seconds := time.monotonic() - start) > _WORTH_A_WORD:
                self._beside.print(f"{what} took {seconds:.0f} s")

    @contextmanager
    def progress(self, what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
        """Show how far something is: hand the function (done, total)."""
        if self.quiet:
            yield lambda done, total: None
            return
        with Meter(self._beside, what, unit) as meter:
            yield meter


class _Console(Console):
    """Words that go nowhere once nobody listens: the files are still wanted."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        hush()


def console_on(file: Any) -> Console:
    """Return what writes words to a stream, plain and in lines of any length."""
    console = _Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDTH
    return console
