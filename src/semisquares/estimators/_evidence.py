"""From left-out labels to a choice of alpha and unlabeled weight, by log loss.

Each choice gives decision values z for labeled rows that it was not fitted to. First the mean of
the labels it was fitted to is subtracted: leaving a row out moves that mean away from the row's own
label, so with a strong ridge every row would look wrong. The result, divided by its root mean
square, is proportional to log-odds; `families._calibration` finds the slope b and the offsets o:

    P(class k | x) = softmax_k(s (z_k - mean_k) + o_k + log share_k),       s = 1.5 b / rms

The weight of a choice is ∝ prior · exp(-L · loss / 2), with L labels and the mean log loss of the
left-out rows; 0.6 of the prior is on ignoring the unlabeled rows. The result is the weighted
median, first of the unlabeled weights, then of the alphas with that weight. The best of many
choices was lucky; the median is about as good as averaging all classifiers, and is a single fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._inputs.arrays import Problem
from .._utils.typing import Array
from ..families._calibration import Calibration, calibrate, member_weights
from ..families._two_classes import calibrate_two
from ..families.least_squares import SAME, USUAL
from ._base import one_hot

Choice = tuple[int, int]
"""Indices of an unlabeled weight and an alpha."""

SHARPNESS = 0.5
"""Exponent of the likelihood: few left-out labels are weak evidence for one of many choices."""
SUPERVISED = 0.6
"""Prior weight of ignoring the unlabeled rows: above half, so that chance does not decide."""


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Labeled rows that were left out: their classes and weights."""

    codes: Array
    weight: Array
    n_labels: float
    """Total weight of the distinct rows; a row may have been tested more than once."""
    shares: Array
    """The share of each class among all labels."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log losses of left-out rows for every choice: unlabeled weights × alphas."""

    losses: Array
    """Mean log loss; infinite if a choice predicts nothing."""
    of_rows: Array
    """Log loss of each row; unlabeled weights × alphas × rows."""
    calibration: Calibration
    size: Array
    """Root mean square of the centred decision values."""
    n_labels: float

    @classmethod
    def of(cls, centred: Array, tested: LeftOutRows) -> Evidence:
        """Calibrate every choice.

        `centred` are decision values minus the mean of the training labels: unlabeled weights ×
        alphas × rows [× classes].
        """
        grid, n_rows = centred.shape[:2], len(tested.codes)
        flat = centred.reshape(grid[0] * grid[1], n_rows, -1)
        weight = tested.weight * (tested.n_labels / tested.weight.sum())
        size = np.sqrt(np.einsum("mik,i->m", flat**2, weight) / (weight.sum() * flat.shape[2]))
        scored = size > SAME  # false for NaN, too
        odds = np.where(scored[:, None, None], flat, 0.0)
        odds *= (USUAL / np.where(scored, size, 1.0))[:, None, None]
        if len(tested.shares) == 2:
            calibration, of_rows = calibrate_two(odds[:, :, 0], tested.codes, weight, tested.shares)
        else:
            calibration = calibrate(odds, tested.codes, weight, tested.shares)
            of_rows = calibration.losses(odds, tested.codes)
        losses = np.where(scored, of_rows @ weight / weight.sum(), np.inf)
        return cls(
            losses.reshape(grid), of_rows.reshape(*grid, n_rows), calibration, size.reshape(grid),
            tested.n_labels,
        )  # fmt: skip

    @property
    def scores(self) -> Array:
        """The mean log loss, negated; NaN if a choice predicts nothing."""
        return np.where(np.isfinite(self.losses), -self.losses, np.nan)

    @property
    def choice(self) -> Choice:
        """The median unlabeled weight, and the median alpha with that weight."""
        n_weights, n_alphas = self.losses.shape
        if np.isinf(self.losses).all():
            return self.supervised
        prior = np.full(n_weights, (1.0 - SUPERVISED) / max(1, n_weights - 1))
        prior[0] = SUPERVISED
        weights = self._weigh(np.repeat(prior, n_alphas), self.losses.ravel())
        return self._with_alpha(_median(weights.reshape(n_weights, n_alphas).sum(axis=1)))

    @property
    def supervised(self) -> Choice:
        """The median alpha without unlabeled rows."""
        return self._with_alpha(0)

    def _with_alpha(self, i: int) -> Choice:
        losses = self.losses[i]
        if np.isinf(losses).all():
            return i, len(losses) // 2
        return i, _median(self._weigh(np.ones(len(losses)), losses))

    def _weigh(self, priors: Array, losses: Array) -> Array:
        return member_weights(priors, losses, SHARPNESS * self.n_labels)

    def shift(self, choice: tuple[int, ...], mean: Array) -> Array | float:
        """Return the shift of decision values that puts the class boundary at equal odds.

        `mean` are the weighted shares of the classes among the labels. With two classes the shift
        is one number, because the boundary is at z = ½.
        """
        if not np.isfinite(self.losses[choice]):
            return 0.0
        one = choice[0] * self.losses.shape[1] + choice[1]
        slope = self.calibration.slopes[one] * USUAL / self.size[choice]
        offsets = self.calibration.offsets[one] + np.log(self.calibration.shares)
        if len(mean) == 2:
            return 0.5 - mean[1] + (offsets[1] - offsets[0]) / slope
        return 1.0 / len(mean) - mean + (offsets - offsets.mean()) / slope


