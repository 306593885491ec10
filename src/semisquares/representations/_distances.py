"""Squared distances and products of rows, dense or sparse, by matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._utils.typing import Array

__all__ = ["COPY", "centred_products", "squared_distances"]


CLOSE = 1e-4
"""Below this part of ‖a‖² + ‖b‖² the expansion loses digits, and differences are used."""
COPY = 1e-12
"""Rows whose squared distance is below this part of ‖a‖² + ‖b‖² are copies."""
_CHUNK = 1 << 18


def squared_distances(A: Any, B: Any, *, copies: float | None = None) -> Array:
    """Return ‖a - b‖² for all rows a of A and b of B, each dense or CSR.

    Computed by one matrix product as ``‖a‖² + ‖b‖² - 2a'b``; close pairs are computed again from
    their differences, so that copies have distance 0 and the order of rows hardly matters.

    Parameters
    ----------
    A, B : ndarray or CSR matrix of shape (n_a, n_columns), (n_b, n_columns)
        The rows.
    copies : float, optional
        The distance of rows that are copies of each other, up to rounding; infinity keeps a row
        from being its own neighbour.

    Examples
    --------
    >>> squared_distances(np.array([[1e6, 1.0]]), np.array([[1e6, 1.0], [1e6, 3.0]])).tolist()
    [[0.0, 4.0]]
    """
    a, b = _squares(A), _squares(B)
    if sparse.issparse(A) or sparse.issparse(B):
        product = A @ B.T
        found = np.asarray(product.todense()) if sparse.issparse(product) else product
        found *= -2.0
        found += a[:, None]
        found += b
    else:
        left = np.column_stack((A, a, np.ones(len(A))))
        right = np.column_stack((-2.0 * B, np.ones(len(B)), b))
        found = left @ right.T
    # all close pairs and some others: comparing with one number per row is faster
    i, j = np.nonzero(found < (CLOSE * (a + b.max(initial=0.0)))[:, None])
    close = found[i, j] < CLOSE * (a[i] + b[j])
    i, j = i[close], j[close]
    step = max(1, _CHUNK // max(1, A.shape[1]))
    for start in range(0, len(i), step):
        k, m = i[start : start + step], j[start : start + step]
        exact = _squares(A[k] - B[m])
        if copies is not None:
            exact[exact <= COPY * (a[k] + b[m])] = copies
        found[k, m] = exact
    return found


def centred_products(rows: Any, origin: Array) -> Array:
    """Return (a - origin)'(b - origin) for all rows a and b; sparse rows are not made dense.

    Examples
    --------
    >>> centred_products(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([2.0, 0.0])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if not sparse.issparse(rows):
        centred = rows - origin
        return centred @ centred.T
    cross = rows @ origin
    return np.asarray((rows @ rows.T).todense()) - cross[:, None] - cross + origin @ origin


def _squares(rows: Any) -> Array:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)
