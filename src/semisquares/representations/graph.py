"""A graph of neighbours: features that are smooth along the shapes that all rows form."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._inputs.checks import Number
from .._utils.typing import Array
from ._base import Points, Representation
from ._maps import GraphMap
from ._neighbours import Graph, neighbours_agree
from ._summary import SAMPLE_ROWS, Summary
from .linear import POWER

__all__ = ["Graph", "GraphRepresentation", "neighbours_agree"]


SMOOTHING = 0.9
SHARP = 0.01


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
        return self.as_map().features(points)

    def as_map(self) -> GraphMap:
        """Return what computes the features."""
        return GraphMap(self.power, self.graph_, self._gains)

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
