"""Gaussian classes with one covariance: the model of linear discriminant analysis.

A row is of class k with probability π_k, and then has the density N(x; m_k, S). Rows may have soft
labels: q_ik ≥ 0 is the share of class k in row i. The model θ = (π, m, S) has

    L(θ, q) = Σ_i Σ_k q_ik [ log π_k + log N(x_i; m_k, S) ]        complete-data log likelihood
    R(θ)    = -s/2 [ log det S + tr(S⁻¹ T) ]                       log prior of S, up to a constant

with the shrinkage s, in rows, and a fixed diagonal target T: R is the logarithm of the inverse
Wishart density ``det(S)^(-s/2) exp(-tr(S⁻¹ sT) / 2)``, and counts like s more rows of covariance T.
With n_k = Σ_i q_ik and n = Σ_k n_k, L + R is largest at

    π_k = n_k / n,   m_k = Σ_i q_ik x_i / n_k,
    S = (Σ_ik q_ik (x_i - m_k)(x_i - m_k)' + s T) / (n + s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import logsumexp, softmax

from .._inputs.labels import Labels
from .._utils.typing import Array
from ..core import _dense as dense
from ..core.linalg import EPS
from ._base import free_rows

ROUNDING = 1e-11
"""A column that varies by less than this share of its largest number varies by rounding only."""


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
        rows = dense.solve_triangular(self.factor, (X - centre).T)
        means = dense.solve_triangular(self.factor, (self.means - centre).T)
        return self.log_joint_whitened(rows, means)

    def log_joint_whitened(self, rows: Array, means: Array) -> Array:
        """Return the same for rows (d, n) and means (d, K) in coordinates where S = 1."""
        distances = np.stack([((rows - m[:, None]) ** 2).sum(axis=0) for m in means.T], axis=1)
        constant = len(rows) * np.log(2.0 * np.pi) + self.log_det
        return np.log(self.priors) - 0.5 * (distances + constant)

    def posteriors(self, X: Array) -> Array:
        """Return the probability of each class given each row, of shape (n, K)."""
        return softmax(self.log_joint(X), axis=1)

    def linear(self) -> tuple[Array, Array]:
        """Return weights (K, d) and intercepts (K,) whose scores are log π_k N(x; m_k, S).

        Scores are correct up to a constant for each row. The weights are ``S⁻¹ (m_k - c)`` with the
        mean c of the means, so that columns far from zero cost no digits.
        """
        centre = self.means.mean(axis=0)
        means = self.means - centre
        weights = cho_solve((self.factor, True), means.T).T
        squares = np.einsum("kd,kd->k", weights, means)
        return weights, np.log(self.priors) - 0.5 * squares - weights @ centre


def rounding(X: Array) -> Array:
    """Return the spread of each column, in its unit, up to which the column is constant."""
    return ROUNDING * np.abs(X).max(axis=0)


def level(X: Array) -> Array:
    """Return X with columns that vary only by rounding made constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        flat = X.std(axis=0) <= rounding(X)
    return np.where(flat, X[0], X) if flat.any() else X


