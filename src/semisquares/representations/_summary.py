"""One pass over all rows: everything that representations learn without labels.

A `Summary` holds the mean and spread of the columns, their covariance, which columns have at most
two values, and a sample of rows. Summaries of two blocks merge into that of both, so that rows in
memory, in files and on Dask workers are read the same way, once.

The sample holds the rows whose content has the smallest hashes, without copies. It does not depend
on the order of the rows, on how they are cut into blocks, or on rounding in their last bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.typing import Array
from ..core.rows.array_api import DEVICE_BLOCK_BYTES, ArrayTable, DeviceMatrix, on_host

__all__ = ["Summary", "hash_rows", "merge", "stack", "summarize"]

Moments = tuple[float, Array, Array, Array | None, Array, Array, Array]
"""The first fields of a summary, from `weight` to `two_valued`."""

SAMPLE_ROWS = 1200
"""Default size of the sample: enough for a graph of neighbours, and for kernel landmarks."""
COVARIANCE_COLUMNS = 1000
"""With more columns, the covariance is that of the sample (`Summary.scatter` is None)."""
DROPPED = 20
"""Lowest bits of a number that do not affect the order of rows."""
BLOCK_BYTES = 1 << 20
"""Rows are read in blocks of about this size, which fit into a processor's cache."""
LARGEST_HASH = np.uint64(2**64 - 1)
"""A bound that excludes no row."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The result of one pass over rows; rows of weight 0 are left out."""

    weight: float
    """Total weight of the rows."""
    mean: Array
    squares: Array
    """Weighted sum of squared deviations from the mean, by column."""
    scatter: Array | None
    """Weighted sum of (x - mean)(x - mean)'; None for tables with many columns."""
    low: Array
    high: Array
    two_valued: Array
    """Columns in which every value is `low` or `high`."""
    sample: Any
    """Distinct rows with the smallest hashes, ascending; dense float64 or CSR."""
    hashes: Array
    sample_weight: Array
    """Total weight of all copies of each row of the sample."""
    n_sample: int
    """The largest number of rows that the sample may hold."""

    @property
    def bound(self) -> np.uint64:
        """No further row with a larger hash can enter the sample."""
        is_full = 0 < self.n_sample == len(self.hashes)
        return self.hashes[-1] if is_full else LARGEST_HASH


def summarize(
    X: Any, sample_weight: Array | None = None, *, n_sample: int = SAMPLE_ROWS
) -> Summary:
    """Summarize rows in memory or on a device, dense or CSR, block by block.

    Parameters
    ----------
    X : ndarray, CSR matrix or DeviceMatrix of shape (n_rows, n_columns)
        Finite numbers.
    sample_weight : ndarray of shape (n_rows,), optional
        The weight of each row: 2 stands for a repeated row.
    n_sample : int, default=1200
        The largest number of rows in the sample.

    Examples
    --------
    >>> found = summarize(np.array([[0.0, 5.0], [1.0, 7.0], [1.0, 6.0]]))
    >>> found.mean.tolist(), found.two_valued.tolist(), len(found.sample)
    ([0.6666666666666666, 6.0], [True, False], 3)
    """
    blocks = _blocks(X, sample_weight)
    found = summarize_block(*next(blocks), n_sample)
    for block, weight in blocks:
        found = merge(found, summarize_block(block, weight, n_sample, found.bound))
    return found


def merge(first: Summary, second: Summary) -> Summary:
    """Return the summary of the rows of both (Chan, Golub and LeVeque's update of moments)."""
    if not second.weight:
        return first
    if not first.weight:
        return second
    weight = first.weight + second.weight
    share = second.weight / weight
    step = second.mean - first.mean
    between = first.weight * share
    scatter = None
    if first.scatter is not None and second.scatter is not None:
        scatter = first.scatter + second.scatter
        scatter += between * np.outer(step, step)
    low, high = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    two_valued = first.two_valued & second.two_valued
    for one in (first, second):
        two_valued &= (one.low == low) | (one.low == high)
        two_valued &= (one.high == low) | (one.high == high)
    hashes, position = np.unique(np.concatenate((first.hashes, second.hashes)), return_inverse=True)
    weights = np.bincount(position, np.concatenate((first.sample_weight, second.sample_weight)))
    kept = min(first.n_sample, len(hashes))
    source = np.zeros(len(hashes), dtype=np.intp)
    source[position[::-1]] = np.arange(len(position))[::-1]  # the first of several copies
    return Summary(
        weight,
        first.mean + share * step,
        first.squares + second.squares + between * step * step,
        scatter,
        low,
        high,
        two_valued,
        stack((first.sample, second.sample))[source[:kept]],
        hashes[:kept],
        weights[:kept],
        first.n_sample,
    )


