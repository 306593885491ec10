"""Log-odds of rows by fitted members: all that prediction needs of a family.

Nothing here imports scikit-learn: stored models predict with it. Each class has the members of one
family, or of a part of it, and the method `log_odds` of `FittedFamily`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._utils.typing import Array
from ._trees import Trees, as_single
from .protocol import Features, Member

__all__ = [
    "ForestOdds",
    "HardLabelOdds",
    "LogisticOdds",
    "MemberOdds",
    "RidgeOdds",
    "odds",
    "vote_odds",
]


class MemberOdds(Protocol):
    """Members that predict; what they were fitted to is forgotten."""

    @property
    def members(self) -> Sequence[Member]:
        """The members, in the order of their log-odds."""
        ...

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of rows by some members: members × rows × classes."""
        ...


@dataclass(frozen=True, eq=False)
class RidgeOdds:
    """Ridge classifiers on one representation."""

    members: Sequence[Member]
    representation: str
    coef: Array
    """Weights of the features: features × members × targets."""
    mean: Array
    """Mean of the labeled rows' features."""

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of rows by some members."""
        coef = self.coef[:, members]
        flat = coef.reshape(len(coef), coef.shape[1] * coef.shape[2])
        slopes = features.dot(self.representation, flat) - self.mean @ flat
        return odds(slopes.reshape(len(slopes), *coef.shape[1:]))


@dataclass(frozen=True, eq=False)
class LogisticOdds:
    """Logistic regressions on the scaled columns."""

    members: Sequence[Member]
    coef: Array
    """Weights of the scaled columns: columns × members × classes."""
    intercept: Array
    """Members × classes."""
    log_shares: Array

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of rows by some members."""
        scores = _dot(features.columns, self.coef[:, members]) + self.intercept[members]
        return np.moveaxis(scores, 1, 0) - self.log_shares

    def keep(self, members: Array) -> tuple[MemberOdds, ...]:
        """Return some members, without what they were fitted to."""
        coef, intercept = self.coef[:, members], self.intercept[members]
        return (LogisticOdds(_some(self.members, members), coef, intercept, self.log_shares),)


@dataclass(frozen=True, eq=False)
class HardLabelOdds:
    """Ridge classifiers that were fitted to given and imputed labels."""

    members: Sequence[Member]
    coef: Array
    """Weights of the columns as they are: columns × members × targets."""
    intercept: Array
    """Members × targets."""

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of rows by some members."""
        return odds(_dot(features.X, self.coef[:, members]) + self.intercept[members])

    def keep(self, members: Array) -> tuple[MemberOdds, ...]:
        """Return some members, without what they were fitted to."""
        coef, intercept = self.coef[:, members], self.intercept[members]
        return (HardLabelOdds(_some(self.members, members), coef, intercept),)


@dataclass(frozen=True, eq=False)
class ForestOdds:
    """A forest; its only member is scored by the votes of the trees."""

    members: Sequence[Member]
    trees: Trees
    shares: Array

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of rows."""
        votes = self.trees.total(as_single(features.X))
        return vote_odds(votes, self.trees.n_trees, self.shares)[None]


def odds(slopes: Array) -> Array:
    """Return log-odds of all classes, members first, from rows × members × targets."""
    slopes = np.moveaxis(slopes, 1, 0)
    if slopes.shape[2] == 1:
        return np.concatenate((-0.5 * slopes, 0.5 * slopes), axis=2)
    return slopes


def vote_odds(votes: Array, n_trees: Any, shares: Array) -> Array:
    """Return log-odds relative to the shares; the shares count as one more vote."""
    n_trees = np.reshape(np.asarray(n_trees, dtype=np.float64), (-1, 1))
    return np.log((votes + shares) / (n_trees + 1.0)) - np.log(shares)


def _dot(X: Any, coef: Array) -> Array:
    """Return rows × members × targets from weights of the columns."""
    flat = coef.reshape(len(coef), coef.shape[1] * coef.shape[2])
    found = np.asarray(X @ flat)
    return found.reshape(len(found), *coef.shape[1:])


def _some(members: Sequence[Member], places: Array) -> list[Member]:
    return [members[k] for k in places]
