"""Missing labels that are filled in: what block descent asks of rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labelings import Labeling
from .grams import Grams
from .results import Relabeling
from .sums import check_finite, differs, times

Array = NDArray[Any]


class Relabelings(Grams):
    """Rows whose missing labels are filled in again and again."""

    def relabel(
        self, w: Array, labels: Array, moment: Array, labeling: Labeling, *, before: bool = True
    ) -> Relabeling:
        """Pass over the rows once: fill in the labels at w, for one set of weights or many.

        `w` is (p,) or (p, K) for one run, with a further axis in the middle for many; `labels` has
        the same axes behind the rows. The moment is updated by the labels that changed. The loss
        with the labels as they were is left at 0 unless asked for (`before`).
        """
        new, (loss_before, loss, changed) = self._relabel(w, labels, labeling, before=before)
        moment = self.moment(new, labels, moment)
        return Relabeling(new, moment, loss_before, loss, changed.astype(np.intp))

    def _relabel(
        self, w: Array, labels: Array, labeling: Labeling, *, before: bool
    ) -> tuple[Array, Array]:
        """Return new labels, and what they cost: before, after, and how many changed."""
        new = np.empty_like(labels)
        runs = w.shape[1 : w.ndim - labeling.per_class]

        def work(start: int, stop: int) -> Array:
            value = self._decide(self.table.slice(start, stop), w)
            imputed = labeling.impute(value)
            new[start:stop] = imputed
            loss = self._loss(start, stop, value, imputed, labeling)
            old = np.zeros_like(loss)
            if before:
                u = labels[start:stop].astype(np.float64, copy=False)
                old = self._loss(start, stop, value, u, labeling)
            moved = differs(new[start:stop], labels[start:stop], keep=1 + len(runs))
            moved[self._known(start, stop)[0] - start] = False
            return np.stack((old, loss, moved.sum(axis=0).astype(np.float64)))

        costs = self._sum(work, self.n_rows)
        check_finite(costs[1])
        new[self.labeled] = labels[self.labeled]
        return new, costs

    def moment(
        self, labels: Array, since: Array | None = None, before: Array | None = None
    ) -> Array:
        """Sum a x t over all rows; where most labels are as they were `since`, the changes only."""
        if since is not None and before is not None:
            index = np.flatnonzero(differs(labels, since, keep=1))
            if not len(index):
                return before
            if 2 * len(index) <= self.n_rows:
                return before + self._moment_of(index, labels, since)

        def work(start: int, stop: int) -> Array:
            u = labels[start:stop].astype(np.float64)
            u[self._known(start, stop)[0] - start] = 0.0
            weight = self._unlabeled_weight(slice(start, stop))
            return self._combine(self.table.slice(start, stop), times(weight, u))

        unlabeled = self._sum(work, self.n_rows).reshape(self.n_weights, *labels.shape[1:])
        return self._repeated_labeled_moment(labels.shape[1:]) + unlabeled

    def _moment_of(self, index: Array, labels: Array, since: Array) -> Array:
        """Sum a x (change of the label) over the rows that changed it."""

        def work(start: int, stop: int) -> Array:
            rows = index[start:stop]
            change = labels[rows].astype(np.float64) - since[rows]
            return self._combine(self.table.take(rows), times(self._unlabeled_weight(rows), change))

        return self._sum(work, len(index)).reshape(self.n_weights, *labels.shape[1:])

    def imputed(self, z: Array, labeling: Labeling) -> Array:
        """Return the labels that decision values get."""
        return labeling.impute(z)

    def read_labels(self, labels: Any) -> Array:
        """Return labels to start from as numbers."""
        return np.asarray(labels, dtype=np.float64)

    def class_counts(self, labels: Array) -> Array:
        """Count the unlabeled rows of each class, given decision values or labels."""
        free = labels[self.unlabeled]
        if free.ndim == 2:
            return np.bincount(free.argmax(axis=1), minlength=free.shape[1])
        return np.bincount((free > 0.5).view(np.int8), minlength=2)

    def classes_of(self, labels: Array) -> Array:
        """Return the class of every row as an index; labeled rows keep theirs."""
        per_class = self.y.ndim == 2
        classes = (labels.argmax(axis=1) if per_class else labels > 0.5).astype(np.int32)
        classes[self.labeled] = self.y.argmax(axis=1) if per_class else self.y
        return classes

    def labels_of(self, classes: Array) -> Array:
        """Return hard labels of classes: 0 and 1, or one-hot."""
        if self.y.ndim == 1:
            return classes.astype(np.float64)
        return np.eye(self.y.shape[1])[classes]

    def _loss(self, start: int, stop: int, z: Array, u: Array, labeling: Labeling) -> Array:
        """Sum a block's loss with the labels u, one value for each run."""
        index, which = self._known(start, stop)
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
        weighted = times(self._unlabeled_weight(slice(start, stop)), squares)
        weighted[known] = times(self.labeled_weight[which], squares[known])
        return weighted.sum(axis=0)

    def _repeated_labeled_moment(self, axes: tuple[int, ...]) -> Array:
        """Return Σ a x y over the labeled rows, once for each run."""
        runs = len(axes) - (self.y.ndim - 1)
        moment = self.labeled_moment.reshape(self.n_weights, *(1,) * runs, *self.y.shape[1:])
        return np.broadcast_to(moment, (self.n_weights, *axes))
