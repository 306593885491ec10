"""Small dense linear algebra: factor once, solve many; least-norm steps for dependent columns.

Weights have the intercept as their **last** entry, unpenalised by construction: it is eliminated as
a border, and X never gets a column of ones. The ridge is ``alpha`` times the identity on the
features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import lapack
from scipy.linalg import svd as scipy_svd

from .._utils.typing import Array
from . import _dense as dense

EPS = float(np.finfo(np.float64).eps)
WORST_CONDITION = 1e10
"""Above this condition number of the scaled Gram matrix, half the digits are lost: QR is used."""
PLAIN = 1e-8
"""One solve is enough to show that the reciprocal condition number is above this."""
MOST_LOST = 1e3
"""An update of a factor may lose this share of the digits: a new factor has more."""
PLAIN_RIDGE = 1e-7
"""A ridge of this share of the trace keeps the digits of a Gram matrix that a solve needs."""
SAFE_PIVOT = 1e-5
"""A smaller pivot that is not rounding leaves the rank unclear."""
RANK_TOLERANCE = 1e-11
"""Singular values below this share of the largest are rounding, with columns of unit norm.

In a rotated table (by PCA, say) columns are dependent only to about 1e-12; a column that is a sum
of others rounded to ten digits still counts as independent.
"""
FULL_RANK = 1e-7
"""With a reciprocal condition number above this, no singular value is rounding."""
UNEVEN = 1e3
"""If column norms differ by a larger factor, null directions need more digits than QR keeps."""


@dataclass(frozen=True)
class Factor:
    """The Cholesky factor of H = Gram + αD, scaled to a unit diagonal, intercept eliminated."""

    triangle: Array
    scale: Array
    border: Array | None
    total: float
    dead: Array
    """Columns that are constant over the rows, to rounding: their weight is 0."""

    @cached_property
    def rcond(self) -> float:
        """Estimated reciprocal condition number of the scaled matrix; as costly as the factor."""
        if not len(self.triangle):
            return 1.0
        other = np.abs(np.triu(self.triangle, 1))  # still the entries of the matrix
        norm = 1.0 + (other.sum(axis=0) + other.sum(axis=1)).max()
        return float(lapack.dpocon(self.triangle, norm, uplo="L")[0])

    def solve(self, b: Array) -> Array:
        """Solve ``H x = b`` for one right-hand side or many."""
        return _eliminate_intercept(b, self.border, self.total, self._solve_features)

    def inverse_forms(self, X: Array) -> Array:
        """Return ``x'H⁻¹x`` for the rows x of X; with an intercept, x ends with a further 1."""
        centred = X if self.border is None else X - self.border / self.total
        half = (centred * self.scale).T
        if len(half):
            half = dense.solve_triangular(self.triangle, half)
        squares = np.einsum("ij,ij->j", half, half)
        return squares if self.border is None else squares + 1.0 / self.total

    def _solve_features(self, b: Array) -> Array:
        if not len(b):
            return b
        x = dense.solve_cholesky(self.triangle, self.scale[:, None] * b)
        return self.scale[:, None] * x


class Inverse(Protocol):
    """The inverse of H, by a factor."""

    def solve(self, b: Array) -> Array:
        """Solve ``H x = b`` for one right-hand side or many."""

    def inverse_forms(self, X: Array) -> Array:
        """Return ``x'H⁻¹x`` for the rows x of X; with an intercept, x ends with a further 1."""


@dataclass(frozen=True)
class RidgeFactor:
    """The inverse of H = Gram + αD by the eigenvectors of the Gram matrix, intercept eliminated."""

    vectors: Array
    values: Array
    """The eigenvalues of H."""
    border: Array | None
    total: float

    @property
    def dead(self) -> Array:
        """With a ridge, no column."""
        return np.zeros(len(self.values), dtype=bool)

    @property
    def rcond(self) -> float:
        """The reciprocal condition number."""
        return float(self.values[0] / self.values[-1])

    def solve(self, b: Array) -> Array:
        """Solve ``H x = b`` for one right-hand side or many."""
        return _eliminate_intercept(b, self.border, self.total, self._solve_features)

    def inverse_forms(self, X: Array) -> Array:
        """Return ``x'H⁻¹x`` for the rows x of X; with an intercept, x ends with a further 1."""
        return forms_of_ridges([self], X)[:, 0]

    def _solve_features(self, b: Array) -> Array:
        return self.vectors @ ((self.vectors.T @ b) / self.values[:, None])


