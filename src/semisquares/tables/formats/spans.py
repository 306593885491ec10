"""Where a file can be cut, so that each part of it can be read alone."""

from __future__ import annotations

import codecs
import mmap
import re
from collections.abc import Iterable

from ..errors import TableError
from .format import Format
from .opening import TableFile
from .sniffing import SAMPLE, compression_of

Span = tuple[int, int]
"""From one place to another: bytes of a text, row groups or record batches of other files."""


def grouped(sizes: Iterable[tuple[int, int]], most_rows: int, most_bytes: int) -> list[Span]:
    """Join neighbouring pieces, given as (rows, bytes), to spans that stay within both bounds.

    A piece that is beyond them is a span of its own.

    Examples
    --------
    >>> grouped([(5, 1), (5, 1), (5, 1), (90, 1), (5, 1)], most_rows=10, most_bytes=100)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    spans: list[Span] = []
    start, held_rows, held_bytes, stop = 0, 0, 0, 0
    for stop, (rows, size) in enumerate(sizes):
        if stop > start and (held_rows + rows > most_rows or held_bytes + size > most_bytes):
            spans.append((start, stop))
            start, held_rows, held_bytes = stop, 0, 0
        held_rows, held_bytes = held_rows + rows, held_bytes + size
    return [*spans, (start, stop + 1)] if held_rows else spans


def csv_spans(
    file: TableFile, form: Format, quoted: bool, most_rows: int, most_bytes: int
) -> list[Span]:
    """Cut a text into ranges of bytes that begin and end with a row, without the header.

    Whether a line end is that of a row depends on all quotation marks before it, so where there
    are some the file is read once from its start, at the speed of a search.

    Raises
    ------
    TableError
        Where a place in the file cannot be told without all bytes before it: it is compressed, or
        its characters are no single bytes.
    """
    _check_cuttable(file, form)
    records = _records(form.delimiter or ",", quoted)
    with (
        open(file.path, "rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        first = len(codecs.BOM_UTF8) * content[:3].startswith(codecs.BOM_UTF8)
        place = _end_of_header(content, first, form.delimiter or ",")
        step = _bytes_of(content, place, records, most_rows, most_bytes)
        spans, size = [], step
        while place < len(content):
            end = min(place + size, len(content))
            stop = len(content)
            if end < len(content):
                found = records.match(content, place, end)
                stop = place if found is None else found.end()
                if content[stop - 1 : stop + 1] == b"\r\n":
                    stop += 1
            if stop == place:  # a row that is longer
                size *= 2
                continue
            spans.append((place, stop))
            place, size = stop, step
    return spans


def _check_cuttable(file: TableFile, form: Format) -> None:
    with open(file.path, "rb") as opened:
        packed = compression_of(opened.read(16))
    if packed:
        raise TableError(
            f"{file.name} is compressed, so it cannot be read in parts; unpack it, or save the "
            "table as Parquet."
        )
    every = bytes(range(256)).decode(form.encoding, "replace")
    marks = f'"\r\n{form.delimiter or ","}'
    if form.encoding != "utf-8" and not (
        len(every) == 256 and all(every[ord(mark)] == mark for mark in marks)
    ):
        raise TableError(
            f"{file.name} is in {form.encoding}, which cannot be read in parts; save it as UTF-8, "
            "or as Parquet."
        )


def _row(delimiter: str) -> bytes:
    """Write the pattern of one row with its line end; a mark inside of a cell opens nothing."""
    mark = re.escape(delimiter.encode())
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"|(?!"))[^' + mark + rb"\r\n]*+"
    return cell + rb"(?:" + mark + cell + rb")*+(?:\r\n?|\n)"


def _records(delimiter: str, quoted: bool) -> re.Pattern[bytes]:
    """Compile the pattern of as many whole rows as there are."""
    return re.compile(rb"(?:" + _row(delimiter) + rb")++" if quoted else rb"(?s:.*[\r\n])")


def _end_of_header(content: mmap.mmap, first: int, delimiter: str) -> int:
    """Return where the first line ends that is not empty."""
    header = re.compile(rb"[\r\n]*+" + _row(delimiter)).match(content, first)
    return len(content) if header is None else header.end()


def _bytes_of(
    content: mmap.mmap, place: int, records: re.Pattern[bytes], most_rows: int, most_bytes: int
) -> int:
    """Return how many bytes have about so many rows, by the first of them."""
    sample = records.match(content, place, min(place + SAMPLE, len(content)))
    if sample is None:
        return most_bytes
    lines = max(1, sample.group().count(b"\n"), sample.group().count(b"\r"))
    return max(1, min(most_bytes, most_rows * len(sample.group()) // lines))
