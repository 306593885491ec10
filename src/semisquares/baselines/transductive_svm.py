"""The transductive support vector machine (Joachims 1999): labels that give a wide margin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from .._inputs.checks import Number
from .._inputs.labels import Labels
from .._utils.typing import Array
from ..core import _dense as dense
from ._base import NOT_NEGATIVE, STEPS, LinearClassifier
from ._squared_hinge import ActiveCurvature, decide, solve

__all__ = ["SwitchStep", "TransductiveSVM"]


FIRST_COST = 1e-5
"""The cost of errors of unlabeled rows at the first level, relative to `C_unlabeled`."""
LEVELS = 100
"""More cost levels than are possible: the costs double each time."""


@dataclass(frozen=True)
class SwitchStep:
    """One refit: the costs of errors of unlabeled rows, and the objective that was reached.

    ``switched`` counts the pairs of labels that were switched just before; it is 0 for the first
    fit of a cost level. ``positive`` is the class that counts as positive.
    """

    positive: Any
    level: int
    cost_positive: float
    cost_negative: float
    objective: float = np.nan
    switched: int = 0


class TransductiveSVM(LinearClassifier):
    """Linear support vector machine that labels the unlabeled rows such that the margin is wide.

    Descends, in the weights w, an unpenalised intercept b and the labels s = ±1 of the unlabeled
    rows, of which a given number is positive, in

        ½‖w‖² + C Σ_labeled ξ_i² + C₊ Σ_{unlabeled, +} ξ_i² + C₋ Σ_{unlabeled, −} ξ_i²,
        ξ_i = max(0, 1 − s_i z_i),  z_i = x_i'w + b,

    while C₊ and C₋ rise to `C_unlabeled` (the code has the same numbers):

    1. fit the labeled rows alone: the inductive machine;
    2. label the share `positive_fraction` of the unlabeled rows, those with the highest z, as
       positive, and begin with small costs, ``C₋ = 1e-5 C_unlabeled`` and ``C₊ = C₋ n₊ / n₋``;
    3. fit all rows with the current labels and costs;
    4. while there is a positive row i and a negative row j with ξ_i > 0, ξ_j > 0 and ξ_i + ξ_j > 2
       (that is, z_j > z_i), switch their labels and fit again: the objective falls each time;
    5. stop if both costs are `C_unlabeled`; otherwise double them, up to it, and go to 3.

    For given labels the problem is smooth and convex, and Newton's method on the rows with ξ > 0
    solves it exactly. In the labels it is not convex: step 4 ends at labels that no switch of two
    improves for the current weights. It ends, because there are finitely many labelings and no
    level visits one twice. More than two classes are fitted one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        The cost of the squared error ξ² of a labeled row.
    C_unlabeled : float, default=1.0
        The final cost of that of an unlabeled row; 0 is the inductive machine.
    positive_fraction : float, optional
        Share of the unlabeled rows that get the second class: the nearest whole number of rows. The
        default is the share among the labeled rows, the only choice with more than two classes.
    switch : {"one", "all"}, default="one"
        Which pairs step 4 switches before it fits again: the one with the largest ξ_i + ξ_j
        (Joachims), or all that can be paired, as Sindhwani & Keerthi (2006) propose for speed. The
        objective falls in either case, but the results may differ.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    tol : float, default=1e-8
        ξ_i + ξ_j must exceed 2 by more than this; below it, rounding may decide which is larger.
    max_iter : int, default=10000
        The largest number of switches in step 4 at one cost level.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights w of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; the second one is the positive one.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row. With two classes, those of unlabeled rows keep the fraction
        exactly, so they may differ from the predictions; with more, they are the predictions.
    objective_ : float
        The final objective, with C₊ = C₋ = `C_unlabeled`; its sum with more than two classes.
    path_ : list of SwitchStep
        Every refit, in order. The objective can rise only from one level to the next.
    n_iter_ : int
        The number of fits, including that of step 1.
    n_switches_ : int
        The number of pairs whose labels were switched.

    References
    ----------
    T. Joachims (1999). Transductive inference for text classification using support vector
    machines. ICML, 200-209. It uses the errors ξ_i instead of their squares, begins with the cost
    1e-5 whatever `C_unlabeled` is, and its loop leaves out the last level, where both costs are
    `C_unlabeled`.

    S. S. Keerthi & D. DeCoste (2005). A modified finite Newton method for fast solution of large
    scale linear SVMs. JMLR 6, 341-361.

    V. Sindhwani & S. S. Keerthi (2006). Large scale semi-supervised linear SVMs. SIGIR, 477-484.

    Examples
    --------
    >>> from semisquares.baselines.transductive_svm import TransductiveSVM
    >>> X = [[-1.0], [1.5], [-2.0], [-1.5], [-0.2], [0.0], [2.0], [2.5]]
    >>> y = ["no", "yes", None, None, None, None, None, None]
    >>> TransductiveSVM(C_unlabeled=0).fit(X, y).predict([[0.4]]).tolist()
    ['yes']
    >>> model = TransductiveSVM(positive_fraction=1 / 3).fit(X, y)
    >>> model.predict([[0.4]]).tolist()
    ['no']
    >>> model.transduction_.tolist()
    ['no', 'yes', 'no', 'no', 'no', 'no', 'yes', 'yes']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearClassifier._parameter_constraints,
        "C": [Number(Real, 0, None, closed="neither")],
        "C_unlabeled": NOT_NEGATIVE,
        "positive_fraction": [Number(Real, 0, 1, closed="both"), None],
        "switch": [StrOptions({"one", "all"})],
        "tol": NOT_NEGATIVE,
        "max_iter": STEPS,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        C_unlabeled: float = 1.0,
        positive_fraction: float | None = None,
        switch: str = "one",
        unlabeled: Any = -1,
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ) -> None:
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.positive_fraction = positive_fraction
        self.switch = switch
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter

    def _fit_rows(self, X: Array, labels: Labels) -> str | None:
        n_classes = len(labels.classes)
        if n_classes > 2 and self.positive_fraction is not None:
            raise ValueError(
                f"positive_fraction={self.positive_fraction} is for two classes but y has "
                f"{n_classes}; pass None, which keeps the share of each class in the labeled rows."
            )
        mean = X.mean(axis=0)
        rows, basis = _centre(X, mean)
        with np.errstate(over="ignore"):
            size = (rows**2).sum() * max(self.C, self.C_unlabeled)
        if not np.isfinite(size):
            raise ValueError(
                f"Squares of X, which is as large as {np.abs(X).max():.3g}, times the costs "
                "overflow; rescale the columns, for instance with "
                "sklearn.preprocessing.StandardScaler, or make C and C_unlabeled smaller."
            )
        self.path_: list[SwitchStep] = []
        self.n_iter_ = self.n_switches_ = 0
        self.objective_ = 0.0
        weights = []
        for positive in range(n_classes) if n_classes > 2 else [1]:
            known = np.zeros(len(X))
            known[labels.labeled] = np.where(labels.codes == positive, 1.0, -1.0)
            w, sign = self._fit_one(rows, known, labels.classes[positive])
            weights.append(w)
        w = np.array(weights)
        self.coef_ = w[:, :-1] if basis is None else w[:, :-1] @ basis.T
        self.intercept_ = w[:, -1] - self.coef_ @ mean
        if n_classes > 2:
            self._set_transduction(X, labels)
        else:
            self.transduction_ = self._class_of(sign)
        switches = Counter((step.positive, step.level) for step in self.path_ if step.switched)
        if max(switches.values(), default=0) < self.max_iter:
            return None
        return (
            f"still switched labels after max_iter={self.max_iter} times at one cost level; pass a "
            "larger max_iter, or switch='all'."
        )

    def _fit_one(self, X: Array, sign: Array, positive: Any) -> tuple[Array, Array]:
        """Fit one class against the others; a sign of 0 marks an unlabeled row."""
        free, known = np.flatnonzero(sign == 0.0), np.flatnonzero(sign)
        # 1. the inductive machine
        cost = np.full(len(X), float(self.C))
        w, value = solve(X[known], sign[known], cost[known], np.zeros(X.shape[1] + 1))
        self.n_iter_ += 1
        # 2. labels by rank, small costs
        share = self.positive_fraction
        share = (sign[known] > 0.0).mean() if share is None else share
        n_positive = int(np.floor(share * len(free) + 0.5))
        ranks = np.argsort(-decide(X[free], w), kind="stable")
        sign = sign.copy()
        sign[free[ranks[:n_positive]]], sign[free[ranks[n_positive:]]] = 1.0, -1.0
        odds = n_positive / max(1, len(free) - n_positive) or 1.0
        costs = np.minimum(FIRST_COST * np.array([odds, 1.0]), 1.0) * self.C_unlabeled
        curvature = ActiveCurvature(X, (known, free))
        for level in range(LEVELS if len(free) and self.C_unlabeled > 0.0 else 0):
            step = SwitchStep(positive, level, *costs.tolist())
            w, value, sign = self._fit_level(X, sign, free, w, step, curvature)
            # 5. the next costs
            if costs.min() >= self.C_unlabeled:
                break
            costs = np.minimum(2.0 * costs, self.C_unlabeled)
        self.objective_ += value
        return w, sign

    def _fit_level(
        self,
        X: Array,
        sign: Array,
        free: Array,
        w: Array,
        step: SwitchStep,
        curvature: ActiveCurvature,
    ) -> tuple[Array, float, Array]:
        """Fit and switch at one cost level, until there is no pair to switch."""

        def fit(sign: Array) -> tuple[Array, float]:
            self.n_iter_ += 1
            cost = np.full(len(X), float(self.C))
            cost[free] = np.where(sign[free] > 0.0, step.cost_positive, step.cost_negative)
            return solve(X, sign, cost, w, curvature)

        w, value = fit(sign)  # 3.
        self.path_.append(replace(step, objective=value))
        for _ in range(self.max_iter):
            down, up = _pairs(decide(X[free], w), sign[free], self.tol)  # 4.
            if self.switch == "one":
                down, up = down[:1], up[:1]
            switched = sign.copy()
            switched[free[down]], switched[free[up]] = -1.0, 1.0
            w_next, value_next = fit(switched) if len(down) else (w, value)
            if not value_next < value:  # no pair is left, or only rounding
                return w, value, sign
            w, value, sign = w_next, value_next, switched
            self.path_.append(replace(step, objective=value, switched=len(down)))
            self.n_switches_ += len(down)
        return w, value, sign


def _centre(X: Array, mean: Array) -> tuple[Array, Array | None]:
    """Centre the columns; write rows with more columns than rows in a basis of their span."""
    X = X - mean
    if X.shape[1] <= X.shape[0]:
        return X, None
    basis, triangle = dense.qr(X.T)
    return np.ascontiguousarray(triangle.T), basis


def _pairs(z: Array, sign: Array, tol: float) -> tuple[Array, Array]:
    """Pair positive with negative rows as long as ξ_i + ξ_j > 2 + tol, the largest sums first."""
    down = np.flatnonzero((sign > 0.0) & (z < 1.0))
    up = np.flatnonzero((sign < 0.0) & (z > -1.0))
    n_pairs = min(len(down), len(up))
    down = down[np.argsort(z[down], kind="stable")[:n_pairs]]
    up = up[np.argsort(-z[up], kind="stable")[:n_pairs]]
    wrong = z[up] - z[down] > tol
    return down[wrong], up[wrong]
