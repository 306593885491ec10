"""From labels that were left out to a choice: log losses, weights, and their median.

Each choice of alpha and unlabeled weight gives decision values z of labeled rows that it was not
fitted to. Of these the mean of the labels that were left is subtracted: leaving a row out moves it
away from the row's own label, so that with a strong ridge every row would look wrong. The slopes
that remain, divided by their root mean square, are log-odds but for a slope b and offsets o, which
`families.calibration` finds:

    P(class k | x) = softmax_k(s (z_k - mean_k) + o_k + log share_k),       s = 1.5 b / rms

The weight of a choice is ∝ prior · exp(-L · loss / 2), with L labels and the mean log loss of the
rows that were left out; 0.6 of the prior is on leaving the unlabeled rows out. The weighted median
is taken: first of the unlabeled weights, then of the alphas with that weight. The best of many
choices was lucky; their median is about as good as the average of all classifiers, and is one fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..families.calibration import Calibration, calibrate, member_weights
from ..families.least_squares import SAME, USUAL
from ..families.two_classes import calibrate_two

Array = NDArray[Any]
Choice = tuple[int, int]
"""Which weight of unlabeled rows, and which alpha."""

SHARPNESS = 0.5
"""How much of the likelihood counts: few labels left out are little evidence for one of many."""
SUPERVISED = 0.6
"""Prior weight of leaving the unlabeled rows out: above half, so that no trifle decides."""


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Labeled rows that were left out: their classes, and how much each counts."""

    codes: Array
    weight: Array
    n_labels: float
    """How many labels they are, by their weights; a row may have been tested more than once."""
    shares: Array
    """The share of each class among all labels."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What rows that were left out say about every choice: unlabeled weights × alphas."""

    losses: Array
    """Mean log loss; infinite if a choice predicts nothing."""
    of_rows: Array
    """Log loss of each row; unlabeled weights × alphas × rows."""
    calibration: Calibration
    size: Array
    """Root mean square of the slopes."""
    n_labels: float

    @classmethod
    def of(cls, slopes: Array, tested: LeftOutRows) -> Evidence:
        """Calibrate choices by slopes: unlabeled weights × alphas × rows [× classes]."""
        grid, n_rows = slopes.shape[:2], len(tested.codes)
        flat = slopes.reshape(grid[0] * grid[1], n_rows, -1)
        weight = tested.weight * (tested.n_labels / tested.weight.sum())
        size = np.sqrt(np.einsum("mik,i->m", flat**2, weight) / (weight.sum() * flat.shape[2]))
        scored = size > SAME  # not NaN either
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
        """The median of the unlabeled weights, and of the alphas with it."""
        n_weights, n_alphas = self.losses.shape
        if np.isinf(self.losses).all():
            return self.supervised
        prior = np.full(n_weights, (1.0 - SUPERVISED) / max(1, n_weights - 1))
        prior[0] = SUPERVISED
        weights = self._weigh(np.repeat(prior, n_alphas), self.losses.ravel())
        return self._with_alpha(_median(weights.reshape(n_weights, n_alphas).sum(axis=1)))

    @property
    def supervised(self) -> Choice:
        """The median of the alphas without unlabeled rows."""
        return self._with_alpha(0)

    def _with_alpha(self, i: int) -> Choice:
        losses = self.losses[i]
        if np.isinf(losses).all():
            return i, len(losses) // 2
        return i, _median(self._weigh(np.ones(len(losses)), losses))

    def _weigh(self, priors: Array, losses: Array) -> Array:
        return member_weights(priors, losses, SHARPNESS * self.n_labels)

    def shift(self, choice: tuple[int, ...], mean: Array) -> Array | float:
        """Return what moves decision values so that the likelier class has the larger one.

        `mean` are the shares of the classes by which the intercept was fitted. With two classes one
        number is returned: they part at z = ½.
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
    """Return where the weights before and after are at most half of all.

    >>> _median(np.array([0.2, 0.2, 0.6])), _median(np.array([0.5, 0.5]))
    (2, 0)
    """
    total = np.cumsum(weights)
    # half up to rounding is half: the same choice on every machine
    return int(np.searchsorted(total, (0.5 - 1e-9) * total[-1]))
