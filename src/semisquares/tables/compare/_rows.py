"""The rows of a table, and samples of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.typing import Array

__all__ = ["MOST_TESTED", "TableRows", "sample_rows", "subsample"]


MOST_TESTED = 100_000
"""Unlabeled rows that cross-validation sees at most."""


@dataclass(frozen=True, eq=False)
class TableRows:
    """The encoded rows of a table, or a sample of them.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 if it has no label.
    groups : ndarray of shape (n_rows,), optional
        Rows of one group are never on both sides of a split.
    count : float, default=1
        How many rows each unlabeled row stands for: more than one if the rows are a sample.
    """

    X: Array
    codes: Array
    groups: Array | None = None
    count: float = 1.0

    def take(self, places: Array, count: float = 1.0) -> TableRows:
        """Return some of the rows, of which each unlabeled one stands for `count` times as many."""
        groups = None if self.groups is None else self.groups[places]
        return TableRows(self.X[places], self.codes[places], groups, count * self.count)


def sample_rows(places: Array, codes: Array, most: int, seed: int) -> tuple[Array, float]:
    """Keep the labeled rows and sample the others; return how many rows a sampled one stands for.

    Examples
    --------
    >>> import numpy as np
    >>> kept, count = sample_rows(np.arange(10), np.array([0, 1] + [-1] * 8), 4, 0)
    >>> kept[:2].tolist(), len(kept), count
    ([0, 1], 6, 2.0)
    """
    unlabeled = codes[places] < 0
    n_unlabeled = int(unlabeled.sum())
    if n_unlabeled <= most:
        return places, 1.0
    kept = np.random.default_rng(seed).choice(places[unlabeled], most, replace=False, shuffle=False)
    return np.sort(np.concatenate((places[~unlabeled], kept))), n_unlabeled / most


def subsample(rows: TableRows, seed: int, most: int = MOST_TESTED) -> TableRows:
    """Return the rows to cross-validate: the labeled rows and at most `most` others.

    Final fits see all rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TableRows(np.arange(10.0)[:, None], np.array([0, 1] + [-1] * 8))
    >>> sample = subsample(rows, 0, most=4)
    >>> sample.X.shape, sample.codes.tolist(), sample.count
    ((6, 1), [0, 1, -1, -1, -1, -1], 2.0)
    """
    places, count = sample_rows(np.arange(len(rows.codes)), rows.codes, most, seed)
    return rows if count == 1.0 else rows.take(places, count)
