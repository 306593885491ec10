"""A temporary folder, for chunks of a table and for the content of a pipe."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..._utils.files import is_alive
from ..._utils.words import os_error
from ..errors import TableError

_PREFIX = f"semisquares-{socket.gethostname()}-"
_RESERVE = 1.25
"""Space that chunks need, as a multiple of the table: text and Parquet exist at the same time."""


class TemporaryFolder:
    """A folder that nobody else may read, made when the first file is put into it.

    It is removed with this object or when Python exits; if the process is killed, the next one that
    makes such a folder in the same place removes it. A copy in another process removes nothing.

    Parameters
    ----------
    parent : str, optional
        Where to make it; the system's folder for temporary files (TMPDIR) by default.
    n_bytes : int, default=0
        The size of the table whose chunks it is for, to check the free space.
    """

    def __init__(self, parent: str | None = None, n_bytes: int = 0) -> None:
        self._parent, self._n_bytes = parent, n_bytes
        self._path: str | None = None
        self._last: str | None = None
        self._n_files = 0

    def new_path(self, ending: str) -> str:
        """Return the path of a new file; TableError if one as large as the last does not fit."""
        if self._path is None:
            self._path = self._made()
        elif self._last is not None and os.path.exists(self._last):
            self._check_space(self._path, 2 * os.path.getsize(self._last))
        self._n_files += 1
        self._last = os.path.join(self._path, f"{self._n_files:06d}{ending}")
        return self._last

    def _made(self) -> str:
        parent = tempfile.gettempdir() if self._parent is None else self._parent
        remove_leftovers(parent)
        hidden = "" if self._parent is None else "."  # beside the user's own files
        try:
            self._check_space(parent, int(_RESERVE * self._n_bytes))
            path = tempfile.mkdtemp(prefix=f"{hidden}{_PREFIX}{os.getpid()}-", dir=parent)
        except OSError as error:
            raise TableError(
                f"{os_error(error, 'creating a temporary folder in', repr(parent))}; make it "
                "writable, or save the table as Parquet, which needs none.",
                code="temporary_folder",
            ) from error
        weakref.finalize(self, _remove, path, os.getpid())
        return path

    def _check_space(self, folder: str, n_bytes: int) -> None:
        free = shutil.disk_usage(folder).free
        if n_bytes > free:
            other = "save the table as Parquet, which needs none"
            if self._parent is None:
                other = "set TMPDIR to a larger disk"
            raise TableError(
                f"{folder} has {free / 1e9:.1f} GB of free space, but the chunks of the table need "
                f"about {n_bytes / 1e9:.1f} GB there; make room, or {other}.",
                code="temporary_space",
            )


def remove_leftovers(parent: str | None = None) -> None:
    """Remove the temporary folders of processes of this machine that were killed."""
    folder = tempfile.gettempdir() if parent is None else parent
    with suppress(OSError):  # a folder that cannot be listed
        for entry in os.scandir(folder):
            start, found, rest = entry.name.partition(_PREFIX)
            process = rest.partition("-")[0]
            if found and start in ("", ".") and process.isdigit() and not is_alive(int(process)):
                shutil.rmtree(entry.path, ignore_errors=True)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn errors when writing a temporary file into a TableError."""
    try:
        yield
    except OSError as error:
        what = os_error(error, "writing", f"the temporary file {path}")
        raise TableError(
            f"{what}; make room, or save the table as Parquet, which needs none.",
            code="temporary_file",
        ) from error


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a child process that was forked
        shutil.rmtree(path, ignore_errors=True)
