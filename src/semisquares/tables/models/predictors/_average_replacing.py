"""An average with one column of a table after the other set to a given value.

Log-odds of linear members change by what the column contributes to them. The paths of a forest are
followed again where they ask for the column. Kernels and graphs need the distances from the rows
that they hold: replacing a column moves a row x to x + s, and

    ‖x + s - g‖² = ‖x - g‖² + 2 x's + ‖s‖² - 2 g's

where the products g's cost as much as the column is wide, not as the table is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...._utils.typing import Array
from ....core.rows.threads import single_threaded_blas
from ....families._average import Average, Learned
from ....families._odds import ForestOdds, HardLabelOdds, LogisticOdds, RidgeOdds, odds, vote_odds
from ....families._trees import as_single
from ....representations._distances import COPY, squared_distances
from ....representations._maps import GraphMap, KernelMap, LinearMap, laplace_similarity
from ._replacing import linear_changes, tree_totals

__all__ = ["average_each"]


def average_each(
    average: Average, X: Array, columns: Sequence[Array], values: Array
) -> Iterator[Array]:
    """Yield ``average.predict_proba`` with the features of one column after the other replaced.

    Parameters
    ----------
    average : Average
        All its members have a positive weight.
    X, columns, values
        As in `Predictor.replace_each`.
    """
    rows = _Rows(average.learned, X, columns, values)
    parts, first = [], 0
    for part in average.families:
        mine = slice(first, first + len(part.members))
        first = mine.stop
        weights, calibration = average.weights[mine], average.calibration.of(mine)
        parts.append((weights, calibration, rows.part_odds(part)))
    for _ in columns:
        total = np.zeros((len(X), average.n_classes))
        with single_threaded_blas():
            for weights, calibration, log_odds in parts:
                p = calibration.probabilities(next(log_odds))
                total += np.einsum("m,mik->ik", weights, p)
        yield total / total.sum(axis=1, keepdims=True)


class _Rows:
    """Encoded rows of which one column after the other is replaced."""

    def __init__(self, learned: Learned, X: Array, columns: Sequence[Array], values: Array) -> None:
        self.learned, self.X, self.columns, self.values = learned, X, columns, values

    def part_odds(self, part: Any) -> Iterator[Array]:
        """Yield the log-odds of all members of a part with one column after the other replaced."""
        if isinstance(part, ForestOdds):
            return self._forest_odds(part)
        if isinstance(part, RidgeOdds):
            found = self.learned.representations[part.representation]
            if not isinstance(found, LinearMap):
                return self._ridge_odds(part, found)
        return self._linear_odds(part)

    def _forest_odds(self, part: ForestOdds) -> Iterator[Array]:
        X, values, trees = as_single(self.X), as_single(self.values), part.trees
        for votes in tree_totals(trees, X, self.columns, values):
            yield vote_odds(votes, trees.n_trees, part.shares)[None]

    def _linear_odds(self, part: Any) -> Iterator[Array]:
        """Subtract what the column contributes."""
        weights = _weights(part, self.learned)
        shape = weights.shape[1:]
        before = part.log_odds(self.learned.features(self.X), np.arange(len(part.members)))
        flat = weights.reshape(len(weights), -1)
        for change in linear_changes(self.X, self.columns, self.values, flat):
            change = change.reshape(len(self.X), *shape)
            yield before - (np.moveaxis(change, 1, 0) if shape[1] > 1 else odds(change))

    def _ridge_odds(self, part: RidgeOdds, found: Any) -> Iterator[Array]:
        """Compute the features from distances, and the log-odds from the features."""
        coef = part.coef.reshape(len(part.coef), -1)
        origin = part.mean @ coef
        kernel = isinstance(found, KernelMap)
        coef = found.root @ coef if kernel else coef * found.gains[:, None]
        features = self._similarities(found) if kernel else self._graph_means(found)
        for one in features:
            slopes = one @ coef - origin
            yield odds(slopes.reshape(len(slopes), *part.coef.shape[1:]))

    def _similarities(self, kernel: KernelMap) -> Iterator[Array]:
        for distances, _ in self._distances(kernel.power, kernel.landmarks):
            yield laplace_similarity(distances, kernel.width)

    def _graph_means(self, found: GraphMap) -> Iterator[Array]:
        graph = found.graph
        held = np.einsum("ij,ij->i", graph.rows, graph.rows)
        for distances, squares in self._distances(found.power, graph.rows):
            distances[distances <= COPY * (squares[:, None] + held)] = np.inf
            yield graph.means_at(distances)

    def _distances(self, power: int, held: Array) -> Iterator[tuple[Array, Array]]:
        """Yield squared distances of the rows from those that a map holds; and squared lengths."""
        scaling = self.learned.scaling
        rows = scaling.apply(self.X, power)
        before, squares = squared_distances(rows, held), np.einsum("ij,ij->i", rows, rows)
        if power == 0:
            products = (held / scaling.scale).T
        else:
            components = scaling.components(power)
            products = components @ held.T
        for places in self.columns:
            moved = self.values[places] - self.X[:, places]
            if power == 0:
                step, at = moved / scaling.scale[places], rows[:, places]
            else:
                step, at = moved @ components[places], rows
            longer = np.einsum("ij,ij->i", step, 2.0 * at + step)
            distances = before + longer[:, None]
            distances -= moved @ (2.0 * products[places])
            yield np.maximum(distances, 0.0, out=distances), squares + longer


def _weights(part: Any, learned: Learned) -> Array:
    """Return the weights of the encoded columns: columns × members × targets."""
    scaling = learned.scaling
    if isinstance(part, HardLabelOdds):
        return part.coef
    if isinstance(part, LogisticOdds):
        return part.coef / scaling.scale[:, None, None]
    power = learned.representations[part.representation].power  # type: ignore[attr-defined]
    if power == 0:
        return part.coef / scaling.scale[:, None, None]
    return np.tensordot(scaling.components(power), part.coef, axes=1)
