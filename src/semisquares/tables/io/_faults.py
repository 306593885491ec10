"""Find what is wrong in a CSV that could not be read, and in which line.

This is a second, slow pass: the fast reader finds out that something is wrong, but not where.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator

from ..._utils.messages import Parameter
from ..._utils.words import counted
from ..errors import TableError
from ._dialect import SAMPLE, Dialect, guess_title_lines, skip_lines, spelled
from ._files import TableFile, open_bytes, open_lines

_MULTI_BYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_WIDE = ("utf-16", "utf-32")


def fault_of(file: TableFile, dialect: Dialect, width: int) -> TableError:
    """Return an error that explains what is wrong in a CSV whose header has `width` cells."""
    return known_fault_of(file, dialect, width) or TableError(
        f"{file.name} cannot be read as CSV with the delimiter {spelled(dialect.delimiter)}; "
        "save it again as CSV in UTF-8.",
        code="not_csv",
    )


def known_fault_of(file: TableFile, dialect: Dialect, width: int) -> TableError | None:
    """Return an error that explains what is wrong, if it is one of the usual faults."""
    return _bad_bytes(file, dialect.encoding) or _bad_row(file, dialect, width)


def title_fault(file: TableFile, encoding: str, delimiter: str | None = None) -> TableError | None:
    """Return an error if lines such as a title stand above the header; None if none seem to.

    The delimiter is guessed if it is None.
    """
    with open_bytes(file) as stream:
        sample = stream.read(SAMPLE)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    text = skip_lines(text.removeprefix("\ufeff"), file.skip_rows)
    n_lines = guess_title_lines(text, delimiter, whole=len(sample) < SAMPLE)
    return None if not n_lines else title_above(file, n_lines)


def title_above(file: TableFile, n_rows: int) -> TableError:
    """Return an error that says that rows such as a title stand above the header."""
    return TableError(
        "{file} has {rows} above its header, such as a title; skip {them} with {skip_rows}.",
        code="title_rows",
        file=file.name,
        rows=counted(n_rows, "row"),
        them="it" if n_rows == 1 else "them",
        skip_rows=Parameter("skip_rows", file.skip_rows + n_rows),
    )


def undecodable(file: TableFile, encoding: str) -> TableError:
    """Return an error that names the bytes of a file that are not in its encoding."""
    return _bad_bytes(file, encoding) or _not_in(encoding, file, where="")


def _bad_bytes(file: TableFile, encoding: str) -> TableError | None:
    """Look for the first line that cannot be decoded."""
    if encoding.startswith(_WIDE):
        return _bad_wide(file, encoding)
    fault, fine = None, None  # (line, bytes), and the first line with multi-byte characters
    zero = None  # the first line with a NUL byte, which text does not have
    with open_bytes(file) as stream:
        for number, line in enumerate(io.BufferedReader(stream), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                fault = fault or (number, line[error.start : error.start + 4])
            if b"\0" in line:
                zero = zero or number
            if not line.isascii() and _MULTI_BYTE.search(line):
                fine = fine or number
    if fault is None:
        return None
    number, found = fault
    where = f"line {number} has the bytes {found.hex(' ').upper()}"
    if encoding != "utf-8":
        return _not_in(encoding, file, where=f": {where}")
    if number == 1 and found.startswith((b"\xff\xfe", b"\xfe\xff")):
        return TableError(
            "{file} is not UTF-8: {where}; give {better}.",
            code="encoding",
            file=file.name,
            where=where,
            better=Parameter("encoding", "utf-16"),
        )
    if zero:
        return TableError(
            f"{file.name} is not text: line {zero} has NUL bytes; give a CSV, Parquet or Feather "
            "file.",
            code="zero_bytes",
        )
    if fine:
        return TableError(
            f"{file.name} mixes encodings: line {fine} is UTF-8 but {where}; save it as UTF-8.",
            code="mixed_encodings",
        )
    return TableError(
        "{file} is not UTF-8: {where}; save it as UTF-8, or give {better} if it comes from an "
        "older program.",
        code="encoding",
        file=file.name,
        where=where,
        better=Parameter("encoding", "latin-1"),
    )


def _bad_wide(file: TableFile, encoding: str) -> TableError | None:
    number = file.skip_rows
    try:
        with open_lines(file, encoding) as lines:
            for number, _ in enumerate(lines, file.skip_rows + 1):  # noqa: B007
                pass
    except UnicodeError:
        return _not_in(encoding, file, where=f" after line {number}")
    return None


def _not_in(encoding: str, file: TableFile, where: str) -> TableError:
    return TableError(
        "{file} is not in {encoding}{where}; give the right {parameter}.",
        code="encoding",
        file=file.name,
        encoding=encoding,
        where=where,
        parameter=Parameter("encoding"),
    )


def _bad_row(file: TableFile, dialect: Dialect, width: int) -> TableError | None:
    """Look for the first row with more or fewer cells than the header, or without an end."""
    delimiter = dialect.delimiter
    held: list[str] = []  # the lines of the current row
    with open_lines(file, dialect.encoding) as lines:
        reader = csv.reader(_kept(lines, held), delimiter=delimiter)
        try:
            for row in reader:
                start = file.skip_rows + reader.line_num - len(held) + 1
                if row and "\n" in row[-1] and not _closed(held, delimiter):
                    return _unclosed(file, start)
                if row and len(row) != width:
                    return _ragged(file, start, len(row), width, delimiter)
                held.clear()
        except csv.Error:  # a cell is too long
            return _unclosed(file, file.skip_rows + reader.line_num - len(held) + 1)
    return None


def _kept(lines: Iterator[str], held: list[str]) -> Iterator[str]:
    """Pass lines on, and keep them in `held`."""
    for line in lines:
        held.append(line)
        yield line


def _closed(lines: list[str], delimiter: str) -> bool:
    """Tell whether the last quotation mark of a row is closed."""
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "end of data" not in str(error)
    return True


def _ragged(file: TableFile, line: int, found: int, width: int, delimiter: str) -> TableError:
    if found > width:
        remedy = f"put cells that hold a {spelled(delimiter)} in quotation marks"
    else:
        remedy = "complete the row, or remove it"
    return TableError(
        f"{file.name} has {counted(found, 'cell')} in line {line}, but {width} in its header; "
        f"{remedy}.",
        code="ragged_row",
    )


def _unclosed(file: TableFile, line: int) -> TableError:
    return TableError(
        f"{file.name} has a quotation mark in line {line} that is not closed; close it, or double "
        "it if it belongs to the text.",
        code="unclosed_quote",
    )
