"""The search behind `SoftLabelClassifierCV`: splits of the labeled rows, scores, and the choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from ..certificate import gradient_bound
from ..checks import one_line, read_floats
from ..curvature import fit_labeled, left_out_errors
from ..inputs import Problem
from ..labelings import soft
from ..objective import Objective
from ..solvers import ActiveSet, StoppingTest, minimise
from ..untested import rows_to_test
from .supervised import LeastSquaresClassifier

Array = NDArray[Any]
Splits = Iterator[tuple[Array, Array]]
Choice = tuple[int, int]
"""Which weight of unlabeled rows, and which alpha."""

ROUGH = 1e-10
"""The relative gap that is good enough for choosing, where steps are exact."""
ROUGHER = 1e-8
"""The same where they come from conjugate gradients."""
RESOLVED = 1e-5
"""Differences of scores, relative to them, that fits to such a gap may make."""
FEW_LABELS = 30
"""Up to so many labels, with a class of fewer than five, every label is a fold of its own."""
FEW_PER_CLASS, ERRORS_OF_FEW, ERRORS = 15, 4.0, 1.0
"""Up to so many labels for each class a gain must be so many standard errors, beyond them so many.

Few labels are no proof: the best of many choices looks better by luck alone."""
MORE_DRAWS = 2
"""So often folds are drawn anew for the best choice before it is taken: it was lucky too."""


# -- splits -------------------------------------------------------------------------------------


def labeled_splits(
    problem: Problem, n_folds: int | None, rng: np.random.Generator, *, one_by_one: bool
) -> Splits:
    """Split the labeled rows: stratified folds, or leave-one-out where labels are very few.

    A class with a single labeled row is never tested; there are no splits unless two others are.
    `one_by_one` allows leave-one-out: a score such as AUC has no value for a single row.
    """
    labels = problem.labels
    tested = rows_to_test(labels.codes)
    labeled, codes = labels.labeled[tested], labels.codes[tested]
    present, counts = np.unique(codes, return_counts=True)
    if len(present) < 2:
        return
    fewest = int(counts.min())
    everything = np.arange(labels.n_rows)
    most = 5 if n_folds is None else n_folds
    very_few = fewest < most and len(codes) <= FEW_LABELS
    if n_folds is None and very_few and one_by_one:
        for row in labeled:
            yield np.delete(everything, row), np.array([row])
        return
    folds = StratifiedKFold(
        min(most, fewest), shuffle=True, random_state=int(rng.integers(2**31 - 1))
    )
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


# -- scores -------------------------------------------------------------------------------------


@dataclass
class Search:
    """Fit all choices on the training rows of one split after the other, each from the last.

    `weights` are sorted, 0 first.
    """

    problem: Problem
    alphas: Array
    weights: Array
    scorer: Any

    active: ActiveSet | None = None
    """Newton's active set of the fit before, shared by all that have the same rows."""
    before: Array | None = None
    """The solutions of the split before, unlabeled weights × alphas."""

    def scores(self, train: Array, test: Array) -> tuple[Array, Array]:
        """Return the scores of one split (unlabeled weights × alphas), and the rows' losses."""
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
                w[i, j] = self._solve(objective.reweighted(float(weight)), start, shared=shared)
        self.before = w
        return self._score(w, test)

    def losses_of(self, choices: Sequence[Choice], train: Array, test: Array) -> Array:
        """Return the rows' losses of a few choices in one more split."""
        i = np.unique([0, *(weight for weight, _ in choices)])
        j = np.unique([alpha for _, alpha in choices])
        few = Search(self.problem, self.alphas[j], self.weights[i], None)
        losses = few.scores(train, test)[1]
        places = ((np.searchsorted(i, a), np.searchsorted(j, b)) for a, b in choices)
        return np.stack([losses[place] for place in places])

    def _share_gram(self) -> None:
        """Sum the labeled rows' Gram matrix once for all folds, where it is formed at all."""
        rows, n_classes = self.problem.rows, self.problem.n_classes
        if Objective(rows, soft(n_classes), float(self.alphas[-1])).direct:
            rows.labeled_gram  # noqa: B018 (it stays with the rows)

    def _solve(self, objective: Objective, w: Array, *, shared: bool) -> Array:
        enough = ROUGH if objective.direct else ROUGHER
        test = StoppingTest(gradient_bound(objective), enough * objective.scale)
        found = minimise(objective, w, test=test, active=self.active if shared else None)
        if shared and found.active is not None:
            self.active = found.active
        return found.w

    def _score(self, w: Array, test: Array) -> tuple[Array, Array]:
        """Score all weights on the test rows."""
        problem = self.problem
        which = np.searchsorted(problem.rows.labeled, test)
        grid = w.shape[:2]
        if self.scorer is not None:
            truth = problem.classes[problem.labels.codes[which]]
            X = problem.X[test]
            scores = [
                self.scorer(self._model(one), X, truth) for one in w.reshape(-1, *w.shape[2:])
            ]
            return np.reshape(scores, grid), np.zeros((*grid, len(test)))
        together = np.moveaxis(w, 2, 0)  # (p, unlabeled weights, alphas[, classes])
        error = problem.rows.decisions_of(test, together)
        error -= problem.rows.y[which].reshape(len(test), 1, 1, *problem.rows.y.shape[1:])
        losses = (error**2).reshape(len(test), *grid, -1).sum(axis=-1)
        weight = problem.rows.labeled_weight[which]
        return -np.tensordot(weight, losses, axes=1) / weight.sum(), np.moveaxis(losses, 0, -1)

    def _model(self, w: Array) -> LeastSquaresClassifier:
        rows = self.problem.rows
        model = LeastSquaresClassifier(fit_intercept=rows.intercept, unlabeled=None)
        model._set_weights(self.problem, w)
        model.n_features_in_ = self.problem.X.shape[1]
        return model


