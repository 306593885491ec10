"""Options that several commands share, each group as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

Command = Callable[..., Any]


@dataclass(frozen=True)
class Reading:
    """How text tables are written, where that cannot be guessed."""

    delimiter: str | None
    encoding: str | None
    decimal: str | None
    missing: tuple[str, ...]

    def words(self) -> list[str]:
        """Return the options again, for a command that does the same."""
        given = {
            "--delimiter": self.delimiter,
            "--encoding": self.encoding,
            "--decimal": self.decimal,
        }
        return _given(given) + [word for text in self.missing for word in ("--missing", text)]


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are to the model."""

    target: str
    group: str | None
    drop: tuple[str, ...]
    kinds: dict[str, str]
    unlabeled: str | None

    def words(self) -> list[str]:
        """Return the options again, for a command that does the same."""
        words = ["--target", self.target]
        words += _given({"--group": self.group, "--unlabeled": self.unlabeled})
        words += [word for name in self.drop for word in ("--drop", name)]
        return words + [w for n, kind in self.kinds.items() for w in ("--kind", f"{n}={kind}")]


def _given(options: dict[str, str | None]) -> list[str]:
    return [word for name, value in options.items() if value is not None for word in (name, value)]


def _kinds(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    pairs = [text.rpartition("=") for text in given]
    for text, (name, _, kind) in zip(given, pairs, strict=True):
        if not (name and kind):
            raise click.UsageError(
                f"--kind {text!r} does not say a column and its kind; write --kind age=number."
            )
    return {name: kind for name, _, kind in pairs}


def _one_mark(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    if len(given) > 1:
        often = "twice" if len(given) == 2 else f"{len(given)} times"
        raise click.UsageError(
            f"--unlabeled was given {often}; give one, and the other spellings with --missing."
        )
    return given[0] if given else None


def reading(command: Command) -> Command:
    """Add the options of `Reading`, handed over as `reading`."""

    @click.option("--delimiter", metavar="CHAR", help="Between the cells of a text table.")
    @click.option("--encoding", metavar="NAME", help="Of a text table; UTF-8 if not given.")
    @click.option("--decimal", metavar="CHAR", help="The decimal mark of a text table.")
    @click.option(
        "--missing", multiple=True, metavar="TEXT", help="Also means an empty cell; repeatable."
    )
    @wraps(command)
    def with_reading(
        *args: Any,
        delimiter: str | None,
        encoding: str | None,
        decimal: str | None,
        missing: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        options = Reading(delimiter, encoding, decimal, missing)
        return command(*args, reading=options, **rest)

    return with_reading


def columns(command: Command) -> Command:
    """Add the options of `Columns`, handed over as `columns`."""

    @click.option(
        "--target",
        required=True,
        metavar="COLUMN",
        help="The column of the labels, empty where a label is missing.",
    )
    @click.option(
        "--group",
        metavar="COLUMN",
        help="Rows with the same value here belong together (a patient, a site): they are never "
        "on both sides of a split. It is no feature.",
    )
    @click.option("--drop", multiple=True, metavar="COLUMN", help="Leave out; repeatable.")
    @click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COLUMN=KIND",
        callback=_kinds,
        help="Read a column as number, category, boolean or date; repeatable.",
    )
    @click.option(
        "--unlabeled",
        multiple=True,
        metavar="TEXT",
        callback=_one_mark,
        help="Marks a missing label, besides the empty cell.",
    )
    @wraps(command)
    def with_columns(
        *args: Any,
        target: str,
        group: str | None,
        drop: tuple[str, ...],
        kinds: dict[str, str],
        unlabeled: str | None,
        **rest: Any,
    ) -> Any:
        options = Columns(target, group, drop, kinds, unlabeled)
        return command(*args, columns=options, **rest)

    return with_columns


def words(command: Command) -> Command:
    """Add --json and --quiet, handed over as `talk`; data on standard output (-o -) is heeded."""

    @click.option("--json", is_flag=True, help="Print one JSON object, for scripts.")
    @click.option("--quiet", is_flag=True, help="No progress, no explanations.")
    @wraps(command)
    def with_words(*args: Any, json: bool, quiet: bool, **rest: Any) -> Any:
        aside = rest.get("out") == "-"
        if aside and json:
            raise click.UsageError(
                "--json and -o - both want standard output; give -o a file, or leave --json out."
            )
        from .talk import Talk

        return command(*args, talk=Talk(json=json, quiet=quiet, aside=aside), **rest)

    return with_words


def splits(command: Command) -> Command:
    """Add --folds and --repeats."""
    command = click.option(
        "--repeats", type=click.IntRange(1, 1000), metavar="N",
        help="Repeats of the cross-validation; 2 to 10 by the number of labels if not given.",
    )(command)  # fmt: skip
    return click.option(
        "--folds", type=click.IntRange(2, 50), default=5, show_default=True, metavar="N",
        help="Folds of the cross-validation, fewer where a class has fewer labels.",
    )(command)  # fmt: skip


def seed(command: Command) -> Command:
    """Add --seed."""
    return click.option(
        "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, metavar="S",
        help="Of the splits and samples; the same seed gives the same numbers.",
    )(command)  # fmt: skip


def jobs(command: Command) -> Command:
    """Add --jobs, one per core where it is not given."""

    @click.option(
        "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Processes; one per core if not given. They change no number.",
    )  # fmt: skip
    @wraps(command)
    def with_jobs(*args: Any, jobs: int | None, **rest: Any) -> Any:
        from joblib import cpu_count

        return command(*args, jobs=jobs or cpu_count(), **rest)

    return with_jobs


def examples(*lines: str) -> str:
    """Return the end of a help page."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
