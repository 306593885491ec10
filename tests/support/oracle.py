"""The true distance of weights from the optimum, computed in extended precision.

It shares no code with the package. The soft objective is minimised by a semismooth Newton method
in long double, which starts at the given weights. The difference of J at both, less a bound of the
rounding of both evaluations, is a **lower bound of the true gap**: a certificate below it is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.generated import Generated

Array = NDArray[Any]

LONG = np.longdouble
EPS = float(np.finfo(LONG).eps)
AVAILABLE = EPS < 1e-18
REASON = "long double has no more digits than double on this platform"


@dataclass(frozen=True, eq=False)
class Soft:
    """The soft objective in long double; weights are (columns, classes), the intercept last."""

    X: Array
    """Columns less their shift; with an intercept, a last column of ones."""
    targets: Array
    """(rows, classes); rows without a label hold NaN."""
    weight: Array
    ridge: Array
    """λ for each column, 0 for the intercept."""

    def value(self, W: Array) -> Any:
        """Return J."""
        distance = self._residual(self.X @ W)
        return (self.weight @ (distance * distance).sum(axis=1)) + self._penalty(W)

    def rounding(self, W: Array) -> Any:
        """Bound the error of `value`: J is the square of a norm, whose error adds up."""
        n, d = self.X.shape
        slack = (4 * d + 16) * EPS * (np.abs(self.X) @ np.abs(W) + 1.0)
        moved = np.sqrt(self.weight @ (slack * slack).sum(axis=1))
        root = np.sqrt(self.value(W))
        relative = 4 * (n + d + 16) * EPS
        return (2.0 * root + moved) * moved + relative * (root + moved) ** 2

    def _penalty(self, W: Array) -> Any:
        return (self.ridge @ (W * W)).sum()

    def _residual(self, Z: Array) -> Array:
        known = ~np.isnan(self.targets[:, 0])
        out = Z - _nearest_label(Z)
        out[known] = Z[known] - self.targets[known]
        return out

    def newton_step(self, W: Array) -> Array:
        """Return the step to the minimiser of the quadratic that equals J around W."""
        d, K = W.shape
        Z = self.X @ W
        labels = _nearest_label(Z)
        blocks, errors = [], []
        for i, row in enumerate(self.X):
            if not np.isnan(self.targets[i, 0]):
                mix, error = np.eye(K, dtype=LONG), Z[i] - self.targets[i]
            elif K == 1:
                outside = bool((Z[i] < 0.0) | (Z[i] > 1.0))
                mix, error = np.eye(1, dtype=LONG)[: int(outside)], (Z[i] - labels[i])[:outside]
            else:
                shared = labels[i] > 0.0
                together = (shared / np.sqrt(LONG(shared.sum())))[None]
                mix = np.vstack((np.eye(K, dtype=LONG)[~shared], together))
                error = mix @ (Z[i] - labels[i])
            root = np.sqrt(self.weight[i])
            blocks.append(root * (mix[:, None, :] * row[None, :, None]).reshape(len(mix), d * K))
            errors.append(root * error)
        ridge = np.sqrt(np.repeat(self.ridge, K))
        blocks.append(np.diag(ridge)[ridge > 0.0])
        errors.append((ridge * W.ravel())[ridge > 0.0])
        return -_least_squares(np.vstack(blocks), np.concatenate(errors)).reshape(d, K)


def _nearest_label(Z: Array) -> Array:
    """Clip one column to [0, 1]; project several on the simplex, by sorting."""
    if Z.shape[1] == 1:
        return np.clip(Z, LONG(0), LONG(1))
    ordered = -np.sort(-Z, axis=1)
    sums = np.cumsum(ordered, axis=1) - LONG(1)
    counts = np.arange(1, Z.shape[1] + 1)
    size = (ordered * counts > sums).sum(axis=1)
    threshold = sums[np.arange(len(Z)), size - 1] / size
    return np.maximum(Z - threshold[:, None], LONG(0))


def _least_squares(A: Array, b: Array) -> Array:
    """Solve min ‖Ax - b‖ by Householder reflections with column pivoting, columns scaled first."""
    scale = np.abs(A).max(axis=0)
    scale = np.where(scale > 0, scale, LONG(1))
    R = A / scale
    norms = np.sqrt((R * R).sum(axis=0))
    norms = np.where(norms > 0, norms, LONG(1))
    R, scale = R / norms, scale * norms
    b = b.copy()
    n, d = R.shape
    order = np.arange(d)
    rank = 0
    for k in range(min(n, d)):
        left = (R[k:, k:] * R[k:, k:]).sum(axis=0)
        j = k + int(left.argmax())
        if left[j - k] <= (64 * EPS) ** 2:
            break
        R[:, [k, j]] = R[:, [j, k]]
        order[[k, j]] = order[[j, k]]
        v = R[k:, k].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        v /= np.sqrt(v @ v)
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
        b[k:] -= 2 * v * (v @ b[k:])
        rank = k + 1
    x = np.zeros(d, dtype=LONG)
    for k in reversed(range(rank)):
        x[order[k]] = (b[k] - R[k, k + 1 : rank] @ x[order[k + 1 : rank]]) / R[k, k]
    return x / scale


@dataclass(frozen=True)
class Opinion:
    """The result of the oracle."""

    value: float
    """J at the given weights."""
    lower: float
    """A lower bound of the true gap, relative to J of the best constant."""
    constant: float
    """J of the best constant decision value."""


def second_opinion(
    problem: Generated, *, coef: Array, intercept: Array, steps: int = 60
) -> Opinion:
    """Bound from below how far J at fitted weights is above its minimum."""
    X, y, alpha, fit_intercept = problem.dense, problem.y, problem.alpha, problem.fit_intercept
    classes = np.unique(y[y >= 0])
    n, d = X.shape
    K = 1 if len(classes) == 2 else len(classes)
    targets = np.full((n, K), np.nan, dtype=LONG)
    known = y >= 0
    codes = np.searchsorted(classes, y[known])
    targets[known] = codes[:, None] if K == 1 else np.eye(K)[codes]
    weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    weight = weight.astype(LONG) * np.where(known, LONG(1), LONG(problem.unlabeled_weight))
    far = np.abs(X.mean(axis=0)) > 8.0 * (X.max(axis=0) - X.min(axis=0))
    shift = np.where(far & fit_intercept, X[0], 0.0)
    columns = X.astype(LONG) - shift.astype(LONG)
    W = coef.T.astype(LONG)
    ridge = np.full(d, LONG(alpha))
    share = np.zeros(K, dtype=LONG)
    if fit_intercept:
        columns = np.column_stack((columns, np.ones(n, dtype=LONG)))
        last = [_exact_intercept(c, b, shift) for c, b in zip(coef, intercept, strict=True)]
        W = np.vstack((W, np.array(last, dtype=LONG)))
        ridge = np.append(ridge, LONG(0))
        share = (weight[known] @ targets[known]) / weight[known].sum()
    J = Soft(columns, targets, weight, ridge)
    flat = np.zeros_like(W)
    flat[-1] = share
    constant = J.value(flat if fit_intercept else np.zeros_like(W))
    end = _minimise(J, W if J.value(W) <= constant else flat, steps)
    gap = J.value(W) - J.value(end) - J.rounding(W) - J.rounding(end)
    return Opinion(float(J.value(W)), float(gap / constant), float(constant))


def _minimise(J: Soft, W: Array, steps: int) -> Array:
    value = J.value(W)
    for _ in range(steps):
        step = J.newton_step(W)
        share = LONG(1)
        for _ in range(30):
            trial = J.value(W + share * step)
            if trial < value:
                break
            share /= 2
        else:
            return W
        W, before, value = W + share * step, value, trial
        if before - value <= 4 * EPS * before:
            return W
    return W


def _exact_intercept(coef: Array, intercept: float, shift: Array) -> Any:
    """Return intercept + ½ + shift'coef, rounded once: the intercept of shifted columns."""
    exact = Fraction(float(intercept)) + Fraction(1, 2)
    for w, s in zip(coef, shift, strict=True):
        exact += Fraction(float(w)) * Fraction(float(s))
    high = float(exact)
    return LONG(high) + LONG(float(exact - Fraction(high)))
