"""Ridge classifiers on every representation, scored by leave-one-out in closed form.

For a representation with features z, centred on the labeled rows, and targets y = ±1, a member
minimises ``Σ s (y - b - w'z)² + α‖w‖²``. One eigendecomposition gives it for every α. With H the
weighted hat matrix, including the intercept, and e the residuals of a block of rows that are left
out together,

    y - (I - H_gg)⁻¹ e

is the prediction for the block by the fit without it. The mean of the remaining labels is
subtracted from it: leaving a row out moves this mean away from the row's own label, so with a
strong ridge the prediction would look wrong for every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.typing import Array
from ..core import _dense as dense
from ..core.certificate import duality_gap
from ..core.labelings import soft
from ..core.linalg import EPS
from ..core.objective import Objective
from ..core.rows import DenseTable, MemoryRows
from ..representations._distances import centred_products
from ._odds import RidgeOdds, odds
from .protocol import Features, LabeledRows, Member

__all__ = ["STRENGTHS", "LeastSquares", "RidgePath"]


STRENGTHS = tuple(float(a) for a in 10.0 ** np.linspace(-3.0, 1.5, 7))
"""Ridges, relative to the mean eigenvalue of the labeled rows' Gram matrix."""
USUAL = 1.5
"""Root mean square of log-odds: with it, the slopes of members are near 1 on most tables."""
SAME = 1e-9
"""Predictions that vary by less, relative to the targets, are constant."""


@dataclass(frozen=True)
class LeastSquares:
    """The family of ridge classifiers: one member for each representation and strength."""

    strengths: tuple[float, ...] = STRENGTHS
    name: str = "least_squares"

    def fit(self, rows: LabeledRows) -> FittedLeastSquares:
        """Fit all members to the labeled rows."""
        paths = {
            name: RidgePath.fit(rows.features[name], rows, self.strengths) for name in rows.features
        }
        members = [
            Member(name, f"strength {strength:.3g}", rows.features.prior(name))
            for name in paths
            for strength in self.strengths
        ]
        left_out = np.concatenate([path.left_out for path in paths.values()])
        return FittedLeastSquares(members, left_out, paths, len(self.strengths))


@dataclass(frozen=True, eq=False)
class FittedLeastSquares:
    """Ridge classifiers that were fitted to the labeled rows."""

    members: list[Member]
    left_out: Array
    paths: dict[str, RidgePath]
    n_strengths: int

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of other rows by some members."""
        kept = self.keep(members)
        return np.concatenate([one.log_odds(features, np.arange(len(one.members))) for one in kept])

    def keep(self, members: Array) -> tuple[RidgeOdds, ...]:
        """Return some members, without what they were fitted to: one part per representation."""
        found = []
        for k, (name, path) in enumerate(self.paths.items()):
            mine = members[members // self.n_strengths == k]
            if len(mine):
                some = [self.members[place] for place in mine]
                found.append(path.odds(some, name, mine % self.n_strengths))
        return tuple(found)

    def certificate(self, rows: LabeledRows) -> float:
        """Return the largest relative duality gap of a member, proven from its weights alone."""
        gaps = [path.gaps(rows.features[name], rows) for name, path in self.paths.items()]
        return max(EPS, float(np.max(gaps)))


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge classifiers of many strengths on one representation."""

    alphas: Array
    coef: Array
    """Weights of the features: features × strengths × targets."""
    mean: Array
    """Mean of the labeled rows' features."""
    intercept: Array
    """Weighted mean of the targets."""
    left_out: Array
    size: Array
    """Divisor of the predictions of each strength."""

    @classmethod
    def fit(cls, Z: Any, rows: LabeledRows, strengths: tuple[float, ...]) -> RidgePath:
        """Fit all strengths to the labeled rows, and predict each row without its block."""
        y = targets(rows.codes, rows.n_classes)
        s = rows.weight
        total = s.sum()
        mean, gram, back = _factors(Z, s)
        rooted = np.sqrt(s)[:, None]
        ybar = s @ y / total
        spectrum, vectors = dense.eigh(gram)
        spectrum = np.maximum(spectrum, 0.0)
        Q, to_features = back(spectrum, vectors)
        rank = max(1.0, min(rows.total - 1.0, Z.shape[1]))
        alphas = np.array(strengths) * (float(spectrum.sum()) / rank or 1.0)
        shrink = 1.0 / (spectrum[:, None] + alphas)  # directions × strengths
        moved = Q.T @ (rooted * (y - ybar))
        inner = shrink[:, :, None] * moved[:, None, :]
        coef = np.tensordot(to_features, inner, axes=1)
        fitted = np.tensordot(Q, inner, axes=1) / rooted[:, :, None]  # slopes only, unweighted
        left_out = _left_out(rows, Q, shrink, y, ybar, fitted)
        size, scored = sizes_of(left_out, fitted)
        left_out = np.where(scored[None, :, None], left_out / size[None, :, None], 0.0)
        return cls(alphas, coef, mean, ybar, odds(left_out), size)

    def odds(self, members: list[Member], name: str, strengths: Array) -> RidgeOdds:
        """Return what predicts with some strengths on the representation of this name."""
        coef = self.coef[:, strengths] / self.size[strengths, None]
        return RidgeOdds(members, name, coef, self.mean)

    def gaps(self, Z: Any, rows: LabeledRows) -> Array:
        """Return the relative duality gap of each member.

        In the paper's scale labels are 0 and 1: decision values are z = (f + 1) / 2.
        """
        Z = np.asarray(Z.todense()) if sparse.issparse(Z) else Z
        y = (targets(rows.codes, rows.n_classes) + 1.0) / 2.0
        y = y[:, 0] if rows.n_classes == 2 else y
        everything = MemoryRows(
            DenseTable(Z - self.mean),
            np.arange(rows.n_rows),
            y,
            labeled_weight=rows.weight,
            row_weight=rows.weight,
            intercept=True,
        )
        found = []
        for k, alpha in enumerate(self.alphas):
            w = np.vstack((self.coef[:, k] / 2.0, (self.intercept + 1.0) / 2.0))
            w = w[:, 0] if rows.n_classes == 2 else w
            objective = Objective(everything, soft(rows.n_classes), float(alpha))
            found.append(duality_gap(objective, w).relative)
        return np.array(found)


