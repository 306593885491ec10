"""The dialect of a CSV (encoding, delimiter, decimal mark): as given, or guessed from its start."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from .._arguments import text, whole_number
from .._numbers import NUMBER, amount, fraction, grouped
from ..errors import TableError

SAMPLE = 1 << 18
"""Bytes to guess from, but no more than `LINES` rows of them."""
LINES = 1000
MOST_TITLES = 20
"""Most lines above a header that are searched for."""
CANDIDATES = ("\t", ";", "|", ",")
"""Delimiters; if two fit equally well, the first one wins: it is rarer inside text."""

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank"}
_FOR_HOST_NAMES = ("idna", "punycode")
"""Python lists these among the encodings of text, but they do not decode files."""
_BOMS = (  # UTF-32 before UTF-16, whose mark its own begins with
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMA, _POINT = (
    re.compile(amount(f"(?:{fraction(mark)}|{grouped(mark, decimals='+')})")) for mark in ",."
)
_NUMBER = re.compile(NUMBER)
_THOUSANDS = re.compile(amount("[1-9][0-9]{0,2}[.,][0-9]{3}"))


@dataclass(frozen=True)
class Dialect:
    """How the cells of a table are written as text.

    Examples
    --------
    >>> Dialect(delimiter=";", decimal=",").encoding
    'utf-8'
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."


# -- what the user gives ---------------------------------------------------------------------------


def checked_delimiter(delimiter: str) -> str:
    """Return the one character that a user means by a delimiter."""
    text("delimiter", delimiter, "a single character, such as ','")
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter.lower(), delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise TableError(
            f"The delimiter {delimiter!r} cannot be used; give a single character, such as ',' or "
            "';', or the word tab.",
            code="delimiter",
        )
    return delimiter


def checked_decimal(decimal: str) -> str:
    """Return the decimal mark, which is a point or a comma."""
    if text("decimal", decimal, "'.' or ','") not in (".", ","):
        raise TableError(
            f"The decimal mark {decimal!r} cannot be used; give '.' or ','.", code="decimal_mark"
        )
    return decimal


def checked_encoding(encoding: str) -> str:
    """Return the usual name of an encoding of text."""
    text("encoding", encoding, "the name of an encoding, such as 'utf-8'")
    try:
        name = codecs.lookup(encoding).name
        "a".encode(encoding)  # refuses those that are not for text, such as base64
    except (LookupError, ValueError):
        raise TableError(
            f"There is no encoding named {encoding!r}; give one such as utf-8, utf-16, latin-1 or "
            "cp1252.",
            code="unknown_encoding",
        ) from None
    if name in _FOR_HOST_NAMES:
        raise TableError(
            f"The encoding {encoding!r} is for host names, not for files; give one such as utf-8, "
            "utf-16, latin-1 or cp1252.",
            code="unknown_encoding",
        )
    return name.removesuffix("-sig")


def spelled(delimiter: str) -> str:
    """Name a delimiter in a sentence: "comma"."""
    return _NAMES.get(delimiter, repr(delimiter))


def checked_skip(skip_rows: int) -> int:
    """Return the number of rows above the header."""
    return whole_number("skip_rows", skip_rows, 0)


# -- what the text shows ---------------------------------------------------------------------------


def guess_encoding(start: bytes) -> str:
    """Return the encoding that a byte order mark declares; UTF-8 without one."""
    return next((name for mark, name in _BOMS if start.startswith(mark)), "utf-8")


def guess_delimiter(text: str, *, whole: bool) -> str | None:
    """Find the delimiter that splits all lines into the same number of cells, at least two.

    If none does, take the one with which most lines agree with the header; None if the header is a
    single cell with each of them.
    """
    fits = []
    for delimiter in CANDIDATES:
        header, *rows = [len(row) for row in _records(text, delimiter, whole=whole)] or [0]
        agreeing = sum(row == header for row in rows)
        fits.append((agreeing == len(rows), agreeing, header, delimiter))
    fits = [fit for fit in fits if fit[2] >= 2]
    return max(fits, key=lambda fit: fit[:3])[-1] if fits else None  # the first of equals


def guess_decimal(text: str, delimiter: str, *, whole: bool) -> str:
    """Find whether decimals are written with a comma: 1,5 is more frequent than 1.5."""
    if delimiter not in ";\t":
        return "."
    rows = _records(text, delimiter, whole=whole)[1:]
    commas = [cell for row in rows for cell in row if _COMMA.fullmatch(cell)]
    points = [cell for row in rows for cell in row if _POINT.fullmatch(cell)]
    if not all(_THOUSANDS.fullmatch(cell) for cell in commas):
        points = [cell for cell in points if not _THOUSANDS.fullmatch(cell)]  # 5.263 beside 1,5
    elif delimiter == "\t":
        return "."  # 1,234 between tabs is rather 1234; a semicolon is there to free the comma
    return "," if len(commas) > len(points) else "."


def skip_lines(text: str, n_lines: int) -> str:
    """Return text without its first lines, which end as in `open_lines`."""
    return "".join(itertools.islice(io.StringIO(text, newline=""), n_lines, None))


def guess_title_lines(text: str, delimiter: str | None, *, whole: bool) -> int:
    """Count the lines above the header, such as a title; 0 if there seem to be none.

    Below them, all rows have the width of the header; they themselves have fewer cells. The
    delimiter is guessed from the rest of the text if it is None.

    Examples
    --------
    >>> guess_title_lines("Sales in 2020\\n\\nage,kind\\n30,a\\n40,b\\n", None, whole=True)
    2
    """
    lines = list(itertools.islice(io.StringIO(text, newline=""), MOST_TITLES + LINES))
    whole = whole and len(lines) < MOST_TITLES + LINES
    for n_lines in range(1, min(MOST_TITLES, len(lines) - 1) + 1):
        rest = "".join(lines[n_lines:])
        mark = delimiter or guess_delimiter(rest, whole=whole)
        if mark is None or not lines[n_lines].strip():
            continue
        above = [next(csv.reader([line], delimiter=mark), []) for line in lines[:n_lines]]
        if starts_table(above, _records(rest, mark, whole=whole)):
            return n_lines
    return 0


def starts_table(above: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows start with a header, below rows that are something else.

    Otherwise the first row of data would look like a header if each row has a name that the header
    does not count, as R writes it. So there is a column of numbers, or a single cell above.
    """
    header = [cell.strip() for cell in rows[0]] if rows else []
    width, filled = len(header), [sum(bool(cell.strip()) for cell in row) for row in above]
    return (
        width >= 2
        and len(rows) >= 2
        and all(header)
        and len(set(header)) == width
        and not any(_NUMBER.fullmatch(cell) for cell in header)
        and all(len(row) == width for row in rows)
        and all(count < width for count in filled)
        and (
            (width > 2 and max(filled, default=0) <= 1)
            or any(map(_are_numbers, zip(*rows[1:], strict=True)))
        )
    )


def _are_numbers(cells: Sequence[str]) -> bool:
    """Tell whether the cells of a column that are not empty are numbers."""
    texts = [text for cell in cells if (text := cell.strip())]
    return bool(texts) and all(map(_NUMBER.fullmatch, texts))


def _records(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """Split text into rows of cells; the last, which may be cut, only if the text is `whole`."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell that is too long: a quotation mark is not closed
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows.extend(itertools.islice(reader, LINES))
    if not whole and len(rows) > 1:
        del rows[-1]
    return [row for row in rows if row]
