"""Open the files of tables, unpacked where they are compressed."""

from __future__ import annotations

import io
import itertools
import mmap
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._utils.words import os_error
from ..errors import TableError
from .sniffing import compression_of

_PATIENCE = 60.0
"""Seconds to wait for pyarrow, which lets go of a file after the read at hand."""


@dataclass(frozen=True)
class TableFile:
    """One file of a table: where it is, and what sentences call it."""

    path: str
    name: str


@contextmanager
def open_bytes(file: TableFile) -> Iterator[Any]:
    """Open a file for pyarrow and for `read`; TableError where it is damaged or not allowed."""
    import pyarrow as pa

    try:
        with open(file.path, "rb") as opened:
            compression = compression_of(opened.read(16))
        with pa.input_stream(file.path, compression=compression) as stream:
            yield stream
    except OSError as error:
        raise refused(file.name, error) from error


@contextmanager
def open_range(file: TableFile, start: int, stop: int) -> Iterator[Any]:
    """Open some bytes of a file that is not compressed, for pyarrow and for `read`."""
    import pyarrow as pa

    try:
        with open(file.path, "rb") as opened:
            opened.seek(start)
            content = opened.read(stop - start)
    except OSError as error:
        raise refused(file.name, error) from error
    with pa.BufferReader(content) as stream:
        yield stream


@contextmanager
def open_lines(file: TableFile, encoding: str) -> Iterator[Iterator[str]]:
    """Open a text for its lines, each with its end, without the byte order mark."""
    with open_bytes(file) as stream, io.TextIOWrapper(stream, encoding, newline="") as lines:
        first = next(lines, "").removeprefix("\ufeff")
        yield itertools.chain([first], lines)


class _Block(bytearray):
    """Bytes that a reference can be weak to."""


class UnsplitLineEnds:
    """A binary file none of whose reads ends between the two characters of a line end.

    pyarrow drops the second where a block starts with it, also inside of a cell.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ended = False
        self.closed = False
        self.blocks: list[weakref.ref[_Block]] = []

    def read(self, size: int) -> bytes | bytearray:
        """Read at most `size` bytes, at least two; none once this has been ended."""
        if self._ended:
            return b""
        block = _Block(self._file.read(size - 1))
        if block.endswith(b"\r"):
            block += self._file.read(1)
        self.blocks.append(weakref.ref(block))
        return block

    def end(self) -> None:
        """Let there be nothing more to read."""
        self._ended = True

    def close(self) -> None:
        """Leave the closing to the owner of the file."""
        self.closed = True


@contextmanager
def lent(file: Any) -> Iterator[Callable[[], UnsplitLineEnds]]:
    """Lend a file to pyarrow, and wait at the end until its threads have let go of it.

    They read ahead, and one that comes back for more, or to free what it has read, while Python is
    ending aborts the process. Whoever calls the function that this gives hands the result to
    pyarrow and keeps no hold of it, nor of pyarrow's reader.
    """
    loans: list[tuple[weakref.ref[UnsplitLineEnds], list[weakref.ref[_Block]]]] = []

    def lend() -> UnsplitLineEnds:
        loan = UnsplitLineEnds(file)
        loans.append((weakref.ref(loan), loan.blocks))
        return loan

    try:
        yield lend
    except UnicodeError:
        for _, blocks in loans:
            blocks.clear()  # one of them is held by the error, as long as that is handled
        raise
    finally:
        deadline = time.monotonic() + _PATIENCE
        for loan, blocks in loans:
            if (held := loan()) is not None:
                held.end()
            del held
            # no callback of the reference: it would still run, in their thread, when we go on
            while time.monotonic() < deadline and (
                loan() is not None or any(block() is not None for block in blocks)
            ):
                time.sleep(0.001)


def may_hold_newlines(file: TableFile, encoding: str) -> bool:
    """Tell whether cells may hold line ends: whether there is a quotation mark in the file.

    Searched only where it costs next to nothing, else taken for granted.
    """
    if encoding.startswith(("utf-16", "utf-32", "utf-7", "cp037")):
        return True
    with open(file.path, "rb") as opened:
        if compression_of(opened.read(16)):
            return True
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b'"') >= 0


def refused(name: str, error: OSError) -> TableError:
    """Say in a sentence why a file cannot be read."""
    name = "Standard input" if name == "-" else name
    if isinstance(error, FileNotFoundError):
        return TableError(f"{name} is not there any more; check the path.")
    if error.errno is None:  # pyarrow's, from a compressed file
        return TableError(f"{name} is damaged or cut off; get it once more.")
    remedy = "copy it to another place"
    if isinstance(error, PermissionError):
        remedy = "ask for permission to read it"
    return TableError(f"{os_error(error, 'reading', name)}; {remedy}.")
