"""Tables with more columns than rows, written in an orthonormal basis of their row space.

This changes neither decision values nor the norm of the weights, and Gram matrices have at most as
many columns as there are rows. With an intercept, D holds the rows minus an origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from ..._utils.typing import Array
from .. import _dense as dense
from .array_api import DeviceMatrix, on_host
from .table import BLOCK_BYTES, DenseTable


class Span(Protocol):
    """A basis of the span of the rows, and the origin of the rows."""

    @property
    def origin(self) -> Array:
        """Subtracted from every row."""

    def to_columns(self, v: Array) -> Array:
        """Convert weights in the basis to weights of the columns."""

    def from_columns(self, w: Array) -> Array:
        """Project weights of the columns onto the basis."""


@dataclass(frozen=True, eq=False)
class GramSpan:
    """The basis ``Q = D'L⁻ᵀ`` with LL' = DD', which is never formed; X is not copied."""

    rows: Any
    """The rows of X whose differences from the origin are D: all, or all but the first."""
    origin: Array
    triangle: Array

    def to_columns(self, v: Array) -> Array:
        u = dense.solve_triangular(self.triangle, v, transposed=True)
        columns = dense.product(self.rows.T, u) - np.multiply.outer(self.origin, u.sum(axis=0))
        return np.asarray(columns, dtype=np.float64)

    def from_columns(self, w: Array) -> Array:
        seen = self.rows @ w - self.origin @ w
        return dense.solve_triangular(self.triangle, seen)


@dataclass(frozen=True, eq=False)
class ExplicitSpan:
    """The basis as a matrix."""

    origin: Array
    basis: Array

    def to_columns(self, v: Array) -> Array:
        return self.basis @ v

    def from_columns(self, w: Array) -> Array:
        return self.basis.T @ w


def compress(X: Any, *, intercept: bool, ridge: bool) -> tuple[DenseTable, Span] | None:
    """Write a wide table in a basis of the span of its rows; None if it should stay sparse.

    With a ridge, the basis comes from the Gram matrix of the rows if that has enough digits, else
    from QR (of a copy): the ridge determines weights in directions that are nearly 0. Without a
    ridge, a singular value decomposition separates these from rounding.
    """
    if ridge and X.shape[0] > 2:
        found = _by_gram(X, intercept)
        if found is not None:
            return found
    if sparse.issparse(X):
        return None
    X = on_host(X)
    with np.errstate(over="ignore", invalid="ignore"):
        origin = X.mean(axis=0, dtype=np.float64) if intercept else np.zeros(X.shape[1])
        rows = np.subtract(X, origin, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise FloatingPointError("NaN, infinity or overflow in X")
    if ridge:
        return _by_qr(rows, origin)
    left, size, right = dense.svd(rows)
    rank = int((size > np.finfo(np.float64).eps * max(rows.shape) * size[0]).sum())
    return DenseTable(left[:, :rank] * size[:rank]), ExplicitSpan(origin, right[:rank].T)


def _by_gram(X: Any, intercept: bool) -> tuple[DenseTable, Span] | None:
    """Factor the Gram matrix of the rows, or of their differences from the first one."""
    rows = X[1:] if intercept else X
    origin = np.zeros(X.shape[1])
    if intercept:
        origin = (X[0] if isinstance(X, np.ndarray) else X[[0]].toarray()[0]).astype(np.float64)
    triangle = _triangle_of(_row_gram(rows, origin))
    if triangle is None:
        return None
    first = np.zeros((int(intercept), len(triangle)))
    return DenseTable(np.vstack((first, triangle))), GramSpan(rows, origin, triangle)


def _row_gram(rows: Any, origin: Array) -> Array:
    """Sum DD' over blocks of columns; for a sparse table, multiply its rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(rows):
            rows = rows.astype(np.float64, copy=False)
            gram = dense.product(rows, rows.T).toarray()
            across = rows @ origin
            gram += origin @ origin - across - across[:, None]
        elif isinstance(rows, DeviceMatrix):
            gram = rows.row_gram(origin)
        else:
            gram = np.zeros((len(rows), len(rows)))
            step = max(64, BLOCK_BYTES // (8 * len(rows)))
            for start in range(0, rows.shape[1], step):
                part = slice(start, start + step)
                block = np.subtract(rows[:, part], origin[part], dtype=np.float64)
                gram += dense.product(block, block.T)
    if not np.isfinite(gram.trace()):
        raise FloatingPointError("NaN, infinity or overflow in X")
    return gram


def _triangle_of(gram: Array) -> Array | None:
    """Return L with LL' = gram; None if it would lose digits."""
    norm = np.abs(gram).sum(axis=0).max()
    triangle, failed = dense.cholesky(gram.copy())
    if failed:
        return None
    triangle = np.tril(triangle)
    rcond, _ = lapack.dpocon(triangle, norm, uplo="L")
    return np.asarray(triangle) if rcond >= 1e-10 else None


def _by_qr(rows: Array, origin: Array) -> tuple[DenseTable, Span]:
    """Decompose the rows without dropping a direction, however badly the columns are scaled.

    Large columns come first and rows are pivoted, so that each column keeps its own digits.
    """
    order = np.argsort(-np.abs(rows).max(axis=0), kind="stable")
    Q, R, pivot = dense.pivoted_qr(rows.T[order])
    table = np.empty((len(rows), len(R)))
    table[pivot] = R.T
    basis = np.empty_like(Q)
    basis[order] = Q
    return DenseTable(table), ExplicitSpan(origin, basis)
