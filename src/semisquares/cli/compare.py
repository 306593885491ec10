"""``semisquares compare``: do the unlabeled rows of a table help?"""

from __future__ import annotations

import shlex

import click
from rich.table import Table

from ..tables.compare import compare_table
from ..tables.compare.comparison import Comparison, Estimate, Rival
from ..tables.compare.rivals import DECIDING
from . import NO, options
from .describe import describe
from .inputs import beside, read_prepared
from .options import Columns, Reading
from .talk import Talk

_STYLES = {"yes": "bold green", "no": "bold", "unclear": "bold yellow"}


@click.command(
    epilog=options.examples(
        "semisquares compare churn.csv --target churned",
        "semisquares compare 'visits/*.parquet' --target diagnosis --group patient",
        "semisquares compare churn.csv --target churned --check --quiet && echo worth it",
        "semisquares compare churn.csv --target churned --json | jq .verdict",
    )
)
@click.argument("table")
@options.columns
@click.option(
    "-o", "--out", metavar="FILE",
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
    path = None if no_report else _report(talk, comparison, out or beside(table, ".report.html"),
                                          command)  # fmt: skip
    talk.hand_over({**comparison.as_dict(), "report": path, "command": command})
    return NO if check and comparison.verdict.answer != "yes" else 0


def _report(talk: Talk, comparison: Comparison, out: str, command: str) -> str:
    from ..report.comparison import render_comparison, write_comparison

    if out == "-":
        click.echo(render_comparison(comparison, command), nl=False)
        return out
    with talk.busy(f"Writing {out}"):
        write_comparison(comparison, out, command)
    talk.say(f"Report: {out}")
    return out


def _print(talk: Talk, comparison: Comparison) -> None:
    verdict = comparison.verdict
    talk.answer(verdict.sentence, _STYLES[verdict.answer])
    for notice in comparison.notices:
        talk.warn(f"{notice.sentence} {notice.meaning}")
    talk.say()
    talk.say(
        f"{comparison.folds} folds × {comparison.repeats} repeats, 95 % intervals; the verdict is "
        "about the two in bold",
        "dim",
    )
    talk.say_table(_rivals(comparison))
    talk.say(comparison.label_sentence)


def _rivals(comparison: Comparison) -> Table:
    """Return the rivals as rows: error, its gain over the tuned ridge, and the other scores."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in ("error", "gain, in points", "balanced acc.", "AUC", "squared loss"):
        table.add_column(name, justify="right", no_wrap=True)
    for rival in comparison.rivals:
        bold = "bold" if rival.name in DECIDING else None
        table.add_row(rival.label, *_cells(rival), style=bold)
    return table


def _cells(rival: Rival) -> list[str]:
    if rival.failed:
        return [f"failed: {rival.failed}", "", "", "", ""]
    scores = rival.scores
    gain = rival.gains.get("accuracy")
    return [
        f"{100 * (1 - scores['accuracy'].mean):.1f} %",
        "" if gain is None else _points(gain),
        f"{100 * scores['balanced_accuracy'].mean:.1f} %",
        f"{scores['auc'].mean:.3f}",
        f"{scores['squared_loss'].mean:.3f}",
    ]


def _points(gain: Estimate) -> str:
    low, mean, high = (
        f"{100 * x:+.1f}".replace("-", "−") for x in (gain.low, gain.mean, gain.high)
    )
    return f"{mean} ({low} to {high})"
