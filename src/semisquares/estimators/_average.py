"""A fitted average of classifiers: the scores and weights of its members, and its predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .._utils.typing import Array
from ..core.rows import single_threaded_blas
from ..families import Family, Features, FittedFamily, LabeledRows
from ..families._calibration import Calibration, calibrate, member_weights
from ..representations._base import Representation
from ..representations._scaling import Scaling

NEGLIGIBLE = 1e-4
"""Predictions skip the members with the smallest weights, which together are below this."""
BLOCK_NUMBERS = 1 << 22
"""Prediction is done in blocks of rows that need about this many numbers."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What is learned from all rows without labels: the column scaling and the representations."""

    scaling: Scaling
    representations: Mapping[str, Representation]

    def features(self, X: Any) -> Features:
        """Return the features of some rows."""
        return Features(X, self.scaling, self.representations)


@dataclass(frozen=True, eq=False)
class Scores:
    """Out-of-sample scores of the members, their calibration and their weights."""

    calibration: Calibration
    losses: Array
    accuracies: Array
    weights: Array
    proba: Array
    """Out-of-sample probabilities of the average for the labeled rows: rows × classes."""


def score_members(rows: LabeledRows, left_out: Array, priors: Array, sharpness: float) -> Scores:
    """Calibrate the members by their log-odds for left-out rows, and weigh them by the loss.

    `proba` averages the members for each row with weights that exclude the losses of its own block,
    so that a row does not choose the members that predict it.
    """
    share = rows.weight / rows.weight.sum()
    calibration = calibrate(left_out, rows.codes, rows.weight, rows.shares)
    of_rows = calibration.losses(left_out, rows.codes) * share
    losses = of_rows.sum(axis=1)
    _, block = np.unique(rows.blocks, return_inverse=True)
    of_blocks = np.stack([np.bincount(block, one) for one in of_rows])
    others = losses[:, None] - of_blocks[:, block]
    own_weights = member_weights(priors[:, None], others, sharpness * rows.total)
    p = calibration.probabilities(left_out)
    return Scores(
        calibration,
        losses,
        (p.argmax(axis=2) == rows.codes) @ share,
        member_weights(priors, losses, sharpness * rows.total),
        np.einsum("mi,mik->ik", own_weights, p),
    )


def usable(
    families: Sequence[Family], rows: LabeledRows, masses: Mapping[str, float]
) -> Sequence[Family]:
    """Drop families that need unlabeled rows if there are none, unless only they have weight."""
    if rows.unlabeled is not None:
        return families
    others = [one for one in families if not getattr(one, "needs_unlabeled", False)]
    return others if any(prior_mass(one, masses) > 0.0 for one in others) else families


def prior_mass(family: Family, masses: Mapping[str, float]) -> float:
    """Return the prior weight of a family: the user's, the family's own, or 1."""
    return float(masses.get(family.name, getattr(family, "prior", 1.0)))


def priors_of(
    families: Sequence[Family], fitted: Sequence[FittedFamily], masses: Mapping[str, float]
) -> Array:
    """Return the prior weight of each member: its share of the prior weight of its family."""
    found = []
    for family, one in zip(families, fitted, strict=True):
        mine = np.array([member.prior for member in one.members])
        found.append(prior_mass(family, masses) * mine / mine.sum())
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Average:
    """A fitted average: everything that prediction needs."""

    learned: Learned
    families: tuple[FittedFamily, ...]
    calibration: Calibration
    weights: Array
    """Weights of all members; 0 for negligible ones."""

    @classmethod
    def of(cls, learned: Learned, families: Sequence[FittedFamily], scores: Scores) -> Average:
        """Combine fitted families, dropping members of negligible weight."""
        weights = scores.weights
        used = np.where(weights > NEGLIGIBLE / len(weights), weights, 0.0)
        return cls(learned, tuple(families), scores.calibration, used / used.sum())

    @property
    def n_classes(self) -> int:
        return len(self.calibration.shares)

    def predict_proba(self, X: Any, n_jobs: int | None = None) -> Array:
        """Return class probabilities for rows that are validated already."""
        n_classes, n_members = self.n_classes, int(np.count_nonzero(self.weights))
        step = max(64, BLOCK_NUMBERS // (n_members * n_classes + 2 * X.shape[1] + 4000))
        found = np.empty((X.shape[0], n_classes))

        def predict(start: int) -> None:
            found[start : start + step] = self._predict_block(X[start : start + step])

        with single_threaded_blas():
            starts = range(0, X.shape[0], step)
            Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(predict)(k) for k in starts)
        return found

    def _predict_block(self, X: Any) -> Array:
        features = self.learned.features(X)
        total = np.zeros((X.shape[0], self.n_classes))
        first = 0
        for family in self.families:
            mine = slice(first, first + len(family.members))
            first = mine.stop
            used = np.flatnonzero(self.weights[mine])
            if len(used):
                odds = family.log_odds(features, used)
                p = self.calibration.of(mine).of(used).probabilities(odds)
                total += np.einsum("m,mik->ik", self.weights[mine][used], p)
        return total / total.sum(axis=1, keepdims=True)
