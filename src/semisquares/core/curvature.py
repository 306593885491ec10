"""The curvature of a sum over some rows, and steps with it.

A step p from w minimises ``‖A(w + p) - t‖² + λ‖features of w + p‖²`` over some rows A, by

* the factored Gram matrix, the usual case; if it is plainly singular, by its row space;
* QR of the rows themselves if the Gram matrix has lost too many digits;
* conjugate gradients if there are too many columns to form a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.typing import Array
from . import linalg
from .objective import Objective
from .rows import RowSums

MAX_PRODUCTS = 2000
UPDATED_COLUMNS, UPDATED_SHARE = 128, 8
"""A factor of at least this many columns is updated for at most 1/8 as many rows."""
UNSEEN = 1e-12
"""With columns of unit norm, a direction that moves the rows by less is a null direction."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """H = Σ a x x' over some rows + λD."""

    objective: Objective
    factor: linalg.Inverse | None
    index: Callable[[], Array]
    product: Callable[[Array], Array]
    gram: Callable[[], Array] | None = None
    """H without the ridge, if it is available."""

    def step(self, w: Array, gradient: Array, residual: Callable[[], Array]) -> Array:
        """Return the step from w that solves the least squares problem of these rows.

        `gradient` is half the gradient at w; `residual` returns z - t for all rows and is called
        only if QR of the rows is needed.
        """
        if self.factor is not None:
            return -self.factor.solve(gradient)
        if not self.objective.direct:
            return self._iterate(gradient)
        if self._row_space is not None:
            return self._row_space.step(w, gradient)
        return self.least_norm(w, residual()).step

    @cached_property
    def _row_space(self) -> linalg.RowSpace | None:
        """The row space by the Gram matrix; None if only QR can find it.

        In a Gram matrix, columns equal to seven digits look equal. So a null direction is checked
        with the rows themselves.
        """
        if self.gram is None or self.objective.alpha > 0.0 or self.objective.labeling.per_class:
            return None
        rows = self.objective.memory_rows
        gram = self.gram()
        space = linalg.row_space(gram, rows.intercept)
        if space is None:
            return None
        squares = gram.diagonal()
        if rows.intercept:
            squares = squares - gram[-1] ** 2 / gram[-1, -1]
        sizes = np.sqrt(np.maximum(squares, 0.0))
        v = np.random.default_rng(0).standard_normal(len(sizes)) / np.where(sizes > 0.0, sizes, 1.0)
        for _ in range(2):  # twice is enough for orthogonality to rounding
            v = v - space.step(np.zeros(len(v)), -(gram @ v))
        index = self.index()
        shown = np.sqrt(rows.weights[index]) * rows.decisions(v)[index]
        return space if np.linalg.norm(shown) <= UNSEEN * np.linalg.norm(v * sizes) else None

    def least_norm(self, w: Array, residual: Array) -> linalg.LeastNorm:
        """Return the step to the solution of least norm, by QR of the rows."""
        rows, index = self.objective.memory_rows, self.index()
        triangle = rows.triangle(index, -residual.reshape(rows.n_rows, -1))

        def sharpen(null: Array) -> Array:
            """Remove the part of the null directions that still moves the rows."""
            padded = np.vstack((null, np.zeros((int(rows.intercept), null.shape[1]))))
            seen = np.zeros((rows.n_rows, null.shape[1]))
            seen[index] = rows.decisions_of(index, padded)
            shown = rows.triangle(index, seen)
            off = linalg.least_norm_step(shown, 0.0, rows.intercept, np.zeros(padded.shape)).step
            return null - off[: rows.n_features]

        return linalg.least_norm_step(triangle, self.objective.alpha, rows.intercept, w, sharpen)

    def _iterate(self, gradient: Array) -> Array:
        small = 1e-12 * np.linalg.norm(gradient)
        step, _, _ = linalg.conjugate_gradient(
            lambda V: self.product(V) + self.objective.ridge_gradient(V),
            -gradient,
            precondition=jacobi(self.objective),
            done=lambda r: bool(np.linalg.norm(r) <= small),
            max_iter=MAX_PRODUCTS,
        )
        return step


def jacobi(objective: Objective) -> Callable[[Array], Array]:
    """Return the preconditioner that divides by the diagonal of the full curvature."""
    rows = objective.rows
    diagonal = rows.diagonal + objective.ridge_gradient(np.ones(rows.n_weights))
    inverse = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    return lambda r: (inverse * r.T).T


