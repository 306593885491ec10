"""The soft-label classifier (§IV-A): exact and certified."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from .._inputs.arrays import Problem
from .._inputs.checks import Number
from .._inputs.dask import DaskProblem
from .._utils.typing import Array
from ..core._exact_sums import exact_decisions
from ..core.certificate import duality_gap, gradient_bound
from ..core.curvature import copied_columns, fit_labeled
from ..core.labelings import soft_labels
from ..core.linalg import EPS
from ..core.objective import Objective
from ..core.solvers import (
    Solution,
    Status,
    StoppingTest,
    best_constant,
    block_descent,
    minimise,
    with_rounded_intercept,
)
from ._base import check_scale, set_path, soft_objective
from ._progress import StepProgress
from ._semi_supervised import SemiSupervised

MAX_ITER = {"newton": 1000, "block": 10_000}
ROUNDED = 1e-9
"""Digits were lost if J exceeds that of the best constant by more, relative to it."""
MOST_EXACT = 10_000_000
"""The most products in exact decision values, about a second."""
PROVEN = 1e-13
"""Relative gap below which no tighter proof is worth passes over rows that are not in memory."""


class SoftLabelClassifier(SemiSupervised):
    """Least squares classifier that imputes soft labels, jointly optimal with the weights.

    Minimises over the weights w and the missing labels u in [0, 1]

        J_l(w, u) = ‖Xw - y‖² + unlabeled_weight ‖X_u w - u‖² + alpha ‖w‖²

    (with more than two classes, u on the probability simplex; the intercept is not penalised). The
    problem is convex: the solution does not depend on the start, and `certificate_` is a proven
    bound on its distance from the optimum.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ. If it is 0 and there are fewer labeled rows than
        features, the result is the solution of least norm.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept. Without one the class boundary is still z = ½ for
        labels 0 and 1, so centred columns classify badly; to penalise the intercept as the paper
        does, give X a constant column instead.
    unlabeled_weight : float, default=1.0
        Weight of an unlabeled row relative to a labeled one: 0 ignores the unlabeled rows, 1 is the
        paper's.
    class_weight : dict, "balanced" or None, default=None
        Weights of the labeled rows by class.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    solver : {"auto", "newton", "block"}, default="auto"
        "newton" is exact in a few passes over the rows; "block" is the paper's block coordinate
        descent (if the minimiser is not unique, it finds one that need not have least norm). "auto"
        is "newton".
    init : {"supervised", "random"}, tuple or array, default="supervised"
        The start: the supervised weights, random labels, weights ``(coef, intercept)`` in the shape
        of `coef_` and `intercept_`, or an array with a label for each unlabeled row. The solution
        does not depend on it.
    tol : float, default=1e-20
        The relative gap to reach. The gap is quadratic in the error of the weights: 1e-20 means
        weights that are correct to about ten digits. A solver stops when its bound on the gap,
        which ignores rounding, is this small; no gap below 2.2e-16 can be certified. Newton usually
        ends exactly.
    max_iter : int, optional
        The largest number of steps; by default 1,000 for "newton" and 10,000 for "block".
    relaxation : float, default=1.0
        Length of the steps of "block" in the weights, between 0 and 2; above 1 is faster.
    warm_start : bool, default=False
        Whether a fit starts from the weights of the previous one.
    record_path : bool, default=False
        Whether to keep every step in `path_`.
    random_state : int, RandomState or None, default=None
        Seeds random starts, and the sample from which large problems start; None is the seed 0.
    verbose : bool or int, default=0
        Whether to print a line for every step.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept minus ½, so that the sign of the decision function gives the class.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A label for every training row; a lazy array with Dask, here and below.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The imputed soft labels of the training rows; labeled rows keep their labels.
    certificate_ : float
        Proven bound on (J - optimum) / (J of the best constant), not below machine precision.
    objective_ : float
        J_l at the solution.
    supervised_ : LeastSquaresClassifier
        The classifier fitted to the labeled rows alone, for comparison.
    solution_ : Solution
        Status, steps and passes over the rows.
    path_ : tuple of Step
        Every step, if `record_path` is true.
    solver_, n_iter_, termination_condition_ : str, int, str
        The solver used, its steps, and why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Krijthe, J. H. and Loog, M. (2016). Optimistic semi-supervised least squares classification.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import SoftLabelClassifier
    >>> X = np.array([[-1.0], [1.0], [-1.0], [4.0]])
    >>> y = [0, 1, -1, -1]                                  # two labels, two missing
    >>> model = SoftLabelClassifier(alpha=0).fit(X, y)
    >>> model.predict([[-2.0], [2.0]])
    array([0, 1])
    >>> model.label_distributions_[2:, 1]                   # the paper's Figure 3: 9/38 and 1
    array([0.23684211, 1.        ])
    >>> model.certificate_ < 1e-12
    True
    """

    _solvers: ClassVar[tuple[str, ...]] = ("auto", "newton", "block")
    _starts: ClassVar[tuple[str, ...]] = ("supervised", "random")
    _advice = " (tol={0.tol:.2g}); raise max_iter, raise tol, or raise alpha"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SemiSupervised._parameter_constraints,
        "relaxation": [Number(Real, 0, 2, closed="neither")],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        unlabeled_weight: float = 1.0,
        class_weight: Any = None,
        unlabeled: Any = -1,
        solver: str = "auto",
        init: Any = "supervised",
        tol: float = 1e-20,
        max_iter: int | None = None,
        relaxation: float = 1.0,
        warm_start: bool = False,
        record_path: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.unlabeled_weight = unlabeled_weight
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.solver = solver
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.relaxation = relaxation
        self.warm_start = warm_start
        self.record_path = record_path
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            All rows. With Dask they are never collected in one place. With `array_api_dispatch`,
            tensors and other arrays stay on their device, and fitted arrays will be there.
        y : {array-like, Dask array or series} of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : {array-like, Dask array or series} of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_names()
        if self.relaxation != 1.0 and self.solver != "block":
            raise ValueError(
                f"relaxation={self.relaxation} is for solver='block', got solver={self.solver!r}; "
                "pass solver='block' or leave relaxation at 1."
            )
        weight = float(self.unlabeled_weight)
        with self._fitting(X, y, sample_weight, weight, ridge=self.alpha > 0.0) as problem:
            progress = StepProgress(self, problem)
            objective = soft_objective(problem, float(self.alpha))
            check_scale(objective)
            supervised = fit_labeled(objective)
            solution = self._minimise(problem, objective, supervised, progress)
            certificate = self._certify(problem, objective, solution)
            if certificate > 1.0 + ROUNDED and _exceeds_constant(problem, objective, solution):
                solution = best_constant(objective)
                certificate = self._certify(problem, objective, solution)
            dependent = copied_columns(objective)
            progress.end()
            self.supervised_ = self._supervised_classifier(problem, objective, supervised)
            self._set_solution(problem, solution, certificate)
            if isinstance(problem, DaskProblem):
                self._set_lazy_labels(problem, _impute)
            else:
                sweep = solution.state.sweep
                pieces, z = None if sweep is None else sweep.piece, solution.state.z
                # these decision values are of no further use: the labels take their place
                self._set_labels(problem, soft_labels(z, pieces, out=z))
            set_path(self, progress.path)
        self._warn(problem, dependent)
        return self

    def _minimise(
        self, problem: Problem, objective: Objective, supervised: Array, progress: StepProgress
    ) -> Solution:
        """Minimise J with the chosen solver and start."""
        solver = "newton" if self.solver == "auto" else self.solver
        max_iter = MAX_ITER[solver] if self.max_iter is None else int(self.max_iter)
        test = StoppingTest(gradient_bound(objective), float(self.tol) * objective.scale)
        w = self._start_weights(problem, supervised)
        if solver == "block":
            return block_descent(
                objective,
                self._start_labels(problem, objective.labeling, supervised),
                w=w,
                max_iter=max_iter,
                test=test,
                relaxation=float(self.relaxation),
                callback=progress.callback,
            )
        rng = self._rng() if w is supervised else None
        if w is None:
            labels = self._start_labels(problem, objective.labeling, supervised)
            w = block_descent(objective, labels, max_iter=1).w
        found = minimise(
            objective, w, max_iter=max_iter, test=test, callback=progress.callback, rng=rng
        )
        found = with_rounded_intercept(objective, found)
        lost = not found.value <= objective.scale * (1.0 + ROUNDED)
        stopped = self.max_iter is not None or found.status is Status.CALLBACK
        if lost and (found.status.converged or not stopped):
            return best_constant(objective)
        return found

    def _certify(self, problem: Problem, objective: Objective, solution: Solution) -> float:
        """Return the proven relative gap of a solution."""
        rows, w = problem.in_own_columns(solution.w)
        sweep = solution.state.sweep if rows is objective.rows else None
        enough = 0.0 if solution.status.claims_optimum else float(self.tol)
        if rows.in_memory is None:
            enough = max(enough, PROVEN)
        gap = duality_gap(replace(objective, rows=rows), w, enough=enough, sweep=sweep)
        return max(EPS, gap.relative)


def _exceeds_constant(problem: Problem, objective: Objective, solution: Solution) -> bool:
    """Return whether J of the fitted `coef_` and `intercept_` exceeds that of the best constant.

    Rounding in columns far from the origin can do this, and sums over such columns would hide it,
    so decision values are computed exactly. Sparse or larger tables are not checked.
    """
    X = problem.X
    if not (solution.status.converged and isinstance(X, np.ndarray)):
        return False
    if X.size * problem.n_classes > MOST_EXACT:
        return False
    coef, intercept = problem.to_user(solution.w)
    with np.errstate(over="ignore", invalid="ignore"):
        z = exact_decisions(X.astype(np.float64, copy=False), coef, intercept) + 0.5
    z = z[:, 0] if problem.n_classes == 2 else z
    value = objective.rows.loss(z, objective.labeling) + float(objective.ridge(solution.w))
    return bool(value > objective.scale * (1.0 + ROUNDED))


def _impute(scores: Array) -> Array:
    return soft_labels(scores + 0.5)
