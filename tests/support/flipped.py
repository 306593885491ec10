"""Rows of known classes, some of which have a wrong label."""

import numpy as np
import pandas as pd


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


def patients(n=160, n_labeled=90, n_flipped=4, seed=0):
    """Return a table with numbers, a category and labels, some wrong, and the wrong rows from 1."""
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.5
    frame = pd.DataFrame(
        {
            "pulse": rng.normal(60 + 40 * sick, 6).round(1),
            "oxygen": rng.normal(98 - 12 * sick, 2).round(1),
            "ward": rng.choice(["north", "south"], n),
            "code": [f"{i:03d}" for i in rng.integers(5, size=n)],
        }
    )
    truth = np.where(sick, "ill", "well")
    labels = np.where(np.arange(n) < n_labeled, truth, None)
    wrong = np.sort(rng.permutation(n_labeled)[:n_flipped])
    labels[wrong] = np.where(sick[wrong], "well", "ill")
    frame["state"] = labels
    return frame, wrong + 1
