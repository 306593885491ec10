"""The cells computed so far, in one SQLite file that stays intact if the process is killed.

Each cell is written in a transaction of its own, and is on disk when `Ledger.store` returns. The
operating system locks the file while it is open, and releases the lock when the process ends, for
whatever reason.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .._utils.errors import UserError
from .._utils.messages import Parameter
from .figures._figure import Arrays

__all__ = ["Ledger", "Record", "ReproduceError", "pack", "unpack"]

_OURS = 0x73_71_72_31  # SQLite's application_id: "sqr1", version 1 of the tables below
_TABLES = """
create table runs (
    figure text primary key,
    settings text not null,  -- json
    versions text not null  -- json
);
create table cells (
    figure text not null,
    cell text not null,
    payload blob not null,  -- npz
    cpu_seconds real not null,
    primary key (figure, cell)
);
"""


class ReproduceError(UserError):
    """A run that cannot be done as requested."""


@dataclass(frozen=True)
class Record:
    """The settings and versions that a figure's numbers were made with."""

    settings: Mapping[str, Any]
    versions: Mapping[str, str]


class Ledger:
    """The cells in a file, which is created if it does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as out, Ledger(Path(out) / "ledger.sqlite") as ledger:
    ...     ledger.store("fig6", "WDBC/0", pack({"error": np.array([0.25])}), cpu_seconds=0.1)
    ...     ledger.results("fig6")
    {'WDBC/0': {'error': array([0.25])}}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._plain_errors():
            self._db = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        # Set the locking mode first, so that the first read already locks the file.
        self._db.execute("pragma locking_mode = exclusive")
        (n_tables,) = self._db.execute("select count(*) from sqlite_schema").fetchone()
        (owner,) = self._db.execute("pragma application_id").fetchone()
        if n_tables and owner != _OURS:
            raise ReproduceError(
                "{path} is the database of another program, or of another version of semisquares; "
                "move it away, or give another folder ({out}).",
                code="not_ours",
                path=self.path,
                out=Parameter("out"),
            )
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = full")
        self._db.execute("begin exclusive")
        if not n_tables:
            for statement in _TABLES.split(";")[:-1]:
                self._db.execute(statement)
            self._db.execute(f"pragma application_id = {_OURS}")
        self._db.execute("commit")

    def record(self, figure: str) -> Record | None:
        """Return the record of a figure, or None if it has no cells."""
        with self._plain_errors():
            row = self._db.execute(
                "select settings, versions from runs join cells using (figure) where figure = ?",
                (figure,),
            ).fetchone()
            return None if row is None else Record(*map(json.loads, row))

    def begin(self, figure: str, record: Record) -> None:
        """Write the record of a figure, before its first cell."""
        with self._plain_errors():
            self._db.execute(
                "insert or replace into runs values (?, ?, ?)",
                (figure, json.dumps(dict(record.settings)), json.dumps(dict(record.versions))),
            )

    def cells(self, figure: str) -> dict[str, float]:
        """Return the CPU seconds of each stored cell."""
        with self._plain_errors():
            rows = self._db.execute(
                "select cell, cpu_seconds from cells where figure = ?", (figure,)
            ).fetchall()
        return dict(rows)

    def store(self, figure: str, cell: str, payload: bytes, cpu_seconds: float) -> None:
        """Store a packed cell."""
        with self._plain_errors():
            self._db.execute(
                "insert into cells values (?, ?, ?, ?)", (figure, cell, payload, cpu_seconds)
            )

    def restore(
        self, figure: str, record: Record, cells: Mapping[str, tuple[bytes, float]]
    ) -> None:
        """Store packed cells with their CPU seconds, all of them or none."""
        with self._plain_errors(), self._db:
            self._db.execute("begin")
            self.begin(figure, record)
            self._db.executemany(
                "insert into cells values (?, ?, ?, ?)",
                [(figure, cell, payload, cpu) for cell, (payload, cpu) in cells.items()],
            )

    def forget(self, figure: str) -> None:
        """Delete all cells of a figure and its record."""
        with self._plain_errors():
            self._db.execute("delete from cells where figure = ?", (figure,))
            self._db.execute("delete from runs where figure = ?", (figure,))

    def results(self, figure: str) -> dict[str, Arrays]:
        """Return all stored cells of a figure, by name."""
        with self._plain_errors():
            rows = self._db.execute(
                "select cell, payload from cells where figure = ? order by cell", (figure,)
            ).fetchall()
            return {cell: unpack(payload) for cell, payload in rows}

    def close(self) -> None:
        with self._plain_errors():
            self._db.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn the errors of SQLite into sentences for users."""
        try:
            yield
        except sqlite3.Error as error:
            sentence = _SENTENCES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
            if sentence is None:
                raise
            raise self._error(sentence, error) from error
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError) as error:
            raise self._error(_DAMAGED, error) from error

    def _error(self, sentence: str, error: Exception) -> ReproduceError:
        out, folder = Parameter("out"), self.path.parent
        return ReproduceError(
            sentence, code="ledger", path=self.path, folder=folder, error=str(error), out=out
        )


_DAMAGED = (
    "{path} is damaged or not a ledger of semisquares ({error}); move it away to compute its cells "
    "again, or give another folder ({out})."
)
_NO_ACCESS = "{path} cannot be written ({error}); make it writable, or give another folder ({out})."
_NO_SPACE = (
    "{path} cannot be written ({error}); cells stored before are kept, so free some disk space "
    "or make the file writable, and run the same command again."
)
_IN_USE = (
    "{folder} is in use by another run; wait for that one to end, or give another folder ({out})."
)
_SENTENCES = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: _NO_SPACE,
    sqlite3.SQLITE_IOERR: _NO_SPACE,
    sqlite3.SQLITE_CANTOPEN: _NO_ACCESS,
    sqlite3.SQLITE_READONLY: _NO_ACCESS,
    sqlite3.SQLITE_PERM: _NO_ACCESS,
}


def pack(arrays: Arrays) -> bytes:
    """Return arrays as a compressed npz file, without pickled objects."""
    named: dict[str, Any] = arrays  # so that mypy does not take an array for allow_pickle
    for name, array in named.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"Array {name!r} holds objects; a cell returns numbers and strings.")
    buffer = BytesIO()
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def unpack(payload: bytes) -> Arrays:
    """Return the arrays that `pack` packed."""
    with np.load(BytesIO(payload), allow_pickle=False) as arrays:
        return dict(arrays)
