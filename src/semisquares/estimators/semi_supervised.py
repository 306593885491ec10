"""What the soft- and the hard-label classifier share: starts, progress and fitted attributes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._inputs.arrays import Problem, read_numbers
from .._inputs.checks import Number
from .._inputs.dask import DaskProblem, lazy_labels
from .._utils.errors import CollapsedLabelsWarning
from ..core.curvature import copied_columns, fit_labeled
from ..core.labelings import Labeling, soft
from ..core.objective import Objective
from ..core.rows import single_threaded_blas
from ..core.solvers import Solution, Status, Step
from .base import LinearLeastSquares, check_scale, check_width, fitted_state_kept, one_hot
from .diagnosis import lost_digits
from .supervised import LeastSquaresClassifier

Array = NDArray[Any]

PROVEN = 1e-9
"""A fit calls itself exact only if its certificate is not above this."""
LEAST_WEIGHT = 1e-150
"""A smaller weight of unlabeled rows is 0: products of such numbers vanish."""


class SemiSupervised(LinearLeastSquares):
    """Base of the classifiers that fill in missing labels."""

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
    _starts: ClassVar[tuple[str, ...]]
    _solvers: ClassVar[tuple[str, ...]]
    _arrays: ClassVar[float] = 5.0

    unlabeled_weight: float
    solver: str
    init: Any
    tol: float
    max_iter: int | None
    warm_start: bool
    record_path: bool
    random_state: Any
    verbose: Any

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            All rows. Those of Dask are never brought together.
        y : {array-like, Dask array or series} of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : {array-like, Dask array or series} of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        """Read the input, solve, and set the fitted attributes."""
        with fitted_state_kept(self):
            problem, lost = self._fit_rows(X, y, sample_weight, groups)
        # five calls up from here is the user's: two decorators stand above `fit`
        if text := self._not_converged(problem):
            warnings.warn(text, ConvergenceWarning, stacklevel=5)
        else:
            self._warn_of_copies(self.solution_.dependent, stacklevel=5)
        if lost:
            warnings.warn(lost, CollapsedLabelsWarning, stacklevel=5)
        return self

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Problem, str]:
        """Fit; return the problem and a warning about vanished classes, or ""."""
        self._check_combination()
        problem = self._read(X, y, sample_weight, all_rows=True)
        report = _Report(self, problem)
        try:
            with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                alpha, unlabeled_weight = self._choose(problem, y, groups, report)
                rows = problem.rows.reweighted(unlabeled_weight=unlabeled_weight)
                problem = replace(problem, rows=rows)
                objective = Objective(rows, soft(problem.n_classes), alpha)
                check_width(objective)
                check_scale(objective)
                supervised, _ = fit_labeled(objective)
                solution = self._solve(problem, objective, supervised, report)
                solution = replace(solution, dependent=copied_columns(objective))
                report.end()
                self._set_results(problem, objective, supervised, solution)
                lost = self._lost_classes(problem, supervised, solution)
        except FloatingPointError:
            problem.explain_overflow(self)
        except np.linalg.LinAlgError:
            names = getattr(self, "feature_names_in_", None)
            raise ValueError(
                f"The fit has no digits left to solve with, because {lost_digits(problem, names)}."
            ) from None
        self.__dict__.pop("path_", None)
        if self.record_path:
            self.path_ = tuple(report.path)
        return problem, lost

    def _choose(
        self, problem: Problem, y: Any, groups: Any, report: _Report
    ) -> tuple[float, float]:
        """Return the ridge and the weight of unlabeled rows to fit with."""
        weight = float(self.unlabeled_weight)
        return float(self.alpha), weight if weight >= LEAST_WEIGHT else 0.0

    def _solve(
        self, problem: Problem, objective: Objective, supervised: Array, report: _Report
    ) -> Solution:
        raise NotImplementedError

    def _check_combination(self) -> None:
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
        """Return the labels of all rows that a descent starts from."""
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
        return _given_labels(self.init, problem)

    def _start_weights(self, problem: Problem, supervised: Array) -> Array | None:
        """Return the weights to start from, or None where the start is a labeling."""
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
        """Return the weights of the fit before, where they are asked for and fit the problem."""
        fits = (
            self.warm_start
            and hasattr(self, "coef_")
            and self.coef_.shape[1] == problem.X.shape[1]
            and np.array_equal(self.classes_, problem.classes)
        )
        return problem.from_user(self.coef_, self.intercept_) if fits else None

    def _rng(self) -> np.random.Generator:
        """Return a generator: seeded by random_state, and by 0 where that is None."""
        if self.random_state is None or isinstance(self.random_state, Integral):
            return np.random.default_rng(int(self.random_state or 0))
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    # -- fitted attributes --------------------------------------------------------------------

    def _set_results(
        self, problem: Problem, objective: Objective, supervised: Array, solution: Solution
    ) -> None:
        self._set_weights(problem, solution.w)
        self.supervised_ = self._supervised_classifier(problem, objective.alpha, supervised)
        if isinstance(problem, DaskProblem) and problem.table is not None:
            label = partial(self._label_block, coef=self.coef_, intercept=self.intercept_)
            self.label_distributions_, self.transduction_ = lazy_labels(problem.table, label)
        else:
            self._set_labels(problem, solution)
        self.objective_ = solution.value
        self.certificate_ = self._certify(problem, objective, solution)
        says = solution.status
        if (says.says_exact and not self.certificate_ <= PROVEN) or (
            says is Status.GAP and not self._is_proven()
        ):
            solution = replace(solution, status=Status.UNPROVEN)
        self.solver_ = solution.solver
        self.n_iter_ = solution.n_iter
        self.termination_condition_ = solution.status.value
        self.solution_ = replace(
            solution,
            w=problem.paper_weights(solution.w),
            z=np.empty(0),
            labels=None,
            sweep=None,
            active=None,
        )
        if passes := problem.rows.passes:
            self.solution_ = replace(self.solution_, passes=passes, n_passes=len(passes))

    def _set_labels(self, problem: Problem, solution: Solution) -> None:
        distributions = self._imputed(problem, solution)
        codes = problem.labels.codes
        distributions[problem.labels.labeled] = one_hot(codes, problem.n_classes)
        self.label_distributions_ = distributions
        if problem.n_classes == 2:
            winners = (distributions[:, 1] > 0.5).view(np.int8)
        else:
            winners = distributions.argmax(axis=1)
        self.transduction_ = self.classes_.take(winners)

    def _imputed(self, problem: Problem, solution: Solution) -> Array:
        raise NotImplementedError

    @staticmethod
    def _label_block(X: Any, coef: Array, intercept: Array) -> Array:
        """Label the rows of a block with weights alone."""
        raise NotImplementedError

    def _certify(self, problem: Problem, objective: Objective, solution: Solution) -> float:
        raise NotImplementedError

    def _supervised_classifier(
        self, problem: Problem, alpha: float, w: Array
    ) -> LeastSquaresClassifier:
        """Return the classifier that the labeled rows alone give, ready to predict."""
        d = problem.rows.n_features
        model = LeastSquaresClassifier(
            alpha,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            unlabeled=self.unlabeled,
        )
        model._set_weights(problem, w)
        model.objective_ = problem.rows.labeled_loss(w) + alpha * float(np.sum(w[:d] ** 2))
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    def _lost_classes(self, problem: Problem, supervised: Array, solution: Solution) -> str:
        """Say where labels have collapsed; soft labels do not."""
        return ""

    def _is_proven(self) -> bool:
        """Tell whether the certificate is as good as was asked for, or as calling a fit exact."""
        return bool(self.certificate_ <= max(PROVEN, float(self.tol)))

    def _not_converged(self, problem: Problem) -> str:
        """Say that a solver did not end by itself, or that rounding leaves its end unproven."""
        solution, gap = self.solution_, self.certificate_
        reached = "" if np.isnan(gap) else f" with a relative gap of {gap:.2g}"
        if solution.status in (Status.MAX_ITER, Status.MAX_NODES):
            most = solution.n_iter if self.max_iter is None else self.max_iter
            limit = f"max_iter={most} steps of solver {solution.solver!r}"
            return f"{type(self).__name__} stopped after {limit}{reached}{self._advice(solution)}."
        names = getattr(self, "feature_names_in_", None)
        if solution.status is Status.CONSTANT:
            return (
                f"{type(self).__name__} found no weights that beat the best constant, which was "
                f"taken, because {lost_digits(problem, names)}."
            )
        if solution.status in (Status.ROUNDING, Status.UNPROVEN) and not self._is_proven():
            if solution.dependent:
                return self._copies(
                    solution.dependent,
                    f", which are proven to be optimal only up to a relative gap of {gap:.2g}, "
                    "since huge weights could fit what rounding left of the difference",
                )
            return (
                f"{type(self).__name__} can prove its weights to be optimal only up to a relative "
                f"gap of {gap:.2g}, because {lost_digits(problem, names)}."
            )
        return ""

    def _advice(self, solution: Solution) -> str:
        return "; raise max_iter"


def random_labels(n_rows: int, n_classes: int, rng: np.random.Generator) -> Array:
    """Draw uniform labels: in [0, 1], or on the simplex."""
    if n_classes == 2:
        return rng.uniform(size=n_rows)
    drawn = rng.standard_exponential(size=(n_rows, n_classes))
    return drawn / drawn.sum(axis=1, keepdims=True)


def _given_labels(init: Any, problem: Problem) -> Array:
    """Read labels that a user gave for the unlabeled rows; any real numbers."""
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


class _Report:
    """Pass a solver's steps on: to the recorded path, to verbose output, to callbacks."""

    def __init__(self, estimator: SemiSupervised, problem: Problem) -> None:
        self.estimator = estimator
        self.problem = problem
        self.path: list[Step] = []
        self.context = estimator._callback_context(max_subtasks=None)

    @property
    def wanted(self) -> bool:
        return bool(self.estimator.record_path or self.estimator.verbose or self.context)

    def __call__(self, step: Step) -> bool:
        estimator = self.estimator
        if estimator.record_path:
            self.path.append(replace(step, w=self.problem.paper_weights(step.w)))
        text = f"step {step.iteration}: J = {step.value:.10g}, {step.changed} rows changed"
        if passes := self.problem.rows.passes:
            text += (
                f"; pass of {passes[-1].seconds:.2g} s, {passes[-1].bytes_sent / 1e6:.2g} MB sent"
            )
        return self.note(text, **self._state(step.w))

    def note(self, text: str, **state: Any) -> bool:
        """Tell of a piece of work that is done; a true answer asks to stop."""
        if self.estimator.verbose:
            print(f"[{type(self.estimator).__name__}] {text}")  # noqa: T201 (it is asked for)
        if self.context is None:
            return False
        task = self.context.subcontext(task_name=text.split()[0])
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **state))

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator)

    def _state(self, w: Array) -> dict[str, Any]:
        """Return what callbacks may ask for: labeled rows, and the model as it is now."""
        problem = self.problem
        labels = problem.labels

        def attributes() -> dict[str, Any]:
            coef, intercept = problem.to_user(w)
            return {"coef_": coef, "intercept_": intercept, "classes_": problem.classes}

        return {
            "X": lambda: problem.X[labels.labeled],
            "y": lambda: labels.classes[labels.codes],
            "reconstruction_attributes": attributes,
        }
