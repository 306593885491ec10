"""The authors' iteration for many starts at once: block descent (§V) in principal axes.

In the axes of all training rows their Gram matrix is diagonal, so that a step is two products: the
same fits as on the features themselves, norms included, at a fraction of the price. A run ends as
in the authors' scripts, once a step moves the labels by little in all (``Σ|Δu|``), or silently at a
limit of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import Labeling

Array = NDArray[Any]


@dataclass(frozen=True)
class Descents:
    """Where runs ended: their weights (a column each), their steps, and which were let end."""

    weights: Array
    steps: Array
    ended: Array


def descend(
    labeled: Array,
    y: Array,
    unlabeled: Array,
    labels: Array,
    labeling: Labeling,
    *,
    still: float,
    max_steps: int,
) -> Descents:
    """Descend from labels (unlabeled rows, runs), with rows in the principal axes of all of them.

    1. fit all rows with their labels; 2. fill in the labels; 3. runs that have ended leave.
    """
    squares = np.sum(labeled**2, axis=0) + np.sum(unlabeled**2, axis=0)
    known = (labeled.T @ y)[:, None]
    transposed = np.ascontiguousarray(unlabeled.T)
    n_runs = labels.shape[1]
    weights = np.empty((len(known), n_runs))
    steps = np.full(n_runs, max_steps)
    running = np.arange(n_runs)
    for step in range(1, max_steps + 1):
        w = (known + transposed @ labels) / squares[:, None]  # 1
        imputed = labeling.impute(unlabeled @ w)  # 2
        ended = np.abs(imputed - labels).sum(axis=0) <= still
        labels = imputed
        if ended.any():  # 3
            weights[:, running[ended]] = w[:, ended]
            steps[running[ended]] = step
            labels, running, w = labels[:, ~ended], running[~ended], w[:, ~ended]
        if not len(running):
            break
    weights[:, running] = w
    return Descents(weights, steps, ~np.isin(np.arange(n_runs), running))
