"""Fit all methods to nested sets of unlabeled rows, each fit warm-started from the one before.

Gram matrices are updated with the new rows only, and Newton starts on the larger set from the soft
solution and the active set of the smaller one. Hard labels start at the supervised weights every
time, as in the paper, because their result depends on the start.

If the labeled rows do not determine the weights, there are many soft minimisers. Ours has the least
norm. The authors' is the one that block descent reaches from the supervised weights; its error on
Transfusion differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._utils.typing import Array
from ...core.curvature import fit_labeled
from ...core.labelings import HardLabels, SoftLabels
from ...core.linalg import row_space
from ...core.objective import Objective
from ...core.rows import DenseTable, MemoryRows
from ...core.solvers import block_descent, newton
from ...core.solvers.least_norm import leaves_weights_open, vanishing_ridge
from ._descent import descend_once

METHODS = ("supervised", "soft", "hard", "oracle")


@dataclass(frozen=True)
class Draw:
    """One repeat: rows in the order of their use, first the labeled, then the unlabeled ones.

    The last column of X is one, so the last weight is the intercept. By the authors' conventions it
    is a weight like any other and counts in the norm, and soft labels come from their iteration if
    the labels do not determine the weights. By ours, ridge and norm leave out the intercept.
    """

    X: Array
    y: Array
    n_labeled: int
    alpha: float = 0.0
    as_authors: bool = False

    @property
    def free_intercept(self) -> bool:
        return not self.as_authors

    @property
    def features(self) -> Array:
        return self.X[:, : self.X.shape[1] - self.free_intercept]

    def objective(self, n_unlabeled: int) -> Objective:
        """Return the soft objective with the first `n_unlabeled` unlabeled rows."""
        L = self.n_labeled
        rows = MemoryRows(
            DenseTable(self.features[: L + n_unlabeled]),
            np.arange(L),
            self.y[:L],
            labeled_weight=np.ones(L),
            intercept=self.free_intercept,
        )
        return Objective(rows, SoftLabels(), self.alpha)


def nested_weights(
    draw: Draw, sizes: Sequence[int], methods: Sequence[str] = METHODS
) -> dict[str, Array]:
    """Return the weights of each method for all sizes, as arrays of shape (sizes, weights)."""
    found: dict[str, list[Array]] = {method: [] for method in methods}
    objective = draw.objective(sizes[0])
    supervised = soft = fit_labeled(objective)
    active, open_weights = None, False
    needs_soft = any("soft" in method for method in methods)
    for size in sizes:
        n_rows = draw.n_labeled + size
        objective = objective.extended(DenseTable(draw.features[:n_rows]))
        open_weights = open_weights or leaves_weights_open(objective)
        if not needs_soft:
            pass
        elif open_weights and draw.as_authors:
            soft = authors_solution(objective, supervised)
        elif open_weights:
            soft = vanishing_ridge(objective, soft, max_iter=1000).w
        else:
            active = None if active is None else active.extended(n_rows)
            solution = newton(objective, soft, active=active)
            soft, active = solution.w, solution.state.active
        hard_objective = objective.with_labeling(HardLabels())
        for method in methods:
            if method == "supervised":
                w = supervised
            elif method == "soft":
                w = soft
            elif method == "hard":
                w = _hard(hard_objective, supervised)
            elif method == "hard_from_soft":
                w = _hard(hard_objective, soft)
            else:
                w = _oracle(draw, hard_objective)
            found[method].append(w)
    return {method: np.array(weights) for method, weights in found.items()}


def authors_solution(objective: Objective, start: Array, *, max_steps: int = 1000) -> Array:
    """Return where the authors' iteration for soft labels ends, from given weights.

    They allow 10,000 steps; the errors after 1000 steps are the same (tested).
    """
    rows = objective.memory_rows
    squares, vectors = np.linalg.eigh(rows.full_gram)
    axes = vectors[:, squares > 1e-13 * squares[-1]]
    table = rows.table.slice(0, rows.n_rows) @ axes
    L = len(rows.labeled)
    labels = objective.labeling.impute(rows.decisions(start)[L:])
    return axes @ descend_once(
        table[:L], rows.y, table[L:], labels, objective.labeling, tol=1e-8, max_steps=max_steps
    )


def _hard(objective: Objective, start: Array) -> Array:
    labels = objective.labeling.impute(objective.rows.decisions(start))
    return block_descent(objective, labels).w


def _oracle(draw: Draw, objective: Objective) -> Array:
    """Fit all rows with their true labels.

    If they do not determine the weights, the authors' oracle leaves the intercept out of the norm,
    unlike their other methods. The constant is the last column, so the Gram matrix has the layout
    of one with an intercept.
    """
    n_rows = objective.rows.n_rows
    moment = objective.rows.moment(draw.y[:n_rows])
    if objective.full_factor is not None:
        return objective.full_factor.solve(moment)
    space = row_space(objective.rows.full_gram, intercept=True)
    if space is not None:
        return space.step(np.zeros(moment.shape), -moment)
    everything = replace(draw, n_labeled=n_rows, as_authors=False)
    return fit_labeled(everything.objective(0))
