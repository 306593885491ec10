"""The parts of an average: the labeled rows it is fitted to, and what predicts afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._inputs.labels import Labels
from ..core.rows import single_threaded_blas
from ..families import Family, Features, FittedFamily, LabeledRows, UnlabeledRows
from ..families.calibration import Calibration, calibrate, member_weights
from ..representations.base import Representation
from ..representations.scaling import Scaling
from ..representations.summary import hash_rows

__all__ = ["Average", "DistinctRows", "Learned", "Scores", "score_members"]

Array = NDArray[Any]

NEGLIGIBLE = 1e-4
"""Members whose weights together are below this are not computed when predicting."""
ROUNDING = 1e-9
"""A difference of weights is 0 if it is below this part of them."""
BLOCK_NUMBERS = 1 << 22
"""Rows are predicted in blocks that need about this many numbers."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What all rows taught: the scaling of columns, and the representations."""

    scaling: Scaling
    representations: Mapping[str, Representation]

    def features(self, X: Any) -> Features:
        """Return the features of some rows."""
        return Features(X, self.scaling, self.representations)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The labeled rows that count, copies with the same label merged, ordered by their content."""

    X: Any
    codes: Array
    classes: Array
    count: Array
    """Total sample weight of the copies of each row."""
    weight: Array
    """The same times the weight of its class."""
    blocks: Array
    """Rows with the same number leave together."""
    labeled: Array
    """The labeled rows that count, as numbers of rows of the user's table."""
    position: Array
    """Which of the distinct rows each of them is."""

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Labels,
        count: Array,
        weight: Array,
        groups: Array | None,
    ) -> DistinctRows:
        """Merge the labeled rows X; `count` are sample weights, `weight` those by class, too."""
        there = weight > 0.0
        labeled, codes, count, weight = (
            values[there] for values in (labels.labeled, labels.codes, count, weight)
        )
        X = X[there]
        X = X.astype(np.float64) if X.dtype != np.float64 else X
        # 128 bits tell rows apart, and give them an order that is theirs, not the table's
        keys = np.column_stack((hash_rows(X), hash_rows(X, seed=1), codes.astype(np.uint64)))
        _, first, position = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        _, blocks = np.unique(keys[:, :2], axis=0, return_inverse=True)
        position, blocks = position.ravel(), blocks.ravel()
        if groups is not None:
            blocks = _joined(blocks, groups[there])
        return cls(
            X[first],
            codes[first],
            labels.classes,
            np.bincount(position, count),
            np.bincount(position, weight),
            blocks[first],
            labeled,
            position,
        )

    def rows(self, learned: Learned, n_jobs: int | None) -> LabeledRows:
        """Return the rows as families are fitted to them."""
        total = float(self.count.sum())
        return LabeledRows(
            learned.features(self.X),
            self.codes,
            len(self.classes),
            self.weight * (total / self.weight.sum()),
            total,
            self.blocks,
            n_jobs,
            self._unlabeled(learned),
        )

    def _unlabeled(self, learned: Learned) -> UnlabeledRows | None:
        """Return the rows of the sample of all rows without their labeled copies."""
        summary = learned.scaling.summary
        of_row, position = np.unique(hash_rows(self.X), return_inverse=True)
        labeled = np.zeros(len(summary.hashes))
        _, mine, theirs = np.intersect1d(
            of_row, summary.hashes, assume_unique=True, return_indices=True
        )
        labeled[theirs] = np.bincount(position, self.count)[mine]
        left = summary.sample_weight - labeled
        free = left > ROUNDING * summary.sample_weight
        if not free.any():
            return None
        total = summary.weight - float(self.count.sum())
        return UnlabeledRows(learned.features(summary.sample[free]), left[free], total)


def _joined(first: Array, second: Array) -> Array:
    """Number rows so that two that share a number in either list have the same number."""
    _, second = np.unique(second, return_inverse=True)
    n_first = int(first.max()) + 1
    n_all = n_first + int(second.max()) + 1
    ones = np.ones(len(first))
    links = sparse.coo_array((ones, (first, n_first + second)), shape=(n_all, n_all))
    return connected_components(links, directed=False)[1][first]


@dataclass(frozen=True, eq=False)
class Scores:
    """How members do out of sample, and what follows from it."""

    calibration: Calibration
    losses: Array
    accuracies: Array
    weights: Array
    proba: Array
    """Out-of-sample probabilities of the labeled rows by the average: rows × classes."""


def score_members(rows: LabeledRows, left_out: Array, priors: Array, sharpness: float) -> Scores:
    """Calibrate members by their log-odds of rows that were left out, and weigh them.

    The probabilities of a row are averaged with weights that leave the losses of its own block
    out: a row does not choose the members that predict it.
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
    """Leave out families that need unlabeled rows if there are none, unless no others count."""
    if rows.unlabeled is not None:
        return families
    others = [one for one in families if not getattr(one, "needs_unlabeled", False)]
    return others if any(prior_mass(one, masses) > 0.0 for one in others) else families


def prior_mass(family: Family, masses: Mapping[str, float]) -> float:
    """Return the prior weight of a family: that asked for, its own, or 1."""
    return float(masses.get(family.name, getattr(family, "prior", 1.0)))


def priors_of(
    families: Sequence[Family], fitted: Sequence[FittedFamily], masses: Mapping[str, float]
) -> Array:
    """Return the prior weight of each member: the mass of its family, shared by its members."""
    found = []
    for family, one in zip(families, fitted, strict=True):
        mine = np.array([member.prior for member in one.members])
        found.append(prior_mass(family, masses) * mine / mine.sum())
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Average:
    """A fitted average: all that it needs to predict."""

    learned: Learned
    families: tuple[FittedFamily, ...]
    calibration: Calibration
    weights: Array
    """Of all members; 0 for those that are too small to be computed."""

    @classmethod
    def of(cls, learned: Learned, families: Sequence[FittedFamily], scores: Scores) -> Average:
        """Put together what predicts."""
        weights = scores.weights
        used = np.where(weights > NEGLIGIBLE / len(weights), weights, 0.0)
        return cls(learned, tuple(families), scores.calibration, used / used.sum())

    @property
    def n_classes(self) -> int:
        return len(self.calibration.shares)

    def predict_proba(self, X: Any, n_jobs: int | None = None) -> Array:
        """Return the probabilities of rows that were read already."""
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
