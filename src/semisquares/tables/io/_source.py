"""Find a table: a file, the files of a pattern, or standard input."""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ..._utils.messages import Parameter
from ..._utils.words import did_you_mean
from .._arguments import path_text, refuse, whole_number
from ..errors import TableError
from . import _dialect
from ._dialect import (
    Dialect,
    checked_decimal,
    checked_delimiter,
    checked_encoding,
    checked_skip,
)
from ._faults import undecodable
from ._files import TableFile, empty, first_match, open_bytes, refused
from ._formats import FORMATS, ending_of, format_by_signature
from ._temporary import TemporaryFolder
from .protocol import FileFormat

STANDARD_INPUT = "-"

_FOREIGN = (
    (re.compile(rb"PK\x03\x04"), "an Excel workbook or a zip archive"),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "an Excel workbook"),
    (re.compile(rb"SQLite format 3"), "a SQLite database"),
    (re.compile(rb"%PDF-"), "a PDF"),
    (re.compile(rb"\s*<(!doctype|html)", re.IGNORECASE), "a web page"),
    (re.compile(rb"\s*<\?xml"), "an XML file"),
    (re.compile(rb'\s*(\{\s*"|\[\s*[\[{])'), "a JSON file"),
)
"""First bytes of files that are not text with delimiters, whatever their names say."""


class Spool:
    """The content of a pipe, in a temporary file that is removed with this object."""

    def __init__(self, stream: BinaryIO) -> None:
        self._folder = TemporaryFolder()
        self.path = self._folder.new_path("")
        with open(self.path, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)


@dataclass(frozen=True)
class Source:
    """The files of a table, their format and their dialect."""

    paths: tuple[str, ...]
    """In order; `-` is standard input."""
    format: FileFormat
    dialect: Dialect
    """How cells are written as text; the default one if they are not text."""
    n_bytes: int
    skip_rows: int = 0
    sheet: str | None = None
    spool: Spool | None = field(default=None, repr=False, compare=False)

    @property
    def files(self) -> tuple[TableFile, ...]:
        """The files to read, with the names that messages give them."""
        return _files(self.paths, self.spool, self.skip_rows, self.sheet)


def find(
    table: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    skip_rows: int = 0,
    sheet: str | int | None = None,
    stdin: BinaryIO | None = None,
) -> Source:
    """Find the files of a table, their format and their dialect.

    Parameters
    ----------
    table : str or Path
        A path, a pattern such as ``data/*.csv``, or ``-`` for standard input. The ending determines
        the format: .csv, .tsv, .tab, .txt, .jsonl or .ndjson (also with .gz, .bz2 or .zst),
        .parquet, .pq, .feather, .arrow, .xlsx, .xlsm, .xlsb, .xls or .ods; for standard input, the
        first bytes do.
    delimiter, encoding, decimal : str, optional
        The dialect of a CSV; what is not given is guessed from its first lines.
    skip_rows : int, default=0
        Lines of a CSV, or rows of a sheet, above the header, such as a title; they are not read.
    sheet : str or int, optional
        The sheet of a workbook: its name, or its number from 1 on.
    stdin : binary file, optional
        Replaces standard input.

    Returns
    -------
    Source

    Examples
    --------
    >>> import io
    >>> find("-", stdin=io.BytesIO(b"length;kind\\n1,5;a\\n2,5;b\\n")).dialect
    Dialect(delimiter=';', encoding='utf-8', decimal=',')
    """
    table = path_text("table", table)
    if stdin is not None and (isinstance(stdin, io.TextIOBase) or not hasattr(stdin, "read")):
        raise refuse("stdin", stdin, "a file that is open for reading bytes")
    delimiter = None if delimiter is None else checked_delimiter(delimiter)
    encoding = None if encoding is None else checked_encoding(encoding)
    decimal = None if decimal is None else checked_decimal(decimal)
    skip_rows, sheet = checked_skip(skip_rows), _checked_sheet(sheet)
    paths = (table,) if table == STANDARD_INPUT else _resolved(table)
    _check_names(paths)
    spool = _spooled(paths[0], stdin) if len(paths) == 1 else None
    files = _files(paths, spool, skip_rows, sheet)
    n_bytes = sum(_size(file) for file in files)
    format, delimiter = _format(paths, files, spool, delimiter)
    _check_taken(format, files[0], skip_rows, sheet)
    dialect = _guessed(files[0], delimiter, encoding, decimal) if format.is_text else Dialect()
    return Source(paths, format, dialect, n_bytes, skip_rows, sheet, spool)


def _checked_sheet(sheet: str | int | None) -> str | None:
    """Return the sheet as text; a number may be given as one."""
    if sheet is None or isinstance(sheet, str):
        return sheet
    return str(whole_number("sheet", sheet, 1))


def _check_taken(format: FileFormat, file: TableFile, skip_rows: int, sheet: str | None) -> None:
    """Raise TableError if an option does not apply to the format."""
    given = {"skip_rows": skip_rows or None, "sheet": sheet}
    for name, value in given.items():
        if value is not None and name not in format.options:
            raise TableError(
                "{file} is a {format} file, to which {option} does not apply; leave it out.",
                code="option_not_taken",
                file=file.name,
                format=format.name,
                option=Parameter(name, value),
            )