def labeled_curvature(objective: Objective) -> Curvature:
    """Return the curvature of the labeled rows, for the supervised problem."""
    rows = objective.rows
    factor = objective.labeled_factor if objective.direct else None
    return Curvature(objective, factor, lambda: objective.memory_rows.labeled, rows.labeled_product)


def full_curvature(objective: Objective) -> Curvature:
    """Return the curvature of all rows, for block descent."""
    rows = objective.rows
    factor = objective.full_factor if objective.direct else None
    return Curvature(
        objective,
        factor,
        lambda: np.arange(rows.n_rows),
        rows.full_product,
        (lambda: rows.full_gram) if objective.direct else None,
    )


def active_curvature(objective: Objective, piece: Array, active_gram: Array | None) -> Curvature:
    """Return the curvature of the labeled and the active rows, for Newton's method."""
    rows = objective.rows
    factor = gram = None
    if active_gram is not None and objective.direct:
        weight = rows.unlabeled_weight
        gram = rows.labeled_gram + (active_gram if weight == 1.0 else weight * active_gram)
        factor = linalg.factor(gram, objective.alpha, rows.intercept)
    return Curvature(
        objective,
        factor,
        lambda: np.flatnonzero(piece),
        lambda V: rows.curvature_product(V, piece, objective.convex_labeling),
        None if gram is None else lambda: gram,
    )


def few_enough(rows: RowSums, moved: Array) -> bool:
    """Tell whether updating a factor for rows that moved (a mask) is cheaper than a new one."""
    most = rows.n_weights // UPDATED_SHARE if rows.n_weights >= UPDATED_COLUMNS else -1
    return int(np.count_nonzero(moved)) <= most


def updated_curvature(
    objective: Objective, piece: Array, before: Array, known: Curvature
) -> Curvature | None:
    """Return that curvature by updating the known one of other pieces; None if it is cheaper anew.

    The known one may be that of fewer rows with the same labeled ones.
    """
    rows, other = objective.rows.in_memory, known.objective
    if rows is None or not isinstance(known.factor, linalg.Factor | linalg.RidgeFactor):
        return None
    if other.alpha != objective.alpha:
        return None
    if other.rows.labeled_gram is not rows.labeled_gram or rows.row_weight is not None:
        return None
    if other.rows.unlabeled_weight != rows.unlabeled_weight:
        return None
    now = rows.active_mask(piece)
    differs = now != rows.active_mask(before)
    if not few_enough(rows, differs):
        return None
    moved = np.flatnonzero(differs)
    columns = rows.columns_of(moved)
    factor = linalg.updated_factor(known.factor, columns, np.where(now[moved], 1.0, -1.0))
    if factor is None:
        return None
    return Curvature(
        objective,
        factor,
        lambda: np.flatnonzero(piece),
        lambda V: rows.curvature_product(V, piece, objective.convex_labeling),
    )


def copied_columns(objective: Objective) -> tuple[int, ...]:
    """Return columns that are combinations of others, if weights are not unique because of them."""
    if objective.alpha > 0.0 or not objective.direct or objective.labeled_factor is not None:
        return ()
    if objective.rows.n_rows <= objective.rows.n_weights:  # some columns always depend on others
        return ()
    rows = objective.memory_rows.reweighted(unlabeled_weight=1.0)  # a weight of 0 hides columns
    return linalg.dependent_columns(rows.triangle(np.arange(rows.n_rows), None), rows.intercept)


def fit_labeled(objective: Objective) -> Array:
    """Return the supervised weights: ridge regression on the labeled rows alone (§III)."""
    rows = objective.rows
    curvature = labeled_curvature(objective)
    if curvature.factor is None and objective.direct:
        return labeled_least_norm(objective).step
    w = np.zeros(rows.weights_shape)
    w = curvature.step(w, -rows.labeled_moment, lambda: w)
    factor = objective.labeled_factor if objective.direct else None
    if factor is not None and factor.rcond < 1e-4:
        # one refinement, with the gradient summed over the rows
        gradient = rows.labeled_product(w) - rows.labeled_moment
        w = w - factor.solve(gradient + objective.ridge_gradient(w))
    return w


def labeled_least_norm(objective: Objective) -> linalg.LeastNorm:
    """Return the supervised weights of least norm, and the null space of the labeled rows."""
    rows = objective.memory_rows
    w = np.zeros(rows.weights_shape)
    return labeled_curvature(objective).least_norm(w, rows.labeled_residual)
