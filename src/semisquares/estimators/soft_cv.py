"""The soft-label classifier that chooses its ridge, and whether to use the unlabeled rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv

from ..certificate import gradient_bound
from ..curvature import fit_labeled
from ..inputs import Problem
from ..labelings import soft
from ..objective import Objective
from ..solvers import ActiveSet, Solution, StoppingTest, minimise
from .semi_supervised import SemiSupervised
from .soft import SoftLabelClassifier

Array = NDArray[Any]

N_ALPHAS = 9
ROUGH = 1e-12
"""The relative gap that is good enough for choosing."""
FEW_LABELS = 30
"""Up to so many labels, with a class of fewer than five, every label is a fold of its own."""


class SoftLabelClassifierCV(SoftLabelClassifier):
    """Soft-label classifier whose ridge and whose use of unlabeled rows the labels decide.

    Cross-validation on the labeled rows chooses `alpha` and `unlabeled_weight` together, with all
    unlabeled rows in every training set. Weight 0 ("leave the unlabeled rows out") is always among
    the choices, and is taken unless another is better by more than one standard error of the
    difference: where the evidence is weak, this is the tuned supervised ridge.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The ridges to choose from; None is a grid over eight powers of ten around the size of the
        labeled rows.
    unlabeled_weights : array-like, default=(0.0, 0.01, 0.1, 1.0)
        The weights of an unlabeled row to choose from; 0 is added where it is missing.
    cv : int, splitter, iterable or None, default=None
        How the labeled rows are split. None: five stratified folds; fewer where a class has fewer
        labels; leave-one-out where labels are very few. A splitter or an iterable gives indices
        over all rows; rows without a label are never tested on.
    scoring : str, callable or None, default=None
        A scikit-learn scorer; None is the squared loss of the decision values (negated).
    fit_intercept, class_weight, unlabeled, tol, max_iter, record_path, verbose
        As in `SoftLabelClassifier`.
    random_state : int, RandomState or None, default=None
        Shuffles the folds (seeded when None).

    Attributes
    ----------
    alpha_, unlabeled_weight_ : float
        What was chosen; weight 0 means that the unlabeled rows were left out.
    supervised_alpha_ : float
        The best alpha without the unlabeled rows.
    best_score_ : float
        The mean score of the choice.
    cv_results_ : dict of arrays
        Scores of all choices, as in ``GridSearchCV``.
    supervised_ : LeastSquaresClassifier
        The ridge classifier on the labeled rows alone, with the best alpha for that.
    n_splits_ : int
        The number of splits.
    coef_, intercept_, classes_, transduction_, label_distributions_, certificate_, objective_
        As in `SoftLabelClassifier`, of the fit on all rows with the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import SoftLabelClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 10)) + truth[:, None]
    >>> y = np.where(np.arange(300) < 24, truth, -1)
    >>> model = SoftLabelClassifierCV().fit(X, y)
    >>> model.unlabeled_weight_ in (0.0, 0.01, 0.1, 1.0)
    True
    >>> bool(model.score(X, truth) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: constraint
            for name, constraint in SemiSupervised._parameter_constraints.items()
            if name
            in (
                "fit_intercept",
                "class_weight",
                "unlabeled",
                "tol",
                "max_iter",
                "record_path",
                "random_state",
                "verbose",
            )
        },
        "alphas": ["array-like", None],
        "unlabeled_weights": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
    }

    def __init__(
        self,
        alphas: Any = None,
        *,
        unlabeled_weights: Any = (0.0, 0.01, 0.1, 1.0),
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        unlabeled: Any = -1,
        tol: float = 1e-20,
        max_iter: int | None = None,
        record_path: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.alphas = alphas
        self.unlabeled_weights = unlabeled_weights
        self.cv = cv
        self.scoring = scoring
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter
        self.record_path = record_path
        self.random_state = random_state
        self.verbose = verbose

    # what the final fit does not let users choose
    solver = "newton"
    init = "supervised"
    warm_start = False
    relaxation = 1.0

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> SoftLabelClassifierCV:
        """Choose alpha and the weight of unlabeled rows, then fit all rows with the choice.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts: in training, and in testing with the default scoring.
        groups : array-like of shape (n_samples,), optional
            Handed to `cv` where that is a splitter of groups.

        Returns
        -------
        self : SoftLabelClassifierCV
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight, groups)

    def _choose(self, problem: Problem, y: Any, groups: Any) -> tuple[float, float]:
        alphas = self._read_alphas(problem)
        weights = _read_grid("unlabeled_weights", self.unlabeled_weights, add=0.0)
        splits = list(self._splits(problem, y, groups))
        search = _Search(problem, alphas, weights, self._scorer())
        found = [search.scores(*split) for split in splits]
        scores = np.stack([scores for scores, _ in found], axis=-1)
        losses = np.concatenate([losses for _, losses in found], axis=-1)
        best, best_supervised = _choice(scores, losses if self.scoring is None else None)
        self.n_splits_ = len(splits)
        self.cv_results_ = _results(alphas, weights, scores)
        self.alpha_ = float(alphas[best[1]])
        self.unlabeled_weight_ = float(weights[best[0]])
        self.best_score_ = float(scores[best].mean())
        self.supervised_alpha_ = float(alphas[best_supervised])
        return self.alpha_, self.unlabeled_weight_

    def _set_results(
        self, problem: Problem, objective: Objective, supervised: Array, solution: Solution
    ) -> None:
        super()._set_results(problem, objective, supervised, solution)
        tuned = objective.with_alpha(self.supervised_alpha_)
        self.supervised_ = self._supervised_classifier(problem, tuned.alpha, fit_labeled(tuned)[0])

    def _scorer(self) -> Any:
        return None if self.scoring is None else check_scoring(self, self.scoring)

    def _read_alphas(self, problem: Problem) -> Array:
        if self.alphas is not None:
            return _read_grid("alphas", self.alphas)
        # around the labeled rows' mean eigenvalue: whatever the units, for L above and below d
        rows = problem.rows
        size = rows.labeled_spread / max(1, min(len(rows.labeled) - 1, rows.n_features))
        return np.logspace(-4, 4, N_ALPHAS) * (size or 1.0)

    def _splits(self, problem: Problem, y: Any, groups: Any) -> Iterator[tuple[Array, Array]]:
        """Give the training and the test rows of every split, test rows labeled ones only."""
        labels = problem.labels
        n_rows = labels.n_rows
        if self.cv is None or isinstance(self.cv, Integral):
            n_folds = None if self.cv is None else int(self.cv)
            yield from _labeled_splits(problem, n_folds, self._rng())
            return
        codes = np.full(n_rows, -1)  # splitters know numbers; -1 where y has no label
        codes[labels.labeled] = labels.codes
        seen = y if hasattr(self.cv, "unlabeled") else codes  # ours read markers themselves
        for train, test in check_cv(self.cv).split(np.zeros((n_rows, 1)), seen, groups):
            test = np.asarray(test)
            test = test[codes[test] >= 0]
            inside = np.isin(labels.labeled, train)
            if len(np.unique(labels.codes[inside])) < 2:
                raise ValueError(
                    f"cv={self.cv!r} gives a training set of {len(train)} rows with labels of "
                    "fewer than two classes; use stratified splits, or fewer of them."
                )
            if len(test):
                yield np.sort(train), np.sort(test)


@dataclass
class _Search:
    """Fit all choices on the training rows of one split after the other, each from the last."""

    problem: Problem
    alphas: Array
    weights: Array
    scorer: Any

    active: ActiveSet | None = None
    """Newton's active set of the fit before, shared by all that have the same rows."""

    def scores(self, train: Array, test: Array) -> tuple[Array, Array]:
        """Return the scores of one split (unlabeled weights × alphas), and the rows' losses."""
        inside = np.zeros(self.problem.rows.n_rows, dtype=bool)
        inside[train] = True
        rows = self.problem.rows.training(inside)
        shared = rows.row_weight is self.problem.rows.row_weight
        scores = np.zeros((len(self.weights), len(self.alphas)))
        losses = np.zeros((*scores.shape, len(test)))
        for i, weight in enumerate(self.weights):
            weighted = rows.reweighted(unlabeled_weight=float(weight))
            w = None
            for j in range(len(self.alphas))[::-1]:  # from the stiffest: each start is near its end
                objective = Objective(weighted, soft(self.problem.n_classes), float(self.alphas[j]))
                w = self._solve(objective, w, shared=shared)
                scores[i, j], losses[i, j] = self._score(w, test)
        return scores, losses

    def _solve(self, objective: Objective, w: Array | None, *, shared: bool) -> Array:
        if objective.rows.unlabeled_weight == 0.0:
            return fit_labeled(objective)[0]
        if w is None:
            w = fit_labeled(objective)[0]
        test = StoppingTest(gradient_bound(objective), ROUGH * objective.scale)
        found = minimise(objective, w, test=test, active=self.active if shared else None)
        if shared and found.active is not None:
            self.active = found.active
        return found.w

    def _score(self, w: Array, test: Array) -> tuple[float, Array]:
        problem = self.problem
        which = np.searchsorted(problem.rows.labeled, test)
        if self.scorer is not None:
            model = SoftLabelClassifier(fit_intercept=problem.rows.intercept, unlabeled=None)
            model._set_weights(problem, w)
            model.n_features_in_ = problem.X.shape[1]
            truth = problem.classes[problem.labels.codes[which]]
            return float(self.scorer(model, problem.X[test], truth)), np.zeros(len(test))
        error = problem.rows.decisions_of(test, w) - problem.rows.y[which]
        losses = (error**2).reshape(len(test), -1).sum(axis=1)
        weight = problem.rows.labeled_weight[which]
        total = float(weight.sum())
        return -float(weight @ losses) / total if total > 0.0 else 0.0, losses


def _choice(scores: Array, losses: Array | None) -> tuple[tuple[int, int], int]:
    """Choose (weight, alpha), and the alpha that is best without unlabeled rows.

    Another weight than 0 must be better by more than one standard error of the difference, taken
    row by row where the score is a loss of rows and split by split otherwise.
    """
    mean = scores.mean(axis=-1)
    best = np.unravel_index(int(mean.argmax()), mean.shape)
    supervised = int(mean[0].argmax())
    if best[0] == 0:
        return (0, supervised), supervised
    if losses is not None:
        difference = losses[0, supervised] - losses[best]
    else:
        difference = scores[best] - scores[0, supervised]
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    if mean[best] - mean[0, supervised] <= error:
        return (0, supervised), supervised
    return (int(best[0]), int(best[1])), supervised


def _results(alphas: Array, weights: Array, scores: Array) -> dict[str, Any]:
    """Write the scores as ``GridSearchCV`` does: one entry for each choice."""
    mean, std = scores.mean(axis=-1).ravel(), scores.std(axis=-1).ravel()
    grid = [(float(a), float(u)) for u in weights for a in alphas]
    order = np.argsort(-mean, kind="stable")
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


def _read_grid(name: str, given: Any, add: float | None = None) -> Array:
    values = np.asarray(given, dtype=np.float64).ravel()
    if not len(values) or not (values >= 0.0).all() or not np.isfinite(values).all():
        raise ValueError(f"{name}={given!r} must be finite numbers, none negative, at least one.")
    return np.unique(values if add is None else np.append(values, add))


def _labeled_splits(
    problem: Problem, cv: int | None, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Split the labeled rows: stratified folds, or leave-one-out where labels are very few."""
    labels = problem.labels
    counts = np.bincount(labels.codes)
    fewest = int(counts.min())
    if fewest == 1:
        name = labels.classes.tolist()[counts.argmin()]
        raise ValueError(
            f"Class {name!r} has a single labeled row, so none is left to train on when it is "
            "tested; label another row of that class or use SoftLabelClassifier with a given alpha."
        )
    n_folds = 5 if cv is None else int(cv)
    everything = np.arange(labels.n_rows)
    if cv is None and fewest < n_folds and len(labels.codes) <= FEW_LABELS:
        for row in labels.labeled:
            yield np.delete(everything, row), np.array([row])
        return
    folds = StratifiedKFold(
        min(n_folds, fewest), shuffle=True, random_state=int(rng.integers(2**31 - 1))
    )
    for _, test in folds.split(labels.codes, labels.codes):
        rows = labels.labeled[test]
        yield np.delete(everything, rows), rows
