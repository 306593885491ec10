"""The design matrix (X, 1): products with it and sums over its rows, without labels.

Weights w end with the intercept, if there is one, and belong to the shifted columns of the table.
All sums are float64, except Gram matrices of a table in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from .reduce import check_finite, longest_chain, sum_blocks
from .table import DenseTable, NumberTable

CACHED_ROWS = 1024
FEWEST_ROWS, CACHED_BYTES = 256, 1 << 22
"""A block has as many rows as a cache holds of their decision values, but not fewer."""
READ_OFTEN = 4
"""Blocks that are read several times have one of this many parts of the usual rows."""


class Design:
    """The rows x of a table, followed by a 1 if there is an intercept."""

    def __init__(self, table: NumberTable, intercept: bool) -> None:
        self.table = table
        self.intercept = intercept
        self.n_rows = table.n_rows
        self.n_features = table.n_columns
        self.n_weights = self.n_features + intercept

    @property
    def longest_sum(self) -> int:
        """The largest number of consecutive additions in a sum over all rows."""
        return longest_chain(self.n_rows, self.table.block_rows)

    def sum(self, work: Callable[[int, int], Any], n_items: int, n_classes: int = 1) -> Any:
        """Return Σ work(start, stop) over blocks of `n_items` rows.

        With several classes, the values of all classes of a block fit a cache.
        """
        n_values = self.table.n_values * (n_items / max(1, self.n_rows))
        block_rows = self.table.block_rows
        if n_classes > 1 and isinstance(self.table, DenseTable):
            per_row = n_classes * self.table.dtype.itemsize
            block_rows = min(block_rows, max(FEWEST_ROWS, CACHED_BYTES // per_row))
        return sum_blocks(work, n_items, block_rows=block_rows, n_values=n_values)

    def sum_at(self, index: Array, work: Callable[[Any, slice], Any]) -> Any:
        """Return Σ work(rows, part) over blocks of some rows; `part` is their slice of `index`."""

        def taken(start: int, stop: int) -> Any:
            return work(self.table.take(index[start:stop]), slice(start, stop))

        return self.sum_often(taken, len(index))

    def sum_often(self, work: Callable[[int, int], Any], n_items: int) -> Any:
        """Return Σ work(start, stop) over blocks that stay in a fast cache.

        For blocks that are copied, or read several times: these blocks are smaller than those of
        `sum`, so that there are more calls.
        """
        n_values = self.table.n_values * (n_items / max(1, self.n_rows))
        step = max(32, self.table.block_rows // READ_OFTEN)
        return sum_blocks(work, n_items, block_rows=step, n_values=n_values)

    def decide(self, block: Any, w: Array, out: Array | None = None) -> Array:
        """Return the decision values x'w of a block; `out` may take them if w is a matrix."""
        d = self.n_features
        if w.ndim == 1:
            z = block @ w[:d]
        elif w.ndim == 2:
            z = self.table.times(block, w[:d], out)
        else:
            z = self.table.times(block, w[:d].reshape(d, -1)).reshape(-1, *w.shape[1:])
        if self.intercept:
            z += w[d].astype(self.table.dtype)
        return z

    def combine(self, block: Any, r: Array, *more: float) -> Array:
        """Return Σ x r over a block, flattened, and more numbers after it."""
        if r.ndim > 2:
            r = r.reshape(len(r), -1)
        features = block.T @ r if r.ndim == 1 else self.table.transpose_times(block, r).ravel()
        if not (self.intercept or more):
            return features
        n_classes = r.shape[1] if r.ndim == 2 else 1
        sums = np.empty(self.n_weights * n_classes + len(more))
        sums[: features.size] = features
        if self.intercept:
            # BLAS adds columns several times as fast as NumPy
            sums[features.size : self.n_weights * n_classes] = np.ones(len(r), r.dtype) @ r
        if more:
            sums[-len(more) :] = more
        return sums

    def decisions(self, w: Array) -> Array:
        """Return the decision values x'w of all rows."""
        z = np.empty((self.n_rows, *w.shape[1:]), order="F")

        def work(start: int, stop: int) -> int:
            z[start:stop] = self.decide(self.table.slice(start, stop), w)
            return 0

        self.sum(work, self.n_rows)
        return z

    def decisions_at(self, index: Array, w: Array) -> Array:
        """Return the decision values x'w of some rows."""
        z = np.empty((len(index), *w.shape[1:]), order="F")

        def work(block: Any, part: slice) -> int:
            z[part] = self.decide(block, w)
            return 0

        self.sum_at(index, work)
        return z

    def moment(self, r: Array) -> Array:
        """Return Σ x r over all rows."""

        def work(start: int, stop: int) -> Array:
            return self.combine(self.table.slice(start, stop), r[start:stop])

        return self.sum(work, self.n_rows).reshape(self.n_weights, *r.shape[1:])

    def gram(self, index: Array, weight: Array | None) -> Array:
        """Return Σ weight x x' over some rows; None stands for weights of 1."""
        if not len(index):
            return np.zeros((self.n_weights, self.n_weights))

        def of_block(block: Any, part: slice) -> Array:
            return self.block_gram(block, None if weight is None else weight[part])

        if len(index) < self.n_rows:
            return self.sum_at(index, of_block)
        return self.sum(lambda a, b: of_block(self.table.slice(a, b), slice(a, b)), self.n_rows)

    def block_gram(self, block: Any, weight: Array | None) -> Array:
        """Return Σ weight x x' over a block; None stands for weights of 1."""
        d = self.n_features
        features = self.table.gram(block, weight)
        if not self.intercept:
            return features
        gram = np.empty((self.n_weights, self.n_weights), dtype=features.dtype)
        gram[:d, :d] = features
        dtype = self.table.dtype
        ones = (
            np.ones(block.shape[0], dtype) if weight is None else weight.astype(dtype, copy=False)
        )
        gram[d, :d] = gram[:d, d] = block.T @ ones
        gram[d, d] = ones.sum()
        return gram

    def diagonal(self, weight: Array | None) -> Array:
        """Return the diagonal of Σ weight x x' over all rows; None stands for weights of 1."""

        def work(start: int, stop: int) -> Array:
            block, total = self.table.slice(start, stop), float(stop - start)
            if weight is None:
                features = self.table.column_squares(block)
            else:
                part = weight[start:stop]
                features, total = self.table.squares(block).T @ part, part.sum()
            return np.append(features, total) if self.intercept else features

        return self.sum(work, self.n_rows)

    def n_nonzero(self, mask: Array) -> Array:
        """Count the entries of each column of X that are not 0, over the rows of a mask."""
        ones = mask.astype(np.float64)

        def work(start: int, stop: int) -> Array:
            return (self.table.slice(start, stop) != 0.0).T @ ones[start:stop]

        return self.sum(work, self.n_rows)

    def distances(self, block: Any, centre: Array, scale: Array) -> Array:
        """Return Σ scale (x - centre)² over the features of the rows of a block."""
        terms = self.table.row_squares(block, scale)
        if not centre.any():
            return terms
        constant = float(centre @ (scale * centre))
        # the terms cancel: their rounding must not make a distance too small
        terms += 1e-12 * (terms + constant) + constant
        terms -= block @ (2.0 * scale * centre)
        return np.maximum(terms, 0.0)

    def spread(self, index: Array, weight: Array) -> Array:
        """Return Σ weight (x - mean)² over some rows for each column of X.

        The mean is 0 without an intercept.
        """
        d = self.n_features

        def work(block: Any, part: slice) -> Array:
            return np.append(block.T @ weight[part], self.table.squares(block).T @ weight[part])

        sums = self.sum_at(index, work)
        check_finite(sums)
        centred = sums[d:] - sums[:d] ** 2 / float(weight.sum()) if self.intercept else sums[d:]
        return np.asarray(centred)

    def triangle(self, index: Array, root: Array, rhs: Array | None) -> Array:
        """Return the R factor of the columns (1, x, rhs) over some rows, each times its root."""
        n_columns = self.n_weights + (0 if rhs is None else rhs.shape[1])
        R = np.zeros((0, n_columns))
        step = max(self.table.block_rows, 2 * n_columns)
        for start in range(0, len(index), step):
            part = slice(start, start + step)
            block = self.table.dense(self.table.take(index[part]))
            columns = [np.ones((len(block), 1))] * self.intercept + [block]
            if rhs is not None:
                columns.append(rhs[index[part]])
            stacked = np.hstack(columns) * root[part, None]
            R = dense.triangle_of(np.vstack((R, stacked)))
        missing = n_columns - len(R)
        return np.vstack((R, np.zeros((missing, n_columns)))) if missing > 0 else R

    def simplex_triangle(self, support: Array, missing: Array, root: Array) -> Array:
        """Return the R factor of the equations that simplex labels impose on a step.

        A row whose label has a support S of s classes gives 1 + K - s equations: its decision
        values sum to one over S, and each of the others is 0; a labeled row (S empty) gives K.
        `missing` is what the decision values lack. The columns are the intercepts of all classes
        (if any), the features of the first class, of the second, …, and the right-hand side.
        """
        n_classes = support.shape[1]
        R = np.zeros((0, n_classes * self.n_weights + 1))
        step = max(256, self.table.block_rows // n_classes**2)
        for start in range(0, self.n_rows, step):
            part = slice(start, min(start + step, self.n_rows))
            block = self.table.dense(self.table.slice(part.start, part.stop))
            shared = np.flatnonzero(support[part].any(axis=1))
            mix = support[part][shared]
            mix = mix / np.sqrt(mix.sum(axis=1, keepdims=True))
            right = mix.max(axis=1) + (mix * missing[part][shared]).sum(axis=1)
            equations = [(shared, mix, right)]
            for k in range(n_classes):
                alone = np.flatnonzero(~support[part][:, k])
                only = np.eye(n_classes)[[k]].repeat(len(alone), 0)
                equations.append((alone, only, missing[part][alone, k]))
            for rows, mix, right in equations:
                columns = mix[:, :, None] * block[rows, None, :]
                columns = columns.reshape(len(rows), n_classes * self.n_features)
                stacked = np.hstack((mix[:, : n_classes * self.intercept], columns, right[:, None]))
                R = dense.triangle_of(np.vstack((R, stacked * root[part][rows, None])))
        return R
