"""Tell from its first bytes how a text file was written: encoding, delimiter, decimal mark."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Sequence
from contextlib import suppress

SAMPLE = 1 << 18
"""Bytes that are looked at, but not more than `LINES` rows."""

LINES = 1000

CANDIDATES = ("\t", ";", "|", ",")
"""Delimiters; of two that fit equally well, the one that text holds less often comes first."""

_BOMS = (  # the longer first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMPRESSED = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "bz2"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd"),
)
_BINARY = (
    (re.compile(rb"PAR1"), "parquet"),
    (re.compile(rb"ARROW1|FEA1|\xff\xff\xff\xff"), "feather"),
)
_FOREIGN = (
    (re.compile(rb"PK\x03\x04"), "an Excel workbook or a zip archive"),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "an Excel workbook"),
    (re.compile(rb"SQLite format 3"), "a SQLite database"),
    (re.compile(rb"%PDF-"), "a PDF"),
    (re.compile(rb"\s*<(!doctype|html)", re.IGNORECASE), "a web page"),
    (re.compile(rb"\s*<\?xml"), "an XML file"),
    (re.compile(rb'\s*(\{\s*"|\[\s*[\[{])'), "a JSON file"),
)
_BEFORE, _AFTER = r"\s*\(?[+-]?\s*[$€£¥]?\s*[+-]?", r"\s*[$€£¥%]?\)?\s*"
_COMMA = re.compile(rf"{_BEFORE}(\d*|[1-9]\d{{0,2}}(\.\d{{3}})+),\d+{_AFTER}")
_POINT = re.compile(rf"{_BEFORE}(\d*|[1-9]\d{{0,2}}(,\d{{3}})+)\.\d+{_AFTER}")
_THOUSANDS = re.compile(rf"{_BEFORE}[1-9]\d{{0,2}}[.,]\d{{3}}{_AFTER}")


def compression_of(start: bytes) -> str | None:
    """Name the compression that a file starts with, if any."""
    return _first(_COMPRESSED, start)


def binary_kind_of(start: bytes) -> str | None:
    """Name the binary format of tables that a file starts with, if any."""
    return _first(_BINARY, start)


def foreign_kind_of(start: bytes) -> str | None:
    """Say what a file that starts like this is, if it is surely no table."""
    return _first(_FOREIGN, start)


def encoding_of(start: bytes) -> str:
    """Name the encoding that a byte order mark declares; UTF-8 without one."""
    return next((name for mark, name in _BOMS if start.startswith(mark)), "utf-8")


def delimiter_of(text: str, *, whole: bool) -> str | None:
    """Find the delimiter that splits all lines into the same number of cells, at least two.

    Where none does, it is the one by which most lines agree with the header. None if the header is
    a single cell for all.
    """
    fits = []
    for delimiter in CANDIDATES:
        header, *rows = [len(row) for row in records(text, delimiter, whole=whole)] or [0]
        agreeing = sum(row == header for row in rows)
        fits.append((agreeing == len(rows), agreeing, header, delimiter))
    fits = [fit for fit in fits if fit[2] >= 2]
    return max(fits, key=lambda fit: fit[:3])[-1] if fits else None  # the first of equals


def decimal_of(text: str, delimiter: str, *, whole: bool) -> str:
    """Find whether decimals are written with a comma: 1,5 is more frequent than 1.5."""
    if delimiter not in ";\t":
        return "."
    rows = records(text, delimiter, whole=whole)[1:]
    commas = [cell for row in rows for cell in row if _COMMA.fullmatch(cell)]
    points = [cell for row in rows for cell in row if _POINT.fullmatch(cell)]
    if not all(_THOUSANDS.fullmatch(cell) for cell in commas):
        points = [cell for cell in points if not _THOUSANDS.fullmatch(cell)]  # 5.263 beside 1,5
    elif delimiter == "\t":
        return "."  # 1,234 between tabs is rather 1234; a semicolon is there to free the comma
    return "," if len(commas) > len(points) else "."


def records(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """Split text into rows of cells; the last, which may be cut, only if the text is `whole`."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell beyond all bounds: a quotation mark that is not closed
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows.extend(itertools.islice(reader, LINES))
    if not whole and len(rows) > 1:
        del rows[-1]
    return [row for row in rows if row]


def _first(patterns: Sequence[tuple[re.Pattern[bytes], str]], start: bytes) -> str | None:
    return next((name for pattern, name in patterns if pattern.match(start)), None)
