"""Least squares on labeled rows and a growing number of unlabeled ones, whose labels change.

The labeled rows determine the supervised weights w₀; H₀ = X'X + λD is their curvature. If rows A
get labels t, the new weights follow from a matrix with a row for each weight, or from one with a
row for each row of A:

    (H₀ + A'A) w = X'y + A't                                   `ManyRows`
    (I + A H₀⁻¹A') r = A w₀ - t,     w = w₀ - H₀⁻¹A'r          `FewRows`; r = A w - t

The smaller one is used. A leading part of a Cholesky factor is the factor of that part of the
matrix, so `FewRows` of all sizes share one factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from ..._utils.typing import Array
from ...core import _dense as dense
from ...core.objective import Objective

MAX_STEPS = 100
"""Full Newton steps might cycle; about three are enough."""


class GrowingRows(Protocol):
    """The first unlabeled rows; fits return the weights and the decision values of these rows."""

    X: Array

    def fit(self, labels: Array) -> tuple[Array, Array]:
        """Fit labels of all rows."""

    def fit_active(self, piece: Array) -> tuple[Array, Array]:
        """Fit label 0 of the rows on piece -1 and label 1 of those on piece 1."""


class FewRows:
    """At most as many unlabeled rows as weights."""

    def __init__(self, X: Array, w: Array, solved: Array, kernel: Array, triangle: Array) -> None:
        self.X = X
        self.w, self.z = w, X @ w
        self.solved, self.kernel, self.triangle = solved, kernel, triangle

    def fit(self, labels: Array) -> tuple[Array, Array]:
        residual = _solve(self.triangle, self.z - labels)
        return self.w - self.solved @ residual, labels + residual

    def fit_active(self, piece: Array) -> tuple[Array, Array]:
        active = piece.nonzero()[0]
        kernel = self.kernel[:, active]
        matrix = kernel[active]
        matrix.flat[:: len(active) + 1] += 1.0
        residual = _solve(_factor(matrix), self.z[active] - (piece[active] > 0))
        return self.w - self.solved[:, active] @ residual, self.z - kernel @ residual


class ManyRows:
    """More unlabeled rows than weights."""

    def __init__(self, curvature: Array, moment: Array) -> None:
        self.moment = moment
        self.X = np.zeros((0, len(moment)))
        self.full, self.active = curvature.copy(), curvature.copy()
        self.piece = np.zeros(0, dtype=np.int8)
        """The pieces of the rows that `active` was summed for."""

    def extend(self, X: Array) -> None:
        """Add the rows of X after those that are here; none of them is active yet."""
        new = X[len(self.X) :]
        self.full += new.T @ new
        self.triangle = _factor(self.full.copy())
        self.piece = np.append(self.piece, np.zeros(len(new), dtype=np.int8))
        self.X = X

    def fit(self, labels: Array) -> tuple[Array, Array]:
        w = _solve(self.triangle, self.moment + labels @ self.X)
        return w, self.X @ w

    def fit_active(self, piece: Array) -> tuple[Array, Array]:
        change = (piece != 0).view(np.int8) - (self.piece != 0).view(np.int8)
        moved = change.nonzero()[0]
        rows = self.X[moved]
        self.active += rows.T @ (rows * change[moved, None])
        self.piece = piece
        triangle = _factor(self.active.copy())
        w = _solve(triangle, self.moment + self.X[piece > 0].sum(axis=0))
        return w, self.X @ w


def growing_rows(
    objective: Objective, w: Array, X: Array, sizes: Sequence[int]
) -> Iterator[GrowingRows]:
    """Yield the first rows of X for each size, valid until the next; w are supervised weights."""
    rows, factor = objective.rows, objective.labeled_factor
    assert factor is not None  # the labeled rows determine the weights
    few = [size for size in sizes if size <= len(w)]
    if few:
        part = X[: few[-1]]
        solved = factor.solve(part.T)
        kernel = part @ solved
        triangle = _factor(kernel + np.eye(len(part)))
    for s in few:
        corner = np.asfortranarray(triangle[:s, :s])
        yield FewRows(X[:s], w, solved[:, :s], kernel[:s, :s], corner)
    curvature = rows.labeled_gram + np.diag(objective.ridge_gradient(np.ones(len(w))))
    many = ManyRows(curvature, rows.labeled_moment)
    for s in sizes[len(few) :]:
        many.extend(X[:s])
        yield many


def settle(
    fit: Callable[[Array], tuple[Array, Array]], state: Callable[[Array], Array], z: Array
) -> Array | None:
    """Fit until no row changes its state, a function of its decision value; return the weights.

    If states are hard labels, this is block descent. If they are pieces, these are full Newton
    steps, and the end is the exact minimiser. Returns None if states still change after MAX_STEPS,
    or if a matrix has lost its digits.
    """
    now = state(z)
    for _ in range(MAX_STEPS):
        try:
            w, z = fit(now)
        except np.linalg.LinAlgError:
            return None
        before, now = now, state(z)
        if (now == before).all():
            return w
    return None


def _factor(matrix: Array) -> Array:
    """Return the Cholesky factor of a positive definite matrix, which is overwritten."""
    triangle, failed = dense.cholesky(matrix.T)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return triangle


def _solve(triangle: Array, b: Array) -> Array:
    """Solve ``LL'x = b`` for one right-hand side."""
    return dense.solve_cholesky(triangle, b[:, None])[:, 0] if len(b) else b
