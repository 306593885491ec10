"""From rows to the features of a representation: all that prediction needs of one.

Nothing here imports scikit-learn: stored models predict with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._utils.typing import Array
from ._distances import squared_distances
from ._neighbours import Graph
from ._scaling import Coordinates

__all__ = [
    "FeatureMap",
    "GraphMap",
    "KernelMap",
    "LinearMap",
    "Points",
    "laplace_kernel",
    "laplace_similarity",
]


class Points:
    """Rows, with a cache of their scaled columns and other intermediate results."""

    def __init__(self, X: Any, scaling: Coordinates) -> None:
        self.X, self.scaling = X, scaling
        self._known: dict[Any, Any] = {}

    def along(self, power: int) -> Any:
        """Return X_p of these rows."""
        return self.once(power, lambda: self.scaling.apply(self.X, power))

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return the cached result for this key, computing it on first use."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]


class FeatureMap(Protocol):
    """Features of rows that are validated already."""

    def features(self, points: Points) -> Any:
        """Return the features."""
        ...

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``."""
        ...


@dataclass(frozen=True, eq=False)
class LinearMap:
    """Scaled columns, along the directions in which all rows vary."""

    power: int

    def features(self, points: Points) -> Any:
        """Return X_p."""
        return points.along(self.power)

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``, by weights of the columns themselves."""
        if self.power == 0:
            return np.asarray(self.features(points) @ weights)
        weights = points.scaling.components(self.power) @ weights
        return np.asarray(points.X @ weights) - points.scaling.mean @ weights


@dataclass(frozen=True, eq=False)
class KernelMap:
    """Nyström features of a Laplace kernel."""

    power: int
    landmarks: Any
    """Rows in the coordinates of the power."""
    width: float
    root: Array
    """``(k(G, G) + 1e-8 I)^{-1/2}`` of the landmarks G."""

    def features(self, points: Points) -> Array:
        """Return the features."""
        return laplace_kernel(points.along(self.power), self.landmarks, self.width) @ self.root

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``."""
        return self.features(points) @ weights


@dataclass(frozen=True, eq=False)
class GraphMap:
    """Smooth functions on a graph of neighbours, each multiplied by its gain."""

    power: int
    graph: Graph
    gains: Array

    def features(self, points: Points) -> Array:
        """Return the features; two maps with the same graph compute its functions once."""
        graph = self.graph
        smooth = points.once(id(graph), lambda: graph.means(points.along(self.power)))
        return smooth * self.gains

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``."""
        return self.features(points) @ weights


def laplace_kernel(rows: Any, landmarks: Any, width: float) -> Array:
    """Return ``exp(-√(d² / width))`` for the squared distances d² of rows and landmarks.

    Examples
    --------
    >>> laplace_kernel(np.array([[0.0]]), np.array([[0.0], [2.0]]), 1.0).round(3).tolist()
    [[1.0, 0.135]]
    """
    return laplace_similarity(squared_distances(rows, landmarks), width)


def laplace_similarity(similar: Array, width: float) -> Array:
    """Return ``exp(-√(d² / width))`` for squared distances d², in their memory."""
    similar /= width
    np.sqrt(similar, out=similar)
    np.negative(similar, out=similar)
    return np.exp(similar, out=similar)