def _files(
    paths: Sequence[str], spool: Spool | None, skip_rows: int, sheet: str | None
) -> tuple[TableFile, ...]:
    if spool is not None:
        name = "Standard input" if paths[0] == STANDARD_INPUT else paths[0]
        return (TableFile(spool.path, name, skip_rows, sheet),)
    return tuple(TableFile(path, path, skip_rows, sheet) for path in paths)


def _resolved(table: str) -> tuple[str, ...]:
    """Return the files that a path or a pattern names."""
    if os.path.isdir(table):
        raise TableError(
            f"{table} is a folder; give one file, or a pattern in quotation marks such as "
            f"'{os.path.join(table, '*.csv')}'.",
            code="table_is_folder",
        )
    if os.path.lexists(table):  # first, as a name may look like a pattern
        return (table,)
    if glob.has_magic(table):
        paths = tuple(sorted(filter(os.path.isfile, glob.glob(table, recursive=True))))
        if not paths:
            raise TableError(
                f"No file matches the pattern {table}; check its folder and ending.",
                code="pattern_without_files",
            )
        return paths
    folder, name = os.path.split(table)
    if not os.path.isdir(folder or "."):
        raise TableError(
            f"There is neither a file {table} nor a folder {folder}; check the path.",
            code="table_not_found",
        )
    hint = did_you_mean(
        name, _names(folder), "check the path.", show=lambda near: os.path.join(folder, near)
    )
    raise TableError(f"There is no file {table}; {hint}", code="table_not_found")


def _check_names(paths: Sequence[str]) -> None:
    """Raise TableError if the name of a file is not UTF-8.

    pyarrow encodes paths as UTF-8, not as Python does: no issue about this was found as of 2026-11.
    """
    for path in paths:
        try:
            path.encode()
        except UnicodeEncodeError:
            raise TableError(
                f"The name {path!r} holds bytes that are not UTF-8; rename the file.",
                code="file_name_encoding",
            ) from None


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


def _spooled(path: str, stdin: BinaryIO | None) -> Spool | None:
    """Copy standard input or another pipe, which can be read only once, to a file."""
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
        with open(file.path, "rb") as opened:  # fails now, not later, if it must not be read
            size = opened.seek(0, os.SEEK_END)
    except OSError as error:
        raise refused(file.name, error) from error
    if not size:
        raise empty(file)
    return size


def _format(
    paths: Sequence[str], files: Sequence[TableFile], spool: Spool | None, delimiter: str | None
) -> tuple[FileFormat, str | None]:
    """Return the format of the files, and the delimiter: as given, or a tab if endings say so."""
    if spool is not None:
        with open_bytes(files[0]) as stream:
            return format_by_signature(stream.read(16)) or FORMATS["csv"], delimiter
    endings = {path: ending_of(path) for path in paths}
    first = endings[paths[0]]
    other = next((path for path in endings if endings[path].format is not first.format), None)
    if other is not None:
        raise TableError(
            f"{paths[0]} and {other} have different formats; give a pattern that matches files "
            "with one ending.",
            code="mixed_formats",
        )
    return first.format, delimiter or ("\t" if first.text in (".tsv", ".tab") else None)


def _guessed(
    file: TableFile, delimiter: str | None, encoding: str | None, decimal: str | None
) -> Dialect:
    """Guess those parts of the dialect of a CSV that the user has not given."""
    size = _dialect.SAMPLE
    with open_bytes(file) as stream:
        sample = stream.read(size)
    whole = len(sample) < size
    encoding = encoding or _dialect.guess_encoding(sample)
    text = _dialect.skip_lines(_decoded(file, sample, encoding, whole), file.skip_rows)
    if not text.strip():
        raise empty(file)
    delimiter = delimiter or _dialect.guess_delimiter(text, whole=whole) or ","
    decimal = decimal or _dialect.guess_decimal(text, delimiter, whole=whole)
    return Dialect(delimiter, encoding, decimal)


def _decoded(file: TableFile, sample: bytes, encoding: str, whole: bool) -> str:
    """Decode the first bytes of a text; TableError if the file is something else."""
    what = first_match(_FOREIGN, sample)
    binary = format_by_signature(sample)
    if what is not None:
        raise TableError(
            f"{file.name} is {what} by its content; "
            + (f"let its name end with {binary.endings[0]}, or " if binary else "")
            + "give the table as CSV.",
            code="foreign_content",
        )
    if binary is not None:
        ending = binary.endings[0]
        raise TableError(
            f"{file.name} is not text, by its content; let its name end with {ending}.",
            code="binary_content",
        )
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except UnicodeError as error:  # UTF-16 without a byte order mark: not a UnicodeDecodeError
        raise undecodable(file, encoding) from error
    if "\0" in text:
        raise TableError(
            "{file} holds binary data, not text (a NUL in its first lines); give a CSV, or "
            "{better} if it was saved like that.",
            code="binary",
            file=file.name,
            better=Parameter("encoding", "utf-16-le"),
        )
    return text.removeprefix("\ufeff")
