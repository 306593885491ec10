"""From the options of a command to a prepared table."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv  # noqa: F401 (now, not in the middle of the work)

from ..tables.prepared import Prepared, prepare
from ..tables.reading import Source, find, read
from .options import Columns, Reading
from .talk import Talk

MEGABYTE = 1e6


def open_table(table: str, reading: Reading) -> Source:
    """Find the table and how it is written."""
    return find(
        table, delimiter=reading.delimiter, encoding=reading.encoding, decimal=reading.decimal
    )


def read_prepared(talk: Talk, table: str, reading: Reading, columns: Columns) -> Prepared:
    """Read a table whole and prepare it."""
    source = open_table(table, reading)
    size = f" ({source.n_bytes / MEGABYTE:,.0f} MB)" if source.n_bytes > MEGABYTE else ""
    with talk.busy(f"Reading {name_of(table)}{size}"):
        # labels and categories stay as they are written: 007 is no 7
        levels = [name for name, kind in columns.kinds.items() if kind == "category"]
        frame = read(source, missing=reading.missing, text=levels, labels=(columns.target,))
    with talk.busy(f"Preparing {len(frame):,} rows"):
        return prepare(
            frame,
            columns.target,
            group=columns.group,
            kinds=columns.kinds,
            drop=columns.drop,
            unlabeled=columns.unlabeled,
            source=name_of(table),
        )


def name_of(table: str) -> str:
    """Return what to call a table.

    Examples
    --------
    >>> name_of("data/churn.csv"), name_of("-")
    ('churn.csv', 'standard input')
    """
    return "standard input" if table == "-" else Path(table).name
