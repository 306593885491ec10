"""Targets and weights of rows: every sum over rows that does not need X."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._utils.typing import Array
from ..labelings import ConvexLabeling, Labeling
from ..linalg import EPS


@dataclass(frozen=True, eq=False)
class Targets:
    """The labels and weights of some rows, without their X.

    A labeled row has the weight a given in `labeled_weight`; an unlabeled row has the weight
    a = unlabeled_weight · row_weight.
    """

    n_rows: int
    labeled: Array
    """Sorted indices of the labeled rows."""
    y: Array
    """Their targets: 0 and 1, shape (L,), or one-hot, shape (L, K)."""
    labeled_weight: Array
    """Their weights, shape (L,)."""
    row_weight: Array | None = None
    """Sample weights of all rows, read for the unlabeled ones; None for ones."""
    unlabeled_weight: float = 1.0

    # -- weights ------------------------------------------------------------------------------

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - len(self.labeled)

    @cached_property
    def unlabeled(self) -> Array:
        """Indices of the unlabeled rows."""
        mask = np.ones(self.n_rows, dtype=bool)
        mask[self.labeled] = False
        return np.flatnonzero(mask)

    @property
    def weights(self) -> Array:
        """The weight a of every row."""
        weight = np.empty(self.n_rows)
        weight[:] = self.weight_at(slice(None))
        weight[self.labeled] = self.labeled_weight
        return weight

    @cached_property
    def _is_unweighted(self) -> bool:
        """Whether every row has the weight 1."""
        even = self.row_weight is None and self.unlabeled_weight == 1.0
        return even and bool((self.labeled_weight == 1.0).all())

    def weight_at(self, rows: Array | slice) -> Array | float:
        """Return the weights of unlabeled rows; one number if they are all the same."""
        if self.row_weight is None:
            return self.unlabeled_weight
        return self.unlabeled_weight * self.row_weight[rows]

    def unlabeled_at(self, index: Array) -> Targets:
        """Return the targets of some unlabeled rows."""
        weight = None if self.row_weight is None else self.row_weight[index]
        none = np.empty(0)
        return Targets(len(index), none.astype(np.intp), none, none, weight, self.unlabeled_weight)

    def labeled_between(self, start: int, stop: int) -> tuple[Array, slice]:
        """Return the labeled rows of a block, and their positions among all labeled rows."""
        if stop - start == self.n_rows:
            return self.labeled, slice(None)
        first = int(self.labeled.searchsorted(start))
        last = first + int(self.labeled[first:].searchsorted(stop))
        return self.labeled[first:last], slice(first, last)

    @property
    def labeled_total(self) -> float:
        """Σ a over the labeled rows."""
        return float(self.labeled_weight.sum())

    @property
    def total_weight(self) -> float:
        """Σ a over all rows."""
        return float(self.weights.sum())

    @property
    def heaviest(self) -> float:
        """An upper bound of every a."""
        row = 1.0 if self.row_weight is None else float(self.row_weight.max(initial=0.0))
        return max(float(self.labeled_weight.max(initial=0.0)), self.unlabeled_weight * row)

    def active_weight(self, piece: Array) -> float:
        """Return Σ a over the labeled and the active rows (two classes)."""
        active = piece != 0
        if self.row_weight is not None:
            return float(self.weights[active].sum())
        unlabeled = np.count_nonzero(active) - len(self.labeled)
        return self.labeled_total + self.unlabeled_weight * unlabeled

    def times_weights(self, values: Array, start: int = 0) -> Array:
        """Multiply the values of all rows, or of a block from `start` on, by the rows' weights."""
        if self._is_unweighted:
            return values
        stop = start + len(values)
        index, which = self.labeled_between(start, stop)
        known = index - start
        weighted = times(self.weight_at(slice(start, stop)), values)
        weighted[known] = times(self.labeled_weight[which], values[known])
        return weighted

    # -- residuals and losses -----------------------------------------------------------------

    def residual(self, z: Array, labeling: Labeling) -> Array:
        """Return z - t of all rows; t is the known or imputed label."""
        residual = z - labeling.impute(z)
        residual[self.labeled] = z[self.labeled] - self.y
        return residual

    def loss(self, z: Array, labeling: Labeling) -> float:
        """Return Σ a ‖z - t‖² at the decision values z."""
        return self.weigh(0, self.n_rows, z, z - labeling.impute(z))

    def slope(self, first: Array, second: Array, t: float, labeling: Labeling) -> float:
        """Return half the derivative of the loss in t at z = (1-t) first + t second."""
        direction = second - first
        z = first + t * direction
        residual = z - labeling.impute(z)
        self.weigh(0, self.n_rows, z, residual)
        return float(np.vdot(residual, direction))

    def weigh(self, start: int, stop: int, z: Array, residual: Array) -> float:
        """Multiply the residuals of a block by their weights, in place; return the loss.

        The residuals of labeled rows are computed here.
        """
        index, which = self.labeled_between(start, stop)
        known = index - start
        error = z[known] - self.y[which]
        if self._is_unweighted:
            residual[known] = error
            flat = residual.ravel(order="K")  # copies neither C nor Fortran order
            return float(flat @ flat)
        weighted = times(self.labeled_weight[which], error)
        residual[known] = 0.0
        weight = self.weight_at(slice(start, stop))
        if self.row_weight is None:
            flat = residual.ravel(order="K")
            loss = float(weight * (flat @ flat))
            if weight != 1.0:
                residual *= weight
        else:
            raw = residual.copy()
            residual *= _column(weight, residual)
            loss = float(np.vdot(raw, residual))
        residual[known] = weighted
        return loss + float(np.vdot(error, weighted))

    def block_loss(self, start: int, stop: int, z: Array, u: Array, labeling: Labeling) -> Array:
        """Return Σ a (‖z - t‖² + penalty) of a block with the labels u, one value per run."""
        index, which = self.labeled_between(start, stop)
        known = index - start
        squares = (z - u) ** 2
        runs = squares.ndim - 1 - labeling.per_class
        y = self.y[which] if not runs else self.y[which][:, None]
        squares[known] = (z[known] - y) ** 2
        if labeling.per_class:
            squares = squares.sum(axis=-1)
        extra = labeling.penalty(u)
        extra[known] = 0.0
        squares += extra
        return self.times_weights(squares, start).sum(axis=0)

    def dual_overshoot(
        self,
        z: Array,
        piece: Array,
        V: Array,
        left: float,
        labeling: ConvexLabeling,
        everywhere: bool,
    ) -> float:
        """Bound the cost, beyond its square, of correcting the residuals by -V.

        With two classes, the residual of an unlabeled row must keep its sign: a correction beyond 0
        costs twice the excess. `left` bounds the error of each value, times √a.
        """
        free = self.unlabeled
        weight = self.weights[free]
        margin = np.sqrt(weight) * left
        if labeling.per_class and everywhere:  # another value may become the largest
            return 4.0 * float((weight * np.abs(V[free]).max(axis=1) + margin).sum())
        if labeling.per_class:  # V is constant on the support: only other classes may overtake it
            support, moved = piece[free], V[free]
            residual = z[free] - labeling.impute(z[free]) - moved
            shared = np.where(support, residual, np.inf).min(axis=1)
            other = np.where(support, -np.inf, residual).max(axis=1)
            digits = 16.0 * EPS * (1.0 + np.abs(z[free]).max(axis=1))
            over = np.maximum(weight * (other - shared + digits) + 2.0 * margin, 0.0)
            most = np.where(support, moved, -np.inf).max(axis=1)
            uneven = weight * (most - np.where(support, moved, np.inf).min(axis=1))
            return 2.0 * float((over + uneven).sum())
        residual = z[free] - labeling.impute(z[free])
        over = weight * (np.sign(residual) * V[free] - (1.0 - 8.0 * EPS) * np.abs(residual))
        over[residual == 0.0] = (weight * np.abs(V[free]))[residual == 0.0]
        corrected = everywhere | (piece[free] != 0)
        return 2.0 * float(np.maximum(over + margin, 0.0)[corrected].sum())

    # -- labels -------------------------------------------------------------------------------

    def imputed(self, z: Array, labeling: Labeling) -> Array:
        """Return the imputed labels of all rows."""
        return labeling.impute(z)

    def class_counts(self, labels: Array) -> Array:
        """Count the unlabeled rows of each class, given decision values or labels."""
        if labels.ndim == 2:
            free = labels[self.unlabeled]
            return np.bincount(free.argmax(axis=1), minlength=free.shape[1])
        ones = np.count_nonzero(labels > 0.5) - np.count_nonzero(labels[self.labeled] > 0.5)
        return np.array([self.n_unlabeled - ones, ones])

    @property
    def codes(self) -> Array:
        """The classes of the labeled rows, as indices."""
        return self.y.argmax(axis=1) if self.y.ndim == 2 else self.y.astype(np.intp)

    def classes_of(self, labels: Array) -> Array:
        """Return the class index of every row; labeled rows keep their class."""
        per_class = self.y.ndim == 2
        classes = (labels.argmax(axis=1) if per_class else labels > 0.5).astype(np.int32)
        classes[self.labeled] = self.codes
        return classes

    def labels_of(self, classes: Array) -> Array:
        """Return the hard labels of class indices: 0 and 1, or one-hot."""
        return hard_labels(classes, 2 if self.y.ndim == 1 else self.y.shape[1])

    def n_outside(self, support: Array) -> int:
        """Count pairs of a row and a class outside the support of its label."""
        return int(np.count_nonzero(~support))


def hard_labels(classes: Array, n_classes: int) -> Array:
    """Return the labels of class indices: 0 and 1, or one-hot if there are more than two classes.

    >>> hard_labels(np.array([1, 0]), 2), hard_labels(np.array([2]), 3)
    (array([1., 0.]), array([[0., 0., 1.]]))
    """
    return classes.astype(np.float64) if n_classes == 2 else np.eye(n_classes)[classes]


def times(weight: Array | float, values: Array) -> Array:
    """Multiply values, which may have further axes, by a weight per row."""
    return _column(weight, values) * values


def _column(weight: Array | float, like: Array) -> Array | float:
    """Reshape weights of rows so that they multiply an array with further axes."""
    if isinstance(weight, np.ndarray) and like.ndim > 1:
        return weight.reshape(-1, *(1,) * (like.ndim - 1))
    return weight


def differs(first: Array, second: Array, keep: int = 1) -> Array:
    """Return a mask of the rows that differ, reducing all axes after the first `keep`."""
    mask = first != second
    if mask.ndim > keep:
        mask = mask.any(axis=tuple(range(keep, mask.ndim)))
    return mask
