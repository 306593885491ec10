"""What is done on the rows of one block: each returns what stays there, and what is summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import ConvexLabeling, Labeling
from .in_memory import Rows
from .results import Sweep
from .sums import differs

Array = NDArray[Any]
Result = tuple[tuple[Any, ...], tuple[Any, ...]]


def sum_labeled(rows: Rows, with_gram: bool, share: float) -> Result:
    """Sum up the labeled rows, and send a share of them; NaN in any row shows in the last sum."""
    gram = rows.labeled_gram if with_gram else 0.0
    index, which = rows.labeled, np.arange(len(rows.labeled))
    if share < 1.0:
        which = np.flatnonzero(np.random.default_rng(rows.n_rows).random(len(index)) < share)
    sample = (_raw(rows, index[which]), rows.y[which], rows.labeled_weight[which])
    total = float(rows.table.X.sum(dtype=np.float64))  # type: ignore[attr-defined]
    return (), (gram, rows.labeled_moment, [sample], total)


def labeled_product(rows: Rows, V: Array) -> Result:
    return (), (rows.labeled_product(V),)


def labeled_loss(rows: Rows, w: Array) -> Result:
    return (), (rows.labeled_loss(w),)


def sweep(
    rows: Rows, w: Array, labeling: ConvexLabeling, direct: bool, before: Array | None = None
) -> Result:
    """Pass over a block; with the change of its active rows' Gram matrix, or all of that."""
    found = rows.sweep(w, labeling, before)
    gram: Any = 0.0
    if direct and before is None:
        gram = rows.active_gram(found.piece)
    elif direct and before is not None:
        nothing = np.zeros((rows.n_weights, rows.n_weights))
        gram = rows.changed_gram(rows._active(found.piece), rows._active(before), nothing)
    sums = (found.loss, found.gradient, found.changed, found.squares, gram)
    return (found.z, found.piece), sums


def active_gram(rows: Rows, piece: Array) -> Result:
    return (), (rows.active_gram(piece),)


def curvature_product(rows: Rows, V: Array, labeling: ConvexLabeling, piece: Array) -> Result:
    return (), (rows.curvature_product(V, piece, labeling),)


def outside_grams(rows: Rows, support: Array) -> Result:
    return (), (rows.outside_grams(support),)


def n_outside(rows: Rows, support: Array) -> Result:
    return (), (rows.n_outside(support),)


def slope(rows: Rows, t: float, labeling: Labeling, first: Array, second: Array) -> Result:
    return (), (rows.slope(first, second, t, labeling),)


def dual_step(
    rows: Rows,
    w: Array,
    step: Array,
    labeling: ConvexLabeling,
    everywhere: bool,
    z: Array,
    piece: Array,
) -> Result:
    V, image, squares = rows.dual_step(_at(w, z, piece), step, labeling, everywhere)
    return (V,), (image, squares)


def dual_overshoot(
    rows: Rows,
    w: Array,
    left: float,
    labeling: ConvexLabeling,
    everywhere: bool,
    z: Array,
    piece: Array,
    V: Array,
) -> Result:
    return (), (rows.dual_overshoot(_at(w, z, piece), V, left, labeling, everywhere),)


def _at(w: Array, z: Array, piece: Array) -> Sweep:
    """Return what a block kept of a sweep; its sums are elsewhere."""
    return Sweep(w, z, piece, np.nan, np.empty(0), 0, np.nan)


def sample(rows: Rows, n_unlabeled: int, seed: int) -> Result:
    """Send some unlabeled rows, and how much each counts."""
    free = rows.unlabeled
    rng = np.random.default_rng([seed, rows.n_rows])
    chosen = rng.choice(free, min(n_unlabeled, len(free)), replace=False, shuffle=False)
    weight = np.ones(len(chosen)) if rows.row_weight is None else rows.row_weight[chosen]
    return (), ([(_raw(rows, chosen), weight)],)


def not_finite(rows: Rows) -> Result:
    """Count NaN and infinities by columns."""
    block = rows.table.dense(rows.table.X)  # type: ignore[attr-defined]
    return (), (np.isnan(block).sum(axis=0), np.isinf(block).sum(axis=0))


def full_gram(rows: Rows) -> Result:
    return (), (rows.full_gram,)


def diagonal(rows: Rows) -> Result:
    return (), (rows.diagonal,)


def n_nonzero(rows: Rows) -> Result:
    return (), (rows.n_nonzero,)


def full_product(rows: Rows, V: Array) -> Result:
    return (), (rows.full_product(V),)


def decisions(rows: Rows, w: Array) -> Result:
    return (rows.decisions(w),), ()


def imputed(rows: Rows, labeling: Labeling, z: Array) -> Result:
    return (labeling.impute(z),), ()


def relabel(rows: Rows, w: Array, labeling: Labeling, before: bool, labels: Array) -> Result:
    """Fill in the labels at w; with the change of the moment that this makes."""
    new, costs = rows._relabel(w, labels, labeling, before=before)
    change = rows._moment_of(np.flatnonzero(differs(new, labels)), new, labels)
    return (new,), (costs, change)


def moment(rows: Rows, labels: Array) -> Result:
    return (), (rows.moment(labels),)


def loss(rows: Rows, labeling: Labeling, z: Array) -> Result:
    return (), (rows.loss(z, labeling),)


def class_counts(rows: Rows, labels: Array) -> Result:
    return (), (rows.class_counts(labels),)


def _raw(rows: Rows, index: Array) -> Any:
    """Return rows of X as they are, not shifted."""
    return rows.table.X[index]  # type: ignore[attr-defined]
