"""Rows in blocks that are held elsewhere: the sums of `MemoryRows`, block by block.

A `BlockRunner` applies a task to every block where it is held and adds the results; it decides how
blocks are stored, read and distributed (see `dask`). Only sums travel. Values of all rows (decision
values, pieces, labels) stay with their blocks, and solvers hold handles to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from functools import cached_property, partial, reduce, wraps
from threading import local
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from ..._utils.typing import Array
from ..labelings import ConvexLabeling, Labeling
from ._design import CACHED_ROWS, Design
from .memory import MemoryRows, boundary_is_too_wide, boundary_reach
from .protocol import BoundaryRows, Relabeling, RowSums, Sweep
from .reduce import check_finite, longest_chain
from .table import BLOCK_BYTES, DenseTable, NumberTable, SparseTable, store_zeros
from .targets import Targets, differs
from .threads import one_thread

Result = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The result of a task: values that stay with the block, and sums (or lists) to add."""
Changes = Mapping[int, tuple[Array, Array]]
"""By the number of a block: rows of it, and their new values."""

GATHERED_BYTES = 1 << 26
"""Memory limit for rows that are gathered in this process: a sample, or those near a border."""
SAMPLED_BLOCKS = 32
"""The most blocks that are read for a sample."""
NEAR_SHARE = 64
"""At most one row of so many is sent because it is near a border."""
EVERY = 16
"""One value of so many bounds the smallest ones, which are then sought among few values."""


# -- tasks --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BlockSettings:
    """Settings that all blocks share."""

    n_columns: int
    unlabeled_weight: float
    intercept: bool
    shift: Array | None
    read: Callable[[Any], Any]
    """Converts a block of X to a float array, dense or CSR."""


class _Slot(Enum):
    PER_ROW = auto()
    """Marks the place of a per-row value among the arguments of a task."""


@dataclass(frozen=True, eq=False)
class BlockTask:
    """A computation on the rows of one block."""

    work: Callable[..., Result]
    settings: BlockSettings
    args: tuple[Any, ...]
    reads_x: bool
    """Whether `work` takes `MemoryRows`; otherwise it takes `Targets`, and X need not be read."""
    changes: tuple[Changes, ...] = ()
    """Those of each per-row value."""

    def __call__(self, number: int, x: Any, targets: Targets, *values: Any) -> Result:
        """Run the task on block `number` of X (None unless `reads_x`) and its per-row values."""
        targets = replace(targets, unlabeled_weight=self.settings.unlabeled_weight)
        given = iter(map(partial(_with_changes, number), values, self.changes))
        args = [next(given) if arg is _Slot.PER_ROW else arg for arg in self.args]
        block = self._rows(x, targets) if self.reads_x else targets
        with one_thread():
            return self.work(block, *args)

    def _rows(self, x: Any, targets: Targets) -> MemoryRows:
        table = _table_of(x, self.settings)
        if table.n_rows != targets.n_rows:
            raise ValueError(
                f"A block of X has {table.n_rows} rows and its block of y {targets.n_rows}; give "
                "both the same blocks, for instance as columns of one Dask frame."
            )
        return MemoryRows.of(table, targets, self.settings.intercept)


def _with_changes(number: int, values: Array, changes: Changes) -> Array:
    """Return the values of the rows of a block, with changes."""
    if number not in changes:
        return values
    index, new = changes[number]
    values = values.copy()
    values[index] = new
    return values


def _table_of(x: Any, settings: BlockSettings) -> NumberTable:
    X, shift = settings.read(x), settings.shift
    if sparse.issparse(X):
        return SparseTable(X if shift is None else store_zeros(X, shift != 0.0), shift)
    return DenseTable(aligned(X), shift, _scratch())


_here = local()


