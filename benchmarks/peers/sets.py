"""The tables, and their splits, which are the same for every method.

A split of a table sets 30 % of the rows aside for testing, stratified by class. Some of the others,
the training rows, keep their labels, by one of three regimes. Columns are standardised by the
training rows, and those that are constant there are dropped.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from semisquares.paper.datasets import DATASETS, features

from . import draws

Array = NDArray[Any]

SEED = 7
"""Seed of the splits."""
TEST_SHARE = 0.3
PER_CLASS = 10
LEAST = 10
"""Minimum number of labels in the regime with as many labels as columns."""
OF_EACH = 2
"""Minimum number of labels per class in every regime: cross-validation needs two."""

REGIMES = {
    "ten": "10 labels per class",
    "columns": "as many labels as columns",
    "half": "half of the training rows labeled",
}


def _drawn(draw: Callable[..., tuple[Array, Array]], n: int, d: int) -> Callable[[], Any]:
    return lambda: draw(n, d, np.random.default_rng(SEED))


PAPER = tuple(DATASETS)
MORE = {
    "Wine": ("scikit-learn, three classes", lambda: load_wine(return_X_y=True)),
    "Digits": ("scikit-learn, ten classes", lambda: load_digits(return_X_y=True)),
    "Clusters": ("simulated: the classes are clusters", _drawn(draws.clusters, 20_000, 20)),
    "No clusters": ("simulated: one cloud cut by a plane", _drawn(draws.no_clusters, 5_000, 20)),
    "Lengthwise": (
        "simulated: clusters that are not the classes",
        _drawn(draws.cut_lengthwise, 5_000, 5),
    ),
    "Moons": ("simulated: two half circles", _drawn(draws.moons, 5_000, 5)),
}
SETS = (*PAPER, *MORE)


@dataclass(frozen=True)
class Split:
    """Rows of one split in one regime; `y` is −1 for hidden labels."""

    X: Array
    y: Array
    truth: Array
    X_test: Array
    y_test: Array


@cache
def table(name: str) -> tuple[Array, Array]:
    """Return all rows of a table and their classes 0, 1, …"""
    X, y = MORE[name][1]() if name in MORE else features(name)
    return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)


@lru_cache(maxsize=8)
def draw(name: str, regime: str, number: int) -> Split:
    """Draw a split: the test rows depend only on its number, the labels on the regime too."""
    X, y = table(name)
    words = [SEED, zlib.crc32(name.encode()), number]
    rng = np.random.default_rng(words)
    train, test = train_test_split(
        np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=int(rng.integers(2**31))
    )
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    varies = spread > 1e-12 * np.abs(X[train]).max(axis=0)
    X = (X[:, varies] - mean[varies]) / spread[varies]
    rng = np.random.default_rng([*words, zlib.crc32(regime.encode())])
    kept = keep_labels(y[train], regime, X.shape[1], rng)
    hidden = np.full(len(train), -1)
    hidden[kept] = y[train][kept]
    return Split(X[train], hidden, y[train], X[test], y[test])


def keep_labels(y: Array, regime: str, n_columns: int, rng: np.random.Generator) -> Array:
    """Choose the training rows that keep their label, at random.

    Ten of each class; or as many rows as there are columns, ten at least; or half of the rows. In
    the latter two, two rows of each class come first.
    """
    order = rng.permutation(len(y))
    each = PER_CLASS if regime == "ten" else OF_EACH
    first = np.concatenate([order[y[order] == k][:each] for k in np.unique(y)])
    if regime == "ten":
        return np.sort(first)
    n_labels = {"columns": max(LEAST, n_columns), "half": len(y) // 2}[regime]
    rest = order[~np.isin(order, first)]
    return np.sort(np.concatenate((first, rest[: max(0, n_labels - len(first))])))
