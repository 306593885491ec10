"""Rows in memory: a table, an intercept, targets and weights.

`Design` has X but no labels, `Targets` has labels and weights but no X; `MemoryRows` has both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from ..labelings import ConvexLabeling, Labeling, SimplexLabels, support_sizes
from ..linalg import EPS, Inverse, RidgeFactor, UpdatedFactor, forms_of_ridges
from ._design import Design
from .protocol import BoundaryRows, Relabeling, RowSums, Sweep
from .reduce import check_finite
from .table import DenseTable, NumberTable
from .targets import Targets, differs, times

P = ParamSpec("P")
T = TypeVar("T")

BOUNDARY_VALUES = 1 << 20
"""Track boundary rows separately only if X has at least this many values."""
BOUNDARY_REACH = 4.0
"""A boundary row is at most this many mean steps away from a border."""
BOUNDARY_SHARE = 8
"""Track boundary rows separately only if they are ≤ 1/8 of all rows."""
BOUNDARY_WIDTH = 4
"""With more columns than √(this · rows), correcting a step costs more than a pass."""
WHOLE_ROWS = 2048
"""In a block of at most this many rows, taking out the active ones takes longer than it saves."""
LEAST_PIVOT = 1e-3
"""Labeled rows with a smaller pivot, with columns of unit norm, are not condensed."""
MOST_SKIPPED, ROWS_PER_WEIGHT = 2, 100
"""Rough sums are estimated by every other row if there are some hundred rows per weight."""
OUTLYING = 100.0
"""Sums of squares of the largest rows are more than this many times their median."""
MOST_UNDECIDED = 64
"""If more rows than this changed their piece, rounding is not the reason."""


def boundary_reach(decrease: float, weight: float) -> float:
    """Return how far from a border a boundary row may be.

    A step that lowers J by `decrease` moves the labeled and active rows, of total `weight`, by a
    root mean square of √(decrease / weight), a little less with a ridge.
    """
    return BOUNDARY_REACH * float(np.sqrt(max(0.0, decrease) / weight))


def boundary_is_too_wide(rows: RowSums) -> bool:
    """Tell whether correcting a step by boundary rows costs more than a pass."""
    return rows.n_weights**2 > BOUNDARY_WIDTH * rows.n_rows


def _of_targets(
    method: Callable[Concatenate[Targets, P], T],
) -> Callable[Concatenate[MemoryRows, P], T]:
    """Return a method of `MemoryRows` that calls a method of its targets."""

    @wraps(method)
    def delegated(rows: MemoryRows, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(rows.targets, *args, **kwargs)

    return delegated


class MemoryRows:
    """Labeled and unlabeled rows of one table.

    Parameters
    ----------
    table : NumberTable
        The rows of X.
    labeled : sorted index array
        The labeled rows.
    y : array (L,) or (L, K)
        Their targets: 0 and 1, or one-hot.
    labeled_weight : array (L,)
        Their weights.
    row_weight : array (n,) or None
        Sample weights of all rows, read for the unlabeled ones; None for ones.
    unlabeled_weight : float
        A further factor in the weights of the unlabeled rows.
    intercept : bool
        Whether the weights end with an intercept.
    """

    passes: tuple[Any, ...] = ()

    def __init__(
        self,
        table: NumberTable,
        labeled: Array,
        y: Array,
        *,
        labeled_weight: Array,
        row_weight: Array | None = None,
        unlabeled_weight: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.table = table
        self.design = Design(table, intercept)
        self.targets = Targets(
            table.n_rows, labeled, y, labeled_weight, row_weight, unlabeled_weight
        )
        self.labeled, self.y, self.labeled_weight = labeled, y, labeled_weight
        self.row_weight, self.unlabeled_weight = row_weight, unlabeled_weight
        self.intercept = intercept
        self.n_rows = self.most_sampled = table.n_rows
        self.n_unlabeled = self.targets.n_unlabeled
        self.n_features, self.n_weights = self.design.n_features, self.design.n_weights
        self.weights_shape = (self.n_weights, *y.shape[1:])
        self.shift, self.gram_columns = table.shift, table.gram_columns

    @classmethod
    def of(cls, table: NumberTable, targets: Targets, intercept: bool) -> MemoryRows:
        """Put a table and the targets of its rows together."""
        return cls(
            table,
            targets.labeled,
            targets.y,
            labeled_weight=targets.labeled_weight,
            row_weight=targets.row_weight,
            unlabeled_weight=targets.unlabeled_weight,
            intercept=intercept,
        )

    # -- sizes and weights --------------------------------------------------------------------

    @property
    def in_memory(self) -> MemoryRows:
        return self

    @property
    def longest_sum(self) -> int:
        return self.design.longest_sum

    @property
    def unlabeled(self) -> Array:
        """Indices of the unlabeled rows."""
        return self.targets.unlabeled

    @property
    def weights(self) -> Array:
        """The weight of every row."""
        return self.targets.weights

    @property
    def labeled_total(self) -> float:
        return self.targets.labeled_total

    @property
    def total_weight(self) -> float:
        return self.targets.total_weight

    @property
    def heaviest(self) -> float:
        return self.targets.heaviest

    @property
    def constant_loss(self) -> float:
        y, weight = self.y, self.labeled_weight
        best = np.average(y, axis=0, weights=weight) if self.intercept else 0.0
        return float(weight @ ((y - best) ** 2).reshape(len(y), -1).sum(axis=1))

    # -- the same rows, changed ---------------------------------------------------------------

    def reweighted(
        self,
        *,
        labeled_weight: Array | None = None,
        row_weight: Array | None = None,
        unlabeled_weight: float | None = None,
    ) -> MemoryRows:
        """Return the same rows with other weights; they share the table."""
        targets = self.targets
        if row_weight is not None:
            targets = replace(targets, row_weight=row_weight)
        if unlabeled_weight is not None:
            targets = replace(targets, unlabeled_weight=unlabeled_weight)
        if labeled_weight is not None:
            targets = replace(targets, labeled_weight=labeled_weight)
        other = MemoryRows.of(self.table, targets, self.intercept)
        if labeled_weight is None:
            other._share_labeled_sums(self)
        return other

    def written_in(self, table: NumberTable) -> MemoryRows:
        """Return the same rows in another table, with other columns."""
        return MemoryRows.of(table, self.targets, self.intercept)

    def in_single(self) -> MemoryRows | None:
        """Return the same rows in single precision; None if they are not dense."""
        if not isinstance(self.table, DenseTable):
            return None
        other = self.written_in(self.table.in_single())
        other._share_labeled_sums(self)
        return other

    def training(self, inside: Array) -> MemoryRows:
        """Return the same rows, with weight 0 outside a training set (a mask)."""
        kept = inside[self.labeled]
        row_weight = None
        if not inside[self.unlabeled].all():
            row_weight = inside * (1.0 if self.row_weight is None else self.row_weight)
        fold = self.reweighted(labeled_weight=self.labeled_weight * kept, row_weight=row_weight)
        if "labeled_gram" in vars(self):
            # all folds share this sum: only the test rows are subtracted
            fold.labeled_gram = self.labeled_gram - self.design.gram(
                self.labeled[~kept], self.labeled_weight[~kept]
            )
        return fold

    def extended(self, table: NumberTable) -> MemoryRows:
        """Return these rows and further unlabeled ones, which `table` holds after these.

        Sums over these rows are not computed again.
        """
        if self.row_weight is not None:
            raise ValueError("rows with weights of their own cannot be extended")
        other = MemoryRows.of(table, self.targets, self.intercept)
        other._share_labeled_sums(self)
        if self.knows_gram:
            added = other._unlabeled_gram(np.arange(self.n_rows, table.n_rows))
            other.full_gram = self.full_gram + self.unlabeled_weight * added
        return other

    def sample(self, n_unlabeled: int, rng: np.random.Generator) -> MemoryRows:
        """Return the labeled rows and a sample of the others, weighted to represent them all."""
        chosen = rng.choice(self.unlabeled, n_unlabeled, replace=False, shuffle=False)
        index = np.sort(np.concatenate((self.labeled, chosen)))
        weight, total, sampled = None, float(self.n_unlabeled), float(n_unlabeled)
        if self.row_weight is not None:
            weight = self.row_weight[index]
            total, sampled = self.row_weight[self.unlabeled].sum(), self.row_weight[chosen].sum()
        targets = replace(
            self.targets,
            n_rows=len(index),
            labeled=np.searchsorted(index, self.labeled),
            row_weight=weight,
            unlabeled_weight=self.unlabeled_weight * (total / sampled if sampled else 1.0),
        )
        other = MemoryRows.of(self.table.subset(index), targets, self.intercept)
        other._share_labeled_sums(self)
        return other

    def condensed(self) -> MemoryRows | None:
        """Return rows with the same J up to a constant, in which p rows stand for the labeled ones.

        If R'R is the Gram matrix of the labeled rows and R't their moment, the rows of R with the
        targets t have the same sums. With an intercept, a reflection makes the last entries of all
        rows of R equal; it becomes the root of their weight. None if the table is not dense or the
        labeled rows do not determine the weights well.
        """
        gram, p, d = self.labeled_gram, self.n_weights, self.n_features
        norms = np.sqrt(gram.diagonal())
        if not isinstance(self.table, DenseTable) or not norms.all():
            return None
        L, failed = dense.cholesky(np.asfortranarray(gram / np.outer(norms, norms)))
        if failed or not L.diagonal().min() > LEAST_PIVOT:
            return None
        R = np.tril(L).T * norms
        moment = self.labeled_moment.reshape(p, -1)
        both = np.hstack((R, dense.solve_triangular(L, moment / norms[:, None])))
        root = 1.0
        if self.intercept:
            root = float(np.sqrt(gram[d, d] / p))
            normal = R[:, d] - root
            length = float(normal @ normal)
            if length > 0.0:
                both -= np.outer(normal, (2.0 / length) * (normal @ both))
        both /= root
        few = both[:, :d].astype(self.table.dtype)
        rows = np.concatenate((few, self.table.take(self.unlabeled)))
        weight = self.row_weight
        targets = replace(
            self.targets,
            n_rows=len(rows),
            labeled=np.arange(p),
            y=both[:, p:].reshape(p, *self.y.shape[1:]),
            labeled_weight=np.full(p, root**2),
            row_weight=None if weight is None else np.append(np.ones(p), weight[self.unlabeled]),
        )
        other = MemoryRows.of(DenseTable(rows, dtype=self.table.dtype), targets, self.intercept)
        other._share_labeled_sums(self)
        return other

    def _share_labeled_sums(self, other: MemoryRows) -> None:
        """Copy sums over the labeled rows from rows with the same labeled rows and weights."""
        for name in ("labeled_gram", "labeled_moment"):
            if name in vars(other):
                setattr(self, name, vars(other)[name])

    # -- labeled rows -------------------------------------------------------------------------

    @cached_property
    def labeled_gram(self) -> Array:
        """Σ a x x' over the labeled rows."""
        gram = self.design.gram(self.labeled, self.labeled_weight)
        check_finite(gram.trace())
        return gram

    @cached_property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""
        weighted = times(self.labeled_weight, self.y)
        moment = self._sum_labeled(lambda block, part: self.design.combine(block, weighted[part]))
        check_finite(moment)
        return moment.reshape(self.weights_shape)

    def labeled_product(self, V: Array) -> Array:
        """Return Σ a x (x'V) over the labeled rows, without a Gram matrix."""

        def work(block: Any, part: slice) -> Array:
            value = self.design.decide(block, V)
            return self.design.combine(block, times(self.labeled_weight[part], value))

        return self._sum_labeled(work).reshape(V.shape)

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows."""

        def work(block: Any, part: slice) -> Array:
            error = self.design.decide(block, w) - self.y[part]
            return np.asarray(np.vdot(times(self.labeled_weight[part], error), error))

        return float(self._sum_labeled(work))

    @property
    def labeled_residual(self) -> Array:
        """z - y at w = 0: -y in the labeled rows, 0 in the others."""
        residual = np.zeros((self.n_rows, *self.y.shape[1:]))
        residual[self.labeled] = -self.y
        return residual

    @property
    def labeled_spread(self) -> float:
        """Σ a ‖x - mean‖² over the labeled rows."""
        spread = self.design.spread(self.labeled, self.labeled_weight)
        return float(np.maximum(spread, 0.0).sum())

    def leverages(self, factor: Inverse) -> Array:
        """Return a x'H⁻¹x of the labeled rows, with the factor of H."""
        return self._labeled_forms(factor.inverse_forms)

    def ridge_leverages(self, factors: Sequence[RidgeFactor]) -> Array:
        """Return the leverages for each factor from `ridge_factors`, of shape (factors, rows)."""
        return self._labeled_forms(partial(forms_of_ridges, factors), len(factors)).T

    def updated_leverages(self, factor: UpdatedFactor, before: Array) -> Array:
        """Return the leverages with an updated factor, from those `before` the update."""
        return before - self._labeled_forms(factor.fall_of_forms)

    def _labeled_forms(self, forms_of: Callable[[Array], Array], *axes: int) -> Array:
        """Return a times the forms of the labeled rows, an array of shape (rows, *axes)."""
        forms = np.empty((len(self.labeled), *axes))

        def work(block: Any, part: slice) -> int:
            forms[part] = forms_of(self.table.dense(block))
            return 0

        self._sum_labeled(work)
        return times(self.labeled_weight, forms)

    def _sum_labeled(self, work: Callable[[Any, slice], Any]) -> Any:
        return self.design.sum_at(self.labeled, work)

    # -- all rows -----------------------------------------------------------------------------

    @cached_property
    def full_gram(self) -> Array:
        """Σ a x x' over all rows."""
        if self._is_evenly_weighted:
            # blocks of all rows are views of X, those of the unlabeled rows would be copies
            gram = self.unlabeled_weight * self.design.gram(np.arange(self.n_rows), None)
        else:
            gram = self.labeled_gram + self.unlabeled_gram(self.unlabeled)
        check_finite(gram.trace())
        return gram

    def sum_with_gram(self, work: Callable[[Any, slice], Array]) -> Array:
        """Return Σ work(block, part) over blocks of all rows; work returns a vector.

        The same pass sums `full_gram`, if it is not known yet and all rows weigh the same.
        """
        p, adds_gram = self.n_weights, not self.knows_gram and self._is_evenly_weighted

        def both(start: int, stop: int) -> Array:
            block, part = self.table.slice(start, stop), slice(start, stop)
            if not adds_gram:
                return work(block, part)
            # the Gram matrix first: while it is computed, the rows get into the cache
            gram = self.design.block_gram(block, None)
            return np.append(gram, work(block, part))

        total = self.design.sum_often(both, self.n_rows)
        if not adds_gram:
            return total
        gram = self.unlabeled_weight * total[: p * p].reshape(p, p)
        check_finite(gram.trace())
        self.full_gram = gram
        return total[p * p :]

    @property
    def knows_gram(self) -> bool:
        """Whether `full_gram` was summed already."""
        return "full_gram" in vars(self)

    @property
    def _is_evenly_weighted(self) -> bool:
        return self.row_weight is None and bool(
            (self.labeled_weight == self.unlabeled_weight).all()
        )

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of `full_gram`, also for tables too wide to form it."""
        if self.knows_gram:
            return self.full_gram.diagonal()
        diagonal = self.design.diagonal(self.weights)
        check_finite(diagonal)
        return diagonal

    @property
    def n_nonzero(self) -> Array:
        """The number of nonzero entries of each column, over rows with a positive weight."""
        return self.design.n_nonzero(self.weights > 0.0)

    def full_product(self, V: Array) -> Array:
        """Return Σ a x (x'V), without a Gram matrix."""
        return self._product(V, lambda part, v: v)

    def decisions(self, w: Array) -> Array:
        """Return the decision values of all rows."""
        return self.design.decisions(w)

    def decisions_of(self, index: Array, w: Array) -> Array:
        """Return the decision values of some rows."""
        return self.design.decisions_at(index, w)

    def weighted_moment(self, values: Array) -> tuple[Array, Array]:
        """Return θ = a · values for all rows, and Σ x θ."""
        theta = self.targets.times_weights(values)
        return theta, self.design.moment(theta)

    def triangle(self, index: Array, rhs: Array | None) -> Array:
        """Return the R factor of √a (1, x, rhs) over some rows."""
        return self.design.triangle(index, np.sqrt(self.weights[index]), rhs)

    def simplex_triangle(self, support: Array, z: Array) -> Array:
        """Return the R factor of the weighted equations that simplex labels impose on a step."""
        missing = -z
        missing[self.labeled] += self.y
        return self.design.simplex_triangle(support, missing, np.sqrt(self.weights))

    def _product(self, V: Array, curve: Callable[[slice, Array], Array]) -> Array:
        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = curve(slice(start, stop), self.design.decide(block, V))
            return self.design.combine(block, self.targets.times_weights(value, start))

        return self.design.sum(work, self.n_rows, V[0].size).reshape(V.shape)

    # -- convex labelings ---------------------------------------------------------------------

    def sweep(self, w: Array, labeling: ConvexLabeling, predicted: Array | None = None) -> Sweep:
        """Pass over the rows once: decision values, pieces, loss and gradient at w."""
        z = np.empty((self.n_rows, *w.shape[1:]), order="F", dtype=self.table.dtype)
        piece = np.empty(z.shape, dtype=bool if labeling.per_class else np.int8, order="F")

        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = z[start:stop]
            if w.ndim == 1:
                value[:] = self.design.decide(block, w)
            else:
                self.design.decide(block, w, value)
            squares = 0.0 if known else self.table.sum_of_squares(block)
            if isinstance(labeling, SimplexLabels):
                before = None if predicted is None else predicted[start:stop]
                residual, piece[start:stop] = labeling.residual(value, before)
                loss = self.targets.weigh(start, stop, value, residual)
            elif len(value) <= WHOLE_ROWS:
                piece[start:stop] = labeling.piece(value)
                residual = value - labeling.impute(value)
                loss = self.targets.weigh(start, stop, value, residual)
            else:
                side = piece[start:stop] = labeling.piece(value)
                block, residual, loss = self._active_residual(start, block, value, side, labeling)
            return self.design.combine(block, residual, loss, squares)

        known = self.table.squares_sum is not None
        total = self.design.sum(work, self.n_rows, w[0].size)
        piece[self.labeled] = labeling.pinned
        loss = float(total[-2])
        check_finite(loss)
        if self.table.squares_sum is None:  # summed in the first sweep, with blocks in the cache
            self.table.squares_sum = float(total[-1])
        changed = self.n_rows
        if predicted is not None:
            moved = np.flatnonzero(differs(piece, predicted))
            moved = self._drop_undecided(moved, w, z, piece, predicted, labeling.borders)
            changed = len(moved)
        gradient = total[:-2].reshape(w.shape)
        return Sweep(w, z, piece, loss, gradient, changed, self.heaviest * self.table.squares_sum)

    def _active_residual(
        self, start: int, block: Any, z: Array, side: Array, labeling: ConvexLabeling
    ) -> tuple[Any, Array, float]:
        """Return the rows of a block with a residual, their weighted residuals, and the loss.

        Two classes. Rows on piece 0 have neither loss nor residual: if they are the majority, only
        the others are taken out of the block.
        """
        targets = self.targets
        index, which = targets.labeled_between(start, start + len(z))
        side[index - start] = labeling.pinned
        some = np.flatnonzero(side.view(bool))
        value = z[some]
        residual = value - labeling.impute(value)
        place = np.searchsorted(some, index - start)
        error = value[place] - self.y[which]
        residual[place] = 0.0
        weighted = targets.weight_at(some + start) * residual
        weighted[place] = self.labeled_weight[which] * error
        residual[place] = error
        # NaN is on piece 0: without the last term it would go unnoticed
        loss = float(np.vdot(residual, weighted)) + 0.0 * float(z.sum())
        if 4 * len(some) < len(z):
            return block[some], weighted, loss
        whole = np.zeros(len(z))
        whole[some] = weighted
        return block, whole, loss

    def _drop_undecided(
        self,
        moved: Array,
        w: Array,
        z: Array,
        piece: Array,
        predicted: Array,
        borders: Mapping[float, tuple[int, int]],
    ) -> Array:
        """Drop rows from `moved` that lie on a border of two pieces to within rounding.

        They keep their predicted piece (in place): the last bit of a decision value must not keep
        a solver busy.
        """
        if not borders or not 0 < len(moved) <= MOST_UNDECIDED:
            return moved
        value = z[moved]
        away = min(float(np.abs(value - border).min()) for border in borders)
        longest = math.sqrt(self.table.squares_sum or 0.0) + self.intercept
        if away > 16.0 * EPS * (1.0 + longest * math.sqrt(w @ w)):
            return moved
        reach = abs(self.table.take(moved)) @ np.abs(w[: self.n_features])
        reach = reach + (np.abs(w[-1]) if self.intercept else 0.0)
        rounding = 16.0 * EPS * (1.0 + reach)
        before, now = predicted[moved], piece[moved]
        undecided = np.zeros(len(moved), dtype=bool)
        for border, (below, above) in borders.items():
            close = np.abs(value - border) <= rounding
            up, down = (before == below) & (now == above), (before == above) & (now == below)
            undecided |= close & (up | down)
        piece[moved[undecided]] = before[undecided]
        return moved[~undecided]

    def active_gram(self, piece: Array, since: tuple[Array, Array] | None = None) -> Array:
        """Return Σ row_weight x x' over the unlabeled rows with piece ≠ 0.

        If most of them were active `since` an earlier piece, its Gram matrix is updated.
        """
        active = self.active_mask(piece)
        if since is None:
            return self._unlabeled_gram(np.flatnonzero(active))
        before = self.active_mask(since[0])
        if np.count_nonzero(active != before) > np.count_nonzero(active):
            return self._unlabeled_gram(np.flatnonzero(active))
        return self.updated_gram(since[1], before, active)

    def active_mask(self, piece: Array) -> Array:
        """Return a mask of the unlabeled rows with piece ≠ 0."""
        active = piece != 0
        active[self.labeled] = False
        return active

    def updated_gram(self, gram: Array, before: Array, active: Array) -> Array:
        """Update a Gram matrix of active rows (masks) by the rows that changed."""
        added, removed = np.flatnonzero(active & ~before), np.flatnonzero(before & ~active)
        if len(added):
            gram = gram + self._unlabeled_gram(added)
        if len(removed):
            gram = gram - self._unlabeled_gram(removed)
        return gram

    def unlabeled_gram(self, index: Array) -> Array:
        """Return Σ a x x' over some unlabeled rows."""
        gram = self._unlabeled_gram(index)
        gram *= self.unlabeled_weight
        return gram

    def _unlabeled_gram(self, index: Array) -> Array:
        weight = None if self.row_weight is None else self.row_weight[index]
        return self.design.gram(index, weight)

    def columns_of(self, index: Array) -> Array:
        """Return √a (x, 1) of some unlabeled rows, as columns."""
        columns = np.ones((self.n_weights, len(index)), order="F")
        columns[: self.n_features] = self.table.dense(self.table.take(index)).T
        columns *= np.sqrt(self.targets.weight_at(index))
        return columns

    def largest_rows(self, most: int) -> Array:
        """Return up to `most` unlabeled rows whose sums of squares are far above the median."""
        squares, ones = np.zeros(self.n_rows), np.ones(self.n_features)

        def work(start: int, stop: int) -> float:
            squares[start:stop] = self.table.row_squares(self.table.slice(start, stop), ones)
            return 0.0

        self.design.sum(work, self.n_rows)
        squares = squares[self.unlabeled] * self.targets.weight_at(self.unlabeled)
        middle = float(np.median(squares)) if len(squares) else 0.0
        far = np.flatnonzero(squares > OUTLYING * middle)
        if len(far) > most:
            far = far[np.argsort(-squares[far], kind="stable")[:most]]
        return np.sort(self.unlabeled[far])

    def curvature_product(self, V: Array, piece: Array, labeling: ConvexLabeling) -> Array:
        """Return Σ a x curve(piece, x'V)."""
        return self._product(V, lambda part, v: labeling.curve(piece[part], v))

    def pattern_change(self, V: Array, now: Array, before: Array) -> Array:
        """Return the curvature of simplex labels with some supports minus that with others."""
        curve = SimplexLabels().curve
        return self._product(V, lambda part, v: curve(now[part], v) - curve(before[part], v))

    def outside_grams(self, support: Array) -> Array:
        """Return, for each class, Σ a (1 + 1/s) x x' over the rows with the class outside S."""
        size = support_sizes(support)
        grams = []
        for k in range(support.shape[1]):
            index = np.flatnonzero(~support[:, k] & (size > 0))
            weight = 1.0 + 1.0 / size[index]
            if self.row_weight is not None:
                weight *= self.row_weight[index]
            grams.append(self.design.gram(index, weight))
        return self.labeled_gram + self.unlabeled_weight * np.stack(grams)

    def outside_sums(self, z: Array, support: Array) -> tuple[Array, Array, Array]:
        """Return sums over the unlabeled rows and the classes outside S, with b = a (1 + 1/s).

        They are estimated by some of the rows if there are many.
        """
        p, n_classes = self.weights_shape
        stride = max(1, min(MOST_SKIPPED, self.n_rows // (ROWS_PER_WEIGHT * p)))

        def work(start: int, stop: int) -> Array:
            some = slice(start, stop, stride)
            block, inside = self.table.slice(start, stop)[::stride], support[some]
            size = support_sizes(inside)
            weight = np.where(size > 0, 1.0 + 1.0 / np.maximum(size, 1), 0.0)  # 0: labeled
            weight *= self.targets.weight_at(some) * ((stop - start) / len(size))
            values = np.logical_not(inside).astype(self.table.dtype)
            values *= weight.astype(self.table.dtype)[:, None]
            gram = self.design.block_gram(block, values.sum(axis=1))
            total = values.sum(axis=0)
            values *= z[some]
            return np.concatenate((gram.ravel(), total, self.design.combine(block, values)))

        sums = self.design.sum(work, self.n_rows, n_classes)
        gram, total, image = np.split(sums, (p * p, p * p + n_classes))
        return gram.reshape(p, p), total, image.reshape(p, n_classes)

    def boundary_rows(
        self, sweep: Sweep, decrease: float, labeling: ConvexLabeling
    ) -> BoundaryRows | None:
        """Return the unlabeled rows that a step may carry across a border."""
        if self.table.n_values < BOUNDARY_VALUES or boundary_is_too_wide(self):
            return None
        reach = boundary_reach(decrease, self.targets.active_weight(sweep.piece))
        leaves = labeling.piece(sweep.z + reach) != labeling.piece(sweep.z - reach)
        leaves[self.labeled] = False
        index = np.flatnonzero(leaves)
        if BOUNDARY_SHARE * len(index) > self.n_rows:
            return None
        targets = self.targets.unlabeled_at(index)
        few = MemoryRows.of(self.table.subset(index), targets, self.intercept)
        return BoundaryRows(few, sweep.z[index], sweep.piece[index], index)

    def with_pieces(self, piece: Array, boundary: BoundaryRows, moved: Array) -> Array:
        """Return the pieces of all rows, with those of the boundary rows replaced."""
        piece = piece.copy()
        piece[boundary.index] = moved
        return piece

    def dual_step(
        self, step: Array, piece: Array, labeling: ConvexLabeling, everywhere: bool
    ) -> tuple[Array, Array, float]:
        """Return the decision values V of a step, Σ a x V and Σ a ‖V‖²."""
        V = self.decisions(step)
        if not everywhere:
            V = labeling.curve(piece, V)
        theta, image = self.weighted_moment(V)
        return V, image, float(np.vdot(theta, V))

    # -- imputed labels -----------------------------------------------------------------------

    def relabel(
        self, w: Array, labels: Array, moment: Array, labeling: Labeling, *, before: bool = True
    ) -> Relabeling:
        """Impute the labels at w, for one set of weights or several runs.

        `w` is (p,) or (p, K) for one run, with a further axis in the middle for several; `labels`
        has the same axes after the rows. The moment is updated by the labels that changed.
        """
        new, (loss_before, loss, changed) = self.impute_labels(w, labels, labeling, before)
        moment = self.moment(new, labels, moment)
        return Relabeling(new, moment, loss_before, loss, changed.astype(np.intp))

    def impute_labels(
        self, w: Array, labels: Array, labeling: Labeling, before: bool
    ) -> tuple[Array, Array]:
        """Return the new labels, and the losses before and after with the number of changes."""
        new = np.empty_like(labels)
        runs = w.shape[1 : w.ndim - labeling.per_class]
        targets = self.targets

        def work(start: int, stop: int) -> Array:
            value = self.design.decide(self.table.slice(start, stop), w)
            imputed = labeling.impute(value)
            new[start:stop] = imputed
            loss = targets.block_loss(start, stop, value, imputed, labeling)
            old = np.zeros_like(loss)
            if before:
                u = labels[start:stop].astype(np.float64, copy=False)
                old = targets.block_loss(start, stop, value, u, labeling)
            moved = differs(new[start:stop], labels[start:stop], keep=1 + len(runs))
            moved[targets.labeled_between(start, stop)[0] - start] = False
            return np.stack((old, loss, moved.sum(axis=0).astype(np.float64)))

        costs = self.design.sum(work, self.n_rows)
        check_finite(costs[1])
        new[self.labeled] = labels[self.labeled]
        return new, costs

    def moment(
        self, labels: Array, since: Array | None = None, before: Array | None = None
    ) -> Array:
        """Return Σ a x t.

        If few labels changed `since` earlier ones with the moment `before`, it is updated.
        """
        if since is not None and before is not None:
            index = np.flatnonzero(differs(labels, since, keep=1))
            if not len(index):
                return before
            if 2 * len(index) <= self.n_rows:
                return before + self.moment_change(index, labels, since)

        def work(start: int, stop: int) -> Array:
            return self._block_moment(self.table.slice(start, stop), start, labels[start:stop])

        axes = labels.shape[1:]
        unlabeled = self.design.sum(work, self.n_rows).reshape(self.n_weights, *axes)
        runs = len(axes) - (self.y.ndim - 1)
        known = self.labeled_moment.reshape(self.n_weights, *(1,) * runs, *self.y.shape[1:])
        return np.broadcast_to(known, (self.n_weights, *axes)) + unlabeled

    def _block_moment(self, block: Any, start: int, labels: Array) -> Array:
        """Return Σ a x t over the unlabeled rows of a block, flattened."""
        stop = start + len(labels)
        u = labels.astype(np.float64)
        u[self.targets.labeled_between(start, stop)[0] - start] = 0.0
        return self.design.combine(block, times(self.targets.weight_at(slice(start, stop)), u))

    def moment_change(self, index: Array, labels: Array, since: Array) -> Array:
        """Return Σ a x (new - old label) over the rows at an index."""

        def work(block: Any, part: slice) -> Array:
            rows = index[part]
            change = labels[rows].astype(np.float64) - since[rows]
            return self.design.combine(block, times(self.targets.weight_at(rows), change))

        return self.design.sum_at(index, work).reshape(self.n_weights, *labels.shape[1:])

    def read_labels(self, labels: Any) -> Array:
        """Return labels to start from as float64."""
        return np.asarray(labels, dtype=np.float64)

    # -- sums that need no X ------------------------------------------------------------------

    residual = _of_targets(Targets.residual)
    loss = _of_targets(Targets.loss)
    slope = _of_targets(Targets.slope)
    dual_overshoot = _of_targets(Targets.dual_overshoot)
    imputed = _of_targets(Targets.imputed)
    n_outside = _of_targets(Targets.n_outside)
    class_counts = _of_targets(Targets.class_counts)
    classes_of = _of_targets(Targets.classes_of)
    labels_of = _of_targets(Targets.labels_of)
