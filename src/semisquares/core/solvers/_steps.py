"""Newton's steps, to the minimiser of the quadratic that J is at a sweep.

With two classes the curvature is factored, and a step goes on while boundary rows change their
piece (`DirectSteps`). With more classes, or too many columns for a Gram matrix, conjugate gradients
find the step by products with the curvature (`ConjugateSteps`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from ..._utils.typing import Array
from .. import linalg
from ..curvature import (
    MAX_PRODUCTS,
    Curvature,
    active_curvature,
    full_curvature,
    jacobi,
    updated_curvature,
)
from ..linalg import EPS
from ..objective import Objective
from ..rows import Sweep
from . import _by_class
from ._joint import MOST_APART, JointCurvature, expand, joint_curvature, lift, reduce
from ._large_rows import LargeRows, find_large, most_large
from .solution import ActiveSet, StoppingTest

MAX_TURNS = 16
"""Boundary rows are given up if they still change their piece after this many corrections."""

SINGLE_DIGITS = 1e-6
"""The relative accuracy of steps with a curvature in single precision."""
MAX_SINGLE_PRODUCTS = 50
"""If conjugate gradients take more products in single precision, rounding is the reason."""
NARROW = 20
"""With more columns than √(this · rows), matrices of each class cost more than they save."""
LAST = 1e-3
"""If at most this share of the rows changed their piece, the next step is probably the last."""


class DirectSteps:
    """Steps with the factored curvature of the labeled and active rows (two classes)."""

    solved = True
    products = 0.0
    is_borrowed = False

    def __init__(self, objective: Objective, active: ActiveSet | None) -> None:
        self.objective = objective
        self.active = active
        """The predicted pieces of all rows after the step."""
        self._last: Curvature | None = None

    def with_own_curvature(self) -> DirectSteps:
        """Return these steps, which borrow nothing."""
        return self

    def __call__(self, sweep: Sweep) -> Array:
        last = None if sweep.changed else self._last
        settled = last is not None
        if last is None:
            last = self._last = self._curvature_at(sweep)
        gradient = self.objective.gradient(sweep)
        step = last.step(sweep.w, gradient, lambda: self.objective.residual(sweep))
        if settled or last.factor is None:
            return step
        return self._correct_boundary_rows(sweep, step, gradient)

    def _correct_boundary_rows(self, sweep: Sweep, step: Array, gradient: Array) -> Array:
        """Extend a step until no boundary row changes its piece any more.

        A step assumes that every row keeps its piece. Most rows are far from a boundary and do; the
        boundary rows are tracked separately if they are few. Those that changed their piece leave
        ``Σ a x (residual - predicted residual)`` of the gradient; solving for it with the updated
        curvature extends the step. The next pass over all rows then mostly finds each on its
        predicted piece.
        """
        rows = self.objective.rows
        labeling = self.objective.convex_labeling
        near = rows.boundary_rows(sweep, -float(gradient @ step), labeling)
        if near is None:
            return step
        assert self.active is not None  # set with the curvature at the sweep
        few, start, side = near.rows, near.z, near.piece
        end, z, residual = step, start, start - labeling.impute(start)
        piece, curvature = sweep.piece, self._last
        gram = rows.active_gram(piece, self.active.summed)
        for _ in range(MAX_TURNS):
            there = start + few.decisions(end)
            new_side = labeling.piece(there)
            moved = new_side != side
            if not moved.any():
                if gradient @ end >= 0.0:  # rounding: this is not a descent direction
                    break
                self.active = ActiveSet(piece, (piece, gram), curvature, curvature)
                self._last = curvature
                return end
            predicted = residual + labeling.curve(side, there - z)
            z, residual = there, there - labeling.impute(there)
            unsolved = few.weighted_moment(np.where(moved, residual - predicted, 0.0))[1]
            gram = few.updated_gram(gram, side != 0, new_side != 0)
            side = new_side
            piece = rows.with_pieces(sweep.piece, near, side)
            curvature = active_curvature(self.objective, piece, gram)
            if curvature.factor is None:
                break
            end = end - curvature.factor.solve(unsolved)
        return step  # the corrections cycle; the original step lowers J

    def _curvature_at(self, sweep: Sweep) -> Curvature:
        before = self.active
        curvature = self._curvature(sweep.piece, before)
        if curvature.factor is None and before is not None:
            # an updated Gram matrix loses digits: try once with a new one
            curvature = self._curvature(sweep.piece, None)
        return curvature

    def _curvature(self, piece: Array, before: ActiveSet | None) -> Curvature:
        since = None if before is None else before.summed
        if before is not None and before.factored is not None:
            updated = updated_curvature(self.objective, piece, before.summed[0], before.factored)
            if updated is not None:
                self.active = ActiveSet(piece, before.summed, updated, before.factored)
                return updated
        gram = self.objective.rows.active_gram(piece, since)
        curvature = active_curvature(self.objective, piece, gram)
        self.active = ActiveSet(piece, (piece, gram), curvature, curvature)
        return curvature


def summing_to_one(w: Array) -> Array:
    """Shift weights so that decision values sum to one over the classes, which lowers J."""
    w = w - w.mean(axis=1, keepdims=True)
    w[-1] += 1.0 / w.shape[1]
    return w


class ConjugateSteps:
    """Steps by conjugate gradients, for many classes or too many columns for a Gram matrix.

    Products with the curvature are passes over the rows. After the first step, the matrix of all
    classes (`_joint`) replaces them if that is cheaper; before it, too many pieces still change.

    A curvature in single precision (`_single`) is enough for steps to be correct to six digits.
    """

    active = None

    def __init__(self, objective: Objective, test: StoppingTest | None) -> None:
        self.objective = objective
        self.test = test
        self.curved = objective
        """The objective on the rows whose curvature is used."""
        self.piece: Any = None
        """The pieces at the last step."""
        self.moved = 1.0
        """Entries of supports that changed before the last step, as a share of those outside."""
        self._joint: JointCurvature | None = None
        self._may_join = objective.labeling.per_class
        self.products = 0.0
        self.solved = True
        self._first = 0.0
        self._precondition: Callable[[Array], Array] | None = None
        self._large: LargeRows | None = None

    def refined(self, objective: Objective, test: StoppingTest | None) -> ConjugateSteps:
        """Return steps for the same rows in double precision, with the curvature of these."""
        other = copy(self)
        other.objective, other.test, other.products = objective, test, 0.0
        return other

    @property
    def is_borrowed(self) -> bool:
        """Whether `refined` took the curvature over; it may have too few digits."""
        return self.curved is not self.objective

    def with_own_curvature(self) -> ConjugateSteps:
        """Return steps with the curvature of the objective itself, after those taken so far."""
        other = ConjugateSteps(self.objective, self.test)
        other.products = self.products
        return other

    def __call__(self, sweep: Sweep) -> Array:
        objective = self.objective
        gradient = objective.gradient(sweep)
        is_first = self.piece is None
        self._count_moved(sweep)
        if not is_first and self._join(sweep):
            return self._joint_step(sweep, gradient)

        def product(V: Array) -> Array:
            labeling = objective.convex_labeling
            curved = self.curved.rows.curvature_product(V, sweep.piece, labeling)
            return curved + objective.ridge_gradient(V)

        step, products, self.solved = linalg.conjugate_gradient(
            product,
            -self._summing_to_zero(gradient),
            precondition=self.preconditioner(sweep),
            done=self._accept(self._enough(sweep, float(np.linalg.norm(gradient)))),
            max_iter=self._most_products,
        )
        self.products += products
        return self._summing_to_zero(step)

    def gradient(self, sweep: Sweep) -> Array:
        """Return half the gradient at a sweep, without its mean over the classes."""
        return self._summing_to_zero(self.objective.gradient(sweep))

    def preconditioner(self, sweep: Sweep) -> Callable[[Array], Array]:
        """Return the preconditioner at the first sweep, with large rows as they are at this one."""
        if self._precondition is None:
            self._precondition = self._without_large_rows(sweep)
        if self._large is not None:
            return self._large.precondition(sweep.piece)
        return self._precondition

    def _without_large_rows(self, sweep: Sweep) -> Callable[[Array], Array]:
        """Return a preconditioner from sums over all rows but the large ones, kept in `_large`.

        These are set apart only from matrices of each class, whose solutions sum to 0.
        """
        objective = self.curved
        if not _has_class_matrices(objective):
            return _preconditioner(objective, sweep)
        index = find_large(objective)
        if not len(index):
            return _preconditioner(objective, sweep)
        rows = objective.memory_rows
        weight = np.ones(rows.n_rows) if rows.row_weight is None else rows.row_weight.copy()
        weight[index] = 0.0
        by_class = _class_matrices(objective.with_rows(rows.reweighted(row_weight=weight)), sweep)
        if by_class is None:
            return _preconditioner(objective, sweep)
        self._large = LargeRows(rows, index, by_class)
        if len(index) == most_large(rows):  # heavy tails: the matrix of all classes misses too many
            self._may_join = False
        return by_class

    def _count_moved(self, sweep: Sweep) -> None:
        """Compare the pieces with those of the last step."""
        last, self.piece = self.piece, sweep.piece
        if self.is_single and last is not None:
            n_outside = self.curved.rows.n_outside(sweep.piece)
            self.moved = np.count_nonzero(last != sweep.piece) / max(1, n_outside)

    @property
    def is_single(self) -> bool:
        """Whether products with the curvature are in single precision."""
        rows = self.curved.rows.in_memory
        return rows is not None and bool(rows.table.dtype == np.float32)

    @property
    def _most_products(self) -> int:
        return MAX_SINGLE_PRODUCTS if self.is_single else MAX_PRODUCTS

    def _enough(self, sweep: Sweep, size: float) -> float:
        """Return the norm of the residual at which steps for a gradient of a size end."""
        if self.is_borrowed and self.objective.rows.intercept:  # few products for each digit
            return SINGLE_DIGITS * size
        if self.is_single:
            # what moves after the step limits how good it can be
            return size * max(SINGLE_DIGITS, 0.15 * min(1.0, self.moved))
        self._first = self._first or size
        # inexact steps suffice far from the solution; near it they are almost exact
        enough = size * min(0.1, max(1e-10, size / max(self._first, 1e-300)))
        if sweep.changed == 0:
            enough = 1e-10 * size
        return max(enough, self._rounding(sweep))

    def _accept(
        self, enough: float, gradient_of: Callable[[Array], Array] | None = None
    ) -> Callable[[Array], bool]:
        """Return a test of residuals: their norm, or what they leave of the gap, is small.

        `gradient_of` turns a residual into a gradient.
        """
        test = self.test

        def done(residual: Array) -> bool:
            if np.linalg.norm(residual) <= enough:
                return True
            if test is None:
                return False
            gradient = residual if gradient_of is None else gradient_of(residual)
            return test.bound(gradient) <= 0.1 * test.target

        return done

    def _summing_to_zero(self, v: Array) -> Array:
        """Return a gradient or step without its mean over the classes, which is only rounding."""
        if not (self.objective.labeling.per_class and self.objective.rows.intercept):
            return v
        return v - v.mean(axis=1, keepdims=True)

    def _join(self, sweep: Sweep) -> bool:
        """Return whether the matrix of all classes is known, with the supports at a sweep."""
        if not self._may_join:
            return False
        if self._joint is not None:
            apart = self._joint.move(sweep.piece)
            if MOST_APART * apart <= self.objective.rows.n_rows:
                return True
        self._joint = joint_curvature(self.curved, sweep.piece)
        self._may_join = self._joint is not None
        self.products += self._may_join
        return self._may_join

    def _joint_step(self, sweep: Sweep, gradient: Array) -> Array:
        """Solve with the matrix of all classes."""
        assert self._joint is not None
        b = -reduce(gradient)
        x, _, self.solved = linalg.conjugate_gradient(
            self._joint.product,
            b,
            precondition=self._joint.precondition,
            done=self._accept(self._enough_joined(sweep, float(np.linalg.norm(b))), lift),
            max_iter=self._most_products,
        )
        return expand(x)

    def _enough_joined(self, sweep: Sweep, size: float) -> float:
        """Return the norm of the residual at which a joint step ends; almost 0 for the last one."""
        if self.is_single:
            return self._enough(sweep, size)
        # rows that changed their piece will change it again, which limits how good a step can be
        share = sweep.changed / self.objective.rows.n_rows
        digits = 1e-11 if share <= LAST else max(1e-5, min(1e-3, 1e-2 * share))
        # products with a matrix have smaller errors than the bound for sums over rows
        return max(digits * size, self._rounding(sweep) / 64.0)

    def _rounding(self, sweep: Sweep) -> float:
        """Return the rounding error of the gradient at a sweep."""
        loss = max(sweep.loss, 1e-10 * self.objective.scale)
        squares = sweep.squares + self.objective.rows.total_weight
        return 64.0 * EPS * float(np.sqrt(loss * squares))


def _preconditioner(objective: Objective, sweep: Sweep) -> Callable[[Array], Array]:
    """Return a solve with an approximation of the curvature at a sweep."""
    if not objective.direct:
        return jacobi(objective)
    by_class = _class_matrices(objective, sweep) if _has_class_matrices(objective) else None
    if by_class is not None:
        return by_class
    full = full_curvature(objective).factor
    return jacobi(objective) if full is None else full.solve


def _has_class_matrices(objective: Objective) -> bool:
    """Return whether one matrix per class is worth its sums."""
    rows = objective.rows
    narrow = rows.n_weights**2 <= NARROW * rows.n_rows
    return objective.direct and objective.labeling.per_class and rows.intercept and narrow


def _class_matrices(objective: Objective, sweep: Sweep) -> Callable[[Array], Array] | None:
    """Return a solve with one matrix per class; None if they are too badly conditioned."""
    rows = objective.rows
    n_labeled = rows.n_rows - rows.n_unlabeled
    n_outside = rows.n_outside(sweep.piece) - n_labeled * rows.weights_shape[1]
    # Gram matrices take half the operations of products with as many columns
    if n_outside * rows.n_weights > 4 * rows.n_rows * rows.weights_shape[1]:
        return _by_class.from_secants(objective, sweep)
    grams = rows.outside_grams(sweep.piece)
    features = np.arange(rows.n_features)
    grams[:, features, features] += objective.alpha
    return _by_class.from_grams(grams)
