"""Splits of the labeled rows, and fits of every choice on them, for `SoftLabelClassifierCV`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from .._inputs.arrays import Problem
from .._inputs.checks import one_line, read_floats
from .._inputs.untested import rows_to_test
from ..core.certificate import gradient_bound
from ..core.curvature import fit_labeled
from ..core.labelings import soft
from ..core.objective import Objective
from ..core.solvers import ActiveSet, Solution, StoppingTest, minimise
from .evidence import Choice
from .supervised import LeastSquaresClassifier

Array = NDArray[Any]
Splits = Iterator[tuple[Array, Array]]

FOLDS = 5
ROUGH = 1e-10
"""The relative gap that is good enough for choosing, where steps are exact."""
ROUGHER = 1e-8
"""The same where they come from conjugate gradients."""


# -- splits -------------------------------------------------------------------------------------


def labeled_splits(problem: Problem, n_folds: int | None, rng: np.random.Generator) -> Splits:
    """Split the labeled rows into stratified folds.

    A class with a single labeled row is never tested; there are no splits unless two others are.
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
    """Split as a user's splitter or list of splits says, over all rows; test labeled rows only."""
    labels = problem.labels
    codes = np.full(labels.n_rows, -1)  # splitters know numbers; -1 where y has no label
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
    """Return a splitter; splits that are given one by one become one."""
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
    """Read the rows of a split: row numbers, or a mask of all rows."""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not ((rows >= 0) & (rows < n_rows)).all():
        raise ValueError(
            f"cv gives rows of type {rows.dtype} and shape {rows.shape}; a split holds numbers of "
            f"rows from 0 to {n_rows - 1}, or masks of {n_rows} rows."
        )
    return np.sort(rows)


# -- fits ---------------------------------------------------------------------------------------


def rough_solution(objective: Objective, w: Array, active: ActiveSet | None) -> Solution:
    """Minimise from w, well enough for choosing; `active` is of a nearby fit to the same rows."""
    enough = ROUGH if objective.direct else ROUGHER
    test = StoppingTest(gradient_bound(objective), enough * objective.scale)
    return minimise(objective, w, test=test, active=active)


@dataclass
class Search:
    """Fit all choices on the training rows of one split after the other, each from the last.

    `weights` are sorted, 0 first.
    """

    problem: Problem
    alphas: Array
    weights: Array

    active: ActiveSet | None = None
    """Newton's active set of the fit before, shared by all that have the same rows."""
    before: Array | None = None
    """The solutions of the split before, unlabeled weights × alphas."""

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
        w[0] = [fit_labeled(objective)[0] for objective in alone]  # the weight 0 comes first
        for i, weight in enumerate(self.weights[1:], start=1):
            for j, objective in reversed(list(enumerate(alone))):
                start = _stiffer(w, i, j)
                if self.before is not None:  # what changed there will change about so here
                    start = start + self.before[i, j] - _stiffer(self.before, i, j)
                active = self.active if shared else None
                found = rough_solution(objective.reweighted(float(weight)), start, active)
                if shared and found.active is not None:
                    self.active = found.active
                w[i, j] = found.w
        self.before = w
        return w

    def decisions(self, w: Array, test: Array) -> Array:
        """Return decision values of test rows: unlabeled weights × alphas × rows [× classes]."""
        together = np.moveaxis(w, 2, 0)  # (p, unlabeled weights, alphas[, classes])
        return np.moveaxis(self.problem.rows.decisions_of(test, together), 0, 2)

    def scores(self, w: Array, test: Array, scorer: Any) -> Array:
        """Return what a scorer says about every choice: unlabeled weights × alphas."""
        problem = self.problem
        X = problem.X[test]
        truth = problem.classes[problem.labels.codes[np.searchsorted(problem.rows.labeled, test)]]
        scores = [scorer(self._model(one), X, truth) for one in w.reshape(-1, *w.shape[2:])]
        return np.reshape(scores, w.shape[:2])

    def _share_gram(self) -> None:
        """Sum the labeled rows' Gram matrix once for all folds, where it is formed at all."""
        rows, n_classes = self.problem.rows, self.problem.n_classes
        if Objective(rows, soft(n_classes), float(self.alphas[-1])).direct:
            rows.labeled_gram  # noqa: B018 (it stays with the rows)

    def _model(self, w: Array) -> LeastSquaresClassifier:
        rows = self.problem.rows
        model = LeastSquaresClassifier(fit_intercept=rows.intercept, unlabeled=None)
        model._set_weights(self.problem, w)
        model.n_features_in_ = self.problem.X.shape[1]
        return model


def _stiffer(w: Array, i: int, j: int) -> Array:
    """Return the weights of the next larger alpha; of the labeled rows alone for the largest."""
    return w[i, j + 1] if j + 1 < w.shape[1] else w[0, j]


# -- choices by a score -------------------------------------------------------------------------


def best_choices(scores: Array) -> tuple[Choice, Choice]:
    """Return the choice that scores best, and the best one without unlabeled rows.

    Unlabeled rows are used only if that is better by more than one standard error of the mean
    difference over the splits. A choice without a score in some split is never taken.
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
    """Tell whether the mean of some gains is more than one standard error above 0."""
    if len(gains) < 2:
        return False
    return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))


def results_table(
    alphas: Array, weights: Array, mean: Array, std: Array, splits: Array | None = None
) -> dict[str, Any]:
    """Write the scores as ``GridSearchCV`` does: one entry for each choice.

    `splits` are the scores in every split: unlabeled weights × alphas × splits.
    """
    grid = [(float(a), float(u)) for u in weights for a in alphas]
    order = np.argsort(np.where(np.isnan(mean), np.inf, -mean), axis=None, kind="stable")
    rank = np.empty(len(grid), dtype=np.int32)
    rank[order] = np.arange(1, len(grid) + 1)
    by_split: Any = () if splits is None else np.moveaxis(splits, -1, 0)
    return {
        "params": [{"alpha": a, "unlabeled_weight": u} for a, u in grid],
        "param_alpha": np.array([a for a, _ in grid]),
        "param_unlabeled_weight": np.array([u for _, u in grid]),
        **{f"split{k}_test_score": scores.ravel() for k, scores in enumerate(by_split)},
        "mean_test_score": mean.ravel(),
        "std_test_score": std.ravel(),
        "rank_test_score": rank,
    }


def read_grid(name: str, given: Any, add: float | None = None) -> Array:
    """Read numbers to choose from, sorted; `add` is always among them."""
    values = read_floats(given).ravel()
    if not len(values) or not (values >= 0.0).all() or not np.isfinite(values).all():
        raise ValueError(
            f"{name}={one_line(given)} must be finite numbers, none negative, at least one."
        )
    return np.unique(values if add is None else np.append(values, add))
