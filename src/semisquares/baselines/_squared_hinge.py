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
    for _ in range(MAX_STEPS):
        pull = 2.0 * cost * sign * slack
        gradient = np.append(w[:-1] - X.T @ pull, -pull.sum())
        active = slack > 0.0
        step = _newton_step(X, sign, cost, w, active, gradient)
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


def _newton_step(
    X: Array, sign: Array, cost: Array, w: Array, active: Array, gradient: Array
) -> Array:
    """Return the step to the minimiser of the quadratic of the active rows."""
    rows, weight = X[active], 2.0 * cost[active]
    root = np.sqrt(weight)
    weighted = rows * root[:, None]
    gram = np.empty((len(w), len(w)))
    gram[:-1, :-1] = dense.product(weighted.T, weighted)
    gram[:-1, -1] = gram[-1, :-1] = weight @ rows
    gram[-1, -1] = weight.sum()
    factor = linalg.factor(gram, 1.0, True)
    if factor is not None:
        return -factor.solve(gradient)
    # no active row, or columns of very different scale: solve the same quadratic by least squares
    design = np.vstack(
        (np.column_stack((rows, np.ones(len(rows)))) * root[:, None], np.eye(len(w)))
    )
    design[-1, -1] = 0.0
    target = np.concatenate((sign[active] * root, np.zeros(len(w))))
    return dense.lstsq(design, target) - w