def ridge_factors(gram: Array, alphas: Array, intercept: bool) -> list[RidgeFactor] | None:
    """Return the inverses for several ridges; None if one is too small for the digits."""
    d = len(gram) - intercept
    border, total = (gram[:d, d], float(gram[d, d])) if intercept else (None, 1.0)
    spread = float(gram.diagonal()[:d].sum())
    if not d or total <= 0.0 or not alphas.min() > PLAIN_RIDGE * spread:
        return None
    inner = gram if border is None else gram[:d, :d] - np.outer(border, border / total)
    values, vectors = dense.eigh(inner)
    values = np.maximum(values, 0.0)
    return [RidgeFactor(vectors, values + alpha, border, total) for alpha in alphas]


def forms_of_ridges(factors: Sequence[RidgeFactor], X: Array) -> Array:
    """Return ``x'H⁻¹x`` for the rows x of X and each of the factors from `ridge_factors`.

    They have the same eigenvectors, so a single product with X serves all.
    """
    border, total = factors[0].border, factors[0].total
    centred = X if border is None else X - border / total
    squares = dense.product(centred, factors[0].vectors)
    np.square(squares, out=squares)
    forms = squares @ np.column_stack([1.0 / factor.values for factor in factors])
    return forms if border is None else forms + 1.0 / total


@dataclass(frozen=True)
class UpdatedFactor:
    """The inverse of H + USU' by a factor of H (Woodbury); S is diagonal, 1 and -1."""

    base: Factor | RidgeFactor
    columns: Array
    """U, of shape (p, k)."""
    solved: Array
    """H⁻¹U."""
    inner: Array
    """(S + U'H⁻¹U)⁻¹."""

    def solve(self, b: Array) -> Array:
        """Solve ``(H + USU') x = b`` for one right-hand side or many."""
        x = self.base.solve(b.reshape(len(b), -1))
        return (x - self.solved @ (self.inner @ (self.columns.T @ x))).reshape(b.shape)

    def inverse_forms(self, X: Array) -> Array:
        """Return ``x'(H + USU')⁻¹x`` for the rows x of X, as `Factor.inverse_forms`."""
        return self.base.inverse_forms(X) - self.fall_of_forms(X)

    def fall_of_forms(self, X: Array) -> Array:
        """Return by how much these forms are below those of H."""
        d = X.shape[1]
        moved = X @ self.solved[:d] + self.solved[d:].sum(axis=0)
        return np.einsum("ij,ij->i", moved @ self.inner, moved)


def updated_factor(
    base: Factor | RidgeFactor, columns: Array, signs: Array
) -> UpdatedFactor | None:
    """Add or subtract (signs) the squares of columns; None if digits would be lost."""
    if base.dead.any():
        return None
    solved = base.solve(columns)
    inner = columns.T @ solved
    inner.flat[:: len(signs) + 1] += signs
    try:
        inverse = dense.inv(inner)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(inverse).max(initial=0.0) <= MOST_LOST:
        return None
    return UpdatedFactor(base, columns, solved, inverse)


def factor(gram: Array, alpha: float, intercept: bool) -> Factor | None:
    """Factor ``gram + αD``; None if it is singular or too ill-conditioned for a Gram matrix."""
    scaled = _scaled(gram, alpha, intercept)
    if scaled is None:
        return None
    triangle = scaled.matrix
    if len(triangle):
        triangle, failed = dense.cholesky(triangle.T)
        if failed:
            return None
    found = Factor(triangle, scaled.scale, scaled.border, scaled.total, scaled.dead)
    least = max(1.0 / WORST_CONDITION, 8.0 * len(triangle) * scaled.noise)
    if least <= PLAIN and _is_far_from_singular(triangle):
        return found
    return found if found.rcond >= least else None


