"""Rows in memory, dense or sparse: every sum over rows that a fit needs.

The only place where a fit touches X. Weights w have the intercept as their last entry (where there
is one) and speak of the shifted columns; `to_user` and `from_user` translate. All sums are float64.
The rows are summed in panels whose number does not depend on the number of threads, so neither
does the result.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import ConvexLabeling, Labeling
from ..linalg import EPS, triangle_of
from .tables import Table
from .threads import run

Array = NDArray[Any]

THREADED_VALUES = 1 << 22
"""Fewer values than this in X are summed faster by one thread."""
PANELS = 8


@dataclass(frozen=True, eq=False)
class Sweep:
    """What one pass over the rows tells about weights w under a convex labeling."""

    w: Array
    z: Array
    """Decision values of all rows."""
    piece: Array
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

    labels: Array
    """The new labels of all rows (those of labeled rows are not used)."""
    moment: Array
    """Σ a x t over all rows: the right-hand side of the next fit."""
    loss_before: Array
    """Σ a (z - t)² plus the labeling's penalty, with the labels as they were."""
    loss: Array
    """The same with the new labels."""
    changed: Array
    """How many unlabeled rows have another label."""


class Rows:
    """Labeled and unlabeled rows of one table, with their weights.

    Parameters
    ----------
    table : Table
        The rows of X.
    labeled : sorted index array
        Which rows have a label.
    y : array (L,) or (L, K)
        Their targets: 0 and 1, or one-hot.
    labeled_weight : array (L,)
        How much each labeled row counts.
    row_weight : array (n,) or None
        Sample weights of all rows, used for the unlabeled ones; None for ones.
    unlabeled_weight : float
        How much an unlabeled row counts on top of that.
    intercept : bool
        Whether the weights end with an intercept.
    """

    def __init__(
        self,
        table: Table,
        labeled: Array,
        y: Array,
        *,
        labeled_weight: Array,
        row_weight: Array | None = None,
        unlabeled_weight: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.table = table
        self.labeled = labeled
        self.y = y
        self.labeled_weight = labeled_weight
        self.row_weight = row_weight
        self.unlabeled_weight = unlabeled_weight
        self.intercept = intercept
        self.n_rows = table.n_rows
        self.n_weights = table.n_columns + intercept

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - len(self.labeled)

    @cached_property
    def unlabeled(self) -> Array:
        """The index of the unlabeled rows."""
        mask = np.ones(self.n_rows, dtype=bool)
        mask[self.labeled] = False
        return np.flatnonzero(mask)

    @property
    def weights(self) -> Array:
        """How much each row counts."""
        weight = np.empty(self.n_rows)
        weight[:] = self._unlabeled_weight(slice(None))
        weight[self.labeled] = self.labeled_weight
        return weight

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return (self.n_weights, *self.y.shape[1:])

    # -- other rows from these ---------------------------------------------------------------

    def reweighted(
        self, *, labeled_weight: Array | None = None, unlabeled_weight: float | None = None
    ) -> Rows:
        """Return the same rows that count differently; they share the table."""
        other = copy.copy(self)
        if labeled_weight is not None:
            other.labeled_weight = labeled_weight
            for cached in ("labeled_gram", "labeled_moment"):
                other.__dict__.pop(cached, None)
        if unlabeled_weight is not None:
            other.unlabeled_weight = unlabeled_weight
        other.__dict__.pop("full_gram", None)
        other.__dict__.pop("diagonal", None)
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
        if "labeled_gram" in self.__dict__:
            other.__dict__["labeled_gram"] = self.labeled_gram
        return other

    # -- the two ways of writing weights --------------------------------------------------------

    def to_user(self, w: Array) -> Array:
        """Translate weights from the shifted columns to X's own."""
        return self._translate(w, -1.0)

    def from_user(self, w: Array) -> Array:
        """Translate weights from X's own columns to the shifted ones."""
        return self._translate(w, 1.0)

    # -- passes over the rows ------------------------------------------------------------------

    def decisions(self, w: Array) -> Array:
        """Return the decision values of all rows: one pass."""
        z = np.empty((self.n_rows, *w.shape[1:]), order="F")

        def work(start: int, stop: int) -> int:
            z[start:stop] = self._decide(self.table.slice(start, stop), w)
            return 0

        self._sum(work, self.n_rows)
        return z

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
        _check_finite(total[-1])
        changed = self.n_rows
        if previous is not None:
            moved = np.flatnonzero(_differs(piece, previous.piece))
            moved = self._settle(moved, w, z, piece, previous.piece)
            changed = len(moved)
        gradient = total[:-1].reshape(w.shape)
        return Sweep(w, z, piece, float(total[-1]), gradient, changed)

    def relabel(self, w: Array, labels: Array, moment: Array, labeling: Labeling) -> Relabeling:
        """Pass over the rows once: fill in the labels at w, for one set of weights or many.

        `w` is (p,) or (p, K) for one run, with a further axis in the middle for many; `labels` has
        the same axes behind the rows. The moment is updated by the labels that changed.
        """
        new = np.empty_like(labels)
        runs = w.shape[1 : w.ndim - labeling.per_class]

        def work(start: int, stop: int) -> Array:
            value = self._decide(self.table.slice(start, stop), w)
            imputed = labeling.impute(value)
            new[start:stop] = imputed
            losses = [
                self._loss(start, stop, value, u, labeling)
                for u in (labels[start:stop].astype(np.float64, copy=False), imputed)
            ]
            moved = _differs(new[start:stop], labels[start:stop], keep=1 + len(runs))
            moved[self._known(start, stop)[0] - start] = False
            return np.stack((*losses, moved.sum(axis=0).astype(np.float64)))

        before, loss, changed = self._sum(work, self.n_rows)
        _check_finite(loss)
        new[self.labeled] = labels[self.labeled]
        moment = self.moment(new, labels, moment)
        return Relabeling(new, moment, before, loss, changed.astype(np.intp))

    def moment(
        self, labels: Array, since: Array | None = None, before: Array | None = None
    ) -> Array:
        """Sum a x t over all rows; where most labels are as they were `since`, the changes only."""
        w_shape = (self.n_weights, *labels.shape[1:])
        index: Array | None = None
        if since is not None:
            index = np.flatnonzero(_differs(labels, since, keep=1))
            if 2 * len(index) > self.n_rows:
                index = None
        if index is None or before is None:
            before = self._repeated_labeled_moment(labels.shape[1:])

        def work(start: int, stop: int) -> Array:
            if index is None:
                block, u = self.table.slice(start, stop), labels[start:stop].astype(np.float64)
                known = self._known(start, stop)[0] - start
                u[known] = 0.0
                weight = self._unlabeled_weight(slice(start, stop))
            else:
                rows = index[start:stop]
                block = self.table.take(rows)
                u = labels[rows].astype(np.float64)
                u -= since[rows]  # type: ignore[index]
                weight = self._unlabeled_weight(rows)
            return self._combine(block, _times(weight, u))

        n_items = self.n_rows if index is None else len(index)
        if n_items == 0:
            return before
        return before + self._sum(work, n_items).reshape(w_shape)

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

    def loss(self, z: Array, labeling: Labeling) -> float:
        """Return Σ a ‖z - t‖² at decision values, without a pass."""
        return self._weigh(0, self.n_rows, z, z - labeling.impute(z))

    def weighted_moment(self, error: Array) -> tuple[Array, Array]:
        """Multiply values of all rows by their weights; return that, and its sum with x."""
        theta = _times(self._unlabeled_weight(slice(None)), error)
        theta[self.labeled] = _times(self.labeled_weight, error[self.labeled])

        def work(start: int, stop: int) -> Array:
            return self._combine(self.table.slice(start, stop), theta[start:stop])

        return theta, self._sum(work, self.n_rows).reshape(self.n_weights, *error.shape[1:])

    def curvature_product(self, V: Array, piece: Array, labeling: ConvexLabeling) -> Array:
        """Multiply directions by the curvature at the pieces: one pass."""

        return self._product(V, lambda part, v: labeling.curve(piece[part], v))

    # -- sums over the labeled rows alone -------------------------------------------------------

    @cached_property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""
        weighted = _times(self.labeled_weight, self.y)
        moment = self._sum_labeled(lambda block, part: self._combine(block, weighted[part]))
        _check_finite(moment)
        return moment.reshape(self.weights_shape)

    def labeled_product(self, V: Array) -> Array:
        """Multiply directions by the Gram matrix of the labeled rows, without forming it."""

        def work(block: Any, part: slice) -> Array:
            return self._combine(block, _times(self.labeled_weight[part], self._decide(block, V)))

        return self._sum_labeled(work).reshape(V.shape)

    @property
    def labeled_spread(self) -> float:
        """Σ a ‖x - mean‖² over the labeled rows."""
        index, weight = self.labeled, self.labeled_weight
        total = float(weight.sum())
        d = self.table.n_columns

        def work(block: Any, part: slice) -> Array:
            return np.append(block.T @ weight[part], self.table.squares(block).T @ weight[part])

        sums = self._sum_labeled(work)
        _check_finite(sums)
        centred = sums[d:] - sums[:d] ** 2 / total if self.intercept else sums[d:]
        return float(np.maximum(centred, 0.0).sum()) if len(index) else 0.0

    def gram_of_labeled(self, weight: Array) -> Array:
        """Return the Gram matrix of the labeled rows, counting differently."""
        some = np.flatnonzero(weight)
        return self._gram(self.labeled[some], weight[some])

    def decisions_of(self, index: Array, w: Array) -> Array:
        """Return the decision values of some rows."""
        return self._decide(self.table.take(index), w)

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows."""

        def work(block: Any, part: slice) -> Array:
            error = self._decide(block, w) - self.y[part]
            return np.asarray(np.vdot(_times(self.labeled_weight[part], error), error))

        return float(self._sum_labeled(work))

    # -- Gram matrices ------------------------------------------------------------------------

    @cached_property
    def labeled_gram(self) -> Array:
        """The Gram matrix of the labeled rows."""
        gram = self._gram(self.labeled, self.labeled_weight)
        _check_finite(gram.trace())
        return gram

    @cached_property
    def full_gram(self) -> Array:
        """The Gram matrix of all rows."""
        gram = self.labeled_gram + self.unlabeled_weight * self._gram_of(self.unlabeled)
        _check_finite(gram.trace())
        return gram

    def active_gram(self, piece: Array, since: tuple[Array, Array] | None = None) -> Array:
        """Sum the Gram matrix of the active unlabeled rows, each counting its sample weight.

        `since` is a piece and its Gram matrix: then only the rows that changed are visited, unless
        they outnumber the active ones.
        """
        active = piece == 1
        active |= piece == -1
        if since is None:
            return self._gram_of(np.flatnonzero(active))
        before = np.abs(since[0]) == 1
        added = np.flatnonzero(active & ~before)
        removed = np.flatnonzero(before & ~active)
        if len(added) + len(removed) > np.count_nonzero(active):
            return self._gram_of(np.flatnonzero(active))
        gram = since[1]
        if len(added):
            gram = gram + self._gram_of(added)
        if len(removed):
            gram = gram - self._gram_of(removed)
        return gram

    def outside_grams(self, support: Array) -> Array:
        """Sum, for each class, the Gram matrix of the rows whose label leaves it out.

        A row counts 1 + 1/|support|: in directions that sum to nothing over the classes that is
        all the curvature a row has that leaves one class out, and nearly all where it is more.
        """
        size = support.sum(axis=1)
        grams = []
        for k in range(support.shape[1]):
            index = np.flatnonzero(~support[:, k] & (size > 0))
            weight = 1.0 + 1.0 / size[index]
            if self.row_weight is not None:
                weight *= self.row_weight[index]
            grams.append(self._gram(index, weight))
        return self.labeled_gram + self.unlabeled_weight * np.stack(grams)

    def curvature(self, active_gram: Array) -> Array:
        """Put the labeled rows' Gram matrix and that of the active ones together."""
        return self.labeled_gram + self.unlabeled_weight * active_gram

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of `full_gram`, for tables too wide to form it."""
        weight = self.weights

        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            features = self.table.squares(block).T @ weight[start:stop]
            return np.append(features, [weight[start:stop].sum()] * self.intercept)

        diagonal = self._sum(work, self.n_rows)
        _check_finite(diagonal)
        return diagonal

    def full_product(self, V: Array) -> Array:
        """Multiply directions by `full_gram`, without forming it: one pass."""
        return self._product(V, lambda part, v: v)

    def triangle(self, index: Array, rhs: Array | None) -> Array:
        """Return the R factor of the weighted columns (1, x, rhs) over some rows."""
        root = np.sqrt(self.weights[index])
        n_columns = self.n_weights + (0 if rhs is None else rhs.shape[1])
        R = np.zeros((0, n_columns))
        step = max(self.table.block_rows, 2 * n_columns)
        for start in range(0, len(index), step):
            part = slice(start, start + step)
            block = self.table.dense(self.table.take(index[part]))
            columns = [np.ones((len(block), 1))] * self.intercept + [block]
            if rhs is not None:
                columns.append(rhs[index[part]])
            stacked = np.hstack(columns) * root[part, None]
            R = triangle_of(np.vstack((R, stacked)))
        missing = n_columns - len(R)
        return np.vstack((R, np.zeros((missing, n_columns)))) if missing > 0 else R

    # -- pieces of the above ------------------------------------------------------------------

    def _translate(self, w: Array, sign: float) -> Array:
        if self.table.shift is None:
            return w
        out = w.copy()
        out[-1] += sign * (self.table.shift @ w[:-1])
        return out

    def _decide(self, block: Any, w: Array) -> Array:
        d = self.table.n_columns
        if w.ndim == 1:
            z = block @ w[:d]
        elif w.ndim == 2:
            z = self.table.times(block, w[:d])
        else:
            z = (block @ w[:d].reshape(d, -1)).reshape(-1, *w.shape[1:])
        if self.intercept:
            z += w[d]
        return z

    def _combine(self, block: Any, r: Array) -> Array:
        """Sum x r over a block, flattened."""
        if r.ndim > 2:
            r = r.reshape(len(r), -1)
        features = block.T @ r if r.ndim == 1 else self.table.transpose_times(block, r).ravel()
        return np.append(features, r.sum(axis=0)) if self.intercept else features

    def _active_residual(
        self, start: int, block: Any, z: Array, side: Array, labeling: Labeling
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

    def _known(self, start: int, stop: int) -> tuple[Array, slice]:
        """Return the labeled rows of a block, and which of the labeled rows they are."""
        if stop - start == self.n_rows:
            return self.labeled, slice(None)
        first, last = np.searchsorted(self.labeled, (start, stop))
        return self.labeled[first:last], slice(int(first), int(last))

    def _unlabeled_weight(self, rows: Array | slice) -> Array | float:
        if self.row_weight is None:
            return self.unlabeled_weight
        return self.unlabeled_weight * self.row_weight[rows]

    def _weigh(self, start: int, stop: int, z: Array, residual: Array) -> float:
        """Multiply the residuals of a block by their weights, in place; return the loss."""
        index, which = self._known(start, stop)
        known = index - start
        error = z[known] - self.y[which]
        weighted = _times(self.labeled_weight[which], error)
        residual[known] = 0.0
        weight = self._unlabeled_weight(slice(start, stop))
        if self.row_weight is None:
            loss = float(weight * np.vdot(residual, residual))
            if weight != 1.0:
                residual *= weight
        else:
            raw = residual.copy()
            residual *= _column(weight, residual)
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
        weighted = _times(self._unlabeled_weight(slice(start, stop)), squares)
        weighted[known] = _times(self.labeled_weight[which], squares[known])
        return weighted.sum(axis=0)

    def _product(self, V: Array, curve: Callable[[slice, Array], Array]) -> Array:
        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = curve(slice(start, stop), self._decide(block, V))
            index, which = self._known(start, stop)
            known = index - start
            weighted = _times(self._unlabeled_weight(slice(start, stop)), value)
            weighted[known] = _times(self.labeled_weight[which], value[known])
            return self._combine(block, weighted)

        return self._sum(work, self.n_rows).reshape(V.shape)

    def _repeated_labeled_moment(self, axes: tuple[int, ...]) -> Array:
        """Return Σ a x y over the labeled rows, once for each run."""
        runs = len(axes) - (self.y.ndim - 1)
        moment = self.labeled_moment.reshape(self.n_weights, *(1,) * runs, *self.y.shape[1:])
        return np.broadcast_to(moment, (self.n_weights, *axes))

    def _sum_labeled(self, work: Callable[[Any, slice], Array]) -> Array:
        return self._sum(
            lambda a, b: work(self.table.take(self.labeled[a:b]), slice(a, b)), len(self.labeled)
        )

    def _gram_of(self, index: Array) -> Array:
        return self._gram(index, None if self.row_weight is None else self.row_weight[index])

    def _gram(self, index: Array, weight: Array | None) -> Array:
        """Return the Gram matrix of some rows, bordered by their sums for an intercept."""
        d = self.table.n_columns
        if not len(index):
            return np.zeros((self.n_weights, self.n_weights))

        def work(start: int, stop: int) -> Array:
            part = None if weight is None else weight[start:stop]
            everything = len(index) == self.n_rows
            take = self.table.slice if everything else self._take(index)
            block = take(start, stop)
            gram = np.empty((self.n_weights, self.n_weights))
            gram[:d, :d] = self.table.gram(block, part)
            if self.intercept:
                ones = np.ones(stop - start) if part is None else part
                gram[d, :d] = gram[:d, d] = block.T @ ones
                gram[d, d] = ones.sum()
            return gram

        return self._sum(work, len(index))

    def _take(self, index: Array) -> Callable[[int, int], Any]:
        return lambda start, stop: self.table.take(index[start:stop])

    def _settle(self, moved: Array, w: Array, z: Array, piece: Array, before: Array) -> Array:
        """Leave out rows that sit on the border of two pieces to rounding: they keep their old one.

        Such a row has no side, and the last bit of its decision value must not keep a solver busy.
        """
        if not 0 < len(moved) <= 64 or z.ndim > 1:
            return moved
        reach = abs(self.table.take(moved)) @ np.abs(w[: self.table.n_columns])
        reach = reach + (np.abs(w[-1]) if self.intercept else 0.0)
        distance = np.minimum(np.abs(z[moved]), np.abs(z[moved] - 1.0))
        opposite = piece[moved] * before[moved] == -1
        undecided = (distance <= 16.0 * EPS * (1.0 + reach)) & ~opposite
        piece[moved[undecided]] = before[moved[undecided]]
        return moved[~undecided]

    def _sum(self, work: Callable[[int, int], Any], n_items: int) -> Any:
        """Sum the work over blocks of rows, in threads where X is large, always in one order."""
        step = self.table.block_rows
        if n_items <= step:
            with np.errstate(over="ignore", invalid="ignore"):  # `_check_finite` tells
                return work(0, n_items)
        size = self.table.n_values * (n_items / max(1, self.n_rows))
        panels = PANELS if size >= THREADED_VALUES else 1
        cuts = [n_items * k // panels for k in range(panels + 1)]
        longest = -(-n_items // panels)
        step = -(-longest // -(-longest // step))  # blocks of equal size within a panel

        def panel(k: int) -> Any:
            total: Any = None
            with np.errstate(over="ignore", invalid="ignore"):
                for start in range(cuts[k], cuts[k + 1], step):
                    part = work(start, min(start + step, cuts[k + 1]))
                    if total is None:
                        total = part
                    else:
                        total += part
            return total

        parts = [part for part in run(panel, range(panels)) if part is not None]
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total


def _check_finite(total: Any) -> None:
    # NaN or infinity in X reaches every sum: no pass of its own is needed to find it
    if not np.isfinite(total).all():
        raise FloatingPointError("NaN, infinity or overflow in a sum over rows")


def _column(weight: Array | float, like: Array) -> Array | float:
    """Shape weights of rows so that they multiply an array with further axes."""
    if isinstance(weight, np.ndarray) and like.ndim > 1:
        return weight.reshape(-1, *(1,) * (like.ndim - 1))
    return weight


def _times(weight: Array | float, values: Array) -> Array:
    return _column(weight, values) * values


def _differs(first: Array, second: Array, keep: int = 1) -> Array:
    """Tell which rows differ, looking at all axes behind the first `keep`."""
    differs = first != second
    if differs.ndim > keep:
        differs = differs.any(axis=tuple(range(keep, differs.ndim)))
    return differs
