"""Suggest rows to label: those that tell most about rows whose class is uncertain.

Let the unknown score of a class be a Gaussian process over the rows, with the Laplace kernel k of
`KernelRepresentation`. Labels of some rows leave covariances C between all others. One more label,
of row i, lowers the variance of row j by C_ij² / (C_ii + noise). A row is worth the sum of these
gains over all rows, each counted as much as its class is uncertain:

    worth_i = Σ_j u_j C_ij² / (C_ii + noise),      u_j = floor + (1 - floor) (1 - margin_j)²

with the margin between the two largest probabilities of row j. The floor is for rows about which
the classifier is certain and wrong, such as those of a class that has no label yet. So a row is
worth labeling if it is like many rows (`reach`) that are uncertain (`uncertainty`) and not yet
explained by labels (`novelty`). Rows of a batch are chosen one by one; each lowers the covariances
before the next is chosen, so that a batch does not ask the same twice. The probabilities are those
of the classifier. Without labels of two classes all rows are equally uncertain, and rows that
represent the table come first (Cohn, Ghahramani and Jordan's integrated variance, 1996).
"""

from __future__ import annotations

import warnings
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
from .._inputs.labels import check_length, encode, labeled_values, one_column
from .._utils.typing import Array
from ..core.rows import single_threaded_blas
from ..estimators import AveragedClassifier
from ..representations import KernelRepresentation
from ..representations._maps import laplace_kernel
from ..representations._summary import hash_rows

__all__ = ["Suggestions", "suggest"]


POOL = 2_000
"""Rows that are considered at most: those whose content has the smallest hashes."""
PER_SUGGESTION = 4
"""Rows that are considered for each suggestion, if that is more."""
MOST = 1_000
"""Suggestions at most."""
MOST_LABELED = 2_000
"""Labeled rows that covariances take into account at most: those with the smallest hashes."""
NOISE = 0.1
"""Variance of a label about the score of its row, whose variance is 1."""
SHARPNESS = 2.0
"""How much more an uncertain row counts."""
FLOOR = 0.1
"""What a row counts of which the classifier is certain, if an uncertain one counts 1."""
TIE = 1e-9
"""Rows whose worth differs by less, relatively, are equally good: the first is chosen."""
REASONS = ("uncertain", "far from all labels", "speaks for many others")


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Rows to label, in the order in which to label them."""

    indices: Array
    """Their places in X."""
    scores: Array
    """What each is worth when it is chosen, as a share of what is uncertain about all rows."""
    reasons: tuple[str, ...]
    """Why each was chosen: "uncertain", "far from all labels" or "speaks for many others".

    It is the one of `uncertainty`, `novelty` and `reach` in which it exceeds most other rows.
    """
    uncertainty: Array
    """From 0 to 1: one minus the margin between the two largest probabilities."""
    novelty: Array
    """From 0 to 1: the variance of the row's score that labels and earlier suggestions leave."""
    reach: Array
    """From 0 to 1: the mean similarity to all rows without a label."""

    def __len__(self) -> int:
        return len(self.indices)


def suggest(
    model: AveragedClassifier | None, X: Any, y: Any, n: int = 20, *, groups: Any = None
) -> Suggestions:
    """Suggest rows to label next.

    The suggestions depend neither on the order of the rows nor on chance. Of copies of a row, the
    first is suggested; a labeled row, or a copy of one, never is.

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
        The number of suggestions, up to 1,000; there are fewer if fewer rows have no label.
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
    >>> len(found), bool((y[found.indices] == -1).all()), len(found.reasons)
    (5, True, 5)
    """
    chosen = AveragedClassifier() if model is None else model
    _check(chosen, X, n)
    fitted = _is_fitted(chosen)
    rows = read_columns(
        chosen if fitted else clone(chosen), X, accept_sparse=True, reset=not fitted
    )
    y = one_column(y)
    mask, values = labeled_values(y, chosen.unlabeled)
    check_length("y", len(mask), rows.shape[0])
    blocks = _read_groups(groups, rows.shape[0])
    with single_threaded_blas():
        hashes = hash_rows(rows)
        pool, copies = _pool(hashes, mask, n, blocks)
        if fitted:
            uncertainty = _uncertainty(chosen, rows[pool])
        elif _n_classes(values) > 1:
            uncertainty = _uncertainty(_fit(chosen, X, y, groups), rows[pool])
        else:
            uncertainty = np.ones(len(pool))
        kernel = KernelRepresentation().fit(rows)
        points = kernel.scaling_.apply(rows[pool], 0)
        covariance = laplace_kernel(points, points, kernel.width_)
        reach = covariance @ copies / copies.sum()
        if mask.any():
            places = np.flatnonzero(mask)
            kept = places[np.argsort(hashes[places], kind="stable")[:MOST_LABELED]]
            known = kernel.scaling_.apply(rows[kept], 0)
            covariance -= _explained(known, points, kernel.width_)
        weight = copies * (FLOOR + (1.0 - FLOOR) * uncertainty**SHARPNESS)
        return _choose(covariance, weight, n, blocks, pool, uncertainty, reach)


