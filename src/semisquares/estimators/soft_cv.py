"""The soft-label classifier that chooses alpha and the weight of unlabeled rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring

from .._inputs.arrays import Problem
from .._inputs.checks import read_grid
from .._inputs.labels import user_level
from .._inputs.untested import describe_untested, rows_to_test
from .._utils.typing import Array
from ..core.curvature import copied_columns, fit_labeled
from ..core.labelings import soft_labels
from ..core.objective import Objective
from ._base import check_scale, set_path, soft_objective
from ._cross_validation import cross_validate, given_splits, labeled_splits
from ._evidence import SearchResult, no_shifts
from ._leave_one_out import has_closed_form, leave_one_out
from ._progress import StepProgress
from .soft import SoftLabelClassifier
from .supervised import LeastSquaresClassifier

SHARED = (
    "fit_intercept", "class_weight", "unlabeled", "tol", "max_iter", "record_path",
    "random_state", "verbose",
)  # fmt: skip
"""Parameters that mean the same as in `SoftLabelClassifier`."""


class SoftLabelClassifierCV(SoftLabelClassifier):
    """Soft-label classifier that chooses alpha and the weight of unlabeled rows by the labels.

    For every pair of `alpha` and `unlabeled_weight`, each labeled row is left out once, in closed
    form and with all unlabeled rows in the fit. The log loss of the left-out rows gives a pair its
    weight,

        weight ∝ prior · exp(-L · mean log loss / 2),        L labels,

    with 0.6 of the prior on unlabeled weight 0 (ignore the unlabeled rows). The choice is the
    weighted median, first of the unlabeled weights, then of the alphas with that weight. If the
    labels give no evidence for using unlabeled rows, these are ignored. All rows are then fitted
    with the chosen pair, and the intercept is shifted to where the calibrated odds are equal.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The ridges to choose from; None is a grid over six powers of ten around the mean eigenvalue
        of the labeled rows' scatter matrix, two per power.
    unlabeled_weights : array-like, default=(0.0, 0.01, 0.1, 1.0)
        The weights of an unlabeled row to choose from; 0 is always among them.
    cv : int, splitter, iterable or None, default=None
        How to split the labeled rows. None leaves each out once, in closed form, or uses five folds
        if there is no closed form: with `scoring`, with too many columns for Gram matrices, and
        with more than two classes but no intercept. An int is the number of stratified folds, at
        most the number of labels in the smallest class. A class with a single label is always
        trained on and never tested, with a warning; if fewer than two classes can be tested, the
        choice is the middle of `alphas` and weight 0. A splitter or an iterable gives indices of
        all rows; unlabeled rows are never tested.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. The pair with the best mean score is chosen, but one with unlabeled
        rows only if it is better by more than one standard error over the splits; the intercept is
        not shifted. None is the negated log loss, as above.
    fit_intercept, class_weight, unlabeled, tol, max_iter, record_path, verbose
        As in `SoftLabelClassifier`.
    random_state : int, RandomState or None, default=None
        Shuffles the folds, and draws the sample of unlabeled rows that the search uses if there are
        more than 2,000 and more than 20 per column; None is the seed 0.

    Attributes
    ----------
    alpha_, unlabeled_weight_ : float
        The chosen pair: the weighted median, not the pair with the best score. Weight 0 means that
        the unlabeled rows were ignored.
    supervised_alpha_ : float
        The choice of alpha without the unlabeled rows.
    best_score_ : float
        The score of the chosen pair on left-out labeled rows, the higher the better: minus the mean
        calibrated log loss (so at most 0; not an accuracy) or, with `scoring`, the mean of that
        score over the splits; NaN if nothing could be tested. Other pairs may have a higher one.
    cv_results_ : dict of arrays
        Scores of all pairs, as in ``GridSearchCV``, and their `intercept_shift`; scores by split
        except with leave-one-out.
    supervised_ : LeastSquaresClassifier
        The ridge classifier on the labeled rows alone with `supervised_alpha_`, its intercept
        shifted likewise (by its own `intercept_shift_`).
    n_splits_ : int
        The number of splits, or of left-out rows; 0 if nothing could be tested.
    intercept_shift_ : ndarray of shape (1,) or (n_classes,)
        The shift of the intercept: without it, `coef_` and `intercept_` are the fit of
        ``SoftLabelClassifier(alpha_, unlabeled_weight=unlabeled_weight_)``.
    certificate_, objective_, solution_
        As in `SoftLabelClassifier`, for the fit before its intercept was shifted.
    coef_, intercept_, classes_, transduction_, label_distributions_
        As in `SoftLabelClassifier`, with the shifted intercept.

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
        "alphas": ["array-like", None],
        "unlabeled_weights": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        **{name: SoftLabelClassifier._parameter_constraints[name] for name in SHARED},
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

    # options of `SoftLabelClassifier` that are fixed here
    solver = "newton"
    init = "supervised"
    warm_start = False
    relaxation = 1.0
    _fitted_array = ""

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
            The weight of each row in training, and in testing with the default scoring.
        groups : array-like of shape (n_samples,), optional
            Groups, passed to a splitter `cv`.

        Returns
        -------
        self : SoftLabelClassifierCV
            The fitted classifier.
        """
        alphas = None if self.alphas is None else read_grid("alphas", self.alphas)
        ridge = alphas is None or bool((alphas > 0.0).all())
        with self._fitting(X, y, sample_weight, 1.0, ridge=ridge) as problem:
            if problem.partitioned:
                raise ValueError(
                    "SoftLabelClassifierCV searches among rows in memory; fit it to the labeled "
                    "rows and a sample of the others, and SoftLabelClassifier with its choice to "
                    "all."
                )
            progress = StepProgress(self, problem)
            if alphas is None:
                rows = problem.rows
                spread, n_labeled = rows.labeled_spread, len(rows.labeled)
                alphas = default_alphas(spread, n_labeled, rows.n_features)
            weights = read_grid("unlabeled_weights", self.unlabeled_weights, add=0.0)
            found = self._search(problem, alphas, weights, y, groups, progress)
            self._set_search(found, alphas, weights)
            rows = problem.rows.reweighted(unlabeled_weight=self.unlabeled_weight_)
            problem = replace(problem, rows=rows)
            objective = soft_objective(problem, self.alpha_)
            check_scale(objective)
            solution = self._minimise(problem, objective, fit_labeled(objective), progress)
            dependent = copied_columns(objective)
            progress.end()
            self._set_solution(problem, solution, self._certify(problem, objective, solution))
            self.intercept_ = self.intercept_ + self.intercept_shift_
            shift = self.intercept_shift_ if problem.n_classes > 2 else self.intercept_shift_[0]
            self._set_labels(problem, soft_labels(solution.state.z + shift))
            self.supervised_ = self._fit_supervised(problem, objective, found)
            set_path(self, progress.path)
        self._warn(problem, dependent)
        return self

    def _search(
        self,
        problem: Problem,
        alphas: Array,
        weights: Array,
        y: Any,
        groups: Any,
        progress: StepProgress,
    ) -> SearchResult:
        """Score all choices and take one."""
        rng = self._rng()
        own_folds = self.cv is None or isinstance(self.cv, Integral)
        found = None
        if self.cv is None and self.scoring is None and has_closed_form(problem):
            found = leave_one_out(problem, alphas, weights, rng)
        else:
            scorer = None if self.scoring is None else check_scoring(self, self.scoring)
            if own_folds:
                n_folds = None if self.cv is None else int(self.cv)
                splits = list(labeled_splits(problem, n_folds, rng))
            else:
                splits = list(given_splits(problem, self.cv, y, groups))
                if not splits:
                    raise ValueError(f"cv={self.cv!r} gives no split that tests a labeled row.")
            if splits:
                note = partial(progress.note, task="split")
                found = cross_validate(problem, alphas, weights, splits, scorer, note)
        if found is None:
            return _take_defaults(problem, alphas, weights)
        if own_folds:
            _warn_of_untested(problem)
        return found

    def _set_search(self, found: SearchResult, alphas: Array, weights: Array) -> None:
        """Set the attributes that describe the search and its choice."""
        self.intercept_shift_ = found.shifts[found.choice]
        self.unlabeled_weight_ = float(weights[found.choice[0]])
        self.alpha_ = float(alphas[found.choice[1]])
        self.supervised_alpha_ = float(alphas[found.supervised[1]])
        self.n_splits_ = found.n_splits
        self.cv_results_ = results_table(found, alphas, weights)
        self.best_score_ = float(found.mean[found.choice])

    def _fit_supervised(
        self, problem: Problem, objective: Objective, found: SearchResult
    ) -> LeastSquaresClassifier:
        """Fit the labeled rows alone with the alpha and the shift chosen for them."""
        tuned = objective.with_alpha(self.supervised_alpha_)
        model = self._supervised_classifier(problem, tuned, fit_labeled(tuned))
        model.intercept_shift_ = found.shifts[found.supervised]
        model.intercept_ = model.intercept_ + model.intercept_shift_
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # the search takes single rows, in NumPy
        return tags


def default_alphas(spread: float, n_labeled: int, n_features: int) -> Array:
    """Return the grid of ridges around the mean eigenvalue of the labeled rows' scatter matrix.

    `spread` is the trace of that matrix. The grid follows the units of the columns, and suits
    tables with fewer labeled rows than features as well as those with more.
    """
    mean_eigenvalue = spread / max(1, min(n_labeled - 1, n_features))
    return np.logspace(-3, 3, 13) * (mean_eigenvalue or 1.0)


def _take_defaults(problem: Problem, alphas: Array, weights: Array) -> SearchResult:
    """Choose without any test, with a warning."""
    middle = len(alphas) // 2
    warnings.warn(
        "Fewer than two classes have two labeled rows or more, so that nothing can be tested; "
        f"alpha={alphas[middle]:.3g}, the middle of alphas, was taken and the unlabeled rows "
        "were left out: label more rows, or use SoftLabelClassifier with an alpha of your own.",
        UserWarning,
        stacklevel=user_level(),
    )
    none = np.full((len(weights), len(alphas)), np.nan)
    return SearchResult((0, middle), (0, middle), no_shifts(problem, none.shape), none, none, 0)


def _warn_of_untested(problem: Problem) -> None:
    """Warn about classes that no fold tests."""
    codes = problem.labels.codes
    untested = np.setdiff1d(codes, codes[rows_to_test(codes)])
    if len(untested):
        names = problem.classes[untested].tolist()
        warnings.warn(describe_untested(names), UserWarning, stacklevel=user_level())


def results_table(found: SearchResult, alphas: Array, weights: Array) -> dict[str, Any]:
    """Return the scores in the format of ``GridSearchCV``, one entry for each choice."""
    mean = found.mean
    grid = [(float(a), float(u)) for u in weights for a in alphas]
    order = np.argsort(np.where(np.isnan(mean), np.inf, -mean), axis=None, kind="stable")
    rank = np.empty(len(grid), dtype=np.int32)
    rank[order] = np.arange(1, len(grid) + 1)
    by_split: Any = () if found.splits is None else np.moveaxis(found.splits, -1, 0)
    return {
        "params": [{"alpha": a, "unlabeled_weight": u} for a, u in grid],
        "param_alpha": np.array([a for a, _ in grid]),
        "param_unlabeled_weight": np.array([u for _, u in grid]),
        **{f"split{k}_test_score": scores.ravel() for k, scores in enumerate(by_split)},
        "mean_test_score": mean.ravel(),
        "std_test_score": found.std.ravel(),
        "rank_test_score": rank,
        "intercept_shift": found.shifts.reshape(mean.size, -1),
    }
