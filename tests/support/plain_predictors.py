"""Fitted classifiers of every kind that can be stored, on small numeric tables."""

import functools

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from semisquares import AveragedClassifier, LeastSquaresClassifier
from semisquares.tables.models._converting import predictor_of

KINDS = {
    "linear": LeastSquaresClassifier,
    "logistic": lambda: LogisticRegression(solver="newton-cholesky"),
    "forest": lambda: RandomForestClassifier(20, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=20),
    "averaged": lambda: AveragedClassifier(n_landmarks=30, n_graph_rows=60),
}
N_FEATURES = 4


@functools.cache
def rows(n_classes, n_rows=240):
    """Draw rows in curved classes, one column with two values, one with a large mean."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, N_FEATURES))
    angle = np.arctan2(X[:, 0], X[:, 1]) + 0.3 * rng.normal(size=n_rows)
    codes = np.floor((angle / (2.0 * np.pi) % 1.0) * n_classes).astype(int) % n_classes
    X[:, 2] = X[:, 2] > 0.0
    X[:, 3] += 1000.0
    return X, codes


def new_rows(n_rows=1000):
    X = np.random.default_rng(99).normal(scale=2.0, size=(n_rows, N_FEATURES))
    return X + np.array([0.0, 0.0, 0.0, 1000.0])


@functools.cache
def fitted(kind, n_classes):
    """Fit a kind; half of the rows have no label for the averaged classifier."""
    X, codes = rows(n_classes)
    if kind == "averaged":
        codes = np.where(np.arange(len(codes)) % 4 < 2, codes, -1)
    return KINDS[kind]().fit(X, codes)


def predictor(kind, n_classes):
    return predictor_of(fitted(kind, n_classes))


def arrays_of(plain, path=""):
    """Yield the arrays in plain data, with their names."""
    for name, value in plain.items():
        if isinstance(value, dict):
            yield from arrays_of(value, f"{path}{name}/")
        elif isinstance(value, np.ndarray):
            yield f"{path}{name}", value
