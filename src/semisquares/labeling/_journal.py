"""The journal of a labeling session: a file to which every answer is appended.

Each line is a JSON object, and is on disk before `append` returns. A process that is killed loses
at most the line that it was writing: `Journal` removes such a torn last line when it opens the
file. Only one process can have a journal open.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._utils.errors import UserError
from .._utils.files import make_folder
from .._utils.words import os_error

__all__ = ["Journal", "MemoryJournal"]

FORMAT = 1
"""Version of the file format, in the first line."""
_LOCKED_BYTE = (1 << 31) - 2
"""Where Windows locks a byte, far behind the last line, but not beyond what 32 bits can say."""


class MemoryJournal:
    """Records that nobody keeps, for sessions that need no file."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record."""
        self.records.append(dict(record))


class Journal(MemoryJournal):
    """Open a journal, or begin one; no other process can open it until it is closed.

    Parameters
    ----------
    path : str or Path
        The file; it is created if it does not exist.
    about : mapping
        What the answers are about, as JSON values: the table, its content, the target. An existing
        journal must be about the same.

    Raises
    ------
    UserError
        If another process has the journal open, or if it is damaged or about something else.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pumps.csv.journal"
    >>> with Journal(path, {"target": "bearing"}) as journal:
    ...     journal.append({"row": 3, "label": "worn"})
    >>> with Journal(path, {"target": "bearing"}) as journal:
    ...     journal.records
    [{'row': 3, 'label': 'worn'}]
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        super().__init__()
        self.path = Path(path)
        self.about = {"semisquares_journal": FORMAT, **about}
        self._size = 0
        self._lock = threading.Lock()
        self._closed = False
        self._file = _open_locked(self.path)
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record to the disk; if that fails, the journal is as before."""
        with self._lock:
            if self._closed:  # its file descriptor may be that of another file by now
                raise UserError(f"The journal {self.path} is closed; start the command again.")
            self._write(record)
            super().append(record)

    def close(self) -> None:
        """Let other processes open the journal."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._file)

    def delete(self) -> None:
        """Delete the file; on Windows, which deletes no open file, also close the journal."""
        if os.name == "nt":
            self.close()
        self.path.unlink(missing_ok=True)

    def _load(self) -> None:
        content = _read(self._file)
        lines = content.split(b"\n")[:-1]
        parsed = [_parsed(line) for line in lines]
        if parsed and parsed[-1] is None:  # complete, but not all of it reached the disk
            lines, parsed = lines[:-1], parsed[:-1]
        if None in parsed:
            raise UserError(
                f"Line {parsed.index(None) + 1} of the journal {self.path} is damaged; restore the "
                "file from a backup, or remove that line."
            )
        if not parsed and not _line(self.about).startswith(content.strip(b"\0\n")):
            raise UserError(self._other({}))  # not the beginning of a journal
        self._size = sum(len(line) + 1 for line in lines)
        if self._size < len(content):
            os.ftruncate(self._file, self._size)
        if not parsed:
            self._write(self.about)
            _sync_folder(self.path.parent)
        elif parsed[0] != self.about:
            raise UserError(self._other(parsed[0] or {}))
        self.records = [record for record in parsed[1:] if record is not None]

    def _other(self, found: Mapping[str, Any]) -> str:
        if found.get("semisquares_journal") != FORMAT:
            return (
                f"{self.path} is not a journal that this version of semisquares can read; give "
                "another output file, or move that file away."
            )
        keys = {**self.about, **found}
        differing = [name for name in keys if found.get(name) != self.about.get(name)]
        its = f"its {' and '.join(differing)} {'differs' if len(differing) == 1 else 'differ'}"
        return (
            f"The journal {self.path} has answers about another table ({its}); give another output "
            "file, or the table that the session began with."
        )

    def _write(self, record: Mapping[str, Any]) -> None:
        line = _line(record)
        try:
            os.ftruncate(self._file, self._size)  # what a failed write has left
            os.lseek(self._file, self._size, os.SEEK_SET)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            what = os_error(error, "writing", f"the journal {self.path}")
            raise UserError(f"{what}; make room, and give the answer again.") from error
        self._size += len(line)


def _open_locked(path: Path) -> int:
    """Open a file that no other process has locked."""
    while True:
        try:
            make_folder(path.parent)
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            what = os_error(error, "writing", f"the journal {path}")
            raise UserError(f"{what}; choose another place for the output.") from error
        try:
            _lock(file)
            if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                return file
            os.close(file)  # another process has deleted it in between
        except OSError as error:
            os.close(file)
            raise UserError(
                f"Another process has the journal {path} open; end that session first, or give "
                "another output file."
            ) from error


def _lock(file: int) -> None:
    """Lock a file for this process, or raise OSError."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _read(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line, or None."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _sync_folder(folder: Path) -> None:
    """Write the name of a new file to the disk, where the system can do that."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
