"""Sums over blocks of rows: what every pass over a table is made of.

Weights w have the intercept as their last entry (where there is one) and speak of the shifted
columns; `to_user` and `from_user` translate. All sums are float64. The rows are summed in panels
whose number does not depend on the number of threads, so neither does the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tables import Table
from .threads import run, stopped

Array = NDArray[Any]

THREADED_VALUES = 1 << 22
"""Fewer values than this in X are summed faster by one thread."""
PANELS = 8


class ShiftedColumns:
    """Weights speak of columns that may be shifted, `table.shift`; these two translate."""

    table: Any

    def to_user(self, w: Array) -> Array:
        """Translate weights from the shifted columns to X's own."""
        return self._translate(w, -1.0)

    def from_user(self, w: Array) -> Array:
        """Translate weights from X's own columns to the shifted ones."""
        return self._translate(w, 1.0)

    def _translate(self, w: Array, sign: float) -> Array:
        if self.table.shift is None:
            return w
        out = w.copy()
        out[-1] += sign * (self.table.shift @ w[:-1])
        return out


class Sums(ShiftedColumns):
    """Labeled and unlabeled rows of one table, with their weights.

    Parameters
    ----------
    table : Table
        The rows of X.
    labeled : sorted index array
        Which rows have a label.
    y : array (L,) or (L, K)
        Their targets: 0 and 1, or one-hot.
    labeled_weight : array (L,)
        How much each labeled row counts.
    row_weight : array (n,) or None
        Sample weights of all rows, used for the unlabeled ones; None for ones.
    unlabeled_weight : float
        How much an unlabeled row counts on top of that.
    intercept : bool
        Whether the weights end with an intercept.
    """

    table: Table
    passes: tuple[Any, ...] = ()
    """Passes are counted where rows are in blocks elsewhere."""

    def __init__(
        self,
        table: Table,
        labeled: Array,
        y: Array,
        *,
        labeled_weight: Array,
        row_weight: Array | None = None,
        unlabeled_weight: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.table = table
        self.labeled = labeled
        self.y = y
        self.labeled_weight = labeled_weight
        self.row_weight = row_weight
        self.unlabeled_weight = unlabeled_weight
        self.intercept = intercept
        self.n_rows = table.n_rows
        self.n_features = table.n_columns
        self.n_weights = self.n_features + intercept
        self.most_sampled = self.n_rows

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - len(self.labeled)

    @cached_property
    def unlabeled(self) -> Array:
        """The index of the unlabeled rows."""
        mask = np.ones(self.n_rows, dtype=bool)
        mask[self.labeled] = False
        return np.flatnonzero(mask)

    @property
    def weights(self) -> Array:
        """How much each row counts."""
        weight = np.empty(self.n_rows)
        weight[:] = self._unlabeled_weight(slice(None))
        weight[self.labeled] = self.labeled_weight
        return weight

    def weight_of(self, piece: Array) -> float:
        """Return how much the labeled and the active rows count together (two classes)."""
        active = piece != 0
        if self.row_weight is not None:
            return float(self.weights[active].sum())
        unlabeled = np.count_nonzero(active) - len(self.labeled)
        return self.labeled_total + self.unlabeled_weight * unlabeled

    @property
    def total_weight(self) -> float:
        """How much all rows together count."""
        return float(self.weights.sum())

    @property
    def heaviest(self) -> float:
        """At least what any row counts."""
        row = 1.0 if self.row_weight is None else float(self.row_weight.max(initial=0.0))
        return max(float(self.labeled_weight.max(initial=0.0)), self.unlabeled_weight * row)

    @property
    def longest_sum(self) -> int:
        """How many numbers are added up one after the other at the most, in a sum over rows."""
        step = self.table.block_rows
        if self.n_rows <= step:
            return self.n_rows
        return step + -(-self.n_rows // step) + 2 * PANELS

    @property
    def labeled_total(self) -> float:
        """How much the labeled rows count."""
        return float(self.labeled_weight.sum())

    @property
    def constant_loss(self) -> float:
        """Σ a ‖y - c‖² over the labeled rows, c the best constant (0 without an intercept)."""
        y, weight = self.y, self.labeled_weight
        best = np.average(y, axis=0, weights=weight) if self.intercept else 0.0
        return float(weight @ ((y - best) ** 2).reshape(len(y), -1).sum(axis=1))

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return (self.n_weights, *self.y.shape[1:])

    def decisions(self, w: Array) -> Array:
        """Return the decision values of all rows: one pass."""
        z = np.empty((self.n_rows, *w.shape[1:]), order="F")

        def work(start: int, stop: int) -> int:
            z[start:stop] = self._decide(self.table.slice(start, stop), w)
            return 0

        self._sum(work, self.n_rows)
        return z

    def decisions_of(self, index: Array, w: Array) -> Array:
        """Return the decision values of some rows."""
        return self._decide(self.table.take(index), w)

    def weighted_moment(self, error: Array) -> tuple[Array, Array]:
        """Multiply values of all rows by their weights; return that, and its sum with x."""
        theta = times(self._unlabeled_weight(slice(None)), error)
        theta[self.labeled] = times(self.labeled_weight, error[self.labeled])

        def work(start: int, stop: int) -> Array:
            return self._combine(self.table.slice(start, stop), theta[start:stop])

        return theta, self._sum(work, self.n_rows).reshape(self.n_weights, *error.shape[1:])

    def _decide(self, block: Any, w: Array) -> Array:
        d = self.n_features
        if w.ndim == 1:
            z = block @ w[:d]
        else:
            z = self.table.times(block, w[:d].reshape(d, -1)).reshape(-1, *w.shape[1:])
        if self.intercept:
            z += w[d]
        return z

    def _combine(self, block: Any, r: Array) -> Array:
        """Sum x r over a block, flattened."""
        if r.ndim > 2:
            r = r.reshape(len(r), -1)
        features = block.T @ r if r.ndim == 1 else self.table.transpose_times(block, r).ravel()
        return np.append(features, r.sum(axis=0)) if self.intercept else features

    def _known(self, start: int, stop: int) -> tuple[Array, slice]:
        """Return the labeled rows of a block, and which of the labeled rows they are."""
        if stop - start == self.n_rows:
            return self.labeled, slice(None)
        first, last = np.searchsorted(self.labeled, (start, stop))
        return self.labeled[first:last], slice(int(first), int(last))

    def _unlabeled_weight(self, rows: Array | slice) -> Array | float:
        if self.row_weight is None:
            return self.unlabeled_weight
        return self.unlabeled_weight * self.row_weight[rows]

    def _sum_labeled(self, work: Callable[[Any, slice], Array]) -> Array:
        return self._sum(
            lambda a, b: work(self.table.take(self.labeled[a:b]), slice(a, b)), len(self.labeled)
        )

    def _sum(self, work: Callable[[int, int], Any], n_items: int) -> Any:
        """Sum the work over blocks of rows, in threads where X is large, always in one order."""
        step = self.table.block_rows
        if n_items <= step:
            with np.errstate(over="ignore", invalid="ignore"):  # `check_finite` tells
                return work(0, n_items)
        size = self.table.n_values * (n_items / max(1, self.n_rows))
        panels = PANELS if size >= THREADED_VALUES else 1
        cuts = [n_items * k // panels for k in range(panels + 1)]
        longest = -(-n_items // panels)
        step = -(-longest // -(-longest // step))  # blocks of equal size within a panel

        def panel(k: int) -> Any:
            total: Any = None
            with np.errstate(over="ignore", invalid="ignore"):
                for start in range(cuts[k], cuts[k + 1], step):
                    if stopped():  # a panel may take minutes, a block does not
                        return total
                    part = work(start, min(start + step, cuts[k + 1]))
                    if total is None:
                        total = part
                    else:
                        total += part
            return total

        parts = [part for part in run(panel, range(panels)) if part is not None]
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total


def check_finite(total: Any) -> None:
    # NaN or infinity in X reaches every sum: no pass of its own is needed to find it
    if not np.isfinite(total).all():
        raise FloatingPointError("NaN, infinity or overflow in a sum over rows")


def column(weight: Array | float, like: Array) -> Array | float:
    """Shape weights of rows so that they multiply an array with further axes."""
    if isinstance(weight, np.ndarray) and like.ndim > 1:
        return weight.reshape(-1, *(1,) * (like.ndim - 1))
    return weight


def times(weight: Array | float, values: Array) -> Array:
    return column(weight, values) * values


def differs(first: Array, second: Array, keep: int = 1) -> Array:
    """Tell which rows differ, looking at all axes behind the first `keep`."""
    differs = first != second
    if differs.ndim > keep:
        differs = differs.any(axis=tuple(range(keep, differs.ndim)))
    return differs
