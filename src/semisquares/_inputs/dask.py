"""Read Dask collections into rows in blocks, and make lazy predictions.

Blocks of X are never collected. The workers read the labels block by block, and return only the
classes and the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._utils.typing import Array
from ..core.objective import MAX_DIRECT
from ..core.rows import (
    BlockRows,
    BlockSettings,
    DaskRunner,
    RowTotals,
    Targets,
    centre,
    compute,
    sum_duplicates,
)
from ..core.rows.reduce import reduce_tree
from ..core.rows.targets import hard_labels
from .arrays import Problem, check_masses
from .checks import check_dates, check_masked, check_names, is_dask
from .labels import (
    Labels,
    check_length,
    encode,
    labeled_values,
    one_column,
    read_labels,
    text_is_known,
    warn_of_text,
)

_SAMPLED_BLOCKS, _SAMPLED_ROWS = 8, 64
"""Blocks, and rows of each, that decide whether columns need a shift."""


@dataclass(frozen=True, eq=False)
class DaskProblem(Problem):
    """Rows and targets that Dask holds: `labels` has only the classes, the blocks the rest."""

    rows: BlockRows  # type: ignore[assignment]
    table: DaskBlocks = field(kw_only=True)

    def explain_overflow(self, estimator: Any) -> NoReturn:
        """Raise an error that explains why a sum over the rows is not finite."""
        missing, infinite = self.rows.not_finite()
        for count, what in ((missing, "NaN"), (infinite, "infinity")):
            if count.any():
                names = getattr(self.X, "columns", np.arange(len(count)))
                raise ValueError(
                    f"X contains {what}, {count.sum()} times, first in column "
                    f"{list(names)[int(count.argmax())]!r}; fill or drop such cells, for instance "
                    "with sklearn.impute.SimpleImputer."
                ) from None
        raise ValueError(
            "Sums over the rows overflow; rescale the columns, for instance with "
            "sklearn.preprocessing.StandardScaler, or make weights smaller."
        ) from None


@dataclass(frozen=True, eq=False)
class DaskBlocks:
    """The blocks of a table that Dask holds, with the labels and weights of their rows."""

    x: tuple[Any, ...]
    targets: tuple[Any, ...]
    sizes: tuple[int, ...]
    """The number of rows of each block."""
    n_columns: int
    classes: Array
    n_labeled: int
    class_weights: Array
    """Total weight of the labeled rows of each class."""
    unlabeled_weight: float
    labeled_blocks: tuple[int, ...]
    """The blocks that have labeled rows."""

    @property
    def labels(self) -> Labels:
        """The classes, without the labels of single rows."""
        nothing = np.empty(0, dtype=np.intp)
        return Labels(nothing, nothing, self.classes, sum(self.sizes))


def read_dask_blocks(model: Any, X: Any, y: Any, sample_weight: Any) -> DaskBlocks:
    """Check X, y and weights. This reads all blocks of y, and none of X.

    `model` has the parameters unlabeled and class_weight.
    """
    unlabeled, class_weight = model.unlabeled, model.class_weight
    check_columns(model, X)
    parts, sizes, n_columns = blocks_of(X)
    column = split_column("y", y, sizes, len(parts))
    found, _ = compute(_each(partial(_read_block, unlabeled=unlabeled), column))
    classes = _classes(_gathered(_classes_of, found), unlabeled)
    weights: Sequence[Any] = [None] * len(parts)
    if sample_weight is not None:
        weights = split_column("sample_weight", sample_weight, sizes, len(parts))
    targets, _ = compute(_each(partial(_targets, classes=classes), found, weights))
    totals = _gathered(partial(_totals, n_classes=len(classes)), targets)
    _, counts, mass, free = (sum(part) for part in zip(*totals, strict=True))
    warn_of_text(classes, counts)
    if class_weight is not None:
        factors = compute_class_weight(class_weight, classes=classes, y=classes, sample_weight=mass)
        targets, _ = compute(_each(partial(_reweigh, factors=factors), targets))
        mass = mass * factors
    check_masses(classes, mass)
    sizes = tuple(n for n, *_ in totals)
    labeled_blocks = tuple(b for b, (_, counted, *_) in enumerate(totals) if counted.any())
    return DaskBlocks(
        tuple(parts),
        tuple(targets),
        sizes,
        n_columns,
        classes,
        int(counts.sum()),
        mass,
        float(free),
        labeled_blocks,
    )


def read_dask_problem(
    model: Any, X: Any, y: Any, sample_weight: Any, *, unlabeled_weight: float
) -> DaskProblem:
    """Check X, y and weights, and return them as rows in blocks.

    This reads all blocks of y, and a few of X. If `model` is verbose, the passes of the fit have
    progress bars.
    """
    table = read_dask_blocks(model, X, y, sample_weight)
    n_rows = sum(table.sizes)
    settings, gram_columns = _block_settings(
        table.x, table.n_columns, n_rows, unlabeled_weight, model.fit_intercept
    )
    totals = RowTotals(
        n_rows, table.n_labeled, table.class_weights, table.unlabeled_weight, table.labeled_blocks
    )
    runner = DaskRunner(table.x, table.targets, bar=bool(getattr(model, "verbose", False)))
    rows = BlockRows(runner, settings, totals, gram_columns)
    return DaskProblem(X, rows, table.labels, table=table)


# -- blocks -------------------------------------------------------------------------------------


def check_columns(estimator: Any, X: Any, *, reset: bool = True) -> None:
    """Check the types, the names and the number of columns."""
    check_names(X)
    check_dates(X)
    if not hasattr(X, "columns") and (X.ndim != 2 or np.isnan(X.shape[1])):
        raise ValueError(
            f"X has shape {X.shape}; give rows and a known number of columns (reshape it, or call "
            "X.compute_chunk_sizes())."
        )
    validate_data(
        estimator,
        X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1])),
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=0,
    )


def blocks_of(X: Any) -> tuple[list[Any], tuple[int, ...] | None, int]:
    """Return the blocks of X, their numbers of rows (None if unknown), and the columns."""
    if hasattr(X, "columns"):
        return _partitions(X), None, len(X.columns)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    sizes = None if np.isnan(X.chunks[0]).any() else X.chunks[0]
    return list(X.to_delayed().ravel()), sizes, int(X.shape[1])


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions of a frame as its user made them.

    Dask's full optimisation would fuse the partitions of y but not those of X, because few columns
    are read. `simplify` only drops columns that are not needed.
    """
    return list(frame.simplify().to_delayed(optimize_graph=False))


