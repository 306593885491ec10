"""`fit_table` on Dask, for a table in chunks that need not fit in memory.

Choosing and testing use all labeled rows and a sample of the others, as they do in memory. The fit
uses all rows: each pass reads the chunks again on Dask's workers, which return sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from ...core.rows import compute
from .._chunked import ChunkedTable
from .._importance import importance_rows
from ..columns._cells import factorize_texts, text_of
from ..compare._rows import MOST_TESTED, TableRows
from ..compare._tuning import move_intercept
from ..compare.notices.never_predicted import looked_at
from ..errors import TableError
from ..io import Chunk
from ._measuring import (
    WITHOUT_ALPHA,
    FitOptions,
    choose,
    fit_setting,
)
from ._noticing import sample_of
from .fitting import (
    Fit,
    assemble,
    average_rows,
    capture_warnings,
    complete,
    measure_method,
    point_of,
)
from .model import TableModel

__all__ = ["fit_streamed", "on_dask"]


MOST_LABELED = 1_000_000_000
"""Bytes of labeled rows that are collected for choosing and testing at most."""


def on_dask(function: Any, chunks: Iterable[Chunk]) -> tuple[Any, ...]:
    """Call a function with every chunk on Dask's workers; return the results in order.

    Pass it as `run` to `split` and `prepare_chunks`.
    """
    import dask

    tasks = [dask.delayed(function, pure=False)(chunk) for chunk in chunks]
    return compute(tasks, len(tasks))[1]


def fit_streamed(
    table: ChunkedTable, options: FitOptions | None = None, *, missing: Sequence[str] = ()
) -> TableModel:
    """Fit a classifier to a table in chunks.

    Parameters
    ----------
    table : ChunkedTable
        From `prepare_chunks`.
    options : FitOptions, optional
        See `fit_table`.
    missing : sequence of str
        As in `fit_table`.

    Examples
    --------
    >>> import io
    >>> from semisquares.tables._chunked import prepare_chunks
    >>> from semisquares.tables.io import find, split
    >>> rows = b"size,kind\\n1,a\\n2,a\\n3,a\\n7,b\\n8,b\\n9,b\\n2,\\n8,\\n"
    >>> chunks = split(find("-", stdin=io.BytesIO(rows)), labels=["kind"], n_bytes=32)
    >>> table = prepare_chunks(chunks, "kind", run=on_dask)
    >>> model = fit_streamed(table, FitOptions("soft", alpha=1.0, weight=1.0))
    >>> model.predict(chunks[1].read()).labels.tolist(), model.about["rows"]
    (['a', 'b'], 8)
    """
    options = options or FitOptions()
    point = point_of(table, options)
    rows, some = _subsample(table, options.seed)
    if options.method == "averaged":
        groups = None if table.group is None else _group_blocks(table, table.group)
        blocks = (*_blocks(table), groups)
        fit, measured = average_rows(blocks, rows, table.target.classes, options, point)
        return assemble(table, sample_of(table, rows), options, measured, fit, missing, some)
    method, measured = options.method, measure_method(rows, table.target.classes, options, point)
    with capture_warnings() as notes:
        setting = choose(rows, options)
        if method in WITHOUT_ALPHA:  # they use the labeled rows alone, which are all in the sample
            classifier = fit_setting(setting, rows)
        else:
            classifier = setting.classifier().fit(*_blocks(table))
            move_intercept(classifier, setting.shift)
    fit = complete(Fit(method, setting, classifier, notes, point), rows, looked_at(rows.X))
    return assemble(table, sample_of(table, rows), options, measured, fit, missing, some)


def _blocks(table: ChunkedTable) -> tuple[Any, Any]:
    """Return the encoded rows and their labels as Dask arrays, one block per chunk."""
    import dask
    import dask.array as da

    read = dask.delayed(table.transform, pure=False)
    width = len(table.features)
    X, y = [], []
    for chunk in table.chunks:
        rows = read(chunk)
        X.append(da.from_delayed(rows[0], (chunk.n_rows, width), dtype=np.float64))
        y.append(da.from_delayed(rows[1], (chunk.n_rows,), dtype=np.intp))
    return da.concatenate(X), da.concatenate(y)


def _group_blocks(table: ChunkedTable, group: str) -> Any:
    """Return the groups of the rows as a Dask array, one block per chunk."""
    import dask
    import dask.array as da

    read = dask.delayed(partial(_group_names, group=group), pure=False)
    return da.concatenate(
        [da.from_delayed(read(chunk), (chunk.n_rows,), dtype=object) for chunk in table.chunks]
    )


def _group_names(chunk: Chunk, group: str) -> Array:
    """Return the group of each row of a chunk; a row without one is alone in its own."""
    places, texts = factorize_texts(chunk.read([group])[group], text_of)
    # its number differs from every text
    alone = chunk.start + np.arange(len(places))
    return np.where(places >= 0, np.append(texts, "")[places], alone)


def _subsample(table: ChunkedTable, seed: int) -> tuple[TableRows, Array]:
    """Collect the labeled rows and a sample of the others; and the rows to measure importance."""
    target = table.target
    width = len(table.features)
    if 8 * width * target.n_labeled > MOST_LABELED:
        raise TableError(
            f"{target.n_labeled:,} labeled rows of {width:,} features are too many to be collected "
            "for choosing and testing; empty the labels of some of them.",
            code="too_many_labels",
        )
    share = min(1.0, MOST_TESTED / max(1, target.n_unlabeled))
    samples = on_dask(partial(_sample_chunk, table=table, share=share, seed=seed), table.chunks)
    X, codes, names, some = (np.concatenate(part) for part in zip(*samples, strict=True))
    groups = None if table.group is None else pd.factorize(names)[0]
    count = max(1.0, target.n_unlabeled / max(1, int((codes < 0).sum())))
    return TableRows(X, codes, groups, count), some


def _sample_chunk(
    chunk: Chunk, table: ChunkedTable, share: float, seed: int
) -> tuple[Array, Array, Array, Array]:
    """Return the labeled rows of a chunk and a share of the others; codes; group names.

    The last are the rows by which importance is measured.
    """
    X, codes = table.transform(chunk)
    kept = np.ones(len(codes), dtype=bool)
    if share < 1.0:
        kept = np.random.default_rng([seed, chunk.start]).random(len(codes)) < share
    kept |= codes >= 0
    names = np.empty(0, dtype=object)
    if table.group is not None:
        names = _group_names(chunk, table.group)[kept]
    n_columns = len(table.encoder.places)
    some = importance_rows(chunk.start, len(X), table.target.n_rows, n_columns)
    return X[kept], codes[kept], names, X[some]
