"""The hard-label classifier (§IV-B): self-learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._inputs.arrays import Problem
from .._inputs.checks import Number
from ..core.certificate import duality_gap, relaxation_gap
from ..core.labelings import Labeling, dial, hard
from ..core.linalg import EPS
from ..core.objective import Objective
from ..core.solvers import (
    Solution,
    batch_size,
    block_descent,
    enumerate_hard,
    hard_descent,
    minimise,
)
from ..core.solvers.enumerate import MAX_UNLABELED
from .base import classes_of, decision_values, one_hot
from .semi_supervised import SemiSupervised, _Report, random_labels

Array = NDArray[Any]

DIAL = tuple(k / 10 for k in range(1, 10))
DIAL_STEPS = 50


class HardLabelClassifier(SemiSupervised):
    """Least squares classifier that fills in missing labels with 0 or 1: self-learning.

    Descends in J_r, the paper's responsibility based objective: fit all rows, relabel the unlabeled
    ones (class 1 where the decision value is greater than ½), until no label changes. J_r is not
    convex: the end depends on the start.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ.
    fit_intercept : bool, default=True
        Whether the decision values have a free constant. Without one the boundary z = ½ still
        holds for labels 0 and 1, so that centred columns classify badly: give X a constant column
        instead to have the constant penalised, as in the paper.
    unlabeled_weight : float, default=1.0
        How much an unlabeled row counts, compared with a labeled one.
    class_weight : dict, "balanced" or None, default=None
        How much labeled rows of each class count.
    unlabeled : object, default=-1
        What marks a row without a label, besides NaN, None and pd.NA; None turns the marker off.
    solver : {"auto", "block", "enumerate"}, default="auto"
        "block" is the paper's descent; "enumerate" finds the best of all labelings by branch and
        bound (two classes, few unlabeled rows). "auto" is "block".
    init : {"supervised", "soft", "path", "random"}, tuple or array, default="supervised"
        Where to start: at the labels of the supervised weights (the paper's), at those of the
        soft-label solution, along the path from soft to hard (τ = 0, 0.1, …, 1), at uniform random
        labels, at weights ``(coef, intercept)`` (their labels are imputed first), or at labels, one
        for each unlabeled row, used as they are.
    n_init : int, default=1
        Number of starts: `init`, and random ones for the rest, run as one batch. The end of lowest
        J is kept. **The lowest J is not always the better classifier**: labels of one class fit
        cheaply, so that the best of many random starts is often a poor one. All ends are reported
        in ``solution_.end_points``.
    tol : float, default=0.0
        The share of unlabeled rows that may still change their label at the end.
    max_iter : int, optional
        Most steps of the descent (10,000 by default), or most nodes of "enumerate" (20,000).
    certify : bool, default=False
        Whether to solve the soft problem too, which bounds how far from the best of all labelings
        this one can be (`certificate_`). The starts "soft" and "path" have the bound for free.
    warm_start : bool, default=False
        Whether a further fit starts from the weights of the one before.
    record_path : bool, default=False
        Whether to keep every step in `path_`; with many starts, that of lowest J in each pass.
    random_state : int, RandomState or None, default=None
        Draws random starts.
    verbose : bool or int, default=0
        Whether to print a line for every step.

    Attributes
    ----------
    coef_, intercept_, classes_, transduction_, supervised_, solution_, path_
        As in `SoftLabelClassifier`.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The imputed labels of the training rows, one-hot.
    certificate_ : float
        Proven bound on (J - best of all labelings) / (J of the best constant); NaN where it was not
        asked for.
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

    def _check_combination(self) -> None:
        super()._check_combination()
        if self.solver == "enumerate" and self.n_init > 1:
            raise ValueError(
                f"solver='enumerate' looks at all labelings and takes no n_init={self.n_init}; "
                "use n_init=1 with it, or solver='block' with any n_init."
            )

    def _solve(
        self, problem: Problem, objective: Objective, supervised: Array, report: _Report
    ) -> Solution:
        hard_objective = objective.with_labeling(hard(problem.n_classes))
        start, bound = self._hard_start(problem, objective, hard_objective.labeling, supervised)
        callback = report if report.wanted else None
        if self.solver == "enumerate":
            return self._enumerate(problem, hard_objective, start, callback)
        max_iter = 10_000 if self.max_iter is None else int(self.max_iter)
        found = hard_descent(
            hard_objective,
            self._batches(problem, start),
            max_iter=max_iter,
            tol=float(self.tol),
            callback=callback,
        )
        return replace(found, bound=bound)

    def _batches(self, problem: Problem, start: Array) -> Iterator[Array]:
        """Give all starts, the random ones drawn batch by batch."""
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

    def _hard_start(
        self, problem: Problem, objective: Objective, labeling: Labeling, supervised: Array
    ) -> tuple[Array, float]:
        """Return the labels to start from, and a bound of what any labels can reach (or NaN)."""
        named = isinstance(self.init, str) and self.init in ("soft", "path")
        from_soft = named and self._warm_weights(problem) is None
        if not (from_soft or self.certify):
            return self._start_labels(problem, labeling, supervised), np.nan
        found = minimise(objective, supervised, rng=self._rng())
        rows, w = problem.in_own_columns(found.w)
        known = found.sweep if rows is objective.rows else None
        bound = duality_gap(replace(objective, rows=rows), w, sweep=known).bound
        if not from_soft:
            return self._start_labels(problem, labeling, supervised), bound
        if self.init == "soft":
            return problem.rows.imputed(found.z, labeling), bound
        labels = problem.rows.imputed(found.z, objective.labeling)
        for tau in DIAL:
            turned = objective.with_labeling(dial(problem.n_classes, tau))
            labels = block_descent(turned, labels, max_iter=DIAL_STEPS).labels
        return labels, bound

    def _enumerate(
        self, problem: Problem, objective: Objective, start: Array, callback: Any
    ) -> Solution:
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
        labels = np.asarray(hard_descent(objective, [start[:, None]]).labels)
        max_nodes = 20_000 if self.max_iter is None else int(self.max_iter)
        return enumerate_hard(objective, labels, max_nodes=max_nodes, callback=callback)

    def _imputed(self, problem: Problem, solution: Solution) -> Array:
        return one_hot(self._codes(solution), problem.n_classes)

    @staticmethod
    def _label_block(X: Any, coef: Array, intercept: Array) -> Array:
        scores = decision_values(X, coef, intercept)
        return one_hot(classes_of(scores, np.arange(max(2, len(coef)))), max(2, len(coef)))

    def _codes(self, solution: Solution) -> Array:
        labels = np.asarray(solution.labels)
        return labels.argmax(axis=1) if labels.ndim == 2 else (labels > 0.5).view(np.int8)

    def _lost_classes(self, problem: Problem, supervised: Array, solution: Solution) -> str:
        """Say which classes the labeled rows alone would give out, and no unlabeled row has got."""
        rows = problem.rows
        counts = rows.class_counts(rows.decisions(supervised))
        left = rows.class_counts(solution.labels)
        lost = np.flatnonzero((counts > 0) & (left == 0))
        if not len(lost):
            return ""
        names = ", ".join(repr(c) for c in self.classes_[lost].tolist())
        start = "" if isinstance(self.init, str) and self.init == "soft" else "init='soft', "
        return (
            f"No unlabeled row got the label {names}, though the supervised classifier gives it to "
            f"{counts[lost].sum()} of {rows.n_unlabeled}; the labels may have collapsed: use "
            f"SoftLabelClassifier, {start}a smaller alpha or a smaller unlabeled_weight."
        )

    def _certify(self, problem: Problem, objective: Objective, solution: Solution) -> float:
        if np.isnan(solution.bound):
            return np.nan
        rows, w = problem.in_own_columns(solution.w)
        own = replace(objective, rows=rows, labeling=hard(problem.n_classes))
        return max(EPS, relaxation_gap(own, w, solution.bound).relative)
