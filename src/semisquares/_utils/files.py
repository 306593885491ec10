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

__all__ = ["atomic_write", "is_alive", "make_folder"]

_SUFFIX = ".part"


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` at the end of the block.

    If writing fails, is interrupted or killed, `path` stays as it was. Missing folders are created,
    and removed again if writing fails. Devices and pipes are written to directly.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes" / "a.txt"
    >>> with atomic_write(path) as file:
    ...     _ = file.write(b"all of it")
    >>> path.read_bytes()
    b'all of it'
    """
    path = Path(path)
    if path.is_symlink():  # replace the target of the link, not the link
        path = _resolve(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if path.parent.is_file():  # as Windows would not say
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    prefix = f".{path.name[:100]}."
    part = path.parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
    missing = _missing_folders(path.parent)
    try:  # before anything is created: a signal may come between any two lines
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
        _remove_leftovers(path.parent, prefix)
        with open(part, "xb", opener=_open_private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, _mode(path))
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
            for folder in missing:  # deepest first; rmdir fails if another process uses it
                folder.rmdir()
        raise


def make_folder(path: Path) -> None:
    """Create a folder and its parents.

    `mkdir(parents=True)` is recursive, and a long path exceeds the recursion limit.
    """
    for folder in (*reversed(_missing_folders(path)), path):
        folder.mkdir(exist_ok=True)


def _missing_folders(path: Path) -> list[Path]:
    """Return those of `path` and its parents that do not exist, deepest first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def _resolve(link: Path) -> Path:
    """Return the target of a link, which need not exist; OSError if the link is circular."""
    path = Path(os.path.realpath(link))
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(link))
    return path


def _open_private(path: str, flags: int) -> int:
    """Let nobody else read the temporary file: its final permissions are set at the end."""
    return os.open(path, flags, 0o600)


def _remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove temporary files of the same name whose process is dead."""
    for part in folder.glob(f"{glob.escape(prefix)}*{_SUFFIX}"):
        pid = part.name.removeprefix(prefix).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            part.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Return whether a process of this machine is running."""
    if os.name != "posix":  # on Windows os.kill(pid, 0) ends the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _mode(path: Path) -> int:
    """Return the permissions of the existing file, or the default ones of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
