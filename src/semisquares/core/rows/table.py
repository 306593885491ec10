"""Tables of numbers: blocks of the rows of X, dense or sparse, without copying all of X.

Columns far from the origin are shifted before they are summed; `to_own_columns` and
`to_shifted_columns` convert weights between the columns of X and the shifted ones.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..._utils.typing import Array
from .threads import is_fast_with_small_products

BLOCK_BYTES = 1 << 23
"""About the size of a block: it stays in the cache while several sums are taken over it."""
COPIED_VALUES = 1 << 26
"""A table of more values is not copied to single precision as a whole."""
LEFT_COLUMNS = 64
"""With at least this many columns, BLAS sums over rows faster if X is on the left, unless small
products are fast."""
LEFT_COLUMNS_PER_CLASS = 2
"""With at least this many columns for each class, small products are faster if X is on the left,
although the decision values must then be copied into another order."""
SMALL_PRODUCT, FEWEST_PART_ROWS = 1_000_000, 64
"""Operations of a product that are few enough for BLAS to use X as it is, and the fewest rows of
products in parts: with fewer, products of whole blocks are faster."""
BAND, MOST_BANDED, BANDED_ROWS = 16, 96, 2048
"""Columns of a band of a Gram matrix that is computed by small products; the most columns and the
fewest rows for which this is faster."""
CACHED_SHARE = 10
"""One of this many parts of a block stays in the fastest cache of a core."""


class NumberTable(Protocol):
    """Rows of X as matrices of one `dtype`, shifted so that large offsets cost no digits."""

    n_rows: int
    n_columns: int
    block_rows: int
    n_values: int
    gram_columns: float
    """Above this number of columns, products with X are cheaper than a Gram matrix."""
    shift: Array | None
    squares_sum: float | None
    """Σ x² over all entries; None until a sweep has summed it."""

    def slice(self, start: int, stop: int) -> Any:
        """Return the rows from start to stop."""

    def take(self, index: Array) -> Any:
        """Return the rows at an index."""

    def subset(self, index: Array) -> NumberTable:
        """Return a new table with the rows at an index."""

    def standardised(self, index: Array, centre: Array, scale: Array) -> tuple[Any, Array]:
        """Return (x - centre) / scale in single precision for the rows at an index.

        Also return the centre that was subtracted: a sparse table subtracts none.
        """

    def gram(self, matrix: Any, weight: Array | None) -> Array:
        """Return the weighted Gram matrix of a block (a matrix made by `slice` or `take`)."""

    dtype: Any
    """The type of the numbers in blocks."""

    def times(self, matrix: Any, W: Array, out: Array | None = None) -> Array:
        """Multiply a block by a matrix with several columns, into `out` if it is given."""

    def transpose_times(self, matrix: Any, V: Array) -> Array:
        """Multiply the transpose of a block by a matrix with several columns."""

    def squares(self, matrix: Any) -> Any:
        """Return a block with its entries squared."""

    def sum_of_squares(self, matrix: Any) -> float:
        """Return the sum of the squared entries of a block."""

    def column_squares(self, matrix: Any) -> Array:
        """Return the sum of the squared entries of each column of a block."""

    def row_squares(self, matrix: Any, scale: Array) -> Array:
        """Return the sum of the squared entries of each row, with factors for the columns."""

    def dense(self, matrix: Any) -> Array:
        """Return a (small) block as a dense matrix."""


class DenseTable:
    """A dense X; a block is a view of X if that has its `dtype` and is not shifted.

    A converted `slice` is written to `scratch`, a float64 array, if there is one: it is valid until
    the next one, and only one thread may read the table. Blocks of another `dtype` are for
    solutions from which others start (`in_single`).
    """

    def __init__(
        self,
        X: Array,
        shift: Array | None = None,
        scratch: Array | None = None,
        dtype: Any = np.float64,
    ) -> None:
        self.X = X
        self.shift = shift
        self.dtype = np.dtype(dtype)
        self._scratch = scratch
        self.squares_sum: float | None = None
        self.n_rows, self.n_columns = X.shape
        self.n_values = X.size
        self.gram_columns = np.inf
        self.block_rows = max(32, BLOCK_BYTES // (8 * max(1, self.n_columns)))

    def in_single(self) -> DenseTable:
        """Return the same rows in single precision: a copy, or blocks of X converted each time."""
        single = DenseTable(self.X, self.shift, dtype=np.float32)
        if self.X.size > COPIED_VALUES:
            return single
        with np.errstate(over="ignore"):  # sums over rows will notice
            return DenseTable(single._shifted(self.X), dtype=np.float32)

    def slice(self, start: int, stop: int) -> Array:
        block = self.X[start:stop]
        is_view = self.shift is None and block.dtype == self.dtype
        if is_view or self._scratch is None or block.size > self._scratch.size:
            return self._shifted(block)
        written = self._scratch[: block.size].reshape(
            block.shape, order="F" if self.X.flags.f_contiguous else "C"
        )
        np.copyto(written, block)
        if self.shift is not None:
            written -= self.shift
        return written

    def take(self, index: Array) -> Array:
        return self._shifted(take_rows(self.X, index))

    def subset(self, index: Array) -> DenseTable:
        return DenseTable(take_rows(self.X, index), self.shift, dtype=self.dtype)

    def standardised(self, index: Array, centre: Array, scale: Array) -> tuple[Array, Array]:
        matrix, inverse = np.empty((len(index), self.n_columns), dtype=np.float32), 1.0 / scale
        step = self.block_rows // CACHED_SHARE + 1
        for first in range(0, len(index), step):
            part = slice(first, first + step)
            rows = self.take(index[part])
            if centre.any():
                rows -= centre
            rows *= inverse
            matrix[part] = rows
        return matrix, centre

    def gram(self, matrix: Array, weight: Array | None) -> Array:
        if weight is not None:
            matrix = matrix * np.sqrt(weight).astype(self.dtype, copy=False)[:, None]
        has_bands = BAND < self.n_columns <= MOST_BANDED and len(matrix) >= BANDED_ROWS
        is_plain = matrix.flags.c_contiguous and matrix.dtype == np.float64
        if has_bands and is_plain and is_fast_with_small_products():
            return banded_gram(matrix)
        return matrix.T @ matrix

    # With few columns, BLAS is faster, and sums over classes much faster, if the long axis of the
    # result is contiguous.

    def times(self, matrix: Array, W: Array, out: Array | None = None) -> Array:
        by_class = np.ascontiguousarray(W, dtype=self.dtype).T  # twice as fast as in other orders
        if out is None:
            out = np.empty((len(matrix), len(by_class)), dtype=self.dtype, order="F")
        step, whole = self._parts(matrix, len(by_class))
        if whole and LEFT_COLUMNS_PER_CLASS * len(by_class) <= self.n_columns:
            products = in_parts(matrix[:whole], step) @ by_class.T
            out[:whole] = products.reshape(whole, len(by_class))
        elif whole:
            parts, written = in_parts(matrix[:whole], step), in_parts(out[:whole], step)
            np.matmul(by_class, parts.swapaxes(1, 2), out=written.swapaxes(1, 2))
        if whole < len(matrix):
            np.matmul(by_class, matrix[whole:].T, out=out[whole:].T)
        return out

    def transpose_times(self, matrix: Array, V: Array) -> Array:
        V = V.astype(self.dtype, copy=False)
        step, whole = self._parts(matrix, V.shape[1])
        total = np.zeros((V.shape[1], self.n_columns))
        if whole:
            parts = in_parts(V[:whole], step).swapaxes(1, 2) @ in_parts(matrix[:whole], step)
            total += parts.sum(axis=0, dtype=np.float64)
        if whole < len(matrix):
            V, rest = V[whole:], matrix[whole:]
            is_left = self.n_columns >= LEFT_COLUMNS and not is_fast_with_small_products()
            total += (rest.T @ V).T if is_left else V.T @ rest
        return total.T

    def _parts(self, matrix: Array, n_classes: int) -> tuple[int, int]:
        """Return the rows of a part, and the rows of a block that are multiplied in such parts.

        Products of parts are small enough for BLAS not to rearrange X. All of them are one call of
        NumPy, so that threads do not wait for each other between them.
        """
        step = SMALL_PRODUCT // max(1, self.n_columns * n_classes)
        if step < FEWEST_PART_ROWS or not is_fast_with_small_products():
            return 1, 0
        return step, len(matrix) // step * step

    def squares(self, matrix: Array) -> Array:
        return matrix * matrix

    def sum_of_squares(self, matrix: Array) -> float:
        flat = matrix.ravel(order="K")  # copies neither C nor Fortran order
        return float(flat @ flat)

    def column_squares(self, matrix: Array) -> Array:
        if matrix.flags.f_contiguous:
            return np.asarray(np.vecdot(matrix.T, matrix.T))
        return np.einsum("ij,ij->j", matrix, matrix)

    def row_squares(self, matrix: Array, scale: Array) -> Array:
        if matrix.flags.c_contiguous and (scale == scale[:1]).all():
            return np.vecdot(matrix, matrix) * scale[:1]
        return self.squares(matrix) @ scale

    def dense(self, matrix: Array) -> Array:
        return matrix

    def _shifted(self, block: Array) -> Array:
        if self.shift is not None:
            block = np.subtract(block, self.shift, dtype=np.float64)
        return block.astype(self.dtype, copy=False)


def take_rows(X: Array, index: Array) -> Array:
    """Return rows of a dense X; numpy's `take` is faster, but would copy all of a strided X."""
    return X.take(index, axis=0) if X.flags.c_contiguous else X[index]


