"""Gaussian classes with one covariance: the model of linear discriminant analysis.

A row of class k has the density N(x; m_k, S), and a row is of class k with probability π_k. Rows
may be shared out: q_ik ≥ 0 says how much of row i is of class k. The model θ = (π, m, S) has

    L(θ, q) = Σ_i Σ_k q_ik [ log π_k + log N(x_i; m_k, S) ]        complete-data log likelihood
    R(θ)    = -s/2 [ log det S + tr(S⁻¹ T) ]                       log prior of S, up to a constant

with the shrinkage s, in rows, and a fixed diagonal target T: R is the logarithm of the inverse
Wishart density ``det(S)^(-s/2) exp(-tr(S⁻¹ sT) / 2)``, what s more rows of covariance T would add.
With n_k = Σ_i q_ik and n = Σ_k n_k, L + R is largest at

    π_k = n_k / n,   m_k = Σ_i q_ik x_i / n_k,
    S = (Σ_ik q_ik (x_i - m_k)(x_i - m_k)' + s T) / (n + s).

What is here:

``variances(X)``
    The diagonal of the target T: the variance of each column over all rows, 1 where it is zero.
``fit_gaussian(X, q, shrinkage=, target=, priors=)``
    The maximiser of L + R as a `GaussianClasses`; ValueError where the covariance is singular.
``GaussianClasses``
    θ, with ``log_joint(X)`` (log π_k + log N(x_i; m_k, S), which is also ∂L/∂q),
    ``posteriors(X)`` and ``linear()`` (weights and intercepts).
``complete_log_likelihood(model, X, q)``, ``marginal_log_likelihood(model, X, labels)``
    L(θ, q), and L with the missing labels summed out.
``log_prior(model, shrinkage, target)``
    R(θ).
``WhitenedRows.of(X, shrinkage, target)``
    The rows in coordinates where every S is I less a matrix of rank K: loops work there.
``read_priors(priors, classes)``
    Priors that a user gave, checked; None stays None.
``GaussianDiscriminant``
    Base of the estimators: decision values, probabilities and the fitted attributes of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.special import expit, log_softmax, logsumexp, softmax
from sklearn.utils._param_validation import Interval

from ..labels import Labels
from ..linalg import EPS
from .base import SemiSupervisedClassifier

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """Hold θ: K Gaussian classes of one covariance."""

    priors: Array
    """π, of shape (K,)."""
    means: Array
    """m, of shape (K, d)."""
    covariance: Array
    """S, of shape (d, d)."""
    factor: Array
    """The lower Cholesky factor of S."""

    @property
    def log_det(self) -> float:
        """Return log det S."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())

    def log_joint(self, X: Array) -> Array:
        """Return ``log π_k + log N(x_i; m_k, S)``, of shape (n, K)."""
        centre = self.means.mean(axis=0)  # differences of whitened rows keep their digits
        rows = solve_triangular(self.factor, (X - centre).T, lower=True)
        means = solve_triangular(self.factor, (self.means - centre).T, lower=True)
        distances = np.stack([((rows - m[:, None]) ** 2).sum(axis=0) for m in means.T], axis=1)
        constant = X.shape[1] * np.log(2.0 * np.pi) + self.log_det
        return np.log(self.priors) - 0.5 * (distances + constant)

    def posteriors(self, X: Array) -> Array:
        """Return the probability of each class given each row, of shape (n, K)."""
        return softmax(self.log_joint(X), axis=1)

    def linear(self) -> tuple[Array, Array]:
        """Return weights (K, d) and intercepts (K,) whose scores are log π_k N(x; m_k, S).

        Up to a number that all classes of a row share: the weights are ``S⁻¹ (m_k - c)`` with the
        mean c of the means, so that columns far from zero cost no digits.
        """
        centre = self.means.mean(axis=0)
        means = self.means - centre
        weights = cho_solve((self.factor, True), means.T).T
        squares = np.einsum("kd,kd->k", weights, means)
        return weights, np.log(self.priors) - 0.5 * squares - weights @ centre


