"""Base of the soft- and the hard-label classifier: starts, fitted attributes and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._inputs.array_api import to_numpy
from .._inputs.arrays import Problem, read_numbers
from .._inputs.checks import Number
from .._inputs.dask import DaskProblem, lazy_labels
from .._inputs.labels import user_level
from .._utils.typing import Array
from ..core.labelings import Labeling, largest_class
from ..core.objective import Objective
from ..core.solvers import Solution, State, Status
from ._base import LinearLeastSquares, decision_values, one_hot
from ._lost_digits import lost_digits
from .supervised import LeastSquaresClassifier

PROVEN = 1e-9
"""A fit calls itself exact only if its certificate is at most this."""


class SemiSupervised(LinearLeastSquares):
    """Base of the classifiers that impute missing labels; a subclass defines `fit`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearLeastSquares._parameter_constraints,
        "unlabeled_weight": [Number(Real, 0, None, closed="left")],
        "solver": [str],
        "init": [str, tuple, "array-like"],
        "tol": [Number(Real, 0, None, closed="left")],
        "max_iter": [Number(Integral, 1, None, closed="left"), None],
        "warm_start": ["boolean"],
        "record_path": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _arrays = 4.0
    _solvers: ClassVar[tuple[str, ...]]
    _starts: ClassVar[tuple[str, ...]]
    _advice: ClassVar[str]
    """What to do if a fit reached max_iter; a format string for the classifier."""

    unlabeled_weight: float
    solver: str
    init: Any
    tol: float
    max_iter: int | None
    warm_start: bool
    record_path: bool
    random_state: Any
    verbose: Any

    # -- input --------------------------------------------------------------------------------

    def _check_names(self) -> None:
        """Refuse names of solvers and starts that the classifier does not have."""
        name = type(self).__name__
        if self.solver not in self._solvers:
            raise ValueError(
                f"solver={self.solver!r} is unknown to {name}; use one of {list(self._solvers)}."
            )
        if isinstance(self.init, str) and self.init not in self._starts:
            raise ValueError(
                f"init={self.init!r} is unknown to {name}; use one of {list(self._starts)}, "
                "weights as a tuple (coef, intercept), or labels as an array with a value for each "
                "unlabeled row."
            )

    # -- starts -------------------------------------------------------------------------------

    def _start_labels(self, problem: Problem, labeling: Labeling, supervised: Array) -> Array:
        """Return the labels of all rows from which a descent starts."""
        rows = problem.rows
        weights = self._start_weights(problem, supervised)
        if weights is not None:
            return rows.imputed(rows.decisions(weights), labeling)
        if problem.partitioned:
            raise ValueError(
                f"init={self.init!r} is for rows in memory; with Dask start from 'supervised' or "
                "from weights, a tuple (coef, intercept)."
            )
        if isinstance(self.init, str):
            return random_labels(rows.n_rows, problem.n_classes, self._rng())
        return _read_labels(self.init, problem)

    def _start_weights(self, problem: Problem, supervised: Array) -> Array | None:
        """Return the weights to start from; None if the start is given by labels."""
        warm = self._warm_weights(problem)
        if warm is not None:
            return warm
        if isinstance(self.init, str):
            return None if self.init == "random" else supervised
        if isinstance(self.init, tuple):
            if len(self.init) != 2:
                raise ValueError(
                    f"init is a tuple of {len(self.init)}; weights are given as (coef, intercept)."
                )
            return problem.from_user(*self.init)
        return None

    def _warm_weights(self, problem: Problem) -> Array | None:
        """Return the weights of the previous fit if `warm_start` is set and they are usable."""
        usable = (
            self.warm_start
            and hasattr(self, "coef_")
            and self.coef_.shape[1] == problem.X.shape[1]
            and np.array_equal(to_numpy(self.classes_), problem.classes)
        )
        return problem.from_user(self.coef_, self.intercept_) if usable else None

    def _rng(self) -> np.random.Generator:
        """Return a generator seeded by random_state, or by 0 if that is None."""
        if self.random_state is None or isinstance(self.random_state, Integral):
            return np.random.default_rng(int(self.random_state or 0))
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    # -- fitted attributes --------------------------------------------------------------------

    def _set_solution(self, problem: Problem, solution: Solution, certificate: float) -> None:
        """Set the weights, their certificate and how the solver ended."""
        self._set_weights(problem, solution.w)
        self.objective_ = solution.value
        self.certificate_ = certificate
        status, passes = solution.status, problem.rows.passes
        if (status.claims_optimum and not certificate <= PROVEN) or (
            status is Status.GAP and not self._is_proven()
        ):
            status = Status.UNPROVEN
        elif status is Status.GAP and not certificate <= self.tol:
            status = Status.BOUND
        self.solution_ = replace(
            solution,
            w=problem.paper_weights(solution.w),
            status=status,
            n_passes=len(passes) or solution.n_passes,
            passes=passes,
            state=State(),
        )
        self.solver_ = solution.solver
        self.n_iter_ = solution.n_iter
        self.termination_condition_ = status.value

    def _is_proven(self) -> bool:
        """Tell whether the certificate reaches `tol`, or is good enough to call a fit exact."""
        return bool(self.certificate_ <= max(PROVEN, float(self.tol)))

    def _set_labels(self, problem: Problem, imputed: Array) -> None:
        """Set the labels of the training rows; labeled rows keep their own."""
        imputed[problem.labels.labeled] = one_hot(problem.labels.codes, problem.n_classes)
        self.label_distributions_ = problem.place.put(imputed)
        if problem.n_classes == 2:
            winners = (imputed[:, 1] > 0.5).view(np.int8)
        else:
            winners = largest_class(imputed)
        self.transduction_ = problem.place.put(problem.classes.take(winners))

    def _set_lazy_labels(self, problem: DaskProblem, impute: Callable[[Array], Array]) -> None:
        """Set the labels of training rows that Dask holds; `impute` turns z - ½ into labels."""
        label = partial(_impute_block, coef=self.coef_, intercept=self.intercept_, impute=impute)
        self.label_distributions_, self.transduction_ = lazy_labels(problem.table, label)

    def _supervised_classifier(
        self, problem: Problem, objective: Objective, w: Array
    ) -> LeastSquaresClassifier:
        """Return the supervised classifier with weights w, ready to predict."""
        model = LeastSquaresClassifier(
            objective.alpha,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            unlabeled=self.unlabeled,
        )
        model._set_solution(problem, objective, w)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    # -- warnings -----------------------------------------------------------------------------

    def _warn(self, problem: Problem, dependent: tuple[int, ...]) -> None:
        """Warn about a fit that is not proven, or whose weights are not determined.

        `dependent` are columns that are combinations of others.
        """
        if text := self._not_converged(problem, dependent):
            warnings.warn(text, ConvergenceWarning, stacklevel=user_level())
        elif dependent:
            text = self._describe_dependent(dependent)
            warnings.warn(text, UserWarning, stacklevel=user_level())

    def _not_converged(self, problem: Problem, dependent: tuple[int, ...]) -> str:
        """Return why the solution is not proven to be optimal, or ""."""
        name, solution, gap = type(self).__name__, self.solution_, self.certificate_
        if solution.status in (Status.MAX_ITER, Status.MAX_NODES):
            reached = "" if np.isnan(gap) else f" with a relative gap of {gap:.2g}"
            most = solution.n_iter if self.max_iter is None else self.max_iter
            limit = f"max_iter={most} steps of solver {solution.solver!r}"
            return f"{name} stopped after {limit}{reached}{self._advice.format(self)}."
        if solution.status is Status.CONSTANT:
            return (
                f"{name} found no weights that beat the best constant, which was taken, because "
                f"{lost_digits(problem, self._feature_names)}."
            )
        if solution.status not in (Status.ROUNDING, Status.UNPROVEN) or self._is_proven():
            return ""
        if dependent:
            return self._describe_dependent(
                dependent,
                f", which are proven to be optimal only up to a relative gap of {gap:.2g}, since "
                "huge weights could fit what rounding left of the difference",
            )
        return (
            f"{name} can prove its weights to be optimal only up to a relative gap of {gap:.2g}, "
            f"because {lost_digits(problem, self._feature_names)}."
        )


def random_labels(n_rows: int, n_classes: int, rng: np.random.Generator) -> Array:
    """Draw uniform labels in [0, 1], or on the simplex."""
    if n_classes == 2:
        return rng.uniform(size=n_rows)
    drawn = rng.standard_exponential(size=(n_rows, n_classes))
    return drawn / drawn.sum(axis=1, keepdims=True)


def _read_labels(init: Any, problem: Problem) -> Array:
    """Read the labels in `init`, real numbers for the unlabeled rows."""
    rows = problem.rows
    given = read_numbers("labels", init)
    tail = () if problem.n_classes == 2 else (problem.n_classes,)
    if given.shape != (rows.n_unlabeled, *tail):
        raise ValueError(
            f"init has shape {given.shape}; labels to start from are finite numbers of shape "
            f"{(rows.n_unlabeled, *tail)}, in the order of the unlabeled rows."
        )
    labels = np.zeros((rows.n_rows, *tail))
    labels[rows.unlabeled] = given
    return labels


def _impute_block(
    X: Any, *, coef: Array, intercept: Array, impute: Callable[[Array], Array]
) -> Array:
    return impute(decision_values(X, coef, intercept))
