"""Rows in memory, dense or sparse: every sum over rows that a fit needs.

The only place where a fit touches X. `sums` knows blocks and threads, `grams` matrices,
`relabeling` labels that are filled in; here rows meet a convex labeling, for Newton's steps and
certificates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import ConvexLabeling, Labeling
from ..linalg import EPS
from .relabeling import Relabelings
from .results import Sweep
from .sums import check_finite, column, differs, times
from .tables import Table

Array = NDArray[Any]


NEAR_VALUES = 1 << 20
"""With fewer values in X a pass over all rows costs no more than one over some."""
NEAR_REACH = 4.0
"""A border is near to a row at so many times the distance that rows move in the mean."""
NEAR_SHARE = 8
"""Rows near a border are looked at on their own where they are this part of all, or less."""
NEAR_WIDTH = 4
"""Above √(this times the rows) columns, what is done after a pass costs more than the pass."""


class Rows(Relabelings):
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

    def written_in(self, table: Table) -> Rows:
        """Return the same rows in another table, with other columns."""
        return Rows(
            table,
            self.labeled,
            self.y,
            labeled_weight=self.labeled_weight,
            row_weight=self.row_weight,
            unlabeled_weight=self.unlabeled_weight,
            intercept=self.intercept,
        )

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
        weight, all_count, count = None, float(self.n_unlabeled), float(n_unlabeled)
        if self.row_weight is not None:
            weight = self.row_weight[index]
            all_count, count = self.row_weight[self.unlabeled].sum(), self.row_weight[chosen].sum()
        other = Rows(
            self.table.subset(index),
            labeled,
            self.y,
            labeled_weight=self.labeled_weight,
            row_weight=weight,
            unlabeled_weight=self.unlabeled_weight * (all_count / count if count else 1.0),
            intercept=self.intercept,
        )
        other.share_labeled_sums(self)
        return other

    def near(
        self, sweep: Sweep, decrease: float, labeling: ConvexLabeling
    ) -> tuple[Array, Rows] | None:
        """Return the unlabeled rows that a step may carry over a border: their index, and rows.

        A step that is to lower J by `decrease` moves the labeled and active rows by
        √(decrease / Σ a) in the mean, a little less with a ridge. None where the rows within reach
        are too many to be looked at on their own, or all rows as few.
        """
        if self.table.n_values < NEAR_VALUES or self.n_weights**2 > NEAR_WIDTH * self.n_rows:
            return None
        reach = NEAR_REACH * np.sqrt(max(0.0, decrease) / self.weight_of(sweep.piece))
        up, down = labeling.piece(sweep.z + reach), labeling.piece(sweep.z - reach)
        leaves = up != down
        leaves[self.labeled] = False
        index = np.flatnonzero(leaves)
        if NEAR_SHARE * len(index) > self.n_rows:
            return None
        few = Rows(
            self.table.subset(index),
            np.empty(0, dtype=np.intp),
            np.empty(0),
            labeled_weight=np.empty(0),
            row_weight=None if self.row_weight is None else self.row_weight[index],
            unlabeled_weight=self.unlabeled_weight,
            intercept=self.intercept,
        )
        return index, few

    def sweep(self, w: Array, labeling: ConvexLabeling, before: Array | None = None) -> Sweep:
        """Pass over the rows once: decision values, pieces, loss and gradient at w.

        `before` are the pieces of an earlier sweep: rows that changed since are counted.
        """
        z = np.empty((self.n_rows, *w.shape[1:]), order="F")
        piece = np.empty(z.shape, dtype=labeling.piece(z[:0]).dtype, order="F")

        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = z[start:stop] = self._decide(block, w)
            squares = 0.0 if known else self.table.sum_of_squares(block)
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
            return np.append(self._combine(block, residual), (loss, squares))

        known = self.table.squares_sum is not None
        total = self._sum(work, self.n_rows)
        loss = float(total[-2])
        check_finite(loss)
        if self.table.squares_sum is None:  # summed with the first sweep, its blocks in the cache
            self.table.squares_sum = float(total[-1])
        changed = self.n_rows
        if before is not None:
            moved = np.flatnonzero(differs(piece, before))
            moved = self._settle(moved, w, z, piece, before)
            changed = len(moved)
        gradient = total[:-2].reshape(w.shape)
        return Sweep(w, z, piece, loss, gradient, changed, self.heaviest * self.table.squares_sum)

    def slope(self, first: Array, second: Array, t: float, labeling: Labeling) -> float:
        """Return half the loss's derivative in t at z = ``(1-t) first + t second``: no pass."""
        direction = second - first
        z = first + t * direction
        residual = z - labeling.impute(z)
        self._weigh(0, self.n_rows, z, residual)
        return float(np.vdot(residual, direction))

    def residual(self, z: Array, labeling: Labeling) -> Array:
        """Return z - t for all rows, with t the known or imputed label."""
        residual = z - labeling.impute(z)
        residual[self.labeled] = z[self.labeled] - self.y
        return residual

    def dual_step(
        self, sweep: Sweep, step: Array, labeling: ConvexLabeling, everywhere: bool
    ) -> tuple[Array, Array, float]:
        """Return decision values V of a step, Σ a x V and Σ a V²: one pass for each of the first.

        With two classes V is 0 on the rows inside [0, 1], unless it is asked for `everywhere`.
        """
        V = self.decisions(step)
        if not everywhere:
            V = labeling.curve(sweep.piece, V)
        theta, image = self.weighted_moment(V)
        return V, image, float(np.vdot(theta, V))

    def dual_overshoot(
        self, sweep: Sweep, V: Array, left: float, labeling: ConvexLabeling, everywhere: bool
    ) -> float:
        """Bound what a correction of residuals by -V costs beyond its square, without a pass.

        The residual of an unlabeled row keeps the bound that it belongs to: a correction beyond 0
        costs twice what is beyond. `left` is how much each value, times √a, may be off.
        """
        free = self.unlabeled
        weight = self.weights[free]
        margin = np.sqrt(weight) * left
        if labeling.per_class and everywhere:  # another value may become the largest
            return 4.0 * float((weight * np.abs(V[free]).max(axis=1) + margin).sum())
        if labeling.per_class:  # V is the same on the support of a label: only others may pass it
            support, moved = sweep.piece[free], V[free]
            residual = sweep.z[free] - labeling.impute(sweep.z[free]) - moved
            shared = np.where(support, residual, np.inf).min(axis=1)
            other = np.where(support, -np.inf, residual).max(axis=1)
            digits = 16.0 * EPS * (1.0 + np.abs(sweep.z[free]).max(axis=1))
            over = np.maximum(weight * (other - shared + digits) + 2.0 * margin, 0.0)
            most = np.where(support, moved, -np.inf).max(axis=1)
            uneven = weight * (most - np.where(support, moved, np.inf).min(axis=1))
            return 2.0 * float((over + uneven).sum())
        residual = sweep.z[free] - labeling.impute(sweep.z[free])
        over = weight * (np.sign(residual) * V[free] - (1.0 - 8.0 * EPS) * np.abs(residual))
        over[residual == 0.0] = (weight * np.abs(V[free]))[residual == 0.0]
        corrected = everywhere | (sweep.piece[free] != 0)
        return 2.0 * float(np.maximum(over + margin, 0.0)[corrected].sum())

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
