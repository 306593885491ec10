"""Rows in blocks: the same sums as in memory, taken block by block by the same code.

Solvers see what they see of `Rows`. Values of all rows (decision values, pieces, labels) are
handles here, which only these rows look into.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..labelings import ConvexLabeling, Labeling
from . import block_work as work
from .blocks import Blocks, Frame, Pass, PerRow
from .in_memory import Rows
from .results import Relabeling, Sweep
from .sums import PANELS, ShiftedColumns, check_finite
from .tables import BLOCK_BYTES, DenseTable, SparseTable

Array = NDArray[Any]

SAMPLE_BYTES = 1 << 26
"""A sample of rows that is brought together takes at most so much memory."""
SAMPLED_BLOCKS = 32
"""So many blocks are read for it at the most."""
LEAST_NORM = (
    "The labeled rows leave weights open: alpha=0 with few labels, or columns that are nearly "
    "copies or far from the origin; rows in blocks have no solution of least norm: pass alpha > 0 "
    "or a larger one, standardise the columns, or pass the rows in memory."
)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many rows there are, and how much they count."""

    n_rows: int
    n_labeled: int
    class_weights: Array
    """Σ a over the labeled rows of each class."""
    unlabeled_weight: float
    """Σ of the sample weights of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class Layout:
    """What of a table decides how its rows are summed: see `Table`."""

    gram_columns: float
    shift: Array | None


@dataclass(frozen=True, eq=False)
class _Labeled:
    """What the labeled rows sum up to, and some of them."""

    gram: Array | None
    moment: Array
    sample: Any
    """X of all labeled rows, or of a sample where they are too many to be brought together."""
    y: Array
    weight: Array
    """How much a row of the sample counts."""


class PartitionedRows(ShiftedColumns):
    """Labeled and unlabeled rows whose blocks Dask holds."""

    def __init__(self, blocks: Blocks, frame: Frame, counts: Counts, gram_columns: float) -> None:
        self.blocks, self.frame, self.counts = blocks, frame, counts
        self.table = Layout(gram_columns, frame.shift)
        self.intercept = frame.intercept
        self.unlabeled_weight = frame.unlabeled_weight
        self.n_features = frame.n_columns
        self.n_weights = self.n_features + self.intercept
        self.n_rows = counts.n_rows
        self.n_unlabeled = counts.n_rows - counts.n_labeled
        n_classes = len(counts.class_weights)
        self.weights_shape = (self.n_weights, *((n_classes,) if n_classes > 2 else ()))
        self.most_sampled = max(1, SAMPLE_BYTES // (8 * self.n_weights))

    @property
    def passes(self) -> tuple[Pass, ...]:
        """Every pass over X that was made for these rows."""
        return tuple(self.blocks.passes)

    def reweighted(self, *, unlabeled_weight: float) -> PartitionedRows:
        """Return the same rows that count differently."""
        frame = replace(self.frame, unlabeled_weight=unlabeled_weight)
        other = PartitionedRows(self.blocks, frame, self.counts, self.table.gram_columns)
        if "_labeled" in vars(self):
            vars(other)["_labeled"] = self._labeled
        return other

    # -- labeled rows ---------------------------------------------------------------------------

    @property
    def heaviest(self) -> float:
        """At least what any row counts."""
        return self.total_weight

    @property
    def longest_sum(self) -> int:
        """How many numbers are added up one after the other at the most, in a sum over rows."""
        is_sparse = np.isfinite(self.table.gram_columns)  # whose blocks are cut by their entries
        step = max(32, BLOCK_BYTES // (12 if is_sparse else 8 * max(1, self.n_features)))
        return step + -(-self.n_rows // step) + len(self.blocks.x) + 2 * PANELS

    @property
    def labeled_total(self) -> float:
        """How much the labeled rows count."""
        return float(self.counts.class_weights.sum())

    @property
    def total_weight(self) -> float:
        """How much all rows together count."""
        return self.labeled_total + self.unlabeled_weight * self.counts.unlabeled_weight

    @property
    def constant_loss(self) -> float:
        """Σ a ‖y - c‖² over the labeled rows, c the best constant (0 without an intercept)."""
        mass = self.counts.class_weights
        shares = mass / mass.sum() if self.intercept else np.zeros(len(mass))
        if len(mass) == 2:
            return float(mass[0] * shares[1] ** 2 + mass[1] * (1.0 - shares[1]) ** 2)
        return float(mass @ ((np.eye(len(mass)) - shares) ** 2).sum(axis=1))

    @cached_property
    def _labeled(self) -> _Labeled:
        """One pass for all that is asked of the labeled rows alone."""
        share = min(1.0, self.most_sampled / max(1, self.counts.n_labeled))
        with_gram = self.n_features <= self.table.gram_columns
        gram, moment, parts, total = self._pass(work.sum_labeled, with_gram, share)
        check_finite(total)
        check_finite(moment)
        X, y, weight = (list(part) for part in zip(*parts, strict=True))
        sample = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
        return _Labeled(
            gram if with_gram else None,
            moment.reshape(self.weights_shape),
            sample,
            np.concatenate(y),
            np.concatenate(weight) / share,
        )

    @property
    def labeled_gram(self) -> Array:
        """The Gram matrix of the labeled rows."""
        gram = self._labeled.gram
        if gram is None:
            raise ValueError(
                f"A fit with alpha=0 needs Gram matrices, and X has {self.n_features} sparse "
                "columns, for which Dask's blocks form none; pass alpha > 0, or the rows in memory."
            )
        return gram

    @property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""
        return self._labeled.moment

    def labeled_product(self, V: Array) -> Array:
        """Multiply directions by the Gram matrix of the labeled rows."""
        return self._pass(work.labeled_product, V)[0]

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows, without a pass where all were brought here."""
        known = self._labeled
        if len(known.y) < self.counts.n_labeled:
            return float(self._pass(work.labeled_loss, w)[0])
        return self._in_memory(known.sample, known).labeled_loss(w)

    # -- Newton ---------------------------------------------------------------------------------

    def sweep(self, w: Array, labeling: ConvexLabeling, before: PerRow | None = None) -> Sweep:
        """Pass over the rows once: decision values, pieces, loss, gradient and curvature at w.

        Blocks may have to be read from files: the curvature comes with the same pass, that of all
        active rows or, after a sweep before, of those that changed.
        """
        direct = not labeling.per_class and self.n_features <= self.table.gram_columns
        since = () if before is None else (before,)
        (z, piece), (loss, gradient, changed, squares, gram) = self.blocks.run(
            work.sweep, self.frame, w, labeling, direct, per_row=since, keep=2
        )
        check_finite(loss)
        if direct:
            piece = _Piece(piece.parts, piece.pick, gram, before)
        return Sweep(w, z, piece, float(loss), gradient, int(changed), float(squares))

    def near(self, sweep: Sweep, decrease: float, labeling: ConvexLabeling) -> None:
        """Return no rows: to look at those near a border would take a pass over all."""

    def active_gram(self, piece: _Piece, since: tuple[_Piece, Array] | None = None) -> Array:
        """Return the Gram matrix of the active unlabeled rows, which a sweep has summed."""
        if piece.before is None:
            return piece.gram
        if since is not None and since[0] is piece.before:
            return since[1] + piece.gram
        if since is not None and since[0] is piece:
            return since[1]
        return self._pass(work.active_gram, per_row=(piece,))[0]

    def curvature(self, active_gram: Array) -> Array:
        """Put the labeled rows' Gram matrix and that of the active ones together."""
        return self.labeled_gram + self.unlabeled_weight * active_gram

    def curvature_product(self, V: Array, piece: PerRow, labeling: ConvexLabeling) -> Array:
        """Multiply directions by the curvature at the pieces: one pass."""
        return self._pass(work.curvature_product, V, labeling, per_row=(piece,))[0]

    def outside_grams(self, support: PerRow) -> Array:
        """Sum, for each class, the Gram matrix of the rows whose label leaves it out."""
        return self._pass(work.outside_grams, per_row=(support,))[0]

    def n_outside(self, support: PerRow) -> int:
        """Count the classes that labels leave out, over all rows."""
        return int(self._known(work.n_outside, per_row=(support,))[0])

    def slope(self, first: PerRow, second: PerRow, t: float, labeling: Labeling) -> float:
        """Return half the loss's derivative in t at z = ``(1-t) first + t second``: no pass."""
        return float(self._known(work.slope, t, labeling, per_row=(first, second))[0])

    def dual_step(
        self, sweep: Sweep, step: Array, labeling: ConvexLabeling, everywhere: bool
    ) -> tuple[PerRow, Array, float]:
        """Return decision values V of a step, Σ a x V and Σ a V²: one pass."""
        (V,), (image, squares) = self.blocks.run(
            work.dual_step, self.frame, sweep.w, step, labeling, everywhere,
            per_row=(sweep.z, sweep.piece), keep=1,
        )  # fmt: skip
        return V, image, float(squares)

    def dual_overshoot(
        self, sweep: Sweep, V: PerRow, left: float, labeling: ConvexLabeling, everywhere: bool
    ) -> float:
        """Bound what a correction of residuals by -V costs beyond its square, without a pass."""
        per_row = (sweep.z, sweep.piece, V)
        told = (sweep.w, left, labeling, everywhere)
        return float(self._known(work.dual_overshoot, *told, per_row=per_row)[0])

    def sample(self, n_unlabeled: int, rng: np.random.Generator) -> Rows:
        """Bring the labeled rows and a sample of the others together, which counts for all."""
        n_blocks = min(len(self.blocks.x), SAMPLED_BLOCKS)
        chosen = np.unique(np.linspace(0, len(self.blocks.x) - 1, n_blocks).astype(int))
        some = Blocks(
            tuple(self.blocks.x[b] for b in chosen), tuple(self.blocks.known[b] for b in chosen)
        )
        seed = int(rng.integers(2**31))
        _, (parts,) = some.run(work.sample, self.frame, -(-n_unlabeled // len(chosen)), seed)
        known = self._labeled
        X, weight = (list(part) for part in zip(*parts, strict=True))
        weights = np.concatenate(weight)
        self.blocks.passes += some.passes
        X = [known.sample, *X]
        whole = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
        rows = self._in_memory(whole, known, weights)
        if known.gram is not None:
            rows.labeled_gram = known.gram
        rows.labeled_moment = known.moment
        return rows

    def _in_memory(self, X: Any, known: _Labeled, weights: Array | None = None) -> Rows:
        """Return rows that were brought here: labeled ones, then others that count for all."""
        table = (SparseTable if sparse.issparse(X) else DenseTable)(X, self.frame.shift)
        weights = np.empty(0) if weights is None else weights
        total = float(weights.sum())
        share = self.counts.unlabeled_weight / total if total > 0.0 else 0.0
        return Rows(
            table,
            np.arange(len(known.y)),
            known.y,
            labeled_weight=known.weight,
            row_weight=np.concatenate((known.weight, weights)),
            unlabeled_weight=self.unlabeled_weight * share,
            intercept=self.intercept,
        )

    # -- block descent --------------------------------------------------------------------------

    @cached_property
    def full_gram(self) -> Array:
        """The Gram matrix of all rows."""
        gram = self._pass(work.full_gram)[0]
        check_finite(gram.trace())
        return gram

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of `full_gram`, for tables too wide to form it."""
        return self._pass(work.diagonal)[0]

    @property
    def n_nonzero(self) -> Array:
        """How many entries of each column are not 0, in rows that count."""
        return self._pass(work.n_nonzero)[0]

    def full_product(self, V: Array) -> Array:
        """Multiply directions by `full_gram`, without forming it: one pass."""
        return self._pass(work.full_product, V)[0]

    def decisions(self, w: Array) -> PerRow:
        """Return the decision values of all rows: one pass."""
        return self.blocks.run(work.decisions, self.frame, w, keep=1)[0][0]

    def imputed(self, z: PerRow, labeling: Labeling) -> PerRow:
        """Return the labels that decision values get."""
        return self.blocks.run_known(work.imputed, self.frame, labeling, per_row=(z,), keep=1)[0][0]

    def relabel(
        self, w: Array, labels: PerRow, moment: Array, labeling: Labeling, *, before: bool = True
    ) -> Relabeling:
        """Pass over the rows once: fill in the labels at w, and update the moment."""
        (new,), (costs, change) = self.blocks.run(
            work.relabel, self.frame, w, labeling, before, per_row=(labels,), keep=1
        )
        loss_before, loss, changed = costs
        check_finite(loss)
        return Relabeling(new, moment + change, loss_before, loss, changed.astype(np.intp))

    def moment(self, labels: PerRow) -> Array:
        """Sum a x t over all rows."""
        return self._pass(work.moment, per_row=(labels,))[0]

    def loss(self, z: PerRow, labeling: Labeling) -> float:
        """Return Σ a ‖z - t‖² at decision values, without a pass."""
        return float(self._known(work.loss, labeling, per_row=(z,))[0])

    def class_counts(self, labels: PerRow) -> Array:
        """Count the unlabeled rows of each class, given decision values or labels."""
        return self._known(work.class_counts, per_row=(labels,))[0]

    def read_labels(self, labels: PerRow) -> PerRow:
        """Return labels to start from as they are: a handle."""
        return labels

    def classes_of(self, labels: PerRow) -> PerRow:
        """Return hard labels as they are: a handle."""
        return labels

    labels_of = classes_of

    def not_finite(self) -> tuple[Array, Array]:
        """Count NaN and infinities by columns."""
        return self._pass(work.not_finite)

    @property
    def labeled_residual(self) -> NoReturn:
        """Say that rows in blocks are not looked at one by one."""
        raise ValueError(LEAST_NORM)

    def residual(self, z: PerRow, labeling: Labeling) -> NoReturn:
        """Say the same."""
        raise ValueError(LEAST_NORM)

    def _pass(self, function: Any, *shared: Any, per_row: tuple[PerRow, ...] = ()) -> Any:
        return self.blocks.run(function, self.frame, *shared, per_row=per_row)[1]

    def _known(self, function: Any, *shared: Any, per_row: tuple[PerRow, ...] = ()) -> Any:
        return self.blocks.run_known(function, self.frame, *shared, per_row=per_row)[1]


@dataclass(frozen=True, eq=False)
class _Piece(PerRow):
    """The pieces of all rows, and the Gram matrix that came with the same pass."""

    gram: Array
    before: PerRow | None
    """The pieces since which it is a change; None where it is that of all active rows."""
