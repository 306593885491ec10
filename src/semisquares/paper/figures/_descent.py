"""Block descent (§V) by the authors' rules: one run with its path, or many at once.

As in the authors' scripts, a run ends when a step changes the labels by little (``Σ|Δu|``), or
silently at a maximal number of steps.

`published_descent` follows one run on the published data of Figures 2 and 4. `descend` runs many
starts at once in the principal axes of all training rows. Their Gram matrix is diagonal there, so a
step is two matrix products; the fits and their norms are the same as on the features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.typing import Array
from ...core.labelings import ConvexLabeling, HardLabels, Labeling, SoftLabels
from ...core.objective import Objective
from ...core.rows import DenseTable, MemoryRows
from ...core.solvers import Solution, Step, block_descent

LABELINGS: dict[str, Labeling] = {"soft": SoftLabels(), "hard": HardLabels()}
LABEL_TOL = 1e-9
"""A published run ends after a step with Σ|Δu| at most this."""
LEAP = 16
"""Steps that are taken at once, a power of two; more or fewer take longer on the data sets."""


def published_objective(X: Array, y: Array, method: str) -> Objective:
    """Return J for labels 0, 1 or −1 (unlabeled); class 0 is encoded 1, as by the authors."""
    labeled = np.flatnonzero(y >= 0)
    targets = 1.0 - y[labeled]
    rows = MemoryRows(DenseTable(X), labeled, targets, labeled_weight=np.ones(len(labeled)))
    return Objective(rows, LABELINGS[method], 0.0)


def published_descent(
    objective: Objective, w: Array, *, max_iter: int = 100_000, path: list[Array] | None = None
) -> Solution:
    """Descend from weights w by the authors' rules; append every step's weights to `path`."""
    before = objective.rows.decisions(w)

    def converged(step: Step) -> bool:
        nonlocal before
        assert step.labels is not None
        moved = float(np.abs(step.labels - before).sum())
        before = step.labels
        if path is not None:
            path.append(step.w)
        return moved <= LABEL_TOL

    return block_descent(objective, before, max_iter=max_iter, callback=converged)


@dataclass(frozen=True)
class Descents:
    """The ends of runs: weights (one column per run), steps, and which runs converged."""

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
    tol: float,
    max_steps: int,
) -> Descents:
    """Descend from labels of shape (unlabeled rows, runs); rows are in their principal axes.

    1. Fit all rows with their labels. 2. Fill in the labels. 3. Drop the runs that have converged.
    """
    n_runs = labels.shape[1]
    squares = (np.sum(labeled**2, axis=0) + np.sum(unlabeled**2, axis=0))[:, None]
    known = (labeled.T @ y)[:, None]
    transposed = np.ascontiguousarray(unlabeled.T)
    weights = np.empty((len(known), n_runs))
    steps = np.full(n_runs, max_steps)
    running = np.arange(n_runs)
    for step in range(1, max_steps + 1):
        w = transposed @ labels  # 1
        w += known
        w /= squares
        imputed = labeling.impute(unlabeled @ w)  # 2
        moved = imputed - labels
        ended = np.add.reduce(np.abs(moved, out=moved)) <= tol
        labels = imputed
        if ended.any():  # 3
            weights[:, running[ended]] = w[:, ended]
            steps[running[ended]] = step
            running = running[~ended]
            if not len(running):
                break
            labels, w = labels[:, ~ended], w[:, ~ended]
    if len(running):
        weights[:, running] = w
    return Descents(weights, steps, ~np.isin(np.arange(n_runs), running))


def descend_once(
    labeled: Array,
    y: Array,
    unlabeled: Array,
    labels: Array,
    labeling: ConvexLabeling,
    *,
    tol: float,
    max_steps: int,
) -> Array:
    """Return the weights at the end of one run of `descend`, from labels of shape (rows,).

    On few rows a step is mostly overhead: fitting labels u and evaluating the fit are one affine
    map, ``z = S u + z₀``. While no row changes its piece, the weights follow an affine map, too.

    1. Take LEAP single steps. 2. If all rows are on the same pieces as LEAP steps ago, take LEAP
    steps at once by the power of that map, again and again. 3. Undo the last leap if a row has
    changed its piece or the run has ended, and take single steps again.
    """
    squares = np.sum(labeled**2, axis=0) + np.sum(unlabeled**2, axis=0)
    known = labeled.T @ y / squares
    fit = np.ascontiguousarray((unlabeled / squares).T)
    smooth = unlabeled @ fit if len(unlabeled) <= len(squares) else None
    offset = unlabeled @ known
    change = np.empty(len(unlabeled))

    def step(labels: Array) -> tuple[Array, Array, bool]:
        """Return the decision values and labels after a step, and whether the run has ended."""
        z = unlabeled @ (fit @ labels) if smooth is None else smooth @ labels
        z += offset
        imputed = labeling.impute(z)
        np.subtract(imputed, labels, out=change)
        return z, imputed, bool(np.add.reduce(np.abs(change, out=change)) <= tol)

    piece, left = None, max_steps
    while True:
        for _ in range(min(LEAP, left)):  # 1
            last = labels
            z, labels, ended = step(labels)
            left -= 1
            if ended or not left:
                return np.asarray(known + fit @ last)
        before, piece = piece, labeling.piece(z)
        if before is None or (piece != before).any():
            continue
        inside = unlabeled[piece == 0]
        matrix = (inside.T @ inside) / squares[:, None]
        power, shift = _power(matrix, known + fit @ np.where(piece == 0, 0.0, labels))
        while left > LEAP + 2:  # 2
            z = unlabeled @ (power @ (known + fit @ labels) + shift)
            _, after, ended = step(labeling.impute(z))
            if ended or (labeling.piece(z) != piece).any():  # 3
                break
            labels = after
            left -= LEAP + 2


def _power(matrix: Array, shift: Array) -> tuple[Array, Array]:
    """Return matrix and vector of the affine map ``w ↦ matrix w + shift``, applied LEAP times."""
    for _ in range(LEAP.bit_length() - 1):
        matrix, shift = matrix @ matrix, matrix @ shift + shift
    return matrix, shift
