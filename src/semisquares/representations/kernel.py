"""Similarities to landmarks: features for curved class boundaries."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._inputs.checks import Number
from .._utils.typing import Array
from ..core import _dense as dense
from ._base import Points, Representation
from ._distances import squared_distances
from ._maps import KernelMap, laplace_kernel
from ._summary import SAMPLE_ROWS, Summary
from .linear import POWER

__all__ = ["KernelRepresentation"]


MEASURED_ROWS = 1000
"""The width is the median distance among this many rows, at most."""
JITTER = 1e-8
"""Added to the diagonal of the landmarks' kernel matrix before its root is inverted."""


class KernelRepresentation(Representation):
    """Nyström features of a Laplace kernel whose landmarks and width come from all rows.

    The kernel is ``k(x, x') = exp(-√(‖x_p - x'_p‖² / m))`` in the columns of
    `LinearRepresentation` with the same power, m the median squared distance of two rows. With
    landmarks G the features are ``k(X, G) (k(G, G) + 1e-8 I)^{-1/2}``. Landmarks are the rows with
    the smallest hash of their content: neither the order of rows nor their copies matter.

    Parameters
    ----------
    power : int, default=0
        The power of the covariance, as in `LinearRepresentation`.
    n_landmarks : int, default=300
        The largest number of landmarks.

    Attributes
    ----------
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_dimensions)
        The landmarks in scaled columns.
    width_ : float
        The median squared distance m.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.representations import KernelRepresentation
    >>> angle = np.linspace(0, 6.28, 300)
    >>> truth = np.arange(300) % 2
    >>> X = np.c_[np.cos(angle), np.sin(angle)] * (1 + truth[:, None])
    >>> y = np.where(np.arange(300) % 10 < 2, truth, -1)
    >>> model = make_pipeline(KernelRepresentation(), SoftLabelClassifier(0.1)).fit(X, y)
    >>> bool(model.score(X, truth) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "power": POWER,
        "n_landmarks": [Number(Integral, 1, None, closed="left")],
    }

    def __init__(self, power: int = 0, *, n_landmarks: int = 300) -> None:
        self.power = power
        self.n_landmarks = n_landmarks

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name in tables of members."""
        return f"kernel, p = {self.power}"

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The size of the sample of rows that it learns from."""
        return max(self.n_landmarks, SAMPLE_ROWS)

    def features(self, points: Points) -> Array:
        """Return the features of rows that are validated already."""
        return self.as_map().features(points)

    def as_map(self) -> KernelMap:
        """Return what computes the features."""
        return KernelMap(self.power, self.landmarks_, self.width_, self._root)

    def _learn(self, summary: Summary) -> None:
        rows = self.scaling_.apply(summary.sample[:MEASURED_ROWS], self.power)
        distances = squared_distances(rows, rows)
        pairs = distances[np.triu_indices(len(distances), 1)]
        self.width_ = (float(np.median(pairs)) if len(pairs) else 0.0) or 1.0
        n = self.n_landmarks
        self.landmarks_ = (
            rows[:n] if n <= rows.shape[0] else self.scaling_.apply(summary.sample[:n], self.power)
        )
        spectrum, vectors = dense.eigh(
            laplace_kernel(self.landmarks_, self.landmarks_, self.width_)
        )
        spectrum = np.maximum(spectrum, 0.0) + JITTER
        self._root = (vectors / np.sqrt(spectrum)) @ vectors.T
