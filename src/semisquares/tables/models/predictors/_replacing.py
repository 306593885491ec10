"""Set one column of a table after the other to a given value: what a predictor would say then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...._utils.typing import Array
from ....families._trees import Trees

__all__ = ["linear_changes", "tree_totals", "with_each_replaced"]


AT_ONCE = 1 << 24
"""Entries of the largest array for a block of rows in `tree_totals`."""


def with_each_replaced(X: Array, columns: Sequence[Array], values: Array) -> Iterator[Array]:
    """Yield the rows with the features of one column after the other set to `values`.

    They are in the same array, which is valid until the next one is taken.

    Examples
    --------
    >>> columns = [np.array([0, 2]), np.array([1])]
    >>> for rows in with_each_replaced(np.ones((1, 3)), columns, np.array([5.0, 6.0, 7.0])):
    ...     print(rows)
    [[5. 1. 7.]]
    [[1. 6. 1.]]
    """
    rows = np.array(X)
    for places in columns:
        rows[:, places] = values[places]
        yield rows
        rows[:, places] = X[:, places]


def linear_changes(
    X: Array, columns: Sequence[Array], values: Array, weights: Array
) -> Iterator[Array]:
    """Yield by how much a column adds more to ``X @ weights`` than `values` would, (n, outputs).

    The changes of all columns add up to ``(X - values) @ weights``.

    Examples
    --------
    >>> X, weights = np.array([[2.0, 3.0]]), np.array([[10.0], [1.0]])
    >>> [one.item() for one in linear_changes(X, [[0], [1]], np.array([1.0, 1.0]), weights)]
    [10.0, 2.0]
    """
    for places in columns:
        yield (X[:, places] - values[places]) @ weights[places]


def tree_totals(
    trees: Trees,
    X: Array,
    columns: Sequence[Array],
    values: Array,
    n_outputs: int | None = None,
) -> Iterator[Array]:
    """Yield ``trees.total`` with the features of one column after the other set to `values`.

    A tree gives a row the same answer if the row's path to a leaf never asks for the column. So
    each tree is followed again only for the columns on a path, and from where they are asked for
    first: the cost depends on the depth of the trees, not on the number of columns.

    Parameters
    ----------
    trees : Trees
    X : ndarray of shape (n_rows, n_features)
        Finite numbers, as in `Trees.total`.
    columns, values
        As in `Predictor.replace_each`.
    n_outputs : int, optional
        As in `Trees.total`.

    Examples
    --------
    >>> stump = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
    ...          "threshold": [0.5, 0, 0], "value": [0, 1, 2], "missing_left": [True] * 3}
    >>> rows, values = np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([1.0, 1.0])
    >>> found = tree_totals(Trees.join([stump]), rows, [[0], [1]], values)
    >>> [one[:, 0].tolist() for one in found]
    [[2.0, 2.0], [1.0, 2.0]]
    """
    n_outputs = trees.value.shape[1] if n_outputs is None else n_outputs
    column_of = np.full(X.shape[1], -1)
    for k, places in enumerate(columns):
        column_of[places] = k
    totals = np.empty((len(columns), len(X), n_outputs))
    step = max(1, AT_ONCE // (trees.n_trees * max(1, len(columns))))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        walk = _Walk(trees, X[rows], values, column_of, len(columns))
        totals[:, rows] = walk.totals(n_outputs)
    yield from totals


class _Walk:
    """The paths of a block of rows through all trees."""

    def __init__(
        self, trees: Trees, X: Array, values: Array, column_of: Array, n_columns: int
    ) -> None:
        self.trees, self.X, self.values = trees, X, values
        self.column_of, self.n_columns = column_of, n_columns

    def totals(self, n_outputs: int) -> Array:
        """Return the totals with each column replaced: columns × rows × outputs."""
        pair, column, node, leaf = self._asked()
        new = self._leaves(pair // self.trees.n_trees, column, node)
        moved = new != leaf[pair]
        pair, column, new = pair[moved], column[moved], new[moved]
        row, tree = pair // self.trees.n_trees, pair % self.trees.n_trees
        changes = self.trees.value[new] - self.trees.value[leaf[pair]]
        n_values = changes.shape[1]  # 1, or one for each output
        cell = ((column * len(self.X) + row) * n_outputs)[:, None]
        cell = cell + (np.arange(n_values) if n_values == n_outputs else tree[:, None] % n_outputs)
        shape = self.n_columns, len(self.X), n_outputs
        found = np.bincount(cell.ravel(), changes.ravel(), minlength=int(np.prod(shape)))
        values = self.trees.value[leaf.reshape(len(self.X), -1)]
        return found.reshape(shape) + values.reshape(len(values), -1, n_outputs).sum(axis=1)

    def _asked(self) -> tuple[Array, Array, Array, Array]:
        """Return where each path asks for a column first, and the leaf of each path.

        A path is that of a row in a tree; they are numbered row by row.
        """
        trees, n_trees = self.trees, self.trees.n_trees
        place = np.tile(trees.root, len(self.X))
        seen = np.zeros((len(place), self.n_columns + 1), dtype=bool)  # the last: of no column
        seen[:, -1] = True
        found = [np.empty((3, 0), dtype=np.intp)]
        open_ = np.flatnonzero(trees.left[place] >= 0)  # not at a leaf yet
        while len(open_):
            node = place[open_]
            feature = trees.feature[node]
            column = self.column_of[feature]
            first = ~seen[open_, column]
            seen[open_, column] = True
            found.append(np.stack((open_[first], column[first], node[first])))
            node = self._next(node, self.X[open_ // n_trees, feature])
            place[open_] = node
            open_ = open_[trees.left[node] >= 0]
        pair, column, node = np.concatenate(found, axis=1)
        return pair, column, node, place

    def _leaves(self, row: Array, column: Array, node: Array) -> Array:
        """Return the leaves that paths reach from some nodes if a column is replaced in each."""
        place = np.array(node)
        open_ = np.arange(len(place))
        while len(open_):
            node = place[open_]
            feature = self.trees.feature[node]
            x = np.where(
                self.column_of[feature] == column[open_],
                self.values[feature],
                self.X[row[open_], feature],
            )
            node = self._next(node, x)
            place[open_] = node
            open_ = open_[self.trees.left[node] >= 0]
        return place

    def _next(self, node: Array, x: Array) -> Array:
        """Return the child that a row goes to."""
        trees = self.trees
        return np.where(x <= trees.threshold[node], trees.left[node], trees.right[node])
