"""Ridge classifiers that impute hard labels, scored by folds.

With scaled columns x, targets y = ±1, weights s of labeled rows and u of unlabeled ones, a member
looks for labels t of the unlabeled rows and weights w that minimise

    Σ s (y - b - w'x)² + Σ u (t - b - w'x)² + α‖w‖²,      t = ±1

by the paper's block descent: impute labels, refit, repeat. This objective has many local minima.
So the descent begins with soft labels, ``t = clip(z / (1 - τ), -1, 1)`` at decision values z, whose
objective is convex at τ = 0. Then τ is raised in steps, and the last labels are hard.

Imputed labels depend on the given ones, so leave-one-out with imputed labels held fixed would be
too optimistic: members are refitted without each of five folds, all folds at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.typing import Array
from ._odds import HardLabelOdds, odds
from .least_squares import sizes_of, targets
from .protocol import LabeledRows, Member

__all__ = ["HardLabelRidges"]


POWERS = (0, 2)
STRENGTHS = (0.001, 0.03, 1.0)
MOST_DIRECTIONS = 80
"""Directions of largest spread that members use."""
MOST_ROWS = 600
"""The largest number of unlabeled rows that members use."""
MASS = 10.0
"""Total weight of the unlabeled rows, at most, relative to that of all labels."""
FOLDS = 5
DIAL = (*(float(tau) for tau in np.linspace(0.0, 0.5, 20)), *20 * (1.0,))
"""τ at each step; the last steps end as soon as no label changes."""
UNDECIDED = 1e-9
"""Decision values this close to the boundary get no label: rounding would choose it."""


@dataclass(frozen=True)
class HardLabelRidges:
    """The family of ridges with hard labels: a member for each power of Σ and each strength.

    Without unlabeled rows its members are ridge classifiers.
    """

    strengths: tuple[float, ...] = STRENGTHS
    powers: tuple[int, ...] = POWERS
    dial: tuple[float, ...] = DIAL
    mass: float = MASS
    name: str = "hard_labels"
    prior: float = 0.5
    """Its prior weight: half that of a family that does not depend on unlabeled rows."""
    needs_unlabeled: bool = True

    def fit(self, rows: LabeledRows) -> FittedHardLabelRidges:
        """Fit all members to labeled and unlabeled rows."""
        found = [self._fit_power(rows, power) for power in self.powers]
        members = [
            Member(f"linear, p = {power}", f"strength {strength:.3g}")
            for power in self.powers
            for strength in self.strengths
        ]
        left_out, coef, intercept = (list(parts) for parts in zip(*found, strict=True))
        return FittedHardLabelRidges(
            members,
            np.concatenate(coef, axis=1),
            np.concatenate(intercept),
            np.concatenate(left_out),
        )

    def _fit_power(self, rows: LabeledRows, power: int) -> tuple[Array, Array, Array]:
        """Return log-odds without each fold, weights of the columns, and intercepts."""
        scaling = rows.features.scaling
        components = scaling.components(power, MOST_DIRECTIONS)
        X = _with_constant(scaling.project(rows.features.X, components))
        y, s = targets(rows.codes, rows.n_classes), rows.weight
        mean = s @ X / s.sum()
        rank = max(1.0, min(rows.total - 1.0, components.shape[1]))
        alphas = np.array(self.strengths) * (float(s @ ((X - mean) ** 2).sum(axis=1)) / rank or 1.0)
        fold = rows.folds(FOLDS)
        sums = _sums_without(X, y, s, fold)
        if rows.unlabeled is None:
            W = _descend(*sums, alphas, np.zeros((0, X.shape[1])), np.zeros(0), ())
        else:
            some = rows.unlabeled.first(MOST_ROWS)
            free = _with_constant(scaling.project(some.features.X, components))
            mass = min(self.mass * rows.total, some.total)
            W = _descend(*sums, alphas, free, some.weight * (mass / some.weight.sum()), self.dial)
        weight = sums[0][:, -1, -1]  # total weight of the labels in each fit
        ybar = sums[1][:, -1] / weight[:, None]
        fitted = np.einsum("id,adt->iat", X, W[0]) - ybar[0]
        left_out = np.empty_like(fitted)
        for k in range(len(W) - 1):
            mine = fold == k
            left_out[mine] = np.einsum("id,adt->iat", X[mine], W[1 + k]) - ybar[1 + k]
        if len(W) == 2:  # one block holds all rows: no row is left to learn from
            left_out[:] = 0.0
        size, scored = sizes_of(left_out, fitted)
        left_out = np.where(scored[None, :, None], left_out / size[None, :, None], 0.0)
        W = np.moveaxis(W[0] / size[:, None, None], 0, 1)  # directions × strengths × targets
        coef = np.tensordot(components, W[:-1], axes=1)
        constant = W[-1] - ybar[0] / size[:, None]
        return odds(left_out), coef, constant - np.tensordot(scaling.mean, coef, axes=1)


@dataclass(frozen=True, eq=False)
class FittedHardLabelRidges(HardLabelOdds):
    """Ridge classifiers that were fitted to labeled rows and to imputed labels."""

    left_out: Array


def _with_constant(X: Array) -> Array:
    return np.column_stack((X, np.ones(len(X))))


def _sums_without(X: Array, y: Array, s: Array, fold: Array) -> tuple[Array, Array]:
    """Return X'SX and X'Sy of all rows, then of the rows outside of each fold.

    If one fold holds all rows, its sums are those of all rows.
    """
    n_folds = int(fold.max()) + 1
    parts = [(X[fold == k], y[fold == k], s[fold == k, None]) for k in range(n_folds)]
    of_fold = np.stack([rows.T @ np.hstack((w * rows, w * t)) for rows, t, w in parts])
    outside = [of_fold.sum(axis=0)]
    for k in range(n_folds):
        outside.append(np.delete(of_fold, k, axis=0).sum(axis=0) if n_folds > 1 else outside[0])
    sums = np.stack(outside)
    return sums[:, :, : X.shape[1]], sums[:, :, X.shape[1] :]


def _descend(
    gram: Array, moment: Array, alphas: Array, free: Array, u: Array, dial: tuple[float, ...]
) -> Array:
    """Return weights of each fit and strength: fits × strengths × directions × targets."""
    n_fits, size, n_targets = moment.shape
    ridge = np.append(np.ones(size - 1), 0.0)  # none for the intercept
    A = gram[:, None] + alphas[:, None, None] * np.diag(ridge)
    b = moment[:, None]
    W = np.linalg.solve(A, np.broadcast_to(b, (n_fits, len(alphas), size, n_targets)))
    if not len(u):
        return W
    weighted = (free * u[:, None]).T
    inverse = np.linalg.inv(A + weighted @ free)
    before = None
    for tau in dial:
        z = free @ np.moveaxis(W, 2, 0).reshape(size, -1)
        t = _impute(z.reshape(len(u), n_fits, len(alphas), n_targets), tau)
        if before is not None and np.array_equal(t, before):
            break
        before = t if tau == 1.0 else None
        pull = (weighted @ t.reshape(len(u), -1)).reshape(size, n_fits, len(alphas), n_targets)
        W = inverse @ (b + np.moveaxis(pull, 0, 2))
    return W


def _impute(z: Array, tau: float) -> Array:
    """Return the labels for decision values z, whose last axis is the targets."""
    if tau < 1.0:
        return np.clip(z / (1.0 - tau), -1.0, 1.0)
    if z.shape[-1] == 1:
        return np.where(abs(z) > UNDECIDED, np.sign(z), 0.0)
    largest = z >= z.max(axis=-1, keepdims=True) - UNDECIDED
    return 2.0 * largest / largest.sum(axis=-1, keepdims=True) - 1.0
