"""From the options of a command to a prepared table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.csv  # noqa: F401 (now, not in the middle of the work)

from ..tables.prepared import Prepared, prepare
from ..tables.reading import Source, find, read
from .options import Columns, Reading
from .talk import Talk

if TYPE_CHECKING:
    from ..tables.streamed import StreamedTable

MEGABYTE = 1e6


def open_table(table: str, reading: Reading) -> Source:
    """Find the table and how it is written."""
    return find(
        table, delimiter=reading.delimiter, encoding=reading.encoding, decimal=reading.decimal
    )


def read_prepared(
    talk: Talk, table: str, reading: Reading, columns: Columns, source: Source | None = None
) -> Prepared:
    """Read a table whole and prepare it."""
    source = source or open_table(table, reading)
    size = f" ({source.n_bytes / MEGABYTE:,.0f} MB)" if source.n_bytes > MEGABYTE else ""
    with talk.busy(f"Reading {name_of(table)}{size}"):
        frame = read(source, **_typing(reading, columns))
    with talk.busy(f"Preparing {len(frame):,} rows"):
        return prepare(frame, columns.target, **_wishes(table, columns))


def read_in_parts(
    talk: Talk, table: str, reading: Reading, columns: Columns, source: Source, n_bytes: int
) -> StreamedTable:
    """Look at a table part by part, on Dask, and find how to prepare it."""
    from ..tables.models.streaming import on_dask
    from ..tables.partitions import cut
    from ..tables.streamed import prepare_partitions

    with talk.busy(f"Looking at {name_of(table)} in parts"):
        parts = cut(source, n_bytes=n_bytes, run=on_dask, **_typing(reading, columns))
    n_rows = sum(part.n_rows for part in parts)
    with talk.busy(f"Preparing {n_rows:,} rows in {len(parts):,} parts"):
        return prepare_partitions(parts, columns.target, run=on_dask, **_wishes(table, columns))


def _typing(reading: Reading, columns: Columns) -> dict[str, Any]:
    """Say how cells are read: labels and categories as they are written, as 007 is no 7."""
    levels = [name for name, kind in columns.kinds.items() if kind == "category"]
    return {"missing": reading.missing, "text": levels, "labels": (columns.target,)}


def _wishes(table: str, columns: Columns) -> dict[str, Any]:
    return {
        "group": columns.group,
        "kinds": columns.kinds,
        "drop": columns.drop,
        "unlabeled": columns.unlabeled,
        "source": name_of(table),
    }


def name_of(table: str) -> str:
    """Return what to call a table.

    Examples
    --------
    >>> name_of("data/churn.csv"), name_of("-")
    ('churn.csv', 'standard input')
    """
    return "standard input" if table == "-" else Path(table).name
