"""Read people's tables: whole, or chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._arguments import refuse, texts, whole_number
from ..errors import TableError
from ._columns import (
    NO_LABEL,
    MissingWords,
    common_type,
    is_text,
    mark_missing,
    numbers_or_text,
    spellings,
    swap_marks,
    to_pandas,
    to_plain_type,
)
from ._names import check_exist, check_same
from ._source import Source, find
from ._text_types import TextTypes
from .protocol import Reader

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def read(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    text: Collection[str] = (),
    labels: Collection[str] = (),
) -> pd.DataFrame:
    """Read a whole table, and find the types of its columns.

    A column becomes int64, or float64 if cells are missing; float64; bool, or object if cells are
    missing; datetime64, in UTC if the cells name a time zone; or text, as are numbers with leading
    zeros, such as the ZIP code 01234. An empty cell is missing, and so is NA, N/A, n/a, #N/A, NaN,
    nan, null, NULL or None, with or without blanks around it.

    Parameters
    ----------
    source : Source, str or Path
        What `find` returns, or a path to pass to it.
    missing : sequence of str
        More ways to write a missing cell.
    columns : sequence of str, optional
        The columns to read, in this order; by default all.
    text : collection of str
        Columns whose cells stay as they are written: the code 007 is not the number 7.
    labels : collection of str
        Columns of labels. They are text, and only empty cells and those of `missing` are missing,
        as NA or None may be a class.

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

    If no option of `find` is needed, a path will do:

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
        raise TableError(
            "columns is empty; give at least one column, or None for all.", code="no_columns"
        )
    readers = open_readers(source, missing_words(missing, labels))
    check_exist([*(columns or ()), *sorted(text)], readers[0].names, readers[0].file.name)
    wanted = list(readers[0].names if columns is None else columns)
    table = _read_all(readers, wanted, {name for name in text if name in wanted})
    if not table.num_rows:
        raise no_rows(source)
    return to_pandas(table)


def iter_chunks(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    rows: int = 100_000,
    numbers: Collection[str] = (),
    labels: Collection[str] = (),
) -> Iterator[tuple[pa.Table, pd.DataFrame]]:
    """Read a table chunk by chunk: the cells as they are written, and their values.

    Only the current chunk is in memory.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`.
    missing : sequence of str
        More ways to write a missing cell, besides those of `read`.
    rows : int, default=100_000
        Rows of a chunk; the last one of a file has fewer.
    numbers : collection of str
        Columns to turn into numbers in chunks in which all their cells are numbers. All other cells
        of a CSV are text in the frames as well.
    labels : collection of str
        Columns of labels, as in `read`.

    Yields
    ------
    cells : pyarrow.Table
        Cells that can be written back unchanged: the text of a CSV, the stored columns of other
        files, with the index of pandas.
    frame : DataFrame
        The same rows as values, with missing cells and decimal points.

    Examples
    --------
    >>> import io
    >>> source = find("-", stdin=io.BytesIO(b"age,kind\\n030,a\\nNA,b\\n"))
    >>> cells, frame = next(iter_chunks(source, numbers=["age"]))
    >>> cells["age"].to_pylist(), frame["age"].tolist()
    (['030', 'NA'], [30.0, nan])
    """
    source = as_source(source)
    rows = whole_number("rows", rows, 1)
    numbers = frozenset(texts("numbers", numbers))
    words = missing_words(missing, labels)
    readers = open_readers(source, words)
    names, total = readers[0].names, 0
    same = all(reader.index == readers[0].index for reader in readers)
    index = readers[0].index if same else ()
    decimal = source.dialect.decimal
    for reader in readers:
        for cells in _regrouped(reader.batches([*names, *index], rows), rows):
            total += cells.num_rows
            values = _values(cells.select(names), reader.file.name, words, numbers, decimal)
            yield cells, to_pandas(values)
    if not total:
        raise no_rows(source)


