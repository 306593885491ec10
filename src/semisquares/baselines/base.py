"""What the rivals share: reading X and y, one `fit`, and linear decisions.

A method is a subclass of `SemiSupervisedClassifier` with parameters, their constraints, and
``_fit_rows(X, labels)``, which sets the fitted attributes and returns what to warn of, or nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._inputs.arrays import read_columns
from .._inputs.checks import Number
from .._inputs.labels import Labels, read_labels, text_is_known
from .._inputs.memory import check_memory
from ..estimators.base import DecidingClassifier, fitted_state_kept

__all__ = [
    "NOT_NEGATIVE",
    "STEPS",
    "LinearClassifier",
    "SemiSupervisedClassifier",
    "free_rows",
    "label_all",
    "set_path",
]

Array = NDArray[Any]

NOT_NEGATIVE = [Number(Real, 0, None, closed="left")]
"""Constraint of a strength or a tolerance."""
STEPS = [Number(Integral, 1, None, closed="left")]
"""Constraint of `max_iter`."""


class SemiSupervisedClassifier(DecidingClassifier):
    """Base of the rivals: labels are missing where y is the marker, NaN, None or pd.NA.

    A subclass has a parameter `unlabeled`, and defines ``_fit_rows`` and ``decision_function``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"unlabeled": "no_validation"}

    @_fit_context(prefer_skip_nested_validation=False)  # a wrapped classifier is not validated yet
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows; a classifier around another takes whatever that one takes.
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
            )  # 3: whoever called fit, as scikit-learn's decorator stands between
        return self

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        """Return how many numbers a fit has to hold at least; 0 if that is not known."""
        return 0.0

    def _fit_rows(self, X: Any, labels: Labels) -> str | None:
        """Set the fitted attributes; return what its name and a warning go on with, or None."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Check X and y, and set scikit-learn's attributes of the columns."""
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
    """Base of the rivals with linear decision values: one column for two classes, else K."""

    coef_: Array
    intercept_: Array

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        return 2.0 * n_rows * (1 if n_classes == 2 else n_classes)  # decision values, and a copy

    def decision_function(self, X: Any) -> Array:
        """Return ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to decide on.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        return self._decide(self._check(X))

    def _decide(self, X: Array) -> Array:
        """Return the decision values of rows that are read already."""
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _set_transduction(self, X: Array, labels: Labels) -> None:
        """Set the labels of the training rows: known ones as they are, the others predicted."""
        self.transduction_ = self._class_of(self._decide(X))
        self.transduction_[labels.labeled] = labels.classes[labels.codes]


def free_rows(labels: Labels) -> Array:
    """Return the rows without a label, ascending."""
    return np.delete(np.arange(labels.n_rows), labels.labeled)


def label_all(labels: Labels, known: Array, found: Array) -> Array:
    """Return labels of all rows: `known` of those that have one, `found` of the others."""
    rows = np.empty((labels.n_rows, *known.shape[1:]), dtype=known.dtype)
    rows[labels.labeled], rows[free_rows(labels)] = known, found
    return rows


def set_path(model: Any, path: Iterable[Any]) -> None:
    """Set `path_` where `record_path` asks for it; else drop that of an earlier fit."""
    model.__dict__.pop("path_", None)
    if model.record_path:
        model.path_ = tuple(path)
