"""Maximum contrastive pessimistic likelihood for linear discriminant analysis (Loog 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._inputs.labels import Labels
from .._utils.typing import Array
from ..core.linalg import EPS
from ..estimators._base import one_hot
from ._base import NOT_NEGATIVE, STEPS, free_rows, label_all
from ._discriminant import GaussianDiscriminant
from ._gaussian import (
    GaussianClasses,
    Given,
    WhitenedMaximum,
    WhitenedRows,
    fit_gaussian,
    log_prior,
)
from ._least_labeling import labeling_gap, least_labeling


@dataclass(frozen=True, eq=False)
class _Contrast:
    """The largest contrast with the supervised model, as a function of the labeling q.

        f(q) = max over θ of L(θ, q) + R(θ) - L(θ_sup, q) - R(θ_sup)

    L is linear in q, so f is a maximum of linear functions: it is convex, and its gradient is that
    of the function at the maximiser θ(q): log p(x_i, k; θ(q)) - log p(x_i, k; θ_sup) (Danskin).
    """

    X: Array
    labels: Labels
    known: Array
    """The labels of the labeled rows, one-hot."""
    given: Given
    supervised: GaussianClasses
    joint: Array
    """log p(x_i, k; θ_sup) of all rows."""

    @classmethod
    def of(cls, X: Array, labels: Labels, given: Given) -> _Contrast:
        known = one_hot(labels.codes, len(labels.classes))
        supervised = fit_gaussian(X[labels.labeled], known, given)
        return cls(X, labels, known, given, supervised, supervised.log_joint(X))

    @cached_property
    def free(self) -> Array:
        """The unlabeled rows."""
        return free_rows(self.labels)

    def all_rows(self, q: Array) -> Array:
        """Return the labels of all rows."""
        return label_all(self.labels, self.known, q)

    def best(self, q: Array) -> GaussianClasses:
        """Return θ(q)."""
        return fit_gaussian(self.X, self.all_rows(q), self.given)

    def gains(self, model: GaussianClasses) -> Array:
        """Return the gain in log p(x_i, k) over θ_sup for each row and class."""
        return model.log_joint(self.X) - self.joint

    def value(self, model: GaussianClasses, gains: Array, q: Array) -> float:
        """Return the contrast of a model, of given gains, with θ_sup for the labels q."""
        ours, theirs = (log_prior(theta, self.given) for theta in (model, self.supervised))
        return float(np.sum(self.all_rows(q) * gains)) + ours - theirs

    @cached_property
    def rows(self) -> WhitenedRows:
        """All rows, in coordinates where the covariance S for any q is I less a few squares."""
        return WhitenedRows.of(self.X, self.given)

    @cached_property
    def V(self) -> Array:
        """The rows (1, z) whose sums q'V determine f."""
        return np.hstack((np.ones((len(self.free), 1)), self.rows.Z[self.free]))

    def __call__(self, q: Array) -> tuple[Array, Array]:
        """Return the gradient, up to a constant per row, and the Hessian in the sums q'V.

        With n_k and s_k the sums of q and q z of all classes but the first, and m_k = s_k / n_k,
        the second differential of f is, in the norm of S⁻¹,

            Σ_k (dn_k² + ‖ds_k - m_k dn_k‖²) / n_k + ‖Σ_k (v_k e_k' + e_k v_k')‖² / 2(n + s)

        (without dn_k² / n_k if the priors are given), where the second sum leaves out the first
        class, 0: v_k = ds_k - c_k dn_k, e_k = m_k - m_0 and c_k = (m_k + m_0) / 2. The sums of that
        class change by minus those of the others, and ds_k - m_k dn_k is v_k - ½ e_k dn_k.
        """
        found = WhitenedMaximum.of(self.rows, self.all_rows(q))
        gradient = found.scores(self.V[:, 1:]) - self.joint[self.free]
        m = found.means
        K, d = m.shape
        total = self.rows.total
        mass = self.known.sum(axis=0) + q.sum(axis=0)
        e, c = m[1:] - m[0], 0.5 * (m[1:] + m[0])
        f = found.times_inverse(e)
        products, own = e @ f.T, np.diag(1.0 / mass[1:])
        H = np.empty((K - 1, d + 1, K - 1, d + 1))  # a form in (dn, v)
        H[:, 0, :, 0] = (0.25 * products + (self.given.priors is None)) * (own + 1.0 / mass[0])
        both = 0.5 * (1.0 / mass[0] - own)[:, :, None] * f[:, None, :]
        H[:, 0, :, 1:], H[:, 1:, :, 0] = both, both.transpose(1, 2, 0)
        weights = own + 1.0 / mass[0] + products / total
        H[:, 1:, :, 1:] = weights[:, None, :, None] * found.inverse_covariance()[:, None, :]
        H[:, 1:, :, 1:] += f.T[:, :, None] / total * f[:, None, None, :]
        H[:, 0] -= np.einsum("kd,kdlb->klb", c, H[:, 1:])  # from v to ds
        H[:, :, :, 0] -= np.einsum("ld,kald->kal", c, H[:, :, :, 1:])
        return gradient, H.reshape((K - 1) * (d + 1), -1)


