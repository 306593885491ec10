"""Suggest rows to label: those that tell most about rows whose class is uncertain.

Let the unknown score of a class be a Gaussian process over the rows, with the Laplace kernel k of
`KernelRepresentation`. Labels of some rows leave covariances C between all others. One more label,
of row i, lowers the variance of row j by C_ij² / (C_ii + noise). A row is worth the sum of these
gains over all rows, each counted as much as its class is uncertain:

    worth_i = Σ_j u_j C_ij² / (C_ii + noise),      u_j = (1 - margin_j)²

with the margin between the two largest probabilities of row j. So a row is worth labeling if it is
like many rows (`reach`) that are uncertain (`uncertainty`) and not yet explained by labels
(`novelty`). Rows of a batch are chosen one by one; each lowers the covariances before the next is
chosen, so that a batch does not ask the same twice. The probabilities are those of the classifier.
Without labels of two classes all rows are equally uncertain, and rows that represent the table come
first (Cohn, Ghahramani and Jordan's integrated variance, 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._inputs.arrays import read_columns
from .._inputs.checks import is_dask, one_line
from .._inputs.labels import check_length, encode, labeled_mask, labeled_values, one_column
from .._utils.typing import Array
from ..estimators import AveragedClassifier
from ..representations import KernelRepresentation
from ..representations._maps import laplace_kernel
from ..representations._summary import hash_rows

__all__ = ["Suggestions", "suggest"]


POOL = 2_000
"""Rows that are considered at most: those whose content has the smallest hashes."""
PER_SUGGESTION = 10
"""Rows that are considered for each suggestion, if that is more."""
MOST_LABELED = 2_000
"""Labeled rows that covariances take into account at most: the latest of them."""
NOISE = 0.1
"""Variance of a label about the score of its row, whose variance is 1."""
SHARPNESS = 2.0
"""How much more an uncertain row counts."""
TIE = 1e-9
"""Rows whose worth differs by less, relatively, are equally good: the first is chosen."""
REASONS = ("uncertain", "far from all labels", "speaks for many others")


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Rows to label, the most useful first."""

    indices: Array
    """Their places in X."""
    scores: Array
    """What each is worth when it is chosen, as a share of what is uncertain about all rows."""
    reasons: tuple[str, ...]
    """Why each was chosen: "uncertain", "far from all labels" or "speaks for many others"."""
    uncertainty: Array
    """From 0 to 1: one minus the margin between the two largest probabilities."""
    novelty: Array
    """From 0 to 1: the variance of the row's score that the labels leave."""
    reach: Array
    """From 0 to 1: the mean similarity to all rows."""

    def __len__(self) -> int:
        return len(self.indices)


def suggest(
    model: AveragedClassifier | None, X: Any, y: Any, n: int = 20, *, groups: Any = None
) -> Suggestions:
    """Suggest rows to label next.

    The suggestions depend neither on the order of the rows nor on chance. Of copies of a row, the
    first is suggested; a labeled row never is.

    Parameters
    ----------
    model : AveragedClassifier or None
        Its probabilities tell which rows are uncertain. If it is not fitted, a copy of it is fitted
        to X and y, provided that y has labels of two classes; None is the default classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows.
    y : array-like of shape (n_samples,)
        Their labels, as for `AveragedClassifier.fit`; there may be none.
    n : int, default=20
        The number of suggestions; there are fewer if fewer rows have no label.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that are much alike: no two rows of a group are suggested until every group
        has one.

    Returns
    -------
    suggestions : Suggestions
        In the order in which to label them.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.labeling import suggest
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 2)) + 3 * truth[:, None]
    >>> y = np.where(np.arange(300) < 10, truth, -1)
    >>> found = suggest(None, X, y, n=5)
    >>> len(found), bool((y[found.indices] == -1).all()), sorted(set(found.reasons)) != []
    (5, True, True)
    """
    chosen = AveragedClassifier() if model is None else model
    _check(chosen, X, n)
    reader = clone(chosen)
    X = read_columns(reader, X, dtype=np.float64, accept_sparse=True, reset=True)
    mask = labeled_mask(y, chosen.unlabeled)
    check_length("y", len(mask), X.shape[0])
    blocks = _read_groups(groups, X.shape[0])
    n_pool = max(POOL, PER_SUGGESTION * n)
    pool, copies = _pool(X, mask, n_pool, blocks)
    if not len(pool):
        raise ValueError("Every row of y has a label, so there is no row to suggest.")
    uncertainty = _uncertainty(chosen, X, y, groups, pool, mask)
    kernel = KernelRepresentation().fit(X)
    points = kernel.scaling_.apply(X[pool], 0)
    covariance = laplace_kernel(points, points, kernel.width_)
    reach = covariance @ copies / copies.sum()
    labeled = np.flatnonzero(mask)[-MOST_LABELED:]
    if len(labeled):
        known = kernel.scaling_.apply(X[labeled], 0)
        covariance -= _explained(known, points, kernel.width_)
    novelty = np.clip(covariance.diagonal(), 0.0, 1.0).copy()
    picked, scores = _choose(covariance, copies * uncertainty**SHARPNESS, n, blocks, pool)
    found = [uncertainty[picked], novelty[picked], reach[picked]]
    usual = [np.median(values) for values in (uncertainty, novelty, reach)]
    return Suggestions(pool[picked], scores, _reasons(found, usual), *found)


