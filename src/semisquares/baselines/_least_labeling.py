"""The interior point method of the two pessimistic classifiers.

The labels of U unlabeled rows among K classes are a point q of simplex^U. The pessimistic methods,
`implicitly_constrained` and `contrastive_pessimistic`, look for the labeling that minimises a
convex function f of the sums ``q'V`` over the rows, V of shape (U, p). Every row of q sums to one,
so the sums Aq of all classes but the first determine f. Its Hessian in q is ``A'HA`` with a small
H, so a Newton step costs O(U p² K²): linear in the number of rows. `least_labeling`:

1. start in the middle, q = 1/K, with dual variables z > 0 of the constraints q ≥ 0;
2. compute the gradient g of f, and the gap ``Σ_ik q_ik (g_ik - min_l g_il)``: because f is convex,
   no labeling is better by more (Frank and Wolfe); stop if it is small;
3. compute the Newton step towards ``q z = 0``, only to see how much of it can be taken;
4. compute the Newton step towards ``q z = σμ``, corrected to second order (Mehrotra 1992): σ is
   small if much of step 3 can be taken, and 1 if z does not match g yet (f need not be quadratic);
5. take it, up to 0.99 of the way to the boundary.

If the minimiser is not unique, it ends in the middle of the set of minimisers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._utils.typing import Array
from ..core import _dense as dense
from ..core.linalg import EPS

__all__ = ["LeastLabeling", "Local", "labeling_gap", "least_labeling"]


PATIENCE = 10
"""After this many steps without a smaller gap, what is left of it is rounding."""

Local = Callable[[Array], tuple[Array, Array]]
"""From q: the gradient (U, K), and the Hessian H in the sums Aq, (K-1) p square.

If H is the same object as before, it is not factored again.
"""


@dataclass(frozen=True, eq=False)
class LeastLabeling:
    """Labels q of the unlabeled rows, and a bound on f(q) minus the minimum."""

    q: Array
    gap: float
    n_iter: int


def least_labeling(
    f: Local, V: Array, n_classes: int, *, tol: float, max_iter: int
) -> LeastLabeling:
    """Minimise a convex f over labels on the simplex, until the gap is at most `tol`."""
    q = np.full((len(V), n_classes), 1.0 / n_classes)
    if not len(V):
        return LeastLabeling(q, 0.0, 0)
    span = _Span(V)
    g, H = _local(f, q)  # 1
    z = g + (g.max(axis=1).mean() or 1.0)
    best, last = LeastLabeling(q, labeling_gap(q, g), 0), 0
    for n_iter in range(1, max_iter + 1):
        if best.gap <= tol or n_iter - last > PATIENCE:  # 2
            break
        mu = float(np.mean(q * z))
        newton = _Newton(q, z, g, span.V, span.root(H))
        dq, dz = newton.step(0.0)  # 3
        share = min(1.0, newton.longest(dq, dz))
        sigma = float(np.mean((q + share * dq) * (z + share * dz)) / mu) ** 3
        if newton.is_slack():  # 4
            dq, dz = newton.step(max(sigma, 1e-6) * mu - dq * dz)
        else:
            dq, dz = newton.step(mu)
        share = min(1.0, 0.99 * newton.longest(dq, dz))  # 5
        q, z = q + share * dq, z + share * dz
        q /= q.sum(axis=1, keepdims=True)
        g, H = _local(f, q)
        gap = labeling_gap(q, g)
        if gap < best.gap:
            best, last = LeastLabeling(q, gap, n_iter), n_iter
    return best


def labeling_gap(q: Array, gradient: Array) -> float:
    """Return a bound on f(q) minus the minimum: ``max over s of <gradient, q - s>``."""
    return float(np.sum(q * (gradient - gradient.min(axis=1, keepdims=True))))


def _local(f: Local, q: Array) -> tuple[Array, Array]:
    g, H = f(q)
    return g - g.min(axis=1, keepdims=True), H  # a constant per row would only cost digits


class _Span:
    """V and H in a basis of the rows of V, if they are fewer than its columns."""

    def __init__(self, V: Array) -> None:
        self.V, self.basis = V, None
        if V.shape[0] < V.shape[1]:
            self.basis, triangle = dense.qr(V.T)
            self.V = triangle.T
        self._last: tuple[Array, Array] | None = None

    def root(self, H: Array) -> Array:
        """Return R with ``RR' = H``, a lower triangle."""
        if self._last is None or self._last[0] is not H:
            self._last = H, _triangle(self._inside(H), 0.0)
        return self._last[1]

    def _inside(self, H: Array) -> Array:
        if self.basis is None:
            return H
        p, n_rows = self.basis.shape
        n = len(H) // p
        left = self.basis.T @ H.reshape(n, p, n * p)
        return (left.reshape(n, n_rows, n, p) @ self.basis).reshape(n * n_rows, n * n_rows)


