"""Block descent (§V) by the authors' rules: one run with its path, or many at once.

A run ends as in the authors' scripts, once a step moves the labels by little in all (``Σ|Δu|``), or
silently at a limit of steps.

`published_descent` follows one run on the published data of Figures 2 and 4. `descend` takes many
starts in the principal axes of all training rows: their Gram matrix is diagonal there and a step
two products, the same fits as on the features themselves, norms included, at a fraction of the
price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.labelings import HardLabels, Labeling, SoftLabels
from ...core.objective import Objective
from ...core.rows import DenseTable, Rows
from ...core.solvers import Solution, Step, block_descent

Array = NDArray[Any]

LABELINGS: dict[str, Labeling] = {"soft": SoftLabels(), "hard": HardLabels()}
STILL = 1e-9
"""A published run ends once a step moves the labels by no more than this in all."""


def published_objective(X: Array, y: Array, method: str) -> Objective:
    """Return J on rows with labels 0, 1 or −1 for none; class 0 is encoded 1, as by the authors."""
    labeled = np.flatnonzero(y >= 0)
    targets = 1.0 - y[labeled]
    rows = Rows(DenseTable(X), labeled, targets, labeled_weight=np.ones(len(labeled)))
    return Objective(rows, LABELINGS[method], 0.0)


def published_descent(
    objective: Objective, w: Array, *, max_iter: int = 100_000, path: list[Array] | None = None
) -> Solution:
    """Descend from weights w by the authors' rules; `path` is given every step's weights."""
    before = objective.rows.decisions(w)

    def still(step: Step) -> bool:
        nonlocal before
        assert step.labels is not None
        moved = float(np.abs(step.labels - before).sum())
        before = step.labels
        if path is not None:
            path.append(step.w)
        return moved <= STILL

    return block_descent(objective, before, max_iter=max_iter, callback=still)


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
