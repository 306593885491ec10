"""Certificates: how far from the optimum weights can be, proven from the weights alone.

A certificate never reads a solver's internals. All bounds are in the scale of J; relative ones are
divided by `Objective.scale`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import linalg
from .curvature import active_curvature
from .labelings import ConvexLabeling
from .objective import Objective
from .rows import Sweep

Array = NDArray[Any]


def gradient_bound(objective: Objective) -> Callable[[Array], float]:
    """Return the bound ``J(w) - J* ≤ h'(X'X + λD)⁻¹h`` as a function of half the gradient, h.

    X are the labeled rows: their curvature is there whatever the others do. Where that matrix is
    too wide to form, the smaller ``λ on the features + the labeled rows' mean`` takes its place;
    where it is singular, the bound is infinite.
    """
    rows, alpha = objective.rows, objective.alpha
    if objective.direct:
        factor = objective.labeled_factor
        if factor is not None:
            return lambda h: max(0.0, float(np.vdot(h, factor.solve(h))))
    if alpha <= 0.0:
        return lambda h: np.inf
    if not rows.intercept:
        return lambda h: float(np.vdot(h, h)) / alpha
    total = rows.labeled_total
    unit = np.zeros(rows.n_weights)
    unit[-1] = 1.0
    mean = rows.labeled_product(unit)[:-1] / total

    def bound(h: Array) -> float:
        features = h[:-1].reshape(len(mean), -1) - np.outer(mean, h[-1])
        return float(np.vdot(features, features)) / alpha + float(np.vdot(h[-1], h[-1])) / total

    return bound


@dataclass(frozen=True)
class Gap:
    """J at some weights, and how far above the optimum it is at the most."""

    value: float
    absolute: float
    scale: float

    @property
    def bound(self) -> float:
        """A proven lower bound of the optimum."""
        return self.value - self.absolute

    @property
    def relative(self) -> float:
        """The gap, divided by J of the best constant decision value."""
        return self.absolute / self.scale


def duality_gap(
    objective: Objective, w: Array, *, enough: float = 0.0, sweep: Sweep | None = None
) -> Gap:
    """Bound the suboptimality of w in the soft problem: the best of three proofs.

    J itself is one, since no J is below 0. The gradient bound is another. The third is a dual
    point: w⁺ minimises the quadratic that J is around w, ``θ = a (Xw⁺ - t)`` on the labeled and
    active rows and 0 elsewhere, and

        dual = -Σ θ²/a - λ w⁺'Dw⁺ - 2 Σ θ'y - 2 Σ max(θ, 0)       (labeled; unlabeled rows)

    is at most J*. With λ > 0 the ridge term is taken as ``‖X'θ‖²/λ``, the same for an exact
    w⁺, so that a rough one proves less, never something false. With many classes, or too many
    columns for a Gram matrix, w itself stands for w⁺.

    Parameters
    ----------
    objective : Objective
        With a convex labeling.
    w : array
        The weights to be certified.
    enough : float
        The relative gap below which no tighter proof is looked for.
    sweep : Sweep, optional
        What a pass over the rows at w told, where one was made: none is made again.
    """
    if sweep is None or sweep.w is not w:
        sweep = objective.sweep(w)
    value = objective.value(sweep)
    gradient = objective.gradient(sweep)
    gap = min(value, gradient_bound(objective)(gradient))
    if not gap <= max(enough, 1e-15) * objective.scale:
        gap = min(gap, max(0.0, value - _dual_value(objective, sweep, gradient)))
    return Gap(value, gap, objective.scale)


def _dual_value(objective: Objective, sweep: Sweep, gradient: Array) -> float:
    """Return the dual value at the point that Newton's step from a sweep leads to."""
    rows, alpha = objective.rows, objective.alpha
    labeling: ConvexLabeling = objective.labeling  # type: ignore[assignment]
    w, step = sweep.w, None
    if not labeling.per_class and objective.direct:
        # residuals of the labeled and active rows at w⁺, their targets as they are at w
        curvature = active_curvature(objective, sweep.piece, rows.active_gram(sweep.piece))
        step = curvature.step(sweep.w, gradient, lambda: rows.residual(sweep.z, labeling))
        w = w + step
    sums = rows.dual_sums(sweep.z, sweep.piece, step, 0.0, labeling)
    if alpha > 0.0 and rows.intercept and not labeling.per_class:
        # move the intercept: θ must sum to nothing
        shift = float(sums.image[-1]) / sums.weight
        sums = rows.dual_sums(sweep.z, sweep.piece, step, shift, labeling)
    ridge = _ridge_term(objective, w, sums.image, sums.squares)
    return -(sums.squares + ridge + 2.0 * sums.known + 2.0 * sums.free)


def _ridge_term(objective: Objective, w: Array, image: Array, loss: float) -> float:
    """Return what the dual value loses by the ridge, given X'θ; infinite where θ proves nothing.

    Without a ridge θ must be orthogonal to every column. Rounding is allowed for, and counted.
    """
    rows, alpha = objective.rows, objective.alpha
    last = image[-1] if rows.intercept else np.zeros(image.shape[1:])
    features = image[: rows.n_features]
    size = np.sqrt(max(loss, linalg.EPS * objective.scale))
    if alpha > 0.0:
        open_ends, slack = last, float(np.vdot(features, features)) / alpha
        limits = np.sqrt(rows.total_weight) * size
        rounding = 2.0 * float(np.abs(np.vdot(last, w[-1]))) if rows.intercept else 0.0
    else:
        open_ends, slack = image, 0.0
        limits = (np.sqrt(rows.diagonal) * size).reshape(-1, *(1,) * (image.ndim - 1))
        rounding = 2.0 * float(np.vdot(np.abs(image), np.abs(w)))
    if not (np.abs(open_ends) <= 1e-9 * limits).all():
        return np.inf
    return slack + rounding


def is_label_stable(objective: Objective, labels: Array, fit: Callable[[Array], Array]) -> bool:
    """Tell whether fitting labels and imputing anew changes none of the unlabeled rows' labels."""
    rows, labeling = objective.rows, objective.labeling
    imputed = labeling.impute(rows.decisions(fit(labels)))
    return bool(np.array_equal(imputed[rows.unlabeled], labels[rows.unlabeled]))


def relaxation_gap(objective: Objective, w: Array, bound: float) -> Gap:
    """Bound how far hard-label weights are from the best of all labelings.

    The soft objective is the convex relaxation of the hard one, so that a lower bound of the soft
    optimum (`duality_gap(...).bound`) is one of the hard optimum too.
    """
    z = objective.rows.decisions(w)
    value = objective.rows.loss(z, objective.labeling) + float(objective.ridge(w))
    return Gap(value, max(0.0, value - bound), objective.scale)


__all__ = ["Gap", "duality_gap", "gradient_bound", "is_label_stable", "relaxation_gap"]
