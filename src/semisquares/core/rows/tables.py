"""Tables: float64 blocks of the rows of X, whatever X is, without ever copying all of it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

BLOCK_BYTES = 1 << 23
"""A block is read once for the decision values, the gradient and the curvature."""


class Table(Protocol):
    """Rows of X as float64 matrices, shifted so that large offsets cost no digits."""

    n_rows: int
    n_columns: int
    block_rows: int
    n_values: int
    gram_columns: float
    """Up to so many columns a Gram matrix is worth forming where products would do as well."""
    shift: Array | None
    squares_sum: float | None
    """Σ x² over all rows and columns, once a sweep has summed it."""

    def slice(self, start: int, stop: int) -> Any:
        """Return the rows from start to stop."""

    def take(self, index: Array) -> Any:
        """Return the rows of an index."""

    def subset(self, index: Array) -> Table:
        """Return a table of its own with the rows of an index."""

    def gram(self, matrix: Any, weight: Array | None) -> Array:
        """Return the weighted Gram matrix of a matrix made by `slice` or `take`."""

    def times(self, matrix: Any, W: Array) -> Array:
        """Multiply such a matrix with several columns."""

    def transpose_times(self, matrix: Any, V: Array) -> Array:
        """Multiply the transpose of such a matrix with several columns."""

    def squares(self, matrix: Any) -> Any:
        """Return such a matrix with its entries squared."""

    def sum_of_squares(self, matrix: Any) -> float:
        """Return the sum of its squared entries."""

    def dense(self, matrix: Any) -> Array:
        """Return such a (small) matrix as a dense one."""


class DenseTable:
    """A dense X; each block is a view of it where it is float64 and well centred."""

    def __init__(self, X: Array, shift: Array | None = None) -> None:
        self.X = X
        self.shift = shift
        self.squares_sum: float | None = None
        self.n_rows, self.n_columns = X.shape
        self.n_values = X.size
        self.gram_columns = np.inf
        self.block_rows = max(32, BLOCK_BYTES // (8 * max(1, self.n_columns)))

    def slice(self, start: int, stop: int) -> Array:
        return self._shifted(self.X[start:stop])

    def take(self, index: Array) -> Array:
        return self._shifted(self.X[index])

    def subset(self, index: Array) -> DenseTable:
        return DenseTable(self.X[index], self.shift)

    def gram(self, matrix: Array, weight: Array | None) -> Array:
        if weight is not None:
            matrix = matrix * np.sqrt(weight)[:, None]
        return matrix.T @ matrix

    # With few columns BLAS is faster, and sums over classes much faster, where the long side of
    # the result is the contiguous one.

    def times(self, matrix: Array, W: Array) -> Array:
        return (W.T @ matrix.T).T

    def transpose_times(self, matrix: Array, V: Array) -> Array:
        return (V.T @ matrix).T

    def squares(self, matrix: Array) -> Array:
        return matrix * matrix

    def sum_of_squares(self, matrix: Array) -> float:
        flat = matrix.ravel(order="K")  # no copy of whole rows, or of whole columns
        return float(flat @ flat)

    def dense(self, matrix: Array) -> Array:
        return matrix

    def _shifted(self, block: Array) -> Array:
        if self.shift is not None:
            return np.subtract(block, self.shift, dtype=np.float64)
        return block.astype(np.float64, copy=False)


class SparseTable:
    """A sparse X in CSR format; blocks share its index arrays.

    Columns may be shifted that have no entry left out: their zeros would not be zero any more.
    """

    def __init__(self, X: Any, shift: Array | None = None) -> None:
        self.X = X
        self.shift = shift
        self.squares_sum: float | None = None
        self.n_rows, self.n_columns = X.shape
        self.n_values = X.nnz
        self.gram_columns = max(256.0, self.n_values**0.5)  # denser as a Gram matrix than as itself
        per_row = 12 * max(1, X.nnz // max(1, self.n_rows))
        self.block_rows = max(256, BLOCK_BYTES // per_row)

    def slice(self, start: int, stop: int) -> Any:
        plain = self.shift is None and self.X.dtype == np.float64
        if start == 0 and stop == self.n_rows and plain:
            return self.X
        first, last = self.X.indptr[start], self.X.indptr[stop]
        indices = self.X.indices[first:last]
        parts = (
            self._shifted(self.X.data[first:last], indices),
            indices,
            self.X.indptr[start : stop + 1] - first,
        )
        return sparse.csr_array(parts, shape=(stop - start, self.n_columns), copy=False)

    def subset(self, index: Array) -> SparseTable:
        return SparseTable(self.X[index], self.shift)

    def take(self, index: Array) -> Any:
        taken = self.X[index]
        parts = (self._shifted(taken.data, taken.indices), taken.indices, taken.indptr)
        return sparse.csr_array(parts, shape=taken.shape, copy=False)

    def gram(self, matrix: Any, weight: Array | None) -> Array:
        if weight is not None:
            matrix = sparse.diags_array(np.sqrt(weight)) @ matrix
        return (matrix.T @ matrix).toarray()

    def times(self, matrix: Any, W: Array) -> Array:
        return matrix @ W

    def transpose_times(self, matrix: Any, V: Array) -> Array:
        return matrix.T @ V

    def squares(self, matrix: Any) -> Any:
        return matrix.multiply(matrix)

    def sum_of_squares(self, matrix: Any) -> float:
        return float(matrix.data @ matrix.data)

    def dense(self, matrix: Any) -> Array:
        return matrix.toarray()

    def _shifted(self, data: Array, indices: Array) -> Array:
        data = data.astype(np.float64, copy=False)
        return data if self.shift is None else data - self.shift[indices]


FAR = 32.0
"""Columns with a mean further from 0 than this many spreads are shifted before they are summed."""


def centre(X: Any, sample: Array) -> Array | None:
    """Choose a shift for the columns of X from some of its rows; None where none is needed.

    A column far from the origin loses digits in every sum. A constant column is shifted by its
    exact value, so that beside an intercept it vanishes instead of leaving rounding behind. Of a
    sparse X only columns without a zero left out are shifted, so that it stays as sparse as it is;
    a column that holds a zero is not far from the origin, for its spread.
    """
    is_sparse = sparse.issparse(X)
    if is_sparse and X.nnz < X.shape[0]:
        return None
    step = max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    total = np.zeros(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity are told by the sums
        for start in range(0, len(sample), step):
            rows = X[sample[start : start + step]]
            rows = (rows.toarray() if is_sparse else rows).astype(np.float64)
            np.minimum(low, rows.min(axis=0), out=low)
            np.maximum(high, rows.max(axis=0), out=high)
            total += rows.sum(axis=0)
        mean = total / len(sample)
        far = np.abs(mean) > FAR * (high - low)
    if not far.any():
        return None
    shift = np.where(low == high, low, mean)
    if not is_sparse:
        return shift
    stored = np.bincount(X.indices, minlength=X.shape[1])
    shift[~far | (stored < X.shape[0])] = 0.0
    return shift if shift.any() else None


def sum_duplicates(X: Any) -> Any:
    """Return a sparse X that stores every entry once: shifts and squares are taken one by one."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def store_zeros(X: Any, columns: Array) -> Any:
    """Store the zeros that some columns of a sparse X leave out, so that they can be shifted."""
    stored = np.bincount(X.indices, minlength=X.shape[1])
    short = np.flatnonzero(columns & (stored < X.shape[0]))
    if not len(short):
        return X
    there = X.tocoo()
    left_out = np.ones((X.shape[0], len(short)), dtype=bool)
    ours = np.isin(there.col, short)
    left_out[there.row[ours], np.searchsorted(short, there.col[ours])] = False
    row, column = np.nonzero(left_out)
    data = np.append(there.data, np.zeros(len(row), dtype=X.dtype))
    place = (np.append(there.row, row), np.append(there.col, short[column]))
    return sparse.csr_array((data, place), shape=X.shape)
