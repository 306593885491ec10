"""One pass over rows that Dask holds: their summary, and the labeled rows themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy import sparse

from .._inputs.dask import DaskBlocks, floats_of
from .._utils.typing import Array
from ..core.rows import Targets, compute
from ..core.rows.blocks import aligned
from ..core.rows.reduce import reduce_tree
from ._summary import Summary, merge, stack, summarize

__all__ = ["LabeledPart", "read_blocks"]


@dataclass(frozen=True, eq=False)
class LabeledPart:
    """The labeled rows of one block, or of several."""

    X: Any
    codes: Array
    count: Array
    """Sample weights."""
    weight: Array
    """The same times the weight of their class."""
    rows: Array
    """Their numbers in the whole table."""
    groups: Array | None


def read_blocks(
    blocks: DaskBlocks, *, n_sample: int, groups: Sequence[Any] | None = None, bar: bool = False
) -> tuple[Summary, LabeledPart]:
    """Read all blocks once, and merge their results in a tree, in the order of the blocks.

    `groups` has the groups of the rows of each block.
    """
    import dask

    work = partial(_read_block, n_columns=blocks.n_columns, n_sample=n_sample)
    task, join = dask.delayed(work, pure=False), dask.delayed(_join, pure=False)
    given = [None] * len(blocks.x) if groups is None else groups
    starts = np.cumsum((0, *blocks.sizes[:-1]))
    level = [
        task(x, known, some, int(start))
        for x, known, some, start in zip(blocks.x, blocks.targets, given, starts, strict=True)
    ]
    return compute([reduce_tree(level, join, join)], 1, bar=bar)[1][0]


def _read_block(
    block: Any, known: Targets, groups: Any, start: int, n_columns: int, n_sample: int
) -> tuple[Summary, LabeledPart]:
    X = floats_of(block, n_columns)
    X = X if sparse.issparse(X) else aligned(X)
    if X.shape[0] != known.n_rows:
        raise ValueError(
            f"A block of X has {X.shape[0]} rows and its block of y {known.n_rows}; give both "
            "the same blocks, for instance as columns of one Dask frame."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        summary = summarize(X, known.row_weight, n_sample=n_sample)
    mine = known.labeled
    codes = known.y.argmax(axis=1) if known.y.ndim == 2 else known.y.astype(np.intp)
    count = np.ones(len(mine)) if known.row_weight is None else known.row_weight[mine]
    some = None if groups is None else np.asarray(groups)[mine]
    return summary, LabeledPart(X[mine], codes, count, known.labeled_weight, mine + start, some)


def _join(*parts: tuple[Summary, LabeledPart]) -> tuple[Summary, LabeledPart]:
    summaries, labeled = zip(*parts, strict=True)
    together = LabeledPart(
        stack([one.X for one in labeled]),
        np.concatenate([one.codes for one in labeled]),
        np.concatenate([one.count for one in labeled]),
        np.concatenate([one.weight for one in labeled]),
        np.concatenate([one.rows for one in labeled]),
        None if labeled[0].groups is None else np.concatenate([one.groups for one in labeled]),
    )
    return reduce(merge, summaries), together
