"""Read and prepare a table as the options say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.csv  # noqa: F401 (while signals may still end the process at once)

from ..tables.dataset import Prepared, prepare
from ..tables.io import Source, find, read, remove_leftovers
from ._options import Columns, Reading
from ._output import Output

if TYPE_CHECKING:
    from ..tables._chunked import ChunkedTable

MEGABYTE = 1e6


def open_table(table: str, reading: Reading) -> Source:
    """Find the files of a table, and how they are written."""
    remove_leftovers()
    return find(
        table,
        delimiter=reading.delimiter,
        encoding=reading.encoding,
        decimal=reading.decimal,
        skip_rows=reading.skip_rows or 0,
        sheet=reading.sheet,
    )


def read_prepared(
    output: Output,
    table: str,
    reading: Reading,
    columns: Columns,
    source: Source | None = None,
    *,
    min_classes: int = 2,
) -> Prepared:
    """Read a whole table and prepare it; its labels must have `min_classes` classes."""
    source = source or open_table(table, reading)
    size = f" ({source.n_bytes / MEGABYTE:,.0f} MB)" if source.n_bytes > MEGABYTE else ""
    with output.status(f"Reading {name_of(table)}{size}"):
        frame = read(source, **_reading(reading, columns))
    with output.status(f"Preparing {len(frame):,} rows"):
        return prepare(frame, columns.target, min_classes=min_classes, **_options(table, columns))


def read_in_chunks(
    output: Output,
    table: str,
    reading: Reading,
    columns: Columns,
    source: Source,
    n_bytes: int,
    folder: str | None = None,
) -> ChunkedTable:
    """Read a table in chunks with Dask, and find out how to prepare it."""
    from ..tables._chunked import prepare_chunks
    from ..tables.io import split
    from ..tables.models._streaming import on_dask

    with output.status(f"Scanning {name_of(table)} in chunks"):
        chunks = split(
            source, n_bytes=n_bytes, run=on_dask, folder=folder, **_reading(reading, columns)
        )
    n_rows = sum(chunk.n_rows for chunk in chunks)
    with output.status(f"Preparing {n_rows:,} rows in {len(chunks):,} chunks"):
        return prepare_chunks(chunks, columns.target, run=on_dask, **_options(table, columns))


def _reading(reading: Reading, columns: Columns) -> dict[str, Any]:
    """Return how to read cells; labels, categories and texts as written: 007 does not become 7."""
    levels = [name for name, kind in columns.kinds.items() if kind in ("category", "text")]
    return {"missing": reading.missing, "text": levels, "labels": (columns.target,)}


def _options(table: str, columns: Columns) -> dict[str, Any]:
    """Return how the columns are to be prepared."""
    return {
        "group": columns.group,
        "kinds": columns.kinds,
        "drop": columns.drop,
        "unlabeled": columns.unlabeled,
        "dates": columns.dates,
        "source": name_of(table),
    }


def name_of(table: str) -> str:
    """Return the name of a table in messages.

    Examples
    --------
    >>> name_of("data/churn.csv"), name_of("-")
    ('churn.csv', 'standard input')
    """
    return "standard input" if table == "-" else Path(table).name
