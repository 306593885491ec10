"""The oracle of experiments: a classifier that knows the labels which the others lack."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils.validation import _num_samples

from ..estimators.base import fitted_state_kept
from ..labels import labeled_mask, read_labels
from .from_scikit_learn import WrappedClassifier

__all__ = ["OracleClassifier"]


class OracleClassifier(WrappedClassifier):
    """Fit a classifier to the true labels of all rows: what the missing labels would be worth.

    Experiments hide labels and call ``fit(X, y)`` of every method with the same y. The oracle is
    told the truth when it is made, so that it can stand in the same loop::

        for model in (SoftLabelClassifier(), OracleClassifier(LeastSquaresClassifier(), truth)):
            model.fit(X, y)  # y lacks labels

    It is no bound: another method may happen to do better.

    Parameters
    ----------
    estimator : classifier
        What to fit, such as ``LeastSquaresClassifier()``.
    y_true : array-like of shape (n_samples,), optional
        The label of every row of X; where y has a label too, they have to agree. None means that
        y itself lacks none.
    unlabeled : object, default=-1
        What marks a row without a label in y, besides NaN, None and pd.NA; None turns the marker
        off.

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

    @_fit_context(prefer_skip_nested_validation=False)  # the wrapped one is not validated yet
    def fit(self, X: Any, y: Any) -> OracleClassifier:
        """Fit the wrapped classifier to all rows with their true labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, of a kind that the wrapped classifier takes.
        y : array-like of shape (n_samples,)
            Their labels, as the other methods get them; only compared with `y_true`.

        Returns
        -------
        self : OracleClassifier
            The fitted classifier.
        """
        with fitted_state_kept(self):
            X = self._rows(X)
            truth = self._truth(y, _num_samples(X))
            self.estimator_ = clone(self.estimator).fit(X, truth)
            self.classes_, self.transduction_ = np.unique(truth), truth
        return self

    def _truth(self, y: Any, n_rows: int) -> Any:
        """Return the true labels, and refuse those that are incomplete or contradict y."""
        name = "y" if self.y_true is None else "y_true"
        labels = read_labels(
            y if self.y_true is None else self.y_true, unlabeled=self.unlabeled, n_rows=n_rows
        )
        n_missing = n_rows - len(labels.labeled)
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
        return truth
