"""Run a figure: compute and store the missing cells, then write the table and the plots.

A cell depends only on the settings and its name, and every process has one BLAS thread. The table
is therefore the same for any number of processes, in whatever order they finish, and however often
the run was interrupted.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

from .._utils.files import make_folder
from .._utils.messages import Parameter
from .._utils.processes import parallel_map
from .._utils.words import os_error
from ._ledger import Ledger, Record, ReproduceError, pack
from ._store import read_record, read_table, versions, write_plots, write_table
from .figures._figure import Figure, Settings, Table

__all__ = ["FailedCell", "Progress", "check", "run"]

Progress = Callable[[int, int, float], None]
"""Called as ``progress(done, total, cpu_seconds)``."""

OTHER_SETTINGS = (
    "{folder} holds {figure} with other settings: {changes}; give the settings that it has, or "
    "another folder ({out})."
)
OTHER_VERSIONS = (
    "{folder} holds {figure} as computed by other versions: {changes}; use those versions, or "
    "another folder ({out})."
)

_FinishedCell = tuple[str, bytes, float]  # the name of a cell, the cell packed, its CPU seconds


class FailedCell(RuntimeError):
    """A cell raised an error (the cause): this is a bug, not a mistake of the user."""


def run(
    figure: Figure,
    settings: Settings,
    out: str | Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total, cpu_seconds: None,
) -> Table:
    """Compute a figure in a folder, or the part of it that is missing there.

    Parameters
    ----------
    figure : Figure
    settings : Settings
        The settings of the figure; the folder must not hold it with other settings.
    out : path
        The folder for the ledger of all cells and one subfolder per figure.
    jobs : int, default=1
        Number of processes; 1 computes in this one.
    progress : callable, optional
        Called as ``progress(done, total, cpu_seconds)`` at the start and after each cell; cells
        and seconds of earlier runs are included.

    Returns
    -------
    table : Table
        Read back from the folder.
    """
    out = Path(out)
    with _open_ledger(out) as ledger:
        record = _check_record(figure, settings, out, ledger)
        cells = figure.cells(settings)
        _compute_missing(figure, settings, cells, ledger, jobs=jobs, progress=progress)
        results = ledger.results(figure.name)
        table = figure.tabulate(settings, {cell: results[cell] for cell in cells})
        write_table(table, out / figure.name, made_with=record.versions)
        table = read_table(out / figure.name)
        write_plots(figure, table, out / figure.name)
    return table


def check(wanted: Iterable[tuple[Figure, Settings]], out: str | Path) -> None:
    """Raise ReproduceError if `run` would refuse any of the figures, without changing a table."""
    with _open_ledger(Path(out)) as ledger:
        for figure, settings in wanted:
            _check_record(figure, settings, Path(out), ledger, note=False)


def _open_ledger(out: Path) -> Ledger:
    try:
        make_folder(out)
    except OSError as error:
        raise ReproduceError(
            "{what}; give another one ({out}).",
            code="folder",
            what=os_error(error, "making the folder", str(out)),
            out=Parameter("out"),
        ) from error
    ledger, report = out / "ledger.sqlite", out / "report.html"
    if report.exists() and not ledger.exists() and not any(out.glob("*/settings.json")):
        raise _not_ours(report)
    return Ledger(ledger)


def _not_ours(path: Path) -> ReproduceError:
    return ReproduceError(
        "{path} exists and was not written by semisquares reproduce; give another folder ({out}), "
        "or move it away.",
        code="not_ours",
        path=path,
        out=Parameter("out"),
    )


def _check_record(
    figure: Figure, settings: Settings, out: Path, ledger: Ledger, *, note: bool = True
) -> Record:
    """Return the record of the figure in `out`; refuse to mix settings or versions."""
    now = Record(json.loads(json.dumps(asdict(settings))), versions())
    noted = ledger.record(figure.name)
    folder = out / figure.name
    known = noted or read_record(folder)
    if known is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _not_ours(folder)
    found = known or now
    compared = [(OTHER_SETTINGS, "other_settings", found.settings, now.settings)]
    if set(figure.cells(settings)) - set(ledger.cells(figure.name)):
        compared.append((OTHER_VERSIONS, "other_versions", found.versions, now.versions))
    for sentence, code, was, is_now in compared:
        if changes := _changes(was, is_now):
            raise ReproduceError(
                sentence,
                code=code,
                folder=out,
                figure=figure.name,
                changes=changes,
                out=Parameter("out"),
            )
    if note and noted is None:
        ledger.begin(figure.name, found)
    return found


def _changes(was: Mapping[str, object], now: Mapping[str, object]) -> str:
    def text(value: object) -> str:
        return (",".join(value) or "none") if isinstance(value, list) else str(value)

    return ", ".join(
        f"{name} was {text(was.get(name))} and is now {text(now.get(name))}"
        for name in {**was, **now}
        if was.get(name) != now.get(name)
    )


def _compute_missing(
    figure: Figure,
    settings: Settings,
    cells: list[str],
    ledger: Ledger,
    *,
    jobs: int,
    progress: Progress,
) -> None:
    """Compute the cells that the ledger does not have, and store each when it is done."""
    kept = ledger.cells(figure.name)
    missing = [cell for cell in cells if cell not in kept]
    done, cpu_seconds = _stored_so_far(figure, cells, ledger)
    progress(done, len(cells), cpu_seconds)
    jobs = min(jobs, len(missing))
    compute = partial(_compute_remotely if jobs > 1 else _compute, figure, settings)
    try:
        with closing(parallel_map(compute, missing, jobs=jobs)) as results:
            for result in results:
                if isinstance(result, FailedCell):
                    raise result
                cell, payload, seconds = result
                ledger.store(figure.name, cell, payload, seconds)
                done, cpu_seconds = done + 1, cpu_seconds + seconds
                progress(done, len(cells), cpu_seconds)
    except KeyboardInterrupt:
        done, cpu_seconds = _stored_so_far(figure, cells, ledger)
        progress(done, len(cells), cpu_seconds)  # a cell may have been stored without a call
        raise
    except BrokenProcessPool as error:
        raise ReproduceError(
            "A process that computed {figure} was killed, perhaps because memory ran out; {done} "
            "of {total} cells are kept in {folder}, so run the same command to continue, with "
            "fewer {jobs} if memory is short.",
            code="killed",
            figure=figure.name,
            done=done,
            total=len(cells),
            folder=ledger.path.parent,
            jobs=Parameter("jobs"),
        ) from error


def _stored_so_far(figure: Figure, cells: list[str], ledger: Ledger) -> tuple[int, float]:
    kept = ledger.cells(figure.name)
    seconds = [kept[cell] for cell in cells if cell in kept]
    return len(seconds), sum(seconds)


def _compute(figure: Figure, settings: Settings, cell: str) -> _FinishedCell:
    start = time.process_time()
    try:
        payload = pack(figure.compute_cell(settings, cell))
    except Exception as error:
        raise FailedCell(f"Cell {cell!r} of {figure.name} failed; other cells are kept.") from error
    return cell, payload, time.process_time() - start


def _compute_remotely(figure: Figure, settings: Settings, cell: str) -> _FinishedCell | FailedCell:
    """Compute a cell for another process; return an error instead of raising it.

    joblib would raise it at once, and lose the cells that were finished before it.
    """
    try:
        return _compute(figure, settings, cell)
    except FailedCell as error:
        # the cause is not pickled, so add it as text
        error.add_note("".join(traceback.format_exception(error.__cause__)))
        return error
