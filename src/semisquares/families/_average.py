"""A fitted average of classifiers: its members, their weights, and its predictions.

Nothing here imports scikit-learn: stored models predict with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.typing import Array
from ..core.rows.array_api import on_host
from ..core.rows.threads import single_threaded_blas
from ..representations._maps import FeatureMap
from ..representations._scaling import Coordinates, Scaling
from ..representations._summary import Summary
from ._calibration import Calibration
from ._odds import MemberOdds
from .protocol import Features

__all__ = ["Average", "Learned"]


NEGLIGIBLE = 1e-4
"""Predictions skip the members with the smallest weights, which together are below this."""
BLOCK_NUMBERS = 1 << 22
"""Prediction is done in blocks of rows that need about this many numbers."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What is learned from all rows without labels: the column scaling and the representations."""

    scaling: Coordinates
    representations: Mapping[str, FeatureMap]

    @property
    def summary(self) -> Summary:
        """The summary of all rows; a stored average has none."""
        if not isinstance(self.scaling, Scaling):
            raise TypeError("a stored average has no summary of the rows that it was fitted to")
        return self.scaling.summary

    def features(self, X: Any) -> Features:
        """Return the features of some rows."""
        return Features(X, self.scaling, self.representations)


@dataclass(frozen=True, eq=False)
class Average:
    """A fitted average: everything that prediction needs."""

    learned: Learned
    families: tuple[MemberOdds, ...]
    calibration: Calibration
    weights: Array
    """Weights of all members; 0 for negligible ones."""

    @classmethod
    def of(
        cls,
        learned: Learned,
        families: Sequence[MemberOdds],
        calibration: Calibration,
        weights: Array,
    ) -> Average:
        """Combine fitted families, dropping members of negligible weight."""
        used = np.where(weights > NEGLIGIBLE / len(weights), weights, 0.0)
        return cls(learned, tuple(families), calibration, used / used.sum())

    @property
    def n_classes(self) -> int:
        return len(self.calibration.shares)

    def predict_proba(self, X: Any, n_jobs: int | None = None) -> Array:
        """Return class probabilities for rows that are validated already."""
        n_classes, n_members = self.n_classes, int(np.count_nonzero(self.weights))
        step = max(64, BLOCK_NUMBERS // (n_members * n_classes + 2 * X.shape[1] + 4000))
        found = np.empty((X.shape[0], n_classes))

        def predict(start: int) -> None:
            found[start : start + step] = self._predict_block(on_host(X[start : start + step]))

        starts = range(0, X.shape[0], step)
        with single_threaded_blas():
            if n_jobs is None:
                for start in starts:
                    predict(start)
            else:
                from joblib import Parallel, delayed

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
