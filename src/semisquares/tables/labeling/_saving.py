"""Write a copy of a table with the labels of a session; the whole file or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...labeling._session import LabelingOutcome
from .._written import drawn_column, note_column, reviewed_column
from ..io import text_types, writer
from ._reading import LabelTable, label_columns

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["save_labels"]


def save_labels(table: LabelTable, outcome: LabelingOutcome, out: str) -> None:
    """Write the rows of a table, with new labels, how their rows were chosen, notes and reviews.

    All other cells stay as they are written. The target keeps its type if all new labels are of
    that type, and becomes text otherwise.

    Parameters
    ----------
    table : LabelTable
    outcome : LabelingOutcome
        Of the session.
    out : str
        The file; its ending determines the format.
    """
    target, names = table.target, table.chunks[0].column_names
    target_type = _target_type(table, outcome)
    columns = {drawn_column(target): outcome.drawn}
    more = {note_column(target): outcome.notes, reviewed_column(target): outcome.reviewed}
    columns |= {name: cells for name, cells in more.items() if cells or name in names}
    with writer(out, dialect=table.source.dialect) as to:
        typed = table.source.format.is_text and not to.format.is_text
        types = None
        if typed:
            labels = label_columns(names, target)
            types = text_types(table.source, missing=table.missing, labels=labels)
            types.add_cells(target, sorted(set(outcome.labels.values())))
            for name, cells in columns.items():
                if name in names:  # a new one is text
                    types.add_cells(name, sorted(set(cells.values())))
        for start, chunk in zip(table.starts, table.chunks, strict=True):
            written = _filled(chunk, target, target_type, outcome.labels, start)
            for name, cells in columns.items():
                written = _filled(written, name, None, cells, start)
            to.write(written if types is None else types.cast(written))


def _target_type(table: LabelTable, outcome: LabelingOutcome) -> Any:
    """Return the type of the target in the file: its own if it can hold all labels."""
    import pyarrow as pa

    cells = table.chunks[0]
    if table.target not in cells.column_names:
        return pa.string()
    type = cells.schema.field(table.target).type
    type = type.value_type if pa.types.is_dictionary(type) else type
    if pa.types.is_null(type):
        return pa.string()
    try:
        pa.array(sorted(set(outcome.labels.values())), pa.string()).cast(type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.string()
    return type


def _filled(
    cells: pa.Table, name: str, type: Any, values: Mapping[int, str], start: int
) -> pa.Table:
    """Put values into some rows of a column, which is added if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_rows = cells.num_rows
    type = pa.string() if type is None else type
    here = {row - start: value for row, value in values.items() if start <= row < start + n_rows}
    rows = sorted(here)
    mask = np.zeros(n_rows, dtype=bool)
    mask[rows] = True
    exists = name in cells.column_names
    column = cells[name].combine_chunks() if exists else pa.nulls(n_rows, type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    new = pa.array([here[row] for row in rows], pa.string()).cast(type)
    column = pc.replace_with_mask(column.cast(type), pa.array(mask), new)
    if not exists:
        return cells.append_column(name, column)
    return cells.set_column(cells.column_names.index(name), name, column)
