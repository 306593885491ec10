"""The support vector machine for given labels: Newton's method on the squared hinge loss."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from .._utils.typing import Array
from ..core import _dense as dense
from ..core import linalg

__all__ = ["decide", "solve"]


NEGLIGIBLE = 1e-24
"""A Newton step that would lower the objective by less than this share of it is rounding."""
MAX_STEPS = 200


def decide(X: Array, w: Array) -> Array:
    """Return the decision values z; the last entry of w is the intercept."""
    return X @ w[:-1] + w[-1]


def solve(X: Array, sign: Array, cost: Array, w: Array) -> tuple[Array, float]:
    """Minimise ``½‖w‖² + Σ cost ξ²`` by Newton's method on the rows with ξ > 0.

    As long as this set of rows does not change, the objective is a quadratic, and one step reaches
    its minimiser. The last entry of w is the intercept.
    """
    slack, value = _value(X, sign, cost, w)
    grams = _ActiveGram(X, 2.0 * cost)
    for _ in range(MAX_STEPS):
        pull = 2.0 * cost * sign * slack
        gradient = np.append(w[:-1] - X.T @ pull, -pull.sum())
        active = slack > 0.0
        step = _newton_step(grams, sign, w, active, gradient)
        fall = -float(gradient @ step)
        if not fall > NEGLIGIBLE * value:
            break
        line = (step[:-1], w[:-1], decide(X, step), decide(X, w), sign, cost)
        # the slope rises along the step: if it is not positive at the end, J fell all the way
        full = _slope(1.0, *line) <= 1e-8 * fall
        if not full and _slope(0.0, *line) >= 0.0:
            break  # the rest is rounding
        w = w + (1.0 if full else brentq(_slope, 0.0, 1.0, args=line)) * step
        slack, value = _value(X, sign, cost, w)
        if full and np.array_equal(slack > 0.0, active):
            break
    return w, value


def _value(X: Array, sign: Array, cost: Array, w: Array) -> tuple[Array, float]:
    """Return ξ of every row, and the objective."""
    slack = np.maximum(0.0, 1.0 - sign * decide(X, w))
    return slack, float(0.5 * w[:-1] @ w[:-1] + cost @ slack**2)


def _slope(
    t: float, step: Array, w: Array, along: Array, z: Array, sign: Array, cost: Array
) -> float:
    """Return the derivative of the objective at ``w + t step``, where z is ``z + t along``."""
    slack = np.maximum(0.0, 1.0 - sign * (z + t * along))
    return float(step @ (w + t * step) - 2.0 * (cost * sign * slack) @ along)


class _ActiveGram:
    """Σ weight (x, 1)(x, 1)' over the active rows, updated by the rows that changed."""

    def __init__(self, X: Array, weight: Array) -> None:
        self.X, self.weight = X, weight
        self.active = np.zeros(len(X), dtype=bool)
        self.matrix = np.zeros((X.shape[1] + 1, X.shape[1] + 1))

    def at(self, active: Array) -> Array:
        """Return the matrix for a mask of active rows."""
        added, removed = active & ~self.active, self.active & ~active
        if np.count_nonzero(added | removed) >= np.count_nonzero(active):
            self.matrix = self._sum(active)
        else:
            self.matrix = self.matrix + self._sum(added) - self._sum(removed)
        self.active = active
        return self.matrix

    def _sum(self, mask: Array) -> Array:
        rows, weight = self.X[mask], self.weight[mask]
        gram = np.empty(self.matrix.shape)
        weighted = rows * np.sqrt(weight)[:, None]
        gram[:-1, :-1] = dense.product(weighted.T, weighted)
        gram[:-1, -1] = gram[-1, :-1] = weight @ rows
        gram[-1, -1] = weight.sum()
        return gram


def _newton_step(
    grams: _ActiveGram, sign: Array, w: Array, active: Array, gradient: Array
) -> Array:
    """Return the step to the minimiser of the quadratic of the active rows."""
    factor = linalg.factor(grams.at(active), 1.0, True)
    if factor is not None:
        return -factor.solve(gradient)
    # no active row, or columns of very different scale: solve the same quadratic by least squares
    rows, root = grams.X[active], np.sqrt(grams.weight[active])
    design = np.vstack(
        (np.column_stack((rows, np.ones(len(rows)))) * root[:, None], np.eye(len(w)))
    )
    design[-1, -1] = 0.0
    target = np.concatenate((sign[active] * root, np.zeros(len(w))))
    return dense.lstsq(design, target) - w
