"""``semisquares label``: label rows of a table on a page in the browser."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._utils.errors import UserError
from .._utils.words import counted
from . import _options as options
from ._options import Columns, Reading
from ._paths import FILE, STANDARD, checked_paths, is_single_file
from ._signals import Interrupt, SignalHandler

if TYPE_CHECKING:
    from ..labeling._journal import Journal
    from ..tables.labeling._page import LabelPage
    from ..tables.labeling._reading import LabelTable
    from ..tables.labeling._server import LabelServer
    from ._output import Output

ORDERS = ("suggested", "random", "file", "doubtful")
"""Those of `LabelingSession`, repeated here so that shells complete them without its imports."""
REVIEW = ORDERS[-1]
_MOMENT = 0.2
"""Seconds between looks at whether the page has ended the session."""
_NOT_WRITTEN = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")
"""Workbooks; their labels are written as .xlsx."""


@click.command(
    epilog=options.examples(
        "semisquares label churn.csv --target churned",
        "semisquares label photos.csv --target kind --class cat --class dog",
        "semisquares label visits.xlsx --target diagnosis --group patient -o labeled.xlsx",
        "semisquares label churn.csv --target churned --order random --no-browser",
        "semisquares label churn.csv --target churned --order doubtful",
        "semisquares label churn.csv --target churned --delete-journal",
    )
)
@click.argument("table", type=FILE)
@options.columns
@click.option(
    "-o", "--out", type=FILE, metavar="FILE",
    help="Table to write: a copy of TABLE with the labels. Default: the table's name with "
    ".labeled before its ending, in the current folder.",
)  # fmt: skip
@click.option(
    "--class", "classes", multiple=True, metavar="NAME",
    help="A class, even if no row has it yet; repeatable. You can add more on the page.",
)  # fmt: skip
@click.option(
    "--order", type=click.Choice(ORDERS), default="suggested", show_default=True,
    help="suggested: first the rows that tell the model most; random; file: as in the file. In all "
    "three, every fifth row is drawn at random, to measure the accuracy. doubtful: show the rows "
    "whose label the model doubts, to confirm or correct it.",
)  # fmt: skip
@click.option(
    "--show-guess", is_flag=True,
    help="Show what the model says before you answer. Default: after your answer, so that "
    "it does not influence you. With --order doubtful, the evidence is always shown.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N",
    help="Port of the page on this machine. Default: any free port.",
)  # fmt: skip
@click.option(
    "--delete-journal", is_flag=True,
    help="Delete the journal of an earlier session and exit; answers that are only there are "
    "written into the table first.",
)  # fmt: skip
@options.reading
@options.seed_of("the rows that are drawn at random")
@options.output
def label(
    table: str,
    columns: Columns,
    reading: Reading,
    output: Output,
    out: str | None,
    classes: tuple[str, ...],
    order: str,
    show_guess: bool,
    no_browser: bool,
    port: int,
    delete_journal: bool,
    seed: int,
) -> int:
    """Label rows of TABLE on a page in the browser, the most useful rows first.

    TABLE is a CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or Feather file, or a quoted
    pattern such as 'data/*.csv'. It is never changed: labels go to a copy, which is written when
    you finish or press Ctrl-C. Before the next row is shown, each answer is stored in a journal
    beside the copy (its name with .journal); the same command continues from there.

    The page can only be opened on this machine. It shows one row at a time, with a key for each
    class.

    With --order doubtful, it shows the labeled rows whose label is doubtful, as semisquares review
    finds them, the most doubtful first: confirm the label, or correct it.
    """
    out = _default_output(table) if out is None else out
    if out == STANDARD:
        raise UserError("-o - is standard output, beside which no journal can be; name a file.")
    with checked_paths(reads=[table], writes={"-o": out}):
        from ..labeling._journal import Journal
        from ..tables.io._formats import ending_of
        from ..tables.labeling._reading import read_label_table
        from ..tables.labeling._server import LabelServer
        from ._inputs import name_of, open_table

    ending_of(out, to_write=True)
    journal_path = Path(f"{out}.journal")
    if not journal_path.exists():
        _check_fresh(out, delete_journal)
    source = open_table(table, reading)
    with output.status(f"Reading {name_of(table)}"):
        found = read_label_table(
            source,
            columns.target,
            classes=classes,
            group=columns.group,
            kinds=columns.kinds,
            drop=columns.drop,
            unlabeled=columns.unlabeled,
            dates=columns.dates,
            missing=reading.missing,
            # the journal may hold labels of another class
            to_review=order == REVIEW and not journal_path.exists(),
        )
    for note in found.notes:
        output.warn(note)
    for name in classes:
        found.check_class(name)
    with Journal(journal_path, found.about()) as journal:
        page = _page(found, journal, out, name_of(table), classes, order, seed, show_guess)
        try:
            if delete_journal:
                _delete(output, page, journal)
                return 0
            server = LabelServer(page, port)
            return _serve(output, page, journal, server, open_browser=not no_browser)
        finally:
            if not page.session.n_records:
                journal.delete()


def _default_output(table: str) -> str:
    """Return the default name of the labeled table, in the current folder.

    Examples
    --------
    >>> _default_output("data/churn.csv.gz"), _default_output("visits.ods")
    ('churn.labeled.csv.gz', 'visits.labeled.xlsx')
    """
    if not is_single_file(table):
        raise UserError("The table is not a single file; name the file to write with -o.")
    name = Path(table).name
    stem, dot, ending = name.partition(".")
    if not stem:  # .hidden.csv
        stem, dot, ending = name, "", ""
    if name.lower().endswith(_NOT_WRITTEN):
        return f"{Path(name).stem}.labeled.xlsx"
    return f"{stem}.labeled{dot}{ending}"


def _check_fresh(out: str, delete_journal: bool) -> None:
    """Refuse to replace labels of which there is no journal, and to delete none."""
    if delete_journal:
        raise UserError(f"There is no journal {out}.journal; nothing was deleted.")
    if os.path.exists(out):
        raise UserError(
            f"{out} exists already, without a journal of a session that could be continued; give "
            "it as the table to add labels to it, or give -o another file."
        )


def _page(
    table: LabelTable,
    journal: Journal,
    out: str,
    name: str,
    classes: tuple[str, ...],
    order: str,
    seed: int,
    show_guess: bool,
) -> LabelPage:
    """Continue the session in a journal, or begin one."""
    from ..labeling._session import LabelingSession
    from ..labeling._updates import Updater
    from ..labeling._worker import WorkerProcess
    from ..tables.labeling._page import LabelPage

    session = LabelingSession(
        table.given,
        journal,
        classes=classes,
        order=order,
        seed=seed,
        biased=table.biased,
        reviewed=table.reviewed,
        check_class=table.check_class,
    )
    updater = Updater(session, WorkerProcess(table.X, table.groups))
    return LabelPage(table, session, updater, out=out, name=name, show_guess=show_guess)


def _serve(
    output: Output, page: LabelPage, journal: Journal, server: LabelServer, *, open_browser: bool
) -> int:
    """Serve the page until it is finished or a signal comes; then save."""
    handler = click.get_current_context().find_object(SignalHandler)
    assert handler is not None
    handler.message = lambda: (
        f"Stopped; all answers are in {journal.path}, and the same command continues."
    )
    code = 0
    try:
        page.updater.start()
        if not page.session.is_review or _find_doubts(output, page):
            server.start()
            _announce(output, page, journal, server, open_browser=open_browser)
            while not page.finished.wait(_MOMENT):
                pass
    except Interrupt:
        code = handler.exit_code if handler.signal == signal.SIGTERM else 0
    finally:
        page.updater.stop()
        server.stop()
    _end(output, page, journal)
    return code


def _find_doubts(output: Output, page: LabelPage) -> bool:
    """Wait for the labels to review; return whether there is any, and say so otherwise."""
    page.check_classes()
    with output.status(f"Reviewing {counted(page.session.n_labeled, 'label')}"):
        while not page.updater.wait(_MOMENT):
            pass
    if nothing := page.nothing_to_review():
        output.result(nothing)
    return not nothing


def _announce(
    output: Output, page: LabelPage, journal: Journal, server: LabelServer, *, open_browser: bool
) -> None:
    """Say where the page is, and open it."""
    if n_before := len(page.session.answers):
        output.info(f"Continuing with {counted(n_before, 'answer')} from {journal.path}.")
    as_json = bool(click.get_current_context().params.get("json"))
    click.echo(f"Label at {server.address}", err=as_json)
    output.info("Press Ctrl-C here, or finish on the page, to end.")
    if open_browser:
        click.launch(server.address)


def _end(output: Output, page: LabelPage, journal: Journal) -> None:
    """Save what is not saved, and say where it is."""
    session = page.session
    facts = {
        "labels": session.outcomes["label"],
        "confirmed": session.outcomes["confirmed"],
        "corrected": session.outcomes["corrected"],
        "counts": session.counts,
        "out": page.out if session.n_records else None,
        "journal": str(journal.path) if session.n_records else None,
    }
    if not session.n_records:
        what = "label was reviewed" if session.is_review else "row was labeled"
        output.info(f"No {what}; nothing was written.")
    else:
        _save(page)
        output.result(page.summary(), style=None)
        output.info(
            f"The journal {journal.path} is kept: the same command continues, and with "
            "--delete-journal it is deleted."
        )
    output.data(facts)


def _save(page: LabelPage) -> None:
    if not (page.session.is_saved and os.path.exists(page.out)):
        page.save()


def _delete(output: Output, page: LabelPage, journal: Journal) -> None:
    """Delete the journal when the table has all of its answers."""
    if page.session.n_records:
        _save(page)
        output.result(page.summary(), style=None)
    journal.delete()
    output.info(f"{journal.path} was deleted.")
    output.data({"out": page.out if page.session.n_records else None, "deleted": str(journal.path)})