def _check(model: Any, X: Any, n: Any) -> None:
    if not isinstance(model, AveragedClassifier):
        raise TypeError(
            f"model is {one_line(model)}; give an AveragedClassifier, or None for the default one."
        )
    if is_dask(X):
        raise TypeError(
            "X is a Dask collection; suggest needs rows in memory: X.compute() of some."
        )
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n is {one_line(n)}; give the number of rows to suggest, at least 1.")


def _read_groups(groups: Any, n_rows: int) -> Array | None:
    """Return the number of each row's group."""
    if groups is None:
        return None
    given = np.asarray(groups)
    check_length("groups", len(given), n_rows)
    return np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)[
        1
    ]


def _pool(X: Any, labeled: Array, most: int, groups: Array | None) -> tuple[Array, Array]:
    """Return the rows to choose from, the first of copies, and how many copies each has."""
    places = np.flatnonzero(~labeled)
    hashes, first, copies = np.unique(hash_rows(X[places]), return_index=True, return_counts=True)
    known = np.isin(hashes, hash_rows(X[labeled]))
    if not known.all():  # copies of a labeled row say nothing new
        first, copies = first[~known], copies[~known]
    if groups is not None and len(first) > most:  # rows of as many groups as possible
        _, one = np.unique(groups[places[first]], return_index=True)
        rest = np.setdiff1d(np.arange(len(first)), one)
        kept = np.sort(np.concatenate((np.sort(one)[:most], rest))[:most])
        first, copies = first[kept], copies[kept]
    return places[first[:most]], copies[:most].astype(np.float64)


def _uncertainty(
    model: AveragedClassifier, X: Any, y: Any, groups: Any, pool: Array, labeled: Array
) -> Array:
    """Return one minus the margin of each row: 1 for all if no classifier can be fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        values = labeled_values(one_column(y), model.unlabeled)[1]
        if len(values) == 0 or len(encode(values)[0]) < 2:
            return np.ones(len(pool))
        model = clone(model).fit(X, y, groups=groups)
    p = np.sort(model.predict_proba(X[pool]), axis=1)
    return np.asarray(1.0 - (p[:, -1] - p[:, -2]))


def _explained(known: Any, points: Any, width: float) -> Array:
    """Return the part of the covariance of rows that labels of others explain."""
    across = laplace_kernel(known, points, width)
    own = laplace_kernel(known, known, width)
    own[np.diag_indices_from(own)] += NOISE
    half = solve_triangular(cholesky(own, lower=True), across, lower=True)
    return np.asarray(half.T @ half)


def _choose(
    covariance: Array, weight: Array, n: int, groups: Array | None, pool: Array
) -> tuple[Array, Array]:
    """Choose rows one by one; return their places in the pool, and what each is worth."""
    total = max(float(weight @ covariance.diagonal()), np.finfo(np.float64).tiny)
    free = np.ones(len(pool), dtype=bool)
    fresh = free.copy()
    picked, scores = [], []
    for _ in range(min(n, len(pool))):
        if not (fresh & free).any():
            fresh[:] = True  # every group has one
        variance = np.maximum(covariance.diagonal(), 0.0)
        worth = (covariance**2) @ weight / (variance + NOISE)
        worth[~(fresh & free)] = -1.0
        best = int(np.argmax(worth >= worth.max() * (1.0 - TIE)))
        picked.append(best)
        scores.append(worth[best] / total)
        free[best] = False
        if groups is not None:
            fresh &= groups[pool] != groups[pool[best]]
        column = covariance[:, best].copy()
        covariance -= np.outer(column, column / (variance[best] + NOISE))
    return np.array(picked, dtype=np.intp), np.array(scores)


def _reasons(found: list[Array], usual: list[Any]) -> tuple[str, ...]:
    """Say what distinguishes each row most from the median row."""
    ratios = np.array([
        values / max(float(typical), 1e-9) for values, typical in zip(found, usual, strict=True)
    ])  # fmt: skip
    return tuple(REASONS[k] for k in ratios.argmax(axis=0))
