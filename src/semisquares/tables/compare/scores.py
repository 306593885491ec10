"""The four metrics of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..._utils.typing import Array
from ...estimators._base import LinearLeastSquares

__all__ = ["score", "score_predictions"]


def score(model: Any, X: Array, codes: Array) -> tuple[float, float, float, float]:
    """Score a classifier of codes on labeled rows by each of `comparison.METRICS`, in their order.

    The AUC is computed from decision values; with more than two classes it is the mean over the
    classes in these rows, each against the rest; NaN if all rows are of one class. The squared loss
    is that of the soft labels: for the second class or, with more than two, summed over all.

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
    soft = model.predict_proba(X)
    return score_predictions(model.predict(X), soft, _ranking(model, X, soft), codes)


def score_predictions(
    predicted: Array, soft: Array, ranking: Array, codes: Array
) -> tuple[float, float, float, float]:
    """Score predictions for labeled rows, as `score` does.

    Parameters
    ----------
    predicted : ndarray of shape (n_rows,)
    soft : ndarray of shape (n_rows, n_classes)
        Soft labels or probabilities.
    ranking : ndarray of shape (n_rows, 1 or n_classes)
        Values that rank the rows, for the AUC: one column for two classes.
    codes : ndarray of shape (n_rows,)
        The class of each row; all are labeled.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> [round(x, 3) for x in score_predictions(p.argmax(axis=1), p, p[:, 1:], np.array([0, 1]))]
    [1.0, 1.0, 1.0, 0.085]
    """
    hits = predicted == codes
    truth = np.eye(soft.shape[1])[codes]
    losses = (soft - truth) ** 2
    loss = losses[:, 1] if soft.shape[1] == 2 else losses.sum(axis=1)
    by_class = [hits[codes == k].mean() for k in np.unique(codes)]
    return (
        float(hits.mean()),
        float(np.mean(by_class)),
        _auc(ranking, truth),
        float(loss.mean()),
    )


def _ranking(model: Any, X: Array, soft: Array) -> Array:
    """Return the values that rank rows: one column if binary, else one per class."""
    if not hasattr(model, "decision_function"):
        return soft[:, 1:] if soft.shape[1] == 2 else soft
    if soft.shape[1] == 2:
        return model.decision_function(X)[:, None]
    # logistic decision values have no common zero across rows; probabilities are comparable
    return model.decision_function(X) if isinstance(model, LinearLeastSquares) else soft


def _auc(values: Array, truth: Array) -> float:
    """Return the probability that a row of a class ranks above another row; mean over columns."""
    member = truth[:, -values.shape[1] :]
    n_in = member.sum(axis=0)
    n_out = len(member) - n_in
    seen = n_in * n_out > 0  # classes with a single label are not tested
    if not seen.any():
        return float("nan")
    ranks = rankdata(values, axis=0)
    above = (ranks * member).sum(axis=0) - n_in * (n_in + 1) / 2
    return float((above[seen] / (n_in * n_out)[seen]).mean())
