"""Run a figure: compute the cells that are missing, keep each, then write the table and the plots.

A cell depends on the settings and its own name alone, and every process has one BLAS thread:
neither the number of processes, nor the order in which they finish, nor how often the run was
killed and begun again can be seen in the table.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from pathlib import Path

from .._utils.files import make_folder
from .._utils.messages import Parameter
from .._utils.processes import parallel_map
from .._utils.words import os_error
from .figures.figure import Figure, Settings, Table
from .ledger import Ledger, Record, ReproduceError, pack
from .store import read_record, read_table, versions, write_plots, write_table

__all__ = ["CellError", "Progress", "check", "run"]

Progress = Callable[[int, int, float], None]
"""Hears of the cells done, of how many, and the CPU seconds that they took."""

_Done = tuple[str, bytes, float]  # the name of a cell, the cell packed, its CPU seconds


class CellError(RuntimeError):
    """A cell raised an error, its cause: a fault in the code, not of the user."""


def run(
    figure: Figure,
    settings: Settings,
    out: str | Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total, cpu_seconds: None,
) -> Table:
    """Compute a figure into a folder, or what is still missing of it there.

    Parameters
    ----------
    figure : Figure
    settings : Settings
        Of that figure. The folder may not hold it with other ones.
    out : path
        Holds the ledger of all cells, and a folder for each figure.
    jobs : int, default=1
        Number of processes; 1 computes in this one.
    progress : callable, optional
        Called as ``progress(done, total, cpu_seconds)`` at the start and after each cell, with the
        cells and seconds of earlier runs counted.

    Returns
    -------
    table : Table
        As read from the folder.
    """
    out = Path(out)
    with _opened(out) as ledger:
        record = _agreed(figure, settings, out, ledger)
        cells = figure.cells(settings)
        _compute_missing(figure, settings, cells, ledger, jobs=jobs, progress=progress)
        results = ledger.results(figure.name)
        table = figure.tabulate(settings, {cell: results[cell] for cell in cells})
        write_table(table, out / figure.name, made_with=record.versions)
        table = read_table(out / figure.name)
        write_plots(figure, table, out / figure.name)
    return table


def check(wanted: Iterable[tuple[Figure, Settings]], out: str | Path) -> None:
    """Raise ReproduceError where `run` would refuse, for any of the figures; change no table."""
    with _opened(Path(out)) as ledger:
        for figure, settings in wanted:
            _agreed(figure, settings, Path(out), ledger, note=False)


def _opened(out: Path) -> Ledger:
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
        raise ReproduceError(
            "{path} is there and was not written by semisquares reproduce; give another folder "
            "({out}), or move it away.",
            code="not_ours",
            path=report,
            out=Parameter("out"),
        )
    return Ledger(ledger)


def _agreed(
    figure: Figure, settings: Settings, out: Path, ledger: Ledger, *, note: bool = True
) -> Record:
    """Return what the figure in `out` is made with; refuse to mix it with something else."""
    now = Record(json.loads(json.dumps(settings.as_dict())), versions())
    noted = ledger.record(figure.name)
    folder = out / figure.name
    known = noted or read_record(folder)
    if known is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ReproduceError(
            "{path} is there and was not written by semisquares reproduce; give another folder "
            "({out}), or move it away.",
            code="not_ours",
            path=folder,
            out=Parameter("out"),
        )
    found = known or now
    if changes := _changes(found.settings, now.settings):
        raise ReproduceError(
            "{folder} holds {figure} with other settings: {changes}; give the settings that it "
            "has, or another folder ({out}).",
            code="other_settings",
            folder=out,
            figure=figure.name,
            changes=changes,
            out=Parameter("out"),
        )
    missing = set(figure.cells(settings)) - set(ledger.cells(figure.name))
    if missing and (changes := _changes(found.versions, now.versions)):
        raise ReproduceError(
            "{folder} holds {figure} as computed by other versions: {changes}; use those "
            "versions, or another folder ({out}).",
            code="other_versions",
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
    """Compute cells that the ledger does not have, and store each as soon as it is there."""
    kept = ledger.cells(figure.name)
    missing = [cell for cell in cells if cell not in kept]
    done, cpu_seconds = _so_far(figure, cells, ledger)
    progress(done, len(cells), cpu_seconds)
    jobs = min(jobs, len(missing))
    compute = partial(_compute_far if jobs > 1 else _compute, figure, settings)
    try:
        with closing(parallel_map(compute, missing, jobs=jobs)) as results:
            for result in results:
                if isinstance(result, CellError):
                    raise result
                cell, payload, seconds = result
                ledger.store(figure.name, cell, payload, seconds)
                done, cpu_seconds = done + 1, cpu_seconds + seconds
                progress(done, len(cells), cpu_seconds)
    except KeyboardInterrupt:
        done, cpu_seconds = _so_far(figure, cells, ledger)
        progress(done, len(cells), cpu_seconds)  # a cell may have been kept, and nobody told
        raise
    except BrokenProcessPool as error:
        raise ReproduceError(
            "A process that computed {figure} was killed, perhaps for want of memory; {done} of "
            "{total} cells are kept in {folder}, so run the same command to continue, with fewer "
            "{jobs} if memory is short.",
            code="killed",
            figure=figure.name,
            done=done,
            total=len(cells),
            folder=ledger.path.parent,
            jobs=Parameter("jobs"),
        ) from error


def _so_far(figure: Figure, cells: list[str], ledger: Ledger) -> tuple[int, float]:
    kept = ledger.cells(figure.name)
    seconds = [kept[cell] for cell in cells if cell in kept]
    return len(seconds), sum(seconds)


def _compute(figure: Figure, settings: Settings, cell: str) -> _Done:
    start = time.process_time()
    try:
        payload = pack(figure.compute_cell(settings, cell))
    except Exception as error:
        raise CellError(f"Cell {cell!r} of {figure.name} failed; other cells are kept.") from error
    return cell, payload, time.process_time() - start


def _compute_far(figure: Figure, settings: Settings, cell: str) -> _Done | CellError:
    """Compute a cell for another process; the error is a result, as it must not overtake others.

    joblib raises an error at once, and forgets the cells that were done before it.
    """
    try:
        return _compute(figure, settings, cell)
    except CellError as error:
        error.add_note("".join(traceback.format_exception(error.__cause__)))  # a cause is not sent
        return error
