"""scikit-learn's own semi-supervised classifiers behind the label conventions of semisquares."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _ensure_no_complex_data,
    _num_samples,
    check_is_fitted,
    validate_data,
)

from ..estimators.base import fitted_state_kept
from ..labels import read_labels
from .base import SemiSupervisedClassifier

__all__ = ["SemiSupervisedAdapter", "WrappedClassifier"]

Array = NDArray[Any]


def _estimator_has(name: str) -> Callable[[Any], bool]:
    """Say whether the wrapped estimator has a method, or raise its own error."""

    def check(model: Any) -> bool:
        getattr(getattr(model, "estimator_", model.estimator), name)
        return True

    return check


class WrappedClassifier(SemiSupervisedClassifier):
    """Base of the classifiers around another: X goes to it as it is, and its methods come back."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "unlabeled": "no_validation",
    }

    estimator: Any
    estimator_: Any

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, of a kind that the wrapped classifier takes.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        X = self._check(X)
        return self._decode(self.estimator_.predict(X))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class as the wrapped classifier gives it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, of a kind that the wrapped classifier takes.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        X = self._check(X)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Return the decision values of the wrapped classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on, of a kind that the wrapped classifier takes.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        X = self._check(X)
        return self.estimator_.decision_function(X)

    def _decode(self, predicted: Array) -> Array:
        """Turn what the wrapped classifier predicts into the user's classes."""
        return predicted

    def _rows(self, X: Any) -> Any:
        """Note the number and names of the columns; their values are the wrapped one's care."""
        _ensure_no_complex_data(X)
        validate_data(self, X, skip_check_array=True)
        return X.tocsr() if issparse(X) else X

    def _check(self, X: Any) -> Any:
        """Check the number and names of the columns of rows to predict."""
        check_is_fitted(self)
        if len(getattr(X, "shape", (0, 0))) == 2:  # else the wrapped classifier tells what to do
            validate_data(self, X, reset=False, skip_check_array=True)
        return X.tocsr() if issparse(X) else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class SemiSupervisedAdapter(WrappedClassifier):
    """Wrap a semi-supervised classifier of scikit-learn, so that it takes labels as all others do.

    `SelfTrainingClassifier`, `LabelPropagation` and `LabelSpreading` of scikit-learn want whole
    numbers with -1 for a missing label. This class takes labels of any kind, codes them as 0 …
    K-1 and the missing ones as -1, fits the wrapped classifier, and gives its answers in the
    classes of y. On codes it changes nothing: predictions are those of the wrapped classifier.

    Where label propagation says nothing about a row (no labeled row is near enough to count, and
    scikit-learn divides 0 by 0), the row gets the shares of the classes among the labeled rows as
    its probabilities, and the most frequent class as its label.

    Parameters
    ----------
    estimator : classifier
        A semi-supervised classifier that takes -1 for a missing label, or a pipeline that ends in
        one. It sees the codes of the classes, in sorted order: class weights by name, for
        instance, have to be given by code.
    unlabeled : object, default=-1
        What marks a row without a label, besides NaN, None and pd.NA; None turns the marker off.

    Attributes
    ----------
    estimator_ : classifier
        The wrapped classifier, fitted on codes.
    classes_ : ndarray of shape (n_classes,)
        The classes of y, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        The shares of the classes among the labeled rows.
    transduction_ : ndarray of shape (n_samples,)
        The labels that the wrapped classifier gave to the training rows (`LabelSpreading` may
        change those of labeled rows); where it gave none, what it predicts.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The soft labels of the training rows, where the wrapped classifier has them.
    n_iter_ : int
        Number of its iterations, where it counts them.

    Examples
    --------
    >>> from sklearn.semi_supervised import LabelSpreading
    >>> from semisquares.baselines.from_scikit_learn import SemiSupervisedAdapter
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0], [900.0]]
    >>> y = ["no", None, None, None, "yes", "yes", None]
    >>> model = SemiSupervisedAdapter(LabelSpreading(gamma=2.0)).fit(X, y)
    >>> model.transduction_.tolist()
    ['no', 'no', 'no', 'yes', 'yes', 'yes', 'yes']
    >>> model.predict_proba([[-1.8], [900.0]]).round(2)  # the last row is near no other
    array([[1.  , 0.  ],
           [0.33, 0.67]])
    """

    def __init__(self, estimator: Any, *, unlabeled: Any = -1) -> None:
        self.estimator = estimator
        self.unlabeled = unlabeled

    @_fit_context(prefer_skip_nested_validation=False)  # the wrapped one is not validated yet
    def fit(self, X: Any, y: Any) -> SemiSupervisedAdapter:
        """Fit the wrapped classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, of a kind that the wrapped classifier takes.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.

        Returns
        -------
        self : SemiSupervisedAdapter
            The fitted classifier.
        """
        with fitted_state_kept(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        X = self._rows(X)
        labels = read_labels(y, unlabeled=self.unlabeled, n_rows=_num_samples(X))
        codes = np.full(labels.n_rows, -1)
        codes[labels.labeled] = labels.codes
        with warnings.catch_warnings():
            # a learning curve may well end where every row has a label
            warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
            self.estimator_ = clone(self.estimator).fit(X, codes)
        found = np.asarray(getattr(self.estimator_, "classes_", ()))
        if not np.array_equal(found, np.arange(len(labels.classes))):
            raise ValueError(
                f"{type(self.estimator).__name__} took the -1 of a missing label for a class; wrap "
                "it first in sklearn.semi_supervised.SelfTrainingClassifier, or pass a "
                "classifier that fills in missing labels."
            )
        self.classes_ = labels.classes
        self.class_prior_ = np.bincount(labels.codes) / len(labels.codes)
        self._set_training_labels(X)

    def _set_training_labels(self, X: Any) -> None:
        """Set what was found about the training rows."""
        last = _last_step(self.estimator_)
        for name in {"n_iter_", "label_distributions_", "transduction_"} & set(vars(self)):
            delattr(self, name)  # of an earlier fit, of another estimator
        if hasattr(last, "n_iter_"):
            self.n_iter_ = last.n_iter_
        if hasattr(last, "label_distributions_"):
            self.label_distributions_ = self._without_gaps(last.label_distributions_)
            codes = self.label_distributions_.argmax(axis=1)
        elif hasattr(last, "transduction_"):
            codes = np.array(last.transduction_)
        else:
            codes = self.estimator_.predict(X)
        if (codes < 0).any():
            codes = np.where(codes < 0, self.estimator_.predict(X), codes)
        self.transduction_ = self._decode(codes)

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, of a kind that the wrapped classifier takes.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        check_is_fitted(self)
        if not hasattr(self, "label_distributions_"):
            return super().predict(X)
        # label propagation takes the largest probability, and NaN for the largest of all
        return self._decode(self.predict_proba(X).argmax(axis=1))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class as the wrapped classifier gives it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, of a kind that the wrapped classifier takes.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`; a row that the wrapped classifier says nothing about
            has the shares of the classes among the labeled rows.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            probabilities = super().predict_proba(X)
        return self._without_gaps(probabilities)

    def _without_gaps(self, probabilities: Array) -> Array:
        """Put the shares of the classes where nothing, or 0 / 0, is said of a row."""
        empty = ~(probabilities.sum(axis=1) > 0.0)
        return np.where(empty[:, None], self.class_prior_, probabilities)

    def _decode(self, predicted: Array) -> Array:
        return self.classes_[predicted]


def _last_step(estimator: Any) -> Any:
    """Return the classifier that a pipeline ends in, or the classifier itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
