"""scikit-learn's own semi-supervised classifiers behind the label conventions of semisquares."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.utils.validation import validate_data

from .._inputs.labels import Labels
from .._utils.typing import Array
from ._base import label_all
from ._wrapped import WrappedClassifier

__all__ = ["SemiSupervisedAdapter"]


class SemiSupervisedAdapter(WrappedClassifier):
    """Wrap a semi-supervised classifier of scikit-learn, so that it accepts labels of any type.

    `SelfTrainingClassifier`, `LabelPropagation` and `LabelSpreading` of scikit-learn need integer
    labels, with -1 for a missing one. This class encodes labels of any type as 0 … K-1 and missing
    ones as -1, fits the wrapped classifier, and decodes its predictions. If y is encoded already,
    the predictions are those of the wrapped classifier.

    If label propagation does not reach a row (no labeled row is near enough to count, and
    scikit-learn divides 0 by 0), the row's probabilities are the shares of the classes among the
    labeled rows, and its label is the most frequent class.

    Parameters
    ----------
    estimator : classifier
        A semi-supervised classifier that reads -1 as a missing label, or a pipeline that ends in
        one. It gets the codes of the classes, in sorted order: class weights, for instance, must be
        given by code.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.

    Attributes
    ----------
    estimator_ : classifier
        The wrapped classifier, fitted to codes.
    classes_ : ndarray of shape (n_classes,)
        The classes of y, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        The shares of the classes among the labeled rows.
    transduction_ : ndarray of shape (n_samples,)
        The labels that the wrapped classifier gave to the training rows (`LabelSpreading` may
        change those of labeled rows), or predicts for them if it gave none.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The soft labels of the training rows, if the wrapped classifier has them.
    n_iter_ : int
        The number of its iterations, if it counts them.

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

    def _fit_rows(self, X: Any, labels: Labels) -> None:
        codes = label_all(labels, labels.codes, np.array(-1))
        with warnings.catch_warnings():
            # the last point of a learning curve may have all labels
            warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
            self.estimator_ = clone(self.estimator).fit(X, codes)
        found = np.asarray(getattr(self.estimator_, "classes_", ()))
        if not np.array_equal(found, np.arange(len(labels.classes))):
            raise ValueError(
                f"{type(self.estimator).__name__} took the -1 of a missing label for a class; wrap "
                "it first in sklearn.semi_supervised.SelfTrainingClassifier, or pass a "
                "classifier that fills in missing labels."
            )
        self.class_prior_ = np.bincount(labels.codes) / len(labels.codes)
        self._set_training_labels(X)

    def _set_training_labels(self, X: Any) -> None:
        """Set the fitted attributes that describe the training rows."""
        last = _last_step(self.estimator_)
        for name in {"n_iter_", "label_distributions_", "transduction_"} & set(vars(self)):
            delattr(self, name)  # from an earlier fit, perhaps of another estimator
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
        self.transduction_ = self.classes_[codes]

    def _classes(self, X: Any) -> Array:
        # label propagation predicts the largest probability, and NaN counts as the largest
        soft = hasattr(self, "label_distributions_")
        codes = self._probabilities(X).argmax(axis=1) if soft else self.estimator_.predict(X)
        return self.classes_[codes]

    def _probabilities(self, X: Any) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._without_gaps(_predict_proba(self.estimator_, X))

    def _without_gaps(self, probabilities: Array) -> Array:
        """Replace rows of probabilities that are 0 or NaN by the shares of the classes."""
        empty = ~(probabilities.sum(axis=1) > 0.0)
        return np.where(empty[:, None], self.class_prior_, probabilities)


def _predict_proba(estimator: Any, X: Any) -> Array:
    """Return the probabilities of a classifier.

    scikit-learn's label propagation sums over the nearest neighbours of one row after another;
    here the same sums are taken over those of all rows at once.
    """
    if not isinstance(estimator, LabelPropagation | LabelSpreading) or estimator.kernel != "knn":
        return estimator.predict_proba(X)
    X = validate_data(estimator, X, accept_sparse=True, reset=False)
    near = estimator.nn_fit.kneighbors(X, return_distance=False)
    sums = estimator.label_distributions_[near].sum(axis=1)
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _last_step(estimator: Any) -> Any:
    """Return the classifier that a pipeline ends in, or the classifier itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