def in_parts(rows: Array, step: int) -> Array:
    """Return a view of rows as parts of `step` rows; their number is a multiple of it.

    >>> in_parts(np.arange(8).reshape(4, 2), 2).shape
    (2, 2, 2)
    """
    return rows.reshape(-1, step, rows.shape[1])


def banded_gram(X: Array) -> Array:
    """Return X'X of a block in C order, as small products of a few columns with those after them.

    >>> X = np.arange(8.0).reshape(4, 2)
    >>> banded_gram(X)
    array([[56., 68.],
           [68., 84.]])
    """
    n_rows, d = X.shape
    gram = np.empty((d, d))
    for first in range(0, d, BAND):
        band = slice(first, first + BAND)
        step = SMALL_PRODUCT // (BAND * (d - first))
        whole = n_rows // step * step
        parts = in_parts(X[:whole], step)
        products = parts[:, :, band].swapaxes(1, 2) @ parts[:, :, first:]
        gram[band, first:] = products.sum(axis=0) + X[whole:, band].T @ X[whole:, first:]
        gram[first:, band] = gram[band, first:].T
    return gram


class SparseTable:
    """A sparse X in CSR format; blocks share its index arrays.

    Only columns that store all their entries may be shifted: a shifted zero is not zero.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, X: Any, shift: Array | None = None) -> None:
        self.X = X
        self.shift = shift
        self.squares_sum: float | None = None
        self.n_rows, self.n_columns = X.shape
        self.n_values = X.nnz
        # a larger Gram matrix has more entries than X
        self.gram_columns = max(256.0, self.n_values**0.5)
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

    def standardised(self, index: Array, centre: Array, scale: Array) -> tuple[Any, Array]:
        rows = self.take(index)
        data = (rows.data / scale[rows.indices]).astype(np.float32)
        parts = (data, rows.indices, rows.indptr)
        return sparse.csr_array(parts, shape=rows.shape, copy=False), np.zeros_like(centre)

    def take(self, index: Array) -> Any:
        taken = self.X[index]
        parts = (self._shifted(taken.data, taken.indices), taken.indices, taken.indptr)
        return sparse.csr_array(parts, shape=taken.shape, copy=False)

    def gram(self, matrix: Any, weight: Array | None) -> Array:
        if weight is not None:
            matrix = sparse.diags_array(np.sqrt(weight)) @ matrix
        return (matrix.T @ matrix).toarray()

    def times(self, matrix: Any, W: Array, out: Array | None = None) -> Array:
        if out is None:
            return matrix @ W
        out[:] = matrix @ W
        return out

    def transpose_times(self, matrix: Any, V: Array) -> Array:
        return matrix.T @ V

    def squares(self, matrix: Any) -> Any:
        return matrix.multiply(matrix)

    def sum_of_squares(self, matrix: Any) -> float:
        return float(matrix.data @ matrix.data)

    def column_squares(self, matrix: Any) -> Array:
        return np.bincount(matrix.indices, matrix.data**2, minlength=self.n_columns)

    def row_squares(self, matrix: Any, scale: Array) -> Array:
        return self.squares(matrix) @ scale

    def dense(self, matrix: Any) -> Array:
        return matrix.toarray()

    def _shifted(self, data: Array, indices: Array) -> Array:
        data = data.astype(np.float64, copy=False)
        return data if self.shift is None else data - self.shift[indices]


FAR = 32.0
"""Columns whose mean is further from 0 than this many ranges are shifted."""


def centre(X: Any, sample: Array) -> Array | None:
    """Choose a shift for the columns of X from some of its rows; None if none is needed.

    A column far from the origin loses digits in every sum. A constant column is shifted by its
    exact value, so that with an intercept it vanishes instead of leaving rounding errors. If X is
    sparse, only columns that store all their entries are shifted, so that X stays sparse; a column
    that contains a zero is not far from the origin relative to its range.
    """
    is_sparse = sparse.issparse(X)
    if is_sparse and X.nnz < X.shape[0]:
        return None
    step = max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    total = np.zeros(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # the sums report NaN and infinity
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
    """Return a sparse X that stores every entry once, as shifts and squares require."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def store_zeros(X: Any, columns: Array) -> Any:
    """Store the implicit zeros of some columns of a sparse X, so that they can be shifted."""
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


def to_own_columns(w: Array, shift: Array | None) -> Array:
    """Convert weights of the shifted columns to weights of X's own columns."""
    return _move_intercept(w, shift, -1.0)


def to_shifted_columns(w: Array, shift: Array | None) -> Array:
    """Convert weights of X's own columns to weights of the shifted columns."""
    return _move_intercept(w, shift, 1.0)


def _move_intercept(w: Array, shift: Array | None, sign: float) -> Array:
    if shift is None:
        return w
    out = w.copy()
    out[-1] += sign * (shift @ w[:-1])
    return out
