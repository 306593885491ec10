"""The hard-label classifier (§IV-B): self-learning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from .._inputs.arrays import Problem
from .._inputs.checks import Number
from .._inputs.dask import DaskProblem
from .._inputs.labels import user_level
from .._utils.errors import CollapsedLabelsWarning
from .._utils.typing import Array
from ..core.certificate import duality_gap, relaxation_gap
from ..core.curvature import copied_columns, fit_labeled
from ..core.labelings import Labeling, hard
from ..core.linalg import EPS
from ..core.objective import Objective
from ..core.solvers import (
    Solution,
    Start,
    batch_size,
    enumerate_hard,
    hard_descent,
    minimise,
    turn_dial,
)
from ..core.solvers.enumerate import MAX_UNLABELED
from ._base import check_scale, one_hot, set_path, soft_objective
from ._progress import StepProgress
from ._semi_supervised import SemiSupervised, random_labels

DIAL = tuple(k / 10 for k in range(1, 10))
"""The values of τ between soft and hard labels on the path of init="path"."""
DIAL_STEPS = 50
"""Steps of block descent for each of them."""


class HardLabelClassifier(SemiSupervised):
    """Least squares classifier that imputes hard labels, 0 or 1: self-learning.

    Descends in J_r, the paper's responsibility-based objective: fit all rows, relabel the unlabeled
    rows (class 1 if the decision value is above ½), and repeat until no label changes. J_r is not
    convex: the result depends on the start.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept. Without one the class boundary is still z = ½ for
        labels 0 and 1, so centred columns classify badly; to penalise the intercept as the paper
        does, give X a constant column instead.
    unlabeled_weight : float, default=1.0
        Weight of an unlabeled row relative to a labeled one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the labeled rows by class.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    solver : {"auto", "block", "enumerate"}, default="auto"
        "block" is the paper's descent; "enumerate" finds the best of all labelings by branch and
        bound (two classes, few unlabeled rows). "auto" is "block".
    init : {"supervised", "soft", "path", "random"}, tuple or array, default="supervised"
        The start: the labels of the supervised weights (the paper's), those of the soft-label
        solution, the end of the path from soft to hard labels (τ = 0, 0.1, …, 1), uniform random
        labels, the labels of weights ``(coef, intercept)``, or an array with a label for each
        unlabeled row.
    n_init : int, default=1
        Number of starts: `init`, and random labels for the rest, run as one batch. The result of
        lowest J is kept. **The lowest J is not always the better classifier**: labels of one class
        fit cheaply, so the best of many random starts is often poor. ``solution_.end_points``
        reports all results.
    tol : float, default=0.0
        The share of unlabeled rows that may still change their label at the end.
    max_iter : int, optional
        The largest number of steps of the descent (10,000 by default), or of nodes of "enumerate"
        (20,000).
    certify : bool, default=False
        Whether to also solve the soft problem, which bounds the distance to the best of all
        labelings (`certificate_`). The starts "soft" and "path" always do.
    warm_start : bool, default=False
        Whether a fit starts from the weights of the previous one.
    record_path : bool, default=False
        Whether to keep every step in `path_`; with many starts, that of lowest J in each pass.
    random_state : int, RandomState or None, default=None
        Seeds random starts.
    verbose : bool or int, default=0
        Whether to print a line for every step.

    Attributes
    ----------
    coef_, intercept_, classes_, transduction_, supervised_, solution_, path_
        As in `SoftLabelClassifier`.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The imputed labels of the training rows, one-hot.
    certificate_ : float
        Proven bound on (J - best of all labelings) / (J of the best constant); NaN without a bound.
    objective_ : float
        J_r at the solution.
    solver_, n_iter_, termination_condition_ : str, int, str
        The solver used, its steps, and why it stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import HardLabelClassifier
    >>> X = np.array([[-1.0], [1.0], [-1.2], [-0.8], [0.9], [4.0]])
    >>> y = ["no", "yes", None, None, None, None]
    >>> model = HardLabelClassifier(init="soft").fit(X, y)
    >>> model.transduction_.tolist()
    ['no', 'yes', 'no', 'no', 'yes', 'yes']
    >>> model.termination_condition_
    'label-stable: imputing and refitting changes no label'
    """

    _solvers: ClassVar[tuple[str, ...]] = ("auto", "block", "enumerate")
    _starts: ClassVar[tuple[str, ...]] = ("supervised", "soft", "path", "random")
    _advice = "; raise max_iter"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SemiSupervised._parameter_constraints,
        "n_init": [Number(Integral, 1, None, closed="left")],
        "certify": ["boolean"],
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
        n_init: int = 1,
        tol: float = 0.0,
        max_iter: int | None = None,
        certify: bool = False,
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
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.certify = certify
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
        if self.solver == "enumerate" and self.n_init > 1:
            raise ValueError(
                f"solver='enumerate' looks at all labelings and takes no n_init={self.n_init}; "
                "use n_init=1 with it, or solver='block' with any n_init."
            )
        weight = float(self.unlabeled_weight)
        with self._fitting(X, y, sample_weight, weight, ridge=self.alpha > 0.0) as problem:
            progress = StepProgress(self, problem)
            relaxed = soft_objective(problem, float(self.alpha))
            check_scale(relaxed)
            objective = relaxed.with_labeling(hard(problem.n_classes))
            supervised = fit_labeled(relaxed)
            solution = self._minimise(problem, objective, relaxed, supervised, progress)
            dependent = copied_columns(relaxed)
            progress.end()
            self.supervised_ = self._supervised_classifier(problem, relaxed, supervised)
            self._set_solution(problem, solution, _certify(problem, objective, solution))
            if isinstance(problem, DaskProblem):
                self._set_lazy_labels(problem, _one_hot)
            else:
                self._set_labels(problem, _one_hot(solution.state.labels, boundary=0.5))
            collapsed = self._collapsed_classes(problem, supervised, solution)
            set_path(self, progress.path)
        self._warn(problem, dependent)
        if collapsed:
            warnings.warn(collapsed, CollapsedLabelsWarning, stacklevel=user_level())
        return self

    def _minimise(
        self,
        problem: Problem,
        objective: Objective,
        relaxed: Objective,
        supervised: Array,
        progress: StepProgress,
    ) -> Solution:
        """Minimise J with the chosen solver and start; `relaxed` is J with soft labels."""
        start, bound = self._start(problem, relaxed, objective.labeling, supervised)
        if self.solver == "enumerate":
            return self._enumerate(problem, objective, start, progress)
        return hard_descent(
            objective,
            self._batches(problem, start),
            max_iter=10_000 if self.max_iter is None else int(self.max_iter),
            tol=float(self.tol),
            bound=bound,
            callback=progress.callback,
        )

    def _start(
        self, problem: Problem, relaxed: Objective, labeling: Labeling, supervised: Array
    ) -> tuple[Array | Start, float]:
        """Return the labels to start from, and a lower bound for all labelings (or NaN)."""
        named = isinstance(self.init, str) and self.init in ("soft", "path")
        from_soft = named and self._warm_weights(problem) is None
        if not (from_soft or self.certify):
            return self._given_start(problem, labeling, supervised), np.nan
        found = minimise(relaxed, supervised, rng=self._rng())
        rows, w = problem.in_own_columns(found.w)
        sweep = found.state.sweep if rows is relaxed.rows else None
        bound = duality_gap(replace(relaxed, rows=rows), w, sweep=sweep).bound
        if not from_soft:
            return self._given_start(problem, labeling, supervised), bound
        if self.init == "soft":
            return problem.rows.imputed(found.state.z, labeling), bound
        soft = Start(found.w, relaxed.labeling, z=found.state.z)
        return turn_dial(relaxed, soft, DIAL, DIAL_STEPS, rng=self._rng()), bound

    def _given_start(
        self, problem: Problem, labeling: Labeling, supervised: Array
    ) -> Array | Start:
        """Return the start that `init` or a warm start names."""
        weights = self._start_weights(problem, supervised)
        if weights is None:
            return self._start_labels(problem, labeling, supervised)
        return Start(weights, labeling)

    def _batches(self, problem: Problem, start: Array | Start) -> Iterator[Array | Start]:
        """Yield all starts in batches; random ones are drawn batch by batch."""
        if isinstance(start, Start):
            if self.n_init == 1:
                yield start
                return
            start = start.labels(problem.rows)
        if problem.partitioned:
            if self.n_init > 1:
                raise ValueError(
                    f"n_init={self.n_init} draws random labels, which is for rows in memory; with "
                    "Dask use n_init=1."
                )
            yield start
            return
        rng = self._rng()
        size = batch_size(len(start), problem.n_classes)
        first, left = start[:, None], int(self.n_init) - 1
        while first.shape[1] or left:
            n_more = min(left, size - first.shape[1])
            more = [random_labels(len(start), problem.n_classes, rng) for _ in range(n_more)]
            yield np.stack((*first.swapaxes(0, 1), *more), axis=1)
            first, left = first[:, :0], left - n_more

    def _enumerate(
        self, problem: Problem, objective: Objective, start: Array | Start, progress: StepProgress
    ) -> Solution:
        """Find the best of all labelings, after a descent from the start."""
        n_unlabeled = problem.rows.n_unlabeled
        if problem.partitioned:
            raise ValueError(
                "solver='enumerate' is for rows in memory; with Dask use solver='block'."
            )
        if problem.n_classes > 2 or n_unlabeled > MAX_UNLABELED:
            raise ValueError(
                f"solver='enumerate' is for two classes and up to {MAX_UNLABELED} unlabeled rows, "
                f"got {problem.n_classes} classes and {n_unlabeled} rows; use solver='block'."
            )
        batch = start if isinstance(start, Start) else start[:, None]
        labels = np.asarray(hard_descent(objective, [batch]).state.labels)
        max_nodes = 20_000 if self.max_iter is None else int(self.max_iter)
        return enumerate_hard(objective, labels, max_nodes=max_nodes, callback=progress.callback)

    def _collapsed_classes(self, problem: Problem, supervised: Array, solution: Solution) -> str:
        """Return a warning about classes that only the supervised weights predict, or ""."""
        rows = problem.rows
        left = rows.class_counts(solution.state.labels)
        if left.all():
            return ""
        counts = rows.class_counts(rows.decisions(supervised))
        lost = np.flatnonzero((counts > 0) & (left == 0))
        if not len(lost):
            return ""
        names = ", ".join(repr(c) for c in problem.classes[lost].tolist())
        start = "" if isinstance(self.init, str) and self.init == "soft" else "init='soft', "
        return (
            f"No unlabeled row got the label {names}, though the supervised classifier gives it to "
            f"{counts[lost].sum()} of {rows.n_unlabeled}; the labels may have collapsed: use "
            f"SoftLabelClassifier, {start}a smaller alpha or a smaller unlabeled_weight."
        )


def _certify(problem: Problem, objective: Objective, solution: Solution) -> float:
    """Return the proven relative gap to the best of all labelings; NaN without a bound."""
    if np.isnan(solution.bound):
        return np.nan
    rows, w = problem.in_own_columns(solution.w)
    return max(EPS, relaxation_gap(replace(objective, rows=rows), w, solution.bound).relative)


def _one_hot(values: Array, boundary: float = 0.0) -> Array:
    """Return one-hot labels for decision values z - ½, or for hard labels and the boundary ½."""
    if values.ndim == 2:
        return one_hot(values.argmax(axis=1), values.shape[1])
    return one_hot((values > boundary).view(np.int8), 2)
