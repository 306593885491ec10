"""Logistic regressions on the scaled columns, scored by an approximate leave-one-out.

A member minimises the weighted log loss plus ``‖w‖² / 2C``. Leaving a block of rows out moves the
weights by about one Newton step, whose effect on the block's own decision values f has a closed
form. With A the block's part of ``X H⁻¹ X'``, H the Hessian, W the block's curvature and r its
weighted residuals p - y,

    f + (I - A W)⁻¹ A r
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse, special
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .._utils.typing import Array
from ..core import _dense as dense
from ..representations._distances import centred_products
from ._odds import LogisticOdds
from .protocol import LabeledRows, Member

__all__ = ["Logistic"]


CS = (0.01, 0.1, 1.0, 10.0)
MOST_PARAMETERS = 1500
"""Members with more parameters than this are scored by folds: the Hessian is too large."""
FOLDS = 5
AT_ONCE = 1 << 22
"""Size of a batch of left-out rows, in numbers."""


@dataclass(frozen=True)
class Logistic:
    """The family of logistic regressions: one member for each strength C."""

    Cs: tuple[float, ...] = CS
    name: str = "logistic"

    def fit(self, rows: LabeledRows) -> FittedLogistic:
        """Fit all members to the labeled rows."""
        basis = _Basis.of(rows.features.columns)
        X = np.column_stack((basis.rows, np.ones(rows.n_rows)))
        log_shares = np.log(rows.shares)
        coef, intercept, left_out = [], [], []
        for C in self.Cs:
            w = _fit(basis.rows, rows.codes, rows.weight, C, rows.n_classes)
            if _n_parameters(X, rows.n_classes) <= MOST_PARAMETERS:
                w, scores = _approximate(X, rows, w, C)
            else:
                scores = _by_folds(X, rows, C)
            coef.append(basis.to_columns(w[:-1]))
            intercept.append(w[-1] - basis.origin @ coef[-1])
            left_out.append(scores - log_shares)
        members = [Member("columns", f"C = {C:g}") for C in self.Cs]
        return FittedLogistic(
            members, np.stack(coef, axis=1), np.stack(intercept), log_shares, np.stack(left_out)
        )


@dataclass(frozen=True, eq=False)
class FittedLogistic(LogisticOdds):
    """Logistic regressions that were fitted to the labeled rows."""

    left_out: Array


@dataclass(frozen=True, eq=False)
class _Basis:
    """Rows in coordinates of their span: a ridge does not use other directions."""

    rows: Array
    origin: Array
    back: Array | None

    @classmethod
    def of(cls, X: Any) -> _Basis:
        n_rows, n_columns = X.shape
        origin = np.asarray(X.mean(axis=0)).ravel()
        if n_columns <= n_rows:
            rows = np.asarray(X.todense()) if sparse.issparse(X) else X
            return cls(rows - origin, origin, None)
        gram = centred_products(X, origin)
        spectrum, vectors = dense.eigh(gram)
        kept = spectrum > 1e-12 * max(spectrum[-1], np.finfo(float).tiny)
        root = np.sqrt(spectrum[kept])
        vectors = vectors[:, kept]
        back = np.asarray(X.T @ vectors) - np.outer(origin, vectors.sum(axis=0))
        return cls(vectors * root, origin, back / root)

    def to_columns(self, w: Array) -> Array:
        """Return weights of the columns."""
        return w if self.back is None else self.back @ w


def _n_parameters(X: Array, n_classes: int) -> int:
    return X.shape[1] * (n_classes if n_classes > 2 else 1)


def _fit(Z: Array, codes: Array, weight: Array, C: float, n_classes: int) -> Array:
    """Return weights and, in the last row, intercepts of every class, whose mean is 0."""
    small = _n_parameters(Z, n_classes) <= MOST_PARAMETERS
    solver = "newton-cholesky" if small else "lbfgs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", linalg.LinAlgWarning)
        model = LogisticRegression(C=C, solver=solver, tol=1e-6, max_iter=500)
        model.fit(Z, codes, sample_weight=weight)
    w = np.vstack((model.coef_.T, model.intercept_))
    if n_classes == 2:
        w = _of_both(w)
    w[-1] -= w[-1].mean()
    return w


def _of_both(second: Array) -> Array:
    """Return the values of two classes, from the second minus the first."""
    return np.concatenate((-0.5 * second, 0.5 * second), axis=-1)


def _approximate(X: Array, rows: LabeledRows, w: Array, C: float) -> tuple[Array, Array]:
    """Return the weights after Newton's last steps, and each row's scores without its block.

    Two classes have one free score, the second minus the first; more classes have one each.
    """
    two = rows.n_classes == 2
    y = np.eye(rows.n_classes)[rows.codes]
    penalty = np.full((X.shape[1], 1), 1.0 / C)
    penalty[-1] = 0.0
    for last in (False, False, True):
        p = special.softmax(X @ w, axis=1)
        residual = (p - y) * rows.weight[:, None]
        curvature = p[:, :, None] * np.eye(rows.n_classes) - p[:, :, None] * p[:, None, :]
        curvature *= rows.weight[:, None, None]
        free = w
        if two:
            residual, curvature, free = residual[:, 1:], curvature[:, 1:, 1:], w[:, 1:] - w[:, :1]
        inverse = _inverse_hessian(X, curvature, 1.0 / C)
        if not last:
            step = np.tensordot(inverse, X.T @ residual + penalty * free, axes=2)
            w = w - (_of_both(step) if two else step)
    moved = np.empty_like(residual)
    for blocks in rows.blocks_by_size():
        at_once = max(1, AT_ONCE // (blocks.shape[1] * curvature.shape[1] ** 2 * X.shape[1]))
        for start in range(0, len(blocks), at_once):
            some = blocks[start : start + at_once]
            moved[some] = _moved(X[some], curvature[some], residual[some], inverse)
    return w, X @ w + (_of_both(moved) if two else moved)


def _inverse_hessian(X: Array, curvature: Array, penalty: float) -> Array:
    """Return the inverse Hessian as columns × targets × columns × targets."""
    n_columns, n_targets = X.shape[1], curvature.shape[1]
    H = np.empty((n_columns, n_targets, n_columns, n_targets))
    for j in range(n_targets):
        for k in range(j, n_targets):
            H[:, j, :, k] = H[:, k, :, j] = X.T @ (X * curvature[:, j, k, None])
    # a constant added to the scores of all classes changes nothing: any curvature will do
    if n_targets > 1:
        H[-1, :, -1, :] += np.trace(H[-1, :, -1, :]) / n_targets
    flat = H.reshape(n_columns * n_targets, -1)
    ridge = np.full((n_columns, n_targets), penalty)
    ridge[-1] = 1e-12 * flat.diagonal().max()  # none for the intercept, but never singular
    flat[np.diag_indices_from(flat)] += ridge.ravel()
    return dense.inv(flat).reshape(H.shape)


def _moved(X: Array, curvature: Array, residual: Array, inverse: Array) -> Array:
    """Return the change of the scores of left-out blocks: blocks × rows × targets."""
    n_blocks, size, n_targets = residual.shape
    half = np.tensordot(X, inverse, axes=(2, 0))  # blocks × rows × targets × columns × targets
    A = np.einsum("bijck,blc->bijlk", half, X, optimize=True)
    A = A.reshape(n_blocks, size * n_targets, size * n_targets)
    W = np.zeros((n_blocks, size, n_targets, size, n_targets))
    each = np.arange(size)
    W[:, each, :, each, :] = np.moveaxis(curvature, 1, 0)
    W = W.reshape(A.shape)
    moved = A @ residual.reshape(n_blocks, -1, 1)
    left = np.linalg.solve(np.eye(A.shape[1]) - A @ W, moved)
    return left.reshape(residual.shape)


def _by_folds(X: Array, rows: LabeledRows, C: float) -> Array:
    """Return the scores of each row by a fit to the other folds; blocks stay together."""
    fold = rows.folds(FOLDS)
    scores = np.tile(np.log(rows.shares), (rows.n_rows, 1))
    for k in range(int(fold.max()) + 1):
        test = fold == k
        present, codes = np.unique(rows.codes[~test], return_inverse=True)
        if len(present) > 1:
            w = _fit(X[~test, :-1], codes, rows.weight[~test], C, len(present))
            scores[np.ix_(test, present)] = X[test] @ w
    return scores
