"""Missing outcomes in regression (§II-B): fill in and refit until convergence, or solve for them.

This is J_l of the paper with unbounded labels u: the ancestor of soft-label self-learning.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._inputs.arrays import explain_overflow, read_columns
from .._inputs.checks import Number, check_masked
from .._utils.typing import Array
from ..core.labelings import FreeLabels, Labeling
from ..core.objective import Objective
from ..core.rows import single_threaded_blas, to_own_columns
from ..core.solvers import Status, Step, StoppingTest, block_descent
from ..estimators._base import fitted_state_kept
from ._base import NOT_NEGATIVE, STEPS, set_path
from ._complete_case import complete_case, until_rounding, yates_values
from ._outcomes import filled, read_outcomes, read_start, write_rows


class MissingOutcomeRegressor(RegressorMixin, BaseEstimator):
    """Least squares regression that fills in missing outcomes.

    Minimises over the weights w and the missing outcomes u, any real numbers,

        J(w, u) = ‖Xw - y‖² + ‖X_u w - u‖² + alpha ‖w‖²       (the intercept is not penalised)

    At the minimum u = X_u w, so that the second term is 0 and **w is the fit to the complete rows
    alone**, also with a ridge. Filling in is a way to that fit (for balanced designs it was once
    the only cheap one), not a way to a better one. With the hat matrix of all rows,
    H = ``X_e (X_e'X_e + alpha D)⁻¹ X_e'``, there are two methods.

    "iterate" (Healy and Westmacott), the core's block descent with `FreeLabels`:

    1. fit w to all rows with the outcomes y and u;
    2. set u = X_u w;
    3. stop if the distance to the complete-case fit, proven from the gradient, is below `tol`.

    J falls in 1 and in 2; the error of u is multiplied by H_uu, whose eigenvalues are below 1.

    "analytic" (Yates, Wilkinson): one linear system gives the u that 1 and 2 do not change,

        (I - H_uu) u = H_ul y,            then 1 once.

    Parameters
    ----------
    method : {"iterate", "analytic"}, default="iterate"
        How to fill in missing outcomes; the result is the same.
    init : {"zero", "random"} or array of shape (n_missing,), default="zero"
        The outcomes from which "iterate" starts: 0, draws from the normal distribution with the
        mean and standard deviation of y, or given ones, in the order of the rows.
    relaxation : float, default=1.0
        Length of the steps of "iterate" in the weights, between 0 and 2; above 1 is Preece's larger
        step, which is faster if many outcomes are missing.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    alpha : float, default=0.0
        Strength of the ridge.
    tol : float, default=1e-12
        The distance to the complete-case fit at which "iterate" stops: with the error e of the
        weights, the root of ``‖X_e e‖² + alpha ‖e‖²``, divided by the norm of y minus its mean
        (of y itself without an intercept).
    max_iter : int, default=10000
        The largest number of steps of "iterate".
    record_path : bool, default=False
        Whether to keep every step in `path_`.
    random_state : int, RandomState or None, default=None
        Seeds the random start; None is the seed 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : float
        The intercept.
    filled_ : ndarray of shape (n_samples,)
        y with missing outcomes filled in.
    distance_ : float
        The proven distance to the complete-case fit, in the unit of `tol`.
    n_iter_ : int
        The number of fits to all rows.
    path_ : tuple of Step
        Every step, if `record_path` is true: weights (the intercept last), J, and y as filled in.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With ``alpha=0`` the complete rows may not determine all missing outcomes (there are too few, or
    a column is constant in them). In the undetermined directions "iterate" keeps `init`, and
    "analytic" takes the u of least norm, which is the same with ``init="zero"``. A warning names
    the rows.

    References
    ----------
    Yates, F. (1933). The analysis of replicated experiments when the field results are incomplete.
    Healy, M. and Westmacott, M. (1956). Missing values in experiments analysed on automatic
    computers. Wilkinson, G. N. (1958). Estimation of missing values for the analysis of incomplete
    data. Preece, D. A. (1971). Iterative procedures for missing values in experiments.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.baselines.missing_outcomes import MissingOutcomeRegressor
    >>> X = np.array([[-1.0], [1.0], [-1.0], [4.0]])
    >>> y = [0.0, 1.0, None, None]
    >>> model = MissingOutcomeRegressor().fit(X, y)
    >>> model.filled_.round(8)
    array([0. , 1. , 0. , 2.5])

    The filled-in 2.5 is not a label. With the values restricted to [0, 1], the same steps are
    soft-label self-learning:

    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.core.labelings import SoftLabels
    >>> class WithinZeroAndOne(MissingOutcomeRegressor):
    ...     labeling = SoftLabels()
    >>> start = {"init": [0.0, 0.0], "record_path": True}
    >>> ours = WithinZeroAndOne(**start).fit(X, y)
    >>> soft = SoftLabelClassifier(alpha=0, solver="block", **start).fit(X, [0, 1, -1, -1])
    >>> all(np.allclose(a.labels[2:], b.labels[2:]) for a, b in zip(ours.path_, soft.path_))
    True
    >>> ours.filled_.round(8)                               # the paper's Figure 3: 9/38 and 1
    array([0.        , 1.        , 0.23684211, 1.        ])
    """

    labeling: ClassVar[Labeling] = FreeLabels()
    """The rule that fills in missing outcomes: the only difference from self-learning."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"iterate", "analytic"})],
        "init": [StrOptions({"zero", "random"}), "array-like"],
        "relaxation": [Number(Real, 0, 2, closed="neither")],
        "fit_intercept": ["boolean"],
        "alpha": NOT_NEGATIVE,
        "tol": NOT_NEGATIVE,
        "max_iter": STEPS,
        "record_path": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: str = "iterate",
        *,
        init: Any = "zero",
        relaxation: float = 1.0,
        fit_intercept: bool = True,
        alpha: float = 0.0,
        tol: float = 1e-12,
        max_iter: int = 10_000,
        record_path: bool = False,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.init = init
        self.relaxation = relaxation
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.record_path = record_path
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the complete rows by filling in the missing outcomes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows.
        y : array-like of shape (n_samples,)
            Their outcomes; a missing one is NaN, None or pd.NA.

        Returns
        -------
        self
            The fitted regressor.
        """
        with fitted_state_kept(self):
            X = read_columns(self, X)
            y = read_outcomes(y, len(X))
            try:
                with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                    status, open_rows = self._fit_rows(X, y)
            except FloatingPointError:
                explain_overflow(self, X)
        self._warn(status, open_rows, np.isnan(y).sum())
        return self

    def predict(self, X: Any) -> Array:
        """Predict the outcome of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their outcomes.
        """
        check_is_fitted(self)
        X = read_columns(self, X, reset=False)
        return X @ self.coef_ + self.intercept_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² on the rows that have an outcome; the others are ignored.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            Their outcomes; a missing one is marked as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        r2 : float
            At most 1.
        """
        predicted = self.predict(X)
        y = read_outcomes(y, len(predicted))
        known = ~np.isnan(y)
        check_masked("sample_weight", sample_weight)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(y[known], predicted[known], sample_weight=weight))

    def _fit_rows(self, X: Array, y: Array) -> tuple[Status, Array]:
        """Fit; return the status and the rows whose missing outcomes are not determined."""
        rows = write_rows(X, y, self.fit_intercept)
        objective = Objective(rows, self.labeling, float(self.alpha))
        distance, open_labels = complete_case(objective)
        path: list[Step] = []

        def record(step: Step) -> None:
            path.append(
                replace(step, w=to_own_columns(step.w, rows.shift), labels=filled(y, step.labels))
            )

        unit = objective.scale + 1e-8 * float(rows.y @ rows.y)  # for the rounding of y
        tol = min(float(self.tol), 1e150)  # its square must not overflow
        iterate = self.method == "iterate"
        labels = np.zeros(rows.n_rows)
        labels[rows.unlabeled] = (
            read_start(rows, self.init, self.random_state)
            if iterate
            else yates_values(objective, open_labels)
        )
        found = block_descent(
            objective,
            labels,
            max_iter=int(self.max_iter) if iterate else 1,
            test=StoppingTest(until_rounding(distance), tol**2 * unit),
            relaxation=float(self.relaxation),
            callback=record if self.record_path else None,
        )
        gradient = objective.gradient(objective.sweep(found.w))
        self.distance_ = float(np.sqrt(distance(gradient) / (unit or 1.0)))
        w = np.append(to_own_columns(found.w, rows.shift), [0.0] * (not rows.intercept))
        self.coef_, self.intercept_ = w[:-1], float(w[-1])
        self.filled_, self.n_iter_ = filled(y, found.state.labels), found.n_iter
        set_path(self, path)
        return found.status, rows.unlabeled[np.abs(open_labels).max(axis=1, initial=0.0) > 1e-6]

    def _warn(self, status: Status, open_rows: Array, n_missing: int) -> None:
        """Warn if the complete-case fit was not reached, or does not determine all outcomes."""
        iterate = self.method == "iterate"
        if self.distance_ > max(1e-8, float(self.tol)):
            limited = iterate and status is Status.MAX_ITER
            limit = f"max_iter={self.max_iter}" if limited else "rounding"
            other = "raise max_iter or relaxation, use method='analytic', or " if iterate else ""
            warnings.warn(
                f"{type(self).__name__} stopped by {limit} at a distance of {self.distance_:.2g} "
                f"from the complete-case fit (tol={float(self.tol):.2g}); {other}drop columns that "
                "are nearly combinations of others.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if len(open_rows):
            shown = ", ".join(map(str, open_rows[:10])) + ", …" * (len(open_rows) > 10)
            taken = "init" if iterate else "the least norm"
            warnings.warn(
                f"{len(open_rows)} of {n_missing} missing outcomes (rows {shown}) are not "
                f"determined by the rows that have one, so {taken} decided; drop columns, or pass "
                "alpha > 0.",
                stacklevel=4,
            )
