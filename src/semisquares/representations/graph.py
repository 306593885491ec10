"""A graph of neighbours: features that are smooth along the shapes that all rows form."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from .._inputs.checks import Number
from .._utils.typing import Array
from ..core._interrupts import interruptible
from ._base import Points, Representation
from ._distances import squared_distances
from ._scaling import leading, with_signs
from ._summary import SAMPLE_ROWS, Summary
from .linear import POWER

__all__ = ["GraphRepresentation", "neighbours_agree"]


MOST_FEATURES = 200
SMOOTHING = 0.9
SHARP = 0.01
TIED = 1.0 + 1e-9
"""Distances up to this factor above that of the last neighbour are ties with it."""
VOTERS = 3
"""Neighbours whose labels tell whether a graph can help."""
LEAST_REACH = 1e-3
"""The reach of a row is at least this part of the median, however close its neighbours are."""


class GraphRepresentation(Representation):
    """Smooth functions on a graph of neighbours among a sample of all rows.

    Each row of the sample is joined to its nearest neighbours, rows at the same distance as the
    last of them included, with weights ``w_ij = exp(-d²_ij / (ρ_i ρ_j))``, ρ the distance to the
    last neighbour. Let (1 - λ_j, u_j) be the largest eigenpairs of ``D^{-1/2} W D^{-1/2}``. The
    features of a row x are the weighted means ψ_j(x) of ``v_j = (D / Σ D)^{-1/2} u_j`` over its
    neighbours, times ``1 / √(1 - 0.9 (1 - λ_j))``, or ``1 / (λ_j + 0.01)`` if `sharp`. A row is
    never its own neighbour, and neither is a copy of it.

    Parameters
    ----------
    power : int, default=0
        The power of the covariance in whose columns distances are taken, as in
        `LinearRepresentation`.
    n_neighbors : int, default=7
        The number of neighbours.
    n_rows : int, default=1200
        The largest number of rows in the graph: those with the smallest hash of their content.
    sharp : bool, default=False
        Whether smooth functions get a much larger weight than the others.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_features_out,)
        The values λ_j, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.representations import GraphRepresentation
    >>> X = np.r_[np.linspace(0, 1, 30), np.linspace(9, 10, 30)][:, None]
    >>> Z = GraphRepresentation(n_neighbors=3).fit_transform(X)
    >>> bool(Z[:30, :2].std(axis=0).max() < 1e-6)  # two components: constant on either
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "power": POWER,
        "n_neighbors": [Number(Integral, 1, None, closed="left")],
        "n_rows": [Number(Integral, 2, None, closed="left")],
        "sharp": ["boolean"],
    }

    def __init__(
        self,
        power: int = 0,
        *,
        n_neighbors: int = 7,
        n_rows: int = SAMPLE_ROWS,
        sharp: bool = False,
    ) -> None:
        self.power = power
        self.n_neighbors = n_neighbors
        self.n_rows = n_rows
        self.sharp = sharp

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name in tables of members."""
        return f"{'sharp ' if self.sharp else ''}graph, p = {self.power}"

    def features(self, points: Points) -> Array:
        """Return the features of rows that are validated already."""
        graph = self.graph_
        smooth = points.once(id(graph), lambda: graph.means(points.along(self.power)))
        return smooth * self._gains

    def shares_graph_with(self, other: Any) -> bool:
        """Tell whether another representation has the same graph."""
        return isinstance(other, GraphRepresentation) and (
            (self.power, self.n_neighbors, self.n_rows)
            == (other.power, other.n_neighbors, other.n_rows)
        )

    def adopt(self, other: GraphRepresentation) -> None:
        """Use the graph of another representation, which was fitted to the same rows."""
        self.scaling_, self.n_features_in_ = other.scaling_, other.n_features_in_
        self._set_graph(other.graph_)

    def _learn(self, summary: Summary) -> None:
        rows = self.scaling_.apply(summary.sample[: self.n_rows], self.power)
        self._set_graph(Graph.of(rows, self.n_neighbors))

    def _set_graph(self, graph: Graph) -> None:
        self.graph_ = graph
        values = self.eigenvalues_ = graph.eigenvalues
        if self.sharp:
            self._gains = 1.0 / (values + SHARP)
        else:
            self._gains = 1.0 / np.sqrt(1.0 - SMOOTHING * (1.0 - values))


@dataclass(frozen=True, eq=False)
class Graph:
    """Neighbours among some rows, and the smoothest functions on them."""

    rows: Any
    reach: Array
    """The squared distance to the last neighbour of each row."""
    n_neighbors: int
    eigenvalues: Array
    """λ, ascending: 0 for functions that are constant on each component."""
    functions: Array

    @classmethod
    def of(cls, rows: Any, n_neighbors: int) -> Graph:
        """Join rows to their neighbours."""
        n = rows.shape[0]
        if n < 2:
            return cls(rows, np.ones(n), n_neighbors, np.zeros(1), np.zeros((n, 1)))
        distances = squared_distances(rows, rows, copies=np.inf)
        near, reach = _neighbours(distances, n_neighbors)
        floor = LEAST_REACH * np.median(reach)
        reach = np.maximum(reach, floor if floor > 0.0 else 1.0)
        i, j = np.nonzero(near | near.T)
        values = np.exp(-distances[i, j] / np.sqrt(reach[i] * reach[j]))
        weights = distances
        weights[:] = 0.0
        weights[i, j] = values
        degree = weights.sum(axis=1)
        root = np.sqrt(np.maximum(degree, np.finfo(float).tiny))
        weights /= root[:, None]
        weights /= root  # symmetric, in the memory of the distances
        first = max(0, n - MOST_FEATURES - 1)
        values, vectors = interruptible(
            lambda: linalg.eigh(
                weights, subset_by_index=(first, n - 1), overwrite_a=True, check_finite=False
            ),
            9.0 * float(n) ** 3,
        )
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = leading(values, MOST_FEATURES)
        functions = with_signs(vectors[:, :kept]) * np.sqrt(n * degree.mean()) / root[:, None]
        smoothness = np.maximum(1.0 - values[:kept], 0.0)
        return cls(rows, reach, n_neighbors, smoothness, functions)

    def means(self, rows: Any) -> Array:
        """Return the weighted mean of each function over the neighbours of other rows."""
        if self.rows.shape[0] < 2:
            return np.zeros((rows.shape[0], len(self.eigenvalues)))
        distances = squared_distances(rows, self.rows, copies=np.inf)
        near, reach = _neighbours(distances, self.n_neighbors)
        reach = np.maximum(reach, self.reach.min())
        i, j = np.nonzero(near)
        values = np.exp(-distances[i, j] / np.sqrt(reach[i] * self.reach[j]))
        weights = sparse.csr_array((values, (i, j)), shape=distances.shape)
        total = weights.sum(axis=1)
        return (weights @ self.functions) / np.where(total > 0.0, total, 1.0)[:, None]


def neighbours_agree(rows: Any, codes: Array, weight: Array, blocks: Array) -> bool:
    """Tell whether the neighbours of labeled rows predict their classes better than a constant.

    The prediction for a row is the majority class of its three nearest neighbours outside of its
    block, ties included. A graph cannot help if that is right no more often than the most frequent
    class. With three blocks or fewer this cannot be tested, and the answer is yes.
    """
    if len(np.unique(blocks)) <= VOTERS:
        return True
    distances = squared_distances(rows, rows)
    distances[blocks[:, None] == blocks] = np.inf
    near, _ = _neighbours(distances, VOTERS)
    one_hot = np.eye(int(codes.max()) + 1)[codes] * weight[:, None]
    right = (near @ one_hot).argmax(axis=1) == codes
    return bool(weight @ right > one_hot.sum(axis=0).max())


def _neighbours(distances: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Return a mask of neighbours, ties included, and the squared distances to the last one."""
    k = min(n_neighbors, distances.shape[1] - 1)
    last = np.partition(distances, k - 1, axis=1)[:, k - 1] if k else np.zeros(len(distances))
    last = np.where(np.isfinite(last), last, 0.0)
    return distances <= last[:, None] * TIED, last
