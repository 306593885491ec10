"""The names of columns: read from a file, and checked."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._utils.messages import Parameter
from .._options import check_column
from ..errors import TableError
from ._dialect import CANDIDATES, Dialect, spelled
from ._faults import title_fault, undecodable
from ._files import TableFile, empty, open_lines

MOST_COLUMNS = 20_000
"""Each column is profiled, encoded and stored on its own, which takes about a millisecond."""
UNNAMED_COLUMN = "column 1"
"""What a first column without a name in a CSV is called."""
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""The name that pandas gives an unnamed index in Parquet and Feather."""


def csv_header(file: TableFile, dialect: Dialect) -> list[str]:
    """Read the header of a CSV as it is written; TableError if it is a single cell."""
    try:
        with open_lines(file, dialect.encoding) as lines:
            rows = csv.reader(lines, delimiter=dialect.delimiter)
            header = next((row for row in rows if row), [])
    except UnicodeError as error:
        raise undecodable(file, dialect.encoding) from error
    except csv.Error as error:
        raise TableError(
            f"{file.name} has a quotation mark in its header that is not closed; close it.",
            code="unclosed_header",
        ) from error
    if not header:
        raise empty(file)
    if len(header) == 1:
        raise title_fault(file, dialect.encoding) or _single(file, header[0], dialect.delimiter)
    return header


def check_names(raw: Sequence[str], where: str) -> list[str]:
    """Return the names of columns without blanks around them.

    TableError if a name is empty or occurs twice, or if there are too many.
    """
    check_width(len(raw), where)
    names = [name.strip() for name in raw]
    if names and not names[0]:
        names[0] = UNNAMED_COLUMN  # the index, as pandas and R write it
    if "" in names:
        raise TableError(
            f"{where} has no name for column {names.index('') + 1} of {len(names)} in its header; "
            "name the column, or remove it.",
            code="unnamed_column",
        )
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        listed = ", ".join(map(repr, double[:5])) + (", …" if len(double) > 5 else "")
        raise TableError(
            f"{where} has more than one column named {listed}; give each column its own name.",
            code="duplicate_columns",
        )
    return names


def check_width(n_columns: int, where: str) -> None:
    """Raise TableError if a table has too many columns to treat each on its own."""
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{where} has {n_columns:,} columns, and a table may have {MOST_COLUMNS:,}; leave out "
            "those that matter least, or fit a classifier of semisquares to an array in Python.",
            code="too_many_columns",
        )


def check_same(names: Sequence[str], where: str, first: Sequence[str], of: str) -> None:
    """Raise TableError unless two files have the same columns, in any order."""
    here, there = set(names), set(first)
    lacking = [name for name in first if name not in here]
    extra = [name for name in names if name not in there]
    if lacking:
        raise TableError(
            f"{where} has no column {lacking[0]!r}, which {of} has; give files with the same "
            "columns.",
            code="different_columns",
        )
    if extra:
        raise TableError(
            f"{where} has a column {extra[0]!r}, which {of} does not have; give files with the "
            "same columns.",
            code="different_columns",
        )


def check_exist(wanted: Sequence[str], names: Sequence[str], where: str) -> None:
    """Raise TableError if a wanted column does not exist; suggest the most similar name."""
    there = dict.fromkeys(names)
    for name in wanted:
        check_column(there, name, where=where)


def stored_names(schema: Any) -> list[str]:
    """List the columns of an Arrow schema, without those of an unnamed pandas index."""
    notes = _pandas_notes(schema)
    index = schema.names if notes is None else notes.index
    unnamed = {name for name in index if isinstance(name, str) and _UNNAMED_INDEX.fullmatch(name)}
    return [name for name in schema.names if name not in unnamed]


def pandas_index(schema: Any, names: Mapping[str, str]) -> dict[bytes, bytes] | None:
    """Return the metadata by which pandas finds its index again among columns renamed to `names`.

    What pandas has noted about other columns is left out.
    """
    notes = _pandas_notes(schema)
    if notes is None:
        return None
    stored = [name for name in notes.index if isinstance(name, str)]
    if not notes.index or not set(stored) <= set(names):
        return None
    columns = [
        {**column, "name": column["name"] and names[field], "field_name": names[field]}
        for column in notes.columns
        if (field := column.get("field_name")) in stored
    ]
    index = [names[name] if isinstance(name, str) else name for name in notes.index]
    kept = {"index_columns": index, "columns": columns, "column_indexes": []}
    return {b"pandas": json.dumps(kept).encode()}


@dataclass(frozen=True)
class _PandasNotes:
    """What pandas has noted in the metadata of a schema."""

    index: list[str | dict[str, Any]] = field(default_factory=list)
    """The columns of the index, or the range that it is."""
    columns: list[dict[str, Any]] = field(default_factory=list)


def _pandas_notes(schema: Any) -> _PandasNotes | None:
    """Read the notes of pandas; empty ones if another program wrote the file, None if damaged.

    A table with damaged notes is not refused, since its cells can be read without them.
    """
    text = (schema.metadata or {}).get(b"pandas")
    if text is None:
        return _PandasNotes()
    try:
        read = json.loads(text)
        notes = _PandasNotes(read.get("index_columns", []), read.get("columns", []))
        fine = all(_names_index(one, schema.names) for one in notes.index) and all(
            isinstance(column.get("name", 0), str | None) for column in notes.columns
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return notes if fine else None


def _names_index(entry: Any, names: Sequence[str]) -> bool:
    """Tell whether an entry of an index names a column or is a range of row numbers."""
    if isinstance(entry, str):
        return entry in names
    return all(isinstance(entry.get(key), int) for key in ("start", "stop", "step"))


def _single(file: TableFile, header: str, delimiter: str) -> TableError:
    shown = header if len(header) <= 40 else header[:40] + "…"
    better = next((mark for mark in CANDIDATES if mark in header), ";")
    return TableError(
        "{file} has a single column when it is split at each {delimiter} (its header is "
        "{header!r}); name the delimiter, as in {better}.",
        code="single_column",
        file=file.name,
        delimiter=spelled(delimiter),
        header=shown,
        better=Parameter("delimiter", "tab" if better == "\t" else better),
    )
