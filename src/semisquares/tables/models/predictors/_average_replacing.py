"""An average with one column of a table after the other set to a given value.

Log-odds of linear members change by what the column contributes to them. The paths of a forest are
followed again where they ask for the column. Kernels and graphs are computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...._utils.typing import Array
from ....core.rows.threads import single_threaded_blas
from ....families._average import Average, Learned
from ....families._odds import (
    ForestOdds,
    HardLabelOdds,
    LogisticOdds,
    MemberOdds,
    RidgeOdds,
    odds,
    vote_odds,
)
from ....families._trees import as_single
from ....representations._maps import LinearMap
from ._replacing import linear_changes, tree_totals, with_each_replaced

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
    parts, first = [], 0
    for part in average.families:
        mine = slice(first, first + len(part.members))
        first = mine.stop
        parts.append((part, mine))
    known = {
        k: _part_odds(part, average.learned, X, columns, values)
        for k, (part, _) in enumerate(parts)
        if _is_cheap(part, average.learned)
    }
    for rows in with_each_replaced(X, columns, values):
        features = average.learned.features(rows)
        total = np.zeros((len(X), average.n_classes))
        for k, (part, mine) in enumerate(parts):
            with single_threaded_blas():
                if k in known:
                    log_odds = next(known[k])
                else:
                    log_odds = part.log_odds(features, np.arange(len(part.members)))
                p = average.calibration.of(mine).probabilities(log_odds)
                total += np.einsum("m,mik->ik", average.weights[mine], p)
        yield total / total.sum(axis=1, keepdims=True)


def _is_cheap(part: MemberOdds, learned: Learned) -> bool:
    """Tell whether `_part_odds` has a way for these members."""
    if isinstance(part, RidgeOdds):
        return isinstance(learned.representations[part.representation], LinearMap)
    return isinstance(part, LogisticOdds | HardLabelOdds | ForestOdds)


def _part_odds(
    part: Any, learned: Learned, X: Array, columns: Sequence[Array], values: Array
) -> Iterator[Array]:
    """Yield the log-odds of all members of a part with one column after the other replaced."""
    if isinstance(part, ForestOdds):
        trees = part.trees
        for votes in tree_totals(trees, as_single(X), columns, as_single(values)):
            yield vote_odds(votes, trees.n_trees, part.shares)[None]
        return
    weights = _weights(part, learned)
    shape = weights.shape[1:]
    before = part.log_odds(learned.features(X), np.arange(len(part.members)))
    for flat in linear_changes(X, columns, values, weights.reshape(len(weights), -1)):
        change = flat.reshape(len(X), *shape)
        yield before - (np.moveaxis(change, 1, 0) if shape[1] > 1 else odds(change))


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
