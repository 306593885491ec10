"""The calibration of `_calibration` for two classes, which is much faster for many members.

With two classes only the difference x of the log-odds counts, and that of the offsets, o:

    P(second class | x) = 1 / (1 + exp(-(b x + o + log(share₁ / share₀))))

b and o minimise the log loss, summed over rows, plus ``2 log(b)² + ¼ o²``, the penalty of the two
offsets ±o/2.
"""

from __future__ import annotations

import numpy as np

from .._utils.typing import Array
from ._calibration import CAUTION, HALVINGS, LAST_STEP, OFFSET_CAUTION, STEPS, Calibration

__all__ = ["calibrate_two"]


def calibrate_two(
    x: Array, codes: Array, weight: Array, shares: Array
) -> tuple[Calibration, Array]:
    """Fit slope and offset of each member by Newton's method; also return the losses of the rows.

    Parameters
    ----------
    x : ndarray of shape (n_members, n_rows)
        Log-odds of the second class minus those of the first, for left-out rows.
    codes, weight, shares
        As in `_calibration.calibrate`.

    Examples
    --------
    >>> x = np.tile([[2.0, -2.0, -2.0, 2.0]], (1, 1000))
    >>> found, losses = calibrate_two(x, np.tile([1, 0, 0, 0], 1000), np.ones(4000), np.ones(2) / 2)
    >>> np.exp(-losses[0, :2]).round(2)  # the first is right every other time
    array([0.5, 1. ])
    """
    prior = np.array([CAUTION, 0.5 * OFFSET_CAUTION])  # of log(b) and o
    centre = np.log(shares[1] / shares[0])
    theta = np.zeros((len(x), 2))
    losses, p = _evaluate(x, codes, centre, theta)
    open_ = np.arange(len(x))  # members that have not converged
    for _ in range(STEPS):
        gradient, hessian = _derivatives(x[open_], codes, weight, p[open_], theta[open_], prior)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        last = abs(step).max(axis=1) <= LAST_STEP
        before = losses[open_] @ weight + 0.5 * theta[open_] ** 2 @ prior
        rises, length = np.arange(len(open_)), 1.0
        for _ in range(HALVINGS):
            here = open_[rises]
            new = theta[here] - length * step[rises]
            loss, p_new = _evaluate(x[here], codes, centre, new)
            falls = loss @ weight + 0.5 * new**2 @ prior <= before[rises]
            falls |= last[rises]  # so small that rounding hides its gain
            there = here[falls]
            theta[there], losses[there], p[there] = new[falls], loss[falls], p_new[falls]
            rises = rises[~falls]
            if not len(rises):
                break
            length *= 0.5
        last[rises] = True
        open_ = open_[~last]
        if not len(open_):
            break
    offsets = theta[:, 1:] * np.array([-0.5, 0.5])
    return Calibration(np.exp(theta[:, 0]), offsets, shares), losses


def _evaluate(x: Array, codes: Array, centre: float, theta: Array) -> tuple[Array, Array]:
    """Return the losses of the rows, and the probabilities of the second class."""
    score = np.exp(theta[:, :1]) * x + (theta[:, 1:] + centre)
    small = np.exp(-np.abs(score))
    p = np.where(score > 0.0, 1.0, small) / (1.0 + small)
    return np.maximum(np.where(codes == 1, -score, score), 0.0) + np.log1p(small), p


def _derivatives(
    x: Array, codes: Array, weight: Array, p: Array, theta: Array, prior: Array
) -> tuple[Array, Array]:
    """Return gradient and a positive definite Hessian in log(b) and o, by member."""
    scaled = np.exp(theta[:, :1]) * x
    error = (p - (codes == 1)) * weight
    first = np.einsum("mi,mi->m", error, scaled)
    gradient = np.column_stack((first, error.sum(axis=1))) + prior * theta
    curved = p * (1.0 - p) * weight
    cross = curved * scaled
    hessian = np.empty((len(x), 2, 2))
    # in log(b) the loss need not be convex: a negative term is left out
    hessian[:, 0, 0] = np.einsum("mi,mi->m", cross, scaled) + np.maximum(first, 0.0) + prior[0]
    hessian[:, 0, 1] = hessian[:, 1, 0] = cross.sum(axis=1)
    hessian[:, 1, 1] = curved.sum(axis=1) + prior[1]
    return gradient, hessian
