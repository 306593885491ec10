"""Cross-validation over alphas and unlabeled weights: splits, fits, and the choice by a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from .._inputs.arrays import Problem
from .._inputs.checks import one_line
from .._inputs.untested import rows_to_test
from .._utils.typing import Array
from ..core.certificate import gradient_bound
from ..core.curvature import fit_labeled
from ..core.labelings import soft
from ..core.objective import Objective
from ..core.solvers import ActiveSet, Solution, StoppingTest, minimise
from ._evidence import Choice, SearchResult, center, choose_by_evidence, no_shifts, weigh_choices
from .supervised import LeastSquaresClassifier

Splits = Iterator[tuple[Array, Array]]

FOLDS = 5
ROUGH = 1e-10
"""Relative gap that suffices for choosing, with exact steps."""
ROUGHER = 1e-8
"""The same for steps by conjugate gradients."""


# -- splits -------------------------------------------------------------------------------------


def labeled_splits(problem: Problem, n_folds: int | None, rng: np.random.Generator) -> Splits:
    """Split the labeled rows into stratified folds.

    A class with a single labeled row is never tested; without two others there are no splits.
    """
    labels = problem.labels
    tested = rows_to_test(labels.codes)
    labeled, codes = labels.labeled[tested], labels.codes[tested]
    present, counts = np.unique(codes, return_counts=True)
    if len(present) < 2:
        return
    folds = StratifiedKFold(
        min(n_folds or FOLDS, int(counts.min())),
        shuffle=True,
        random_state=int(rng.integers(2**31 - 1)),
    )
    everything = np.arange(labels.n_rows)
    for _, test in folds.split(codes, codes):
        yield np.delete(everything, labeled[test]), labeled[test]


def given_splits(problem: Problem, cv: Any, y: Any, groups: Any) -> Splits:
    """Split all rows by the user's splitter or list of splits; test labeled rows only."""
    labels = problem.labels
    codes = np.full(labels.n_rows, -1)  # splitters expect numbers; -1 is a missing label
    codes[labels.labeled] = labels.codes
    counts = np.zeros(labels.n_rows)
    counts[labels.labeled] = problem.rows.labeled_weight
    seen = y if hasattr(cv, "unlabeled") else codes  # our own splitters read markers themselves
    for train, test in _splitter(cv).split(np.zeros((labels.n_rows, 1)), seen, groups):
        train, test = _row_numbers(train, labels.n_rows), _row_numbers(test, labels.n_rows)
        test = test[(codes[test] >= 0) & (counts[test] > 0.0)]
        if len(np.unique(codes[train][codes[train] >= 0])) < 2:
            raise ValueError(
                f"cv={cv!r} gives a training set of {len(train)} rows with labels of fewer than "
                "two classes; use stratified splits, or fewer of them."
            )
        if len(test):
            yield train, test


def _splitter(cv: Any) -> Any:
    """Return a splitter, made from a list of splits if necessary."""
    if hasattr(cv, "split"):
        return cv
    try:
        return check_cv([(train, test) for train, test in cv])
    except (TypeError, ValueError):
        raise ValueError(
            f"cv={one_line(cv)} does not give pairs of training rows and test rows; pass a number "
            "of folds, a splitter, or such pairs."
        ) from None


def _row_numbers(given: Any, n_rows: int) -> Array:
    """Read one side of a split: row numbers, or a mask of all rows."""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not ((rows >= 0) & (rows < n_rows)).all():
        raise ValueError(
            f"cv gives rows of type {rows.dtype} and shape {rows.shape}; a split holds numbers of "
            f"rows from 0 to {n_rows - 1}, or masks of {n_rows} rows."
        )
    return np.sort(rows)


# -- the search ---------------------------------------------------------------------------------


def cross_validate(
    problem: Problem,
    alphas: Array,
    weights: Array,
    splits: Sequence[tuple[Array, Array]],
    scorer: Any,
    note: Callable[[str], Any],
) -> SearchResult:
    """Choose by fits of every choice to every split, by a scorer or (None) by log loss.

    ``note(text)`` is called after each split.
    """
    rows = problem.rows
    search = Search(problem, alphas, weights)
    tests = [np.searchsorted(rows.labeled, test) for _, test in splits]
    values = []
    for k, (train, test) in enumerate(splits):
        w = search.fit(train)
        if scorer is None:
            kept = np.isin(rows.labeled, train)
            mean = np.average(rows.y[kept], axis=0, weights=rows.labeled_weight[kept])
            values.append(search.decisions(w, test) - center(problem, mean))
        else:
            values.append(search.scores(w, test, scorer))
        note(f"split {k + 1} of {len(splits)}")
    if scorer is not None:
        scores = np.stack(values, axis=-1)
        choice, alone = best_choices(scores)
        mean, std = scores.mean(axis=-1), scores.std(axis=-1)
        shifts = no_shifts(problem, mean.shape)
        return SearchResult(choice, alone, shifts, mean, std, len(splits), scores)
    evidence = weigh_choices(problem, np.concatenate(values, axis=2), np.concatenate(tests))
    parts = np.split(evidence.of_rows, np.cumsum([len(test) for test in tests])[:-1], axis=2)
    means = [
        np.average(part, axis=-1, weights=rows.labeled_weight[test])
        for part, test in zip(parts, tests, strict=True)
    ]
    scores = -np.stack(means, axis=-1)
    return choose_by_evidence(problem, evidence, scores.std(axis=-1), len(splits), scores)