def targets(codes: Array, n_classes: int) -> Array:
    """Return targets ±1: one column for two classes, else one per class."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def sizes_of(left_out: Array, fitted: Array) -> tuple[Array, Array]:
    """Return the divisor of each member's predictions, and whether they vary out of sample.

    Both arguments are rows × members × targets.
    """
    size = np.sqrt(np.mean(left_out**2, axis=(0, 2)))
    scored = size > SAME
    plain = np.sqrt(np.mean(fitted**2, axis=(0, 2)))
    return np.where(scored, size, np.where(plain > 0.0, plain, 1.0)) / USUAL, scored


def _factors(Z: Any, s: Array) -> tuple[Array, Array, Any]:
    """Return the mean of the features, the smaller Gram matrix of √s (z - mean), and a function.

    From the eigenpairs of that matrix the function computes Q, rows × directions, with
    ``Q diag(1/(λ + α)) Q'`` the slopes' part of the hat matrix, and the matrix that maps directions
    to features.
    """
    rooted = np.sqrt(s)[:, None]
    mean = np.asarray(Z.T @ s).ravel() / s.sum()
    if Z.shape[0] > Z.shape[1] and not sparse.issparse(Z):
        B = rooted * (Z - mean)
        return mean, B.T @ B, lambda spectrum, vectors: (B @ vectors, vectors)

    def from_rows(spectrum: Array, vectors: Array) -> tuple[Array, Array]:
        weighted = rooted * vectors
        to_features = np.asarray(Z.T @ weighted) - np.outer(mean, weighted.sum(axis=0))
        root = np.sqrt(spectrum)
        inverse = np.where(root > 1e-12 * root[-1], 1.0 / np.where(root > 0, root, 1.0), 0.0)
        return vectors * root, to_features * inverse

    return mean, centred_products(Z, mean) * rooted * rooted.T, from_rows


def _left_out(
    rows: LabeledRows, Q: Array, shrink: Array, y: Array, ybar: Array, fitted: Array
) -> Array:
    """Predict each row without its block, minus the mean of the remaining labels.

    The result is rows × strengths × targets.
    """
    s = rows.weight
    total, rooted = s.sum(), np.sqrt(s)
    error = (y - ybar)[:, None, :] - fitted  # rows × strengths × targets
    found = np.empty_like(fitted)
    for block in rows.blocks_by_size():
        root, inside = rooted[block][:, :, None], s[block]
        rest = total - inside.sum(axis=1)
        if (rest <= 0.0).any():  # no row is left to learn from
            found[block] = 0.0
            continue
        corner = root * np.swapaxes(root, 1, 2) / total
        mean = (total * ybar - np.einsum("bi,bik->bk", inside, y[block])) / rest[:, None]
        for a in range(shrink.shape[1]):
            hat = (Q[block] * shrink[:, a]) @ np.swapaxes(Q[block], 1, 2) + corner
            left = np.linalg.solve(np.eye(block.shape[1]) - hat, root * error[block, a]) / root
            found[block, a] = y[block] - left - mean[:, None]
    return found
