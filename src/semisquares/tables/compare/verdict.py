"""Do the unlabeled rows help? The answer, and the sentence that says it."""

from __future__ import annotations

import math

from ..._utils.words import fixed, percent, points_between
from .comparison import Estimate, Verdict
from .intervals import LEVEL, honest_gain, unseen

__all__ = ["MARGIN", "decide", "labels_needed", "most_to_gain"]

MARGIN = 0.02
"""A gain worth having, as a fraction of the rows: two points."""
FEWEST_ROWS = 6
"""So many rows more have to be right: a coin falls five times on one side in one of 16 trials."""


def decide(
    error: float, ridge_error: float, gain: Estimate, *, n_labels: int, n_unlabeled: int
) -> Verdict:
    """Answer whether the unlabeled rows help, by the two classifiers that were named beforehand.

    * "yes": the interval of the gain lies above 0.
    * "no": the most that could still be gained is below `MARGIN`, or the interval lies below 0.
    * "unclear": neither. `labels_needed` tells how many labels would settle it.

    Two things keep few labels from proving anything. The interval is `honest_gain`, and the most
    that could be gained is its upper end, but never less than 1 - 0.05^(1/L), the share of rows on
    which the two may differ though none of L labeled rows shows it (`unseen`). And an interval
    beside 0 counts if the difference is of six rows or more, the fewest for which a sign test finds
    it: 2 · ½⁶ < 5 % < 2 · ½⁵.

    Parameters
    ----------
    error, ridge_error : float
        Shares of wrong predictions, of the soft labels chosen by the labels and of the tuned ridge.
    gain : Estimate
        Of `ridge_error` less `error`, as the folds have it.
    n_labels, n_unlabeled : int
        Rows of the table with and without a label.

    Examples
    --------
    >>> decide(0.081, 0.094, Estimate(0.013, 0.004, 0.022), n_labels=900, n_unlabeled=99).sentence
    'Unlabeled rows help: error 8.1 % against 9.4 % for tuned ridge, 95 % interval of the difference
    0.4–2.2 points.'
    >>> decide(0.25, 0.3, Estimate(0.05, -0.2, 0.3), n_labels=14, n_unlabeled=999).sentence
    'Too few labels to tell: 14; label about 340 more.'
    """
    counts = abs(gain.mean) * n_labels >= FEWEST_ROWS - 1e-9
    by_folds, gain = gain, honest_gain(gain, n_labels)
    more = None
    if gain.low > 0.0 and counts:
        answer, sentence = "yes", _help(error, ridge_error, gain)
    elif gain.high < 0.0 and counts:
        answer, sentence = "no", _harm(error, ridge_error, gain)
    elif most_to_gain(gain, n_labels) < MARGIN:
        answer, sentence = "no", _no_help(error, ridge_error, gain, n_labels)
    else:
        more = labels_needed(by_folds, n_labels)
        answer, sentence = "unclear", _unclear(n_labels, more, n_unlabeled)
    return Verdict(answer, sentence, error, ridge_error, gain, n_labels, more)


def most_to_gain(gain: Estimate, n_labels: int) -> float:
    """Return the largest gain that the labels leave likely; see `decide`.

    Examples
    --------
    >>> round(most_to_gain(Estimate(0.0, 0.0, 0.0), 30), 3)
    0.095
    """
    return max(honest_gain(gain, n_labels).high, unseen(n_labels))


def labels_needed(gain: Estimate, n_labels: int) -> int:
    """Estimate how many more labels would settle an unclear answer, if the gain stays as it is.

    The half width h of the interval falls as 1/√L. "Yes" needs h < gain, "no" needs
    h < `MARGIN` - gain; the easier of the two is taken:

        L' = L (h / max(gain, MARGIN - gain))²

    and never fewer than that answer needs by itself: six rows of difference for "yes", for "no" so
    many that 1 - 0.05^(1/L) and the gain stay below two points, 149 where that is 0. Rounded up to
    two digits (to tens below 100), as the gain itself is known to no more.

    Examples
    --------
    >>> labels_needed(Estimate(0.04, -0.05, 0.13), 60)    # from a half width of 9 points to 4
    250
    >>> labels_needed(Estimate(0.0, 0.0, 0.0), 20)        # to 149 labels
    130
    """
    mean = gain.mean
    half = (gain.high - gain.low) / 2
    to_yes = mean > MARGIN - mean
    target = mean if to_yes else MARGIN - mean
    needed = 1 + n_labels * (half / target) ** 2 if math.isfinite(half) else 0.0
    floor = FEWEST_ROWS / mean if to_yes else _fewest_labels_for_no(mean)
    return _round_up(max(needed, floor) - n_labels)


def _fewest_labels_for_no(gain: float) -> int:
    """Return the fewest labels L with `unseen(L)` below what a gain leaves of `MARGIN`."""
    return math.floor(math.log(1.0 - LEVEL) / math.log1p(max(gain, 0.0) - MARGIN)) + 1


def _help(error: float, ridge_error: float, gain: Estimate) -> str:
    return (
        f"Unlabeled rows help: error {percent(error)} against {percent(ridge_error)} for tuned "
        f"ridge, 95 % interval of the difference {points_between(gain.low, gain.high)}."
    )


def _harm(error: float, ridge_error: float, gain: Estimate) -> str:
    return (
        f"Unlabeled rows do harm here; use the tuned ridge: error {percent(ridge_error)} against "
        f"{percent(error)} with them, 95 % interval of the difference "
        f"{points_between(-gain.high, -gain.low)}."
    )


def _no_help(error: float, ridge_error: float, gain: Estimate, n_labels: int) -> str:
    most = fixed(100 * most_to_gain(gain, n_labels))
    old, new = percent(ridge_error), percent(error)
    errors = f"{old} against {new} with" if old != new else f"{old} with and without"
    return (
        f"Unlabeled rows do not help here; use the tuned ridge: error {errors} them, and a gain of "
        f"more than {most} points is unlikely."
    )


def _unclear(n_labels: int, more: int, n_unlabeled: int) -> str:
    start = f"Too few labels to tell: {n_labels:,};"
    if more <= n_unlabeled:
        return f"{start} label about {more:,} more."
    rows = "row has" if n_unlabeled == 1 else "rows have"
    return f"{start} about {more:,} more would be needed, but only {n_unlabeled:,} {rows} none."


def _round_up(n: float) -> int:
    """Round up to two digits, to tens below 100, and to 10 at the least."""
    step = 10 ** max(1, math.floor(math.log10(max(n, 1.0))) - 1)
    return max(10, step * math.ceil(n / step - 1e-9))
