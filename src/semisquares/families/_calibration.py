"""From log-odds of members to probabilities, losses and weights.

Each member has one slope b and an offset a for each class:

    P(class k | x) = softmax_k(b · log-odds_k(x) + a_k + log share_k)

They minimise the member's out-of-sample log loss, summed over the labeled rows, plus
``2 log(b)² + ½ ‖a‖²``: families give log-odds that should need no correction, b = 1 and a = 0, and
a few labels are not enough evidence for one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from .._utils.typing import Array

__all__ = ["Calibration", "calibrate", "member_weights"]


CAUTION = 4.0
"""Precision of the log-normal prior of slopes around 1."""
OFFSET_CAUTION = 1.0
"""Precision of the normal prior of offsets around 0."""
STEPS = 100
HALVINGS = 30
LAST_STEP = 1e-7
"""Newton's method doubles the correct digits at each step: after this one all are correct."""
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Slope and offsets of each member, and the shares of the classes."""

    slopes: Array
    offsets: Array
    """Members × classes."""
    shares: Array

    def probabilities(self, log_odds: Array) -> Array:
        """Return the probabilities of the members: members × rows × classes."""
        scores = log_odds * self.slopes[:, None, None]
        scores += (self.offsets + np.log(self.shares))[:, None, :]
        return special.softmax(scores, axis=2)

    def losses(self, log_odds: Array, codes: Array) -> Array:
        """Return the log loss of each row by each member."""
        p = self.probabilities(log_odds)[:, np.arange(len(codes)), codes]
        return -np.log(np.maximum(p, _TINY))

    def of(self, members: Array | slice) -> Calibration:
        """Return the calibration of some members."""
        return Calibration(self.slopes[members], self.offsets[members], self.shares)


def calibrate(log_odds: Array, codes: Array, weight: Array, shares: Array) -> Calibration:
    """Fit slopes and offsets to left-out rows, by Newton's method.

    Parameters
    ----------
    log_odds : ndarray of shape (n_members, n_rows, n_classes)
        Log-odds of left-out rows.
    codes : ndarray of shape (n_rows,)
        The class of each row.
    weight : ndarray of shape (n_rows,)
        The weight of each row.
    shares : ndarray of shape (n_classes,)
        The shares of the classes.

    Examples
    --------
    >>> odds = np.tile([[-1.0, 1.0], [1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], (1, 1000, 1))
    >>> truth = np.tile([1, 0, 0, 0], 1000)
    >>> found = calibrate(odds, truth, np.ones(4000), np.array([0.5, 0.5]))
    >>> found.probabilities(odds)[0, :2].round(2)  # the first is right every other time
    array([[0.5, 0.5], [1. , 0. ]])
    """
    n_members, _, n_classes = log_odds.shape
    theta = np.zeros((n_members, 1 + n_classes))  # log(slope), then offsets
    own = np.eye(n_classes)[codes]
    open_ = np.arange(n_members)  # members that have not converged
    for _ in range(STEPS):
        odds, now = log_odds[open_], theta[open_]
        gradient, hessian = _derivatives(odds, own, weight, shares, now)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        last = abs(step).max(axis=1) <= LAST_STEP
        length = _length(odds, codes, weight, shares, now, step, last)
        theta[open_] = now - length[:, None] * step
        open_ = open_[~last & (length > 0.0)]
        if not len(open_):
            break
    return Calibration(np.exp(theta[:, 0]), theta[:, 1:], shares)


def _length(
    log_odds: Array,
    codes: Array,
    weight: Array,
    shares: Array,
    theta: Array,
    step: Array,
    last: Array,
) -> Array:
    """Return the length of each step: 1, or less if the loss would rise; 0 if it always rises.

    The last step is always taken: it is so small that rounding would hide its gain.
    """
    length = np.ones(len(theta))
    tried = np.flatnonzero(~last)
    before = _objective(log_odds[tried], codes, weight, shares, theta[tried])
    for _ in range(HALVINGS):
        new = theta[tried] - length[tried, None] * step[tried]
        worse = _objective(log_odds[tried], codes, weight, shares, new) > before
        tried, before = tried[worse], before[worse]
        if not len(tried):
            return length
        length[tried] *= 0.5
    length[tried] = 0.0
    return length


def _objective(log_odds: Array, codes: Array, weight: Array, shares: Array, theta: Array) -> Array:
    losses = Calibration(np.exp(theta[:, 0]), theta[:, 1:], shares).losses(log_odds, codes)
    prior = CAUTION * theta[:, 0] ** 2 + OFFSET_CAUTION * (theta[:, 1:] ** 2).sum(axis=1)
    return losses @ weight + 0.5 * prior


def _derivatives(
    log_odds: Array, own: Array, weight: Array, shares: Array, theta: Array
) -> tuple[Array, Array]:
    """Return gradient and a positive definite Hessian in log(slope) and offsets, by member."""
    n_members, _, n_classes = log_odds.shape
    logs, slopes, offsets = theta[:, 0], np.exp(theta[:, 0]), theta[:, 1:]
    p = Calibration(slopes, offsets, shares).probabilities(log_odds)
    scaled = slopes[:, None, None] * log_odds
    error = (p - own) * weight[:, None]
    mean = np.einsum("mik,mik->mi", p, scaled)
    gradient = np.empty((n_members, 1 + n_classes))
    first = np.einsum("mik,mik->m", error, scaled)
    gradient[:, 0] = first + CAUTION * logs
    gradient[:, 1:] = error.sum(axis=1) + OFFSET_CAUTION * offsets
    hessian = np.empty((n_members, 1 + n_classes, 1 + n_classes))
    weighted = p * weight[:, None]
    variance = np.einsum("mik,mik->m", weighted, scaled**2) - mean**2 @ weight
    # in log(slope) the loss need not be convex: a negative term is left out
    hessian[:, 0, 0] = np.maximum(variance, 0.0) + np.maximum(first, 0.0) + CAUTION
    cross = np.einsum("mik,mik->mk", weighted, scaled - mean[:, :, None])
    hessian[:, 0, 1:] = hessian[:, 1:, 0] = cross
    hessian[:, 1:, 1:] = -np.swapaxes(weighted, 1, 2) @ p
    diagonal = np.arange(1, 1 + n_classes)
    hessian[:, diagonal, diagonal] += weighted.sum(axis=1) + OFFSET_CAUTION
    return gradient, hessian


def member_weights(priors: Array, losses: Array, sharpness: float) -> Array:
    """Return weights ∝ prior · exp(-sharpness · loss), which sum to one over the members."""
    with np.errstate(divide="ignore"):
        scores = np.log(priors) - sharpness * losses
    return special.softmax(scores, axis=0)
