"""Tuning: the choice of alpha and the weight of unlabeled rows, and fits with that choice."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ..._inputs.untested import rows_to_test
from ..._utils.typing import Array
from ...estimators import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from ._rows import TableRows, sample_rows
from .splits import grouped_folds, training_mask

__all__ = [
    "Choice",
    "Pair",
    "fit_pair",
    "fit_rows",
    "move_intercept",
    "search_size",
    "tune",
]


SEARCHED, SEARCHED_PER_COLUMN = 2_000, 20
"""Unlabeled rows that the search sees at most: the larger of the two numbers."""
FOLDS = 5
COPIED = 100_000
"""More rows than this are not copied for a fit: the rows to leave out get weight 0 instead."""


@dataclass(frozen=True)
class Choice:
    """The result of a search by cross-validation on the labeled rows."""

    alpha: float
    unlabeled_weight: float
    """0 if the unlabeled rows are left out."""
    supervised_alpha: float
    """The best alpha without the unlabeled rows."""
    n_search: int
    """Unlabeled rows that the search saw."""
    shift: tuple[float, ...] = ()
    """What to add to the intercept of a fit with the choice, for each output; () for nothing."""
    supervised_shift: tuple[float, ...] = ()
    """The same for a fit without the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The chosen classifier and the tuned ridge, fitted; the same object if the weight is 0."""

    choice: Choice
    soft: SoftLabelClassifier | LeastSquaresClassifier
    ridge: LeastSquaresClassifier


def tune(
    rows: TableRows,
    *,
    inside: Array | None = None,
    seed: int = 0,
    alpha: float | None = None,
    weight: float | None = None,
) -> Choice:
    """Choose alpha and the weight of unlabeled rows as `SoftLabelClassifierCV` does.

    With more unlabeled rows than `search_size` the search sees a random sample of them, weighted to
    make up for the others, so that the choice is valid for all rows. A class with a single labeled
    row is trained on but not tested; if that leaves fewer than two classes to test, the choice is
    the middle of the grid of alphas, without unlabeled rows.

    Parameters
    ----------
    rows : TableRows
        Groups are kept together if at least two classes have labeled rows in two groups.
    inside : ndarray of shape (n_rows,), optional
        A mask of the rows to learn from; None for all rows.
    seed : int, default=0
        Shuffles the folds and draws the sample.
    alpha, weight : float, optional
        An alpha, or a weight of unlabeled rows, that is given rather than chosen.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 3)) + 3 * truth[:, None]
    >>> choice = tune(TableRows(X, np.where(np.arange(200) < 30, truth, -1)))
    >>> choice.n_search, choice.unlabeled_weight in (0.0, 0.01, 0.1, 1.0)
    (170, True)
    """
    return _search(rows, inside, seed, alpha, weight)[0].choice


def fit_pair(rows: TableRows, *, inside: Array | None = None, seed: int = 0) -> Pair:
    """Fit the classifier that `tune` chooses, and the tuned ridge.

    Parameters
    ----------
    rows, inside, seed
        As in `tune`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 3)) + 3 * truth[:, None]
    >>> pair = fit_pair(TableRows(X, np.where(np.arange(200) < 30, truth, -1)))
    >>> bool(pair.soft.score(X, truth) > 0.95), bool(pair.ridge.score(X, truth) > 0.95)
    (True, True)
    """
    pair, sampled = _search(rows, inside, seed)
    choice = pair.choice
    if choice.unlabeled_weight == 0.0:
        return replace(pair, soft=pair.ridge)
    if not sampled:
        return pair
    chosen = SoftLabelClassifier(
        choice.alpha, unlabeled_weight=rows.count * choice.unlabeled_weight
    )
    return replace(pair, soft=move_intercept(fit_rows(chosen, rows, inside), choice.shift))


def move_intercept(model: Any, shift: tuple[float, ...]) -> Any:
    """Add the shift of a choice to the intercept of a fitted classifier; return the classifier.

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


def fit_rows(model: Any, rows: TableRows, inside: Array | None = None) -> Any:
    """Fit a least squares classifier to the rows of a mask; return it.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TableRows(np.array([[0.0], [1.0], [9.0], [2.0]]), np.array([0, 1, 0, -1]))
    >>> inside = np.array([True, True, False, True])
    >>> fit_rows(SoftLabelClassifier(), rows, inside).predict(rows.X)
    array([0, 1, 1, 1])
    """
    X, codes = rows.X, rows.codes
    if inside is None:
        return model.fit(X, codes)
    if np.count_nonzero(inside) <= COPIED:
        return model.fit(X[inside], codes[inside])
    return model.fit(X, codes, sample_weight=inside.astype(np.float64))


def search_size(n_columns: int) -> int:
    """Return how many unlabeled rows the search sees at most.

    More would change the choice less than other folds do: the number of labels is what limits it.

    Examples
    --------
    >>> search_size(10), search_size(500)
    (2000, 10000)
    """
    return max(SEARCHED, SEARCHED_PER_COLUMN * n_columns)


def _search(
    rows: TableRows,
    inside: Array | None,
    seed: int,
    alpha: float | None = None,
    weight: float | None = None,
) -> tuple[Pair, bool]:
    """Search with the rows of a mask; return the fits, and whether they saw only a sample."""
    places = np.arange(len(rows.codes)) if inside is None else np.flatnonzero(inside)
    places, more = sample_rows(places, rows.codes, search_size(rows.X.shape[1]), seed)
    sample = rows.take(places, more)
    codes, count = sample.codes, sample.count
    splits = _splits(codes, sample.groups, seed)
    model = SoftLabelClassifierCV(cv=splits or None, random_state=seed)
    model.alphas = None if alpha is None else [alpha]
    model.unlabeled_weights = model.unlabeled_weights if weight is None else [weight]
    with warnings.catch_warnings():
        if splits == []:  # it warns that nothing can be tested; the comparison has a notice
            warnings.simplefilter("ignore")
        weights = np.where(codes < 0, count, 1.0) if count > 1.0 else None
        model.fit(sample.X, codes, sample_weight=weights)
    choice = Choice(
        model.alpha_,
        model.unlabeled_weight_,
        model.supervised_alpha_,
        int((codes < 0).sum()) if model.n_splits_ else 0,
        tuple(model.intercept_shift_.tolist()),
        tuple(model.supervised_.intercept_shift_.tolist()),
    )
    if weight is not None:
        choice = replace(choice, unlabeled_weight=weight)
        if model.n_splits_:
            best, shift = _best_alpha(model, weight)
            choice = replace(choice, alpha=best, shift=shift)
    return Pair(choice, model, model.supervised_), more > 1.0


def _splits(codes: Array, groups: Array | None, seed: int) -> list[tuple[Array, Array]] | None:
    """Return the splits of the search; None for the classifier's own, [] if none is possible."""
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
    """Return the alpha that scored best with a given weight, and the shift of its intercept."""
    results = model.cv_results_
    of_weight = results["param_unlabeled_weight"] == weight
    best = np.nan_to_num(results["mean_test_score"][of_weight], nan=-np.inf).argmax()
    shift = results["intercept_shift"][of_weight][best]
    return float(results["param_alpha"][of_weight][best]), tuple(shift.tolist())
