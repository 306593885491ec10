"""What a command prints: results on standard output, warnings and progress on standard error."""

from __future__ import annotations

import codecs
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ._parameters import in_options
from ._progress import ProgressBar

_LONG_STEP = 2.0  # seconds
_WIDTH = 120  # of tables in a file or a pipe


class Output:
    """The output of one command.

    With `json`, standard output gets one JSON object and nothing else. With `quiet`, there are
    neither explanations nor progress. With `to_stderr`, standard output holds data, and all text
    goes to standard error.
    """

    def __init__(self, *, json: bool = False, quiet: bool = False, to_stderr: bool = False) -> None:
        self._json, self._quiet = json, quiet
        self.console = make_console(sys.stderr if to_stderr or json else sys.stdout)
        self._stderr = make_console(sys.stderr)

    def result(self, text: str | Table, style: str | None = "bold") -> None:
        """Print what the user asked for."""
        if not self._json:
            self.console.print(text, style=style, soft_wrap=isinstance(text, str))

    def info(self, text: str | Table = "", style: str | None = None) -> None:
        """Print an explanation."""
        if not self._quiet:
            self.result(text, style)

    def warn(self, text: str) -> None:
        """Print a note, even if quiet."""
        self._stderr.print(f"Note: {in_options(text)}", style="yellow")

    def data(self, facts: Mapping[str, Any]) -> None:
        """Print the JSON object, if JSON was requested."""
        if self._json:
            escaped = not _is_unicode(sys.stdout)  # rather than replaced by question marks
            click.echo(
                json.dumps(in_options(facts), indent=2, ensure_ascii=escaped, allow_nan=False)
            )

    @contextmanager
    def status(self, step: str) -> Iterator[Callable[[str], None]]:
        """Show a step of unknown length; yield a function that shows how far it is."""
        start = time.monotonic()
        if self._stderr.is_terminal and not self._quiet:
            with self._stderr.status(f"{step} …") as status:
                yield lambda detail: status.update(f"{step} … {detail}")
            return
        yield lambda detail: None
        if not self._quiet and (seconds := time.monotonic() - start) > _LONG_STEP:
            self._stderr.print(f"{step} took {seconds:.0f} s")

    def progress(self, name: str, unit: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """Show a step of known length: call the function as `progress(done, total)`."""
        if self._quiet:
            return nullcontext(lambda done, total: None)
        return ProgressBar(self._stderr, name, unit)


def _is_unicode(file: Any) -> bool:
    """Tell whether a stream can write all characters; on Windows, one to a file often cannot."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Go on in silence instead of exiting: the command may have files to write."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def make_console(file: Any) -> Console:
    """Return a console that prints text as it is, in lines of any length."""
    width = None if file.isatty() else _WIDTH
    return _Console(
        file=file, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True
    )
