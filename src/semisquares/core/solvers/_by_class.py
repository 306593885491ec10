"""Preconditioners for many classes: a solve with one matrix per class.

With an intercept, decision values sum to one over the classes, and steps sum to 0. In such steps,
nearly all of the curvature of simplex labels is within classes: that of class k is

    G_k = L + Σ b x x' over the unlabeled rows with class k outside S,      b = a (1 + 1/s)

where S is the support of a row's label, s its size, and L the curvature of the labeled rows with
the ridge. `from_grams` sums all G_k, which is cheap if few classes are outside supports.

`from_secants` sums much less: C = Σ_k Σ b x x', and for the weights w_k of each class the product
of w_k with the second part of G_k. That part is nearly the share c_k of C, except in the direction
of w_k: the rows with class k outside S are those with a small x'w_k. So c_k C is corrected in this
direction only, such that the product with w_k is right, as in the method of Broyden, Fletcher,
Goldfarb and Shanno.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.typing import Array
from .. import _dense as dense
from ..objective import Objective
from ..rows import Sweep

WORST_CONDITION = 1e6
"""Inverses are summed over the classes, so they need some digits."""


def from_grams(grams: Array) -> Callable[[Array], Array] | None:
    """Return a solve with one matrix per class; None if one is too badly conditioned.

    None also if sums have overflowed, as they may in single precision.
    """
    norms = np.sqrt(np.einsum("kii->ki", grams))
    if not (norms.all() and np.isfinite(norms).all()):
        return None
    scaled = grams / norms[:, :, None]
    scaled /= norms[:, None, :]
    try:
        inverses = dense.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    largest = np.abs(scaled).sum(axis=1).max() * np.abs(inverses).sum(axis=1).max()
    if not largest < WORST_CONDITION:
        return None
    inverses /= norms[:, :, None]
    inverses /= norms[:, None, :]
    together = dense.inv(inverses.sum(axis=0))

    def solve(r: Array) -> Array:
        apart = np.matmul(inverses, r.T[:, :, None])[:, :, 0]
        excess = together @ apart.sum(axis=0)
        return (apart - inverses @ excess).T

    return solve


def from_secants(objective: Objective, sweep: Sweep) -> Callable[[Array], Array] | None:
    """Return a solve with matrices that are corrected along w_k.

    None if L is nearly singular, or if sums overflow, as they may in single precision.

    All matrices are diagonal in the axes of L and C, but for the correction of rank two.
    """
    rows = objective.rows
    spread, shares, images = rows.outside_sums(sweep.z, sweep.piece)
    if not (np.isfinite(spread).all() and np.isfinite(images).all()):
        return None
    labeled = rows.labeled_gram + np.diag(objective.ridge_gradient(np.ones(rows.n_weights)))
    axes = _common_axes(labeled, spread)
    if axes is None:
        return None
    T, values = axes
    part = np.outer(values, shares / max(shares.sum(), np.finfo(float).tiny))  # c_k C
    diagonal = 1.0 + part
    w, y = T.T @ (labeled @ sweep.w), T.T @ images
    c = part * w
    lengths = np.stack(((w * c).sum(axis=0), (w * y).sum(axis=0)))
    if not np.isfinite(lengths).all():
        return None
    usable = (lengths > 0.0).all(axis=0)
    scale = np.where(usable, 1.0 / np.sqrt(np.where(usable, lengths, 1.0)), 0.0)
    U = np.stack((c * scale[0], y * scale[1]))
    Q = U / diagonal
    core = np.einsum("aik,bik->kab", U, Q) + np.diag((-1.0, 1.0))
    core = np.linalg.inv(core).transpose(1, 2, 0)  # Woodbury: a 2 × 2 matrix for each class

    def apart(r: Array) -> Array:
        found = r / diagonal
        along = (core * (Q * r).sum(axis=1)).sum(axis=1)
        found -= Q[0] * along[0]
        found -= Q[1] * along[1]
        return found

    total = np.diag((1.0 / diagonal).sum(axis=1))
    for a in range(2):
        for b in range(2):
            total -= (Q[a] * core[a, b]) @ Q[b].T
    together = dense.inv(total)

    def solve(r: Array) -> Array:
        r = T.T @ r
        excess = together @ apart(r).sum(axis=1)
        return np.asarray(T @ apart(r - excess[:, None]))

    return solve


def _common_axes(A: Array, B: Array) -> tuple[Array, Array] | None:
    """Return T and values with T'AT = 1 and T'BT = diag(values); None if A is nearly singular."""
    norms = np.sqrt(A.diagonal())
    if not norms.all():
        return None
    try:
        L = dense.cholesky_factor(A / np.outer(norms, norms))
        if not (np.diag(L) ** 2).min() * WORST_CONDITION > 1.0:
            return None
        inverse = dense.inv(L) / norms
        values, vectors = dense.eigh(inverse @ B @ inverse.T)
    except np.linalg.LinAlgError:
        return None
    return inverse.T @ vectors, np.maximum(values, 0.0)
