"""Random problems and their solutions by literal sums, independent solvers and brute force.

Nothing here is computed by semisquares; `Problem.objective` only converts a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import qpsolvers
from scipy.optimize import lsq_linear
from scipy.sparse import csc_matrix

from semisquares.core.labelings import hard, soft
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows


def project_by_sorting(z):
    """Project the last axis on the simplex, as textbooks do (Held, Wolfe & Crowder 1974)."""
    falling = -np.sort(-z, axis=-1)
    k = np.arange(1, z.shape[-1] + 1)
    thresholds = (np.cumsum(falling, axis=-1) - 1.0) / k
    size = (falling > thresholds).sum(axis=-1, keepdims=True)
    return np.maximum(z - np.take_along_axis(thresholds, size - 1, axis=-1), 0.0)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table with class codes, -1 for a missing label."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int = 2
    alpha: float = 1.0
    intercept: bool = True
    sample_weight: np.ndarray | None = None
    unlabeled_weight: float = 1.0

    @property
    def settings(self):
        """The parameters of an estimator for this problem."""
        return {
            "alpha": self.alpha,
            "fit_intercept": self.intercept,
            "unlabeled_weight": self.unlabeled_weight,
        }

    @cached_property
    def known(self):
        return self.y >= 0

    @cached_property
    def weight(self):
        """The weight of each row."""
        weight = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return np.where(self.known, weight, self.unlabeled_weight * weight)

    @cached_property
    def design(self):
        """X; with an intercept, a last column of ones is added."""
        return np.hstack([self.X] + [np.ones((len(self.X), 1))] * self.intercept)

    @cached_property
    def penalty(self):
        """The diagonal of λD."""
        return np.r_[np.full(self.X.shape[1], self.alpha), [0.0] * self.intercept]

    def targets(self, codes):
        """0 and 1, or one-hot rows."""
        return codes.astype(float) if self.n_classes == 2 else np.eye(self.n_classes)[codes]

    def with_known(self, u):
        """Labels u of all rows, with the known ones in their places."""
        t = u.copy()
        t[self.known] = self.targets(self.y[self.known])
        return t

    def moment(self, r):
        """Σ a x r over all rows."""
        return self.design.T @ (self.weight * r.T).T

    def gram(self, index=slice(None)):
        """Σ a x x' over some rows."""
        return self.design[index].T @ (self.weight[index, None] * self.design[index])

    def impute(self, z, labels="soft"):
        if self.n_classes == 2:
            return np.clip(z, 0.0, 1.0) if labels == "soft" else (z > 0.5).astype(float)
        return project_by_sorting(z) if labels == "soft" else self.targets(z.argmax(axis=1))

    def J(self, w, labels="soft"):
        """The objective at w, summed literally."""
        z = self.design @ w
        t = self.with_known(self.impute(z, labels))
        return float((self.weight * ((z - t) ** 2).T).sum() + (self.penalty * (w**2).T).sum())

    def objective(self, labels="soft"):
        labeling = {"soft": soft, "hard": hard}[labels](self.n_classes)
        return Objective(self.rows(DenseTable(self.X)), labeling, self.alpha)

    def rows(self, table):
        return MemoryRows(
            table,
            np.flatnonzero(self.known),
            self.targets(self.y[self.known]),
            labeled_weight=self.weight[self.known],
            row_weight=self.sample_weight,
            unlabeled_weight=self.unlabeled_weight,
            intercept=self.intercept,
        )

    @cached_property
    def solution(self):
        """Weights of lowest J with soft labels, by an independent solver."""
        return self._bounded_least_squares() if self.n_classes == 2 else self._quadratic_program()

    def _system(self):
        """‖A (w, u) - b‖² is J_l as a function of w and the missing labels u, class by class."""
        root = np.sqrt(self.weight)[:, None]
        rows = root * np.hstack((self.design, -np.eye(len(self.y))[:, ~self.known]))
        p = len(self.penalty)
        ridge = np.eye(p, rows.shape[1]) * np.sqrt(self.penalty)[:, None]
        target = (self.known * self.targets(self.y).T).T
        b = (root[:, 0] * target.T).T
        return np.vstack((rows, ridge)), np.concatenate((b, np.zeros((p, *b.shape[1:]))))

    def _bounded_least_squares(self):
        A, b = self._system()
        p = len(self.penalty)
        low = np.r_[np.full(p, -np.inf), np.zeros(A.shape[1] - p)]
        high = np.r_[np.full(p, np.inf), np.ones(A.shape[1] - p)]
        found = lsq_linear(A, b, (low, high), method="bvls", tol=1e-15, max_iter=1000)
        return found.x[:p]

    def _quadratic_program(self):
        A, b = self._system()
        K, p, m = self.n_classes, len(self.penalty), A.shape[1]
        H = csc_matrix(np.kron(np.eye(K), A.T @ A))
        q = -(A.T @ b).T.ravel()
        sums = csc_matrix(np.kron(np.ones(K), np.eye(m)[p:]))
        low = np.tile(np.r_[np.full(p, -np.inf), np.zeros(m - p)], K)
        x = qpsolvers.solve_qp(
            H, q, A=sums, b=np.ones(m - p), lb=low, solver="clarabel",
            tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-12,
        )  # fmt: skip
        return x.reshape(K, m)[:, :p].T

    def labelings(self):
        """All labels of all rows, (n, 2^U): known ones as they are."""
        U = int((~self.known).sum())
        labels = np.repeat(self.y[:, None].astype(float), 2**U, axis=1)
        labels[~self.known] = np.arange(2**U) >> np.arange(U)[:, None] & 1
        return labels

    def refit(self, labels):
        """J and the weights of least squares for labels of all rows, one labeling per column."""
        root = np.sqrt(self.weight)[:, None]
        A = np.vstack((root * self.design, np.diag(np.sqrt(self.penalty))))
        b = np.vstack((root * labels, np.zeros((len(self.penalty), labels.shape[1]))))
        w = np.linalg.lstsq(A, b)[0]
        return ((A @ w - b) ** 2).sum(axis=0), w


def make_problem(
    seed,
    *,
    n_labeled=12,
    n_unlabeled=40,
    n_features=3,
    n_classes=2,
    weighted=False,
    distance=1.5,
    **settings,
):
    """Gaussian classes of about equal size, labeled and unlabeled rows in a random order."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    codes = np.arange(n) % n_classes
    X = distance * rng.normal(size=(n_classes, n_features))[codes] + rng.normal(
        size=(n, n_features)
    )
    y = np.where(np.arange(n) < n_labeled, codes, -1)
    order = rng.permutation(n)
    weight = rng.choice([0.3, 1.0, 2.5], n) if weighted else None
    return Problem(X[order], y[order], n_classes, sample_weight=weight, **settings)


SETTINGS = {
    "plain": {},
    "no ridge": {"alpha": 0.0},
    "no intercept": {"intercept": False},
    "weighted": {"weighted": True, "alpha": 0.1},
    "unlabeled rows count less": {"unlabeled_weight": 0.2, "alpha": 0.0},
    "unlabeled rows count more": {"unlabeled_weight": 7.0, "weighted": True, "intercept": False},
    "neither ridge nor intercept": {"alpha": 0.0, "intercept": False},
    "wide": {"n_features": 10, "n_labeled": 14, "alpha": 0.5},
}
SHORT = {
    "short": {"n_labeled": 4, "n_features": 8, "alpha": 0.0},
    "short, no intercept": {"n_labeled": 4, "n_features": 8, "alpha": 0.0, "intercept": False},
}
