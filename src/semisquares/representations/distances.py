"""Squared distances that stay accurate for rows that are close to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["squared_distances"]

Array = NDArray[Any]

CLOSE = 1e-4
"""Below this part of ‖a‖² + ‖b‖² the expansion loses digits, and differences are taken."""
_CHUNK = 1 << 20


def squared_distances(A: Any, B: Any) -> Array:
    """Return ‖a - b‖² for all rows a of A and b of B, each dense or CSR.

    By ``‖a‖² + ‖b‖² - 2a'b``, a matrix product; pairs that are close are computed again from their
    differences, so that copies have distance 0 and the order of rows changes next to nothing.

    Examples
    --------
    >>> squared_distances(np.array([[1e6, 1.0]]), np.array([[1e6, 1.0], [1e6, 3.0]])).tolist()
    [[0.0, 4.0]]
    """
    size = _squares(A)[:, None] + _squares(B)
    product = A @ B.T
    product = np.asarray(product.todense()) if sparse.issparse(product) else product
    found = size - 2.0 * product
    i, j = np.nonzero(found < CLOSE * size)
    step = max(1, _CHUNK // max(1, A.shape[1]))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        found[i[some], j[some]] = _squares(A[i[some]] - B[j[some]])
    return np.maximum(found, 0.0, out=found)


def _squares(rows: Any) -> Array:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)
