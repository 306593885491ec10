"""The format of a table: what the ending of a file says, and what a user may say about it."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass

from ..arguments import text
from ..errors import TableError

ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank"}

_OF_HOST_NAMES = ("idna", "punycode")
"""Python lists these among the encodings of text, but they decode a short name and no file."""

FOREIGN = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a spreadsheet",
    ".json": "a JSON file",
    ".jsonl": "a JSON file",
    ".ndjson": "a JSON file",
    ".sqlite": "a SQLite database",
    ".sqlite3": "a SQLite database",
    ".db": "a database",
    ".zip": "a zip archive",
    ".tar": "an archive",
    ".tgz": "an archive",
    ".7z": "an archive",
    ".pkl": "a pickle",
    ".pickle": "a pickle",
    ".npy": "a NumPy array",
    ".npz": "an archive of NumPy arrays",
    ".h5": "an HDF5 file",
    ".hdf5": "an HDF5 file",
    ".orc": "an ORC file",
    ".rds": "an R file",
    ".rdata": "an R file",
    ".sav": "an SPSS file",
    ".dta": "a Stata file",
    ".sas7bdat": "a SAS file",
    ".arff": "an ARFF file",
    ".xml": "an XML file",
    ".html": "a web page",
    ".pdf": "a PDF",
}
"""What people have besides; none of it can be read or written here."""


@dataclass(frozen=True)
class Format:
    """How the cells of a table are written in its file.

    Examples
    --------
    >>> Format("csv", delimiter=";", decimal=",").encoding
    'utf-8'
    """

    kind: str
    """`csv` for all text with delimiters, `parquet` or `feather`."""
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."


@dataclass(frozen=True)
class Ending:
    """What the end of a path says about the file."""

    text: str
    """In small letters and without that of a compression: ".csv"."""
    kind: str
    compression: str | None


def ending_of(path: str, *, to_write: bool = False) -> Ending:
    """Read the format of a file off its name; TableError if it has none that is known."""
    rest, text = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(text)
    if compression:
        text = os.path.splitext(rest)[1]
    if text in FOREIGN and to_write:
        raise TableError(
            f"{path} would be {FOREIGN[text]}, which cannot be written here; let the name end with "
            ".csv, .tsv, .parquet or .feather."
        )
    if text in FOREIGN:
        raise TableError(f"{path} is {foreign(text)}.")
    kind = ENDINGS.get(text)
    if kind is None:
        raise TableError(
            f"The name {path} does not say what kind of table it is; it has to end with "
            f"{', '.join(ENDINGS)}, or with .csv.gz."
        )
    if compression and kind != "csv":
        raise TableError(f"{path} is compressed twice; use a plain {text} file.")
    return Ending(text, kind, compression)


def foreign(ending: str) -> str:
    """Say what a file of such an ending is, and the way out."""
    if "archive" in FOREIGN[ending]:
        return f"{FOREIGN[ending]}; unpack it, and give the table that is in it"
    return f"{FOREIGN[ending]}; save it as CSV and give that file"


def checked_delimiter(delimiter: str) -> str:
    """Return the one character that a user means by a delimiter."""
    text("delimiter", delimiter, "a single character, such as ','")
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter.lower(), delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise TableError(
            f"The delimiter {delimiter!r} is not one that can be used; give a single character, "
            "such as ',' or ';', or the word tab."
        )
    return delimiter


def checked_decimal(decimal: str) -> str:
    """Return the mark of decimals, which is a point or a comma."""
    if text("decimal", decimal, "'.' or ','") not in (".", ","):
        raise TableError(f"The decimal mark {decimal!r} cannot be used; give '.' or ','.")
    return decimal


def checked_encoding(encoding: str) -> str:
    """Return the usual name of an encoding of text."""
    text("encoding", encoding, "the name of an encoding, such as 'utf-8'")
    try:
        name = codecs.lookup(encoding).name
        "a".encode(encoding)  # refuses those that are not of text, such as base64
    except (LookupError, ValueError):
        raise TableError(
            f"There is no encoding named {encoding!r}; give one such as utf-8, utf-16, latin-1 or "
            "cp1252."
        ) from None
    if name in _OF_HOST_NAMES:
        raise TableError(
            f"The encoding {encoding!r} is for the names of hosts, not for files; give one such as "
            "utf-8, utf-16, latin-1 or cp1252."
        )
    return name.removesuffix("-sig")


def spelled(delimiter: str) -> str:
    """Name a delimiter in a sentence: "comma"."""
    return DELIMITERS.get(delimiter, repr(delimiter))
