"""Tree ensembles: random forests and gradient boosting, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...._utils.typing import Array
from ....families._trees import Trees, as_single
from ._checks import is_floats
from ._replacing import tree_totals
from .logistic import logistic_probabilities
from .protocol import Predictor

__all__ = ["BoostingScores", "ForestScores", "forest_log_odds"]


@dataclass(frozen=True, eq=False)
class ForestScores(Predictor):
    """A random forest: the probability is the mean of the shares in the leaves of a row.

    Decision values are the probability of the second class less ½ or, with more classes, all
    probabilities. Rows are compared in single precision, as scikit-learn compares them.
    """

    type: ClassVar[str] = "forest"
    n_features: int
    trees: Trees

    @classmethod
    def of(cls, model: Any) -> ForestScores:
        """Take the trees of a fitted RandomForestClassifier."""
        trees = Trees.of_scikit_learn(one.tree_ for one in model.estimators_)
        return cls(int(model.n_features_in_), trees)

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities."""
        return self._voted(self.trees.total(as_single(X)))

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and probabilities with one column after the other replaced."""
        for total in tree_totals(self.trees, as_single(X), columns, as_single(values)):
            yield self._voted(total)

    def _voted(self, total: Array) -> tuple[Array, Array]:
        probabilities = total / self.trees.n_trees
        if probabilities.shape[1] == 2:
            return probabilities[:, 1] - 0.5, probabilities
        return probabilities, probabilities

    def to_calibrate(self, decision: Array) -> Array:
        """Return log-odds, which are finite."""
        return forest_log_odds(decision, self.trees.n_trees)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether these are trees for this many features, with shares of classes in leaves."""
        if not (
            self.n_features == n_features
            and self.trees.fits(n_features, n_classes)
            and self.trees.value.shape[1] == n_classes
        ):
            return False
        shares = self.trees.value[self.trees.left < 0]
        return bool((shares >= 0.0).all() and np.allclose(shares.sum(axis=1), 1.0))

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"type": self.type, "n_features": self.n_features, "trees": self.trees.to_plain()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ForestScores:
        """Restore it from plain data."""
        return cls(plain["n_features"], Trees.from_plain(plain["trees"]))


def forest_log_odds(decision: Array, n_trees: int) -> Array:
    """Return log-odds for the decision values of a forest, as if each class had half a tree more.

    Parameters
    ----------
    decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The probability of the second of two classes less ½, or all probabilities.
    n_trees : int

    Returns
    -------
    ndarray of the same shape
        Log-odds of the second class, or the logarithms of all probabilities.

    Examples
    --------
    >>> forest_log_odds(np.array([-0.5, 0.0, 0.5]), 100).round(2).tolist()
    [-5.3, 0.0, 5.3]
    """
    if decision.ndim == 2:
        return np.log((n_trees * decision + 0.5) / (n_trees + 0.5 * decision.shape[1]))
    second, first = n_trees * (0.5 + decision) + 0.5, n_trees * (0.5 - decision) + 0.5
    return np.log(second) - np.log(first)


@dataclass(frozen=True, eq=False)
class BoostingScores(Predictor):
    """Gradient boosting: decision values are the sum of the trees' values and a constant.

    They are log-odds: probabilities follow as in logistic regression.
    """

    type: ClassVar[str] = "boosting"
    n_features: int
    trees: Trees
    """With more than two classes, trees for the classes take turns."""
    baseline: Array
    """(1,) or (n_classes,)."""

    @classmethod
    def of(cls, model: Any) -> BoostingScores:
        """Take the trees of a fitted HistGradientBoostingClassifier on numbers."""
        nodes = [tree.nodes for step in model._predictors for tree in step]
        if any(tree["is_categorical"].any() for tree in nodes):
            raise ValueError("trees that split categories cannot be stored; encode them as numbers")
        trees = Trees.join(
            {
                "left": np.where(tree["is_leaf"], -1, tree["left"].astype(np.int64)),
                "right": np.where(tree["is_leaf"], -1, tree["right"].astype(np.int64)),
                "feature": tree["feature_idx"],
                "threshold": tree["num_threshold"],
                "value": tree["value"],
                "missing_left": tree["missing_go_to_left"],
            }
            for tree in nodes
        )
        baseline = np.array(model._baseline_prediction, dtype=np.float64).ravel()
        return cls(int(model.n_features_in_), trees, baseline)

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities."""
        scores = self.trees.total(X, len(self.baseline)) + self.baseline
        return logistic_probabilities(scores)

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and probabilities with one column after the other replaced."""
        for total in tree_totals(self.trees, X, columns, values, len(self.baseline)):
            yield logistic_probabilities(total + self.baseline)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether these are trees for this many features and classes."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return (
            self.n_features == n_features
            and is_floats(self.baseline, n_outputs)
            and self.trees.fits(n_features, n_outputs)
            and self.trees.value.shape[1] == 1
        )

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {
            "type": self.type,
            "n_features": self.n_features,
            "trees": self.trees.to_plain(),
            "baseline": self.baseline,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> BoostingScores:
        """Restore it from plain data."""
        return cls(plain["n_features"], Trees.from_plain(plain["trees"]), plain["baseline"])
