"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["make_folder", "replaced"]

PART = ".part"


@contextmanager
def replaced(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file whose content takes the place of `path` at the end, at once; or of nothing.

    Where the writing fails, is interrupted or killed, whatever was at `path` is still there. The
    folder is made where it is missing, and goes again if the writing fails.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes" / "a.txt"
    >>> with replaced(path) as file:
    ...     _ = file.write(b"all of it")
    >>> path.read_bytes()
    b'all of it'
    """
    path = Path(path)
    if path.is_symlink():  # the file that the link is to, as an ordinary write would
        path = _followed(path)
    if path.is_dir():
        raise IsADirectoryError(21, "it is a folder", str(path))
    if path.exists() and not path.is_file():  # a device or a pipe takes bytes, and stays
        with path.open("wb") as file:
            yield file
        return
    prefix = f".{path.name[:100]}."
    part = path.parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}{PART}"
    made = _missing(path.parent)
    try:  # from before there is anything: a signal may come between any two lines
        for folder in reversed(made):
            folder.mkdir(exist_ok=True)
        _clear(path.parent, prefix)
        with open(part, "xb", opener=_for_me_alone) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, _mode(path))
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()  # the deepest first, and only while they are empty
        raise


def make_folder(path: Path) -> None:
    """Make a folder and those above it: `parents=True` would recurse, in vain for a long path."""
    for folder in (*reversed(_missing(path)), path):
        folder.mkdir(exist_ok=True)


def _missing(path: Path) -> list[Path]:
    """Return the folders that are not there, of a folder and those above it, the deepest first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def _followed(link: Path) -> Path:
    """Return the file that a link leads to, there or not; OSError where it leads to itself."""
    path = Path(os.path.realpath(link))
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(link))
    return path


def _for_me_alone(path: str, flags: int) -> int:
    """Open a file that nobody else may read, until it has the permissions of the one before."""
    return os.open(path, flags, 0o600)


def _clear(folder: Path, prefix: str) -> None:
    """Remove what killed writers of the same file have left."""
    for part in folder.glob(f"{glob.escape(prefix)}*{PART}"):
        writer = part.name.removeprefix(prefix).partition("-")[0]
        if writer.isdigit() and not _alive(int(writer)):
            part.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere the question itself would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _mode(path: Path) -> int:
    """Return the permissions of the file to replace, or those of a new one."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
