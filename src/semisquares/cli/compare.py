"""``semisquares compare``: do the unlabeled rows of a table help?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .._utils.words import counted, percent, points
from . import NO, options
from .options import Columns, Reading
from .parameters import option
from .places import FILE, beside, checked, files_of

if TYPE_CHECKING:
    from rich.table import Table

    from ..tables.compare.comparison import Comparison, Estimate, Rival
    from .talk import Talk

_STYLES = {"yes": "bold green", "no": "bold", "unclear": "bold yellow"}
_SCORES = ("error", "gain, in points", "balanced acc.", "AUC", "squared loss")
_NAME, _GAP = 19, 2
"""Characters for the names, which are folded between words to so many, and between columns."""


@click.command(
    epilog=options.examples(
        "semisquares compare churn.csv --target churned",
        "semisquares compare 'visits/*.parquet' --target diagnosis --group patient",
        "semisquares compare churn.csv --target churned --check --quiet && echo worth it",
        "semisquares compare churn.csv --target churned --json | jq .verdict",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", type=FILE, metavar="FILE",
    help="The page to write; the table's name with .report.html if not given, - for standard "
    "output.",
)  # fmt: skip
@click.option("--no-report", is_flag=True, help="Write no page.")
@click.option("--check", is_flag=True, help="Exit code 1 unless the answer is yes.")
@options.splits
@options.reading
@options.seed
@options.jobs
@options.words
def compare(
    table: str,
    columns: Columns,
    reading: Reading,
    talk: Talk,
    out: str | None,
    no_report: bool,
    check: bool,
    folds: int,
    repeats: int | None,
    seed: int,
    jobs: int,
) -> int:
    """Say whether the unlabeled rows of TABLE help, and write a page about it.

    TABLE is a CSV, TSV, Parquet or Feather file, a quoted pattern such as 'data/*.csv', or - for
    standard input. Labels are in the target column; rows where it is empty are the unlabeled ones.

    Six classifiers are cross-validated on the labeled rows, with every unlabeled row in training.
    The verdict compares two of them that were named beforehand: soft labels whose ridge and whose
    use of unlabeled rows the labels choose, and the ridge classifier tuned on the labels alone.
    """
    named = beside(table, ".report.html") if out is None else out
    page = None if no_report else named
    with checked(reads=files_of(table), writes={"-o": page}, endings={"-o": ".html"}):
        from ..tables.compare import compare_table
        from .describe import describe
        from .inputs import read_prepared

        if page is not None:
            from ..tables.report import page as _  # noqa: F401

    prepared = read_prepared(talk, table, reading, columns)
    describe(talk, prepared)
    comparison = compare_table(
        prepared,
        folds=folds,
        repeats=repeats,
        seed=seed,
        jobs=jobs,
        stage=lambda what: talk.progress(what, "fits"),
    )
    _print(talk, comparison)
    words = [table, *columns.words(), *reading.words(), "--seed", str(seed), "--folds", str(folds)]
    words += [] if repeats is None else ["--repeats", str(repeats)]
    command = shlex.join(["semisquares", "compare", *words])
    if page is not None:
        _report(talk, comparison, page, command)
    talk.hand_over({**comparison.as_dict(), "report": page, "command": command})
    return NO if check and comparison.verdict.answer != "yes" else 0


def _report(talk: Talk, comparison: Comparison, out: str, command: str) -> None:
    from ..tables.report.page import render_comparison, write_comparison

    if out == "-":
        click.echo(render_comparison(comparison, command, write=option), nl=False)
        return
    with talk.busy(f"Writing {out}"):
        write_comparison(comparison, out, command, write=option)
    talk.say(f"Report: {out}")


def _print(talk: Talk, comparison: Comparison) -> None:
    verdict = comparison.verdict
    talk.answer(verdict.sentence, _STYLES[verdict.answer])
    for notice in comparison.notices:
        talk.warn(notice.text)
    _print_rivals(talk, comparison)
    talk.say(comparison.label_sentence)


def _print_rivals(talk: Talk, comparison: Comparison) -> None:
    """Print the rivals as rows: error, its gain over the tuned ridge, and the other scores."""
    from ..tables.compare.rivals import DECIDING

    first, second = (rival.label for rival in comparison.rivals if rival.name in DECIDING)
    talk.say(
        f"\n{comparison.folds} folds × {counted(comparison.repeats, 'repeat')}, 95 % intervals; "
        f"the verdict is about {first!r} and {second!r}",
        "dim",
    )
    rows = [(rival.label, _cells(rival)) for rival in comparison.rivals]
    n_shown = _n_fitting([cells for _, cells in rows], talk.width)
    table = _table(n_shown)
    for rival, (label, cells) in zip(comparison.rivals, rows, strict=True):
        table.add_row(label, *cells[:n_shown], style="bold" if rival.name in DECIDING else None)
    talk.say_table(table)
    for rival in comparison.rivals:
        if rival.failed:
            talk.say(f"{rival.label} failed: {rival.failed}")
    taken = ", ".join(
        f"{rival.label} {rival.seconds:.2g}" for rival in comparison.rivals if not rival.failed
    )
    talk.say(f"Seconds of a fit: {taken}.", "dim")
    if n_shown < len(_SCORES):
        talk.say(f"A wider terminal shows more: {'; '.join(_SCORES[n_shown:])}.", "dim")


def _table(n_shown: int) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in _SCORES[:n_shown]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _n_fitting(rows: Sequence[Sequence[str]], width: int) -> int:
    """Count the columns of numbers that fit beside the names; there is one at least."""
    left, count = width - _NAME, 0
    for i, name in enumerate(_SCORES):
        left -= _GAP + max(len(name), *(len(cells[i]) for cells in rows))
        count += left >= 0
    return max(1, count)


def _cells(rival: Rival) -> list[str]:
    if rival.failed:
        return ["failed", "", "", "", ""]
    scores = rival.scores
    gain = rival.gains.get("accuracy")
    return [
        percent(1 - scores["accuracy"].mean),
        "" if gain is None else _points(gain),
        percent(scores["balanced_accuracy"].mean),
        f"{scores['auc'].mean:.3f}",
        f"{scores['squared_loss'].mean:.3f}",
    ]


def _points(gain: Estimate) -> str:
    return f"{points(gain.mean)} ({points(gain.low)} to {points(gain.high)})"
