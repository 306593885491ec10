"""EM for linear discriminant analysis (§II-A): missing labels are summed out, not filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import softmax

from .._inputs.labels import Labels
from .._utils.typing import Array
from ..core import _dense as dense
from ..core.linalg import EPS
from ..estimators._base import one_hot
from ._base import NOT_NEGATIVE, STEPS, set_path
from ._discriminant import GaussianDiscriminant
from ._gaussian import (
    GaussianClasses,
    WhitenedMaximum,
    WhitenedRows,
    fit_gaussian,
    largest_log_likelihood,
    log_prior,
    marginal_log_likelihood,
)


@dataclass(frozen=True, eq=False)
class EMStep:
    """One step of `EMDiscriminantClassifier`; step 0 is the start."""

    iteration: int
    log_likelihood: float
    """The penalised marginal log likelihood."""
    model: GaussianClasses
    """Priors, means and covariance."""


class EMDiscriminantClassifier(GaussianDiscriminant):
    """Linear discriminant analysis on all rows, by expectation maximisation.

    Maximises the penalised marginal log likelihood of the Gaussian classes θ = (π, m, S)

        ℓ(θ) = Σ_labeled log π_y N(x; m_y, S) + Σ_unlabeled log Σ_k π_k N(x; m_k, S) + R(S)
        R(S) = -s/2 [ log det S + tr(S⁻¹ T) ],

    with the shrinkage s and the diagonal T of the variances of all rows, both fixed. Each step is

    1. expectation: q_ik = p(k | x_i; θ) for unlabeled rows; a labeled row has its class;
    2. maximisation: π_k = n_k / n, m_k = Σ_i q_ik x_i / n_k, and
       S = (Σ_ik q_ik (x_i - m_k)(x_i - m_k)' + s T) / (n + s), where n_k = Σ_i q_ik;
    3. stop if ℓ rose by less than `tol` per row.

    ℓ never falls, but it is not concave: the result depends on the start. That is the maximiser for
    the labeled rows alone, with the covariance of all rows if theirs is singular. One step costs
    as much as two products of X with K vectors. With all rows labeled and no shrinkage this is
    ``LinearDiscriminantAnalysis(solver="lsqr")`` of scikit-learn, whose covariance has the divisor
    n, too. (With given priors, scikit-learn weights the covariances of the classes by them; here
    they only enter π.) The hard-label variant is ``SelfLearning(LinearDiscriminantAnalysis())``.

    Parameters
    ----------
    shrinkage : float, default=1.0
        s: the prior of S counts like this many rows of covariance T. If there are fewer rows than
        features, or columns that are constant within the classes, it must be positive.
    priors : array-like of shape (n_classes,), optional
        π, if it is known, in the order of `classes_`; learned by default.
    max_iter : int, default=5000
        The largest number of steps.
    tol : float, default=1e-8
        Stop if ℓ rises by less, per row. It is not relative to ℓ, whose size changes with the units
        of X.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    record_path : bool, default=False
        Whether to keep every step in `path_`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features: ``S⁻¹ (m_2 - m_1)``, or ``S⁻¹ (m_k - mean of the means)``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    priors_, means_, covariance_ : ndarrays of shape (K,), (K, n_features), (n_features, n_features)
        π, m and S.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or the most probable one.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The posteriors of the training rows; one-hot for labeled rows.
    log_likelihood_ : float
        ℓ at the solution.
    n_iter_ : int
        The number of steps.
    path_ : tuple of EMStep
        The start and every step, if `record_path` is true.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete data via the EM
    algorithm", Journal of the Royal Statistical Society B 39, 1-38, 1977.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.baselines.em_discriminant import EMDiscriminantClassifier
    >>> X = np.array([[-1.0], [1.0], [-1.5], [-0.9], [-1.2], [0.9], [1.3], [1.6]])
    >>> y = ["no", "yes", None, None, None, None, None, None]
    >>> model = EMDiscriminantClassifier(shrinkage=0.1).fit(X, y)
    >>> model.transduction_.tolist()
    ['no', 'yes', 'no', 'no', 'no', 'yes', 'yes', 'yes']
    >>> model.predict_proba([[0.1]]).round(2)
    array([[0.1, 0.9]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GaussianDiscriminant._parameter_constraints,
        "max_iter": STEPS,
        "tol": NOT_NEGATIVE,
        "record_path": ["boolean"],
    }

    def __init__(
        self,
        shrinkage: float = 1.0,
        *,
        priors: Any = None,
        max_iter: int = 5000,
        tol: float = 1e-8,
        unlabeled: Any = -1,
        record_path: bool = False,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.max_iter = max_iter
        self.tol = tol
        self.unlabeled = unlabeled
        self.record_path = record_path

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        return 4.0 * n_rows * n_classes  # five with newer SciPy, whose logsumexp holds one more

    def _fit_rows(self, X: Array, labels: Labels) -> str | None:
        given, known = self._given(X, labels), one_hot(labels.codes, len(labels.classes))
        if len(known) == len(X):  # the labels alone determine the maximum
            model = fit_gaussian(X, known, given)
            value = largest_log_likelihood(model, known.sum(axis=0), given)
            self._set_steps([EMStep(k, value, model) for k in (0, 1)], known)
            return None
        rows = WhitenedRows.of(X, given)
        model = _start(X[labels.labeled], known, rows)
        joint = model.log_joint(X)
        value = marginal_log_likelihood(joint, labels) + log_prior(model, given)
        path = [EMStep(0, value, model)]
        enough = float(self.tol) * len(X)
        q = softmax(joint, axis=1)
        for n_iter in range(1, int(self.max_iter) + 1):
            # 1. expectation: q already has the posteriors of the unlabeled rows
            q[labels.labeled] = known
            # 2. maximisation
            found = WhitenedMaximum.of(rows, q)
            before, (value, q) = value, found.expectation(labels)
            if self.record_path:
                path.append(EMStep(n_iter, value, found.model()))
            # 3. stop, also if rounding hides any rise
            rise = value - before
            if rise <= max(enough, 8.0 * EPS * abs(value)):
                rise = 0.0
                break
        q[labels.labeled] = known
        if not self.record_path:
            path.append(EMStep(n_iter, value, found.model()))
        self._set_steps(path, q)
        if rise <= enough:
            return None
        return (
            f"stopped after max_iter={self.max_iter} steps, the last of which still raised the log "
            f"likelihood by {rise:.2g}; raise max_iter or tol."
        )

    def _set_steps(self, path: list[EMStep], q: Array) -> None:
        """Set the fitted attributes: those of the last step, with the posteriors q."""
        last = path[-1]
        self._set_model(last.model)
        self.label_distributions_ = q
        self.transduction_ = self.classes_[q.argmax(axis=1)]
        self.log_likelihood_, self.n_iter_ = last.log_likelihood, last.iteration
        set_path(self, path)


def _start(X: Array, known: Array, rows: WhitenedRows) -> GaussianClasses:
    """Fit the labeled rows; if they are too few for a covariance, use that of all rows."""
    try:
        return fit_gaussian(X, known, rows.given)
    except ValueError:
        mass = known.sum(axis=0)
        means = (known.T @ X) / mass[:, None]
        covariance = dense.product(rows.factor, rows.factor.T)
        return GaussianClasses(rows.given.priors_of(mass), means, covariance, rows.factor)
