"""Base class of the representations: read all rows once, and return features of any rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from .._inputs.arrays import explain_overflow, read_columns, read_table, read_weight
from .._utils.typing import Array
from ._maps import Points
from ._scaling import Scaling
from ._summary import SAMPLE_ROWS, Summary, summarize

__all__ = ["Points", "Representation"]


class Representation(TransformerMixin, BaseEstimator):
    """Base of the transformers that learn from all rows, without labels.

    A subclass defines `_learn`, from the summary of all rows, and `features`.
    """

    power: int
    name: str
    """Its name in tables of members."""
    prior: float = 1.0
    """Its prior weight among the representations that least squares members use."""
    scaling_: Scaling
    n_rows: int = SAMPLE_ROWS
    """The size of the sample of rows that it learns from."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the representation from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labeled or not.
        y : ignored
            Accepted for compatibility with pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        self
            The fitted transformer.
        """
        X = read_table(self, X)
        weight = read_weight(sample_weight, X)
        with np.errstate(over="ignore", invalid="ignore"):
            summary = summarize(X, weight, n_sample=max(1, self.n_rows))
        if not np.isfinite(summary.squares).all():
            explain_overflow(self, X)
        return self.fit_summary(summary, Scaling.of(summary))

    def fit_summary(self, summary: Summary, scaling: Scaling) -> Self:
        """Learn the representation from a summary of all rows."""
        self.scaling_ = scaling
        self.n_features_in_ = len(scaling.mean)
        self._learn(summary)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of some rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows with the same columns.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
            Their features; sparse only if X is sparse and its columns are only scaled.
        """
        check_is_fitted(self)
        X = read_columns(self, X, dtype=np.float64, accept_sparse=True, reset=False)
        return self.features(Points(X, self.scaling_))

    def features(self, points: Points) -> Any:
        """Return the features of rows that are validated already."""
        raise NotImplementedError

    def dot(self, points: Points, weights: Array) -> Array:
        """Return ``features(points) @ weights``."""
        return np.asarray(self.features(points) @ weights)

    def _learn(self, summary: Summary) -> None:
        """Set the fitted attributes."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