def _is_far_from_singular(triangle: Array) -> bool:
    """Return whether one solve shows that the matrix is well conditioned, without an estimate.

    The solution for a random right-hand side reveals the smallest eigenvalue up to a factor of
    about 1/√d; to hide a condition number of 1e12, the factor would have to be below 1e-4.
    """
    d = len(triangle)
    if not d:
        return True
    x, _ = lapack.dpotrs(triangle, _probe(d), lower=1)
    return bool((PLAIN * d) ** 2 * np.vdot(x, x) < 1.0)


@cache
def _probe(d: int) -> Array:
    b = np.random.default_rng(d).standard_normal((d, 1))
    return b / np.linalg.norm(b)


def _eliminate_intercept(
    b: Array, border: Array | None, total: float, solve_features: Callable[[Array], Array]
) -> Array:
    """Solve a bordered system by a solve for the features; without a border, by that alone."""
    columns = b.reshape(len(b), -1)
    if border is None:
        return solve_features(columns).reshape(b.shape)
    if b.ndim == 1:  # one right-hand side is the usual case, and has less overhead
        x = np.empty(len(b))
        features = solve_features((b[:-1] - (b[-1] / total) * border)[:, None])[:, 0]
        x[:-1], x[-1] = features, (b[-1] - border @ features) / total
        return x
    top, last = columns[:-1], columns[-1]
    x = np.empty(columns.shape)
    x[:-1] = features = solve_features(top - np.multiply.outer(border, last / total))
    x[-1] = (last - border @ features) / total
    return x.reshape(b.shape)


@dataclass(frozen=True)
class _Scaled:
    """A Gram matrix scaled to a unit diagonal, the intercept eliminated."""

    matrix: Array
    border: Array | None
    total: float
    scale: Array
    dead: Array
    noise: float
    """The rounding of its entries: eliminating the intercept cancels digits of far columns."""


def _scaled(gram: Array, alpha: float, intercept: bool) -> _Scaled | None:
    """Eliminate the intercept and scale to a unit diagonal; None if that is not possible."""
    if intercept:
        border, total = gram[:-1, -1].copy(), float(gram[-1, -1])
        if total <= 0.0:
            return None
        inner = np.dot((border / total)[:, None], border[None])  # twice as fast as np.outer
        np.subtract(gram[:-1, :-1], inner, out=inner)
    else:
        border, total = None, 1.0
        inner = gram
    d = len(inner)
    raw = gram.diagonal()[:d]
    diagonal = inner.diagonal() + alpha
    # once the intercept is eliminated, only rounding is left of a constant column
    dead = diagonal <= 64.0 * EPS * raw
    if dead.any() and (raw[dead] > 0.0).any() and not intercept:
        return None
    scale = 1.0 / np.sqrt(np.where(dead, np.inf, diagonal))
    matrix = np.multiply(inner, scale, out=inner if intercept else None)
    matrix *= scale[:, None]
    matrix.flat[:: d + 1] = 1.0
    noise = EPS * float((scale * scale * raw).max(initial=0.0))
    return _Scaled(matrix, border, total, scale, dead, noise)


@dataclass(frozen=True)
class RowSpace:
    """A singular Gram matrix H = BB', ready for solutions of least norm."""

    basis: Array
    """B with independent columns, which span the row space of the features."""
    triangle: Array
    """The Cholesky factor of B'B."""
    border: Array | None
    total: float

    def step(self, w: Array, gradient: Array) -> Array:
        """Return the step p with ``H p = -gradient`` and feature weights w + p of least norm."""
        weights = w.reshape(len(w), -1)[: len(self.basis)]

        def solve_features(b: Array) -> Array:
            inside = self._solve(self.basis.T @ weights + self._solve(self.basis.T @ b))
            return self.basis @ inside - weights

        return _eliminate_intercept(-gradient, self.border, self.total, solve_features)

    def _solve(self, b: Array) -> Array:
        return dense.solve_cholesky(self.triangle, b)


