"""Decision trees as arrays, evaluated by NumPy alone: stored models predict with them.

The nodes of all trees are numbered one after the other. A row starts at the root of a tree and
goes to the left child if ``x[feature] <= threshold``, or if the cell is missing and the node says
so; the value of the leaf that it reaches is the answer of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.typing import Array

__all__ = ["Trees", "as_single"]


AT_ONCE = 1 << 21
"""Rows are evaluated in blocks of about this many numbers."""
_TYPES = {
    "root": np.int32, "left": np.int32, "right": np.int32, "feature": np.int32,
    "threshold": np.float64, "value": np.float64, "missing_left": np.bool_,
}  # fmt: skip
"""The arrays of trees, with their types."""


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of all trees, tree by tree; the children of a node come after it."""

    root: Array
    """The first node of each tree."""
    left: Array
    """Left child of each node; -1 if it is a leaf."""
    right: Array
    feature: Array
    """The column that a node looks at; not used for leaves."""
    threshold: Array
    value: Array
    """Nodes × values; only those of leaves are used."""
    missing_left: Array
    """Whether missing cells go to the left child."""

    @classmethod
    def join(cls, trees: Iterable[Mapping[str, Any]]) -> Trees:
        """Concatenate trees, each a mapping with the fields of this class except `root`.

        Examples
        --------
        >>> stump = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
        ...          "threshold": [0.5, 0, 0], "value": [0, 1, 2], "missing_left": [True] * 3}
        >>> Trees.join([stump, stump]).total(np.array([[0.0], [1.0], [np.nan]])).tolist()
        [[2.0], [4.0], [2.0]]
        """
        parts = [_as_arrays(tree) for tree in trees]
        sizes = [len(part["left"]) for part in parts]
        root = np.cumsum([0, *sizes[:-1]])
        for part, start in zip(parts, root, strict=True):
            for side in ("left", "right"):
                part[side] = np.where(part[side] >= 0, part[side] + start, -1).astype(np.int32)
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return cls(root.astype(np.int32), **joined)

    @classmethod
    def of_scikit_learn(cls, trees: Iterable[Any]) -> Trees:
        """Take trees that are the `tree_` of fitted DecisionTreeClassifiers."""
        return cls.join(
            {
                "left": tree.children_left,
                "right": tree.children_right,
                "feature": tree.feature,
                "threshold": tree.threshold,
                "value": tree.value[:, 0, :],
                "missing_left": tree.missing_go_to_left,
            }
            for tree in trees
        )

    @property
    def n_trees(self) -> int:
        return len(self.root)

    def leaves(self, X: Array) -> Array:
        """Return the leaf of each row in each tree: rows × trees."""
        n_trees = len(self.root)
        place = np.tile(self.root, len(X))
        open_ = np.flatnonzero(self.left[place] >= 0)  # not at a leaf yet
        while len(open_):
            node = place[open_]
            x = X[open_ // n_trees, self.feature[node]]
            goes_left = np.where(np.isnan(x), self.missing_left[node], x <= self.threshold[node])
            node = np.where(goes_left, self.left[node], self.right[node])
            place[open_] = node
            open_ = open_[self.left[node] >= 0]
        return place.reshape(len(X), n_trees)

    def total(self, X: Array, n_outputs: int | None = None) -> Array:
        """Return the sum of the trees' values: rows × outputs.

        If a tree has one value, it belongs to one output: the first tree to the first output, the
        second to the second, and so on, in turn.
        """
        n_outputs = self.value.shape[1] if n_outputs is None else n_outputs
        found = np.empty((len(X), n_outputs))
        step = max(1, AT_ONCE // (len(self.root) * self.value.shape[1]))
        for start in range(0, len(X), step):
            values = self.value[self.leaves(X[start : start + step])]
            parts = values.reshape(len(values), -1, n_outputs)
            found[start : start + step] = parts.sum(axis=1)
        return found

    def fits(self, n_features: int, n_outputs: int) -> bool:
        """Tell whether the arrays are trees on these features: every row reaches a leaf."""
        if not self._has_shapes(n_outputs):
            return False
        n_nodes = len(self.left)
        bounds = np.append(self.root, n_nodes).astype(np.int64)
        sizes = bounds[1:] - bounds[:-1]
        if bounds[0] != 0 or not (sizes > 0).all():
            return False
        node = np.arange(n_nodes)
        end = np.repeat(bounds[1:], sizes)  # of the tree of each node
        leaf = (self.left == -1) & (self.right == -1)
        inner = (self.feature >= 0) & (self.feature < n_features)
        for child in (self.left, self.right):
            inner &= (child > node) & (child < end)  # so there are no cycles
        numbers = np.isfinite(self.threshold).all() and np.isfinite(self.value).all()
        if not (numbers and (leaf | inner).all()):
            return False
        children = np.sort(np.concatenate((self.left[~leaf], self.right[~leaf], self.root)))
        return bool(np.array_equal(children, node))  # every node but a root has one parent

    def _has_shapes(self, n_outputs: int) -> bool:
        """Tell whether the arrays have the types and shapes of trees."""
        arrays = vars(self)
        n_nodes = len(self.left) if np.ndim(self.left) == 1 else 0
        return (
            all(isinstance(arrays[name], np.ndarray) for name in _TYPES)
            and all(arrays[name].dtype == type_ for name, type_ in _TYPES.items())
            and all(arrays[name].shape == (n_nodes,) for name in set(_TYPES) - {"root", "value"})
            and self.root.ndim == 1
            and 0 < len(self.root) <= n_nodes
            and self.value.ndim == 2
            and len(self.value) == n_nodes
            and len(self.root) * self.value.shape[1] % n_outputs == 0
            and self.value.shape[1] in (1, n_outputs)
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in _TYPES}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Trees:
        """Restore the trees; `fits` tells whether they make sense."""
        return cls(**{name: plain[name] for name in _TYPES})


def as_single(X: Array) -> Array:
    """Return rows in single precision, as scikit-learn's forests compare them; none is infinite."""
    limit = np.finfo(np.float32).max
    return np.ascontiguousarray(np.clip(X, -limit, limit), dtype=np.float32)


def _as_arrays(tree: Mapping[str, Any]) -> dict[str, Array]:
    found = {name: np.array(tree[name]) for name in _TYPES if name != "root"}
    value, limit = found["value"], np.finfo(np.float64).max
    found["value"] = np.asarray(value, dtype=np.float64).reshape(len(value), -1)
    # infinite if all cells that are not missing go to the left
    found["threshold"] = np.clip(found["threshold"].astype(np.float64), -limit, limit)
    found["feature"] = found["feature"].astype(np.int32)
    found["missing_left"] = found["missing_left"].astype(np.bool_)
    return found
