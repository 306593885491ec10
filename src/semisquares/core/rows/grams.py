"""Gram matrices of labeled, active and all rows, and products with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linalg import triangle_of
from .sums import Sums, check_finite, times

Array = NDArray[Any]


class Grams(Sums):
    """Rows as matrices: what their curvature is made of."""

    def share_labeled_sums(self, other: Grams) -> None:
        """Take over what rows with the same labeled rows and weights have summed already."""
        for name in ("labeled_gram", "labeled_moment"):
            if name in vars(other):
                setattr(self, name, vars(other)[name])

    @cached_property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""
        weighted = times(self.labeled_weight, self.y)
        moment = self._sum_labeled(lambda block, part: self._combine(block, weighted[part]))
        check_finite(moment)
        return moment.reshape(self.weights_shape)

    @property
    def labeled_residual(self) -> Array:
        """z - y where w = 0: -y in the labeled rows, 0 elsewhere."""
        residual = np.zeros((self.n_rows, *self.y.shape[1:]))
        residual[self.labeled] = -self.y
        return residual

    def labeled_product(self, V: Array) -> Array:
        """Multiply directions by the Gram matrix of the labeled rows, without forming it."""

        def work(block: Any, part: slice) -> Array:
            return self._combine(block, times(self.labeled_weight[part], self._decide(block, V)))

        return self._sum_labeled(work).reshape(V.shape)

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows."""

        def work(block: Any, part: slice) -> Array:
            error = self._decide(block, w) - self.y[part]
            return np.asarray(np.vdot(times(self.labeled_weight[part], error), error))

        return float(self._sum_labeled(work))

    @property
    def labeled_spread(self) -> float:
        """Σ a ‖x - mean‖² over the labeled rows."""
        weight = self.labeled_weight
        total = float(weight.sum())
        d = self.n_features

        def work(block: Any, part: slice) -> Array:
            return np.append(block.T @ weight[part], self.table.squares(block).T @ weight[part])

        sums = self._sum_labeled(work)
        check_finite(sums)
        centred = sums[d:] - sums[:d] ** 2 / total if self.intercept else sums[d:]
        return float(np.maximum(centred, 0.0).sum())

    def leverages(self, solve: Callable[[Array], Array]) -> Array:
        """Return a x'H⁻¹x of the labeled rows, where `solve` multiplies with H⁻¹."""
        d = self.n_features
        inverse = solve(np.eye(self.n_weights))
        found = np.empty(len(self.labeled))

        def work(block: Any, part: slice) -> int:
            X = self.table.dense(block)
            h = np.einsum("ij,ij->i", X @ inverse[:d, :d], X)
            if self.intercept:
                h += 2.0 * (X @ inverse[:d, d]) + inverse[d, d]
            found[part] = self.labeled_weight[part] * h
            return 0

        self._sum_labeled(work)  # type: ignore[arg-type]
        return found

    @cached_property
    def labeled_gram(self) -> Array:
        """The Gram matrix of the labeled rows."""
        gram = self._gram(self.labeled, self.labeled_weight)
        check_finite(gram.trace())
        return gram

    @cached_property
    def full_gram(self) -> Array:
        """The Gram matrix of all rows."""
        gram = self.labeled_gram + self.unlabeled_weight * self._gram_of(self.unlabeled)
        check_finite(gram.trace())
        return gram

    def active_gram(self, piece: Array, since: tuple[Array, Array] | None = None) -> Array:
        """Sum the Gram matrix of the active unlabeled rows, each counting its sample weight.

        `since` is a piece and its Gram matrix: then only the rows that changed are visited, unless
        they outnumber the active ones.
        """
        active = self._active(piece)
        if since is None:
            return self._gram_of(np.flatnonzero(active))
        before = self._active(since[0])
        if np.count_nonzero(active != before) > np.count_nonzero(active):
            return self._gram_of(np.flatnonzero(active))
        return self.changed_gram(active, before, since[1])

    def changed_gram(self, active: Array, before: Array, gram: Array) -> Array:
        """Add the Gram matrix of rows that became active, take off that of rows that ceased to."""
        added, removed = np.flatnonzero(active & ~before), np.flatnonzero(before & ~active)
        if len(added):
            gram = gram + self._gram_of(added)
        if len(removed):
            gram = gram - self._gram_of(removed)
        return gram

    def _active(self, piece: Array) -> Array:
        """Tell which unlabeled rows have curvature."""
        active = piece != 0
        active[self.labeled] = False
        return active

    def outside_grams(self, support: Array) -> Array:
        """Sum, for each class, the Gram matrix of the rows whose label leaves it out.

        A row counts ``1 + 1/|support|``: in directions that sum to nothing over the classes that is
        all the curvature a row has that leaves one class out, and nearly all where it is more.
        """
        size = support.sum(axis=1)
        grams = []
        for k in range(support.shape[1]):
            index = np.flatnonzero(~support[:, k] & (size > 0))
            weight = 1.0 + 1.0 / size[index]
            if self.row_weight is not None:
                weight *= self.row_weight[index]
            grams.append(self._gram(index, weight))
        return self.labeled_gram + self.unlabeled_weight * np.stack(grams)

    def n_outside(self, support: Array) -> int:
        """Count the classes that labels leave out, over all rows."""
        return int(np.count_nonzero(~support))

    def curvature(self, active_gram: Array) -> Array:
        """Put the labeled rows' Gram matrix and that of the active ones together."""
        if self.unlabeled_weight == 1.0:
            return self.labeled_gram + active_gram
        return self.labeled_gram + self.unlabeled_weight * active_gram

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of `full_gram`, for tables too wide to form it."""
        weight = self.weights

        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            features = self.table.squares(block).T @ weight[start:stop]
            return np.append(features, [weight[start:stop].sum()] * self.intercept)

        diagonal = self._sum(work, self.n_rows)
        check_finite(diagonal)
        return diagonal

    @property
    def n_nonzero(self) -> Array:
        """How many entries of each column are not 0, in rows that count."""
        counts = self.weights > 0.0

        def work(start: int, stop: int) -> Array:
            return ((self.table.slice(start, stop) != 0.0).T @ counts[start:stop]).astype(float)

        return self._sum(work, self.n_rows)

    def full_product(self, V: Array) -> Array:
        """Multiply directions by `full_gram`, without forming it: one pass."""
        return self._product(V, lambda part, v: v)

    def _product(self, V: Array, curve: Callable[[slice, Array], Array]) -> Array:
        def work(start: int, stop: int) -> Array:
            block = self.table.slice(start, stop)
            value = curve(slice(start, stop), self._decide(block, V))
            index, which = self._known(start, stop)
            known = index - start
            weighted = times(self._unlabeled_weight(slice(start, stop)), value)
            weighted[known] = times(self.labeled_weight[which], value[known])
            return self._combine(block, weighted)

        return self._sum(work, self.n_rows).reshape(V.shape)

    def triangle(self, index: Array, rhs: Array | None) -> Array:
        """Return the R factor of the weighted columns (1, x, rhs) over some rows."""
        root = np.sqrt(self.weights[index])
        n_columns = self.n_weights + (0 if rhs is None else rhs.shape[1])
        R = np.zeros((0, n_columns))
        step = max(self.table.block_rows, 2 * n_columns)
        for start in range(0, len(index), step):
            part = slice(start, start + step)
            block = self.table.dense(self.table.take(index[part]))
            columns = [np.ones((len(block), 1))] * self.intercept + [block]
            if rhs is not None:
                columns.append(rhs[index[part]])
            stacked = np.hstack(columns) * root[part, None]
            R = triangle_of(np.vstack((R, stacked)))
        missing = n_columns - len(R)
        return np.vstack((R, np.zeros((missing, n_columns)))) if missing > 0 else R

    def simplex_triangle(self, support: Array, z: Array) -> Array:
        """Return the R factor of what simplex labels ask of a step in the weights of all classes.

        A row whose label has the support S gives ``1 + K - |S|`` equations: its decision values are
        to sum to one over S, and each to be 0 elsewhere; a labeled row (S empty) gives K. The
        columns are the intercepts of all classes (where there are any), the features of the first
        class, of the second, …, and what is still missing at the decision values z.
        """
        n_classes = support.shape[1]
        missing = -z
        missing[self.labeled] += self.y
        root = np.sqrt(self.weights)
        R = np.zeros((0, n_classes * self.n_weights + 1))
        step = max(256, self.table.block_rows // n_classes**2)
        for start in range(0, self.n_rows, step):
            part = slice(start, min(start + step, self.n_rows))
            block = self.table.dense(self.table.slice(part.start, part.stop))
            shared = np.flatnonzero(support[part].any(axis=1))
            mix = support[part][shared]
            mix = mix / np.sqrt(mix.sum(axis=1, keepdims=True))
            right = mix.max(axis=1) + (mix * missing[part][shared]).sum(axis=1)
            equations = [(shared, mix, right)]
            for k in range(n_classes):
                alone = np.flatnonzero(~support[part][:, k])
                only = np.eye(n_classes)[[k]].repeat(len(alone), 0)
                equations.append((alone, only, missing[part][alone, k]))
            for rows, mix, right in equations:
                columns = mix[:, :, None] * block[rows, None, :]
                columns = columns.reshape(len(rows), n_classes * self.n_features)
                stacked = np.hstack((mix[:, : n_classes * self.intercept], columns, right[:, None]))
                R = triangle_of(np.vstack((R, stacked * root[part][rows, None])))
        return R

    def _gram_of(self, index: Array) -> Array:
        return self._gram(index, None if self.row_weight is None else self.row_weight[index])

    def _gram(self, index: Array, weight: Array | None) -> Array:
        """Return the Gram matrix of some rows, bordered by their sums for an intercept."""
        d = self.n_features
        if not len(index):
            return np.zeros((self.n_weights, self.n_weights))

        def work(start: int, stop: int) -> Array:
            part = None if weight is None else weight[start:stop]
            if len(index) == self.n_rows:
                block = self.table.slice(start, stop)
            else:
                block = self.table.take(index[start:stop])
            features = self.table.gram(block, part)
            if not self.intercept:
                return features
            gram = np.empty((self.n_weights, self.n_weights))
            gram[:d, :d] = features
            ones = np.ones(stop - start) if part is None else part
            gram[d, :d] = gram[:d, d] = block.T @ ones
            gram[d, d] = ones.sum()
            return gram

        return self._sum(work, len(index))
