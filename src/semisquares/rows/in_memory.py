"""Rows in memory, dense or sparse: every sum over rows that a fit needs.

The only place where a fit touches X. `sums` knows blocks and threads, `grams` matrices; here rows
meet a labeling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import ConvexLabeling, Labeling
from ..linalg import EPS
from .grams import Grams
from .sums import check_finite, column, differs, times
from .tables import Table

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Sweep:
    """What one pass over the rows tells about weights w under a convex labeling."""

    w: Array
    z: Any
    """Decision values of all rows: an array, or a handle of rows in blocks."""
    piece: Any
    """On which piece of the labeling each row is (`Labeling.piece`)."""
    loss: float
    """Σ a ‖z - t‖², with t the known or imputed label and a the weight of a row."""
    gradient: Array
    """Half the gradient of the loss in w."""
    changed: int
    """How many rows are on another piece than in the sweep before (all rows in the first)."""


@dataclass(frozen=True, eq=False)
class Relabeling:
    """What one pass over the rows tells when their labels are filled in anew."""

    labels: Any
    """The new labels of all rows (those of labeled rows are not used)."""
    moment: Array
    """Σ a x t over all rows: the right-hand side of the next fit."""
    loss_before: Array
    """Σ a (z - t)² plus the labeling's penalty, with the labels as they were."""
    loss: Array
    """The same with the new labels."""
    changed: Array
    """How many unlabeled rows have another label."""


@dataclass(frozen=True, eq=False)
class DualSums:
    """What a dual point θ = a e, e a residual of each row, sums up to."""

    squares: float
    """Σ θ'e."""
    image: Array
    """Σ x θ."""
    known: float
    """Σ θ'y over the labeled rows."""
    free: float
    """Σ over the unlabeled rows of the most that θ'u can be for a label u."""
    weight: float
    """Σ a over the rows that are not inside [0, 1]."""


