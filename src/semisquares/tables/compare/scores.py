"""How good predictions are: the four measures of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ...estimators.base import LinearLeastSquares

__all__ = ["score"]

Array = NDArray[Any]


def score(model: Any, X: Array, codes: Array) -> tuple[float, float, float, float]:
    """Score a classifier of codes on labeled rows by each of `comparison.METRICS`, in their order.

    AUC is that of the decision values; with more than two classes the mean of each class among the
    rows against the rest; NaN where the rows are of one class. The squared loss is that of the soft
    labels (of the second class; with more than two classes, summed over all).

    Parameters
    ----------
    model : classifier
        Fitted to the codes 0 to K-1.
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        The class of each row; all are labeled.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import LeastSquaresClassifier
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = LeastSquaresClassifier(alpha=0).fit(X, codes)       # z = -0.1, 0.3, 0.7, 1.1
    >>> [round(value, 3) for value in score(model, X, codes)]
    [1.0, 1.0, 1.0, 0.045]
    """
    hits = model.predict(X) == codes
    soft = model.predict_proba(X)
    truth = np.eye(soft.shape[1])[codes]
    losses = (soft - truth) ** 2
    loss = losses[:, 1] if soft.shape[1] == 2 else losses.sum(axis=1)
    by_class = [hits[codes == k].mean() for k in np.unique(codes)]
    return (
        float(hits.mean()),
        float(np.mean(by_class)),
        _auc(_ranking(model, X, soft), truth),
        float(loss.mean()),
    )


def _ranking(model: Any, X: Array, soft: Array) -> Array:
    """Return what ranks the rows for each class, of two for the second only."""
    if soft.shape[1] == 2:
        return model.decision_function(X)[:, None]
    # decision values of logistic regression have no zero that rows share; its probabilities do
    return model.decision_function(X) if isinstance(model, LinearLeastSquares) else soft


def _auc(values: Array, truth: Array) -> float:
    """Return the chance that a row of the class ranks above one of the rest, mean over columns."""
    member = truth[:, -values.shape[1] :]
    n_in = member.sum(axis=0)
    n_out = len(member) - n_in
    seen = n_in * n_out > 0  # a class with a single label is not tested
    if not seen.any():
        return float("nan")
    ranks = rankdata(values, axis=0)
    above = (ranks * member).sum(axis=0) - n_in * (n_in + 1) / 2
    return float((above[seen] / (n_in * n_out)[seen]).mean())
