"""Rows of known classes, some of which have a wrong label."""

import numpy as np


def draw(seed=0, *, n=400, n_labeled=120, n_flipped=6, n_classes=2, distance=4.0):
    """Return X, y with some labels missing and some wrong, and the rows of the wrong ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    centres = distance * np.eye(n_classes, 4)
    X = rng.normal(size=(n, 4)) + centres[truth]
    y = np.where(np.arange(n) < n_labeled, truth, -1)
    wrong = np.sort(rng.permutation(n_labeled)[:n_flipped])
    y[wrong] = (truth[wrong] + rng.integers(1, n_classes, size=n_flipped)) % n_classes
    return X, y, wrong
