"""Dense linear algebra that Ctrl-C can interrupt, however large the matrices are.

Each function calls the function of numpy or LAPACK with the same name and estimates the number of
operations. Calls that hold Python's global lock, such as all of `scipy.linalg.lapack`, would block
Ctrl-C: large ones are split into parts, or replaced by numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.linalg import blas, lapack

from .._utils.typing import Array
from . import _interrupts as interrupts
from ._interrupts import interruptible, parts_needed

__all__ = [
    "cholesky",
    "cholesky_factor",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "pivoted_cholesky",
    "pivoted_qr",
    "product",
    "qr",
    "solve",
    "solve_cholesky",
    "solve_triangular",
    "svd",
    "triangle_of",
]


TRSV_ROWS = 64
"""For one column, LAPACK takes twice as long as BLAS to solve with this many rows or more."""
PANEL = 128
"""Columns of a pivoted Cholesky factor that are found before the others are updated."""


def product(A: Any, B: Any) -> Any:
    """Return ``A @ B``."""
    entries = 10.0 * A.nnz if sparse.issparse(A) else float(np.prod(A.shape))
    columns = B.shape[1] if B.ndim > 1 else 1
    return interruptible(lambda: A @ B, 2.0 * entries * columns)


def qr(matrix: Array) -> tuple[Array, Array]:
    """Return the factors of a reduced QR decomposition."""
    Q, R = interruptible(lambda: np.linalg.qr(matrix), 4.0 * _cubic(matrix))
    return Q, R


def triangle_of(matrix: Array) -> Array:
    """Return the R factor of a QR decomposition."""
    return interruptible(lambda: np.asarray(np.linalg.qr(matrix, mode="r")), 2.0 * _cubic(matrix))


def pivoted_qr(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the factors of an economic QR decomposition with pivoting, and the pivots."""
    return interruptible(
        lambda: scipy.linalg.qr(matrix, mode="economic", pivoting=True), 4.0 * _cubic(matrix)
    )


def svd(matrix: Array, *, full_matrices: bool = False) -> tuple[Array, Array, Array]:
    """Return left vectors, singular values and right vectors."""
    return interruptible(
        lambda: np.linalg.svd(matrix, full_matrices=full_matrices), 20.0 * _cubic(matrix)
    )


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
    values, vectors = interruptible(lambda: np.linalg.eigh(matrix), 10.0 * _cubic(matrix))
    return values, vectors


