"""A table that does not fit in memory, prepared chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from .._utils.typing import Array
from ._encoding import Encoding, TableStatistics, clean
from .columns import Column, Profile
from .columns._cells import factorize_texts, text_of
from .columns._protocol import RowRange, merge_known
from .dataset import FilledMarks, TableInfo, TableOptions
from .io import Chunk, Run
from .schema import infer_columns, profile_columns
from .target import TargetCoder, TargetProfile, has_label, infer_target, profile_target

Merged = TypeVar("Merged", "TableProfile", TableStatistics)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChunkedTable(TableInfo):
    """A prepared table whose rows are encoded on demand; `target.codes` is empty."""

    chunks: tuple[Chunk, ...]
    labels: TargetCoder

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Rows of each chunk."""
        return tuple(chunk.n_rows for chunk in self.chunks)

    def transform(self, chunk: Chunk, dtype: DTypeLike = np.float64) -> tuple[Array, Array]:
        """Return the encoded rows of a chunk, and their labels.

        Parameters
        ----------
        chunk : Chunk
            Of this table, or of another one with the same columns.
        dtype : dtype, default=float64
            The type of the encoded rows.

        Returns
        -------
        X : (n_rows, n_features) ndarray
        codes : (n_rows,) ndarray of int
            The position of each row's label in the classes, -1 if it has none.
        """
        used = [column.name for column in self.columns if column.used]
        frame = chunk.read([*used, self.target.name])
        codes = self.labels.codes_of(frame.pop(self.target.name))
        return self.encoder.transform(frame).astype(dtype, copy=False), codes


def prepare_chunks(
    chunks: Sequence[Chunk],
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | float | None = None,
    dates: str | None = None,
    source: str = "the table",
    run: Run = map,
) -> ChunkedTable:
    """Read the labels of a table, and fit an encoder to its other columns.

    The result is that of `prepare` for the whole table, found in two passes over the chunks:
    the first infers the schema, the second fits the encoder. The only difference is a column with
    more than 131,072 different texts: their number is an estimate, and the column is never a
    category.

    Parameters
    ----------
    chunks : sequence of Chunk
        From `split`, with the target among its ``labels``.
    target, group, kinds, drop, unlabeled, dates, source
        As in `prepare`.
    run : callable, default=map
        As in `split`.

    Returns
    -------
    ChunkedTable

    Examples
    --------
    >>> import io
    >>> from semisquares.tables.io import find, split
    >>> rows = b"age,sick\\n30,no\\n40,\\n50,yes\\n60,\\n"
    >>> chunks = split(find("-", stdin=io.BytesIO(rows)), labels=["sick"], n_bytes=32)
    >>> table = prepare_chunks(chunks, "sick")
    >>> table.target.classes, table.n_rows
    (('no', 'yes'), (2, 2))
    >>> X, codes = table.transform(chunks[0])
    >>> X.round(2).tolist(), codes.tolist()
    ([[-1.34], [-0.45]], [0, -1])
    """
    options = TableOptions.of(chunks[0].names, target, group, kinds, drop, unlabeled, dates)
    total = sum(chunk.n_rows for chunk in chunks)
    profile: TableProfile = _merge_all(
        run(partial(profile_chunk, options=options, total=total), chunks)
    )
    labels = infer_target(
        profile.target, target, unlabeled=options.unlabeled, as_levels=options.as_levels
    )
    left_out = options.left_out(profile.marks)
    columns = infer_columns(profile.column_items(options), options.kinds, left_out, options.dates)
    statistics: TableStatistics = _merge_all(
        run(partial(summarise_chunk, columns=columns, total=total), chunks)
    )
    return ChunkedTable(
        source=source,
        target=labels.target,
        encoder=Encoding.fit(options.names, columns, statistics),
        group=group,
        unlabeled=options.unlabeled,
        notes=options.notes(labels.target, profile.marks, columns, profile.n_alone),
        n_filled=0 if profile.marks is None else profile.marks.n_filled,
        chunks=tuple(chunks),
        labels=labels,
    )


@dataclass(frozen=True, eq=False)
class TableProfile:
    """The profiles of all columns of a table, or of a chunk of it."""

    target: TargetProfile
    columns: Mapping[str, Profile]
    marks: FilledMarks | None
    n_alone: int
    """Rows without a group."""

    def merge(self, other: TableProfile) -> TableProfile:
        """Return the profile of both chunks."""
        return TableProfile(
            self.target.merge(other.target),
            {name: one.merge(other.columns[name]) for name, one in self.columns.items()},
            merge_known(self.marks, other.marks),
            self.n_alone + other.n_alone,
        )

    def column_items(self, options: TableOptions) -> Iterable[tuple[str, Profile]]:
        """Return names and profiles; of a column of marks, only the missing cells are counted."""
        columns = dict(self.columns)
        if options.marker is not None and self.marks is not None:
            n_rows, n_missing = self.marks.n_rows, self.marks.n_missing
            columns[options.marker] = Profile("", n_rows, n_rows - n_missing)
        return columns.items()


def profile_chunk(chunk: Chunk, options: TableOptions, total: int) -> TableProfile:
    """Profile a chunk; the first pass."""
    frame, start = chunk.read(), chunk.start
    series = ((name, frame[name]) for name in options.names)
    values = frame[options.target]
    marks = None
    if options.marker is not None:
        marks = FilledMarks.of(frame[options.marker], has_label(values, options.unlabeled))
    n_alone = 0
    if options.group is not None:
        codes, _ = factorize_texts(frame[options.group], text_of)
        n_alone = int(np.count_nonzero(codes < 0))
    return TableProfile(
        profile_target(values, options.target, as_levels=options.as_levels, start=start),
        dict(profile_columns(series, options.kinds, options.drop, RowRange(start, total))),
        marks,
        n_alone,
    )


def summarise_chunk(chunk: Chunk, columns: Sequence[Column], total: int) -> TableStatistics:
    """Return the statistics of a chunk; the second pass."""
    frame = chunk.read([column.name for column in columns if column.used])
    rows = RowRange(chunk.start, total)
    return TableStatistics.of(clean(frame, columns), columns, rows)


def _merge_all(records: Iterable[Merged]) -> Merged:
    """Merge the records of chunks as they come."""
    return reduce(lambda one, other: one.merge(other), records)
