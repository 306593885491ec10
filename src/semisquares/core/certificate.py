"""Certificates: how far from the optimum weights can be, proven from the weights alone.

A certificate never reads a solver's internals: no factor, no active set, no list of dependent
columns. It needs X and the weights as the user gets them, and bounds its own rounding errors.

**How.** Let z be the exact decision values, J(w) = Σ ℓ(z) + λ‖w‖². For *any* numbers θ, one for
each row (and class), that satisfy ``1'θ = 0`` (intercept) and, without a ridge, ``X'θ = 0``,

    J(w) - J* ≤ Σ rows FY(z, θ) + ‖X'θ + λw‖² / λ,       FY(z, θ) = ℓ(z) + ℓ*(θ) - 2θz ≥ 0

θ are the computed residuals a(z - t), taken as exact numbers: rounding in z makes FY differ from 0
by ``a (error of z)²`` only, and rounding in the sums X'θ enters squared as well. If θ is not
feasible, it is corrected by δ: with e the error of z, rows then cost ``Σ (√a e + δ/√a)²``, plus
twice the overshoot if the δ of an unlabeled row leaves its piece. See docs/theory/duality_gap.md.

All bounds are on the scale of J; relative ones are divided by `Objective.scale`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.typing import Array
from . import _dense as dense
from ._dependence import independent_columns
from ._exact_sums import exact_moment
from .linalg import EPS
from .objective import Objective
from .rows import Sweep

UNIT = 0.5 * EPS
"""The largest relative error of one rounded operation."""
SLACK = 1.0 + 1e-10
"""Covers the rounding of the bounds themselves, which are sums of few non-negative numbers."""
GOOD_ENOUGH = 1e-15
"""No tighter proof is tried below this relative gap: `certificate_` never reports less than EPS."""
LARGEST = 1e130
"""Row weights or J above this, or below its inverse, may overflow or underflow when squared."""
SMALLEST_NORM = 1e-150
"""The squares of a column with a smaller norm underflow, unless it is a column of zeros."""
WIDE = 256
"""With more columns than rows, and than this, corrections cost more than they can prove."""
JOINT_WORK = 1e9
"""Matrices of all classes together are factored if that takes at most this many operations."""
EXACT_VALUES = 200_000
"""Sums of up to this many products are computed without rounding if no other proof suffices."""


def gradient_bound(objective: Objective) -> Callable[[Array], float]:
    """Return the bound ``J(w) - J* ≤ h'(X'X + λD)⁻¹h`` as a function of half the gradient, h.

    It tells solvers when to stop. It ignores rounding and uses the solvers' own factor, so it is
    not part of a certificate. X are the labeled rows, whose curvature does not depend on the pieces
    of the others. If the matrix is too wide to form, it is replaced by a smaller one: λ on the
    features and the labeled rows' mean. If it is singular, the bound is infinite.
    """
    rows, alpha = objective.rows, objective.alpha
    if objective.direct:
        factor = objective.labeled_factor
        if factor is not None:
            return lambda h: max(0.0, float(np.vdot(h, factor.solve(h))))
    if alpha <= 0.0:
        return lambda h: np.inf
    if not rows.intercept:
        return lambda h: float(np.vdot(h, h)) / alpha
    total, mean = rows.labeled_total, _labeled_mean(objective)

    def bound(h: Array) -> float:
        features = h[:-1].reshape(len(mean), -1) - np.outer(mean, h[-1])
        return float(np.vdot(features, features)) / alpha + float(np.vdot(h[-1], h[-1])) / total

    return bound


@dataclass(frozen=True)
class Gap:
    """J at some weights, and an upper bound of its distance from the optimum."""

    value: float
    """J as it was evaluated."""
    absolute: float
    """An upper bound of J - optimum in exact arithmetic."""
    bound: float
    """A proven lower bound of the optimum."""
    scale: float

    @property
    def relative(self) -> float:
        """The gap, divided by J of the best constant decision value."""
        return self.absolute / self.scale if 0.0 < self.scale < np.inf else np.inf


def duality_gap(
    objective: Objective, w: Array, *, enough: float = 0.0, sweep: Sweep | None = None
) -> Gap:
    """Bound the suboptimality of w in the soft problem, rounding included; return the best proof.

    1. J itself, since J is never below 0;
    2. with a ridge: θ, shifted on the labeled rows so that it sums to 0;
    3. θ corrected on the labeled rows, whose cost is quadratic for every z;
    4. θ corrected on the labeled and the active rows, which is also tight far from the optimum;
    5. θ corrected on all rows, if only all rows together span the columns;
    6. the same with sums computed without rounding, on small tables.

    Each is tried only if those before it did not prove enough. Corrections need ``P'MP ≈ I``, where
    M is the curvature of the corrected rows. P is computed here, by Cholesky or QR, and its error
    is bounded (`_Inverse`).

    Parameters
    ----------
    objective : Objective
        With a convex labeling.
    w : array
        The weights to certify, in the (shifted) columns of the rows. The proof holds for their
        translation to the user's columns, including its rounding.
    enough : float
        The relative gap below which no tighter proof is tried.
    sweep : Sweep, optional
        The result of a pass over the rows at w, if there is one; otherwise a pass is made.
    """
    if sweep is None or sweep.w is not w:
        sweep = objective.sweep(w)
    scale = objective.scale
    target = max(enough, GOOD_ENOUGH) * scale
    value = objective.value(sweep)
    if 0.0 < objective.alpha < 1.0 / LARGEST:  # without this ridge, J* is lower and easier to bound
        without = duality_gap(objective.with_alpha(0.0), w, enough=enough, sweep=sweep)
        gap = without.absolute + SLACK * float(np.sum(objective.ridge(w)))
        return Gap(value, gap, without.bound, scale)
    with np.errstate(all="ignore"):  # a bound that is not finite proves nothing
        point = _DualPoint(objective, sweep, np.sqrt(sweep.squares) * (1.0 + 1e-8))
        rounding = point.of_value(value)
        gap = np.inf
        if _in_range(objective, value):
            for proof in _proofs(objective, sweep, point, value + rounding):
                gap = min(gap, SLACK * proof if proof >= 0.0 else np.inf)
                if gap <= target:
                    break
        bound = value - rounding - gap
    return Gap(value, float(gap), bound if bound > 0.0 else 0.0, scale)


def _in_range(objective: Objective, value: float) -> bool:
    """Return whether sums and squares can neither overflow nor underflow: no bound covers that."""
    rows = objective.rows
    numbers = [objective.scale, rows.heaviest, rows.total_weight]
    return bool(max(value, *numbers) <= LARGEST and min(numbers) >= 1.0 / LARGEST)


def _proofs(objective: Objective, sweep: Sweep, point: _DualPoint, value: float) -> Iterator[float]:
    """Yield bounds of the gap, cheapest first."""
    yield value
    if objective.alpha > 0.0:
        yield point.by_the_ridge()
    rows = objective.rows
    if not objective.direct or rows.n_features > max(rows.n_rows, WIDE):
        return
    # from here on, with the norm of each column, not of all columns together
    try:
        norms = np.sqrt(rows.diagonal[: rows.n_features])
    except FloatingPointError:  # squares overflow
        return
    small = norms < SMALLEST_NORM
    if small.any() and rows.n_nonzero[small].any():  # squares underflow
        return
    fine = _DualPoint(objective, sweep, np.where(small, 0.0, norms))
    yield from fine.proofs()
    sharp = fine.sharpened()
    if sharp is not None:
        yield from sharp.proofs()


class _Rounding:
    """Bounds of the rounding errors of decision values and of J at some weights.

    Errors of sums are bounded a priori: the error of a sum of n products is at most γₙ times the
    sum of their absolute values, in any order of summation, with γₙ = nu / (1 - nu) and u the unit
    roundoff (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and
    ``Σ|x||θ| ≤ ‖x‖ ‖θ‖``. Norms over rows are weighted: ``‖x‖² = Σ a x²``, ``‖θ‖² = Σ θ²/a``.

    Parameters
    ----------
    objective : Objective
        J.
    w : array
        The weights.
    loss : float
        Σ a ‖z - t‖² at these weights.
    norms : array of shape (n_features,) or float
        The norm of every column, or of all columns together, which is cheaper to compute.
    """

    def __init__(self, objective: Objective, w: Array, loss: float, norms: Any) -> None:
        rows = self.rows = objective.rows
        self.objective, self.norms = objective, norms
        self.w = w.reshape(len(w), -1)
        features, last = self.w[: rows.n_features], self.w[rows.n_features :]
        self.sum_error = _gamma(rows.longest_sum + 16)
        self.size = np.sqrt(loss) * (1.0 + self.sum_error)
        """‖θ‖, which is √loss."""
        self.total = np.sqrt(rows.total_weight)
        """The norm of the intercept's column of ones."""
        each = np.ndim(norms) > 0
        weighed = norms @ np.abs(features) if each else norms * np.linalg.norm(features)
        self.reach = float(np.linalg.norm(weighed)) + self.total * float(np.linalg.norm(last))
        """A bound of ‖Σ |x||w|‖: the size of the terms of the decision values."""
        self.moved = self._moved()

    def _moved(self) -> float:
        """Bound ‖z'' - z‖, where θ are the exact residuals at the decision values z''.

        z are the exact decision values of the weights in the user's columns, where the intercept
        is rounded.
        """
        rows, d = self.rows, self.rows.n_features
        digits = _gamma(d + 8)
        moved = digits * self.reach + 8.0 * UNIT * self.size
        if rows.intercept:
            shift = rows.shift
            far = 0.0 if shift is None else np.abs(shift) @ np.abs(self.w[:d])
            moved += digits * self.total * float(np.linalg.norm(far + np.abs(self.w[d]) + 1.0))
        if self.objective.labeling.per_class:
            moved += self.simplex
        return moved * SLACK

    @property
    def simplex(self) -> float:
        """A bound of the rounding of labels on the simplex, over all rows.

        The threshold t of a row with the support S is wrong by γ (Σ|z| + 1) / |S|, so its label
        sums to 1 up to γ (√K ‖z‖ + 1). A class that rounding drops from the support has a share
        below twice the error of t, and there are at most K of them.
        """
        n_classes = self.w.shape[1]
        return 4.0 * _gamma(n_classes + 4) * np.sqrt(n_classes) * (self.reach + self.total)

    def of_value(self, value: float) -> float:
        """Bound the error of J, whose loss is the square of a norm."""
        crossed = (2.0 * self.size + self.moved) * self.moved
        terms = _gamma(self.rows.longest_sum * self.w.shape[1] + 16)
        return float(SLACK * (crossed + 2.0 * terms * value))


class _DualPoint(_Rounding):
    """The residuals at w as a dual point θ, with a bound of the rounding errors of X'θ.

    h has a row for each weight and a value for each class; the error of a row is a norm over them.
    """

    def __init__(self, objective: Objective, sweep: Sweep, norms: Any) -> None:
        super().__init__(objective, sweep.w, sweep.loss, norms)
        self.sweep = sweep
        self.labeling = objective.convex_labeling
        self.n_features = objective.rows.n_features
        self.h = objective.gradient(sweep).reshape(self.w.shape)
        self.error = self._error()

    def _error(self) -> Array:
        """Bound the error of h = X'θ + λDw, intercept last; features together if `norms` is."""
        size = self.sum_error * self.size
        if self.labeling.per_class:
            size += 2.0 * self.simplex
        ridge = 8.0 * UNIT * (self.objective.alpha * np.abs(self.w) + np.abs(self.h))
        rows = np.linalg.norm(ridge, axis=1)
        features: Any = rows[: self.n_features]
        last = rows[self.n_features :]
        if not np.ndim(self.norms):
            features = np.linalg.norm(features)
        return SLACK * np.append(self.norms * size + features, self.total * size + last)

    def sharpened(self) -> _DualPoint | None:
        """Return the point with h summed without rounding; None if that is not possible."""
        rows, alpha, d = self.rows.in_memory, self.objective.alpha, self.n_features
        if rows is None or rows.n_rows * self.w.size > EXACT_VALUES:
            return None
        X = rows.table.dense(rows.table.slice(0, rows.n_rows))
        if rows.intercept:
            X = np.column_stack((X, np.ones(len(X))))
        theta = rows.weights[:, None] * self._residuals()
        ridge = np.full(self.w.shape, alpha)
        ridge[d:] = 0.0
        h = exact_moment(X, theta, ridge, self.w)
        if h is None:
            return None
        shifted = 0.0 if rows.shift is None else 4.0 * UNIT
        size = self.reach + self.size + self.total if self.labeling.per_class else self.size
        norms = np.append(self.norms, [self.total] * rows.intercept)
        point = copy(self)
        point.h = h
        point.error = SLACK * (2.0 * UNIT * np.linalg.norm(h, axis=1) + shifted * size * norms)
        return point

    def _residuals(self) -> Array:
        """Return z - t of all rows; on the simplex, bitwise equal on the support of t."""
        rows, z = self.objective.memory_rows, self.sweep.z
        residual = rows.residual(z, self.labeling).reshape(rows.n_rows, -1)
        if self.labeling.per_class:
            free = rows.unlabeled
            z, support = z[free], self.labeling.piece(z[free])
            sums = np.where(support, z, 0.0).sum(axis=1) - 1.0
            level = (sums / support.sum(axis=1))[:, None]
            residual[free] = np.where(support, level, np.minimum(z, level))
        return residual

    # -- proofs ---------------------------------------------------------------------------------

    def proofs(self) -> Iterator[float]:
        """Yield bounds of the gap, cheapest first."""
        if self.objective.alpha > 0.0:
            yield self.by_the_ridge()
        yield from self.by_labeled_rows()
        yield from self.by_active_rows()
        yield from self.by_all_rows()

    def by_the_ridge(self) -> float:
        """Bound the gap with θ shifted on the labeled rows to sum to 0, by ``‖X'θ + λw‖²/λ``."""
        rows, alpha, d = self.rows, self.objective.alpha, self.n_features
        error = float(np.linalg.norm(self.error[: len(self.error) - rows.intercept]))
        features, shifted = self.h[:d], 0.0
        if rows.intercept:
            total = rows.labeled_total
            mean = _labeled_mean(self.objective)
            last = float(np.linalg.norm(self.h[d])) + self.error[-1]
            features = features - np.outer(mean, self.h[d])
            largest = float(np.linalg.norm(np.atleast_1d(self.norms))) / np.sqrt(total)
            error += float(np.linalg.norm(mean)) * self.error[-1]
            error += (self.sum_error * largest + 8.0 * UNIT * np.linalg.norm(mean)) * last
            shifted = last * (last / total)
        left = float(np.linalg.norm(features)) + error
        return self._total(np.hypot(left / np.sqrt(alpha), np.sqrt(shifted)))

    def by_labeled_rows(self) -> Iterator[float]:
        """Bound the gap with θ corrected on the labeled rows."""
        objective, gram = self.objective, self.rows.labeled_gram
        for inverse in self._inverses(gram, lambda: objective.memory_rows.labeled):
            yield self._total(inverse.norm(self.h, self.error))

    def by_active_rows(self) -> Iterator[float]:
        """Bound the gap with θ corrected on the labeled and the active rows.

        With more than two classes, every row is active in directions that couple the classes.
        """
        rows, piece = self.rows, self.sweep.piece
        if self.labeling.per_class:
            inverse = self._joint_inverse()
            if inverse is not None:
                yield self._corrected(inverse, everywhere=False)
            return
        gram = rows.labeled_gram + rows.unlabeled_weight * rows.active_gram(piece)
        for inverse in self._inverses(gram, lambda: np.flatnonzero(piece)):
            yield self._corrected(inverse, everywhere=False)

    def by_all_rows(self) -> Iterator[float]:
        """Bound the gap with θ corrected on all rows, at a linear cost if a row has no residual."""
        rows = self.rows
        if rows.in_memory is not None:
            for inverse in self._inverses(rows.full_gram, lambda: np.arange(rows.n_rows)):
                yield self._corrected(inverse, everywhere=True)

    def _inverses(self, gram: Array, index: Callable[[], Array]) -> Iterator[_Inverse]:
        """Yield an approximate inverse of the curvature of some rows, if one is found."""
        ridge = np.zeros(len(gram))
        ridge[: self.n_features] = self.objective.alpha
        kept = np.arange(len(gram))
        if self.objective.alpha == 0.0:
            norms = np.append(self.norms, [1.0] * self.rows.intercept)
            kept = np.flatnonzero(norms > 0.0)  # a column of zeros does not constrain θ
        found = _Inverse.of_gram(gram, ridge, kept, self.sum_error)
        if found is not None:
            yield found
        elif (rows := self.rows.in_memory) is not None:
            chosen = index()
            triangle = rows.triangle(chosen, None)
            triangle = np.roll(triangle, -1, axis=1) if rows.intercept else triangle
            if self.objective.alpha == 0.0:
                kept = independent_columns(rows, triangle, kept)
            found = _Inverse.of_triangle(triangle, ridge, kept, len(chosen))
            if found is not None:
                yield found

    def _joint_inverse(self) -> _Inverse | None:
        """Return an approximate inverse of the curvature of all rows, for all classes together."""
        rows, (n_weights, n_classes), d = self.rows.in_memory, self.w.shape, self.n_features
        if rows is None or rows.n_rows * self.w.size**2 * n_classes > JOINT_WORK:
            return None
        triangle = rows.simplex_triangle(self.sweep.piece, self.sweep.z)[:, :-1]
        # the columns are the intercepts, then the features of the first class, …
        place = np.arange(self.w.size).reshape(n_weights, n_classes)
        order = np.concatenate((place[d:].ravel(), place[:d].T.ravel()))
        sorted_columns = np.empty_like(triangle)
        sorted_columns[:, order] = triangle
        ridge = np.zeros(self.w.shape)
        ridge[:d] = self.objective.alpha
        norms = np.append(self.norms, [1.0] * rows.intercept)
        kept = np.flatnonzero(np.repeat(norms, n_classes) + ridge.ravel() > 0.0)
        # one decomposition per class and part of the rows, stacked on the R factor before it
        n_parts = 1 + rows.n_rows // 256
        n_equations = (n_classes + 1) * (rows.n_rows + n_parts * self.w.size)
        return _Inverse.of_triangle(sorted_columns, ridge.ravel(), kept, n_equations)

    def _corrected(self, inverse: _Inverse, *, everywhere: bool) -> float:
        """Bound the gap with θ corrected by δ = -a V, V a step's decision values, and a remainder.

        The remainder is not computed, only bounded: its norm over the rows is at most `left`, and
        so is its value in any row, divided by √a.
        """
        rows, sweep, alpha = self.rows, self.sweep, self.objective.alpha
        shape = sweep.w.shape
        step = inverse.solve(self.h)
        piece, labeling = sweep.piece, self.labeling
        V, image, squares = rows.dual_step(step.reshape(shape), piece, labeling, everywhere)
        ridge = alpha * step
        ridge[self.n_features :] = 0.0
        h = self.h - image.reshape(self.h.shape) - ridge
        size = np.sqrt(squares) * (1.0 + self.sum_error)
        norms = np.append(self.norms, [self.total] * rows.intercept)
        error = self.error + self.sum_error * size * norms
        error += 16.0 * UNIT * np.linalg.norm(np.abs(self.h) + np.abs(ridge), axis=1)
        left = inverse.norm(h, error * SLACK)
        over = rows.dual_overshoot(sweep.z, piece, V, left * SLACK, labeling, everywhere)
        taken = np.sqrt(size**2 + float(np.vdot(step, ridge)))
        return self._total(taken + left) + SLACK * over

    def _total(self, correction: float) -> float:
        """Combine the rounding of z and a correction, which are norms over the same rows."""
        return float(SLACK * np.square(self.moved + SLACK * correction))


@dataclass(frozen=True, eq=False)
class _Inverse:
    """P with ``P'MP ≈ I``, M = Σ a x x' + λD over some rows: it bounds ``h'M⁻¹h``.

    For any P, ``h'M⁻¹h = (P'h)'(P'MP)⁻¹(P'h) ≤ ‖P'h‖² / least``, where `least` is a proven lower
    bound of the eigenvalues of P'MP. A bad P weakens the bound, but never makes it false.
    """

    P: Array
    """One row per row of h, or per entry of h if M couples the classes."""
    least: float

    def norm(self, h: Array, error: Array) -> float:
        """Bound √(h'M⁻¹h), given h and a bound of the error of each of its rows."""
        k = len(self.P)
        error = np.repeat(error, k // len(error))
        h = h.reshape(k, -1)
        sizes = error + _gamma(k + 4) * np.linalg.norm(h, axis=1)
        inexact = np.linalg.norm(np.abs(self.P).T @ sizes)
        return float((np.linalg.norm(self.P.T @ h) + inexact) / np.sqrt(self.least))

    def solve(self, h: Array) -> Array:
        """Return an approximation of M⁻¹h."""
        return (self.P @ (self.P.T @ h.reshape(len(self.P), -1))).reshape(h.shape)

    @classmethod
    def of_gram(cls, gram: Array, ridge: Array, kept: Array, sum_error: float) -> _Inverse | None:
        """Compute P from a Gram matrix whose entries have errors of γ ‖x‖ ‖x'‖.

        With columns of unit norm, its Cholesky factor L is the exact one of a matrix whose entries
        differ by γ (Higham, theorem 10.3), and ``P'MP`` is ``(L'P)'(L'P)`` up to these errors.
        """
        if not len(kept):
            return cls(np.zeros((len(gram), 0)), 1.0)
        M = (gram + np.diag(ridge))[np.ix_(kept, kept)]
        norms = np.sqrt(M.diagonal())
        if not (np.isfinite(norms).all() and (norms > 1e-140).all()):
            return None
        scaled, k = M / norms / norms[:, None], len(kept)
        triangle, failed = dense.cholesky(scaled)
        if failed or not np.isfinite(triangle).all():
            return None
        triangle = np.tril(triangle)
        P = dense.solve_triangular(triangle, np.eye(k)).T
        size = float(np.linalg.norm(P))
        off = float(np.linalg.norm(dense.product(triangle.T, P) - np.eye(k)))
        off += _gamma(k + 2) * np.sqrt(k) * size
        entries = sum_error + _gamma(k + 8)
        least = max(0.0, 1.0 - SLACK * off) ** 2 - SLACK * k * entries * size**2
        return cls._made(P / norms[:, None], least, kept, len(gram))

    @classmethod
    def of_triangle(
        cls, triangle: Array, ridge: Array, kept: Array, n_rows: int
    ) -> _Inverse | None:
        """Compute P from the R factor of a QR decomposition of n rows.

        R is the exact factor of columns that differ from the given ones by ``c n k u`` of their
        norms (Higham, theorem 19.4; c = 16 is far above what reflections need).
        """
        R, k = triangle[:, kept], len(kept)
        if not k:
            return cls(np.zeros((triangle.shape[1], 0)), 1.0)
        if (ridge > 0.0).any():
            R = np.vstack((R, np.diag(np.sqrt(ridge))[:, kept]))
        if len(R) < k:
            return None
        largest = np.abs(R).max(axis=0)  # squares of the entries may overflow or underflow
        norms = largest * np.linalg.norm(R / largest, axis=0)
        if not (np.isfinite(norms).all() and (norms > 0.0).all()):
            return None
        R = dense.triangle_of(R / norms)
        if not (np.isfinite(R).all() and R.diagonal().all()):
            return None
        P = dense.solve_triangular(R.T, np.eye(k)).T
        sizes = np.abs(P).sum(axis=0)
        off = float(np.linalg.norm(dense.product(R, P) - np.eye(k)))
        off += _gamma(k + 2) * float(np.linalg.norm(R) * np.linalg.norm(P))
        off += _gamma(16 * (2 * n_rows + 2 * k + 16) * k) * float(np.linalg.norm(sizes))
        least = max(0.0, 1.0 - SLACK * off) ** 2
        return cls._made(P / norms[:, None], least, kept, triangle.shape[1])

    @classmethod
    def _made(cls, P: Array, least: float, kept: Array, n_columns: int) -> _Inverse | None:
        if not least >= 0.25:
            return None
        full = np.zeros((n_columns, P.shape[1]))
        full[kept] = P
        return cls(full, least)


def _gamma(n: float) -> float:
    """Return γₙ, the largest relative error of n rounded operations."""
    return n * UNIT / (1.0 - n * UNIT) if n * UNIT < 0.5 else np.inf


def _labeled_mean(objective: Objective) -> Array:
    """Return the weighted mean of the labeled rows' features."""
    rows = objective.rows
    if objective.direct:
        return rows.labeled_gram[-1, :-1] / rows.labeled_total
    unit = np.zeros(rows.n_weights)
    unit[-1] = 1.0
    return rows.labeled_product(unit)[:-1] / rows.labeled_total


def is_label_stable(objective: Objective, labels: Array, fit: Callable[[Array], Array]) -> bool:
    """Return whether fitting the labels and imputing them anew changes no unlabeled row's label."""
    rows, labeling = objective.memory_rows, objective.labeling
    imputed = labeling.impute(rows.decisions(fit(labels)))
    return bool(np.array_equal(imputed[rows.unlabeled], labels[rows.unlabeled]))


def relaxation_gap(objective: Objective, w: Array, bound: float) -> Gap:
    """Bound how far hard-label weights are from the best of all labelings.

    The soft objective is the convex relaxation of the hard one, so a lower bound of the soft
    optimum (`duality_gap(...).bound`) is also a lower bound of the hard optimum.
    """
    rows = objective.rows
    loss = rows.loss(rows.decisions(w), objective.labeling)
    value = loss + float(objective.ridge(w))
    rounding = _Rounding(objective, w, loss, np.sqrt(rows.diagonal[: rows.n_features]))
    gap = max(0.0, value + rounding.of_value(value) - bound)
    return Gap(value, gap, bound, objective.scale)


__all__ = ["Gap", "duality_gap", "gradient_bound", "is_label_stable", "relaxation_gap"]
