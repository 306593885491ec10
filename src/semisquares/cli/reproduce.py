"""``semisquares reproduce``: re-run the paper's figures and check its claims."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import _options as options
from ._paths import checked_paths

if TYPE_CHECKING:
    from rich.console import Console

    from ..paper.figures._figure import Figure, Finding, Settings
    from ._signals import SignalHandler

    _Plan = list[tuple[Figure, Settings]]

PRESETS = ("authors", "paper", "quick")
"""The presets of the figures, repeated here so that shells complete them without imports."""

_CONTINUE = "Stopped; run the same command to continue."
_SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "dim")}
_PLAIN = {"✓": "yes:", "✗": "no:", "–": "open:"}
"""For terminals and pipes that cannot encode the signs."""


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
    help="authors: the settings of the published figures; paper: those of the paper's text; quick: "
    "one minute, on the eight data sets that come with semisquares or scikit-learn.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder for the results; the same command continues a run that was stopped.",
)
@click.option("--datasets", metavar="A,B", help="Use only these data sets.")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    metavar="N",
    help="Repeats, instead of those of the preset.",
)
@options.jobs
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="S",
    help="Random seed.",
)  # fmt: skip
@click.pass_obj
def reproduce(
    handler: SignalHandler,
    figures: tuple[str, ...],
    preset: str,
    out: Path,
    datasets: str | None,
    repeats: int | None,
    jobs: int,
    seed: int,
) -> None:
    """Re-run the paper's figures, all of them if none is named.

    FIGURE is one of fig1 to fig6, ridge, fractions and rivals.

    Results are stored as they are computed: a run that was stopped or killed is continued by the
    same command.
    """
    with checked_paths():
        from ..paper import report
        from ..paper._runner import check
        from ._output import make_console

    console = make_console(sys.stdout)
    chosen = None if datasets is None else _data_names(datasets)
    wanted = _figures(figures)
    plan = _plan(wanted, preset, chosen, repeats=repeats, seed=seed)
    handler.message = lambda: _CONTINUE
    _load_all(plan)
    check(plan, out)
    for figure in wanted:
        if figure not in [planned for planned, _ in plan]:
            console.print(f"{figure.name} is skipped: it uses none of these data sets\n")
    for figure, settings in plan:
        _run(handler, console, figure, settings, out, jobs)
    arguments = options.arguments(
        ("--preset", preset), ("--out", out), ("--seed", seed),
        ("--datasets", datasets), ("--repeats", repeats),
    )  # fmt: skip
    command = shlex.join(["semisquares", "reproduce", *(figures or ("all",)), *arguments])
    console.print(f"Report: {report.write(out, command)}")


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
    """Return the figures to run, without those that use none of the chosen data sets."""
    used = dict.fromkeys(name for figure in figures for name in figure.datasets.get(preset, ()))
    if unused := [name for name in chosen or () if name not in used]:
        names = ", ".join(figure.name for figure in figures)
        raise click.UsageError(
            f"Preset {preset} of {names} does not use {', '.join(unused)}; "
            + (f"it uses {', '.join(used)}." if used else "omit --datasets.")
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
    """Load every data set once, to report missing ones before hours of work."""
    from ..paper import datasets
    from ..paper._ledger import ReproduceError

    wanted = list(dict.fromkeys(name for _, settings in plan for name in settings.datasets))
    errors = {}
    for name in wanted:
        try:
            datasets.load(name)
        except (ImportError, OSError, ValueError) as error:
            errors[name] = error
    if errors:
        others = ",".join(name for name in wanted if name not in errors)
        reasons = "; ".join(str(error).rstrip(".") for error in errors.values())
        raise ReproduceError(
            f"Cannot load {', '.join(errors)} ({reasons}); get what is missing"
            + (f", or omit it by --datasets {others}." if others else " first.")
        )


def _run(
    handler: SignalHandler,
    console: Console,
    figure: Figure,
    settings: Settings,
    out: Path,
    jobs: int,
) -> None:
    from .._utils.words import duration
    from ..paper._runner import run
    from ._progress import CellProgress

    console.print(f"{figure.name}: {figure.title}", style="bold")
    sets = f"{', '.join(settings.datasets)}; " if settings.datasets else ""
    console.print(
        f"  {sets}repeats {settings.repeats}, preset {settings.preset}, seed {settings.seed}"
    )
    cells = CellProgress(console, figure.name)
    handler.message = lambda: (
        f"Stopped; {cells.done} of {cells.total} cells of {figure.name} are kept in {out}; "
        "run the same command to continue."
        if cells.total
        else _CONTINUE
    )
    with cells:
        table = run(figure, settings, out, jobs=jobs, progress=cells.update)
    _print_findings(console, figure.findings(table))
    console.print(
        f"  {duration(cells.cpu_seconds)} of CPU time in all; table and plots are in "
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
