"""The two classifiers that the question is about: the tuned ridge, and soft labels likewise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..._inputs.untested import rows_to_test
from ...estimators import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from ...estimators.soft_cv import default_alphas
from .splits import grouped_folds, training_mask

__all__ = [
    "Choice",
    "Pair",
    "fit_pair",
    "fit_rows",
    "move_intercept",
    "sample_rows",
    "search_size",
    "thinned",
    "tune",
]

Array = NDArray[Any]

SEARCHED, SEARCHED_PER_COLUMN = 2_000, 20
"""The search sees so many unlabeled rows, the larger of the two, drawn where there are more."""
MOST_TESTED = 100_000
"""Cross-validation sees so many unlabeled rows, each counted more often where there are more."""
FOLDS = 5
COPIED = 100_000
"""More rows than this are not copied for a fit: those outside get the weight 0."""


@dataclass(frozen=True)
class Choice:
    """What cross-validation on the labeled rows chose."""

    alpha: float
    unlabeled_weight: float
    """0 where the unlabeled rows are left out."""
    supervised_alpha: float
    """The best alpha without the unlabeled rows."""
    n_search: int
    """How many unlabeled rows the search saw."""
    shift: tuple[float, ...] = ()
    """How far the intercept of a fit with the choice is moved, for each output; () if it is not."""
    supervised_shift: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Pair:
    """The chosen classifier and the tuned ridge, fitted; the same where the weight is 0."""

    choice: Choice
    soft_cv: SoftLabelClassifier | LeastSquaresClassifier
    ridge: LeastSquaresClassifier


def tune(
    X: Array,
    codes: Array,
    *,
    groups: Array | None = None,
    seed: int = 0,
    most: int | None = None,
    count: float = 1.0,
    alpha: float | None = None,
    weight: float | None = None,
) -> Choice:
    """Choose alpha and the weight of unlabeled rows as `SoftLabelClassifierCV` does.

    Where there are more than `most` unlabeled rows the search sees a random sample of them, each
    counted as often as makes up for the others, so that the choice is one for all rows. A class
    with a single labeled row is learned from but not tested; where that leaves fewer than two
    classes to test there is nothing to choose by, and the ridge in the middle of the grid is taken.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        The class of each row, -1 where it has no label.
    groups : ndarray of shape (n_rows,), optional
        Groups are kept together wherever two classes or more have labeled rows in two of them.
    seed : int, default=0
        Shuffles the folds and draws the sample.
    most : int, optional
        By default `search_size`.
    count : float, default=1
        How often an unlabeled row counts, where these rows are themselves a sample (`thinned`).
    alpha, weight : float, optional
        A ridge, or a weight of unlabeled rows, that is given and not chosen.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 3)) + 3 * truth[:, None]
    >>> choice = tune(X, np.where(np.arange(200) < 30, truth, -1))
    >>> choice.n_search, choice.unlabeled_weight in (0.0, 0.01, 0.1, 1.0)
    (170, True)
    """
    return _search(X, codes, None, groups, seed, most, count, alpha, weight).choice


def fit_pair(
    X: Array,
    codes: Array,
    *,
    inside: Array | None = None,
    groups: Array | None = None,
    seed: int = 0,
    most: int | None = None,
    all_rows: bool = True,
    count: float = 1.0,
    alpha: float | None = None,
    weight: float | None = None,
) -> Pair:
    """Fit the classifier that `tune` chooses, and the tuned ridge.

    Parameters
    ----------
    X, codes, groups, seed, most, count, alpha, weight
        As in `tune`.
    inside : ndarray of shape (n_rows,), optional
        A mask of the rows to learn from; None is all rows.
    all_rows : bool, default=True
        Whether the classifier is fitted to all unlabeled rows, where the search saw a sample of
        them; False is the fit to that sample, counted as all.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 3)) + 3 * truth[:, None]
    >>> pair = fit_pair(X, np.where(np.arange(200) < 30, truth, -1))
    >>> bool(pair.soft_cv.score(X, truth) > 0.95), bool(pair.ridge.score(X, truth) > 0.95)
    (True, True)
    """
    found = _search(X, codes, inside, groups, seed, most, count, alpha, weight)
    choice = found.choice
    if choice.unlabeled_weight == 0.0:
        return Pair(choice, found.ridge, found.ridge)
    if not (found.sampled and all_rows) and weight is None:
        return Pair(choice, found.soft_cv, found.ridge)
    chosen = SoftLabelClassifier(choice.alpha, unlabeled_weight=count * choice.unlabeled_weight)
    fitted = move_intercept(fit_rows(chosen, X, codes, inside), choice.shift)
    return Pair(choice, fitted, found.ridge)


def move_intercept(model: Any, shift: tuple[float, ...]) -> Any:
    """Move the intercept of a fitted classifier as a choice says, and return it.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> move_intercept(LeastSquaresClassifier(0.0).fit(X, codes), (0.25,)).intercept_.round(2)
    array([-0.25])
    """
    if shift:
        model.intercept_ = model.intercept_ + np.array(shift)
    return model


def fit_rows(model: Any, X: Array, codes: Array, inside: Array | None = None) -> Any:
    """Fit a least squares classifier to the rows of a mask, and return it.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[0.0], [1.0], [9.0], [2.0]]), np.array([0, 1, 0, -1])
    >>> fit_rows(SoftLabelClassifier(), X, codes, np.array([True, True, False, True])).predict(X)
    array([0, 1, 1, 1])
    """
    if inside is None:
        return model.fit(X, codes)
    if np.count_nonzero(inside) <= COPIED:
        return model.fit(X[inside], codes[inside])
    return model.fit(X, codes, sample_weight=inside.astype(np.float64))


def search_size(n_columns: int) -> int:
    """Return how many unlabeled rows the search sees at the most.

    More of them change the choice no more than other folds do: it is the labels that are few.

    Examples
    --------
    >>> search_size(10), search_size(500)
    (2000, 10000)
    """
    return max(SEARCHED, SEARCHED_PER_COLUMN * n_columns)


def sample_rows(rows: Array, codes: Array, most: int, seed: int) -> tuple[Array, float]:
    """Keep the labeled rows and at most so many others; return how often each of those counts.

    Examples
    --------
    >>> import numpy as np
    >>> kept, count = sample_rows(np.arange(10), np.array([0, 1] + [-1] * 8), 4, 0)
    >>> kept[:2].tolist(), len(kept), count
    ([0, 1], 6, 2.0)
    """
    free = codes[rows] < 0
    n_free = int(free.sum())
    if n_free <= most:
        return rows, 1.0
    kept = np.random.default_rng(seed).choice(rows[free], most, replace=False, shuffle=False)
    return np.sort(np.concatenate((rows[~free], kept))), n_free / most


def thinned(
    X: Array, codes: Array, groups: Array | None, seed: int, most: int = MOST_TESTED
) -> tuple[Array, Array, Array | None, float]:
    """Return the rows that are cross-validated: all, or a sample; and how often one counts.

    A test of a method has no use for more than `most` unlabeled rows, drawn at random and each
    counted as often as makes up for the others. What is fitted in the end sees all rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.arange(10.0)[:, None], np.array([0, 1] + [-1] * 8)
    >>> thin, kept, _, count = thinned(X, codes, None, 0, most=4)
    >>> thin.shape, kept.tolist(), count
    ((6, 1), [0, 1, -1, -1, -1, -1], 2.0)
    """
    rows, count = sample_rows(np.arange(len(codes)), codes, most, seed)
    if count == 1.0:
        return X, codes, groups, count
    return X[rows], codes[rows], None if groups is None else groups[rows], count


@dataclass(frozen=True, eq=False)
class _Found:
    """What a search ends with: the classifier fitted to the rows that it saw, and the ridge."""

    choice: Choice
    soft_cv: Any
    ridge: LeastSquaresClassifier
    sampled: bool


def _search(
    X: Array,
    codes: Array,
    inside: Array | None,
    groups: Array | None,
    seed: int,
    most: int | None,
    count: float = 1.0,
    alpha: float | None = None,
    weight: float | None = None,
) -> _Found:
    """Search among the rows of a mask, or a sample of them."""
    rows = np.arange(len(codes)) if inside is None else np.flatnonzero(inside)
    rows, more = sample_rows(rows, codes, most or search_size(X.shape[1]), seed)
    count *= more
    X, codes, groups = X[rows], codes[rows], None if groups is None else groups[rows]
    splits = _splits(codes, groups, seed)
    if splits is not None and not splits:
        alpha = _middle_alpha(X[codes >= 0]) if alpha is None else alpha
        ridge = LeastSquaresClassifier(alpha).fit(X, codes)
        return _Found(Choice(alpha, weight or 0.0, alpha, 0), ridge, ridge, more > 1.0)
    counts = None if count == 1.0 else np.where(codes < 0, count, 1.0)
    model = SoftLabelClassifierCV(cv=splits, random_state=seed)
    model.alphas = None if alpha is None else [alpha]
    model.unlabeled_weights = model.unlabeled_weights if weight is None else [weight]
    model.fit(X, codes, sample_weight=counts)
    n_search = int((codes < 0).sum())
    choice = Choice(
        model.alpha_,
        model.unlabeled_weight_,
        model.supervised_alpha_,
        n_search,
        tuple(model.intercept_shift_.tolist()),
        tuple(model.supervised_.intercept_shift_.tolist()),
    )
    if weight is not None:
        best, shift = _best_alpha(model, weight)
        choice = replace(choice, alpha=best, unlabeled_weight=weight, shift=shift)
    return _Found(choice, model, model.supervised_, more > 1.0)


def _splits(codes: Array, groups: Array | None, seed: int) -> list[tuple[Array, Array]] | None:
    """Return the splits of the search; None are the classifier's own, [] is no way to split."""
    if groups is not None:
        seen = np.where(rows_to_test(codes, groups), codes, -1)
        if len(np.unique(seen[seen >= 0])) > 1 and (
            folds := grouped_folds(seen, groups, folds=FOLDS, seed=seed)
        ):
            return [(np.flatnonzero(training_mask(test, codes, groups)), test) for test in folds[0]]
    tested = np.flatnonzero(rows_to_test(codes))
    if len(tested) == np.count_nonzero(codes >= 0):
        return None
    classes, counts = np.unique(codes[tested], return_counts=True)
    if len(classes) < 2:
        return []
    folder = StratifiedKFold(min(FOLDS, int(counts.min())), shuffle=True, random_state=seed)
    everything = np.arange(len(codes))
    parts = (tested[test] for _, test in folder.split(tested, codes[tested]))
    return [(np.setdiff1d(everything, test), test) for test in parts]


def _best_alpha(model: SoftLabelClassifierCV, weight: float) -> tuple[float, tuple[float, ...]]:
    """Return the alpha that scored best with a given weight, and how far its intercept is moved."""
    results = model.cv_results_
    of_weight = results["param_unlabeled_weight"] == weight
    best = np.nan_to_num(results["mean_test_score"][of_weight], nan=-np.inf).argmax()
    shift = results["intercept_shift"][of_weight][best]
    return float(results["param_alpha"][of_weight][best]), tuple(shift.tolist())


def _middle_alpha(X: Array) -> float:
    """Return the middle of the default alphas."""
    alphas = default_alphas(float(((X - X.mean(axis=0)) ** 2).sum()), *X.shape)
    return float(alphas[len(alphas) // 2])
