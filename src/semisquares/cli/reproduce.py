"""``semisquares reproduce``: run the paper's figures, and say how they compare."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .places import checked

if TYPE_CHECKING:
    from rich.console import Console

    from ..paper.figures.figure import Figure, Finding, Settings
    from .stopping import Stop

    _Plan = list[tuple[Figure, Settings]]

PRESETS = ("authors", "paper", "quick")
"""Those of the figures, here as well: a shell that completes them does not wait for imports."""

_CONTINUE = "Stopped; run the same command to continue."
_SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "dim")}
_PLAIN = {"✓": "yes:", "✗": "no:", "–": "open:"}
"""For a terminal, or a pipe, that has no such signs."""


@click.command(
    epilog=options.examples(
        "semisquares reproduce all --preset quick --out paper",
        "semisquares reproduce fig6 --datasets WDBC,Sonar --out wdbc",
    )
)
@click.argument("figures", nargs=-1, metavar="[FIGURE…|all]")
@click.option(
    "--preset",
    type=click.Choice(PRESETS),
    default="authors",
    show_default=True,
    help="What made the published figures; what the paper's text says; or a minute of work on the "
    "eight data sets that need no download.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder of the results; the same command continues what it holds.",
)
@click.option("--datasets", metavar="A,B", help="Only these data sets.")
@click.option("--repeats", type=click.IntRange(min=1), metavar="N", help="Instead of the preset's.")
@options.jobs
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="S")
@click.pass_obj
def reproduce(
    stop: Stop,
    figures: tuple[str, ...],
    preset: str,
    out: Path,
    datasets: str | None,
    repeats: int | None,
    jobs: int,
    seed: int,
) -> None:
    """Re-run the paper's figures, all of them if none is named.

    Ctrl-C or a kill loses no finished cell: the same command continues. How many processes work
    changes no number.
    """
    with checked():
        from ..paper import report  # noqa: F401
        from ..paper.runner import check
        from .talk import console_on

    console = console_on(sys.stdout)
    chosen = None if datasets is None else _data_names(datasets)
    wanted = _figures(figures)
    plan = _plan(wanted, preset, chosen, repeats=repeats, seed=seed)
    stop.sentence = lambda: _CONTINUE
    _load_all(plan)
    check(plan, out)
    for figure in wanted:
        if figure not in [planned for planned, _ in plan]:
            console.print(f"{figure.name} is left out: it uses none of these data sets\n")
    for figure, settings in plan:
        _run(stop, console, figure, settings, out, jobs)
    _report(console, out, _command(figures, preset, out, datasets, repeats, seed))


def _figures(names: tuple[str, ...]) -> list[Figure]:
    from ..paper import figures

    known = figures.FIGURES
    for name in names:
        if name not in known and name != "all":
            raise click.UsageError(f"No figure is called {name!r}; use {', '.join(known)}, or all.")
    everything = not names or "all" in names
    return [figure for name, figure in known.items() if everything or name in names]


def _data_names(text: str) -> tuple[str, ...]:
    from ..paper.datasets.catalogue import find

    try:
        names = [name for name in text.split(",") if name.strip()] or [text]
        return tuple(find(name).name for name in names)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _plan(
    figures: list[Figure],
    preset: str,
    chosen: tuple[str, ...] | None,
    *,
    repeats: int | None,
    seed: int,
) -> _Plan:
    """Settle what is run: figures without any of the chosen data sets are left out."""
    used = dict.fromkeys(name for figure in figures for name in figure.datasets.get(preset, ()))
    if unused := [name for name in chosen or () if name not in used]:
        names = ", ".join(figure.name for figure in figures)
        raise click.UsageError(
            f"Preset {preset} of {names} does not use {', '.join(unused)}; "
            + (f"it has {', '.join(used)}." if used else "leave --datasets out.")
        )
    plan = []
    for figure in figures:
        known = figure.datasets.get(preset)
        mine = tuple(name for name in known if name in chosen) if known and chosen else None
        if mine != ():
            settings = figure.settings(preset, datasets=mine, repeats=repeats, seed=seed)
            plan.append((figure, settings))
    return plan


def _load_all(plan: _Plan) -> None:
    """Load every data set once: what is missing is said before hours of work, not after."""
    from ..paper.datasets import load
    from ..paper.ledger import ReproduceError

    wanted = list(dict.fromkeys(name for _, settings in plan for name in settings.datasets))
    errors = {}
    for name in wanted:
        try:
            load(name)
        except (ImportError, OSError, ValueError) as error:
            errors[name] = error
    if errors:
        others = ",".join(name for name in wanted if name not in errors)
        reasons = "; ".join(str(error).rstrip(".") for error in errors.values())
        raise ReproduceError(
            f"Data that cannot be loaded: {', '.join(errors)} ({reasons}); get what is missing"
            + (f", or leave it out by --datasets {others}." if others else " first.")
        )


def _run(
    stop: Stop, console: Console, figure: Figure, settings: Settings, out: Path, jobs: int
) -> None:
    from .._utils.words import duration
    from ..paper.runner import run
    from .watch import Watch

    console.print(f"{figure.name}: {figure.title}", style="bold")
    sets = f"{', '.join(settings.datasets)}; " if settings.datasets else ""
    console.print(
        f"  {sets}repeats {settings.repeats}, preset {settings.preset}, seed {settings.seed}"
    )
    watch = Watch(console, figure.name)
    stop.sentence = lambda: (
        f"Stopped; {watch.done} of {watch.total} cells of {figure.name} are kept in {out}; "
        "run the same command to continue."
        if watch.total
        else _CONTINUE
    )
    with watch:
        table = run(figure, settings, out, jobs=jobs, progress=watch.hear)
    _print_findings(console, figure.findings(table))
    console.print(
        f"  {duration(watch.cpu_seconds)} of CPU time in all; table and plots are in "
        f"{out / figure.name}\n"
    )


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    for finding in findings:
        sign, style = _SIGNS[finding.holds]
        try:
            sign.encode(console.encoding)
        except UnicodeEncodeError:
            sign = _PLAIN[sign]
        console.print(f"  {sign} {finding.claim.rstrip('.')}: {finding.evidence}", style=style)


def _report(console: Console, out: Path, command: str) -> None:
    from ..paper import report

    console.print(f"Report: {report.write(out, command)}")


def _command(
    figures: tuple[str, ...],
    preset: str,
    out: Path,
    datasets: str | None,
    repeats: int | None,
    seed: int,
) -> str:
    """Return the command that makes the same numbers, for whoever reads the report."""
    words = ["semisquares", "reproduce", *(figures or ("all",)), "--preset", preset]
    words += ["--out", str(out), "--seed", str(seed)]
    words += [] if datasets is None else ["--datasets", datasets]
    words += [] if repeats is None else ["--repeats", str(repeats)]
    return shlex.join(words)