class _Newton:
    """Newton steps at one point: ``(A'HA + z/q) dq = target/q - g``, each row of dq summing to 0.

    By Woodbury's identity they are solved in the space of the sums, with ``H = RR'``. With
    ``a = q/z``, the inverse of z/q on rows that sum to zero is
    ``v ↦ a_k Σ_l a_l (v_k - v_l) / Σ_l a_l``, written in differences because a has all orders of
    magnitude.
    """

    def __init__(self, q: Array, z: Array, g: Array, V: Array, R: Array) -> None:
        self.q, self.z, self.g = q, z, g
        self.a = q / z
        self.share = self.a / self.a.sum(axis=1, keepdims=True)
        self.V, self.R = V, R
        K, p = q.shape[1], self.V.shape[1]
        gram = np.zeros((K - 1, p, K - 1, p))  # of all classes but the first
        for k in range(1, K):
            for other in range(k):
                part = np.sqrt(self.a[:, k] * self.share[:, other])[:, None] * self.V
                block = dense.product(part.T, part)
                gram[k - 1, :, k - 1] += block
                if other > 0:
                    gram[k - 1, :, other - 1] = gram[other - 1, :, k - 1] = -block
                    gram[other - 1, :, other - 1] += block
        inner = gram.reshape(len(R), len(R))
        size = self.R.diagonal()
        if np.count_nonzero(self.R) == len(size):  # diagonal, as in least squares
            inner *= np.multiply.outer(size, size)
        else:
            inner = dense.product(dense.product(self.R.T, inner), self.R)
        inner.flat[:: len(R) + 1] += 1.0
        self.triangle = _triangle(inner, 1.0)

    def step(self, target: Array | float) -> tuple[Array, Array]:
        """Return the step of q and of z towards ``q z = target``."""
        b = target / self.q - self.g
        y = self.R.T @ (self._invert(b)[:, 1:].T @ self.V).ravel()
        y = self.R @ dense.solve_cholesky(self.triangle, y[:, None])[:, 0]
        b[:, 1:] -= self.V @ y.reshape(-1, self.V.shape[1]).T
        dq = self._invert(b)
        return dq, (target - self.z * dq) / self.q - self.z

    def _invert(self, v: Array) -> Array:
        parts = (self.share[:, [k]] * (v - v[:, [k]]) for k in range(v.shape[1]))
        return self.a * sum(parts)

    def longest(self, dq: Array, dz: Array) -> float:
        """Return the multiple of a step that reaches the boundary."""
        return 1.0 / max(float((-dq / self.q).max()), float((-dz / self.z).max()), EPS)

    def is_slack(self) -> bool:
        """Tell whether z is g up to a constant per row, relative to q z."""
        off = self.g - self.z
        off -= np.sum(self.q * off, axis=1, keepdims=True)
        return bool(np.sum(self.q * np.abs(off)) <= np.sum(self.q * self.z))


def _triangle(matrix: Array, least: float) -> Array:
    """Return a lower triangle L with ``LL' = matrix``; eigenvalues below `least` are rounding."""
    triangle, failed = dense.cholesky(matrix.copy())
    if not failed:
        return np.tril(triangle)
    values, vectors = dense.eigh(matrix)
    return dense.triangle_of(np.sqrt(np.maximum(values, least))[:, None] * vectors.T).T