def hash_rows(X: Any, seed: int = 0) -> Array:
    """Return a 64-bit hash of the content of each row; equal for dense and sparse rows.

    The high half is a hash of the numbers rounded to nine digits. It determines the order of rows,
    which therefore does not depend on the last bits of numbers: another processor may compute these
    differently. The low half distinguishes rows that differ only in these bits.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0], [1.0 + 2e-16, 0.0]])
    >>> hashes = hash_rows(rows)
    >>> (hashes[0] == hashes).tolist(), (hashes[0] >> 32 == hashes >> 32).tolist()
    ([True, False, True, False], [True, False, True, True])
    """
    return _hashes_up_to(LARGEST_HASH, X, seed)[1]


def _hashes_up_to(bound: np.uint64, X: Any, seed: int = 0) -> tuple[Array, Array]:
    """Return the indices of rows whose hash has at most the high half of `bound`, and their hashes.

    The low half of other hashes is not computed.
    """
    factors = np.random.default_rng([seed, 20160]).integers(2**63, size=X.shape[1], dtype=np.uint64)
    factors = 2 * factors + np.uint64(1)
    # the standard itself has no function that returns the bits of a number
    on_device = isinstance(X, DeviceMatrix) and hasattr(X.values, "view")
    X, sums = (X, _device_sums) if on_device else (on_host(X), _host_sums)
    high = _mixed(sums(X, factors, rounded=True)) >> np.uint64(32)
    index = np.flatnonzero(high <= bound >> np.uint64(32))
    some = X if len(index) == len(high) else X[index]
    low = _mixed(sums(some, factors, rounded=False)) >> np.uint64(32)
    return index, (high[index] << np.uint64(32)) | low


def _host_sums(X: Any, factors: Array, *, rounded: bool) -> Array:
    """Return Σ factor · bits of each row, of its numbers or of these rounded to nine digits."""
    values = X.data if sparse.issparse(X) else X
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64)  # -0.0 + 0.0 is 0.0
    if rounded:  # to 32 of the 52 binary digits
        bits += np.uint64(1 << (DROPPED - 1))
        bits &= np.uint64(2**64 - 2**DROPPED)
    # products modulo 2⁶⁴ would lose the high bits: the low ones are 0 in floats of whole numbers
    bits ^= bits >> np.uint64(40)
    if not sparse.issparse(X):
        return bits @ factors
    bits *= factors[X.indices]
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(bits, dtype=np.uint64)))
    return sums[X.indptr[1:]] - sums[X.indptr[:-1]]


def _device_sums(X: DeviceMatrix, factors: Array, *, rounded: bool) -> Array:
    """Return the same sums of rows on a device, where signed integers overflow to the same bits."""
    device = X.device
    bits = (device.floats(X.values) + 0.0).view(device.xp.int64)
    if rounded:
        bits = (bits + (1 << (DROPPED - 1))) & -(2**DROPPED)
    bits = bits ^ ((bits >> 40) & (2**24 - 1))  # the shift repeats the sign
    sums = device.xp.sum(bits * device.put(factors.view(np.int64)), axis=1)
    return np.asarray(device.get(sums)).view(np.uint64)


