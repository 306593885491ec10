"""Options that several commands share; each group is passed to the command as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


@dataclass(frozen=True)
class Reading:
    """The options that say how a text table is written; None means that it is detected."""

    delimiter: str | None
    encoding: str | None
    decimal: str | None
    missing: tuple[str, ...]
    skip_rows: int | None
    sheet: str | None

    def arguments(self) -> list[str]:
        """Return the command-line arguments that give these options."""
        return arguments(
            ("--delimiter", self.delimiter),
            ("--encoding", self.encoding),
            ("--decimal", self.decimal),
            ("--skip-rows", self.skip_rows),
            ("--sheet", self.sheet),
            *(("--missing", text) for text in self.missing),
        )


@dataclass(frozen=True)
class Columns:
    """The options that say what the columns of a table are."""

    target: str
    group: str | None
    drop: tuple[str, ...]
    kinds: dict[str, str]
    unlabeled: str | None
    dates: str | None

    def arguments(self) -> list[str]:
        """Return the command-line arguments that give these options."""
        return arguments(
            ("--target", self.target),
            ("--group", self.group),
            ("--unlabeled", self.unlabeled),
            ("--dates", self.dates),
            *(("--drop", name) for name in self.drop),
            *(("--kind", f"{name}={kind}") for name, kind in self.kinds.items()),
        )


def arguments(*options: tuple[str, object]) -> list[str]:
    """Return the command-line arguments that give these options; a value of None is omitted."""
    return [word for name, value in options if value is not None for word in (name, str(value))]


def grouped(command: Command, name: str, group: type[Any], *options: Any) -> Command:
    """Add options; pass them to the command as one value, a dataclass whose fields they are."""

    @wraps(command)
    def with_group(*args: Any, **rest: Any) -> Any:
        values = {field.name: rest.pop(field.name) for field in fields(group)}
        return command(*args, **{name: group(**values)}, **rest)

    for option in reversed(options):
        with_group = option(with_group)
    return with_group


def _kinds(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    pairs = [text.rpartition("=") for text in given]
    for text, (name, _, kind) in zip(given, pairs, strict=True):
        if not (name and kind):
            raise click.UsageError(
                f"--kind {text!r} does not name a column and its type; write it as --kind "
                "age=number."
            )
    return {name: kind for name, _, kind in pairs}


def _single(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    if len(given) > 1:
        times = "twice" if len(given) == 2 else f"{len(given)} times"
        raise click.UsageError(
            f"--unlabeled was given {times}; give it once, and the other spellings with --missing."
        )
    return given[0] if given else None


def reading(command: Command) -> Command:
    """Add the options of `Reading`, passed as `reading`."""
    return grouped(
        command, "reading", Reading,
        click.option(
            "--delimiter", metavar="CHAR",
            help="Character between the cells of a text table. Default: detected.",
        ),
        click.option(
            "--encoding", metavar="NAME", help="Encoding of a text table. Default: UTF-8."
        ),
        click.option(
            "--decimal", metavar="CHAR", help="Decimal mark of a text table. Default: detected."
        ),
        click.option(
            "--missing", multiple=True, metavar="TEXT",
            help="Treat cells with this text as empty; repeatable.",
        ),
        click.option(
            "--skip-rows", type=click.IntRange(min=0), metavar="N",
            help="Rows above the header, such as a title, that are not read. Default: 0.",
        ),
        click.option(
            "--sheet", metavar="NAME",
            help="Sheet of a workbook: its name, or its number from 1 on. Default: the only one.",
        ),
    )  # fmt: skip


def columns(command: Command) -> Command:
    """Add the options of `Columns`, passed as `columns`."""
    return grouped(
        command, "columns", Columns,
        click.option(
            "--target", required=True, metavar="COLUMN",
            help="Column with the labels; rows whose cell here is empty, NA, NaN or null are "
            "unlabeled.",
        ),
        click.option(
            "--group", metavar="COLUMN",
            help="Column that says which rows belong together (of one patient, of one site): these "
            "are never split between training and test rows. It is not used as a feature.",
        ),
        click.option(
            "--drop", multiple=True, metavar="COLUMN", help="Do not use this column; repeatable."
        ),
        click.option(
            "--kind", "kinds", multiple=True, metavar="COLUMN=KIND", callback=_kinds,
            help="Read a column as number, category, boolean, date or text; repeatable.",
        ),
        click.option(
            "--unlabeled", multiple=True, metavar="TEXT", callback=_single,
            help="Text that marks a missing label, besides the empty cell.",
        ),
        click.option(
            "--dates", type=click.Choice(("dmy", "mdy", "ymd")),
            help="Order of day, month and year in dates such as 01/02/2020 or 01/02/03, which can "
            "be read in several ways.",
        ),
    )  # fmt: skip


def output(command: Command) -> Command:
    """Add --json and --quiet, passed as `output`; with -o - text goes to standard error."""

    @click.option("--json", is_flag=True, help="Print one JSON object, for scripts.")
    @click.option("--quiet", is_flag=True, help="Print no progress and no explanations.")
    @wraps(command)
    def with_output(*args: Any, json: bool, quiet: bool, **rest: Any) -> Any:
        to_stderr = rest.get("out") == "-"
        if to_stderr and json:
            raise click.UsageError(
                "--json and -o - both write to standard output; give -o a file, or omit --json."
            )
        from ._output import Output

        return command(*args, output=Output(json=json, quiet=quiet, to_stderr=to_stderr), **rest)

    return with_output


def splits(command: Command) -> Command:
    """Add --folds and --repeats."""
    command = click.option(
        "--repeats", type=click.IntRange(1, 1000), metavar="N",
        help="Repeats of the cross-validation. Default: 2 to 4, depending on the number of labels.",
    )(command)  # fmt: skip
    return click.option(
        "--folds", type=click.IntRange(2, 50), default=5, show_default=True, metavar="N",
        help="Folds of the cross-validation; fewer if a class has fewer labels.",
    )(command)  # fmt: skip


def seed(command: Command) -> Command:
    """Add --seed, for splits and samples."""
    return seed_of("splits and samples; the same seed gives the same numbers")(command)


def seed_of(what: str) -> Decorator:
    """Return a decorator that adds --seed; `what` is what the seed is for."""
    return click.option(
        "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, metavar="S",
        help=f"Random seed of {what}.",
    )  # fmt: skip


def jobs(command: Command) -> Command:
    """Add --jobs, by default one per core."""

    @click.option(
        "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Number of processes or threads; it does not change the results. Default: one per "
        "core.",
    )  # fmt: skip
    @wraps(command)
    def with_jobs(*args: Any, jobs: int | None, **rest: Any) -> Any:
        from joblib import cpu_count

        return command(*args, jobs=jobs or cpu_count(), **rest)

    return with_jobs


def examples(*lines: str) -> str:
    """Return the examples at the end of a help page."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