def split_column(name: str, given: Any, sizes: Sequence[float] | None, n_blocks: int) -> list[Any]:
    """Split a column into the blocks of X."""
    import dask

    if not is_dask(given):
        if sizes is None:
            raise ValueError(
                f"X has blocks of unknown length, and {name} is not a Dask collection with the "
                "same blocks; call X.compute_chunk_sizes() first, or give both as columns of one "
                "frame."
            )
        column = one_column(given)
        check_length(name, len(column), int(sum(sizes)))
        ends = np.cumsum((0, *sizes)).astype(int)
        take = getattr(column, "iloc", column)
        return [dask.delayed(take[a:b], pure=False, traverse=False) for a, b in pairwise(ends)]
    if given.ndim != 1:
        raise ValueError(f"{name} has {given.ndim} dimensions; give one value per row of X.")
    if hasattr(given, "chunks") and sizes is not None and not np.isnan(given.chunks[0]).any():
        check_length(name, given.shape[0], int(sum(sizes)))
        given = given.rechunk((sizes,))
    parts = list(given.to_delayed().ravel()) if hasattr(given, "chunks") else _partitions(given)
    if len(parts) != n_blocks:
        raise ValueError(
            f"{name} has {len(parts)} blocks and X has {n_blocks}; give both the same blocks, for "
            "instance as columns of one frame, or call compute_chunk_sizes() on both."
        )
    return parts


