"""The four metrics of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..._utils.typing import Array
from ...estimators._base import LinearLeastSquares

__all__ = ["score"]


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
    """Return the values that rank rows: one column if binary, else one per class."""
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
