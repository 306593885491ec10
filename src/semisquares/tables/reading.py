"""Read people's tables: CSV, Parquet and Feather, whole or piece by piece."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import refuse, texts, whole_number
from .errors import TableError
from .formats.arrow_files import ArrowFile
from .formats.columns import (
    NO_LABEL,
    Missing,
    blanked,
    common_type,
    is_text,
    numbers_or_text,
    plain,
    spellings,
    to_pandas,
    with_points,
)
from .formats.csv_files import CsvFile
from .formats.format import Format
from .formats.headers import check_same, check_there
from .formats.sources import Source, find
from .formats.text_types import TextTypes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Format", "Source", "batches", "find", "read", "text_types"]


def read(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    text: Collection[str] = (),
    labels: Collection[str] = (),
) -> pd.DataFrame:
    """Read a whole table, and find the types of its columns.

    A column becomes int64, or float64 where cells are missing; float64; bool, or object where cells
    are missing; datetime64, in UTC if the cells name a time zone; or text. An empty cell is
    missing, and so is NA, N/A, n/a, #N/A, NaN, nan, null, NULL or None, also between blanks.

    Parameters
    ----------
    source : Source, str or Path
        From `find`, or what it would be given.
    missing : sequence of str
        More ways to write a missing cell.
    columns : sequence of str, optional
        The columns to read, and their order; all where not given.
    text : collection of str
        Columns whose cells stay as they are written: a code 007 is no number 7.
    labels : collection of str
        Columns of labels: text, and only empty cells and those of `missing` are missing, as NA or
        None may be a class. `read_target` says which are none.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import io
    >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n30,a\\nNA,b\\n?,c\\n"))
    >>> read(source, missing=["?"])
        age kind
    0  30.0    a
    1   NaN    b
    2   NaN    c

    A path does as well, where nothing is to be said about how the file is written:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,kind\\n30,a\\n")
    >>> read(path)
       age kind
    0   30    a
    """
    source = as_source(source)
    labels = texts("labels", labels)
    text = {*texts("text", text), *labels}
    if columns is not None and not (columns := texts("columns", columns)):
        raise TableError("columns is empty; give at least one column, or None for all.")
    readers = readers_of(source, spellings_of(missing, labels))
    check_there([*(columns or ()), *sorted(text)], readers[0].names, readers[0].file.name)
    wanted = list(readers[0].names if columns is None else columns)
    table = _united(readers, wanted, {name for name in text if name in wanted})
    if not table.num_rows:
        raise no_rows(source)
    return to_pandas(table)


def batches(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    rows: int = 100_000,
    numbers: Collection[str] = (),
    labels: Collection[str] = (),
) -> Iterator[tuple[pa.Table, pd.DataFrame]]:
    """Read a table in pieces: what is in its cells, and what they say.

    Only the piece at hand is in memory.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`.
    missing : sequence of str
        More ways to write a missing cell, besides those of `read`.
    rows : int, default=100_000
        Of a piece; the last of a file has fewer.
    numbers : collection of str
        Columns to turn into numbers, in the pieces where all their cells are numbers. All other
        cells of a CSV are text in the frames too.
    labels : collection of str
        Columns of labels, as in `read`.

    Yields
    ------
    cells : pyarrow.Table
        To be written as they are: the text of a CSV, the original columns of other files, with the
        index that pandas has stored there.
    frame : DataFrame
        The same rows; missing cells are missing, and a decimal comma is a point.

    Examples
    --------
    >>> import io
    >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n030,a\\nNA,b\\n"))
    >>> cells, frame = next(batches(source, numbers=["age"]))
    >>> cells["age"].to_pylist(), frame["age"].tolist()
    (['030', 'NA'], [30.0, nan])
    """
    source = as_source(source)
    rows = whole_number("rows", rows, 1)
    numbers = frozenset(texts("numbers", numbers))
    readers = readers_of(source, spellings_of(missing, labels))
    names, total = readers[0].names, 0
    same = all(reader.index == readers[0].index for reader in readers)
    index = readers[0].index if same else ()
    for reader in readers:
        for cells in _regrouped(reader.pieces([*names, *index], rows), rows):
            total += cells.num_rows
            yield cells, _frame(cells.select(names), reader, source.format, numbers)
    if not total:
        raise no_rows(source)


def text_types(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    rows: int = 100_000,
    labels: Collection[str] = (),
) -> TextTypes:
    """Find the types of the columns of a CSV, for writing its pieces to a file that keeps types.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`; it is read once from end to end.
    missing, rows, labels
        As in `batches`.

    Examples
    --------
    >>> import io
    >>> source = find("-", stdin=io.BytesIO(b"age,code\\n30,007\\n,08\\n"))
    >>> types = text_types(source)
    >>> [types.cast(cells).to_pydict() for cells, _ in batches(source)]
    [{'age': [30, None], 'code': ['007', '08']}]
    """
    source = as_source(source)
    rows = whole_number("rows", rows, 1)
    readers = readers_of(source, spellings_of(missing, labels))
    missing, labels = readers[0].missing.more, readers[0].missing.labels
    words = {
        name: spellings((*missing, *NO_LABEL)) if name in labels else readers[0].missing.words
        for name in readers[0].names
    }
    types = TextTypes(words, decimal=source.format.decimal)
    for reader in readers:
        for cells in _regrouped(reader.pieces(readers[0].names, rows), rows):
            types.look(cells)
    return types


def as_source(source: Source | str | Path) -> Source:
    """Return the source of a table; a path is looked for with `find`."""
    if isinstance(source, Source):
        return source
    if not isinstance(source, str | os.PathLike):
        raise refuse("source", source, "a path, or what find returns for it")
    return find(source)


def spellings_of(missing: Sequence[str], labels: Collection[str]) -> Missing:
    """Return how missing cells are written, as `read` is told it."""
    return Missing(texts("missing", missing), frozenset(texts("labels", labels)))


def readers_of(source: Source, missing: Missing) -> list[CsvFile | ArrowFile]:
    """Open the files of a table, and check that they have the same columns."""
    form = source.format
    readers: list[CsvFile | ArrowFile] = []
    for file in source.files:
        if form.kind == "csv":
            reader: CsvFile | ArrowFile = CsvFile(file, form, missing)
        else:
            reader = ArrowFile(file, form.kind, missing)
        readers.append(reader)
        check_same(reader.names, file.name, readers[0].names, readers[0].file.name)
    return readers


def _united(
    readers: Sequence[CsvFile | ArrowFile], wanted: Sequence[str], text: Collection[str]
) -> pa.Table:
    """Read all files, each column with the type that holds its cells in all of them."""
    import pyarrow as pa

    tables = [reader.whole(wanted, text) for reader in readers]
    if len(tables) == 1:
        return tables.pop()
    kinds = [common_type(kinds) for kinds in zip(*(t.schema.types for t in tables), strict=True)]
    schema = pa.schema(list(zip(wanted, kinds, strict=True)))
    for i, (reader, table) in enumerate(zip(readers, tables, strict=True)):
        numeric = [
            field.name
            for field, kind in zip(table.schema, kinds, strict=True)
            if is_text(kind) and not is_text(field.type) and not pa.types.is_null(field.type)
        ]
        if numeric:  # numbers here, text in another file
            table = reader.whole(wanted, {*text, *numeric})
        tables[i] = table.cast(schema)
        del table
    return pa.concat_tables(tables)


def _regrouped(pieces: Iterator[Any], rows: int) -> Iterator[pa.Table]:
    """Cut and join record batches to tables of `rows` rows."""
    import pyarrow as pa

    held, count = [], 0
    for piece in pieces:
        held.append(piece)
        count += piece.num_rows
        while count >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows)
            held = table.slice(rows).to_batches()
            count -= rows
    if count:
        yield pa.Table.from_batches(held)


def _frame(
    cells: pa.Table, reader: CsvFile | ArrowFile, form: Format, numbers: Collection[str]
) -> pd.DataFrame:
    """Turn cells as they are written into those that can be computed with."""
    import pyarrow as pa

    columns = []
    for name, column in zip(cells.column_names, cells.columns, strict=True):
        column = blanked(plain(column, name, reader.file.name), reader.missing.of(name))
        if form.decimal == ",":
            column = with_points(column, label=name in reader.missing.labels)
        columns.append(numbers_or_text(column) if name in numbers else column)
    return to_pandas(pa.Table.from_arrays(columns, names=cells.column_names))


def no_rows(source: Source) -> TableError:
    """Say that a table has no rows."""
    name = source.files[0].name
    return TableError(f"{name} has a header but no rows; give a table with rows.")
