"""Fit all methods to nested sets of unlabeled rows.

If the labeled rows determine the weights, all sets share their sums (`_growing`), and soft labels
start at the solution for the smaller set. Hard labels start at the supervised weights every time,
as in the paper, because their result depends on the start.

If the labeled rows do not determine the weights, there are many soft minimisers. Ours has the least
norm. The authors' is the one that block descent reaches from the supervised weights; its error on
Transfusion differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ..._utils.typing import Array
from ...core.curvature import fit_labeled
from ...core.labelings import HardLabels, SoftLabels
from ...core.linalg import PLAIN, row_space
from ...core.objective import Objective
from ...core.rows import DenseTable, MemoryRows
from ...core.solvers import block_descent, newton
from ...core.solvers.least_norm import leaves_weights_open, vanishing_ridge
from ._descent import descend_once
from ._growing import GrowingRows, growing_rows, settle

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
    needs_soft = any("soft" in method for method in methods)
    for fits in _nested_fits(draw, objective, supervised, sizes):
        soft = fits.soft(soft) if needs_soft else soft
        for method in methods:
            if method == "supervised":
                w = supervised
            elif method == "soft":
                w = soft
            elif method == "hard":
                w = fits.hard(supervised)
            elif method == "hard_from_soft":
                w = fits.hard(soft)
            else:
                w = fits.oracle()
            found[method].append(w)
    return {method: np.array(weights) for method, weights in found.items()}


class _Fits(Protocol):
    """The fits to a number of unlabeled rows; `soft` and `hard` start at given weights."""

    def soft(self, start: Array) -> Array: ...

    def hard(self, start: Array) -> Array: ...

    def oracle(self) -> Array: ...


def _nested_fits(
    draw: Draw, objective: Objective, supervised: Array, sizes: Sequence[int]
) -> Iterator[_Fits]:
    """Yield the fits to each number of unlabeled rows, valid until the next ones."""
    factor = objective.labeled_factor
    if factor is not None and not factor.dead.any() and factor.rcond >= PLAIN:
        unlabeled = draw.X[draw.n_labeled :]
        for rows in growing_rows(objective, supervised, unlabeled, sizes):
            yield _DeterminedFits(draw, rows)
        return
    open_weights = False
    for size in sizes:
        objective = objective.extended(DenseTable(draw.features[: draw.n_labeled + size]))
        open_weights = open_weights or leaves_weights_open(objective)
        yield _OtherFits(draw, objective, supervised, open_weights)


@dataclass(frozen=True)
class _DeterminedFits:
    """The labeled rows determine the weights."""

    draw: Draw
    rows: GrowingRows

    def soft(self, start: Array) -> Array:
        w = settle(self.rows.fit_active, SoftLabels().piece, self.rows.X @ start)
        return w if w is not None else newton(self._objective, start).w

    def hard(self, start: Array) -> Array:
        w = settle(self.rows.fit, HardLabels().impute, self.rows.X @ start)
        return w if w is not None else _descend(self._objective.with_labeling(HardLabels()), start)

    def oracle(self) -> Array:
        return self.rows.fit(self.draw.y[self.draw.n_labeled :][: len(self.rows.X)])[0]

    @property
    def _objective(self) -> Objective:
        return self.draw.objective(len(self.rows.X))


@dataclass(frozen=True)
class _OtherFits:
    """The labeled rows leave weights open, or determine them only to a few digits."""

    draw: Draw
    objective: Objective
    supervised: Array
    open_weights: bool

    def soft(self, start: Array) -> Array:
        if not self.open_weights:
            return newton(self.objective, start).w
        if self.draw.as_authors:
            return authors_solution(self.objective, self.supervised)
        return vanishing_ridge(self.objective, start, max_iter=1000).w

    def hard(self, start: Array) -> Array:
        return _descend(self._hard_objective, start)

    def oracle(self) -> Array:
        """Fit all rows with their true labels.

        If they do not determine the weights, the authors' oracle leaves the intercept out of the
        norm, unlike their other methods. The constant is the last column, so the Gram matrix has
        the layout of one with an intercept.
        """
        objective, n_rows = self._hard_objective, self.objective.rows.n_rows
        moment = objective.rows.moment(self.draw.y[:n_rows])
        if objective.full_factor is not None:
            return objective.full_factor.solve(moment)
        space = row_space(objective.rows.full_gram, intercept=True)
        if space is not None:
            return space.step(np.zeros(moment.shape), -moment)
        everything = replace(self.draw, n_labeled=n_rows, as_authors=False)
        return fit_labeled(everything.objective(0))

    @cached_property
    def _hard_objective(self) -> Objective:
        return self.objective.with_labeling(HardLabels())


def _descend(objective: Objective, start: Array) -> Array:
    """Return the end of block descent with hard labels from given weights."""
    return block_descent(objective, objective.labeling.impute(objective.rows.decisions(start))).w


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
        table[:L], rows.y, table[L:], labels, SoftLabels(), tol=1e-8, max_steps=max_steps
    )