def _check(model: Any, X: Any, n: Any) -> None:
    if not isinstance(model, AveragedClassifier):
        raise TypeError(
            f"model is {one_line(model)}; give an AveragedClassifier, or None for the default one."
        )
    if is_dask(X):
        raise TypeError(
            "X is a Dask collection, and suggest needs rows in memory; give X.compute() of some."
        )
    if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) <= MOST:
        raise ValueError(
            f"n is {one_line(n)}; give the number of rows to suggest, from 1 to {MOST:,}: more are "
            "better suggested once these have their labels."
        )


def _is_fitted(model: AveragedClassifier) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _n_classes(values: Array) -> int:
    return len(encode(values)[0]) if len(values) else 0


def _fit(model: AveragedClassifier, X: Any, y: Any, groups: Any) -> AveragedClassifier:
    with warnings.catch_warnings():  # one label per class is enough to suggest rows
        warnings.filterwarnings("ignore", "Each of the .* has a single labeled row", UserWarning)
        return clone(model).fit(X, y, groups=groups)


def _read_groups(groups: Any, n_rows: int) -> Array | None:
    """Return the number of each row's group."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.ndim != 1:
        raise ValueError(
            f"groups has shape {given.shape}; give groups one value per row of X, in one dimension."
        )
    check_length("groups", len(given), n_rows)
    texts = given.astype(str) if given.dtype.kind == "O" else given
    return np.unique(texts, return_inverse=True)[1]


def _pool(hashes: Array, labeled: Array, n: int, groups: Array | None) -> tuple[Array, Array]:
    """Return the rows to choose from, the first of copies, and how many copies each has."""
    places = np.flatnonzero(~labeled)
    if not len(places):
        raise ValueError(f"Each of the {len(labeled)} rows of y has a label: there is none to add.")
    found, first, copies = np.unique(hashes[places], return_index=True, return_counts=True)
    new = ~np.isin(found, hashes[labeled])
    if not new.any():
        raise ValueError(
            f"The rows of X without a label ({len(places)}) are all copies of labeled rows, so "
            "that their labels would tell nothing new; give them the labels of these."
        )
    first, copies = first[new], copies[new]
    most = max(POOL, PER_SUGGESTION * n)
    kept = np.arange(len(first))
    if groups is not None:  # rows of as many groups as possible
        _, one = np.unique(groups[places[first]], return_index=True)
        kept = np.concatenate((np.sort(one), np.delete(kept, one)))
    kept = np.sort(kept[:most])
    return places[first[kept]], copies[kept].astype(np.float64)


def _uncertainty(model: AveragedClassifier, rows: Any) -> Array:
    """Return one minus the margin of each row."""
    p = np.sort(model.average_.predict_proba(rows, model.n_jobs), axis=1)
    return np.asarray(1.0 - (p[:, -1] - p[:, -2]))


def _explained(known: Any, points: Any, width: float) -> Array:
    """Return the part of the covariance of rows that labels of others explain."""
    across = laplace_kernel(known, points, width)
    own = laplace_kernel(known, known, width)
    own[np.diag_indices_from(own)] += NOISE
    half = solve_triangular(cholesky(own, lower=True), across, lower=True)
    return np.asarray(half.T @ half)


def _choose(
    covariance: Array,
    weight: Array,
    n: int,
    groups: Array | None,
    pool: Array,
    uncertainty: Array,
    reach: Array,
) -> Suggestions:
    """Choose rows one by one.

    Each lowers the covariance C by c c' / (C_ii + noise), with c its column of C. These steps are
    kept as columns of V, so that C = covariance - V V'; the sums Σ_j u_j C_ij² are updated.
    """
    n = min(n, len(pool))
    variance = np.maximum(covariance.diagonal(), 0.0)
    total = max(float(weight @ variance), np.finfo(np.float64).tiny)
    sums = np.einsum("ij,ij,j->i", covariance, covariance, weight)
    steps = np.zeros((n, len(pool)))
    free = np.ones(len(pool), dtype=bool)
    fresh = free.copy()
    picked, scores, novelty, reasons = [], [], [], []
    for k in range(n):
        if not (fresh & free).any():
            fresh[:] = True  # every group has one
        worth = np.where(fresh & free, sums / (variance + NOISE), -1.0)
        best = int(np.argmax(worth >= worth.max() * (1.0 - TIE)))
        picked.append(best)
        scores.append(worth[best] / total)
        novelty.append(variance[best])
        reasons.append(_reason(best, (uncertainty, variance, reach)))
        free[best] = False
        if groups is not None:
            fresh &= groups[pool] != groups[pool[best]]
        column = covariance[:, best] - steps[:k, best] @ steps[:k]
        left = variance[best] + NOISE
        weighted = weight * column
        product = covariance @ weighted - (steps[:k] @ weighted) @ steps[:k]
        sums += column * (column * (weighted @ column / left) - 2.0 * product) / left
        np.maximum(sums, 0.0, out=sums)
        steps[k] = column / np.sqrt(left)
        variance = np.maximum(variance - steps[k] ** 2, 0.0)
    return Suggestions(
        pool[picked],
        np.array(scores),
        tuple(reasons),
        uncertainty[picked],
        np.array(novelty),
        reach[picked],
    )


def _reason(row: int, measures: tuple[Array, ...]) -> str:
    """Return in what a row exceeds the most other rows, by clearly more than rounding."""
    exceeded = [np.count_nonzero(values < values[row] * (1.0 - TIE)) for values in measures]
    return REASONS[int(np.argmax(exceeded))] if any(exceeded) else REASONS[-1]
