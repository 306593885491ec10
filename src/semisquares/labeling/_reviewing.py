"""Find doubtful labels: those that the leave-one-out probabilities contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._inputs.arrays import read_columns
from .._inputs.checks import is_dask, one_line
from .._inputs.labels import Labels, check_length, read_labels
from .._inputs.untested import rows_to_test
from .._utils.typing import Array
from ..core.rows import single_threaded_blas
from ..estimators import AveragedClassifier
from ..representations._distances import squared_distances
from ._wrong_labels import find_wrong_labels

__all__ = ["DoubtfulLabels", "doubtful_labels"]


N_NEAREST = 5
"""Nearest labeled rows of each doubtful one."""
_CHUNK = 1 << 22
"""Distances that are computed at once."""


@dataclass(frozen=True, eq=False)
class DoubtfulLabels:
    """Labels that the classifier contradicts, the most doubtful first."""

    indices: Array
    """Their places in X."""
    given: Array
    """The labels."""
    likely: Array
    """The most probable class of each row, by a classifier that has not seen its label."""
    given_probability: Array
    """The leave-one-out probability of the label."""
    likely_probability: Array
    """The leave-one-out probability of the most probable class."""
    scores: Array
    """The probability that the label is wrong."""
    nearest: Array
    """Places in X of the nearest labeled rows, nearest first; -1 if there are fewer."""
    n_labels: int
    """Labels that were reviewed."""
    n_expected: float
    """An estimate of how many of them are wrong."""
    interval: tuple[int, int]
    """A 90 % interval for that number."""
    untested: Array
    """Places in X of labels that cannot be reviewed: without their copies and group, no labeled row
    of some class is left."""

    def __len__(self) -> int:
        return len(self.indices)


def doubtful_labels(
    model: AveragedClassifier | None, X: Any, y: Any, *, groups: Any = None
) -> DoubtfulLabels:
    """Find doubtful labels: those that the leave-one-out probabilities contradict.

    A label may contradict its row because the classes overlap, or because it is wrong. The number
    of wrong labels is estimated by an error rate ε that no calibration of the leave-one-out
    probabilities P explains:

        q(k | x) ∝ P(k | x)^b e^{c_k},    P(label g | x) = Σ_k q(k | x) T_kg

    with T_kk = 1 - ε and T_kg = ε / (K - 1), for all classes k or for one of them. The posterior
    distribution of these patterns, ε, b and c gives each label's probability of being wrong. It
    assumes that the labels of a class are wrong equally often in all of its rows. If the classes
    overlap much, the interval is wide.

    Parameters
    ----------
    model : AveragedClassifier or None
        If it is fitted, its leave-one-out probabilities are used; it must have been fitted to X and
        y. Otherwise a copy of it is fitted; None is the default classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows.
    y : array-like of shape (n_samples,)
        Their labels, as for `AveragedClassifier.fit`.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that are left out together, and are not among the nearest rows of each other.
        A fitted model has left out the groups that it was fitted with.

    Returns
    -------
    found : DoubtfulLabels
        All labels that are less probable than another class, the most doubtful first.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.labeling import doubtful_labels
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 2)) + 4 * truth[:, None]
    >>> y = np.where(np.arange(300) < 100, truth, -1)
    >>> y[:3] = 1 - truth[:3]    # three labels are wrong
    >>> found = doubtful_labels(None, X, y)
    >>> sorted(found.indices[:3].tolist()), bool(found.interval[0] <= 3 <= found.interval[1])
    ([0, 1, 2], True)
    """
    chosen = AveragedClassifier() if model is None else model
    _check(chosen, X)
    fitted = _fitted(chosen, X, y, groups)
    X = read_columns(fitted, X, dtype=np.float64, accept_sparse=True, reset=False)
    labels = read_labels(y, unlabeled=fitted.unlabeled, n_rows=X.shape[0])
    _check_same(fitted, labels)
    distinct, rows, proba = fitted._later.distinct, fitted.loo_indices_, fitted.loo_proba_
    codes = distinct.codes[distinct.position]
    tested = rows_to_test(codes, distinct.blocks[distinct.position])
    untested, rows, codes, proba = rows[~tested], rows[tested], codes[tested], proba[tested]
    wrong = find_wrong_labels(proba, codes)
    own, best = proba[np.arange(len(codes)), codes], proba.max(axis=1)
    doubted = np.flatnonzero(own < best)
    order = doubted[np.lexsort((doubted, own[doubted], -wrong.probability[doubted]))]
    return DoubtfulLabels(
        rows[order],
        labels.classes[codes[order]],
        labels.classes[proba[order].argmax(axis=1)],
        own[order],
        best[order],
        wrong.probability[order],
        _nearest(fitted, X, rows[order], labels.labeled, _group_numbers(groups, labels)),
        len(rows),
        wrong.expected,
        (wrong.low, wrong.high),
        untested,
    )


def _check(model: Any, X: Any) -> None:
    if not isinstance(model, AveragedClassifier):
        raise TypeError(
            f"model is {one_line(model)}; give an AveragedClassifier, or None for the default one."
        )
    if is_dask(X):
        raise TypeError(
            "X is a Dask collection; doubtful_labels needs rows in memory: X.compute() of some."
        )


def _fitted(model: AveragedClassifier, X: Any, y: Any, groups: Any) -> AveragedClassifier:
    """Return the model if it is fitted, else a fitted copy."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return clone(model).fit(X, y, groups=groups)
    return model


def _check_same(model: AveragedClassifier, labels: Labels) -> None:
    """Refuse labels that the model was not fitted to."""
    known = model._later.labels
    same = (
        known.n_rows == labels.n_rows
        and np.array_equal(known.labeled, labels.labeled)
        and np.array_equal(known.classes[known.codes], labels.classes[labels.codes])
    )
    if not same:
        raise ValueError(
            f"model was fitted to {len(known.labeled)} labels in {known.n_rows} rows that are not "
            f"the {len(labels.labeled)} labels in the {labels.n_rows} rows of y; fit it to X and "
            "y, or give an unfitted model."
        )


def _group_numbers(groups: Any, labels: Labels) -> Array | None:
    """Return the number of each labeled row's group."""
    if groups is None:
        return None
    given = np.asarray(groups)
    check_length("groups", len(given), labels.n_rows)
    given = given[labels.labeled]
    given = given.astype(str) if given.dtype.kind == "O" else given
    return np.asarray(np.unique(given, return_inverse=True)[1])


def _nearest(
    model: AveragedClassifier, X: Any, rows: Array, labeled: Array, groups: Array | None
) -> Array:
    """Return the labeled rows that are nearest to each row, in scaled columns."""
    found = np.full((len(rows), N_NEAREST), -1, dtype=np.intp)
    scaling = model.average_.learned.scaling
    points = scaling.apply(X[labeled], 0)
    places = np.searchsorted(labeled, rows)
    k = min(N_NEAREST, len(labeled))
    step = max(1, _CHUNK // len(labeled))
    for start in range(0, len(rows), step):
        here = places[start : start + step]
        with single_threaded_blas():  # so that ties do not depend on the number of threads
            distances = squared_distances(points[here], points)
        distances[np.arange(len(here)), here] = np.inf
        if groups is not None:
            distances[groups[here][:, None] == groups] = np.inf
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        far = ~np.isfinite(np.take_along_axis(distances, order, axis=1))
        found[start : start + step, :k] = np.where(far, -1, labeled[order])
    return found
