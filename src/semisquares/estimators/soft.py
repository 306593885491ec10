"""The soft-label classifier (§IV-A): exact and certified."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

from numpy.typing import NDArray

from .._inputs.arrays import Problem
from .._inputs.checks import Number
from ..core.certificate import duality_gap, gradient_bound
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
from .base import decision_values, soft_labels
from .semi_supervised import SemiSupervised, _Report

Array = NDArray[Any]

MAX_ITER = {"newton": 1000, "block": 10_000}
ROUNDED = 1e-9
"""J above that of the best constant by more than this share of it means that digits were lost."""


class SoftLabelClassifier(SemiSupervised):
    """Least squares classifier that fills in missing labels with soft ones, jointly optimal.

    Minimises over the weights w and the missing labels u in [0, 1]

        J_l(w, u) = ‖Xw - y‖² + unlabeled_weight ‖X_u w - u‖² + alpha ‖w‖²

    (with more than two classes, u on the probability simplex; the intercept is not penalised). The
    problem is convex: the solution does not depend on the start, and comes with a proof of how far
    from the optimum it can be at the most (`certificate_`).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ. With 0 and fewer labeled rows than features, the
        solution of least norm is taken.
    fit_intercept : bool, default=True
        Whether the decision values have a free constant. Without one the boundary z = ½ still
        holds for labels 0 and 1, so that centred columns classify badly: give X a constant column
        instead to have the constant penalised, as in the paper.
    unlabeled_weight : float, default=1.0
        How much an unlabeled row counts, compared with a labeled one: 0 leaves the unlabeled rows
        out, 1 is the paper.
    class_weight : dict, "balanced" or None, default=None
        How much labeled rows of each class count.
    unlabeled : object, default=-1
        What marks a row without a label, besides NaN, None and pd.NA; None turns the marker off.
    solver : {"auto", "newton", "block"}, default="auto"
        "newton" is exact in a few passes over the rows; "block" is the paper's block coordinate
        descent (where minimisers are many it ends in one of them, not in that of least norm).
        "auto" is "newton".
    init : {"supervised", "random"}, tuple or array, default="supervised"
        Where to start: the supervised weights, random labels, weights ``(coef, intercept)`` in the
        form of `coef_` and `intercept_`, or labels, one for each unlabeled row, used as they are.
        It changes the way, not the end.
    tol : float, default=1e-20
        The certified relative gap to reach. The gap is quadratic in the error of the weights:
        1e-20 means weights right to about ten digits. Newton usually ends exactly.
    max_iter : int, optional
        Most steps to take: 1,000 for "newton", 10,000 for "block" by default.
    relaxation : float, default=1.0
        How much of each step "block" takes in the weights; between 0 and 2, above 1 is faster.
    warm_start : bool, default=False
        Whether a further fit starts from the weights of the one before.
    record_path : bool, default=False
        Whether to keep every step in `path_`.
    random_state : int, RandomState or None, default=None
        Draws random starts, and the sample that large problems start from (seeded when None).
    verbose : bool or int, default=0
        Whether to print a line for every step.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept less ½, so that the sign of the decision function tells the class.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A label for every training row; with Dask, as below, an array that is computed when asked.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The imputed soft labels of the training rows; known labels as they are.
    certificate_ : float
        Proven bound on (J - optimum) / (J of the best constant), not below machine precision.
    objective_ : float
        J_l at the solution.
    supervised_ : LeastSquaresClassifier
        The classifier that the labeled rows alone give, to see what the unlabeled ones changed.
    solution_ : Solution
        Details: status, steps, passes over the rows.
    path_ : tuple of Step
        Every step, with `record_path`.
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

    def _check_combination(self) -> None:
        super()._check_combination()
        if self.relaxation != 1.0 and self.solver != "block":
            raise ValueError(
                f"relaxation={self.relaxation} is for solver='block', got solver={self.solver!r}; "
                "pass solver='block' or leave relaxation at 1."
            )

    def _solve(
        self, problem: Problem, objective: Objective, supervised: Array, report: _Report
    ) -> Solution:
        solver = "newton" if self.solver == "auto" else self.solver
        max_iter = MAX_ITER[solver] if self.max_iter is None else int(self.max_iter)
        test = StoppingTest(gradient_bound(objective), float(self.tol) * objective.scale)
        callback = report if report.wanted else None
        w = self._start_weights(problem, supervised)
        if solver == "block":
            labels = self._start_labels(problem, objective.labeling, supervised)
            return block_descent(
                objective,
                labels,
                w=w,
                max_iter=max_iter,
                test=test,
                relaxation=float(self.relaxation),
                callback=callback,
            )
        rng = self._rng() if w is supervised else None
        if w is None:
            labels = self._start_labels(problem, objective.labeling, supervised)
            w = block_descent(objective, labels, max_iter=1).w
        found = minimise(objective, w, max_iter=max_iter, test=test, callback=callback, rng=rng)
        found = with_rounded_intercept(objective, found)
        lost = not found.value <= objective.scale * (1.0 + ROUNDED)
        stopped = self.max_iter is not None or found.status is Status.CALLBACK
        if lost and (found.status.converged or not stopped):
            return best_constant(objective)
        return found

    def _imputed(self, problem: Problem, solution: Solution) -> Array:
        return soft_labels(solution.z)

    @staticmethod
    def _label_block(X: Any, coef: Array, intercept: Array) -> Array:
        return soft_labels(decision_values(X, coef, intercept) + 0.5)

    def _certify(self, problem: Problem, objective: Objective, solution: Solution) -> float:
        rows, w = problem.in_own_columns(solution.w)
        known = solution.sweep if rows is objective.rows else None
        own = replace(objective, rows=rows)
        enough = 0.0 if solution.status.says_exact else float(self.tol)
        return max(EPS, duality_gap(own, w, enough=enough, sweep=known).relative)

    def _advice(self, solution: Solution) -> str:
        return f" (tol={float(self.tol):.2g}); raise max_iter, raise tol, or raise alpha"
