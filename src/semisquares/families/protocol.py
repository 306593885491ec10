"""The interface of a family: members that score themselves out of sample.

A family is fitted to the labeled rows. For each of its members it gives log-odds of the classes:
for the labeled rows as if each had been left out, and for any other rows. The average turns them
into probabilities and weights, and knows nothing else about a family.

Log-odds are relative to the shares of the classes: 0 for every class means no information. The
average calibrates them by a slope, which it expects to be about 1, and small offsets:

    P(class k | x) = softmax_k(slope · log-odds_k(x) + offset_k + log share_k)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._utils.typing import Array
from ..representations._maps import FeatureMap, Points
from ..representations._scaling import Coordinates

__all__ = ["Family", "Features", "FittedFamily", "LabeledRows", "Member", "UnlabeledRows"]


class Features:
    """Features of some rows by the name of a representation, computed on first use."""

    def __init__(
        self, X: Any, scaling: Coordinates, representations: Mapping[str, FeatureMap]
    ) -> None:
        self.X = X
        """The rows as they were given: dense or CSR."""
        self.scaling = scaling
        """Centre and scale of the columns, and the directions in which all rows vary."""
        self._points = Points(X, scaling)
        self._representations = representations

    def __len__(self) -> int:
        return len(self._representations)

    def __iter__(self) -> Iterator[str]:
        return iter(self._representations)

    def __getitem__(self, name: str) -> Any:
        return self._representations[name].features(self._points)

    @property
    def columns(self) -> Any:
        """The scaled columns: dense and centred, or sparse and not centred."""
        return self._points.along(0)

    def first(self, n_rows: int) -> Features:
        """Return the features of the first rows."""
        return Features(self.X[:n_rows], self.scaling, self._representations)

    def prior(self, name: str) -> float:
        """Return the prior weight of a representation."""
        return float(getattr(self._representations[name], "prior", 1.0))

    def dot(self, name: str, weights: Array) -> Array:
        """Return the features of a representation times some weights."""
        return self._representations[name].dot(self._points, weights)


@dataclass(frozen=True, eq=False)
class UnlabeledRows:
    """A sample of the unlabeled rows: distinct ones, ordered by the hash of their content."""

    features: Features
    weight: Array
    """Total weight of the copies of each row of the sample."""
    total: float
    """Total weight of all unlabeled rows, sampled or not."""

    def first(self, n_rows: int) -> UnlabeledRows:
        """Return a sample of at most `n_rows`."""
        if len(self.weight) <= n_rows:
            return self
        return UnlabeledRows(self.features.first(n_rows), self.weight[:n_rows], self.total)


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The labeled rows that a family is fitted to: distinct ones, ordered by their content."""

    features: Features
    codes: Array
    """The class of each row, 0 to n_classes - 1."""
    n_classes: int
    weight: Array
    """The weight of each row, including class weights; they add up to `total`."""
    total: float
    """The total of the sample weights: the number of labeled rows, if all weights are 1."""
    blocks: Array
    """Rows with the same number are left out together: copies of a row, and rows of a group."""
    n_jobs: int | None = None
    unlabeled: UnlabeledRows | None = None
    """Rows without a label, for families that use them; None if there are none."""

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def shares(self) -> Array:
        """The share of each class among the labels, with half a label added to each."""
        mass = np.bincount(self.codes, self.weight, minlength=self.n_classes) + 0.5
        return mass / mass.sum()

    def blocks_by_size(self) -> list[Array]:
        """Return, for each size of blocks, the rows of these blocks as a matrix."""
        order = np.argsort(self.blocks, kind="stable")
        _, starts, sizes = np.unique(self.blocks[order], return_index=True, return_counts=True)
        return [order[starts[sizes == size, None] + np.arange(size)] for size in np.unique(sizes)]

    def folds(self, most: int) -> Array:
        """Return the fold of each row: blocks are dealt to at most `most` folds, class by class."""
        _, first, block = np.unique(self.blocks, return_index=True, return_inverse=True)
        fold = np.empty(len(first), dtype=np.intp)
        order = np.argsort(self.codes[first], kind="stable")
        fold[order] = np.arange(len(order)) % min(most, len(order))
        return fold[block]


@dataclass(frozen=True)
class Member:
    """One member of a family, as described in the table of members."""

    representation: str
    setting: str
    prior: float = 1.0
    """Its share of the family's prior weight; the shares are normalised."""


class FittedFamily(Protocol):
    """A family that was fitted to the labeled rows."""

    @property
    def members(self) -> Sequence[Member]:
        """The members, in the order of their log-odds."""
        ...

    @property
    def left_out(self) -> Array:
        """Log-odds of the labeled rows, each without its block: members × rows × classes."""
        ...

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of other rows by some members: members × rows × classes."""
        ...

    # Models of tables can be stored if all families also have a method keep(members), which returns
    # the members as classes of `_odds`: without the rows that they were fitted to.


class Family(Protocol):
    """Classifiers that predict rows that they were not fitted to.

    A family may have two more attributes: `prior`, its prior weight (1 by default), and
    `needs_unlabeled`: if true, it is left out if there are no unlabeled rows, unless it is the only
    one.
    """

    @property
    def name(self) -> str:
        """Its name in tables of members and in the parameter `prior`."""
        ...

    def fit(self, rows: LabeledRows) -> FittedFamily:
        """Fit all members to the labeled rows."""
        ...
