"""Rows in an array of another library (torch, CuPy, …) that follows the array API standard.

X stays on its device. In a pass over a block, weights or residuals travel to the device; decision
values, a number for each row and class, or a sum of the size of the weights or of a Gram matrix
travel back. Solvers, labelings and certificates see NumPy arrays. All arithmetic is float64.

The namespace of the array is given: nothing here imports another library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array

DEVICE_BLOCK_BYTES = 1 << 23
"""About the size of a block: larger ones leave the cache of a CPU, which may be the device."""


class Host:
    """Where NumPy arrays are: nothing has to travel."""

    def put(self, values: Any) -> Any:
        """Return the values as they are."""
        return values

    def get(self, values: Any) -> Any:
        """Return the values as they are."""
        return values

    def floats(self, values: Any) -> Any:
        """Return the values as they are; NumPy converts them when it multiplies."""
        return values

    def is_same(self, other: Device | Host) -> bool:
        """Return whether another place is this one."""
        return isinstance(other, Host)


HOST = Host()


@dataclass(frozen=True, eq=False)
class Device:
    """An array namespace, and one of its devices."""

    xp: Any
    """The namespace: a module with the functions of the array API."""
    device: Any
    to_numpy: Callable[[Any], Array]
    """Copies an array of this namespace, on any of its devices, to NumPy."""

    def put(self, values: Array) -> Any:
        """Copy a NumPy array to the device; only NumPy has arrays of text, which stay."""
        if values.dtype.kind not in "biuf":
            return values
        # torch takes neither read-only memory nor negative strides
        writable = np.require(values, requirements=("C", "W"))
        return self.xp.asarray(writable, device=self.device)

    def get(self, values: Any) -> Array:
        """Copy an array to NumPy; the result may be written to."""
        return np.require(self.to_numpy(values), requirements="W")

    def floats(self, values: Any) -> Any:
        """Return an array of this device in float64: torch multiplies only equal types."""
        return self.xp.astype(values, self.xp.float64, copy=False)

    def is_same(self, other: Device | Host) -> bool:
        """Return whether another place is this one."""
        if isinstance(other, Host):
            return False
        return self.xp is other.xp and bool(self.device == other.device)


class DeviceMatrix:
    """A matrix on a device. It multiplies NumPy arrays, and the products are NumPy arrays.

    Like a sparse matrix, it has slices, a transpose and `toarray`, and is never converted unasked.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        An array of the namespace `device.xp` on `device.device`.
    device : Device
        Where it is.
    """

    __array_ufunc__ = None  # NumPy must not take it for a scalar

    def __init__(self, values: Any, device: Device) -> None:
        self.values, self.device = values, device

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> DeviceMatrix:
        return self._new(self.values.T)

    def __getitem__(self, key: Any) -> DeviceMatrix:
        """Return the rows at a slice, an index or a mask; two of them choose rows and columns."""
        if isinstance(key, tuple):
            rows, columns = key
            return self[rows].T[columns].T
        if isinstance(key, slice):
            return self._new(self.values[slice(*key.indices(len(self))), :])
        key = np.asarray(key)
        index = np.flatnonzero(key) if key.dtype == bool else key.astype(np.int64)
        return self._new(self.device.xp.take(self.values, self.device.put(index), axis=0))

    def __matmul__(self, other: Array) -> Array:
        there = self.device.put(np.asarray(other, dtype=np.float64))
        return self.device.get(self.device.floats(self.values) @ there)

    def __abs__(self) -> DeviceMatrix:
        return self._new(self.device.xp.abs(self.values))

    def __ne__(self, other: Any) -> Any:
        return self._new(self.device.floats(self.values != other))

    __hash__ = None  # type: ignore[assignment]

    def max(self) -> float:
        """Return the largest entry."""
        return float(self.device.xp.max(self.values))

    def toarray(self) -> Array:
        """Copy the matrix to NumPy."""
        return self.device.get(self.values)

    def ranges(self) -> tuple[Array, Array, Array]:
        """Return the least and largest entry of each column, and whether there are no others."""
        xp, values = self.device.xp, self.device.floats(self.values)
        low, high = xp.min(values, axis=0), xp.max(values, axis=0)
        two_valued = xp.all((values == low) | (values == high), axis=0)
        return self.device.get(low), self.device.get(high), self.device.get(two_valued)

    def row_gram(self, origin: Array) -> Array:
        """Return the products of all pairs of rows, both minus an origin."""
        n_rows, n_columns = self.shape
        there = self.device.put(origin)
        gram: Any = 0.0
        step = max(64, DEVICE_BLOCK_BYTES // (8 * max(1, n_rows)))
        for start in range(0, n_columns, step):
            part = slice(start, min(start + step, n_columns))
            block = self.device.floats(self.values[:, part]) - there[part]
            gram = block @ block.T + gram
        return self.device.get(gram)

    def _new(self, values: Any) -> DeviceMatrix:
        return DeviceMatrix(values, self.device)


def on_host(rows: Any) -> Any:
    """Copy rows on a device to NumPy; return others as they are."""
    return rows.toarray() if isinstance(rows, DeviceMatrix) else rows


class ArrayTable:
    """A dense X on a device; its blocks are float64 matrices on the same device.

    Parameters
    ----------
    X : DeviceMatrix
        The rows, float64 or float32.
    shift : ndarray of shape (n_columns,), optional
        Subtracted from every row.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, X: DeviceMatrix, shift: Array | None = None) -> None:
        self.X = X
        self.shift = shift
        self.squares_sum: float | None = None
        self.n_rows, self.n_columns = X.shape
        self.n_values = self.n_rows * self.n_columns
        self.gram_columns = np.inf
        self.block_rows = max(32, DEVICE_BLOCK_BYTES // (8 * max(1, self.n_columns)))
        self._shift = None if shift is None else X.device.put(shift)

    def slice(self, start: int, stop: int) -> DeviceMatrix:
        return self._shifted(self.X[start:stop])

    def take(self, index: Array) -> DeviceMatrix:
        return self._shifted(self.X[index])

    def subset(self, index: Array) -> ArrayTable:
        return ArrayTable(self.X[index], self.shift)

    def standardised(self, index: Array, centre: Array, scale: Array) -> tuple[DeviceMatrix, Array]:
        rows = self.take(index)
        xp, put = rows.device.xp, rows.device.put
        values = (rows.values - put(centre)) / put(scale)
        return DeviceMatrix(xp.astype(values, xp.float32), rows.device), centre

    def gram(self, matrix: DeviceMatrix, weight: Array | None) -> Array:
        device, values = matrix.device, matrix.values
        if weight is not None:
            values = values * device.put(np.sqrt(weight)[:, None])
        gram = device.get(values.T @ values)
        return 0.5 * (gram + gram.T)  # symmetric to the last bit, as NumPy's is

    # The long axis of the product is contiguous: sums over classes are much faster then.
    def times(self, matrix: DeviceMatrix, W: Array, out: Array | None = None) -> Array:
        device = matrix.device
        product = device.get(device.put(W.T) @ matrix.values.T).T
        if out is None:
            return product
        out[:] = product
        return out

    def transpose_times(self, matrix: DeviceMatrix, V: Array) -> Array:
        return matrix.T @ V

    def squares(self, matrix: DeviceMatrix) -> DeviceMatrix:
        return DeviceMatrix(matrix.values * matrix.values, matrix.device)

    def sum_of_squares(self, matrix: DeviceMatrix) -> float:
        return float(matrix.device.xp.sum(matrix.values * matrix.values))

    def column_squares(self, matrix: DeviceMatrix) -> Array:
        return matrix.device.get(matrix.device.xp.sum(matrix.values * matrix.values, axis=0))

    def row_squares(self, matrix: DeviceMatrix, scale: Array) -> Array:
        return self.squares(matrix) @ scale

    def dense(self, matrix: DeviceMatrix) -> Array:
        return matrix.toarray()

    def _shifted(self, block: DeviceMatrix) -> DeviceMatrix:
        values = block.device.floats(block.values)
        return DeviceMatrix(values if self._shift is None else values - self._shift, block.device)