def variances(X: Array) -> Array:
    """Return the variance of each column, the diagonal of T; 1 where it is zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = X.var(axis=0)
    if not np.isfinite(found).all():
        raise ValueError(
            f"X holds numbers as large as {abs(X).max():.3g}, whose squares overflow; rescale the "
            "columns, for instance with sklearn.preprocessing.StandardScaler."
        )
    found[(np.ptp(X, axis=0) == 0.0) | (found == 0.0)] = 1.0
    return found


def fit_gaussian(
    X: Array,
    q: Array,
    *,
    shrinkage: float = 0.0,
    target: Array | None = None,
    priors: Array | None = None,
) -> GaussianClasses:
    """Return the maximiser of L(θ, q) + R(θ).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    q : ndarray of shape (n, K)
        How much of each row is of each class, not negative; every class has some.
    shrinkage : float, default=0.0
        s, in rows.
    target : ndarray of shape (d,), optional
        The diagonal of T; not used where s = 0.
    priors : ndarray of shape (K,), optional
        π where it is given; learned otherwise.
    """
    centre = X.mean(axis=0)
    rows = X - centre
    mass = q.sum(axis=0)
    means = (q.T @ rows) / mass[:, None]
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for share, mean in zip(q.T, means, strict=True):
        held = share > 0.0  # in hard labelings every row is in one class only
        part = np.sqrt(share[held])[:, None] * (rows[held] - mean)
        scatter += part.T @ part
    if shrinkage > 0.0:
        scatter[np.diag_indices_from(scatter)] += shrinkage * np.asarray(target)
    covariance = scatter / (mass.sum() + shrinkage)
    learned = mass / mass.sum() if priors is None else priors
    return GaussianClasses(learned, means + centre, covariance, factor_of(covariance, len(X)))


def factor_of(covariance: Array, n_rows: int) -> Array:
    """Return the lower Cholesky factor, or say that the covariance is singular and what to do."""
    d = len(covariance)
    try:
        factor = np.asarray(cholesky(covariance, lower=True))
    except LinAlgError:
        factor = np.zeros((d, d))
    # the share of a column's variance that the columns before it do not explain
    if (factor.diagonal() ** 2 <= 16.0 * max(d, 8) * EPS * covariance.diagonal()).any():
        raise singular(n_rows, d)
    return factor


def singular(n_rows: int, n_columns: int) -> ValueError:
    """Return the error that a singular covariance is answered with."""
    return ValueError(
        f"The covariance of {n_rows} rows in {n_columns} columns is singular within the classes, "
        "and the likelihood has no maximum; pass a larger shrinkage, or drop columns that are "
        "constant or combinations of others."
    )


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """Rows z = F⁻¹(x - c), c their mean and FF' = A = (Σ_i (x_i-c)(x_i-c)' + s T) / (n + s).

    In these coordinates the covariance that `fit_gaussian` finds for any q whose rows sum to one is
    ``S = I - V V'`` with the K columns ``v_k = (n_k / (n + s))^½ m_k``. So K×K matrices are enough:

        log det S = log det E,   S⁻¹ V = V E⁻¹,   tr S⁻¹ = d - K + tr E⁻¹,   E = I - V'V.

    With s > 0 no eigenvalue of E is near 0, as S ⪰ s/(n+s) T: no digits are lost.
    """

    Z: Array
    centre: Array
    factor: Array
    """F, the lower Cholesky factor of A."""
    total: float
    """n + s."""

    @classmethod
    def of(cls, X: Array, shrinkage: float, target: Array) -> WhitenedRows:
        """Whiten the rows of X; ValueError where their covariance is singular."""
        one_class = fit_gaussian(X, np.ones((len(X), 1)), shrinkage=shrinkage, target=target)
        centre, factor = one_class.means[0], one_class.factor
        Z = solve_triangular(factor, (X - centre).T, lower=True).T
        return cls(np.ascontiguousarray(Z), centre, factor, len(X) + shrinkage)

    @property
    def log_det(self) -> float:
        """Return log det A."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())


def complete_log_likelihood(model: GaussianClasses, X: Array, q: Array) -> float:
    """Return L(θ, q)."""
    return float(np.sum(q * model.log_joint(X)))


def marginal_log_likelihood(model: GaussianClasses, X: Array, labels: Labels) -> float:
    """Return the log likelihood of all rows, the missing labels summed out."""
    joint = model.log_joint(X)
    free = np.ones(labels.n_rows, dtype=bool)
    free[labels.labeled] = False
    known = joint[labels.labeled, labels.codes].sum()
    return float(known + logsumexp(joint[free], axis=1).sum())


def log_prior(model: GaussianClasses, shrinkage: float, target: Array) -> float:
    """Return R(θ) = -s/2 [log det S + tr(S⁻¹ T)]."""
    if shrinkage == 0.0:
        return 0.0
    inverse = solve_triangular(model.factor, np.eye(len(target)), lower=True)
    return -0.5 * shrinkage * (model.log_det + float((inverse**2).sum(axis=0) @ target))


def read_priors(priors: Any, classes: Array) -> Array | None:
    """Check priors that a user gave: one positive number for each class, their sum 1."""
    if priors is None:
        return None
    try:
        values = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    fits = values.shape == (len(classes),) and (values > 0.0).all()
    if not (fits and np.isclose(values.sum(), 1.0, rtol=0.0, atol=1e-8)):
        raise ValueError(
            f"priors={priors!r} must be {len(classes)} positive numbers that sum to 1, one for "
            f"each of the classes {classes.tolist()}; give those, or None to learn them."
        )
    return values / values.sum()


class GaussianDiscriminant(SemiSupervisedClassifier):
    """Base of the estimators: a classifier that is linear, with posteriors as probabilities."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "shrinkage": [Interval(Real, 0, np.inf, closed="left")],
        "priors": ["array-like", None],
        "unlabeled": "no_validation",
    }

    shrinkage: float
    priors: Any
    coef_: Array
    intercept_: Array

    def decision_function(self, X: Any) -> Array:
        """Return ``X @ coef_.T + intercept_``: the logarithm of the odds, or one score per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to decide on.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            log p(second | x) - log p(first | x); with more than two classes log p(class | x) for
            each, up to a number that the row's classes share.
        """
        scores = self._check(X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
            Each row sums to one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack((expit(-scores), expit(scores)), axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
            Finite where the probability itself is too small for a float.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack((np.zeros(len(scores)), scores), axis=1)
        return np.asarray(log_softmax(scores, axis=1))

    def _set_model(self, model: GaussianClasses) -> None:
        """Set the fitted attributes that describe θ."""
        weights, intercepts = model.linear()
        if len(weights) == 2:
            weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        self.coef_, self.intercept_ = weights, intercepts
        self.means_, self.covariance_, self.priors_ = model.means, model.covariance, model.priors