def row_space(gram: Array, intercept: bool) -> RowSpace | None:
    """Find the row space of a Gram matrix by pivoting; None if the rank is not clear.

    It is clear if every pivot is at least `SAFE_PIVOT` or rounding. Columns must have similar
    sizes, because the norm is least in the user's units.
    """
    scaled = _scaled(gram, 0.0, intercept)
    if scaled is None or scaled.dead.all():
        return None
    live = np.flatnonzero(~scaled.dead)
    matrix = scaled.matrix[np.ix_(live, live)]
    packed, order, rank = dense.pivoted_cholesky(matrix, tol=1e-13)
    if packed.diagonal()[:rank].min() ** 2 < SAFE_PIVOT:
        return None
    basis = np.zeros((len(scaled.matrix), rank))
    pivoted = live[order]
    basis[pivoted] = np.tril(packed)[:, :rank] / scaled.scale[pivoted, None]
    product = dense.product(basis.T, basis)
    triangle, failed = dense.cholesky(product.copy())
    if failed or lapack.dpocon(triangle, np.linalg.norm(product, 1), uplo="L")[0] < 1e-7:
        return None
    return RowSpace(basis, triangle, scaled.border, scaled.total)


@dataclass(frozen=True)
class LeastNorm:
    """The least squares solution of least norm, and the directions that it leaves free."""

    step: Array
    null: Array
    """Orthonormal columns: directions of the feature weights that change no residual."""


def least_norm_step(
    triangle: Array,
    alpha: float,
    intercept: bool,
    w: Array,
    sharpen: Callable[[Array], Array] | None = None,
) -> LeastNorm:
    """Solve ``min ‖A(w + p) - t‖² + α‖features of w + p‖²`` for the step p, of least norm w + p.

    `triangle` is the R factor of the columns (1, x₁ … x_d, t - Aw), without the first if there is
    no intercept: QR of the rows themselves keeps the digits that their Gram matrix loses. Columns
    are scaled to find the rank; the norm is least in the caller's units. In these units, small
    columns may depend on the last digits of null directions: `sharpen` takes null directions and
    returns more accurate ones, computed with the rows themselves.
    """
    first = int(intercept)
    weights = w.reshape(len(w), -1)[: len(w) - first]
    d = len(weights)
    matrix = triangle[first:, first : first + d]
    target = triangle[first:, first + d :]
    if alpha > 0.0:
        ridge = np.sqrt(alpha)
        matrix = np.vstack((matrix, ridge * np.eye(d)))
        target = np.vstack((target, -ridge * weights))
    norms = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    if intercept:  # only rounding is left of a constant column
        norms[norms <= 8.0 * EPS * np.abs(triangle[0, 1 : d + 1])] = 0.0
    live = norms > 0.0
    scale = np.zeros(d)
    scale[live] = 1.0 / norms[live]
    left, values, right = _svd(matrix * scale)
    tolerance = RANK_TOLERANCE * (values[0] if len(values) else 0.0)
    rank = int((values > tolerance).sum())
    inverse = right[:rank].T / values[:rank]
    step = scale[:, None] * dense.product(inverse, dense.product(left[:, :rank].T, target))
    free = right[rank:].T if len(right) == d else _complement(right[:rank], live)
    null = dense.qr(free * np.where(live, scale, 1.0)[:, None])[0] if free.size else free
    uneven = live.any() and norms[live].max() > UNEVEN * norms[live].min()
    if sharpen is not None and null.shape[1] and uneven:
        null = dense.qr(sharpen(null))[0]
    step = step - null @ (null.T @ (weights + step))
    if intercept:
        last = (triangle[0, first + d :] - triangle[0, 1 : d + 1] @ step) / triangle[0, 0]
        step = np.vstack((step, last))
    return LeastNorm(step.reshape(w.shape), null)