def _median(weights: Array) -> int:
    """Return the index of the weighted median.

    >>> _median(np.array([0.2, 0.2, 0.6])), _median(np.array([0.5, 0.5]))
    (2, 0)
    """
    total = np.cumsum(weights)
    # the tolerance makes ties the same choice on every machine
    return int(np.searchsorted(total, (0.5 - 1e-9) * total[-1]))


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search over unlabeled weights × alphas."""

    choice: Choice
    supervised: Choice
    """The choice without unlabeled rows."""
    shifts: Array
    """Shifts of the intercepts: unlabeled weights × alphas × outputs."""
    mean: Array
    """Mean scores: unlabeled weights × alphas."""
    std: Array
    n_splits: int
    splits: Array | None = None
    """Scores in every split: unlabeled weights × alphas × splits."""


def weigh_choices(problem: Problem, centred: Array, tested: Array) -> Evidence:
    """Calibrate every choice by the centred decision values of tested labeled rows."""
    rows, codes = problem.rows, problem.labels.codes
    shares = _class_shares(problem) * rows.labeled_total + 0.5
    if not rows.intercept:  # then the class boundary does not follow the shares
        shares[:] = 1.0
    n_labels = float(rows.labeled_weight[np.unique(tested)].sum())
    weight = rows.labeled_weight[tested]
    return Evidence.of(centred, LeftOutRows(codes[tested], weight, n_labels, shares / shares.sum()))


def center(problem: Problem, means: Array) -> Any:
    """Return the centre of decision values: the mean of the training labels.

    Without an intercept decision values do not follow that mean, and the centre is 1 / classes.
    """
    return means if problem.rows.intercept else 1.0 / problem.n_classes


def choose_by_evidence(
    problem: Problem, evidence: Evidence, std: Array, n_splits: int, splits: Array | None = None
) -> SearchResult:
    """Take the median choice, and shift the intercepts to equal odds."""
    mean = evidence.scores
    shifts = no_shifts(problem, mean.shape)
    if problem.rows.intercept:
        for choice in np.ndindex(mean.shape):
            shifts[choice] = evidence.shift(choice, _class_shares(problem))
    return SearchResult(evidence.choice, evidence.supervised, shifts, mean, std, n_splits, splits)


def no_shifts(problem: Problem, grid: tuple[int, ...]) -> Array:
    """Return zero shifts for all choices."""
    return np.zeros((*grid, 1 if problem.n_classes == 2 else problem.n_classes))


def _class_shares(problem: Problem) -> Array:
    """Return the weighted share of each class among the labels."""
    mass = problem.rows.labeled_weight @ one_hot(problem.labels.codes, problem.n_classes)
    return mass / mass.sum()
