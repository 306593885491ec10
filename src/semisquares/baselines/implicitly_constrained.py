"""Implicitly constrained least squares: the labeling whose fit has the least supervised loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._inputs.arrays import explain_overflow
from .._inputs.labels import Labels
from .._utils.typing import Array
from ..core import _dense as dense
from ..core.linalg import EPS, RANK_TOLERANCE, column_span, has_full_rank, least_norm_step
from ..estimators._base import one_hot
from ._base import NOT_NEGATIVE, STEPS, LinearClassifier, free_rows, label_all
from ._least_labeling import least_labeling


@dataclass(frozen=True, eq=False)
class _AllRows:
    """Ridge regression on all rows, for any targets t: fitted values are ``B B't``."""

    rows: Array
    """The columns, centred if there is an intercept."""
    origin: Array
    turn: Array | None
    """With more columns than rows, an orthonormal basis of the row space: `rows` are in it."""
    alpha: float
    intercept: int

    @classmethod
    def read(cls, X: Array, alpha: float, intercept: bool) -> _AllRows:
        origin = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
        rows, turn = X - origin, None
        if intercept:
            rows[:, np.ptp(X, axis=0) == 0.0] = 0.0  # not the rounding of the mean
        if X.shape[1] > X.shape[0]:
            left, values, right = dense.svd(rows)
            rank = max(1, int((values > RANK_TOLERANCE * values[0]).sum()))
            rows, turn = left[:, :rank] * values[:rank], right[:rank].T
        return cls(rows, origin, turn, alpha, int(intercept))

    def basis(self) -> Array:
        """Return B, by QR rather than by the Gram matrix."""
        n, d = self.rows.shape
        ridge = np.sqrt(self.alpha) * np.eye(d) if self.alpha > 0.0 else np.zeros((0, d))
        tall = np.vstack((self.rows, ridge))
        norms = np.sqrt(np.einsum("ij,ij->j", tall, tall))
        found = column_span(tall / np.where(norms > 0.0, norms, 1.0), RANK_TOLERANCE)[:n]
        return np.hstack((found, np.full((n, 1), n**-0.5))) if self.intercept else found

    def weights(self, t: Array) -> tuple[Array, Array]:
        """Return the weights (K, d) and intercepts (K,) of least norm."""
        n, d = self.rows.shape
        first, p = self.intercept, self.intercept + d
        triangle = dense.triangle_of(np.hstack((np.ones((n, first)), self.rows, t)))
        if self.alpha == 0.0 and has_full_rank(triangle[:p, :p]):
            w = dense.solve_triangular(triangle[:p, :p].T, triangle[:p, p:], transposed=True)
            w = np.roll(w, -first, axis=0)
        else:
            start = np.zeros((p, t.shape[1]))
            w = least_norm_step(triangle, self.alpha, bool(first), start).step
        features = w[:d] if self.turn is None else self.turn @ w[:d]
        last = w[d] - self.origin @ features if self.intercept else np.zeros(t.shape[1])
        return features.T, last


@dataclass(frozen=True, eq=False)
class _LabeledLoss:
    """The loss of the labeled rows, ``‖V'q - b‖²`` up to a constant, as a function of q."""

    V: Array
    b: Array
    first: int
    """The first of the classes that are fitted."""

    @classmethod
    def of(cls, B: Array, known: Array, unknown: Array, targets: Array, first: int) -> _LabeledLoss:
        """Write ``‖B_l (B_u'q + B_l'y) - y‖²`` in the few coordinates of B_l's QR."""
        p = min(B[known].shape)
        both = dense.triangle_of(np.hstack((B[known], targets)))
        triangle, turned = both[:p, : B.shape[1]], both[:p, B.shape[1] :]
        b = turned - triangle @ (B[known].T @ targets)
        return cls(dense.product(B[unknown], triangle.T), b, first)

    def __call__(self, q: Array) -> tuple[Array, Array]:
        V = self.V
        gradient = np.zeros(q.shape)
        gradient[:, self.first :] = 2.0 * V @ (V.T @ q[:, self.first :] - self.b)
        return gradient, self.hessian

    @cached_property
    def hessian(self) -> Array:
        """The Hessian in the sums of all classes but the first."""
        # with more than two classes, the sums of the first are minus those of the others
        classes = np.eye(self.b.shape[1] - (1 - self.first)) + (1 - self.first)
        return 2.0 * np.kron(classes, np.eye(self.V.shape[1]))


