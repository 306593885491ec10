"""Generated problems: tables that are hard for floating-point arithmetic, and how to fit them.

A problem depends only on its number, so that a failure can be reproduced:

    >>> problem = generate(17)
    >>> problem.fit().certificate_ >= 0.0
    True
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from semisquares import SoftLabelClassifier

Array = NDArray[Any]

KINDS = (
    "plain",
    "integer",
    "duplicated",
    "constant",
    "collinear",
    "scaled 20",
    "scaled 150",
    "offset",
)
FORMATS = ("dense", "csr", "csc", "float32")


@dataclass(frozen=True, eq=False)
class Generated:
    """One problem: a table, its labels (-1: none), weights and the parameters of the fit."""

    number: int
    kind: str
    format: str
    dense: Array
    """X as float64; every format holds exactly these numbers."""
    y: Array
    sample_weight: Array | None
    alpha: float
    unlabeled_weight: float
    fit_intercept: bool
    size: float
    """The size of the offset, or of the difference of collinear columns."""

    @property
    def X(self) -> Any:
        """X in its format."""
        if self.format == "csr":
            return sparse.csr_array(self.dense)
        if self.format == "csc":
            return sparse.csc_array(self.dense)
        return self.dense.astype(np.float32) if self.format == "float32" else self.dense

    @property
    def is_tame(self) -> bool:
        """Whether float64 has enough range and digits for the table."""
        return self.kind != "scaled 150" and (self.kind != "offset" or self.size <= 1e6)

    def fit(self, **parameters: Any) -> SoftLabelClassifier:
        """Fit the soft-label classifier, without its warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.unfitted(**parameters).fit(self.X, self.y, self.sample_weight)

    def unfitted(self, **parameters: Any) -> SoftLabelClassifier:
        """Return the classifier with the parameters of this problem."""
        return SoftLabelClassifier(
            self.alpha,
            unlabeled_weight=self.unlabeled_weight,
            fit_intercept=self.fit_intercept,
            **parameters,
        )

    def __str__(self) -> str:
        n, d = self.dense.shape
        return (
            f"problem {self.number}: {self.kind} ({self.size:.2g}), {self.format}, {n} × {d}, "
            f"{len(np.unique(self.y[self.y >= 0]))} classes, alpha={self.alpha:.2g}, "
            f"unlabeled_weight={self.unlabeled_weight:.2g}, intercept={self.fit_intercept}, "
            f"weights={self.sample_weight is not None}"
        )


def generate(number: int) -> Generated:
    """Return the problem of a number."""
    rng = np.random.default_rng([20_261, number])
    kind = KINDS[number % len(KINDS)]
    n_classes = 2 if rng.random() < 0.7 else int(rng.integers(3, 5))
    n_columns = int(rng.integers(1, 8))
    n_rows = int(rng.integers(4 * n_classes, 100))
    n_labeled = int(rng.integers(2 * n_classes, max(2 * n_classes, n_rows // 2) + 1))
    truth = rng.integers(n_classes, size=n_rows)
    centres = rng.normal(size=(n_classes, n_columns)) * rng.choice([0.3, 1.0, 3.0])
    X = rng.normal(size=(n_rows, n_columns)) + centres[truth]
    X, size = _distort(X, kind, rng)
    form = str(rng.choice(FORMATS, p=[0.4, 0.25, 0.1, 0.25]))
    if form == "float32":
        X = np.clip(X, -1e38, 1e38).astype(np.float32).astype(np.float64)
    if form in ("csr", "csc") and rng.random() < 0.3:
        X[rng.random(X.shape) < 0.4] = 0.0
    y = np.full(n_rows, -1)
    known = rng.permutation(n_rows)[:n_labeled]
    y[known] = truth[known]
    y[known[:n_classes]] = np.arange(n_classes)
    weight = 10.0 ** rng.uniform(-8, 8, size=n_rows) if rng.random() < 0.2 else None
    if weight is not None and rng.random() < 0.5:
        weight = 10.0 ** rng.integers(-8, 9) * rng.uniform(0.5, 2.0, size=n_rows)
    alpha = 0.0 if rng.random() < 0.35 else 10.0 ** rng.uniform(-8, 6)
    unlabeled_weight = 1.0 if rng.random() < 0.6 else 10.0 ** rng.uniform(-6, 6)
    intercept = bool(rng.random() < 0.85)
    return Generated(
        number, kind, form, X, y, weight, float(alpha), float(unlabeled_weight), intercept, size
    )


def _distort(X: Array, kind: str, rng: np.random.Generator) -> tuple[Array, float]:
    """Make a table of a kind; return it with the size of the change."""
    n, d = X.shape
    some = rng.random(d) < 0.6
    if kind == "integer":
        return np.round(2.0 * X), 0.0
    if kind == "duplicated":
        copies = X[:, rng.integers(d, size=2)] * rng.choice([1.0, 1.0, -2.0, 0.25])
        return np.column_stack((X, copies)), 0.0
    if kind == "constant":
        return np.column_stack((X, np.full(n, rng.choice([0.0, 1.0, 0.1, -7.3, 1e6])))), 0.0
    if kind == "collinear":
        size = 10.0 ** rng.uniform(-14, -3)
        near = X @ rng.normal(size=d) + size * rng.normal(size=n)
        return np.column_stack((X, near)), size
    if kind == "scaled 20":
        return X * 10.0 ** rng.uniform(-20, 20, size=d), 20.0
    if kind == "scaled 150":
        return X * 10.0 ** np.where(some, rng.uniform(-150, 150, size=d), 0.0), 150.0
    if kind == "offset":
        size = 10.0 ** rng.uniform(0, 12)
        return X + size * np.where(some, rng.choice([-1.0, 1.0], size=d), 0.0), size
    return X, 0.0
