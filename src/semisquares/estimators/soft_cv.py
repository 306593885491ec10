"""The soft-label classifier that chooses its ridge, and whether to use the unlabeled rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring

from ..curvature import fit_labeled
from ..inputs import Problem
from ..labels import user_level
from ..objective import Objective
from ..solvers import Solution
from ..untested import describe_untested, rows_to_test
from .search import (
    MORE_DRAWS,
    RESOLVED,
    Choice,
    Search,
    best_choices,
    clearly_positive,
    errors_needed,
    given_splits,
    labeled_splits,
    leave_one_out,
    read_grid,
    results_table,
    row_means,
)
from .semi_supervised import SemiSupervised, _Report
from .soft import SoftLabelClassifier

Array = NDArray[Any]

N_ALPHAS = 9


class SoftLabelClassifierCV(SoftLabelClassifier):
    """Soft-label classifier whose ridge and whose use of unlabeled rows the labels decide.

    Cross-validation on the labeled rows chooses `alpha` and `unlabeled_weight` together, with all
    unlabeled rows in every training set. Weight 0 ("leave the unlabeled rows out") is always among
    the choices, and is taken unless another is better by more than one standard error of the
    difference (four with 15 labels for each class or fewer), for which folds are drawn twice more:
    where the evidence is weak, this is the supervised ridge that ``RidgeClassifierCV`` chooses, by
    leaving out each label once.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The ridges to choose from; None is a grid over eight powers of ten around the size of the
        labeled rows.
    unlabeled_weights : array-like, default=(0.0, 0.01, 0.1, 1.0)
        The weights of an unlabeled row to choose from; 0 is added where it is missing.
    cv : int, splitter, iterable or None, default=None
        How the labeled rows are split: a number of stratified folds, fewer where a class has fewer
        labels. None is five folds, and leave-one-out where labels are very few (with the default
        scoring). A class with a single label is always trained on and never tested, with a warning;
        if that leaves fewer than two classes to test, the middle of `alphas` and weight 0 are
        taken. A splitter or an iterable gives indices over all rows, and decides alone, on the
        supervised alpha too; rows without a label are never tested on.
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
        The best alpha without the unlabeled rows: by leave-one-out, as ``RidgeClassifierCV`` has
        it, where the folds are drawn here and scoring is the default; otherwise by the scores.
    best_score_ : float
        The mean score of the choice.
    cv_results_ : dict of arrays
        Scores of all choices, as in ``GridSearchCV``.
    supervised_ : LeastSquaresClassifier
        The ridge classifier on the labeled rows alone, with the best alpha for that.
    n_splits_ : int
        The number of splits; 0 if nothing could be tested.
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

    def _has_ridge(self) -> bool:
        return self.alphas is None or bool((read_grid("alphas", self.alphas) > 0.0).all())

    def _choose(
        self, problem: Problem, y: Any, groups: Any, report: _Report
    ) -> tuple[float, float]:
        if problem.partitioned:
            raise ValueError(
                "SoftLabelClassifierCV searches among rows in memory; fit it to the labeled rows "
                "and a sample of the others, and SoftLabelClassifier with its choice to all."
            )
        alphas = self._read_alphas(problem)
        weights = read_grid("unlabeled_weights", self.unlabeled_weights, add=0.0)
        rng = self._rng()
        splits = list(self._splits(problem, y, groups, rng))
        if not splits and not self._own_folds():
            raise ValueError(f"cv={self.cv!r} gives no split that tests a labeled row.")
        if not splits:
            return self._take_defaults(alphas, weights)
        self._warn_of_untested(problem)
        scorer = None if self.scoring is None else check_scoring(self, self.scoring)
        search = Search(problem, alphas, weights, scorer)
        found = []
        for k, split in enumerate(splits):
            found.append(search.scores(*split))
            report.note(f"split {k + 1} of {len(splits)}")
        scores = np.stack([scores for scores, _ in found], axis=-1)
        by_rows = scorer is None
        supervised = leave_one_out(problem, alphas) if by_rows and self._own_folds() else None
        best, alone = best_choices(scores, supervised)
        if best != alone:
            if by_rows:
                losses = [np.stack([losses[alone], losses[best]]) for _, losses in found]
                better = self._is_better(search, (alone, best), losses, splits, rng)
            else:
                gains = scores[best] - scores[alone]
                better = clearly_positive(gains, errors=errors_needed(problem))
            best = best if better else alone
        self.n_splits_ = len(splits)
        self.cv_results_ = results_table(alphas, weights, scores)
        self.alpha_ = float(alphas[best[1]])
        self.unlabeled_weight_ = float(weights[best[0]])
        self.best_score_ = float(scores[best].mean())
        self.supervised_alpha_ = float(alphas[alone[1]])
        return self.alpha_, self.unlabeled_weight_

    def _take_defaults(self, alphas: Array, weights: Array) -> tuple[float, float]:
        """Choose without any test, and say so."""
        alpha = float(alphas[len(alphas) // 2])
        warnings.warn(
            "Fewer than two classes have two labeled rows or more, so that nothing can be tested; "
            f"alpha={alpha:.3g}, the middle of alphas, was taken and the unlabeled rows were left "
            "out: label more rows, or use SoftLabelClassifier with an alpha of your own.",
            UserWarning,
            stacklevel=user_level(),
        )
        self.n_splits_ = 0
        self.cv_results_ = results_table(alphas, weights, np.empty((len(weights), len(alphas), 0)))
        self.alpha_ = self.supervised_alpha_ = alpha
        self.unlabeled_weight_ = 0.0
        self.best_score_ = np.nan
        return self.alpha_, self.unlabeled_weight_

    def _warn_of_untested(self, problem: Problem) -> None:
        """Say which classes the folds do not test."""
        codes = problem.labels.codes
        untested = np.setdiff1d(codes, codes[rows_to_test(codes)])
        if len(untested) and self._own_folds():
            names = problem.classes[untested].tolist()
            warnings.warn(describe_untested(names), UserWarning, stacklevel=user_level())

    def _is_better(
        self,
        search: Search,
        choices: tuple[Choice, Choice],
        losses: list[Array],
        splits: list[tuple[Array, Array]],
        rng: np.random.Generator,
    ) -> bool:
        """Tell whether the second choice has clearly less loss, in more draws of the folds too."""
        problem = search.problem
        tests = [test for _, test in splits]
        one_by_one = all(len(test) == 1 for test in tests)  # drawn anew these are the same
        for _ in range(MORE_DRAWS if self._own_folds() and not one_by_one else 0):
            for train, test in self._splits(problem, None, None, rng):
                losses.append(search.losses_of(choices, train, test))
                tests.append(test)
        rows, (without, using) = row_means(losses, tests)
        weight = problem.rows.labeled_weight[np.searchsorted(problem.rows.labeled, rows)]
        least = RESOLVED * float(np.average(without, weights=weight))
        errors = errors_needed(problem)
        return clearly_positive(without - using, weight, errors=errors, least=least)

    def _set_results(
        self, problem: Problem, objective: Objective, supervised: Array, solution: Solution
    ) -> None:
        super()._set_results(problem, objective, supervised, solution)
        tuned = objective.with_alpha(self.supervised_alpha_)
        self.supervised_ = self._supervised_classifier(problem, tuned.alpha, fit_labeled(tuned)[0])

    def _read_alphas(self, problem: Problem) -> Array:
        if self.alphas is not None:
            return read_grid("alphas", self.alphas)
        # around the labeled rows' mean eigenvalue: whatever the units, for L above and below d
        rows = problem.rows
        size = rows.labeled_spread / max(1, min(len(rows.labeled) - 1, rows.n_features))
        return np.logspace(-4, 4, N_ALPHAS) * (size or 1.0)

    def _own_folds(self) -> bool:
        return self.cv is None or isinstance(self.cv, Integral)

    def _splits(
        self, problem: Problem, y: Any, groups: Any, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array]]:
        """Give the training and the test rows of every split."""
        if self._own_folds():
            n_folds = None if self.cv is None else int(self.cv)
            alone = self.scoring is None
            return labeled_splits(problem, n_folds, rng, one_by_one=alone)
        return given_splits(problem, self.cv, y, groups)
