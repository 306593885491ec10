"""The files that a command reads and writes: looked at before its work, and named if it stops."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from .._utils.errors import UserError
from .._utils.words import os_error
from .stopping import Stop

__all__ = ["FILE", "beside", "checked", "files_of"]

FILE = click.Path(readable=False)
"""A name of a file, for shells that complete it; what is wrong with it is said elsewhere."""
STANDARD = "-"


@contextmanager
def checked(
    *,
    reads: Sequence[str] = (),
    writes: Mapping[str, str | None] | None = None,
    endings: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Check where a command is to write, then let it import what it needs, and begin its work.

    From its end on, a command that is stopped says which of its files have been written.

    Parameters
    ----------
    reads : sequence of str
        The files to read; none of them may be written to.
    writes : mapping
        From options to the files to write; None where an option is not given.
    endings : mapping
        From options whose file is no table to how its name may end; the name of a table is refused.
    """
    outputs = {option: path for option, path in (writes or {}).items() if path is not None}
    for option, path in outputs.items():
        _check_writable(option, path)
    _check_apart(reads, outputs)
    before = {path: _state(path) for path in outputs.values()}
    yield
    stop = click.get_current_context().obj
    assert isinstance(stop, Stop)
    stop.sentence = lambda: _kept(before)
    stop.loading = False
    _check_no_tables(outputs, endings or {})


def files_of(table: str) -> list[str]:
    """Return the files that a table is read from: one, those of a pattern, or standard input.

    Examples
    --------
    >>> files_of("-"), files_of("data/churn.csv")
    (['-'], ['data/churn.csv'])
    """
    return sorted(glob.glob(table, recursive=True)) if _is_pattern(table) else [table]


def beside(table: str, ending: str) -> str:
    """Return the name of a file in the current folder that belongs to a table.

    Examples
    --------
    >>> beside("data/churn.csv.gz", ".report.html"), beside("-", ".report.html")
    ('churn.report.html', 'report.html')
    """
    if table == STANDARD or _is_pattern(table):
        return ending.removeprefix(".")
    return Path(table).name.partition(".")[0] + ending


def _is_pattern(table: str) -> bool:
    return glob.has_magic(table) and not os.path.lexists(table)


# -- before the work ------------------------------------------------------------------------------


def _check_writable(option: str, path: str) -> None:
    """Raise UserError if a file cannot be written; leave nothing behind."""
    if path == STANDARD:
        return
    try:
        if not path or path.endswith(os.sep) or os.path.isdir(path):
            what = "is a folder; give the name of a file in it" if path else "names no file"
            raise UserError(f"{option} {path!r} {what}.")
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)  # a name can be too long, a link can lead to itself
        if os.path.exists(path) and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if _is_file_to_be(path):
            _check_folder(os.path.dirname(os.path.realpath(path)))
    except OSError as error:
        what = os_error(error, "writing", f"{option} {path!r}")
        raise UserError(f"{what}; choose another place.") from None


def _check_folder(folder: str) -> None:
    """Raise UserError or OSError if no file can be made in a folder, which may be new itself."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise UserError(f"{folder} is not a folder, so no file can be in it; choose another place.")
    with tempfile.TemporaryFile(dir=folder):  # more than permissions decides
        pass


def _check_apart(reads: Sequence[str], outputs: Mapping[str, str]) -> None:
    """Raise UserError if a file is to be written that is read, or that is written already."""
    seen: list[tuple[str, str]] = []
    for option, path in outputs.items():
        if any(_same(path, other) for other in reads):
            raise UserError(
                f"{option} {path!r} is a file that the command reads; give it another name."
            )
        for other_option, other in seen:
            if _same(path, other):
                raise UserError(
                    f"{other_option} and {option} both name {path!r}; give each its own file."
                )
        seen.append((option, path))


def _check_no_tables(outputs: Mapping[str, str], endings: Mapping[str, str]) -> None:
    """Raise UserError if what is no table is to be written to a name of a table.

    People give such a name by mistake, and may have a table there.
    """
    for option, ending in endings.items():
        if (path := outputs.get(option)) is not None and _names_table(path):
            raise UserError(
                f"{option} {path!r} is the name of a table, and what is written there is none; end "
                f"it in {ending}."
            )


def _names_table(path: str) -> bool:
    """Tell whether a name ends like that of a table, or of a workbook of tables."""
    from ..tables.formats.format import COMPRESSIONS, ENDINGS, FOREIGN

    rest, ending = os.path.splitext(path.lower())
    if ending in COMPRESSIONS:
        ending = os.path.splitext(rest)[1]
    return ending in ENDINGS or FOREIGN.get(ending) in ("an Excel workbook", "a spreadsheet")


def _same(a: str, b: str) -> bool:
    """Tell whether two names are of one file; a device may well be named twice."""
    if STANDARD in (a, b) or not (_is_file_to_be(a) and _is_file_to_be(b)):
        return False
    try:
        return os.path.samefile(a, b)
    except OSError:  # one is not there
        return os.path.realpath(a) == os.path.realpath(b)


def _is_file_to_be(path: str) -> bool:
    """Tell an ordinary file, there already or not, from a device or a pipe."""
    return os.path.isfile(path) or not os.path.exists(path)


# -- when it is stopped ---------------------------------------------------------------------------


def _state(path: str) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced, or None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _kept(before: Mapping[str, tuple[int, ...] | None]) -> str:
    """Say which files have been written."""
    through = [path for path in before if path == STANDARD or not _is_file_to_be(path)]
    files = [path for path in before if path not in through]
    written = [path for path in files if _state(path) != before[path]]
    missing = [path for path in files if path not in written]
    if through:
        names = " and ".join("standard output" if path == STANDARD else path for path in through)
        return f"Stopped; what {names} got may be incomplete{_also(written)}."
    if not written:
        return "Stopped; nothing was written."
    return f"Stopped{_also(written)}" + "".join(f", {path} was not" for path in missing) + "."


def _also(written: Sequence[str]) -> str:
    verb = "was" if len(written) == 1 else "were"
    return f"; {' and '.join(written)} {verb} written" if written else ""
