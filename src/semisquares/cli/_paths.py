"""The files that a command reads and writes: checked before the work, listed if it is stopped."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations

import click

from .._utils.errors import UserError
from .._utils.words import os_error
from ._signals import SignalHandler

FILE = click.Path(readable=False)
"""A file name that shells complete and click does not check."""
STANDARD = "-"
_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))
"""What ends the name of a folder: on Windows, a slash as well as a backslash."""


def is_single_file(table: str) -> bool:
    """Tell whether a table is one file, not a pattern or standard input."""
    return table != STANDARD and (not glob.has_magic(table) or os.path.lexists(table))


@contextmanager
def checked_paths(
    reads: Sequence[str] = (),
    writes: Mapping[str, str | None] | None = None,
    endings: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Check where a command writes; then run its imports, which are the `with` block.

    `reads` are files, or patterns of files, that must not be overwritten. `writes` maps options to
    the files to write, `endings` those whose file is not a table to the usual ending of its name.
    After the block, a command that is stopped says which of its files have been written.
    """
    outputs = {option: path for option, path in (writes or {}).items() if path is not None}
    for option, path in outputs.items():
        _check_writable(option, path)
    _check_distinct(reads, outputs)
    before = {path: _state(path) for path in outputs.values()}
    yield
    handler = click.get_current_context().find_object(SignalHandler)
    assert handler is not None
    handler.message = lambda: _stop_message(before)
    handler.importing = False
    for option, ending in (endings or {}).items():
        _check_ending(option, outputs.get(option, STANDARD), ending)


def _check_writable(option: str, path: str) -> None:
    """Raise UserError if a file cannot be written; create nothing."""
    if not path:
        raise UserError(f"{option} '' is empty; give the name of a file.")
    if path.endswith(_SEPARATORS) or os.path.isdir(path):
        raise UserError(f"{option} {path!r} is a folder; give the name of a file in it.")
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)  # fails if the name is too long or a link is circular
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if _is_file(path):
            folder = os.path.dirname(os.path.realpath(path))
            while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
            if not os.path.isdir(folder):  # a file, or a drive that Windows does not have
                raise UserError(
                    f"{folder} is not a folder, so no file can be in it; choose another place."
                )
            with tempfile.TemporaryFile(dir=folder):  # permissions alone do not tell
                pass
    except OSError as error:
        what = os_error(error, "writing", f"{option} {path!r}")
        raise UserError(f"{what}; choose another place.") from None


def _check_distinct(reads: Sequence[str], outputs: Mapping[str, str]) -> None:
    """Raise UserError if a file would be both read and written, or written twice."""
    patterns = [name for name in reads if not os.path.lexists(name)]
    inputs = [*reads, *(path for name in patterns for path in glob.glob(name, recursive=True))]
    for option, path in outputs.items():
        if any(_is_same_file(path, other) for other in inputs):
            raise UserError(
                f"{option} {path!r} is a file that the command reads; give it another name."
            )
    for (first, path), (second, other) in combinations(outputs.items(), 2):
        if _is_same_file(path, other):
            raise UserError(f"{first} and {second} both name {other!r}; give each its own file.")


def _check_ending(option: str, path: str, ending: str) -> None:
    """Raise UserError if a file that is not a table is named like one: it may replace a table."""
    from ..tables.io import names_table

    if names_table(path):
        raise UserError(
            f"{option} {path!r} is the name of a table, but no table is written there; end it in "
            f"{ending}."
        )


def _is_file(path: str) -> bool:
    """Tell a regular file, existing or not, from a device, a pipe or a standard stream."""
    return path != STANDARD and (os.path.isfile(path) or not os.path.exists(path))


def _is_same_file(a: str, b: str) -> bool:
    try:
        return _is_file(a) and _is_file(b) and os.path.samefile(a, b)
    except OSError:  # one does not exist
        return _normal(a) == _normal(b)


def _normal(path: str) -> str:
    """Return a path without links; on Windows, where A and a are one file, in lower case."""
    return os.path.normcase(os.path.realpath(path))


def _state(path: str) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced, or None if it does not exist."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
    return None


def _stop_message(before: Mapping[str, tuple[int, ...] | None]) -> str:
    """Say which files are no longer as they were `before`."""
    files = [path for path in before if _is_file(path)]
    streams = ["standard output" if p == STANDARD else p for p in before if p not in files]
    written = [path for path in files if _state(path) != before[path]]
    parts = [f"{' and '.join(streams)} may be incomplete"] if streams else []
    if written:
        verb = "was" if len(written) == 1 else "were"
        missing = "".join(f", {path} was not" for path in files if path not in written)
        parts.append(f"{' and '.join(written)} {verb} written{missing}")
    return f"Stopped; {'; '.join(parts) or 'nothing was written'}."
