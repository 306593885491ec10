"""The support vector machine for given labels: Newton's method on the squared hinge loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from .._utils.typing import Array
from ..core import _dense as dense
from ..core import linalg

__all__ = ["ActiveCurvature", "decide", "solve"]


NEGLIGIBLE = 1e-24
"""A Newton step that would lower the objective by less than this share of it is rounding."""
MAX_STEPS = 200
UPDATED_COLUMNS, UPDATED_SHARE = 128, 8
"""A factor of at least this many columns is updated for at most 1/8 as many rows."""


def decide(X: Array, w: Array) -> Array:
    """Return the decision values z; the last entry of w is the intercept."""
    return X @ w[:-1] + w[-1]


def solve(
    X: Array, sign: Array, cost: Array, w: Array, curvature: ActiveCurvature | None = None
) -> tuple[Array, float]:
    """Minimise ``½‖w‖² + Σ cost ξ²`` by Newton's method on the rows with ξ > 0.

    As long as this set of rows does not change, the objective is a quadratic, and one step reaches
    its minimiser. The last entry of w is the intercept. `curvature` is that of another fit to the
    same rows.
    """
    z, slack, value = _value(X, sign, cost, w)
    curvature = ActiveCurvature(X) if curvature is None else curvature
    for _ in range(MAX_STEPS):
        pull = 2.0 * cost * sign * slack
        gradient = np.append(w[:-1] - X.T @ pull, -pull.sum())
        active = slack > 0.0
        step = _newton_step(curvature, sign, 2.0 * cost, w, active, gradient)
        fall = -float(gradient @ step)
        if not fall > NEGLIGIBLE * value:
            break
        line = (step[:-1], w[:-1], decide(X, step), z, sign, cost)
        # the slope rises along the step: if it is not positive at the end, J fell all the way
        full = _slope(1.0, *line) <= 1e-8 * fall
        if not full and _slope(0.0, *line) >= 0.0:
            break  # the rest is rounding
        w = w + (1.0 if full else brentq(_slope, 0.0, 1.0, args=line)) * step
        z, slack, value = _value(X, sign, cost, w)
        if full and np.array_equal(slack > 0.0, active):
            break
    return w, value


def _value(X: Array, sign: Array, cost: Array, w: Array) -> tuple[Array, Array, float]:
    """Return z and ξ of every row, and the objective."""
    z = decide(X, w)
    slack = np.maximum(0.0, 1.0 - sign * z)
    return z, slack, float(0.5 * w[:-1] @ w[:-1] + cost @ slack**2)


def _slope(
    t: float, step: Array, w: Array, along: Array, z: Array, sign: Array, cost: Array
) -> float:
    """Return the derivative of the objective at ``w + t step``, where z is ``z + t along``."""
    slack = np.maximum(0.0, 1.0 - sign * (z + t * along))
    return float(step @ (w + t * step) - 2.0 * (cost * sign * slack) @ along)


class ActiveCurvature:
    """The curvature Σ weight (x, 1)(x, 1)' + D over the active rows, from one fit to the next.

    `parts` are sets of rows, such as the labeled and the unlabeled ones. Each has its own Gram
    matrix, with weights relative to the largest: if all costs of a part double, no sum changes.
    """

    def __init__(self, X: Array, parts: Sequence[Array] | None = None) -> None:
        self.X = X
        self.parts = [np.arange(len(X))] if parts is None else parts
        self._relative = np.zeros(len(X))
        self._grams = np.zeros((len(self.parts), X.shape[1] + 1, X.shape[1] + 1))
        self._factored: tuple[Array, linalg.Factor] | None = None

    def factor(self, weight: Array, active: Array) -> linalg.Inverse | None:
        """Return the factor for a mask of active rows; None if there is none."""
        now = np.where(active, weight, 0.0)
        updated = self._updated(now)
        if updated is not None:
            return updated
        largest = np.array([weight[part].max(initial=0.0) or 1.0 for part in self.parts])
        for k, part in enumerate(self.parts):
            self._sum_part(k, part, now[part] / largest[k])
        found = linalg.factor(np.tensordot(largest, self._grams, 1), 1.0, True)
        self._factored = None if found is None else (now, found)
        return found

    def _updated(self, weight: Array) -> linalg.Inverse | None:
        """Update the last factor by the few rows whose weight changed, if that is cheaper."""
        if self._factored is None or self.X.shape[1] < UPDATED_COLUMNS:
            return None
        before, known = self._factored
        moved = np.flatnonzero(weight != before)
        if UPDATED_SHARE * len(moved) > self.X.shape[1]:
            return None
        change = (weight - before)[moved]
        columns = np.vstack((self.X[moved].T, np.ones(len(moved)))) * np.sqrt(np.abs(change))
        return linalg.updated_factor(known, columns, np.sign(change))

    def _sum_part(self, k: int, part: Array, relative: Array) -> None:
        """Bring the Gram matrix of a part up to date."""
        change = relative - self._relative[part]
        moved = np.flatnonzero(change)
        if not len(moved):
            return
        if len(moved) < np.count_nonzero(relative):
            self._grams[k] += self._sum(part[moved], change[moved])
        else:
            some = np.flatnonzero(relative)
            self._grams[k] = self._sum(part[some], relative[some])
        self._relative[part] = relative

    def _sum(self, index: Array, weight: Array) -> Array:
        rows = self.X[index]
        gram = np.empty(self._grams.shape[1:])
        gram[:-1, :-1] = dense.product((rows * weight[:, None]).T, rows)
        gram[:-1, -1] = gram[-1, :-1] = weight @ rows
        gram[-1, -1] = weight.sum()
        return gram


def _newton_step(
    curvature: ActiveCurvature, sign: Array, weight: Array, w: Array, active: Array, gradient: Array
) -> Array:
    """Return the step to the minimiser of the quadratic of the active rows."""
    factor = curvature.factor(weight, active)
    if factor is not None:
        return -factor.solve(gradient)
    # no active row, or columns of very different scale: solve the same quadratic by least squares
    rows, root = curvature.X[active], np.sqrt(weight[active])
    design = np.vstack(
        (np.column_stack((rows, np.ones(len(rows)))) * root[:, None], np.eye(len(w)))
    )
    design[-1, -1] = 0.0
    target = np.concatenate((sign[active] * root, np.zeros(len(w))))
    return dense.lstsq(design, target) - w
