"""Base of the linear discriminants: a `GaussianClasses` as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax

from .._inputs.checks import Number, one_line, read_floats
from .._inputs.labels import Labels
from .._utils.typing import Array
from ._base import LinearClassifier
from ._gaussian import GaussianClasses, Given, level

__all__ = ["GaussianDiscriminant", "read_priors"]


class GaussianDiscriminant(LinearClassifier):
    """Base of the discriminants: decisions are log odds, or log p(class | x) up to a constant."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearClassifier._parameter_constraints,
        "shrinkage": [Number(Real, 0, np.inf, closed="left")],
        "priors": ["array-like", None],
    }

    shrinkage: float
    priors: Any

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
            Each row sums to one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack((expit(-scores), expit(scores)), axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
            Finite even if the probability itself underflows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack((np.zeros(len(scores)), scores), axis=1)
        return np.asarray(log_softmax(scores, axis=1))

    def _set_model(self, model: GaussianClasses) -> None:
        """Set the fitted attributes that describe θ."""
        weights, intercepts = model.linear()
        if len(weights) == 2:
            weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        self.coef_, self.intercept_ = weights, intercepts
        self.means_, self.covariance_, self.priors_ = model.means, model.covariance, model.priors

    def _read_rows(self, X: Any) -> Array:
        return level(super()._read_rows(X))

    def _given(self, X: Array, labels: Labels) -> Given:
        """Return what the parameters and X determine."""
        return Given.of(X, float(self.shrinkage), read_priors(self.priors, labels.classes))


def read_priors(priors: Any, classes: Array) -> Array | None:
    """Check the user's priors: one positive number for each class, with the sum 1."""
    if priors is None:
        return None
    values = read_floats(priors)
    fits = values.shape == (len(classes),) and ((values > 0.0) & (values <= 1.0)).all()
    if not (fits and np.isclose(values.sum(), 1.0, rtol=0.0, atol=1e-8)):
        raise ValueError(
            f"priors={one_line(priors)} must be {len(classes)} positive numbers that sum to 1, one "
            f"for each of the classes {classes.tolist()}; give those, or None to learn them."
        )
    return values / values.sum()
