"""Base classes of the baselines: reading X and y, one `fit`, and linear decisions.

A baseline is a subclass of `SemiSupervisedClassifier` with parameters, their constraints, and
``_fit_rows(X, labels)``, which sets the fitted attributes and returns a warning or None.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._inputs.arrays import read_columns
from .._inputs.checks import Number
from .._inputs.labels import Labels, read_labels, text_is_known
from .._inputs.memory import check_memory
from .._utils.typing import Array
from ..estimators._base import (
    DecidingClassifier,
    decision_values,
    fitted_state_kept,
    set_path,
)

__all__ = [
    "NOT_NEGATIVE",
    "STEPS",
    "LinearClassifier",
    "SemiSupervisedClassifier",
    "free_rows",
    "label_all",
    "set_path",
]


NOT_NEGATIVE = [Number(Real, 0, None, closed="left")]
"""Constraint of a strength or a tolerance."""
STEPS = [Number(Integral, 1, None, closed="left")]
"""Constraint of `max_iter`."""


class SemiSupervisedClassifier(DecidingClassifier):
    """Base of the baselines: labels are missing if y is the marker, NaN, None or pd.NA.

    A subclass has a parameter `unlabeled`, and defines ``_fit_rows`` and ``decision_function``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"unlabeled": "no_validation"}

    @_fit_context(prefer_skip_nested_validation=False)  # a wrapped classifier is not validated yet
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows; a classifier that wraps another accepts whatever that one accepts.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.

        Returns
        -------
        self
            The fitted classifier.
        """
        with fitted_state_kept(self):
            X, labels = self._read(X, y)
            n_rows, n_classes = labels.n_rows, len(labels.classes)
            check_memory(self._n_numbers(n_rows, n_classes), n_rows, n_classes)
            self.classes_ = labels.classes
            with text_is_known():
                complaint = self._fit_rows(X, labels)
        if complaint:
            warnings.warn(
                f"{type(self).__name__} {complaint}", ConvergenceWarning, stacklevel=3
            )  # 3: the caller of fit, because scikit-learn's decorator is in between
        return self

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        """Return a lower bound on how many numbers a fit holds; 0 if none is known."""
        return 0.0

    def _fit_rows(self, X: Any, labels: Labels) -> str | None:
        """Set the fitted attributes; return a warning to follow the name of the class, or None."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Check X and y, and set scikit-learn's attributes about the columns."""
        X = self._read_rows(X)
        return X, read_labels(y, unlabeled=self.unlabeled, n_rows=_num_samples(X))

    def _read_rows(self, X: Any) -> Any:
        """Check rows to fit."""
        return read_columns(self, X)

    def _check(self, X: Any) -> Any:
        """Check rows to predict."""
        check_is_fitted(self)
        return read_columns(self, X, reset=False)


class LinearClassifier(SemiSupervisedClassifier):
    """Base of the baselines with linear decision values: one column if binary, else K."""

    coef_: Array
    intercept_: Array

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        return 2.0 * n_rows * (1 if n_classes == 2 else n_classes)  # decision values, and a copy

    def decision_function(self, X: Any) -> Array:
        """Return ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        return decision_values(self._check(X), self.coef_, self.intercept_)

    def _set_transduction(self, X: Array, labels: Labels) -> None:
        """Set the labels of the training rows; labeled rows keep theirs."""
        self.transduction_ = self._class_of(decision_values(X, self.coef_, self.intercept_))
        self.transduction_[labels.labeled] = labels.classes[labels.codes]


def free_rows(labels: Labels) -> Array:
    """Return the rows without a label, ascending."""
    return np.delete(np.arange(labels.n_rows), labels.labeled)


def label_all(labels: Labels, known: Array, found: Array) -> Array:
    """Return labels of all rows: `known` for labeled rows, `found` for the others."""
    rows = np.empty((labels.n_rows, *known.shape[1:]), dtype=known.dtype)
    rows[labels.labeled], rows[free_rows(labels)] = known, found
    return rows