def column_span(matrix: Array, tol: float) -> Array:
    """Return an orthonormal basis of the columns; singular values up to tol of the largest are 0.

    The columns should have norms of 1 or 0. An SVD is only needed if their rank is in doubt.
    """
    orthogonal, triangle = dense.qr(matrix)
    if has_full_rank(triangle):
        return orthogonal
    left, values, _ = dense.svd(triangle)
    return dense.product(orthogonal, left[:, values > tol * values.max(initial=0.0)])


def has_full_rank(triangle: Array) -> bool:
    """Return whether an R factor has full rank beyond doubt, without an SVD.

    R is a Cholesky factor of R'R, whose condition number is that of R squared.
    """
    n, d = triangle.shape
    sizes = np.abs(triangle)
    size = sizes.max(initial=0.0)
    if n != d or not 0.0 < size < np.inf:
        return False
    sizes /= size
    largest = sizes.sum(axis=0).max() * sizes.sum(axis=1).max()  # at least the norm of R'R
    return float(lapack.dpocon(triangle / size, largest, uplo="U")[0]) > FULL_RANK**2


def _svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return a thin SVD; by the slower algorithm if the fast one fails, as on graded matrices."""
    try:
        return dense.svd(matrix)
    except np.linalg.LinAlgError:
        return scipy_svd(matrix, full_matrices=False, lapack_driver="gesvd")


def _complement(rows: Array, live: Array) -> Array:
    """Return an orthonormal basis of the complement of `rows`; dead columns are unit vectors."""
    d = rows.shape[1]
    if rows.shape[0] == d:
        return np.zeros((d, 0))
    dead = np.eye(d)[:, ~live]
    taken = np.vstack((rows, dead.T))
    basis = dense.svd(taken, full_matrices=True)[2][taken.shape[0] :].T
    return np.hstack((dead, basis))


def dependent_columns(triangle: Array, intercept: bool) -> tuple[int, ...]:
    """Return the columns that are combinations of columns before them, to rounding.

    `triangle` is the R factor of the columns (1, x₁ … x_d), without the first if there is no
    intercept. Constant columns beside an intercept are not counted: they are harmless.
    """
    first = int(intercept)
    matrix = triangle[first:, first:]
    norms = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    whole = np.sqrt(np.einsum("ij,ij->j", triangle[:, first:], triangle[:, first:]))
    kept: list[int] = []
    dependent: list[int] = []
    basis = np.zeros((len(matrix), 0))
    tolerance = 2.0 * RANK_TOLERANCE * np.sqrt(max(matrix.shape[1], 1))
    for j in np.flatnonzero(norms > tolerance * whole):
        column = matrix[:, j] / norms[j]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            column = column - basis @ (basis.T @ column)
        left = float(np.linalg.norm(column))
        if left <= tolerance * max(1.0, whole[j] / norms[j]):
            dependent.append(int(j))
        else:
            kept.append(int(j))
            basis = np.column_stack((basis, column / left))
    return tuple(dependent)


def conjugate_gradient(
    product: Callable[[Array], Array],
    b: Array,
    *,
    precondition: Callable[[Array], Array],
    done: Callable[[Array], bool],
    max_iter: int,
) -> tuple[Array, int, bool]:
    """Solve ``H x = b`` from 0 until `done` accepts the residual.

    Returns x, the number of products, and whether the residual was accepted.

    Every iterate lowers the quadratic ``x'Hx - 2 b'x``, so an early stop is still a descent.
    """
    x = np.zeros(b.shape)
    residual = b.copy()
    preconditioned = precondition(residual)
    direction = preconditioned
    rho = float(np.vdot(residual, preconditioned))
    for iteration in range(max_iter):
        if done(residual):
            return x, iteration, True
        image = product(direction)
        curvature = float(np.vdot(direction, image))
        if rho <= 0.0 or curvature <= 0.0:  # a flat direction, to rounding
            return x, iteration + 1, False
        x = x + (rho / curvature) * direction
        residual = residual - (rho / curvature) * image
        preconditioned = precondition(residual)
        previous, rho = rho, float(np.vdot(residual, preconditioned))
        direction = preconditioned + (rho / previous) * direction
    return x, max_iter, done(residual)
