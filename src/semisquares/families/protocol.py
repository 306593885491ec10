"""The interface of a family: members that score themselves out of sample.

A family is fitted to the labeled rows and gives, for each of its members, log-odds of the classes:
of the labeled rows as if each had been left out, and of any further rows. The average turns them
into probabilities and weights, and knows nothing else about a family.

Log-odds are relative to the shares of the classes: a member that knows nothing says 0 for every
class. The average calibrates them by a slope, which it expects to be about 1, and small offsets:

    P(class k | x) = softmax_k(slope · log-odds_k(x) + offset_k + log share_k)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..representations._base import Points, Representation
from ..representations._scaling import Scaling

__all__ = ["Family", "Features", "FittedFamily", "LabeledRows", "Member", "UnlabeledRows"]

Array = NDArray[Any]


class Features:
    """Features of some rows by the name of a representation, computed when they are asked for."""

    def __init__(
        self, X: Any, scaling: Scaling, representations: Mapping[str, Representation]
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
        return self._representations[name].prior

    def dot(self, name: str, weights: Array) -> Array:
        """Return the features of a representation times some weights."""
        return self._representations[name].dot(self._points, weights)


@dataclass(frozen=True, eq=False)
class UnlabeledRows:
    """A sample of the unlabeled rows: distinct ones, ordered by the hash of their content."""

    features: Features
    weight: Array
    """How often each row of the sample is there."""
    total: float
    """How many unlabeled rows there are, sampled or not."""

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
    """How much each row counts, class weights included; they add up to `total`."""
    total: float
    """The total of the sample weights: how many labeled rows there are."""
    blocks: Array
    """Rows with the same number leave together: copies of one row, and rows of one group."""
    n_jobs: int | None = None
    unlabeled: UnlabeledRows | None = None
    """Rows without a label, for families that use them; None if there are none."""

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def shares(self) -> Array:
        """The share of each class among the labels, half a label added to each."""
        mass = np.bincount(self.codes, self.weight, minlength=self.n_classes) + 0.5
        return mass / mass.sum()

    def blocks_by_size(self) -> list[Array]:
        """Return the rows of all blocks of one size as a matrix, for each size."""
        order = np.argsort(self.blocks, kind="stable")
        _, starts, sizes = np.unique(self.blocks[order], return_index=True, return_counts=True)
        return [order[starts[sizes == size, None] + np.arange(size)] for size in np.unique(sizes)]

    def folds(self, most: int) -> Array:
        """Deal blocks to at most so many folds, those of each class in turn; number the folds."""
        _, first, block = np.unique(self.blocks, return_index=True, return_inverse=True)
        fold = np.empty(len(first), dtype=np.intp)
        order = np.argsort(self.codes[first], kind="stable")
        fold[order] = np.arange(len(order)) % min(most, len(order))
        return fold[block]


@dataclass(frozen=True)
class Member:
    """One member of a family, in the words of the table of members."""

    representation: str
    setting: str
    prior: float = 1.0
    """Its part of the family's prior weight; those of a family are normalised."""


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


class Family(Protocol):
    """Classifiers that can say how they do on rows that they were not fitted to.

    A family may have two more attributes: `prior`, its prior weight, which is 1 otherwise, and
    `needs_unlabeled`: if true, it is left out where there are no unlabeled rows, unless it is the
    only one.
    """

    @property
    def name(self) -> str:
        """What tables of members and the parameter `prior` call it."""
        ...

    def fit(self, rows: LabeledRows) -> FittedFamily:
        """Fit all members to the labeled rows."""
        ...
