"""Generated rows: in some tables the classes are clusters, in others they are not.

This module needs only numpy, because workers in other environments draw rows too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .methods import Rows

Array = NDArray[Any]

COLUMNS = 50
APART = 1.5
"""Distance of both class means from the middle, in standard deviations within a class."""


def scaled_rows(n: int, n_labels: int, *, seed: int) -> Rows:
    """Draw two clusters, which are the classes; the first rows are labeled, half of each class."""
    rng = np.random.default_rng([seed, n])
    X, truth = clusters(n, COLUMNS, rng)
    y = np.full(n, -1)
    y[:n_labels] = truth[:n_labels]
    return Rows(X, y, seed, truth)


def clusters(n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw two round clusters; even rows are of class 0, odd ones of class 1."""
    y = np.arange(n) % 2
    direction = rng.standard_normal(d)
    centre = APART * direction / np.linalg.norm(direction)
    X = rng.standard_normal((n, d))
    X[y == 0] -= centre
    X[y == 1] += centre
    return X, y


def no_clusters(n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw one round cloud that a plane through its middle cuts in two, one label in ten flipped.

    Unlabeled rows give no information about the plane.
    """
    X = rng.standard_normal((n, d))
    side = X @ rng.standard_normal(d) > 0.0
    return X, (side ^ (rng.random(n) < 0.1)).astype(np.int64)


def cut_lengthwise(n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw two clusters that the classes cut lengthwise: the gap does not separate the classes."""
    X, cluster = clusters(n, d, rng)
    X[:, 0] += 6.0 * cluster  # a wide gap between the clusters
    return X, (X[:, 1] > X[:, 1].mean()).astype(np.int64)


def moons(n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw two interleaving half circles, and more columns of small noise."""
    y = np.arange(n) % 2
    angle = np.pi * rng.random(n)
    X = 0.15 * rng.standard_normal((n, d))
    X[:, 0] += np.where(y == 0, np.cos(angle), 1.0 - np.cos(angle))
    X[:, 1] += np.where(y == 0, np.sin(angle), 0.5 - np.sin(angle))
    return X, y
