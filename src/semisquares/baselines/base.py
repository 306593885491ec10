"""What the rivals share: reading X and y, predicting, scoring, all as the core does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..labels import Labels, labeled_mask, read_labels

Array = NDArray[Any]


class SemiSupervisedClassifier(ClassifierMixin, BaseEstimator):
    """Base of the rivals: labels are missing where y is the marker, NaN, None or pd.NA.

    A subclass has a parameter `unlabeled`, sets `classes_` by `_read`, and defines
    ``decision_function``: one column for two classes, positive for the second, else one per class.
    """

    unlabeled: Any
    classes_: Array

    def decision_function(self, X: Any) -> Array:
        """Return how much speaks for the second class, or for each of them."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label; the others are left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is marked as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        accuracy : float
            Between 0 and 1.
        """
        known = labeled_mask(y, self.unlabeled)
        if not known.any():
            raise ValueError(
                f"None of the {len(known)} rows of y has a label to score with; pass labeled rows."
            )
        right = np.asarray(y).ravel()[known] == self.predict(X)[known]
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(np.average(right, weights=weight))

    def _read(self, X: Any, y: Any) -> tuple[Array, Labels]:
        """Check X and y, and set `classes_` and scikit-learn's attributes of the columns."""
        X = validate_data(self, X, dtype=np.float64)
        labels = read_labels(y, unlabeled=self.unlabeled, n_rows=X.shape[0])
        self.classes_ = labels.classes
        return X, labels

    def _check(self, X: Any) -> Array:
        """Check rows to predict."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)
