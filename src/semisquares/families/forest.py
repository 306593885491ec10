"""A random forest on the columns as they are, scored by the trees that left a row out."""

from __future__ import annotations

from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from .._utils.typing import Array
from ._odds import ForestOdds, vote_odds
from ._trees import Trees, as_single
from .protocol import Features, LabeledRows, Member

__all__ = ["Forest"]


@dataclass(frozen=True)
class Forest:
    """The family with one member: a forest of trees on bootstrap samples of the labeled rows.

    Bootstrap samples draw blocks (rows with all their copies, or groups): a row is scored by trees
    that saw nothing of its block. Rows are distinct and ordered by content, and the draws are
    fixed, so the order of the rows and their copies do not matter.
    """

    n_trees: int = 200
    name: str = "forest"

    def fit(self, rows: LabeledRows) -> FittedForest:
        """Grow the trees."""
        X = _single(rows.features.X, fitting=True)
        _, block = np.unique(rows.blocks, return_inverse=True)
        n_blocks = int(block.max()) + 1
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(n_blocks, np.full(n_blocks, 1.0 / n_blocks), size=self.n_trees)
        seen = drawn[:, block] > 0
        weights = drawn[:, block] * rows.weight.astype(np.float64)
        trees = Parallel(n_jobs=rows.n_jobs, prefer="threads")(
            delayed(_grow)(X, rows.codes, weights[k], k) for k in range(self.n_trees)
        )
        shares = rows.shares
        votes = np.zeros((rows.n_rows, rows.n_classes))
        X = _single(rows.features.X, fitting=False)
        for k, tree in enumerate(trees):
            out = ~seen[k]
            votes[out] += tree.predict(X[out]) if out.any() else 0.0
        left_out = vote_odds(votes, (~seen).sum(axis=0), shares)
        return FittedForest(
            [Member("columns", f"{self.n_trees} trees")], left_out[None], trees, shares
        )


@dataclass(frozen=True, eq=False)
class FittedForest:
    """Trees that were grown on bootstrap samples of the labeled rows."""

    members: list[Member]
    left_out: Array
    trees: list[Any]
    """Each the `tree_` of a DecisionTreeClassifier."""
    shares: Array

    def log_odds(self, features: Features, members: Array) -> Array:
        """Return the log-odds of other rows."""
        X = _single(features.X, fitting=False)
        votes = np.zeros((X.shape[0], len(self.shares)))
        for tree in self.trees:
            votes += tree.predict(X)
        return vote_odds(votes, len(self.trees), self.shares)[None]

    def keep(self, members: Array) -> tuple[ForestOdds, ...]:
        """Return the forest as arrays."""
        return (ForestOdds(self.members, Trees.of_scikit_learn(self.trees), self.shares),)


def _grow(X: Any, codes: Array, weight: Array, seed: int) -> Any:
    """Grow the tree of ``DecisionTreeClassifier(max_features="sqrt", random_state=seed)``.

    Checks in its `fit` take five times as long as growing a tree on thirty rows.
    """
    try:
        return _grow_unchecked(X, codes, weight, seed)
    except (ImportError, KeyError, TypeError):  # another version of scikit-learn has other parts
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
        return tree.fit(X, codes, sample_weight=weight, check_input=False).tree_


def _grow_unchecked(X: Any, codes: Array, weight: Array, seed: int) -> Any:
    """Grow a tree with the parts that scikit-learn grows trees with; codes are 0, 1, …"""
    from sklearn.tree._classes import CRITERIA_CLF, DENSE_SPLITTERS, SPARSE_SPLITTERS
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    n_columns, n_classes = X.shape[1], np.array([codes.max() + 1], dtype=np.intp)
    splitters = SPARSE_SPLITTERS if sparse.issparse(X) else DENSE_SPLITTERS
    random = _seeded(seed)
    criterion = CRITERIA_CLF["gini"](1, n_classes)
    splitter = splitters["best"](criterion, max(1, int(n_columns**0.5)), 1, 0.0, random, None)
    builder = DepthFirstTreeBuilder(splitter, 2, 1, 0.0, np.iinfo(np.int32).max, 0.0)
    tree = Tree(n_columns, n_classes, 1)
    builder.build(tree, X, codes[:, None].astype(np.float64), weight, None)
    return tree


_here = local()


def _seeded(seed: int) -> np.random.RandomState:
    """Return ``RandomState(seed)``, the same object again in each thread.

    A new one is first seeded by the system, which takes a third of the time of a small tree.
    """
    if not hasattr(_here, "random"):
        _here.random = np.random.RandomState()
    _here.random.seed(seed)
    found: np.random.RandomState = _here.random
    return found


def _single(X: Any, *, fitting: bool) -> Any:
    """Return rows as float32: if sparse, in CSC format for fitting and CSR for predicting."""
    if sparse.issparse(X):
        X = X.tocsc() if fitting else X.tocsr()
        X = X.astype(np.float32)
        X.sort_indices()
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X
    return as_single(X)
