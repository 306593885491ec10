"""The four metrics of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..._utils.typing import Array
from ...estimators._base import LinearLeastSquares

__all__ = ["auc", "score", "score_predictions", "score_resamples"]


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
    by_class = [hits[codes == k].mean() for k in np.unique(codes)]
    return (
        float(hits.mean()),
        float(np.mean(by_class)),
        auc(ranking, truth),
        float(_losses(soft, truth).mean()),
    )


def score_resamples(
    predicted: Array, soft: Array, ranking: Array, codes: Array, counts: Array
) -> Array:
    """Score the same predictions as `score_predictions` does, with each row counted several times.

    Parameters
    ----------
    predicted, soft, ranking, codes : ndarray
        As `score_predictions` takes them.
    counts : ndarray of shape (n_resamples, n_rows)
        How often each row is in each resample.

    Returns
    -------
    ndarray of shape (n_resamples, 4)

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    >>> counts = np.array([[1, 1, 0], [1, 1, 2]])
    >>> score_resamples(p.argmax(axis=1), p, p[:, 1:], np.array([0, 1, 1]), counts).round(3)
    array([[1.   , 1.   , 1.   , 0.085], [0.5  , 0.667, 1.   , 0.363]])
    """
    counts = counts.astype(np.float64)
    n_rows = counts.sum(axis=1)
    hits, truth = predicted == codes, np.eye(soft.shape[1])[codes]
    n_of = counts @ truth
    seen = n_of > 0
    recalls = np.divide(
        counts @ (truth * hits[:, None]), n_of, where=seen, out=np.zeros(n_of.shape)
    )
    return np.c_[
        counts @ hits / n_rows,
        recalls.sum(axis=1) / seen.sum(axis=1),
        _aucs(ranking, truth, counts),
        np.einsum("ij,j->i", counts, _losses(soft, truth)) / n_rows,  # the same sum on any BLAS
    ]


def _losses(soft: Array, truth: Array) -> Array:
    """Return the squared loss of each row."""
    losses = (soft - truth) ** 2
    found: Array = losses[:, 1] if soft.shape[1] == 2 else losses.sum(axis=1)
    return found


def _ranking(model: Any, X: Array, soft: Array) -> Array:
    """Return the values that rank rows: one column if binary, else one per class."""
    if not hasattr(model, "decision_function"):
        return soft[:, 1:] if soft.shape[1] == 2 else soft
    if soft.shape[1] == 2:
        return model.decision_function(X)[:, None]
    # logistic decision values have no common zero across rows; probabilities are comparable
    return model.decision_function(X) if isinstance(model, LinearLeastSquares) else soft


def auc(values: Array, truth: Array) -> float:
    """Return the probability that a row of a class ranks above another row; mean over columns.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    truth : ndarray of shape (n_rows, at least n_columns)
        Whether each row is of the class; the last columns are those of `values`.

    Examples
    --------
    >>> auc(np.array([[0.1], [0.4], [0.3]]), np.array([[0], [1], [1]]))
    1.0
    """
    member = truth[:, -values.shape[1] :]
    n_in = member.sum(axis=0)
    n_out = len(member) - n_in
    seen = n_in * n_out > 0  # classes with a single label are not tested
    if not seen.any():
        return float("nan")
    ranks = rankdata(values, axis=0)
    above = (ranks * member).sum(axis=0) - n_in * (n_in + 1) / 2
    return float((above[seen] / (n_in * n_out)[seen]).mean())


def _aucs(values: Array, truth: Array, counts: Array) -> Array:
    """Return `auc` for each resample, in which each row counts several times."""
    total, n_seen = np.zeros(len(counts)), np.zeros(len(counts))
    for column, member in zip(values.T, truth[:, -values.shape[1] :].T, strict=True):
        order = np.argsort(column)
        first, last = (np.searchsorted(column[order], column[order], s) for s in ("left", "right"))
        inside = counts[:, order] * member[order]
        below = np.zeros((len(counts), len(order) + 1))  # rows of other classes, in that order
        np.cumsum(counts[:, order] - inside, axis=1, out=below[:, 1:])
        pairs = inside.sum(axis=1) * below[:, -1]
        above = np.einsum("ij,ij->i", inside, below[:, first] + below[:, last]) / 2.0
        total += np.divide(above, pairs, where=pairs > 0, out=np.zeros(len(counts)))
        n_seen += pairs > 0
    return np.divide(total, n_seen, where=n_seen > 0, out=np.full(len(counts), np.nan))