def variances(X: Array) -> Array:
    """Return the variance of each column, the diagonal of T; 1 for constant columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = X.var(axis=0)
    if not np.isfinite(found).all():
        raise ValueError(
            f"X holds numbers as large as {abs(X).max():.3g}, whose squares overflow; rescale the "
            "columns, for instance with sklearn.preprocessing.StandardScaler."
        )
    found[(np.ptp(X, axis=0) == 0.0) | (found == 0.0)] = 1.0
    return found


@dataclass(frozen=True, eq=False)
class Given:
    """What is fixed before the labels are known."""

    shrinkage: float
    """s, in rows."""
    target: Array
    """The diagonal of T, of shape (d,)."""
    priors: Array | None
    """π, of shape (K,); None if it is learned."""
    rounding: Array
    """The spread up to which each column is constant, of shape (d,)."""

    @classmethod
    def of(cls, X: Array, shrinkage: float, priors: Array | None = None) -> Given:
        """Compute the target and the rounding from all rows."""
        return cls(shrinkage, variances(X), priors, rounding(X))

    def priors_of(self, mass: Array) -> Array:
        """Return π for the given numbers of rows by class."""
        return mass / mass.sum(axis=-1, keepdims=True) if self.priors is None else self.priors


def fit_gaussian(X: Array, q: Array, given: Given) -> GaussianClasses:
    """Return the maximiser of L(θ, q) + R(θ); refuse a singular covariance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    q : ndarray of shape (n, K)
        The share of each class in each row, not negative; no class is empty.
    given : Given
        s, T, and π unless it is learned.
    """
    centre = X.mean(axis=0)
    rows = X - centre
    mass = q.sum(axis=0)
    means = (q.T @ rows) / mass[:, None]
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for share, mean in zip(q.T, means, strict=True):
        held = share > 0.0  # with hard labels every row is in one class only
        part = np.sqrt(share[held])[:, None] * (rows[held] - mean)
        scatter += dense.product(part.T, part)
    scatter[np.diag_indices_from(scatter)] += given.shrinkage * given.target
    covariance = scatter / (mass.sum() + given.shrinkage)
    factor = factor_of(covariance, len(X), given)
    return GaussianClasses(given.priors_of(mass), means + centre, covariance, factor)


def factor_of(covariance: Array, n_rows: int, given: Given) -> Array:
    """Return the lower Cholesky factor; refuse a singular covariance."""
    d = len(covariance)
    triangle, failed = dense.cholesky(covariance.copy())
    factor = np.zeros((d, d)) if failed else np.tril(triangle)
    left = factor.diagonal()  # the spread that earlier columns do not explain
    explained = left**2 <= 16.0 * max(d, 8) * EPS * covariance.diagonal()
    constant = left <= (given.rounding if given.shrinkage == 0.0 else 0.0)
    if (explained | constant).any():
        raise singular(n_rows, d)
    return factor


def singular(n_rows: int, n_columns: int) -> ValueError:
    """Return the error for a singular covariance."""
    return ValueError(
        f"The covariance of {n_rows} rows in {n_columns} columns is singular within the classes, "
        "and the likelihood has no maximum; pass a larger shrinkage, or drop columns that are "
        "constant within the classes or combinations of others."
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
    given: Given

    @classmethod
    def of(cls, X: Array, given: Given) -> WhitenedRows:
        """Whiten the rows of X; refuse a singular covariance."""
        one_class = fit_gaussian(X, np.ones((len(X), 1)), given)
        centre, factor = one_class.means[0], one_class.factor
        Z = dense.solve_triangular(factor, (X - centre).T).T
        return cls(np.ascontiguousarray(Z), centre, factor, given)

    @property
    def total(self) -> float:
        """Return n + s."""
        return len(self.Z) + self.given.shrinkage

    @property
    def log_det(self) -> float:
        """Return log det A."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())


