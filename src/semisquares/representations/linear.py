"""Scaled columns, along the directions in which all rows vary."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from .._inputs.checks import Number
from .._utils.typing import Array
from ._base import Points, Representation
from ._maps import LinearMap

__all__ = ["LinearRepresentation"]


POWER = [Number(Integral, 0, 8, closed="both")]
"""Constraint of `power`."""


class LinearRepresentation(Representation):
    """Scale columns, and stretch rows along the directions in which all rows vary.

    With Σ = V diag(s) V' the covariance of all rows in scaled columns, the features of a row x are
    ``diag(s^{p/2}) V'x``. A ridge classifier on them prefers weights along directions of large
    spread, more strongly for a larger power p; power 0 only scales the columns.

    Columns are centred; those with more than two values are divided by their standard deviation.

    Parameters
    ----------
    power : int, default=1
        The power p of the covariance.

    Attributes
    ----------
    scaling_ : Scaling
        Centre and scale of each column, and the covariance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.representations import LinearRepresentation
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) @ [[1.0, 0.9], [0.0, 0.1]]
    >>> Z = LinearRepresentation(power=2).fit_transform(X)
    >>> bool(Z[:, 0].var() > 100 * Z[:, 1].var())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"power": POWER}
    prior = 3.0

    def __init__(self, power: int = 1) -> None:
        self.power = power

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name in tables of members."""
        return f"linear, p = {self.power}"

    def features(self, points: Points) -> Any:
        """Return the features of rows that are validated already."""
        return self.as_map().features(points)

    def as_map(self) -> LinearMap:
        """Return what computes the features."""
        return LinearMap(self.power)

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``, by weights of the columns themselves."""
        return self.as_map().dot(points, weights)
