"""Open the files of tables, decompressed if they are compressed."""

from __future__ import annotations

import io
import itertools
import mmap
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._utils.messages import Parameter
from ..._utils.words import counted, os_error
from ..errors import TableError

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""By the ending of a file; the names are pyarrow's."""

_SIGNATURES = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "bz2"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd"),
)
_NOT_ASCII = ("utf-16", "utf-32", "utf-7", "cp037")
_BLOCK = 1 << 24


@dataclass(frozen=True)
class TableFile:
    """One file of a table: its path, and the name that messages give it."""

    path: str
    name: str
    skip_rows: int = 0
    """Lines of text, or rows of a sheet, above the header; they are not read."""
    sheet: str | None = None
    """The name or the number of a sheet in a workbook; None if it has only one."""


@contextmanager
def open_bytes(file: TableFile) -> Iterator[Any]:
    """Open a file as a stream of pyarrow; TableError if it is damaged or cannot be opened."""
    import pyarrow as pa

    try:
        with open(file.path, "rb") as opened:
            compression = compression_of(opened.read(16))
        with pa.input_stream(file.path, compression=compression) as stream:
            yield stream
    except OSError as error:
        raise refused(file.name, error) from error


@contextmanager
def open_lines(file: TableFile, encoding: str) -> Iterator[Iterator[str]]:
    """Open a text file; iterate over its lines with their ends, without the byte order mark.

    The lines above the header are skipped.
    """
    with open_bytes(file) as stream, io.TextIOWrapper(stream, encoding, newline="") as lines:
        first = next(lines, "").removeprefix("\ufeff")
        yield itertools.islice(itertools.chain([first], lines), file.skip_rows, None)


def compression_of(start: bytes) -> str | None:
    """Name the compression of a file by its first bytes; None if it is not compressed."""
    return first_match(_SIGNATURES, start)


def first_match(patterns: Sequence[tuple[re.Pattern[bytes], str]], start: bytes) -> str | None:
    """Return the name of the first pattern that some bytes start with."""
    return next((name for pattern, name in patterns if pattern.match(start)), None)


def may_hold_newlines(file: TableFile, encoding: str) -> bool:
    """Tell whether cells of a CSV may hold line ends: whether the file has a quotation mark.

    The file is searched only if that is cheap; otherwise the answer is True.
    """
    if encoding.startswith(_NOT_ASCII):
        return True
    with open(file.path, "rb") as opened:
        if compression_of(opened.read(16)):
            return True
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b'"') >= 0


def may_hold_codes(file: TableFile, encoding: str, delimiter: str) -> bool:
    """Tell whether cells of a CSV may have leading zeros, as 01234 has.

    The file is searched unless its encoding has other bytes for digits: then the answer is True.
    """
    if encoding.startswith(_NOT_ASCII):
        return True
    pattern = rf'(?:^|["\r\n\t \x{ord(delimiter):02x}])0[0-9]'
    rest = b""
    with open_bytes(file) as stream:
        while block := stream.read(_BLOCK):
            block = rest + block
            if _found(pattern, block):
                return True
            rest = block[-2:]
    return False


def _found(pattern: str, block: bytes) -> bool:
    """Search bytes by pyarrow, which is three times as fast as Python."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = pa.py_buffer(array("q", [0, len(block)]))
    content = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, pa.py_buffer(block)])
    return bool(pc.match_substring_regex(content, pattern)[0].as_py())


def empty(file: TableFile) -> TableError:
    """Return an error that says that a file is empty, or has nothing below the rows to skip."""
    if file.skip_rows:
        return TableError(
            "{file} has no header below the {rows} to skip; give a smaller number than {given}.",
            code="skipped_all",
            file=file.name,
            rows=counted(file.skip_rows, "row"),
            given=Parameter("skip_rows", file.skip_rows),
        )
    return TableError(
        f"{file.name} is empty; give a table with a header and rows.", code="empty_file"
    )


def refused(name: str, error: OSError) -> TableError:
    """Explain in a sentence why a file cannot be read."""
    name = "Standard input" if name == "-" else name
    if isinstance(error, FileNotFoundError):
        return TableError(f"{name} does not exist; check the path.", code="file_gone")
    if error.errno is None:  # raised by pyarrow for a compressed file
        return TableError(
            f"{name} is damaged or truncated; get it again.", code="damaged_compression"
        )
    remedy = "copy it to another place"
    if isinstance(error, PermissionError):
        remedy = "ask for permission to read it"
    return TableError(f"{os_error(error, 'reading', name)}; {remedy}.", code="file_not_readable")