def eigvalsh(matrix: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    return interruptible(lambda: np.linalg.eigvalsh(matrix), 2.0 * _cubic(matrix))


def inv(matrix: Array) -> Array:
    """Return the inverse of a matrix, or of each matrix of a stack."""
    n_matrices = float(np.prod(matrix.shape[:-2]))
    return interruptible(lambda: np.linalg.inv(matrix), 3.0 * n_matrices * _cubic(matrix))


def solve(matrix: Array, b: Array) -> Array:
    """Solve ``matrix x = b``."""
    return interruptible(lambda: np.linalg.solve(matrix, b), _cubic(matrix) + 2.0 * b.size)


def lstsq(matrix: Array, b: Array) -> Array:
    """Return the least squares solution of least norm."""
    return interruptible(lambda: np.linalg.lstsq(matrix, b)[0], 20.0 * _cubic(matrix))


def cholesky_factor(matrix: Array) -> Array:
    """Return the lower Cholesky factor; LinAlgError if the matrix is not positive definite."""
    return interruptible(lambda: np.linalg.cholesky(matrix), _cubic(matrix) / 3.0)


def cholesky(matrix: Array) -> tuple[Array, bool]:
    """Factor a symmetric matrix, which may be overwritten; return it, and whether that failed.

    The factor is below the diagonal; the entries above it are kept.
    """
    if _cubic(matrix) / 3.0 <= interrupts.LONG:
        potrf = lapack.spotrf if matrix.dtype == np.float32 else lapack.dpotrf
        triangle, info = potrf(matrix, lower=1, clean=0, overwrite_a=1)
        return triangle, info != 0
    try:
        lower = cholesky_factor(matrix)
    except np.linalg.LinAlgError:
        return matrix, True
    return np.asfortranarray(lower + np.triu(matrix, 1)), False


def solve_cholesky(triangle: Array, b: Array) -> Array:
    """Solve ``LL' x = b`` for the columns of b, with L from `cholesky`."""
    single = triangle.dtype == np.float32
    if b.size == len(triangle) >= TRSV_ROWS:
        trsv = blas.strsv if single else blas.dtrsv
        x = trsv(triangle, b.reshape(-1), lower=1)
        return np.asarray(trsv(triangle, x, lower=1, trans=1, overwrite_x=1)).reshape(b.shape)
    potrs = lapack.spotrs if single else lapack.dpotrs
    return _by_columns(
        lambda part: np.asarray(potrs(triangle, part, lower=1)[0]),
        b,
        2.0 * len(triangle) * b.size,
    )


def solve_triangular(triangle: Array, b: Array, *, transposed: bool = False) -> Array:
    """Solve ``L x = b``, or ``L' x = b``, with a lower triangular L."""
    is_upper = not triangle.flags.f_contiguous  # then its transpose is, and needs no copy
    matrix = triangle.T if is_upper else triangle

    def work(part: Array) -> Array:
        # SciPy's solve_triangular takes ten times as long for few columns
        x, info = lapack.dtrtrs(matrix, part, lower=not is_upper, trans=is_upper != transposed)
        if info:
            raise np.linalg.LinAlgError("singular triangle")
        return np.asarray(x)

    return _by_columns(work, b, 1.0 * len(triangle) * b.size)


def pivoted_cholesky(matrix: Array, tol: float) -> tuple[Array, Array, int]:
    """Factor a positive semidefinite matrix: ``A[order][:, order] = LL'`` up to a rank.

    The pivot is the largest remaining entry of the diagonal; if it is `tol` or less, only rounding
    remains, and the rank is found. Returns L (below the diagonal), order and rank.
    """
    n = len(matrix)
    if _cubic(matrix) / 3.0 <= interrupts.LONG:
        packed, order, rank, _ = lapack.dpstrf(matrix, lower=1, tol=tol)
        return packed, order - 1, int(rank)
    L = np.array(matrix, order="F")
    order = np.arange(n)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        left = L.diagonal().copy()  # the remaining diagonal
        for j in range(start, stop):
            if j > start:
                left[j:] -= L[j:, j - 1] ** 2
            pivot = j + int(left[j:].argmax())
            if not left[pivot] > tol:
                return L, order, j
            _swap(L, left, order, j, pivot)
            L[j, j] = np.sqrt(left[j])
            L[j + 1 :, j] -= L[j + 1 :, start:j] @ L[j, start:j]
            L[j + 1 :, j] /= L[j, j]
        panel = L[stop:, start:stop]
        L[stop:, stop:] -= product(panel, panel.T)
    return L, order, n


def _swap(L: Array, left: Array, order: Array, j: int, pivot: int) -> None:
    """Swap two rows and columns of the factor and of the remaining matrix."""
    if j == pivot:
        return
    L[[j, pivot], :j] = L[[pivot, j], :j]
    L[[j, pivot], [j, pivot]] = L[[pivot, j], [pivot, j]]
    between = slice(j + 1, pivot)
    L[between, j], L[pivot, between] = L[pivot, between].copy(), L[between, j].copy()
    L[pivot + 1 :, [j, pivot]] = L[pivot + 1 :, [pivot, j]]
    left[[j, pivot]] = left[[pivot, j]]
    order[[j, pivot]] = order[[pivot, j]]


def _by_columns(work: Callable[[Array], Array], b: Array, operations: float) -> Array:
    """Call `work` on groups of columns of b, small enough that no call is long."""
    n_parts = parts_needed(operations)
    if n_parts == 1 or b.ndim == 1:
        return work(b)
    parts = np.array_split(b, min(n_parts, b.shape[1]), axis=1)
    return np.hstack([work(part) for part in parts])


def _cubic(matrix: Array) -> float:
    """Return m n min(m, n): decompositions take a multiple of this number of operations."""
    m, n = matrix.shape[-2:]
    return float(m) * n * min(m, n)
