"""Promises about `AveragedClassifier` on the reported splits, and whether they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .comparing import Comparison
from .markdown import names, points
from .methods import METHODS, OURS
from .sets import REGIMES
from .storing import Stored

AVERAGED, ALONE, RIDGE = "averaged", "averaged_supervised", "ridge_fine"
"""The classifier, the same without unlabeled rows, and the tuned ridge for comparison."""
ONE_POINT = 0.01


@dataclass(frozen=True)
class Found:
    """The evidence for a promise; `holds` is None if something is not measured yet."""

    words: str
    holds: bool | None


NOT_YET = Found("not measured yet", None)


def peers(comparison: Comparison) -> list[str]:
    """Return the competitors that are not ours."""
    return [name for name in comparison.competitors if METHODS[name].package != OURS]


def more_accurate(comparison: Comparison) -> Found:
    """Compare the mean accuracy with that of each peer, on the tables that both have."""
    gaps = {one: comparison.mean_difference(AVERAGED, one).value for one in peers(comparison)}
    if not gaps:
        return NOT_YET
    nearest = min(gaps, key=gaps.__getitem__)
    words = f"{points(gaps[nearest], 2)} points against `{METHODS[nearest].label}`, the closest"
    return Found(words, gaps[nearest] >= ONE_POINT)


def lower_log_loss(comparison: Comparison) -> Found:
    """Compare the mean log loss with those of the peers that have one."""
    mine = comparison.mean_score("log_loss", AVERAGED).value
    found = {one: comparison.mean_score("log_loss", one).value for one in peers(comparison)}
    known = {one: value for one, value in found.items() if np.isfinite(value)}
    if not known or not np.isfinite(mine):
        return NOT_YET
    best = min(known, key=known.__getitem__)
    words = f"{mine:.4f}; `{METHODS[best].label}`, the best of the others, has {known[best]:.4f}"
    return Found(words, mine < known[best])


def no_table_worse(comparison: Comparison) -> Found:
    """Find tables on which it is worse than the ridge by a point, even at the interval's end."""
    if RIDGE not in comparison.competitors:
        return NOT_YET
    gains = {one: comparison.difference(AVERAGED, RIDGE, one) for one in comparison.tables}
    worse = [table for table, gain in gains.items() if gain.high < -ONE_POINT]
    lowest = min(gains, key=lambda table: gains[table].value)
    words = f"{names(worse)}; the smallest gain is {points(gains[lowest].value)} on {lowest}"
    return Found(words, not worse)


def first_in_rank(comparison: Comparison) -> Found:
    """Rank all competitors on each of the paper's tables."""
    placed = comparison.mean_ranks
    second = min((one for one in placed if one != AVERAGED), key=placed.__getitem__)
    words = f"{placed[AVERAGED]:.1f}; `{METHODS[second].label}` has {placed[second]:.1f}"
    return Found(words, placed[AVERAGED] < placed[second])


def calibrated(comparison: Comparison) -> Found:
    """Compare the mean calibration error with that of the tuned logistic regression."""
    mine, other = (
        comparison.mean_score("calibration", one).value for one in (AVERAGED, "logistic_cv")
    )
    if not np.isfinite(mine + other):
        return NOT_YET
    return Found(f"{mine:.4f}; `LogisticRegressionCV` has {other:.4f}", mine <= other)


PROMISES: dict[str, Callable[[Comparison], Found]] = {
    "a point more accurate than every other method on average": more_accurate,
    "lowest log loss on average": lower_log_loss,
    "no table clearly more than a point worse than the tuned ridge": no_table_worse,
    "first in mean rank": first_in_rank,
    "calibration error not above that of the tuned logistic regression": calibrated,
}


def are_measured(stored: Stored, *methods: str) -> bool:
    """Return whether methods are measured in all regimes."""
    comparisons = [Comparison(stored, regime) for regime in REGIMES]
    return all(one.is_measured(method) for one in comparisons for method in methods)