def _stiffer(w: Array, i: int, j: int) -> Array:
    """Return the weights of the next larger alpha; of the labeled rows alone for the largest."""
    return w[i, j + 1] if j + 1 < w.shape[1] else w[0, j]


def leave_one_out(problem: Problem, alphas: Array) -> int | None:
    """Choose the alpha of a fit without unlabeled rows, each label left out once, in closed form.

    This is what ``RidgeClassifierCV`` does, but for classes with a single label, which do not
    count. None where no Gram matrix is factored, or some alpha leaves nothing to predict a label
    by.
    """
    weight = problem.rows.labeled_weight * rows_to_test(problem.labels.codes)
    labeling = soft(problem.n_classes)
    losses = []
    for alpha in alphas:
        errors = left_out_errors(Objective(problem.rows, labeling, float(alpha)))
        if errors is None:
            return None
        losses.append(weight @ (errors**2).reshape(len(weight), -1).sum(axis=1))
    return int(np.argmin(losses)) if np.isfinite(losses).all() else None


def best_choices(scores: Array, supervised: int | None = None) -> tuple[Choice, Choice]:
    """Return the choice that scores best, and the best one without unlabeled rows.

    A choice without a score in some split is never taken. `supervised` is the alpha of the second,
    where it is known already.
    """
    mean = scores.mean(axis=-1)
    if np.isnan(mean[0]).all():
        raise ValueError(
            "Every choice scored NaN in some split, so none can be taken; use another scoring, or "
            "a cv whose test sets have rows of every class."
        )
    mean = np.where(np.isnan(mean), -np.inf, mean)
    weight, alpha = np.unravel_index(int(mean.argmax()), mean.shape)
    alone = (0, int(mean[0].argmax()) if supervised is None else supervised)
    return (int(weight), int(alpha)) if weight > 0 else alone, alone


def clearly_positive(
    gains: Array, weight: Array | None = None, *, errors: float = ERRORS, least: float = 0.0
) -> bool:
    """Tell whether the mean of some gains is above `least` by more than some standard errors."""
    if len(gains) < 2:
        return False
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(np.average(gains, weights=weight) > errors * error + least)


def errors_needed(problem: Problem) -> float:
    """Return how many standard errors a gain must be, with so many labels."""
    few = len(problem.labels.codes) <= FEW_PER_CLASS * problem.n_classes
    return ERRORS_OF_FEW if few else ERRORS


def row_means(values: Sequence[Array], tests: Sequence[Array]) -> tuple[Array, Array]:
    """Return the rows that were tested in some splits, and the mean of each one's values."""
    rows, place = np.unique(np.concatenate(tests), return_inverse=True)
    together = np.concatenate(values, axis=-1)
    total = np.zeros((*together.shape[:-1], len(rows)))
    np.add.at(total.T, place, together.T)
    return rows, total / np.bincount(place)


def results_table(alphas: Array, weights: Array, scores: Array) -> dict[str, Any]:
    """Write the scores as ``GridSearchCV`` does: one entry for each choice."""
    grid = [(float(a), float(u)) for u in weights for a in alphas]
    mean = std = np.full(len(grid), np.nan)
    if scores.shape[-1]:
        mean, std = scores.mean(axis=-1).ravel(), scores.std(axis=-1).ravel()
    order = np.argsort(np.where(np.isnan(mean), np.inf, -mean), kind="stable")
    rank = np.empty(len(mean), dtype=np.int32)
    rank[order] = np.arange(1, len(mean) + 1)
    splits = {f"split{k}_test_score": scores[..., k].ravel() for k in range(scores.shape[-1])}
    return {
        "params": [{"alpha": a, "unlabeled_weight": u} for a, u in grid],
        "param_alpha": np.array([a for a, _ in grid]),
        "param_unlabeled_weight": np.array([u for _, u in grid]),
        **splits,
        "mean_test_score": mean,
        "std_test_score": std,
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