def _mixed(keys: Array) -> Array:
    """Turn close sums into distant hashes, by the finalizer of SplitMix64."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _blocks(X: Any, sample_weight: Array | None) -> Iterator[tuple[Any, Array | None]]:
    """Yield the rows block by block, with their weights; a single empty block if there are none."""
    n_rows, n_columns = X.shape
    if sparse.issparse(X):
        row_bytes = 12 * (1 + X.nnz // max(1, n_rows))
    else:
        row_bytes = 8 * n_columns
    block_bytes = DEVICE_BLOCK_BYTES if isinstance(X, DeviceMatrix) else BLOCK_BYTES
    # with many columns, enough rows that adding up the covariances is a small part of the work
    step = max(32, block_bytes // max(1, row_bytes), 4 * min(n_columns, COVARIANCE_COLUMNS))
    for start in range(0, max(1, n_rows), step):
        rows = slice(start, start + step)
        yield X[rows], None if sample_weight is None else sample_weight[rows]


def summarize_block(
    block: Any, weight: Array | None, n_sample: int, bound: np.uint64 = LARGEST_HASH
) -> Summary:
    """Summarize rows that are few enough to copy; rows with a hash above `bound` may be left out
    of the sample."""
    if weight is not None and not weight.all():
        block, weight = block[weight > 0.0], weight[weight > 0.0]
    if not block.shape[0]:
        return _nothing(block, n_sample)
    index, hashes = _hashes_up_to(bound, block)
    hashes, first, counts = _distinct(hashes, None if weight is None else weight[index])
    first, hashes, counts = index[first[:n_sample]], hashes[:n_sample], counts[:n_sample]
    if sparse.issparse(block):
        moments = _sparse_moments(block, weight)
    elif isinstance(block, DeviceMatrix):
        moments = _device_moments(block, weight)
    else:
        moments = _dense_moments(np.asarray(block, dtype=np.float64), weight)
    sample = on_host(block[first])
    sample = sample.astype(np.float64) if sample.dtype != np.float64 else sample
    return Summary(*moments, sample, hashes, counts, n_sample)


def _distinct(hashes: Array, weight: Array | None) -> tuple[Array, Array, Array]:
    """Return the distinct hashes, ascending, a row that has each, and the weight of its copies."""
    if weight is None:
        return np.unique(hashes, return_index=True, return_counts=True)
    values, first, position = np.unique(hashes, return_index=True, return_inverse=True)
    return values, first, np.bincount(position, weight)


def _dense_moments(block: Array, weight: Array | None) -> Moments:
    total = float(len(block)) if weight is None else float(weight.sum())
    mean = block.sum(axis=0) / total if weight is None else weight @ block / total
    centred = block - mean
    weighted = centred if weight is None else centred * weight[:, None]
    if block.shape[1] > COVARIANCE_COLUMNS:
        scatter, squares = None, np.einsum("ij,ij->j", centred, weighted)
    else:
        scatter = centred.T @ weighted
        squares = scatter.diagonal().copy()
    low, high = block.min(axis=0), block.max(axis=0)
    two_valued = np.zeros(len(mean), dtype=bool)
    few = block[:64]
    maybe = np.flatnonzero(((few == low) | (few == high)).all(axis=0))
    part = block[:, maybe]
    two_valued[maybe] = ((part == low[maybe]) | (part == high[maybe])).all(axis=0)
    return total, mean, squares, scatter, low, high, two_valued


def _device_moments(block: DeviceMatrix, weight: Array | None) -> Moments:
    counts = np.ones(len(block)) if weight is None else weight
    total = float(counts.sum())
    mean = block.T @ counts / total
    table = ArrayTable(block, mean)
    centred = table.slice(0, len(block))
    if block.shape[1] > COVARIANCE_COLUMNS:
        scatter, squares = None, table.squares(centred).T @ counts
    else:
        scatter = table.gram(centred, weight)
        squares = scatter.diagonal().copy()
    return total, mean, squares, scatter, *block.ranges()


def _sparse_moments(block: Any, weight: Array | None) -> Moments:
    n_rows, n_columns = block.shape
    weight = np.ones(n_rows) if weight is None else weight
    total = float(weight.sum())
    block = block.astype(np.float64)
    entries = np.bincount(block.indices, minlength=n_columns)
    low, high, two_valued = _sparse_range(block, entries)
    # columns without an implicit zero are shifted: squares of an offset would hide the spread
    shift = np.where(entries == n_rows, low, 0.0)
    block.data -= shift[block.indices]
    mean = (block.T @ weight) / total
    of_entry = np.repeat(weight, np.diff(block.indptr))
    filled = np.bincount(block.indices, of_entry, minlength=n_columns)
    deviation = block.data - mean[block.indices]
    squares = np.bincount(block.indices, of_entry * deviation**2, minlength=n_columns)
    squares += np.maximum(total - filled, 0.0) * mean**2
    scatter = None
    if n_columns <= COVARIANCE_COLUMNS:
        rooted = sparse.diags_array(np.sqrt(weight)) @ block
        scatter = np.asarray((rooted.T @ rooted).todense()) - total * np.outer(mean, mean)
        np.fill_diagonal(scatter, squares)
    return total, mean + shift, squares, scatter, low, high, two_valued


def _sparse_range(block: Any, entries: Array) -> tuple[Array, Array, Array]:
    """Return the smallest and largest value of each column, and whether there are no others."""
    n_rows, n_columns = block.shape
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(low, block.indices, block.data)
    np.maximum.at(high, block.indices, block.data)
    has_zero = entries < n_rows
    low[has_zero] = np.minimum(low[has_zero], 0.0)
    high[has_zero] = np.maximum(high[has_zero], 0.0)
    between = (block.data != low[block.indices]) & (block.data != high[block.indices])
    two_valued = np.bincount(block.indices, between, minlength=n_columns) == 0
    two_valued &= ~(has_zero & (low != 0.0) & (high != 0.0))
    return low, high, two_valued


def _nothing(block: Any, n_sample: int) -> Summary:
    d = block.shape[1]
    zeros = np.zeros(d)
    empty = np.empty(0)
    return Summary(
        0.0, zeros, zeros, None, zeros, zeros, np.ones(d, dtype=bool), on_host(block[:0]),
        empty.astype(np.uint64), empty, n_sample,
    )  # fmt: skip


def stack(parts: Sequence[Any]) -> Any:
    """Stack rows, all dense or all sparse."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
