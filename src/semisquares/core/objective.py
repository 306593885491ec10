"""The objective (§III–IV): rows + a labeling + a ridge.

    J(w) = Σ labeled a (x'w - y)² + Σ unlabeled a (z - impute(z))² + λ w'Dw,      z = x'w

a is the weight of a row, λ is called `alpha`, D leaves the intercept out. The labels are minimised
out: J is J_l of the paper with soft labels and J_r with hard ones (both are written out literally
in `paper`). Values are on the paper's scale: sums, without a factor ½.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from .._utils.typing import Array
from .labelings import ConvexLabeling, Labeling
from .linalg import Factor, RidgeFactor, factor, ridge_factors
from .rows import MemoryRows, NumberTable, RowSums, Sweep

MAX_DIRECT = 4096
"""Gram matrices are formed for at most this many columns."""
NEEDS_MEMORY = (
    "The labeled rows do not determine all weights: alpha=0 with few labels, or columns that are "
    "nearly copies or far from the origin; rows in blocks have no solution of least norm: pass "
    "alpha > 0 or a larger one, standardise the columns, or pass the rows in memory."
)


@dataclass(frozen=True, eq=False)
class Objective:
    """J as a function of the weights (last entry: the intercept, if there is one)."""

    rows: RowSums
    labeling: Labeling
    alpha: float

    @property
    def memory_rows(self) -> MemoryRows:
        """The rows, accessible one by one; ValueError if they are held elsewhere."""
        rows = self.rows.in_memory
        if rows is None:
            raise ValueError(NEEDS_MEMORY)
        return rows

    @property
    def convex_labeling(self) -> ConvexLabeling:
        """The labeling, which the caller knows to be convex."""
        return cast(ConvexLabeling, self.labeling)

    @property
    def direct(self) -> bool:
        """Whether Gram matrices are formed and factored; otherwise, only products are computed.

        Without a ridge they are always formed, up to MAX_DIRECT columns.
        """
        worth = self.rows.gram_columns if self.alpha > 0.0 else np.inf
        return self.rows.n_features <= min(MAX_DIRECT, worth)

    def ridge(self, w: Array) -> Array:
        """Return λ w'Dw, summed over classes; one value per run if w holds several."""
        if self.alpha == 0.0:  # a square may overflow
            return np.zeros(w.shape[1 : w.ndim - self.labeling.per_class])
        features = w[: self.rows.n_features]
        axes = (0, -1) if self.labeling.per_class else (0,)
        return self.alpha * np.sum(features * features, axis=axes)

    def ridge_gradient(self, w: Array) -> Array:
        """Return λDw, half the gradient of the ridge: 0 for the intercept."""
        out = self.alpha * w
        if self.rows.intercept:
            out[-1] = 0.0
        return out

    def value(self, sweep: Sweep) -> float:
        """Return J at a sweep's weights."""
        return sweep.loss if self.alpha == 0.0 else sweep.loss + float(self.ridge(sweep.w))

    def gradient(self, sweep: Sweep) -> Array:
        """Return half the gradient of J at a sweep's weights."""
        return (
            sweep.gradient if self.alpha == 0.0 else sweep.gradient + self.ridge_gradient(sweep.w)
        )

    def slope(self, first: Sweep, second: Sweep, t: float) -> float:
        """Return half the derivative of J along the segment between two sweeps."""
        direction = second.w - first.w
        w = first.w + t * direction
        data = self.rows.slope(first.z, second.z, t, self.labeling)
        return data + float(np.vdot(self.ridge_gradient(w), direction))

    def sweep(self, w: Array, predicted: Any = None) -> Sweep:
        """Pass over the rows once at w; the labeling must be convex.

        `predicted` are pieces (of another sweep): rows on a different piece are counted.
        """
        return self.rows.sweep(w, self.convex_labeling, predicted)

    def residual(self, sweep: Sweep) -> Array:
        """Return z - t of all rows, which must be in memory, at a sweep's weights."""
        return self.memory_rows.residual(sweep.z, self.labeling)

    def with_labeling(self, labeling: Labeling) -> Objective:
        """Return the objective with another labeling."""
        return replace(self, labeling=labeling)

    def with_alpha(self, alpha: float) -> Objective:
        """Return the objective with another ridge."""
        return replace(self, alpha=alpha)

    def with_alphas(self, alphas: Array) -> list[Objective]:
        """Return the objective with several ridges.

        With as many labeled rows as columns, one decomposition of their Gram matrix serves all.
        """
        found = [self.with_alpha(float(alpha)) for alpha in alphas]
        rows = self.memory_rows
        if rows.n_features <= len(rows.labeled):
            factors = ridge_factors(rows.labeled_gram, alphas, rows.intercept)
            for objective, known in zip(found, factors or (), strict=factors is not None):
                vars(objective)["labeled_factor"] = known
        return found

    def reweighted(self, unlabeled_weight: float) -> Objective:
        """Return the objective with another weight of the unlabeled rows."""
        return self.with_rows(self.rows.reweighted(unlabeled_weight=unlabeled_weight))

    def extended(self, table: NumberTable) -> Objective:
        """Return the objective with further unlabeled rows, which `table` holds after these."""
        return self.with_rows(self.memory_rows.extended(table))

    def with_rows(self, rows: RowSums) -> Objective:
        """Return the objective on rows with the same labeled rows; shared results are kept."""
        other = replace(self, rows=rows)
        known = vars(self).get("labeled_factor")
        if known is not None and not known.dead.any():
            vars(other)["labeled_factor"] = known
        if "scale" in vars(self) and (rows.intercept or not self.labeling.per_class):
            vars(other)["scale"] = self.scale
        return other

    @cached_property
    def labeled_factor(self) -> Factor | RidgeFactor | None:
        """The factor of X'X + λD over the labeled rows; None if it is singular.

        A column that is constant over the labeled rows, but not over all rows, is a direction that
        the labeled rows do not determine.
        """
        found = factor(self.rows.labeled_gram, self.alpha, self.rows.intercept)
        if found is None or not found.dead.any():
            return found
        full = self.full_factor
        same = full is not None and bool(full.dead[found.dead].all())
        return found if same else None

    @cached_property
    def full_factor(self) -> Factor | None:
        """The factor of X_e'X_e + λD over all rows; None if it is singular."""
        return factor(self.rows.full_gram, self.alpha, self.rows.intercept)

    @property
    def constant(self) -> Array:
        """The weights of the best constant decision value, the mean of the labels."""
        w = np.zeros(self.rows.weights_shape)
        if self.rows.intercept:
            w[-1] = self.rows.labeled_moment[-1] / self.rows.labeled_total
        return w

    @cached_property
    def scale(self) -> float:
        """J of the best constant decision value: an upper bound of the optimum, never 0.

        Gaps are relative to it, since J itself may be 0. Without an intercept the only constant is
        0, at which unlabeled rows also have a loss: their distance to the simplex.
        """
        rows = self.rows
        if rows.intercept or not self.labeling.per_class:
            return rows.constant_loss
        return rows.constant_loss + (rows.total_weight - rows.labeled_total) / rows.weights_shape[1]
