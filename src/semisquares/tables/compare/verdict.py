"""Do the unlabeled rows help? The rule that turns an estimated gain into an answer."""

from __future__ import annotations

import math

from .comparison import Estimate, Verdict
from .intervals import LEVEL, honest_gain, unseen

__all__ = ["MARGIN", "decide", "labels_needed", "most_to_gain"]

MARGIN = 0.02
"""The smallest gain worth having: two in a hundred rows."""
FEWEST_ROWS = 6
"""The fewest rows of difference for which a sign test is significant: 2 · ½⁶ < 5 % < 2 · ½⁵."""


def decide(
    error: float, ridge_error: float, gain: Estimate, *, n_labels: int, n_unlabeled: int
) -> Verdict:
    """Answer whether the unlabeled rows help, by two classifiers that were named beforehand.

    * "yes": the interval of the gain lies above 0.
    * "no": the largest gain that is still likely is below `MARGIN`, or the interval lies below 0.
    * "unclear": neither. `labels_needed` estimates how many labels would settle it.

    Two rules prevent few labels from proving anything. The interval is `honest_gain`, and the
    largest likely gain is its upper end, but at least 1 - 0.05^(1/L), the share of rows on which
    the two may differ although none of L labeled rows shows it (`unseen`). And an interval beside 0
    counts only if the difference is at least six rows, the fewest for which a sign test finds it.

    Parameters
    ----------
    error, ridge_error : float
        Shares of wrong predictions by the soft labels chosen by the labels, and by the tuned ridge.
    gain : Estimate
        `ridge_error` minus `error`, with the interval over the folds.
    n_labels, n_unlabeled : int
        Rows of the table with and without a label.

    Examples
    --------
    >>> gain = Estimate(0.013, 0.004, 0.022)
    >>> decide(0.081, 0.094, gain, n_labels=900, n_unlabeled=99).answer
    'yes'
    >>> found = decide(0.25, 0.3, Estimate(0.05, -0.2, 0.3), n_labels=14, n_unlabeled=999)
    >>> found.answer, found.more_labels
    ('unclear', 340)
    """
    enough_rows = abs(gain.mean) * n_labels >= FEWEST_ROWS - 1e-9
    by_folds, gain = gain, honest_gain(gain, n_labels)
    most = most_to_gain(gain, n_labels)
    harm = gain.high < 0.0 and enough_rows
    more = None
    if gain.low > 0.0 and enough_rows:
        answer = "yes"
    elif harm or most < MARGIN:
        answer = "no"
    else:
        answer, more = "unclear", labels_needed(by_folds, n_labels)
    return Verdict(answer, error, ridge_error, gain, n_labels, n_unlabeled, harm, most, more)


def most_to_gain(gain: Estimate, n_labels: int) -> float:
    """Return the largest gain that is likely given the labels; see `decide`.

    Examples
    --------
    >>> round(most_to_gain(Estimate(0.0, 0.0, 0.0), 30), 3)
    0.095
    """
    return max(honest_gain(gain, n_labels).high, unseen(n_labels))


def labels_needed(gain: Estimate, n_labels: int) -> int:
    """Estimate how many more labels would settle an unclear answer if the gain stays the same.

    The half width h of the interval falls as 1/√L. "Yes" needs h < gain, "no" needs
    h < `MARGIN` - gain; the easier of the two is taken:

        L' = L (h / max(gain, MARGIN - gain))²

    and at least as many as that answer needs in any case: six rows of difference for "yes"; for
    "no" enough that 1 - 0.05^(1/L) plus the gain stays below two points, 149 if the gain is 0. The
    number is rounded up to two digits (to tens below 100), as the gain is not known more exactly.

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
    """Return the smallest L for which `unseen(L)` plus the gain is below `MARGIN`."""
    return math.floor(math.log(1.0 - LEVEL) / math.log1p(max(gain, 0.0) - MARGIN)) + 1


def _round_up(n: float) -> int:
    """Round up to two digits, to tens below 100; at least 10."""
    step = 10 ** max(1, math.floor(math.log10(max(n, 1.0))) - 1)
    return max(10, step * math.ceil(n / step - 1e-9))
