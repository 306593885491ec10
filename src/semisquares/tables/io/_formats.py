"""The file formats that are known, and what the ending of a path says."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..errors import TableError
from ._arrow import FEATHER, PARQUET
from ._csv import CSV
from ._excel import EXCEL, SPREADSHEET
from ._files import COMPRESSIONS
from ._json_lines import JSON_LINES
from .protocol import FileFormat

FORMATS = {
    format.name: format for format in (CSV, PARQUET, FEATHER, JSON_LINES, EXCEL, SPREADSHEET)
}
"""All file formats by their names; a new one is entered here."""

FOREIGN = {
    ".json": "a JSON file",
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
"""Other common files; none can be read or written here, unless a format is added."""
_BETTER = {".json": "JSON lines (.jsonl) or CSV"}
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".npz")


@dataclass(frozen=True)
class Ending:
    """What the end of a path says about a file."""

    text: str
    """In lower case, without that of a compression: ".csv"."""
    format: FileFormat
    compression: str | None


def ending_of(path: str, *, to_write: bool = False) -> Ending:
    """Find the format of a file by its name; TableError if there is none."""
    text, compression = split_ending(path)
    format = format_by_ending(text)
    if format is None:
        raise _no_format(path, text, to_write=to_write)
    if compression and not (format.is_text or format.compressible):
        raise TableError(
            f"{path} is compressed twice; use a plain {text} file.", code="compressed_twice"
        )
    if to_write and format.create is None:
        raise _not_written(path, f"a {format.name} file")
    return Ending(text, format, compression)


def split_ending(path: str) -> tuple[str, str | None]:
    """Return the ending of a path in lower case, and the compression that another one names.

    Examples
    --------
    >>> split_ending("Rows.CSV.gz")
    ('.csv', 'gzip')
    """
    rest, text = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(text)
    return (os.path.splitext(rest)[1] if compression else text), compression


def format_by_ending(ending: str) -> FileFormat | None:
    """Return the format whose files end like this, if there is one."""
    return next((format for format in FORMATS.values() if ending in format.endings), None)


def format_by_signature(start: bytes) -> FileFormat | None:
    """Return the format whose files start with some bytes, if there is one."""
    for format in FORMATS.values():
        if format.signature is not None and format.signature.match(start):
            return format
    return None


def names_table(path: str) -> bool:
    """Tell whether a path ends like that of a table."""
    return format_by_ending(split_ending(path)[0]) is not None


def _no_format(path: str, ending: str, *, to_write: bool) -> TableError:
    if ending in FOREIGN and to_write:
        return _not_written(path, FOREIGN[ending])
    if ending in _ARCHIVES:
        return TableError(
            f"{path} is {FOREIGN[ending]}; unpack it, and give the table that is in it.",
            code="archive",
        )
    if ending in FOREIGN:
        return TableError(
            f"{path} is {FOREIGN[ending]}; save it as {_BETTER.get(ending, 'CSV')} and give that "
            "file.",
            code="foreign_format",
        )
    endings = ", ".join(ending for format in FORMATS.values() for ending in format.endings)
    return TableError(
        f"The name {path} does not tell the format of the table; it has to end with {endings}, or "
        "with .csv.gz.",
        code="unknown_ending",
    )


def _not_written(path: str, what: str) -> TableError:
    return TableError(
        f"{path} would be {what}, which cannot be written here; let the name end with .csv, .tsv, "
        ".xlsx, .jsonl, .parquet or .feather.",
        code="format_not_written",
    )