class ImplicitlyConstrainedClassifier(LinearClassifier):
    """Least squares fit to all rows, with the labeling that gives the least supervised loss.

    Minimises over the labels q of the unlabeled rows

        ‖X w(q) - y‖²,    w(q) = argmin over w of ‖X_e w - [y; q]‖² + alpha ‖w‖²,    q in [0, 1]^U

    (with more than two classes y is one-hot and q on the probability simplex; the intercept is not
    penalised). It is a pessimistic method: unlabeled rows only restrict the possible classifiers,
    and labeled rows choose among them. The problem in q is a convex quadratic program.

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of the ridge in the fit to all rows.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    tol : float, default=1e-12
        The certified relative gap to reach.
    max_iter : int, default=100
        The largest number of steps of the interior point method; about 15 are usual.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features; of least norm if they are not unique.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept minus ½, so that the sign of the decision function gives the class.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The labeling q that gives these weights; labeled rows keep their labels. If it is not
        unique, one in the middle. It is not a prediction.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row, given or predicted.
    objective_ : float
        The supervised loss ``‖Xw - y‖²`` at the solution.
    certificate_ : float
        Proven bound on (loss - least loss) / (loss of the best constant; of 0 without intercept).
    n_iter_ : int
        The number of steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Krijthe, J. H. and Loog, M. (2015). Implicitly constrained semi-supervised least squares
    classification. Advances in Intelligent Data Analysis XIV, 158-169.

    Examples
    --------
    >>> from semisquares.baselines.implicitly_constrained import ImplicitlyConstrainedClassifier
    >>> X = [[-1.0], [1.0], [-1.0], [4.0]]
    >>> model = ImplicitlyConstrainedClassifier().fit(X, [0, 1, -1, -1])
    >>> model.label_distributions_[2:, 1].round(3)
    array([0.177, 1.   ])
    >>> model.predict([[-2.0], [2.0]])
    array([0, 1])
    >>> model.certificate_ < 1e-11
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearClassifier._parameter_constraints,
        "alpha": NOT_NEGATIVE,
        "fit_intercept": ["boolean"],
        "tol": NOT_NEGATIVE,
        "max_iter": STEPS,
    }

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        fit_intercept: bool = True,
        unlabeled: Any = -1,
        tol: float = 1e-12,
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter

    def _fit_rows(self, X: Array, labels: Labels) -> str | None:
        if not np.isfinite(np.vdot(X, X)):
            explain_overflow(self, X)
        n_classes, known, unknown = len(labels.classes), labels.labeled, free_rows(labels)
        first = int(n_classes == 2)  # with two classes only the second is fitted, as 0 and 1
        labeled = one_hot(labels.codes, n_classes)
        targets = labeled[:, first:]
        fit = _AllRows.read(X, float(self.alpha), bool(self.fit_intercept))
        loss = _LabeledLoss.of(fit.basis(), known, unknown, targets, first)
        best = targets.mean(axis=0) if self.fit_intercept else 0.0
        scale = float(np.sum((targets - best) ** 2))
        found = least_labeling(
            loss, loss.V, n_classes, tol=float(self.tol) * scale, max_iter=int(self.max_iter)
        )
        self.label_distributions_ = label_all(labels, labeled, found.q)
        self.coef_, last = fit.weights(self.label_distributions_[:, first:])
        self.intercept_ = last - 0.5
        self.objective_ = float(np.sum((X[known] @ self.coef_.T + last - targets) ** 2))
        self.certificate_ = max(EPS, found.gap / scale)
        self.n_iter_ = max(1, found.n_iter)
        self._set_transduction(X, labels)
        if self.certificate_ <= max(float(self.tol), 1e-9):
            return None
        return (
            f"stopped after {self.n_iter_} steps with a relative gap of {self.certificate_:.2g} "
            f"(tol={float(self.tol):.2g}); raise max_iter or tol."
        )
