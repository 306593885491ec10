"""The oracle of experiments: a classifier that knows the labels that the others lack."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from .._inputs.labels import Labels, labeled_mask
from ._wrapped import WrappedClassifier

__all__ = ["OracleClassifier"]


class OracleClassifier(WrappedClassifier):
    """Fit a classifier to the true labels of all rows, to see what missing labels are worth.

    Experiments hide labels and call ``fit(X, y)`` of every method with the same y. The oracle gets
    the true labels in its constructor, so that it can be used in the same loop::

        for model in (SoftLabelClassifier(), OracleClassifier(LeastSquaresClassifier(), truth)):
            model.fit(X, y)  # y lacks labels

    It is not an upper bound: another method may happen to do better.

    Parameters
    ----------
    estimator : classifier
        The classifier to fit, such as ``LeastSquaresClassifier()``.
    y_true : array-like of shape (n_samples,), optional
        The label of every row of X; it must agree with the labels in y. None if y itself is
        complete.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.

    Attributes
    ----------
    estimator_ : classifier
        The wrapped classifier, fitted to the true labels.
    classes_ : ndarray of shape (n_classes,)
        The classes of the true labels, sorted.
    transduction_ : ndarray of shape (n_samples,)
        The true labels.

    Examples
    --------
    >>> from semisquares import LeastSquaresClassifier
    >>> from semisquares.baselines.oracle import OracleClassifier
    >>> X = [[-2.0], [-1.0], [0.0], [4.0]]
    >>> truth = ["no", "no", "yes", "yes"]
    >>> y = ["no", None, None, "yes"]
    >>> LeastSquaresClassifier().fit(X, y).predict([[0.6]]).tolist()
    ['no']
    >>> OracleClassifier(LeastSquaresClassifier(), truth).fit(X, y).predict([[0.6]]).tolist()
    ['yes']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WrappedClassifier._parameter_constraints,
        "y_true": ["array-like", None],
    }

    def __init__(self, estimator: Any, y_true: Any = None, *, unlabeled: Any = -1) -> None:
        self.estimator = estimator
        self.y_true = y_true
        self.unlabeled = unlabeled

    def _fit_rows(self, X: Any, labels: Labels) -> None:
        self.transduction_ = labels.classes[labels.codes]
        self.estimator_ = clone(self.estimator).fit(X, self.transduction_)

    def _read(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Read the true labels, and refuse those that are incomplete or contradict y."""
        name, given = ("y", y) if self.y_true is None else ("y_true", self.y_true)
        X, labels = super()._read(X, given)
        n_rows, n_missing = labels.n_rows, labels.n_rows - len(labels.labeled)
        if n_missing:
            raise ValueError(
                f"{name} lacks the label of {n_missing} of {n_rows} rows, and an oracle needs "
                "them all; pass the label of every row as y_true."
            )
        truth = labels.classes[labels.codes]
        known = labeled_mask(y, self.unlabeled)
        if len(known) != n_rows:
            raise ValueError(
                f"y has {len(known)} rows but X has {n_rows}; give y one value per row of X."
            )
        differ = np.flatnonzero(np.asarray(y, dtype=object).ravel()[known] != truth[known])
        if len(differ):
            row = int(np.flatnonzero(known)[differ[0]])
            raise ValueError(
                f"y and y_true differ in {len(differ)} of {known.sum()} labeled rows, first in row "
                f"{row}; pass y_true in the order of the rows of X."
            )
        return X, labels