class Rows(Grams):
    """Labeled and unlabeled rows of one table; see `Sums` for the parameters."""

    def reweighted(
        self,
        *,
        labeled_weight: Array | None = None,
        row_weight: Array | None = None,
        unlabeled_weight: float | None = None,
    ) -> Rows:
        """Return the same rows that count differently; they share the table."""
        other = Rows(
            self.table,
            self.labeled,
            self.y,
            labeled_weight=self.labeled_weight if labeled_weight is None else labeled_weight,
            row_weight=self.row_weight if row_weight is None else row_weight,
            unlabeled_weight=self.unlabeled_weight
            if unlabeled_weight is None
            else unlabeled_weight,
            intercept=self.intercept,
        )
        if labeled_weight is None:
            other.share_labeled_sums(self)
        return other

    def training(self, inside: Array) -> Rows:
        """Return the same rows, of which those outside a training set (a mask) count nothing."""
        kept = inside[self.labeled]
        row_weight = None
        if not inside[self.unlabeled].all():
            row_weight = inside * (1.0 if self.row_weight is None else self.row_weight)
        fold = self.reweighted(labeled_weight=self.labeled_weight * kept, row_weight=row_weight)
        if "labeled_gram" in vars(self):
            # what the folds share was summed once: only the test rows are taken off
            fold.labeled_gram = self.labeled_gram - self._gram(
                self.labeled[~kept], self.labeled_weight[~kept]
            )
        return fold

    def extended(self, table: Table) -> Rows:
        """Return these rows and further unlabeled ones, which `table` holds after these.

        What was summed over these rows is not summed again.
        """
        if self.row_weight is not None:
            raise ValueError("rows with weights of their own cannot be extended")
        other = Rows(
            table,
            self.labeled,
            self.y,
            labeled_weight=self.labeled_weight,
            unlabeled_weight=self.unlabeled_weight,
            intercept=self.intercept,
        )
        other.share_labeled_sums(self)
        if "full_gram" in vars(self):
            added = other._gram_of(np.arange(self.n_rows, table.n_rows))
            other.full_gram = self.full_gram + self.unlabeled_weight * added
        return other

    def sample(self, n_unlabeled: int, rng: np.random.Generator) -> Rows:
        """Return the labeled rows and a sample of the others, which counts for all of them."""
        chosen = rng.choice(self.unlabeled, n_unlabeled, replace=False, shuffle=False)
        index = np.sort(np.concatenate((self.labeled, chosen)))
        labeled = np.searchsorted(index, self.labeled)
        weight = None if self.row_weight is None else self.row_weight[index]
        other = Rows(
            self.table.subset(index),
            labeled,
            self.y,
            labeled_weight=self.labeled_weight,
            row_weight=weight,
            unlabeled_weight=self.unlabeled_weight * self.n_unlabeled / n_unlabeled,
            intercept=self.intercept,
        )
        other.share_labeled_sums(self)
        return other

    def sweep(self, w: Array, labeling: ConvexLabeling, previous: Sweep | None = None) -> Sweep:
        """Pass over the rows once: decision values, pieces, loss and gradient at w."""
        z = np.empty((self.n_rows, *w.shape[1:]), order="F")
        piece = np.empty(z.shape, dtype=labeling.piece(z[:0]).dtype, order="F")

        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = z[start:stop] = self._decide(block, w)
            if labeling.per_class:
                imputed = labeling.impute(value)
                piece[start:stop] = labeling.piece(value, imputed)
                residual = value - imputed
                loss = self._weigh(start, stop, value, residual)
                piece[self._known(start, stop)[0]] = labeling.pinned
            else:
                side = labeling.piece(value)
                block, residual, loss = self._active_residual(start, block, value, side, labeling)
                piece[start:stop] = side
            return np.append(self._combine(block, residual), loss)

        total = self._sum(work, self.n_rows)
        check_finite(total[-1])
        changed = self.n_rows
        if previous is not None:
            moved = np.flatnonzero(differs(piece, previous.piece))
            moved = self._settle(moved, w, z, piece, previous.piece)
            changed = len(moved)
        gradient = total[:-1].reshape(w.shape)
        return Sweep(w, z, piece, float(total[-1]), gradient, changed)

    def relabel(
        self, w: Array, labels: Array, moment: Array, labeling: Labeling, *, before: bool = True
    ) -> Relabeling:
        """Pass over the rows once: fill in the labels at w, for one set of weights or many.

        `w` is (p,) or (p, K) for one run, with a further axis in the middle for many; `labels` has
        the same axes behind the rows. The moment is updated by the labels that changed. The loss
        with the labels as they were is left at 0 unless asked for (`before`).
        """
        new, (loss_before, loss, changed) = self._relabel(w, labels, labeling, before=before)
        moment = self.moment(new, labels, moment)
        return Relabeling(new, moment, loss_before, loss, changed.astype(np.intp))

    def _relabel(
        self, w: Array, labels: Array, labeling: Labeling, *, before: bool
    ) -> tuple[Array, Array]:
        """Return new labels, and what they cost: before, after, and how many changed."""
        new = np.empty_like(labels)
        runs = w.shape[1 : w.ndim - labeling.per_class]

        def work(start: int, stop: int) -> Array:
            value = self._decide(self.table.slice(start, stop), w)
            imputed = labeling.impute(value)
            new[start:stop] = imputed
            loss = self._loss(start, stop, value, imputed, labeling)
            old = np.zeros_like(loss)
            if before:
                u = labels[start:stop].astype(np.float64, copy=False)
                old = self._loss(start, stop, value, u, labeling)
            moved = differs(new[start:stop], labels[start:stop], keep=1 + len(runs))
            moved[self._known(start, stop)[0] - start] = False
            return np.stack((old, loss, moved.sum(axis=0).astype(np.float64)))

        costs = self._sum(work, self.n_rows)
        check_finite(costs[1])
        new[self.labeled] = labels[self.labeled]
        return new, costs

    def moment(
        self, labels: Array, since: Array | None = None, before: Array | None = None
    ) -> Array:
        """Sum a x t over all rows; where most labels are as they were `since`, the changes only."""
        if since is not None and before is not None:
            index = np.flatnonzero(differs(labels, since, keep=1))
            if not len(index):
                return before
            if 2 * len(index) <= self.n_rows:
                return before + self._moment_of(index, labels, since)

        def work(start: int, stop: int) -> Array:
            u = labels[start:stop].astype(np.float64)
            u[self._known(start, stop)[0] - start] = 0.0
            weight = self._unlabeled_weight(slice(start, stop))
            return self._combine(self.table.slice(start, stop), times(weight, u))

        unlabeled = self._sum(work, self.n_rows).reshape(self.n_weights, *labels.shape[1:])
        return self._repeated_labeled_moment(labels.shape[1:]) + unlabeled

    def _moment_of(self, index: Array, labels: Array, since: Array) -> Array:
        """Sum a x (change of the label) over the rows that changed it."""

        def work(start: int, stop: int) -> Array:
            rows = index[start:stop]
            change = labels[rows].astype(np.float64) - since[rows]
            return self._combine(self.table.take(rows), times(self._unlabeled_weight(rows), change))

        return self._sum(work, len(index)).reshape(self.n_weights, *labels.shape[1:])

    def slope(self, first: Sweep, second: Sweep, t: float, labeling: Labeling) -> float:
        """Return half the loss's derivative in t at ``(1-t) first + t second``, without a pass."""
        direction = second.z - first.z
        z = first.z + t * direction
        residual = z - labeling.impute(z)
        self._weigh(0, self.n_rows, z, residual)
        return float(np.vdot(residual, direction))

    def residual(self, z: Array, labeling: Labeling) -> Array:
        """Return z - t for all rows, with t the known or imputed label."""
        residual = z - labeling.impute(z)
        residual[self.labeled] = z[self.labeled] - self.y
        return residual

    def dual_sums(
        self, sweep: Sweep, step: Array | None, shift: float, labeling: ConvexLabeling
    ) -> DualSums:
        """Sum up the dual point of the residuals at a sweep, moved by a step and less a shift.

        With two classes rows inside [0, 1] have none: their labels are free to be what is decided.
        """
        error = self.residual(sweep.z, labeling)
        weight = 0.0
        if not labeling.per_class:
            active = sweep.piece != 0
            moved = error - shift if step is None else error + self.decisions(step) - shift
            error = np.where(active, moved, 0.0)
            weight = float(self.weights[active].sum())
        theta, image = self.weighted_moment(error)
        known = float(np.vdot(theta[self.labeled], self.y))
        free = float(labeling.support(theta[self.unlabeled]).sum())
        return DualSums(float(np.vdot(theta, error)), image, known, free, weight)

    def imputed(self, z: Array, labeling: Labeling) -> Array:
        """Return the labels that decision values get."""
        return labeling.impute(z)

    def read_labels(self, labels: Any) -> Array:
        """Return labels to start from as numbers."""
        return np.asarray(labels, dtype=np.float64)

    def class_counts(self, labels: Array) -> Array:
        """Count the unlabeled rows of each class, given decision values or labels."""
        free = labels[self.unlabeled]
        if free.ndim == 2:
            return np.bincount(free.argmax(axis=1), minlength=free.shape[1])
        return np.bincount((free > 0.5).view(np.int8), minlength=2)

    def classes_of(self, labels: Array) -> Array:
        """Return the class of every row as an index; labeled rows keep theirs."""
        per_class = self.y.ndim == 2
        classes = (labels.argmax(axis=1) if per_class else labels > 0.5).astype(np.int32)
        classes[self.labeled] = self.y.argmax(axis=1) if per_class else self.y
        return classes

    def labels_of(self, classes: Array) -> Array:
        """Return hard labels of classes: 0 and 1, or one-hot."""
        if self.y.ndim == 1:
            return classes.astype(np.float64)
        return np.eye(self.y.shape[1])[classes]

    def loss(self, z: Array, labeling: Labeling) -> float:
        """Return Σ a ‖z - t‖² at decision values, without a pass."""
        return self._weigh(0, self.n_rows, z, z - labeling.impute(z))

    def curvature_product(self, V: Array, piece: Array, labeling: ConvexLabeling) -> Array:
        """Multiply directions by the curvature at the pieces: one pass."""
        return self._product(V, lambda part, v: labeling.curve(piece[part], v))

    def _active_residual(
        self, start: int, block: Any, z: Array, side: Array, labeling: ConvexLabeling
    ) -> tuple[Any, Array, float]:
        """Return the weighted residuals of a block and its loss, two classes.

        Rows inside [0, 1] cost nothing and have no residual: where most are, only the others are
        taken out of the block and looked at.
        """
        stop = start + len(z)
        index, which = self._known(start, stop)
        side[index - start] = labeling.pinned
        some = np.flatnonzero(side.view(bool))
        value = z[some]
        residual = value - labeling.impute(value)
        place = np.searchsorted(some, index - start)
        error = value[place] - self.y[which]
        residual[place] = 0.0
        weight = self._unlabeled_weight(some + start)
        weighted = weight * residual
        weighted[place] = self.labeled_weight[which] * error
        residual[place] = error
        # NaN has no side: it would go unseen without the last term
        loss = float(np.vdot(residual, weighted)) + 0.0 * float(z.sum())
        if 4 * len(some) < len(z):
            return block[some], weighted, loss
        whole = np.zeros(len(z))
        whole[some] = weighted
        return block, whole, loss

    def _weigh(self, start: int, stop: int, z: Array, residual: Array) -> float:
        """Multiply the residuals of a block by their weights, in place; return the loss."""
        index, which = self._known(start, stop)
        known = index - start
        error = z[known] - self.y[which]
        weighted = times(self.labeled_weight[which], error)
        residual[known] = 0.0
        weight = self._unlabeled_weight(slice(start, stop))
        if self.row_weight is None:
            loss = float(weight * np.vdot(residual, residual))
            if weight != 1.0:
                residual *= weight
        else:
            raw = residual.copy()
            residual *= column(weight, residual)
            loss = float(np.vdot(raw, residual))
        residual[known] = weighted
        return loss + float(np.vdot(error, weighted))

    def _loss(self, start: int, stop: int, z: Array, u: Array, labeling: Labeling) -> Array:
        """Sum a block's loss with the labels u, one value for each run."""
        index, which = self._known(start, stop)
        known = index - start
        squares = (z - u) ** 2
        runs = squares.ndim - 1 - labeling.per_class
        y = self.y[which] if not runs else self.y[which][:, None]
        squares[known] = (z[known] - y) ** 2
        if labeling.per_class:
            squares = squares.sum(axis=-1)
        extra = labeling.penalty(u)
        extra[known] = 0.0
        squares += extra
        weighted = times(self._unlabeled_weight(slice(start, stop)), squares)
        weighted[known] = times(self.labeled_weight[which], squares[known])
        return weighted.sum(axis=0)

    def _repeated_labeled_moment(self, axes: tuple[int, ...]) -> Array:
        """Return Σ a x y over the labeled rows, once for each run."""
        runs = len(axes) - (self.y.ndim - 1)
        moment = self.labeled_moment.reshape(self.n_weights, *(1,) * runs, *self.y.shape[1:])
        return np.broadcast_to(moment, (self.n_weights, *axes))

    def _settle(self, moved: Array, w: Array, z: Array, piece: Array, before: Array) -> Array:
        """Leave out rows that sit on the border of two pieces to rounding: they keep their old one.

        Such a row has no side, and the last bit of its decision value must not keep a solver busy.
        """
        if not 0 < len(moved) <= 64 or z.ndim > 1:
            return moved
        reach = abs(self.table.take(moved)) @ np.abs(w[: self.n_features])
        reach = reach + (np.abs(w[-1]) if self.intercept else 0.0)
        distance = np.minimum(np.abs(z[moved]), np.abs(z[moved] - 1.0))
        opposite = piece[moved] * before[moved] == -1
        undecided = (distance <= 16.0 * EPS * (1.0 + reach)) & ~opposite
        piece[moved[undecided]] = before[moved[undecided]]
        return moved[~undecided]
