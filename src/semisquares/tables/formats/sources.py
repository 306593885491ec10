"""Where a table is: a file, the files of a pattern, or standard input."""

from __future__ import annotations

import codecs
import glob
import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from ..._utils.messages import Parameter
from ..._utils.words import did_you_mean
from ..arguments import path_text, refuse
from ..errors import TableError
from . import sniffing
from .faults import undecodable
from .format import Format, checked_decimal, checked_delimiter, checked_encoding, ending_of
from .opening import TableFile, open_bytes, refused

STANDARD_INPUT = "-"


class Spool:
    """What came through a pipe, in a file that goes with this object."""

    def __init__(self, stream: BinaryIO) -> None:
        handle, self.path = tempfile.mkstemp(prefix="semisquares-")
        weakref.finalize(self, _remove, self.path)
        with open(handle, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)


@dataclass(frozen=True)
class Source:
    """The files of a table and how they are written."""

    paths: tuple[str, ...]
    """In order; `-` is standard input."""
    format: Format
    n_bytes: int
    spool: Spool | None = field(default=None, repr=False, compare=False)

    @property
    def files(self) -> tuple[TableFile, ...]:
        """The places to read from, with their names for people."""
        if self.spool is not None:
            name = "Standard input" if self.paths[0] == STANDARD_INPUT else self.paths[0]
            return (TableFile(self.spool.path, name),)
        return tuple(TableFile(path, path) for path in self.paths)


def find(
    table: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    stdin: BinaryIO | None = None,
) -> Source:
    """Find the files of a table, and how they are written.

    Parameters
    ----------
    table : str or Path
        A path, a pattern such as ``data/*.csv``, or ``-`` for standard input. The ending says what
        it is: .csv, .tsv, .tab or .txt (also with .gz, .bz2 or .zst), .parquet, .pq, .feather or
        .arrow; for standard input, the first bytes do.
    delimiter, encoding, decimal : str, optional
        Of CSV; found in its first lines where not given.
    stdin : binary file, optional
        In the place of standard input.

    Returns
    -------
    Source

    Examples
    --------
    >>> import io
    >>> find("-", stdin=io.BytesIO(b"length;kind\\n1,5;a\\n2,5;b\\n")).format
    Format(kind='csv', delimiter=';', encoding='utf-8', decimal=',')
    """
    table = path_text("table", table)
    if stdin is not None and (isinstance(stdin, io.TextIOBase) or not hasattr(stdin, "read")):
        raise refuse("stdin", stdin, "a file that is open for reading bytes")
    given = Format(
        "csv",
        delimiter=None if delimiter is None else checked_delimiter(delimiter),
        encoding="" if encoding is None else checked_encoding(encoding),
        decimal="" if decimal is None else checked_decimal(decimal),
    )
    paths = (table,) if table == STANDARD_INPUT else _resolved(table)
    _check_names(paths)
    spool = _spooled(paths[0], stdin) if len(paths) == 1 else None
    source = Source(paths, given, 0, spool)
    sizes = [_size(file) for file in source.files]
    kind, tabbed = _kind(source)
    form = _sniffed(source.files[0], given, tabbed) if kind == "csv" else Format(kind)
    return replace(source, format=form, n_bytes=sum(sizes))


def _resolved(table: str) -> tuple[str, ...]:
    """Return the files that a path or a pattern stands for."""
    if os.path.isdir(table):
        raise TableError(
            f"{table} is a folder; give one file, or a pattern in quotation marks such as "
            f"'{os.path.join(table, '*.csv')}'."
        )
    if os.path.lexists(table):  # first, as names may hold the characters of patterns
        return (table,)
    if glob.has_magic(table):
        paths = tuple(sorted(filter(os.path.isfile, glob.glob(table, recursive=True))))
        if not paths:
            raise TableError(f"No file matches the pattern {table}; check its folder and ending.")
        return paths
    folder, name = os.path.split(table)
    if not os.path.isdir(folder or "."):
        raise TableError(f"There is no file {table}, nor the folder {folder}; check the path.")
    hint = did_you_mean(
        name, _names(folder), "check the path.", show=lambda near: os.path.join(folder, near)
    )
    raise TableError(f"There is no file {table}; {hint}")


def _check_names(paths: Sequence[str]) -> None:
    """Raise TableError if the name of a file is not UTF-8: Arrow would not find it."""
    for path in paths:
        try:
            path.encode()
        except UnicodeEncodeError:
            raise TableError(
                f"The name {path!r} holds bytes that are not UTF-8; rename the file."
            ) from None


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


def _spooled(path: str, stdin: BinaryIO | None) -> Spool | None:
    """Keep what can be read only once, standard input or another pipe, in a file."""
    try:
        if path == STANDARD_INPUT:
            return Spool(sys.stdin.buffer if stdin is None else stdin)
        if stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as pipe:
            return Spool(pipe)
    except OSError as error:
        raise refused(path, error) from error


def _size(file: TableFile) -> int:
    try:
        with open(file.path, "rb") as opened:  # says at once if this is not allowed
            size = opened.seek(0, os.SEEK_END)
    except OSError as error:
        raise refused(file.name, error) from error
    if not size:
        raise TableError(f"{file.name} is empty; give a table with a header and rows.")
    return size


def _kind(source: Source) -> tuple[str, bool]:
    """Return the kind of the files, and whether their ending means tabs."""
    if source.spool is not None:
        with open_bytes(source.files[0]) as stream:
            return sniffing.binary_kind_of(stream.read(16)) or "csv", False
    endings = {path: ending_of(path) for path in source.paths}
    first = endings[source.paths[0]]
    other = next((path for path in endings if endings[path].kind != first.kind), None)
    if other is not None:
        raise TableError(
            f"{source.paths[0]} and {other} are of different kinds; give a pattern that matches "
            "files of one ending."
        )
    return first.kind, first.text in (".tsv", ".tab")


def _sniffed(file: TableFile, given: Format, tabbed: bool) -> Format:
    """Fill in what the user has not said of the form of a CSV."""
    with open_bytes(file) as stream:
        sample = stream.read(sniffing.SAMPLE)
    whole = len(sample) < sniffing.SAMPLE
    encoding = given.encoding or sniffing.encoding_of(sample)
    text = _decoded(file, sample, encoding, whole)
    if not text.strip():
        raise TableError(f"{file.name} is empty; give a table with a header and rows.")
    delimiter = given.delimiter or ("\t" if tabbed else None)
    delimiter = delimiter or sniffing.delimiter_of(text, whole=whole) or ","
    decimal = given.decimal or sniffing.decimal_of(text, delimiter, whole=whole)
    return Format("csv", delimiter, encoding, decimal)


def _decoded(file: TableFile, sample: bytes, encoding: str, whole: bool) -> str:
    """Decode the first bytes of a text; TableError if they are of something else."""
    what = sniffing.foreign_kind_of(sample)
    binary = sniffing.binary_kind_of(sample)
    if what is not None:
        raise TableError(f"{file.name} is {what} by its content; give the table as CSV.")
    if binary is not None:
        raise TableError(f"{file.name} is no text by its content; let its name end with .{binary}.")
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except UnicodeError as error:  # without a byte order mark, of UTF-16 no UnicodeDecodeError
        raise undecodable(file, encoding) from error
    if "\0" in text:
        raise TableError(
            "{file} holds binary data and no text (a NUL in its first lines); give a CSV, or "
            "{better} if it was saved like that.",
            code="binary",
            file=file.name,
            better=Parameter("encoding", "utf-16-le"),
        )
    return text.removeprefix("\ufeff")


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
