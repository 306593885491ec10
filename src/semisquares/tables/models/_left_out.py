"""Scores of a classifier that predicts its labeled rows itself, each as if it were left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._inputs.untested import rows_to_test
from ..._utils.messages import join
from ..._utils.typing import Array
from ..compare.comparison import METRICS, Estimate
from ..compare.intervals import honest_gain, honest_scores
from ..compare.notices.majority import Majority
from ..compare.scores import score_predictions, score_resamples
from ..compare.splits import check_testable
from ..errors import TableError
from ._measuring import Measurement
from ._operating_point import most_probable

__all__ = ["measure_left_out"]


RESAMPLES = 200
MOST_COUNTS = 500_000
"""How many counts of rows in resamples are in memory at once."""
WIDTH = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""


def measure_left_out(
    probabilities: Array,
    codes: Array,
    groups: Array | None,
    names: Sequence[Any],
    seed: int = 0,
    decide: Callable[[Array], Array] = most_probable,
) -> Measurement:
    """Score left-out probabilities; intervals come from resampling the rows, or the groups.

    Parameters
    ----------
    probabilities : ndarray of shape (n_labeled, n_classes)
        `AveragedClassifier.loo_proba_`.
    codes : ndarray of shape (n_labeled,)
        The class of each row.
    groups : ndarray of shape (n_labeled,), optional
        Rows that were left out together.
    names : sequence
        The names of the classes.
    seed : int, default=0
        Draws the resamples.
    decide : callable, optional
        Returns the answers for probabilities; by default the most probable classes.

    Examples
    --------
    >>> codes = np.arange(100) % 2
    >>> right = np.where(np.arange(100) < 90, 0.9, 0.2)  # probability of the own class
    >>> second = np.where(codes == 1, right, 1.0 - right)
    >>> found = measure_left_out(np.c_[1.0 - second, second], codes, None, ["a", "b"])
    >>> accuracy = found.metrics["accuracy"]
    >>> accuracy.mean, round(accuracy.low, 1), round(accuracy.high, 1)
    (0.9, 0.8, 1.0)
    """
    try:
        check_testable(codes, groups, names)
    except TableError as error:
        return Measurement({}, failure=join(" ", ("No scores could be measured.", error.message)))
    tested = rows_to_test(codes, groups)
    p, known = probabilities[tested], codes[tested]
    most = int(np.bincount(known).argmax())
    answers, blocks = decide(p), None if groups is None else groups[tested]
    values = _measure(p, answers, known, most)
    errors = _standard_errors(p, answers, known, most, blocks, seed)
    estimates = [
        Estimate(value, value - WIDTH * error, value + WIDTH * error)
        for value, error in zip(values, errors, strict=True)
    ]
    scores = dict(zip(METRICS, estimates[:-1], strict=True))
    loss = scores["squared_loss"]
    scores["squared_loss"] = Estimate(loss.mean, max(loss.low, 0.0), loss.high)
    return Measurement(
        honest_scores(scores, len(known)),
        majority=Majority(
            most, float(np.mean(known != most)), honest_gain(estimates[-1], len(known))
        ),
    )


def _measure(p: Array, predicted: Array, codes: Array, most: int) -> list[float]:
    """Return the metrics, and the gain in accuracy over always answering the class `most`."""
    ranking = p[:, 1:] if p.shape[1] == 2 else p
    found = score_predictions(predicted, p, ranking, codes)
    return [*found, found[0] - float(np.mean(codes == most))]


def _standard_errors(
    p: Array, predicted: Array, codes: Array, most: int, groups: Array | None, seed: int
) -> list[float]:
    """Return the standard error of each of these numbers, by the bootstrap."""
    rng = np.random.default_rng(seed)
    _, block = np.unique(np.arange(len(codes)) if groups is None else groups, return_inverse=True)
    n_blocks = int(block.max()) + 1
    ranking = p[:, 1:] if p.shape[1] == 2 else p
    drawn, at_once = [], max(1, MOST_COUNTS // len(codes))
    for first in range(0, RESAMPLES, at_once):
        picked = [rng.integers(n_blocks, size=n_blocks) for _ in range(RESAMPLES)[first:][:at_once]]
        counts = np.array([np.bincount(one, minlength=n_blocks)[block] for one in picked])
        found = score_resamples(predicted, p, ranking, codes, counts)
        answered = counts @ (codes == most) / counts.sum(axis=1)
        drawn.append(np.c_[found, found[:, 0] - answered])
    return [float(column[np.isfinite(column)].std()) for column in np.concatenate(drawn).T]
