"""From a table in parts, which need not fit in memory, to a model: what `fit_table` does, on Dask.

Choosing and testing see all labeled rows and a sample of the others, as they do in memory. The fit
sees all rows: each pass reads the parts again, where Dask computes, and sums travel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...core.rows import compute
from ...estimators import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from ..chunked import ChunkedTable
from ..columns._cells import factorize_texts, text_of
from ..compare.choice import MOST_TESTED, move_intercept, tune
from ..dataset import Prepared
from ..errors import TableError
from ..io import Chunk
from .fitting import put_together, told
from .measuring import Order, Rows, decided, measure
from .model import TableModel

__all__ = ["fit_streamed", "on_dask"]

Array = NDArray[Any]

MOST_LABELED = 1_000_000_000
"""Bytes of labeled rows that are brought together for choosing and testing."""


def on_dask(function: Any, partitions: Iterable[Chunk]) -> tuple[Any, ...]:
    """Call a function with every partition where Dask computes; return the results in order.

    It is a `run` for `split` and `prepare_chunks`.
    """
    import dask

    tasks = [dask.delayed(function, pure=False)(partition) for partition in partitions]
    return compute(tasks, len(tasks))[1]


def fit_streamed(
    table: ChunkedTable, order: Order | None = None, *, missing: Sequence[str] = ()
) -> TableModel:
    """Fit a classifier to a table in parts.

    Parameters
    ----------
    table : ChunkedTable
        From `prepare_chunks`.
    order : Order, optional
        What is asked for: see `fit_table`.
    missing : sequence of str
        As in `fit_table`.

    Examples
    --------
    >>> import io
    >>> from semisquares.tables.chunked import prepare_chunks
    >>> from semisquares.tables.io import find, split
    >>> rows = b"size,kind\\n1,a\\n2,a\\n3,a\\n7,b\\n8,b\\n9,b\\n2,\\n8,\\n"
    >>> chunks = split(find("-", stdin=io.BytesIO(rows)), labels=["kind"], n_bytes=32)
    >>> table = prepare_chunks(chunks, "kind", run=on_dask)
    >>> model = fit_streamed(table, Order("soft", alpha=1.0, weight=1.0))
    >>> model.predict(chunks[1].read()).labels.tolist(), model.about["rows"]
    (['a', 'b'], 8)
    """
    order = order or Order()
    thin = _thinned(table, order.seed)
    measured = measure(thin, table.target.classes, order)
    chosen = decided(order.method, measured.verdict)
    model, shift = _chosen(thin, chosen, order)
    with told() as notes:
        model.fit(*_blocks(table))
    move_intercept(model, shift)
    predicted = model.predict(thin.X)
    target = replace(table.target, codes=thin.codes)
    sample = Prepared(source=table.source, target=target, encoder=table.encoder, X=thin.X)
    return put_together(table, sample, order, measured, model, predicted, notes, missing)


def _chosen(thin: Rows, method: str, order: Order) -> tuple[Any, tuple[float, ...]]:
    """Return the classifier that is asked for, not yet fitted, and how far its intercept moves."""
    alpha, weight = order.alpha, order.weight
    shift: tuple[float, ...] = ()
    if alpha is None or (method == "soft" and weight is None):
        choice = tune(
            thin.X, thin.codes, groups=thin.groups, seed=order.seed, count=thin.count,
            alpha=alpha, weight=weight if method == "soft" else None,
        )  # fmt: skip
        if method == "soft":
            alpha, weight = choice.alpha, choice.unlabeled_weight
            shift = choice.shift
            method = method if weight > 0.0 else "supervised"
        else:
            alpha = choice.supervised_alpha
            shift = choice.supervised_shift if method == "supervised" else ()
    if method == "supervised" or not (thin.codes < 0).any():
        return LeastSquaresClassifier(alpha), shift
    weight = 1.0 if weight is None else weight
    if method == "soft":
        return SoftLabelClassifier(alpha, unlabeled_weight=weight), shift
    return HardLabelClassifier(alpha, unlabeled_weight=weight, random_state=order.seed), ()


def _blocks(table: ChunkedTable) -> tuple[Any, Any]:
    """Return the prepared rows and their labels as Dask arrays, a block for each partition."""
    import dask
    import dask.array as da

    read = dask.delayed(table.transform, pure=False)
    width = len(table.features)
    X, y = [], []
    for partition in table.chunks:
        rows = read(partition)
        X.append(da.from_delayed(rows[0], (partition.n_rows, width), dtype=np.float64))
        y.append(da.from_delayed(rows[1], (partition.n_rows,), dtype=np.intp))
    return da.concatenate(X), da.concatenate(y)


def _thinned(table: ChunkedTable, seed: int) -> Rows:
    """Bring the labeled rows and a sample of the others together."""
    target = table.target
    width = len(table.features)
    if 8 * width * target.n_labeled > MOST_LABELED:
        raise TableError(
            f"{target.n_labeled:,} labeled rows of {width:,} features are too many to be brought "
            "together for choosing and testing; empty the labels of some of them."
        )
    share = min(1.0, MOST_TESTED / max(1, target.n_unlabeled))
    parts = on_dask(partial(_some, table=table, share=share, seed=seed), table.chunks)
    X, codes, names = (np.concatenate(part) for part in zip(*parts, strict=True))
    groups = None if table.group is None else pd.factorize(names)[0]
    count = max(1.0, target.n_unlabeled / max(1, int((codes < 0).sum())))
    return Rows(X, codes, groups, count)


def _some(
    partition: Chunk, table: ChunkedTable, share: float, seed: int
) -> tuple[Array, Array, Array]:
    """Return the labeled rows of a partition and a share of the others, with their groups."""
    X, codes = table.transform(partition)
    kept = np.ones(len(codes), dtype=bool)
    if share < 1.0:
        kept = np.random.default_rng([seed, partition.start]).random(len(codes)) < share
    kept |= codes >= 0
    names = np.empty(0, dtype=object)
    if table.group is not None:
        places, texts = factorize_texts(partition.read([table.group])[table.group], text_of)
        # a row without a group is one of its own: no text is a number
        alone = partition.start + np.arange(len(places))
        names = np.where(places >= 0, np.append(texts, "")[places], alone)[kept]
    return X[kept], codes[kept], names
