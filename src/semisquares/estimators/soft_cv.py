"""The soft-label classifier that chooses its ridge, and whether to use the unlabeled rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring

from .._inputs.arrays import Problem
from .._inputs.labels import user_level
from .._inputs.untested import describe_untested, rows_to_test
from ..core.curvature import fit_labeled
from ..core.objective import Objective
from ..core.solvers import Solution
from .choosing import Found, cross_validate, leave_one_out, no_shifts
from .left_out import can_leave_out
from .search import given_splits, labeled_splits, read_grid, results_table
from .semi_supervised import SemiSupervised, _Report
from .soft import SoftLabelClassifier

Array = NDArray[Any]


def default_alphas(spread: float, n_labeled: int, n_features: int) -> Array:
    """Return the grid of ridges around the mean eigenvalue of the labeled rows' scatter matrix.

    `spread` is the trace of that matrix. The grid follows the units of the columns, and suits
    tables with fewer labeled rows than features as well as those with more.
    """
    mean_eigenvalue = spread / max(1, min(n_labeled - 1, n_features))
    return np.logspace(-3, 3, 13) * (mean_eigenvalue or 1.0)


class SoftLabelClassifierCV(SoftLabelClassifier):
    """Soft-label classifier whose ridge and whose use of unlabeled rows the labels decide.

    Each labeled row is left out once, in closed form and with all unlabeled rows in the fit, for
    every pair of `alpha` and `unlabeled_weight`. A pair is weighted by the log loss of these rows,

        weight ∝ prior · exp(-L · mean log loss / 2),        L labels,

    0.6 of the prior being on unlabeled weight 0 ("leave the unlabeled rows out"), and the weighted
    median is taken: of the unlabeled weights first, then of the alphas with that weight. If the
    labels say nothing about unlabeled rows, these are left out. All rows are then fitted with the
    pair, and the intercept is moved so that the classes part where the same log loss has them
    equally likely.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The ridges to choose from; None is a grid over six powers of ten around the size of the
        labeled rows, two ridges to each.
    unlabeled_weights : array-like, default=(0.0, 0.01, 0.1, 1.0)
        The weights of an unlabeled row to choose from; 0 is added where it is missing.
    cv : int, splitter, iterable or None, default=None
        How the labeled rows are split. None leaves each out once, in closed form; five folds where
        that is not possible: with `scoring`, with more columns than Gram matrices are formed of,
        and for more than two classes without an intercept. A number is one of stratified folds,
        fewer where a class has fewer labels. A class with a single label is always trained on and
        never tested, with a warning; if that leaves fewer than two classes to test, the middle of
        `alphas` and weight 0 are taken. A splitter or an iterable gives indices over all rows; rows
        without a label are never tested on.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. The pair with the best mean score is taken, and one with unlabeled
        rows only if it is better by more than one standard error over the splits; the intercept is
        not moved. None is the log loss (negated), as above.
    fit_intercept, class_weight, unlabeled, tol, max_iter, record_path, verbose
        As in `SoftLabelClassifier`.
    random_state : int, RandomState or None, default=None
        Shuffles the folds, and draws the unlabeled rows that the search sees if they are more than
        2,000 and 20 for each column (seeded when None).

    Attributes
    ----------
    alpha_, unlabeled_weight_ : float
        The pair that was taken, one of those given: the median, not the one that scored best.
        Weight 0 means that the unlabeled rows were left out.
    supervised_alpha_ : float
        The alpha that is taken without the unlabeled rows.
    best_score_ : float
        The mean score of the pair that was taken.
    cv_results_ : dict of arrays
        Scores of all pairs, as in ``GridSearchCV``, and their `intercept_shift`; scores of single
        splits unless each row is one.
    supervised_ : LeastSquaresClassifier
        The ridge classifier on the labeled rows alone: `supervised_alpha_`, its intercept moved
        likewise (by its own `intercept_shift_`).
    n_splits_ : int
        The number of splits (of rows that were left out); 0 if nothing could be tested.
    intercept_shift_ : ndarray of shape (1,) or (n_classes,)
        How far the intercept was moved: without it, `coef_` and `intercept_` are the fit of
        ``SoftLabelClassifier(alpha_, unlabeled_weight=unlabeled_weight_)``.
    certificate_, objective_, solution_
        As in `SoftLabelClassifier`, of the fit before its intercept was moved.
    coef_, intercept_, classes_, transduction_, label_distributions_
        As in `SoftLabelClassifier`, of the fit on all rows, its intercept moved.

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
        found = None
        if self.cv is None and self.scoring is None and can_leave_out(problem):
            found = leave_one_out(problem, alphas, weights, rng)
        else:
            scorer = None if self.scoring is None else check_scoring(self, self.scoring)
            splits = list(self._splits(problem, y, groups, rng))
            if not splits and not self._own_folds():
                raise ValueError(f"cv={self.cv!r} gives no split that tests a labeled row.")
            if splits:
                found = cross_validate(problem, alphas, weights, splits, scorer, report.note)
        if found is None:
            found = self._take_defaults(problem, alphas, weights)
        else:
            self._warn_of_untested(problem)
        self.intercept_shift_ = found.shifts[found.choice]
        self._supervised_shift = found.shifts[found.supervised]
        self.unlabeled_weight_ = float(weights[found.choice[0]])
        self.alpha_ = float(alphas[found.choice[1]])
        self.supervised_alpha_ = float(alphas[found.supervised[1]])
        self.n_splits_ = found.n_splits
        self.cv_results_ = {
            **results_table(alphas, weights, found.mean, found.std, found.splits),
            "intercept_shift": found.shifts.reshape(found.mean.size, -1),
        }
        self.best_score_ = float(found.mean[found.choice])
        return self.alpha_, self.unlabeled_weight_

    def _take_defaults(self, problem: Problem, alphas: Array, weights: Array) -> Found:
        """Choose without any test, and say so."""
        middle = len(alphas) // 2
        warnings.warn(
            "Fewer than two classes have two labeled rows or more, so that nothing can be tested; "
            f"alpha={alphas[middle]:.3g}, the middle of alphas, was taken and the unlabeled rows "
            "were left out: label more rows, or use SoftLabelClassifier with an alpha of your own.",
            UserWarning,
            stacklevel=user_level(),
        )
        none = np.full((len(weights), len(alphas)), np.nan)
        return Found((0, middle), (0, middle), no_shifts(problem, none.shape), none, none, 0)

    def _warn_of_untested(self, problem: Problem) -> None:
        """Say which classes the folds do not test."""
        codes = problem.labels.codes
        untested = np.setdiff1d(codes, codes[rows_to_test(codes)])
        if len(untested) and self._own_folds():
            names = problem.classes[untested].tolist()
            warnings.warn(describe_untested(names), UserWarning, stacklevel=user_level())

    def _set_results(
        self, problem: Problem, objective: Objective, supervised: Array, solution: Solution
    ) -> None:
        super()._set_results(problem, objective, supervised, solution)
        self.intercept_ = self.intercept_ + self.intercept_shift_
        tuned = objective.with_alpha(self.supervised_alpha_)
        self.supervised_ = self._supervised_classifier(problem, tuned.alpha, fit_labeled(tuned)[0])
        self.supervised_.intercept_ = self.supervised_.intercept_ + self._supervised_shift
        self.supervised_.intercept_shift_ = self._supervised_shift

    def _set_labels(self, problem: Problem, solution: Solution) -> None:
        shift = self.intercept_shift_ if problem.n_classes > 2 else self.intercept_shift_[0]
        super()._set_labels(problem, replace(solution, z=solution.z + shift))

    def _read_alphas(self, problem: Problem) -> Array:
        if self.alphas is not None:
            return read_grid("alphas", self.alphas)
        rows = problem.rows
        return default_alphas(rows.labeled_spread, len(rows.labeled), rows.n_features)

    def _own_folds(self) -> bool:
        return self.cv is None or isinstance(self.cv, Integral)

    def _splits(
        self, problem: Problem, y: Any, groups: Any, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array]]:
        """Give the training and the test rows of every split."""
        if self._own_folds():
            return labeled_splits(problem, None if self.cv is None else int(self.cv), rng)
        return given_splits(problem, self.cv, y, groups)