# -- fits ---------------------------------------------------------------------------------------


def rough_solution(objective: Objective, w: Array, active: ActiveSet | None) -> Solution:
    """Minimise from w to the accuracy of a choice; `active` is that of a similar fit."""
    enough = ROUGH if objective.direct else ROUGHER
    test = StoppingTest(gradient_bound(objective), enough * objective.scale)
    return minimise(objective, w, test=test, active=active)


@dataclass
class Search:
    """Fits of all choices to one split after the other, each started from the last.

    `weights` are sorted, 0 first.
    """

    problem: Problem
    alphas: Array
    weights: Array

    active: ActiveSet | None = None
    """Newton's active set of the previous fit to the same rows."""
    before: Array | None = None
    """The solutions of the previous split, unlabeled weights × alphas."""

    def fit(self, train: Array) -> Array:
        """Return the weights of all choices: unlabeled weights × alphas × weights [× classes]."""
        self._share_gram()
        inside = np.zeros(self.problem.rows.n_rows, dtype=bool)
        inside[train] = True
        rows = self.problem.rows.training(inside)
        shared = rows.row_weight is self.problem.rows.row_weight
        labeling = soft(self.problem.n_classes)
        alone = [Objective(rows, labeling, float(alpha)) for alpha in self.alphas]
        w = np.empty((len(self.weights), len(self.alphas), *rows.weights_shape))
        w[0] = [fit_labeled(objective) for objective in alone]  # the weight 0 comes first
        for i, weight in enumerate(self.weights[1:], start=1):
            for j, objective in reversed(list(enumerate(alone))):
                start = _stiffer(w, i, j)
                if self.before is not None:  # expect the same change as in the previous split
                    start = start + self.before[i, j] - _stiffer(self.before, i, j)
                active = self.active if shared else None
                found = rough_solution(objective.reweighted(float(weight)), start, active)
                if shared and found.state.active is not None:
                    self.active = found.state.active
                w[i, j] = found.w
        self.before = w
        return w

    def decisions(self, w: Array, test: Array) -> Array:
        """Return decision values of test rows: unlabeled weights × alphas × rows [× classes]."""
        together = np.moveaxis(w, 2, 0)  # (p, unlabeled weights, alphas[, classes])
        return np.moveaxis(self.problem.rows.decisions_of(test, together), 0, 2)

    def scores(self, w: Array, test: Array, scorer: Any) -> Array:
        """Return the score of every choice: unlabeled weights × alphas."""
        problem = self.problem
        X = problem.X[test]
        truth = problem.classes[problem.labels.codes[np.searchsorted(problem.rows.labeled, test)]]
        scores = [scorer(self._model(one), X, truth) for one in w.reshape(-1, *w.shape[2:])]
        return np.reshape(scores, w.shape[:2])

    def _share_gram(self) -> None:
        """Compute the labeled rows' Gram matrix once for all folds, if it is needed."""
        rows, n_classes = self.problem.rows, self.problem.n_classes
        if Objective(rows, soft(n_classes), float(self.alphas[-1])).direct:
            rows.labeled_gram  # noqa: B018 (a cached property)

    def _model(self, w: Array) -> LeastSquaresClassifier:
        rows = self.problem.rows
        model = LeastSquaresClassifier(fit_intercept=rows.intercept, unlabeled=None)
        model._set_weights(self.problem, w)
        model.n_features_in_ = self.problem.X.shape[1]
        return model


def _stiffer(w: Array, i: int, j: int) -> Array:
    """Return the solution with the next larger alpha, or for the largest the supervised one."""
    return w[i, j + 1] if j + 1 < w.shape[1] else w[0, j]


# -- choices by a score -------------------------------------------------------------------------


def best_choices(scores: Array) -> tuple[Choice, Choice]:
    """Return the choice with the best score, and the best one without unlabeled rows.

    Unlabeled rows are used only if that improves the mean score by more than one standard error of
    the difference over the splits. A choice without a score in some split is never taken.
    """
    mean = scores.mean(axis=-1)
    if np.isnan(mean[0]).all():
        raise ValueError(
            "Every choice scored NaN in some split, so none can be taken; use another scoring, or "
            "a cv whose test sets have rows of every class."
        )
    mean = np.where(np.isnan(mean), -np.inf, mean)
    weight, alpha = np.unravel_index(int(mean.argmax()), mean.shape)
    best, alone = (int(weight), int(alpha)), (0, int(mean[0].argmax()))
    return best if weight and clearly_positive(scores[best] - scores[alone]) else alone, alone


def clearly_positive(gains: Array) -> bool:
    """Tell whether the mean gain is more than one standard error above 0."""
    if len(gains) < 2:
        return False
    return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))