def _each(function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
    """Return a lazy call of a function for each block."""
    import dask

    task = dask.delayed(function, pure=False)
    return [task(*cells) for cells in zip(*columns, strict=True)]


def _values(tasks: Sequence[Any]) -> tuple[Any, ...]:
    return compute(tasks, len(tasks))[1]


def _gathered(function: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
    """Return a function of each block, with few tasks: each costs more than reading a label."""
    import dask

    leaf = dask.delayed(partial(_of_some, function), pure=False)
    found: list[Any] = compute([reduce_tree(blocks, leaf, dask.delayed(_joined, pure=False))], 1)[
        1
    ][0]
    return found


def _of_some(function: Callable[[Any], Any], *blocks: Any) -> list[Any]:
    return [function(block) for block in blocks]


def _joined(*lists: list[Any]) -> list[Any]:
    return [*chain.from_iterable(lists)]


# -- labels -------------------------------------------------------------------------------------


def _read_block(y: Any, unlabeled: Any) -> tuple[Array, Array]:
    return labeled_values(one_column(y), unlabeled)


def _classes_of(found: tuple[Array, Array]) -> Array:
    values = found[1]
    return encode(values)[0] if len(values) else values[:0]


def _classes(found: Sequence[Array], unlabeled: Any) -> Array:
    """Combine the classes of all blocks."""
    some = [classes for classes in found if len(classes)]
    if not some:
        raise ValueError(
            f"None of the rows of y has a label, as missing values (NaN, None, NA) and "
            f"unlabeled={unlabeled!r} mark rows without one; label rows of two or more classes."
        )
    texts = {classes.dtype.kind in "UOT" for classes in some}
    # numpy would turn numbers into text; as objects, read_labels refuses the mixture
    parts = some if len(texts) == 1 else [classes.astype(object) for classes in some]
    with text_is_known():  # these are classes, not rows
        return read_labels(np.concatenate(parts), unlabeled=None).classes


def _targets(found: tuple[Array, Array], weight: Any, classes: Array) -> Targets:
    """Return the labels and weights of the rows of a block."""
    mask, values = found
    labeled = np.flatnonzero(mask)
    if classes.dtype.kind in "UO":
        index = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([index[label] for label in values.tolist()], dtype=np.intp)
    else:
        codes = np.searchsorted(classes, values.astype(classes.dtype))
    row_weight = None
    if weight is not None:
        check_masked("sample_weight", weight)
        row_weight = _check_sample_weight(
            np.asarray(weight), mask, dtype=np.float64, ensure_non_negative=True,
            allow_all_zero_weights=True,
        ) if len(mask) else np.empty(0)  # fmt: skip
    labeled_weight = np.ones(len(labeled)) if row_weight is None else row_weight[labeled]
    y = hard_labels(codes, len(classes))
    return Targets(len(mask), labeled, y, labeled_weight, row_weight)


def _totals(targets: Targets, n_classes: int) -> tuple[int, Array, Array, float]:
    """Return a block's number of rows, its labels and weight by class, and the unlabeled weight."""
    codes, weights = targets.codes, targets.row_weight
    mass = np.bincount(codes, targets.labeled_weight, minlength=n_classes)
    if weights is None:
        free = float(targets.n_unlabeled)
    else:
        free = float(weights.sum() - weights[targets.labeled].sum())
    return targets.n_rows, np.bincount(codes, minlength=n_classes), mass, free


def _reweigh(targets: Targets, factors: Array) -> Targets:
    """Multiply the weights of the labeled rows by those of their classes."""
    weight = targets.labeled_weight * factors[targets.codes]
    return replace(targets, labeled_weight=weight)


# -- columns ------------------------------------------------------------------------------------


def _block_settings(
    parts: Sequence[Any], n_columns: int, n_rows: int, unlabeled_weight: float, intercept: bool
) -> tuple[BlockSettings, float]:
    """Decide from a sample whether columns need a shift, and the widest Gram matrix to form."""
    read = partial(floats_of, n_columns=n_columns)
    chosen = np.unique(np.linspace(0, len(parts) - 1, _SAMPLED_BLOCKS).astype(int))
    samples = _values(_each(partial(_sample, read=read), [parts[b] for b in chosen]))
    rows = [rows for rows, _, _ in samples if rows.shape[0]]
    is_sparse = any(sparse.issparse(rows) for rows, _, _ in samples)
    shift = None
    if intercept and rows:
        together = sparse.vstack(rows, format="csr") if is_sparse else np.concatenate(rows)
        shift = centre(together, np.arange(together.shape[0]))
    gram_columns = float(MAX_DIRECT)
    if is_sparse:
        seen, values = sum(n for _, n, _ in samples), sum(nnz for _, _, nnz in samples)
        gram_columns = min(gram_columns, max(256.0, (values / max(1, seen) * n_rows) ** 0.5))
    settings = BlockSettings(n_columns, unlabeled_weight, intercept, shift, read)
    return settings, gram_columns


def _sample(block: Any, read: Callable[[Any], Any]) -> tuple[Any, int, int]:
    """Return some rows of a block, and its numbers of rows and values."""
    X = read(block)
    n_rows = X.shape[0]
    n_values = X.nnz if sparse.issparse(X) else X.size
    few = X[:: max(1, n_rows // _SAMPLED_ROWS)].copy()  # a view would hold the whole block
    return few, n_rows, n_values


def floats_of(block: Any, n_columns: int) -> Any:
    """Convert a block to a float array, dense or CSR."""
    check_masked("X", block)
    if sparse.issparse(block):
        X = sum_duplicates(sparse.csr_array(block))
    elif hasattr(block, "columns"):
        X = np.asfortranarray(block)  # the layout in which a worker would send it
    else:
        X = np.asarray(block)
    if X.ndim != 2 or X.shape[1] != n_columns:
        raise ValueError(f"A block of X has shape {X.shape}; all need {n_columns} columns.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


# -- predictions --------------------------------------------------------------------------------


def lazily(decide: Callable[[Any], Array], X: Any, axes: tuple[int, ...]) -> Any:
    """Return `decide` of each block of X as a lazy Dask array.

    `axes` is the shape of the result for one row.
    """
    parts, sizes, n_columns = blocks_of(X)
    tasks = _each(partial(_decide_block, decide, n_columns=n_columns), parts)
    return _lazy_array(tasks, sizes or (np.nan,) * len(parts), axes)


def lazy_labels(table: DaskBlocks, label: Callable[[Any], Array]) -> tuple[Any, Any]:
    """Return the label distributions of all rows, and their classes, as lazy Dask arrays.

    `label` returns distributions for the rows of a block; labeled rows keep their own.
    """
    classes = table.classes
    fill_in = partial(_fill_in, label, n_columns=table.n_columns)
    filled = _lazy_array(_each(fill_in, table.x, table.targets), table.sizes, (len(classes),))
    winners = filled.map_blocks(
        partial(_winners, classes=classes), drop_axis=1, dtype=classes.dtype
    )
    return filled, winners


def _lazy_array(tasks: Sequence[Any], sizes: Sequence[float], axes: tuple[int, ...]) -> Any:
    """Concatenate the results of tasks, with these numbers of rows, as a lazy Dask array."""
    import dask.array as da

    blocks = [
        da.from_delayed(task, (size, *axes), dtype=np.float64)
        for task, size in zip(tasks, sizes, strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _fill_in(label: Callable[[Any], Array], block: Any, targets: Targets, n_columns: int) -> Array:
    filled = label(floats_of(block, n_columns))
    y = targets.y
    filled[targets.labeled] = y if y.ndim == 2 else np.column_stack((1.0 - y, y))
    return filled


def _winners(distributions: Array, classes: Array) -> Array:
    # as in memory: exactly ½ is the first class
    return classes[distributions.argmax(axis=1)]


def _decide_block(decide: Callable[[Any], Array], block: Any, n_columns: int) -> Array:
    return decide(floats_of(block, n_columns))


def computed(given: Any) -> Any:
    """Compute a Dask collection; return anything else as it is."""
    return given.compute() if is_dask(given) else given
