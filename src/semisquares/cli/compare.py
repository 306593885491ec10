"""``semisquares compare``: which classifier suits a table, and do its unlabeled rows help?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._utils.words import counted, percent, points
from . import NO
from . import _options as options
from ._options import Columns, Reading
from ._parameters import in_options, option
from ._paths import FILE, STANDARD, checked_paths, is_single_file

if TYPE_CHECKING:
    from rich.table import Table

    from ..tables.compare.comparison import Comparison, Estimate, Rival
    from ._output import Output

_STYLES = {"yes": "bold green", "no": "bold", "unclear": "bold yellow", "none": "bold"}
_SCORES = ("error", "points better", "balanced acc.", "AUC", "squared loss")
MOST_SUGGESTED = 1_000
"""The most rows that `semisquares suggest` suggests."""
_NAME, _GAP = 19, 2
"""Characters per line of the names, which wrap between words, and between columns."""


@click.command(
    epilog=options.examples(
        "semisquares compare churn.csv --target churned",
        "semisquares compare churn.csv --target churned --quick --no-report",
        "semisquares compare 'visits/*.parquet' --target diagnosis --group patient",
        "semisquares compare churn.csv --target churned --check --quiet && echo worth it",
        "semisquares compare churn.csv --target churned --json | jq .recommendation.method",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", type=FILE, metavar="FILE",
    help="HTML report to write, or - for standard output. Default: the table's name with "
    ".report.html, in the current folder.",
)  # fmt: skip
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--quick", is_flag=True,
    help="Compare only the averaged classifier, the tuned ridge and logistic regression, with "
    "at most three folds, one repeat and no learning curves.",
)  # fmt: skip
@click.option(
    "--check", is_flag=True, help="Exit with code 1 unless the unlabeled rows clearly help."
)
@options.splits
@options.reading
@options.seed
@options.jobs
@options.output
def compare(
    table: str,
    columns: Columns,
    reading: Reading,
    output: Output,
    out: str | None,
    no_report: bool,
    quick: bool,
    check: bool,
    folds: int,
    repeats: int | None,
    seed: int,
    jobs: int,
) -> int:
    """Find out which classifier suits TABLE and what its unlabeled rows are worth.

    TABLE is a CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or Feather file, a quoted pattern
    such as 'data/*.csv', or - for standard input. Labels are in the target column; rows whose cell
    there is empty are unlabeled.

    Seven classifiers are cross-validated on the labeled rows; unlabeled rows are only used for
    training. The first answer names the one to use: the averaged classifier, unless another is
    better by more than chance. The second compares the averaged classifier with the same one
    learned from the labeled rows alone. An HTML report has the details.
    """
    page = None if no_report else out if out is not None else _default_report(table)
    with checked_paths(reads=[table], writes={"-o": page}, endings={"-o": ".html"}):
        from ..tables.compare import compare_table
        from ._describe import describe
        from ._inputs import read_prepared

        if page is not None:
            from ..tables.report import _page as _  # noqa: F401

    prepared = read_prepared(output, table, reading, columns)
    describe(output, prepared)
    comparison = compare_table(
        prepared,
        quick=quick,
        folds=folds,
        repeats=repeats,
        seed=seed,
        jobs=jobs,
        stage=lambda what: output.progress(what, "steps"),
    )
    given = [*columns.arguments(), *reading.arguments()]
    next_command = _next_command(table, comparison, given)
    _print(output, comparison, next_command)
    splits = options.arguments(("--seed", seed), ("--folds", folds), ("--repeats", repeats))
    arguments = [*given, *splits, *["--quick"] * quick]
    command = shlex.join(["semisquares", "compare", table, *arguments])
    if page is not None:
        _report(output, comparison, page, command, next_command)
    found = comparison.as_dict() | {"report": page, "command": command, "next": next_command}
    output.data(found)
    return NO if check and comparison.verdict.answer != "yes" else 0


def _default_report(table: str) -> str:
    """Return the default name of the report, in the current folder.

    Examples
    --------
    >>> _default_report("data/churn.csv.gz"), _default_report("-")
    ('churn.report.html', 'report.html')
    """
    if not is_single_file(table):
        return "report.html"
    return Path(table).name.partition(".")[0] + ".report.html"


def _next_command(table: str, comparison: Comparison, given: Sequence[str]) -> str | None:
    """Return the command that suggests rows to label, if more labels would settle the answer."""
    more = comparison.verdict.more_labels
    if more is None or table == STANDARD:
        return None
    number = min(more, comparison.n_unlabeled, MOST_SUGGESTED)
    words = ["suggest", table, *given, "-n", str(number), "-o", "to_label.csv"]
    return shlex.join(["semisquares", *words])


def _report(
    output: Output, comparison: Comparison, out: str, command: str, next_command: str | None
) -> None:
    from ..tables.report._page import render_comparison, write_comparison

    if out == "-":
        click.echo(render_comparison(comparison, command, next_command, write=option), nl=False)
        return
    with output.status(f"Writing {out}"):
        write_comparison(comparison, out, command, next_command, write=option)
    output.info(f"Report: {out}")


def _print(output: Output, comparison: Comparison, next_command: str | None) -> None:
    found, verdict = comparison.recommendation, comparison.verdict
    output.result(in_options(found.sentence), "bold green" if found.clear else "bold")
    output.result(in_options(verdict.sentence), _STYLES[verdict.answer])
    if next_command is not None:
        output.info(f"Rows to label: {next_command}")
    for notice in comparison.notices:
        output.warn(notice.text)
    _print_rivals(output, comparison)
    if comparison.label_sentence:
        output.info(comparison.label_sentence)


def _print_rivals(output: Output, comparison: Comparison) -> None:
    """Print a row for each rival: error, gain over the averaged classifier, other scores."""
    quick = "; a quick comparison" if comparison.quick else ""
    output.info(
        f"\n{comparison.folds} folds × {counted(comparison.repeats, 'repeat')}, 95 % intervals; "
        f"points better than the averaged classifier{quick}",
        "dim",
    )
    rows = [(rival.label, _cells(rival)) for rival in comparison.rivals]
    n_shown = _n_fitting([cells for _, cells in rows], output.console.width)
    table = _table(n_shown)
    for rival, (label, cells) in zip(comparison.rivals, rows, strict=True):
        is_chosen = rival.name == comparison.recommendation.method
        table.add_row(label, *cells[:n_shown], style="bold" if is_chosen else None)
    output.info(table)
    output.info()
    for rival in comparison.rivals:
        if rival.failed:
            output.info(f"{rival.label} failed: {rival.failed}")
    taken = ", ".join(
        f"{rival.label} {rival.seconds:.2g}" for rival in comparison.rivals if not rival.failed
    )
    output.info(f"Seconds per fit: {taken}.", "dim")
    if n_shown < len(_SCORES):
        output.info(f"A wider terminal shows more: {'; '.join(_SCORES[n_shown:])}.", "dim")


def _table(n_shown: int) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in _SCORES[:n_shown]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _n_fitting(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many columns of numbers fit beside the names; at least one."""
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