@dataclass(frozen=True, eq=False)
class WhitenedMaximum:
    """The maximiser θ for a given q, in the coordinates of `WhitenedRows`."""

    rows: WhitenedRows
    priors: Array
    means: Array
    columns: Array
    """V, of shape (d, K)."""
    inverse: Array
    """E⁻¹ = (I - V'V)⁻¹."""
    log_det: float
    """log det E."""

    @classmethod
    def of(cls, rows: WhitenedRows, q: Array) -> WhitenedMaximum:
        mass = q.sum(axis=0)
        means = dense.product(q.T, rows.Z) / mass[:, None]
        columns = np.sqrt(mass / rows.total) * means.T
        values, vectors = dense.eigh(np.eye(len(mass)) - columns.T @ columns)
        if values[0] < 1e-13 * len(mass):
            raise singular(*rows.Z.shape)
        inverse = (vectors / values) @ vectors.T
        priors, log_det = rows.given.priors_of(mass), float(np.log(values).sum())
        return cls(rows, priors, means, columns, inverse, log_det)

    def times_inverse(self, rows: Array) -> Array:
        """Multiply rows, of shape (n, d), by S⁻¹ = I + V E⁻¹ V'."""
        return rows + ((rows @ self.columns) @ self.inverse) @ self.columns.T

    def inverse_covariance(self) -> Array:
        """Return S⁻¹ = I + V E⁻¹ V'."""
        found = (self.columns @ self.inverse) @ self.columns.T
        found.flat[:: len(found) + 1] += 1.0
        return found

    def scores(self, Z: Array) -> Array:
        """Return log π_k N(z_i; m_k, S) up to a constant for each row, of shape (n, K)."""
        weights = self.times_inverse(self.means)
        constants = np.log(self.priors) - 0.5 * np.einsum("kd,kd->k", self.means, weights)
        return np.asarray(dense.product(Z, weights.T) + constants)

    def expectation(self, labels: Labels) -> tuple[float, Array]:
        """Return ℓ and the posteriors of all rows.

        Scores are log π_k N(z_i; m_k, S) up to a constant for each row. Over all rows, and with R,
        these sum to -½ (n+s) [tr S⁻¹ + log det S + log det A], as Σ z z' + s F⁻¹TF⁻' = (n+s) I.
        """
        rows = self.rows
        n, d = rows.Z.shape
        n_classes = len(self.priors)
        scores = self.scores(rows.Z)
        top = scores.max(axis=1, keepdims=True)
        likely = np.exp(scores - top)
        sums = likely.sum(axis=1, keepdims=True)
        shared = (top + np.log(sums))[:, 0]  # much faster than SciPy's logsumexp
        known = scores[labels.labeled, labels.codes].sum()
        known += shared.sum() - shared[labels.labeled].sum()
        volume = d - n_classes + np.trace(self.inverse) + self.log_det + rows.log_det
        value = known - 0.5 * (rows.total * volume + n * d * np.log(2.0 * np.pi))
        likely /= sums
        return float(value), likely

    def model(self) -> GaussianClasses:
        """Return θ in the user's units."""
        rows = self.rows
        F = rows.factor
        part = F @ self.columns
        covariance = dense.product(F, F.T) - dense.product(part, part.T)
        means = self.means @ F.T + rows.centre
        factor = factor_of(covariance, len(rows.Z), rows.given)
        return GaussianClasses(self.priors, means, covariance, factor)


def largest_log_likelihood(model: GaussianClasses, mass: Array, given: Given) -> float:
    """Return L + R of the maximiser for classes of given numbers of rows, without the rows.

    There ``Σ_ik q_ik (x_i - m_k)(x_i - m_k)' + s T`` is (n + s) S, so its product with S⁻¹ has the
    trace (n + s) d.
    """
    n, d = mass.sum(), len(given.target)
    spread = (n + given.shrinkage) * (model.log_det + d)
    return float(mass @ np.log(model.priors) - 0.5 * (spread + n * d * np.log(2.0 * np.pi)))


def complete_log_likelihood(model: GaussianClasses, X: Array, q: Array) -> float:
    """Return L(θ, q)."""
    return float(np.sum(q * model.log_joint(X)))


def marginal_log_likelihood(joint: Array, labels: Labels) -> float:
    """Return the log likelihood of rows with these `log_joint`, the missing labels summed out."""
    known = joint[labels.labeled, labels.codes].sum()
    return float(known + logsumexp(joint[free_rows(labels)], axis=1).sum())


def log_prior(model: GaussianClasses, given: Given) -> float:
    """Return R(θ) = -s/2 [log det S + tr(S⁻¹ T)]."""
    inverse = dense.solve_triangular(model.factor, np.eye(len(given.target)))
    trace = float((inverse**2).sum(axis=0) @ given.target)
    return -0.5 * given.shrinkage * (model.log_det + trace)
