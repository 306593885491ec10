"""The objective (§III–IV): rows + a labeling + a ridge.

    J(w) = Σ labeled a (x'w - y)² + Σ unlabeled a (z - impute(z))² + λ w'Dw,      z = x'w

a is the weight of a row, λ is called `alpha`, D leaves the intercept out. The labels are minimised
out: J is J_l of the paper with soft labels and J_r with hard ones (the literal two are in `paper`).
Values are in the paper's scale: sums, no ½ in front.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .labelings import ConvexLabeling, Labeling
from .linalg import Factor, factor, penalty
from .rows import Rows, Sweep, Table

Array = NDArray[Any]

MAX_DIRECT = 4096
"""Up to so many columns Gram matrices may be formed."""


@dataclass(frozen=True, eq=False)
class Objective:
    """J as a function of the weights (last entry: the intercept, where there is one)."""

    rows: Rows
    labeling: Labeling
    alpha: float

    @property
    def direct(self) -> bool:
        """Whether Gram matrices are formed and factored, or only multiplied with.

        Without a ridge there is no other way.
        """
        worth = self.rows.table.gram_columns if self.alpha > 0.0 else np.inf
        return self.rows.n_features <= min(MAX_DIRECT, worth)

    def ridge(self, w: Array) -> Array:
        """Return λ w'Dw, summed over classes; one value for each run where w holds many."""
        if self.alpha == 0.0:  # not 0 times a square that overflows
            return np.zeros(w.shape[1 : w.ndim - self.labeling.per_class])
        features = w[: self.rows.n_features]
        axes = (0, -1) if self.labeling.per_class else (0,)
        return self.alpha * np.sum(features * features, axis=axes)

    def value(self, sweep: Sweep) -> float:
        """Return J at a sweep's weights."""
        return sweep.loss + float(self.ridge(sweep.w))

    def gradient(self, sweep: Sweep) -> Array:
        """Return half the gradient of J at a sweep's weights."""
        return sweep.gradient + penalty(self.alpha, self.rows.intercept, sweep.w)

    def slope(self, first: Sweep, second: Sweep, t: float) -> float:
        """Return half the derivative of J along the segment between two sweeps."""
        direction = second.w - first.w
        w = first.w + t * direction
        data = self.rows.slope(first.z, second.z, t, self.labeling)
        return data + float(np.vdot(penalty(self.alpha, self.rows.intercept, w), direction))

    def sweep(self, w: Array, before: Any = None) -> Sweep:
        """Pass over the rows once at w; the labeling must be a convex one.

        Rows are counted that are on another piece than `before`, which is that of a sweep.
        """
        labeling: ConvexLabeling = self.labeling  # type: ignore[assignment]
        return self.rows.sweep(w, labeling, before)

    def with_labeling(self, labeling: Labeling) -> Objective:
        """Return the objective with the missing labels filled in by another rule."""
        return replace(self, labeling=labeling)

    def with_alpha(self, alpha: float) -> Objective:
        """Return the objective with another ridge."""
        return replace(self, alpha=alpha)

    def reweighted(self, unlabeled_weight: float) -> Objective:
        """Return the objective in which an unlabeled row counts so much."""
        rows = self.rows.reweighted(unlabeled_weight=unlabeled_weight)
        return self._with_rows(rows)

    def extended(self, table: Table) -> Objective:
        """Return the objective of further unlabeled rows, which `table` holds after these."""
        return self._with_rows(self.rows.extended(table))

    def _with_rows(self, rows: Rows) -> Objective:
        """Return the objective of the same labeled rows and others; what they share is kept."""
        other = replace(self, rows=rows)
        known = vars(self).get("labeled_factor")
        if known is not None and not known.dead.any():
            vars(other)["labeled_factor"] = known
        if "scale" in vars(self) and (rows.intercept or not self.labeling.per_class):
            vars(other)["scale"] = self.scale
        return other

    @cached_property
    def labeled_factor(self) -> Factor | None:
        """The factor of X'X + λD over the labeled rows; None where it is singular.

        A column that is constant over the labeled rows but not over all of them is a direction
        that the labeled rows leave open.
        """
        found = factor(self.rows.labeled_gram, self.alpha, self.rows.intercept)
        if found is None or not found.dead.any():
            return found
        full = self.full_factor
        same = full is not None and bool(full.dead[found.dead].all())
        return found if same else None

    @cached_property
    def full_factor(self) -> Factor | None:
        """The factor of X_e'X_e + λD over all rows; None where it is singular."""
        return factor(self.rows.full_gram, self.alpha, self.rows.intercept)

    @cached_property
    def scale(self) -> float:
        """J of the best constant decision value: an upper bound of the optimum, never 0.

        Gaps are relative to it, since J itself may be 0. Without an intercept the one constant at
        hand is 0, which costs unlabeled rows their distance to the simplex too.
        """
        rows = self.rows
        if rows.intercept or not self.labeling.per_class:
            return rows.constant_loss
        return rows.constant_loss + (rows.total_weight - rows.labeled_total) / rows.weights_shape[1]