def _scratch() -> Array:
    """Return memory in which this thread may convert one block after the other.

    New memory costs more than the arithmetic: workers return it to the system at once, so that
    every page of it is cleared again.
    """
    if not hasattr(_here, "scratch"):
        _here.scratch = np.empty(BLOCK_BYTES // 8)
    return _here.scratch


def aligned(X: Array) -> Array:
    """Return a block in a memory layout that does not depend on how a worker received it.

    BLAS sums in another order if memory is unaligned or in another layout. A block in Fortran order
    (as from data frames) stays so; all others become C-ordered.
    """
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    return np.require(X, requirements=["A", "F" if by_columns else "C"])


@dataclass(frozen=True, eq=False)
class PerRow:
    """A handle to a value of every row, which stays with the blocks."""

    results: tuple[Any, ...]
    """The `Result` of each block, or whatever the runner holds in its place."""
    pick: int
    changes: Changes = field(default_factory=dict)
    """Values that replace some of those that the blocks hold."""

    def value(self, result: Result) -> Any:
        """Return the value that a block kept."""
        return result[0][self.pick]


class BlockRunner(Protocol):
    """Runs tasks on all blocks of a table."""

    @property
    def n_blocks(self) -> int: ...

    def run(
        self, task: BlockTask, per_row: Sequence[PerRow], *, keep: bool, blocks: Sequence[int]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Run a task on some blocks; return the results, and the sums added over the blocks.

        On block b the task gets its number b, and ``handle.value(handle.results[b])`` for each
        handle in `per_row`. The results (or promises of them) have to be held only if `keep`.
        """


@dataclass(frozen=True)
class Pass:
    """A record of one pass over the blocks of X."""

    seconds: float
    bytes_sent: int
    """Bytes sent by the blocks and to the blocks."""
    what: str = ""
    """The task: "sum_labeled", "sample", "sweep", or the name of a sum of `RowSums`."""
    share: float = 1.0
    """The share of the blocks that were read."""


# -- rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowTotals:
    """Numbers of rows, and sums of their weights."""

    n_rows: int
    n_labeled: int
    class_weights: Array
    """Σ a over the labeled rows of each class."""
    unlabeled_weight: float
    """Σ of the sample weights of the unlabeled rows."""
    labeled_blocks: Sequence[int] | None = None
    """The blocks with labeled rows; None if they are not known."""


@dataclass(frozen=True, eq=False)
class _Labeled:
    """Sums over the labeled rows, and some of the rows themselves."""

    gram: Array | None
    moment: Array
    sample: Any
    """X of all labeled rows, or of a sample if there are too many to gather."""
    y: Array
    weight: Array
    """The weights of the sampled rows."""


def _added(name: str, *, reads_x: bool = True) -> Callable[..., Any]:
    """Return a method that adds a sum of `MemoryRows`, or of `Targets`, over all blocks."""
    declared: Any = getattr(RowSums, name)

    @wraps(getattr(declared, "fget", declared))  # the getter of a property
    def method(rows: BlockRows, *args: Any) -> Any:
        return rows._sum(name, *args, reads_x=reads_x)

    return method


class BlockRows:
    """Labeled and unlabeled rows in blocks."""

    in_memory = None

    def __init__(
        self,
        runner: BlockRunner,
        settings: BlockSettings,
        totals: RowTotals,
        gram_columns: float,
        history: list[Pass] | None = None,
    ) -> None:
        self.runner, self.settings, self.totals = runner, settings, totals
        self.gram_columns = gram_columns
        self.shift = settings.shift
        self.intercept = settings.intercept
        self.unlabeled_weight = settings.unlabeled_weight
        self.n_features = settings.n_columns
        self.n_weights = self.n_features + self.intercept
        self.n_rows = totals.n_rows
        self.n_unlabeled = totals.n_rows - totals.n_labeled
        n_classes = len(totals.class_weights)
        self.weights_shape = (self.n_weights, *((n_classes,) if n_classes > 2 else ()))
        self.most_sampled = max(1, GATHERED_BYTES // (8 * self.n_weights))
        self._history: list[Pass] = [] if history is None else history

    @property
    def passes(self) -> tuple[Pass, ...]:
        """All passes over X so far."""
        return tuple(self._history)

    def reweighted(self, *, unlabeled_weight: float) -> BlockRows:
        """Return the same rows with another weight of the unlabeled ones."""
        settings = replace(self.settings, unlabeled_weight=unlabeled_weight)
        other = BlockRows(self.runner, settings, self.totals, self.gram_columns, self._history)
        for known in ("_labeled", "_squares"):
            if known in vars(self):
                vars(other)[known] = vars(self)[known]
        return other

    @property
    def heaviest(self) -> float:
        """An upper bound of the weight of every row."""
        return self.total_weight

    @property
    def longest_sum(self) -> int:
        """The largest number of consecutive additions in a sum over rows."""
        is_sparse = np.isfinite(self.gram_columns)  # sparse blocks are cut by their entries
        step = max(32, BLOCK_BYTES // (12 if is_sparse else 8 * max(1, self.n_features)))
        return longest_chain(self.n_rows, step, self.runner.n_blocks)

    @property
    def labeled_total(self) -> float:
        """Σ a over the labeled rows."""
        return float(self.totals.class_weights.sum())

    @property
    def total_weight(self) -> float:
        """Σ a over all rows."""
        return self.labeled_total + self.unlabeled_weight * self.totals.unlabeled_weight

    @property
    def constant_loss(self) -> float:
        """Σ a ‖y - c‖² over the labeled rows; c is their mean, 0 without an intercept."""
        mass = self.totals.class_weights
        shares = mass / mass.sum() if self.intercept else np.zeros(len(mass))
        if len(mass) == 2:
            return float(mass[0] * shares[1] ** 2 + mass[1] * (1.0 - shares[1]) ** 2)
        return float(mass @ ((np.eye(len(mass)) - shares) ** 2).sum(axis=1))

    # -- labeled rows -------------------------------------------------------------------------

    @cached_property
    def _labeled(self) -> _Labeled:
        """All sums over the labeled rows alone, from one pass over the blocks that have them."""
        share = min(1.0, self.most_sampled / max(1, self.totals.n_labeled))
        with_gram = self.n_features <= self.gram_columns
        # a fit that ignores the other rows makes no other pass, which would notice NaN in them
        alone = self.unlabeled_weight == 0.0
        _, (gram, moment, parts, total) = self._run(
            _sum_labeled, with_gram, share, alone,
            blocks=None if alone else self.totals.labeled_blocks,
        )  # fmt: skip
        check_finite(total)
        check_finite(moment)
        X, y, weight = (list(part) for part in zip(*parts, strict=True))
        return _Labeled(
            gram if with_gram else None,
            moment.reshape(self.weights_shape),
            _stack(X),
            np.concatenate(y),
            np.concatenate(weight) / share,
        )

    @property
    def labeled_gram(self) -> Array:
        """Σ a x x' over the labeled rows."""
        gram = self._labeled.gram
        if gram is None:
            raise ValueError(
                f"A fit with alpha=0 needs Gram matrices, but X has {self.n_features} sparse "
                "columns, too many to form them in Dask's blocks; pass alpha > 0, or the rows in "
                "memory."
            )
        return gram

    @property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""
        return self._labeled.moment

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows, without a pass if all were gathered."""
        known = self._labeled
        if len(known.y) < self.totals.n_labeled:
            return float(self._sum("labeled_loss", w))
        return self._gathered(known.sample, known).labeled_loss(w)

    def sample(self, n_unlabeled: int, rng: np.random.Generator) -> MemoryRows:
        """Gather the labeled rows and a sample of the others, weighted to represent them all."""
        n_blocks = min(self.runner.n_blocks, SAMPLED_BLOCKS)
        chosen = np.unique(np.linspace(0, self.runner.n_blocks - 1, n_blocks).astype(int))
        seed = int(rng.integers(2**31))
        per_block = -(-n_unlabeled // len(chosen))
        _, (parts,) = self._run(_sample, per_block, seed, blocks=chosen.tolist())
        known = self._labeled
        X, weight = (list(part) for part in zip(*parts, strict=True))
        rows = self._gathered(_stack([known.sample, *X]), known, np.concatenate(weight))
        if known.gram is not None:
            rows.labeled_gram = known.gram
        rows.labeled_moment = known.moment
        return rows

    def _gathered(self, X: Any, known: _Labeled, weights: Array | None = None) -> MemoryRows:
        """Return gathered rows: labeled ones, then others that represent all unlabeled rows."""
        table = (SparseTable if sparse.issparse(X) else DenseTable)(X, self.shift)
        weights = np.empty(0) if weights is None else weights
        total = float(weights.sum())
        share = self.totals.unlabeled_weight / total if total > 0.0 else 0.0
        return MemoryRows(
            table,
            np.arange(len(known.y)),
            known.y,
            labeled_weight=known.weight,
            row_weight=np.concatenate((known.weight, weights)),
            unlabeled_weight=self.unlabeled_weight * share,
            intercept=self.intercept,
        )

    # -- all rows -----------------------------------------------------------------------------

    @cached_property
    def full_gram(self) -> Array:
        """Σ a x x' over all rows."""
        gram = self._sum("full_gram")
        check_finite(gram.trace())
        return gram

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of `full_gram`, also for tables too wide to form it."""
        diagonal = self._weighted_squares
        check_finite(diagonal)
        return diagonal

    @property
    def _weighted_squares(self) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return self._squares.T @ [1.0, self.unlabeled_weight]

    @cached_property
    def _squares(self) -> Array:
        """Σ a x² of each column over the labeled rows, and over the others if they weighed 1.

        They come with the first sweep, if there is one before they are needed.
        """
        return self._run(_squares)[1][0]

    def decisions(self, w: Array) -> PerRow:
        """Return a handle to the decision values."""
        return self._run(partial(_kept, "decisions"), w, keep=1)[0][0]

    def not_finite(self) -> tuple[Array, Array]:
        """Count NaN and infinities in each column."""
        return self._run(_not_finite)[1]

    # -- convex labelings ---------------------------------------------------------------------

    def sweep(self, w: Array, labeling: ConvexLabeling, predicted: PerRow | None = None) -> Sweep:
        """Pass over the rows once: decision values, pieces, loss, gradient and curvature at w.

        Blocks may have to be read from files, so the same pass sums the curvature: of all active
        rows, or of those that differ from the prediction.
        """
        direct = not labeling.per_class and self.n_features <= self.gram_columns
        n_near = self._n_near if direct and labeling.borders else 0
        first = "_squares" not in vars(self)
        (z, piece), (loss, gradient, changed, squares, gram, active_weight, near) = self._run(
            _sweep, w, labeling, direct, first, n_near, predicted, keep=2
        )
        check_finite(loss)
        if first:
            self._squares = squares
        if direct:
            piece = _Piece(
                piece.results,
                piece.pick,
                gram=gram,
                before=predicted,
                active_weight=float(active_weight),
                near=tuple(near),
            )
        size = float(self._weighted_squares[: self.n_features].sum())
        return Sweep(w, z, piece, float(loss), gradient, int(changed), size)

    @property
    def _n_near(self) -> int:
        """How many rows near a border each block sends with a sweep."""
        if boundary_is_too_wide(self):
            return 0
        most = min(self.most_sampled, self.n_rows // NEAR_SHARE)
        return -(-most // max(1, self.runner.n_blocks))

    def boundary_rows(
        self, sweep: Sweep, decrease: float, labeling: ConvexLabeling
    ) -> BoundaryRows | None:
        """Return those of the rows that came with the sweep that a step may carry across a border.

        They are the nearest ones of each block, but perhaps not all within reach. The next sweep
        finds the others.
        """
        piece: _Piece = sweep.piece
        reach = boundary_reach(decrease, piece.active_weight)
        index = [np.flatnonzero(one.distance <= reach) for one in piece.near]
        if not sum(map(len, index)):
            return None
        near = [one.at(which) for one, which in zip(piece.near, index, strict=True)]
        X = _stack([one.X for one in near])
        table = (SparseTable if sparse.issparse(X) else DenseTable)(X, self.shift)
        none = np.empty(0)
        weight = np.concatenate([one.weight for one in near])
        targets = Targets(
            len(weight), none.astype(np.intp), none, none, weight, self.unlabeled_weight
        )
        z, side = (np.concatenate([getattr(one, name) for one in near]) for name in ("z", "piece"))
        few = MemoryRows.of(table, targets, self.intercept)
        return BoundaryRows(few, z, side, [one.index for one in near])

    def with_pieces(self, piece: PerRow, boundary: BoundaryRows, moved: Array) -> PerRow:
        """Return a handle to the pieces, with those of the boundary rows replaced."""
        ends = np.cumsum([len(rows) for rows in boundary.index])[:-1]
        differ = np.split(moved != boundary.piece, ends)
        new = np.split(moved, ends)
        changes = {
            b: (rows[differ[b]], new[b][differ[b]])
            for b, rows in enumerate(boundary.index)
            if differ[b].any()
        }
        return PerRow(piece.results, piece.pick, changes)

    def active_gram(self, piece: _Piece, since: tuple[_Piece, Array] | None = None) -> Array:
        """Return Σ row_weight x x' over the active unlabeled rows, which a sweep has summed."""
        if piece.before is None:
            return piece.gram
        if since is not None and since[0] is piece.before:
            return since[1] + piece.gram
        if since is not None and since[0] is piece:
            return since[1]
        return self._sum("active_gram", piece)

    def dual_step(
        self, step: Array, piece: PerRow, labeling: ConvexLabeling, everywhere: bool
    ) -> tuple[PerRow, Array, float]:
        """Return the decision values V of a step, Σ a x V and Σ a ‖V‖²."""
        (V,), (image, squares) = self._run(_dual_step, step, piece, labeling, everywhere, keep=1)
        return V, image, float(squares)

    def outside_sums(self, z: PerRow, support: PerRow) -> tuple[Array, Array, Array]:
        """Return sums over the unlabeled rows and the classes outside S."""
        gram, totals, images = self._run(_outside_sums, z, support)[1]
        return gram, totals, images

    # -- imputed labels -----------------------------------------------------------------------

    def imputed(self, z: PerRow, labeling: Labeling) -> PerRow:
        """Return a handle to the imputed labels."""
        return self._run(partial(_kept, "imputed"), z, labeling, keep=1, reads_x=False)[0][0]

    def relabel(
        self, w: Array, labels: PerRow, moment: Array, labeling: Labeling, *, before: bool = True
    ) -> Relabeling:
        """Impute the labels at w and update the moment, in one pass."""
        (new,), (costs, change) = self._run(_relabel, w, labeling, before, labels, keep=1)
        loss_before, loss, changed = costs
        check_finite(loss)
        return Relabeling(new, moment + change, loss_before, loss, changed.astype(np.intp))

    def read_labels(self, labels: PerRow) -> PerRow:
        """Return the handle unchanged."""
        return labels

    def classes_of(self, labels: PerRow) -> PerRow:
        """Return the handle of hard labels unchanged: they stand for classes."""
        return labels

    def labels_of(self, classes: PerRow) -> PerRow:
        """Return the handle unchanged."""
        return classes

    # -- sums that are added over the blocks as they are --------------------------------------

    labeled_product = _added("labeled_product")
    full_product = _added("full_product")
    curvature_product = _added("curvature_product")
    outside_grams = _added("outside_grams")
    moment = _added("moment")
    n_nonzero = property(_added("n_nonzero"))

    n_outside = _added("n_outside", reads_x=False)
    slope = _added("slope", reads_x=False)
    loss = _added("loss", reads_x=False)
    dual_overshoot = _added("dual_overshoot", reads_x=False)
    class_counts = _added("class_counts", reads_x=False)

    # -- tasks on all blocks ------------------------------------------------------------------

    def _sum(self, name: str, *args: Any, reads_x: bool = True) -> Any:
        """Add a sum of `MemoryRows`, or of `Targets`, over all blocks."""
        return self._run(partial(_summed, name), *args, reads_x=reads_x)[1][0]

    def _run(
        self,
        work: Callable[..., Result],
        *args: Any,
        keep: int = 0,
        reads_x: bool = True,
        blocks: Sequence[int] | None = None,
    ) -> tuple[tuple[PerRow, ...], tuple[Any, ...]]:
        """Run work on all blocks, or some; return handles to what it kept, and the sums."""
        start = time.perf_counter()
        handles = [arg for arg in args if isinstance(arg, PerRow)]
        fixed = tuple(_Slot.PER_ROW if isinstance(arg, PerRow) else arg for arg in args)
        changes = tuple(handle.changes for handle in handles)
        task = BlockTask(work, self.settings, fixed, reads_x, changes)
        chosen = range(self.runner.n_blocks) if blocks is None else blocks
        results, sums = self.runner.run(task, handles, keep=keep > 0, blocks=chosen)
        if reads_x:
            sent = _bytes_sent(args, sums, len(chosen))
            what = work.args[0] if isinstance(work, partial) else work.__name__.strip("_")
            share = len(chosen) / self.runner.n_blocks
            self._history.append(Pass(time.perf_counter() - start, sent, what, share))
        return tuple(PerRow(results, k) for k in range(keep)), sums


@dataclass(frozen=True, eq=False)
class _Near:
    """The unlabeled rows of a block that are nearest to a border."""

    X: Any
    z: Array
    piece: Array
    weight: Array
    index: Array
    """Their places in the block."""
    distance: Array
    """From the nearest border."""

    def at(self, which: Array) -> _Near:
        """Return some of these rows."""
        return _Near(*(getattr(self, one.name)[which] for one in fields(self)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Piece(PerRow):
    """A handle to the pieces of all rows, with what came with the same pass."""

    gram: Array
    """The Gram matrix of the active rows."""
    before: PerRow | None
    """The pieces since which `gram` is a change; None if it covers all active rows."""
    active_weight: float
    """Σ a over the labeled and the active rows."""
    near: tuple[_Near, ...]
    """Rows near a border, block by block; empty if they are not tracked."""


def _bytes_sent(args: tuple[Any, ...], sums: tuple[Any, ...], n_blocks: int) -> int:
    """Return the approximate number of bytes sent to and by the blocks."""
    # every block sends its sums; a list holds what all blocks have sent
    lists = sum(_size(part) for part in sums if isinstance(part, list))
    return n_blocks * (_size((*args, *sums)) - lists) + lists


def _size(value: Any) -> int:
    """Return the approximate number of bytes of a value that is sent."""
    if isinstance(value, PerRow):
        return sum(_size(change) for change in value.changes.values())
    if isinstance(value, _Near):
        return sum(_size(getattr(value, one.name)) for one in fields(value))
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sparse.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, list | tuple):
        return sum(_size(one) for one in value)
    return 8


def _stack(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


# -- work on one block --------------------------------------------------------------------------


def _summed(name: str, block: MemoryRows | Targets, *args: Any) -> Result:
    """Return a sum of the block: a method or a property of its rows."""
    found = getattr(block, name)
    return (), (found(*args) if callable(found) else found,)


def _kept(name: str, block: MemoryRows | Targets, *args: Any) -> Result:
    """Keep values of the block's rows."""
    return (getattr(block, name)(*args),), ()


def _sum_labeled(rows: MemoryRows, with_gram: bool, share: float, alone: bool) -> Result:
    """Sum over the labeled rows, and send a share of them.

    If they are `alone`, NaN in any other row shows in the last sum.
    """
    gram = rows.labeled_gram if with_gram else 0.0
    index, which = rows.labeled, np.arange(len(rows.labeled))
    if share < 1.0:
        which = np.flatnonzero(np.random.default_rng(rows.n_rows).random(len(index)) < share)
    X = _numbers(rows)
    sample = (X[index[which]], rows.y[which], rows.labeled_weight[which])
    return (), (gram, rows.labeled_moment, [sample], _total(X) if alone else 0.0)


def _total(X: Any) -> float:
    """Return a sum over a block that is not finite if one of its entries is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(X.sum())  # three times as fast as in float64, but may overflow
    return total if np.isfinite(total) else float(X.sum(dtype=np.float64))


def _squares(rows: MemoryRows) -> Result:
    """Sum the squares of the columns over the labeled rows, and over the others."""
    labeled = Design(rows.table.subset(rows.labeled), rows.intercept)
    with np.errstate(over="ignore", invalid="ignore"):  # whoever needs them looks for infinity
        if rows.row_weight is None:
            known = labeled.diagonal(None)
            # rounding of the difference must not make the squares too small
            others = np.maximum(rows.design.diagonal(None) - known, 0.0) + 1e-12 * known
        else:
            weight = rows.row_weight.copy()
            weight[rows.labeled] = 0.0
            others = rows.design.diagonal(weight)
        return (), (np.stack((labeled.diagonal(rows.labeled_weight), others)),)


def _sample(rows: MemoryRows, n_unlabeled: int, seed: int) -> Result:
    """Send some unlabeled rows and their sample weights."""
    free = rows.unlabeled
    rng = np.random.default_rng([seed, rows.n_rows])
    chosen = rng.choice(free, min(n_unlabeled, len(free)), replace=False, shuffle=False)
    weight = np.ones(len(chosen)) if rows.row_weight is None else rows.row_weight[chosen]
    return (), ([(_numbers(rows)[chosen], weight)],)


def _not_finite(rows: MemoryRows) -> Result:
    block = rows.table.dense(_numbers(rows))
    return (), (np.isnan(block).sum(axis=0), np.isinf(block).sum(axis=0))


def _sweep(
    rows: MemoryRows,
    w: Array,
    labeling: ConvexLabeling,
    direct: bool,
    with_squares: bool,
    n_near: int,
    predicted: Array | None,
) -> Result:
    """Sweep a block, and sum the Gram matrix of its active rows or the change of it."""
    squares = _squares(rows)[1][0] if with_squares else 0.0
    rows.table.squares_sum = 0.0  # those of the columns are enough, once for all sweeps
    found = rows.sweep(w, labeling, predicted)
    gram: Any = 0.0
    active_weight = rows.targets.active_weight(found.piece) if direct else 0.0
    near = [_nearest(rows, found, labeling, n_near)] if n_near else []
    if direct and predicted is None:
        gram = rows.active_gram(found.piece)
    elif direct and predicted is not None:
        zero = np.zeros((rows.n_weights, rows.n_weights))
        before = rows.active_mask(predicted)
        gram = rows.updated_gram(zero, before, rows.active_mask(found.piece))
    sums = (
        found.loss, found.gradient, found.changed, squares, gram, active_weight, near,
    )  # fmt: skip
    return (found.z, found.piece), sums


def _nearest(rows: MemoryRows, sweep: Sweep, labeling: ConvexLabeling, most: int) -> _Near:
    """Return the unlabeled rows that are nearest to a border."""
    distance = np.empty(rows.n_rows)
    for start in range(0, rows.n_rows, CACHED_ROWS):  # temporary arrays stay in the cache
        part = slice(start, start + CACHED_ROWS)
        apart = (np.abs(sweep.z[part] - border) for border in labeling.borders)
        distance[part] = reduce(np.minimum, apart)
    distance[rows.labeled] = np.inf
    index = smallest(distance, most)
    index = index[np.isfinite(distance[index])]
    weight = np.ones(len(index)) if rows.row_weight is None else rows.row_weight[index]
    return _Near(
        _numbers(rows)[index], sweep.z[index], sweep.piece[index], weight, index, distance[index]
    )


def smallest(values: Array, most: int) -> Array:
    """Return the sorted places of the `most` smallest values.

    >>> smallest(np.array([3.0, 1.0, 2.0]), 2)
    array([1, 2])
    """
    if most >= len(values):
        return np.arange(len(values))
    some = values[::EVERY]
    rank = min(2 * most // EVERY + EVERY, len(some) - 1)
    places = np.flatnonzero(values <= np.partition(some, rank)[rank])  # nearly always enough
    if len(places) <= most:
        places = np.arange(len(values))
    return np.sort(places[np.argpartition(values[places], most)[:most]])


def _dual_step(
    rows: MemoryRows, step: Array, piece: Array, labeling: ConvexLabeling, everywhere: bool
) -> Result:
    V, image, squares = rows.dual_step(step, piece, labeling, everywhere)
    return (V,), (image, squares)


def _outside_sums(rows: MemoryRows, z: Array, support: Array) -> Result:
    return (), rows.outside_sums(z, support)


def _relabel(rows: MemoryRows, w: Array, labeling: Labeling, before: bool, labels: Array) -> Result:
    """Impute the labels at w, and sum the change of the moment."""
    new, costs = rows.impute_labels(w, labels, labeling, before)
    change = rows.moment_change(np.flatnonzero(differs(new, labels)), new, labels)
    return (new,), (costs, change)


def _numbers(rows: MemoryRows) -> Any:
    """Return X of a block, not shifted."""
    return rows.table.X  # type: ignore[attr-defined]


if TYPE_CHECKING:

    def _implementations(memory: MemoryRows, blocks: BlockRows) -> list[RowSums]:
        """Let mypy check that both have every sum of the protocol."""
        return [memory, blocks]