def text_types(
    source: Source | str | Path,
    *,
    missing: Sequence[str] = (),
    rows: int = 100_000,
    labels: Collection[str] = (),
) -> TextTypes:
    """Find the types of the columns of a CSV, to write its cells to a file that stores types.

    Parameters
    ----------
    source : Source, str or Path
        As in `read`; all of it is read once.
    missing, rows, labels
        As in `iter_chunks`.

    Examples
    --------
    >>> import io
    >>> source = find("-", stdin=io.BytesIO(b"age,code\\n30,007\\n,08\\n"))
    >>> types = text_types(source)
    >>> [types.cast(cells).to_pydict() for cells, _ in iter_chunks(source)]
    [{'age': [30, None], 'code': ['007', '08']}]
    """
    source = as_source(source)
    rows = whole_number("rows", rows, 1)
    words = missing_words(missing, labels)
    readers = open_readers(source, words)
    by_column = {
        name: spellings((*words.more, *NO_LABEL)) if name in words.labels else words.words
        for name in readers[0].names
    }
    types = TextTypes(by_column, decimal=source.dialect.decimal)
    for reader in readers:
        for cells in _regrouped(reader.batches(readers[0].names, rows), rows):
            types.add(cells)
    return types


def as_source(source: Source | str | Path) -> Source:
    """Return the source of a table; a path is passed to `find`."""
    if isinstance(source, Source):
        return source
    if not isinstance(source, str | os.PathLike):
        raise refuse("source", source, "a path, or what find returns for it")
    return find(source)


def missing_words(missing: Sequence[str], labels: Collection[str]) -> MissingWords:
    """Return how missing cells are written, from the arguments of `read`."""
    return MissingWords(texts("missing", missing), frozenset(texts("labels", labels)))


def open_readers(source: Source, missing: MissingWords) -> list[Reader]:
    """Open the files of a table, and check that they have the same columns."""
    readers: list[Reader] = []
    for file in source.files:
        readers.append(source.format.open(file, source.dialect, missing))
        check_same(readers[-1].names, file.name, readers[0].names, readers[0].file.name)
    return readers


def no_rows(source: Source) -> TableError:
    """Return an error that says that a table has no rows."""
    name = source.files[0].name
    return TableError(
        f"{name} has a header but no rows; give a table with rows.", code="header_only"
    )


def _read_all(readers: Sequence[Reader], wanted: Sequence[str], text: Collection[str]) -> pa.Table:
    """Read all files, each column with the type that holds its cells in all of them."""
    import pyarrow as pa

    tables = [reader.read(wanted, text) for reader in readers]
    if len(tables) == 1:
        return tables.pop()
    types = [common_type(types) for types in zip(*(t.schema.types for t in tables), strict=True)]
    schema = pa.schema(list(zip(wanted, types, strict=True)))
    for i, (reader, table) in enumerate(zip(readers, tables, strict=True)):
        numeric = [
            field.name
            for field, type in zip(table.schema, types, strict=True)
            if is_text(type) and not is_text(field.type) and not pa.types.is_null(field.type)
        ]
        if numeric:  # numbers here, text in another file
            table = reader.read(wanted, {*text, *numeric})
        tables[i] = table.cast(schema, safe=False)  # rounds whole numbers beyond 2**53
        del table
    return pa.concat_tables(tables)


def _regrouped(batches: Iterator[Any], rows: int) -> Iterator[pa.Table]:
    """Regroup record batches into tables of `rows` rows."""
    import pyarrow as pa

    held, count = [], 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows)
            held = table.slice(rows).to_batches()
            count -= rows
    if count:
        yield pa.Table.from_batches(held)


def _values(
    cells: pa.Table, where: str, missing: MissingWords, numbers: Collection[str], decimal: str
) -> pa.Table:
    """Convert cells as they are written to values."""
    import pyarrow as pa

    columns = []
    for name, column in zip(cells.column_names, cells.columns, strict=True):
        column = mark_missing(to_plain_type(column, name, where), missing.of(name))
        if decimal == ",":
            column = swap_marks(column, label=name in missing.labels)
        columns.append(numbers_or_text(column) if name in numbers else column)
    return pa.Table.from_arrays(columns, names=cells.column_names)
