"""Generated rows, some of them with many ties and copies."""

import numpy as np


def mixed_rows(n=300, seed=0):
    """Draw numbers, integers, dummies, a constant and a column with many zeros; many copies."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        (
            rng.normal(size=n),
            1e6 + 10.0 * rng.normal(size=n),
            rng.integers(4, size=n),
            np.eye(3)[rng.integers(3, size=n)],
            np.full(n, 7.0),
            rng.normal(size=n) * (rng.random(n) < 0.2),
        )
    )
    X[n // 2 :, :2] = X[: n - n // 2, :2]
    X[-20:] = X[:20]
    return X


def one_hot_rows(n=300, seed=0):
    """Draw only dummies, so that many distances are tied."""
    codes = np.random.default_rng(seed).integers(3, size=(n, 4))
    return np.concatenate([np.eye(3)[column] for column in codes.T], axis=1)


def clusters(n=200, d=3, n_classes=2, n_labeled=40, seed=0, apart=2.0):
    """Draw a cloud for each class: X, labels with -1 for a missing one, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + apart * rng.normal(size=(n_classes, d))[truth]
    return X, np.where(np.arange(n) < n_labeled, truth, -1), truth


def needle(n_rows=200, n_labels=60, d=40, seed=0):
    """Hide two clouds among wide columns: unlabeled rows tell which columns are wide."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    X = 3.0 * rng.normal(size=(n_rows, d))
    X[:, 0] = 2.0 * truth - 1.0 + 0.1 * rng.normal(size=n_rows)
    return X, np.where(np.arange(n_rows) < n_labels, truth, -1)