class ContrastivePessimisticDiscriminant(GaussianDiscriminant):
    """Linear discriminant analysis that no labeling of the unlabeled rows makes worse.

    Let θ = (π, m, S) be the priors, means and common covariance, L the log likelihood of all rows
    if the unlabeled ones have the soft labels q, and θ_sup the best θ for the labeled rows. Solves

        max over θ, min over q of  L(θ, q) + R(θ) - L(θ_sup, q) - R(θ_sup),     q on simplex^U
        R(θ) = -s/2 [ log det S + tr(S⁻¹ T) ],

    with the shrinkage s and the diagonal T of the variances of all rows. An adversary chooses the
    worst labels for θ, compared with θ_sup; even then θ is at least as likely as θ_sup: the value
    is never negative. L + R is concave in the natural parameters of θ and linear in q, so max and
    min can be exchanged: the best θ for a labeling is known in closed form, and the worst labeling
    minimises a convex function. `least_labeling` finds it, and bounds its error.

    Parameters
    ----------
    shrinkage : float, default=0.0
        s: the prior of the covariance counts like this many rows with the variances of the columns
        and no correlation. If it is 0, the labeled rows must span the columns within their classes;
        otherwise one labeled row for each class is enough.
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes; learned by default.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    tol : float, default=1e-8
        The certified gap to reach, in nats per row.
    max_iter : int, default=100
        The largest number of steps of the interior point method; 10 to 20 are usual.

    Attributes
    ----------
    classes_, coef_, intercept_, priors_, means_, covariance_
        As in `EMDiscriminantClassifier`.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The adversary's labeling q; labeled rows keep their labels. It is not a prediction.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row, given or predicted.
    objective_ : float
        The contrast at (θ, q), in nats: at least 0.
    certificate_ : float
        The gap, in nats: whatever the true labels are, L + R is higher at θ than at θ_sup by
        ``objective_ - certificate_`` or more; and no θ can promise more than ``objective_``.
    n_iter_ : int
        The number of steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Loog, M. (2016). Contrastive pessimistic likelihood estimation for semi-supervised
    classification. IEEE Transactions on Pattern Analysis and Machine Intelligence 38(3), 462-475.

    Examples
    --------
    >>> from semisquares.baselines.contrastive_pessimistic import ContrastivePessimisticDiscriminant
    >>> X = [[-2.0], [-1.0], [1.0], [2.0], [-3.0], [-1.5], [0.5], [4.0]]
    >>> y = [0, 0, 1, 1, -1, -1, -1, -1]
    >>> model = ContrastivePessimisticDiscriminant().fit(X, y)
    >>> model.predict([[-3.0], [3.0]])
    array([0, 1])
    >>> model.objective_ > model.certificate_       # more likely, whatever the missing labels are
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GaussianDiscriminant._parameter_constraints,
        "tol": NOT_NEGATIVE,
        "max_iter": STEPS,
    }

    def __init__(
        self,
        *,
        shrinkage: float = 0.0,
        priors: Any = None,
        unlabeled: Any = -1,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter

    def _n_numbers(self, n_rows: int, n_classes: int) -> float:
        # the Hessian in the sums of every class, its eigenvectors, its root and a Gram matrix
        return 4.0 * (n_classes * (self.n_features_in_ + 1)) ** 2

    def _fit_rows(self, X: Array, labels: Labels) -> str | None:
        contrast = _Contrast.of(X, labels, self._given(X, labels))
        enough = float(self.tol) * len(X)
        found = least_labeling(
            contrast, contrast.V, len(labels.classes), tol=enough, max_iter=int(self.max_iter)
        )
        model = contrast.best(found.q)
        self._set_model(model)
        self.label_distributions_ = contrast.all_rows(found.q)
        gains = contrast.gains(model)
        self.objective_ = contrast.value(model, gains, found.q)
        self.certificate_ = labeling_gap(found.q, gains[contrast.free])
        self.n_iter_ = max(1, found.n_iter)
        self._set_transduction(X, labels)
        # log likelihoods of this size have no more digits
        rounding = 1e3 * EPS * float(np.abs(contrast.joint[contrast.free]).sum())
        if self.certificate_ <= max(enough, rounding):
            return None
        return (
            f"stopped after {self.n_iter_} steps with a gap of {self.certificate_ / len(X):.2g} "
            f"nats per row (tol={float(self.tol):.2g}); raise max_iter, tol or shrinkage."
        )
