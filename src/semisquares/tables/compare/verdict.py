"""The two answers of a comparison: which classifier to use, and what unlabeled rows are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..._utils.typing import Array
from ._rivals import CLASSIFIERS
from .comparison import Estimate, Recommendation, Verdict
from .intervals import LEVEL, honest_gain, interval, unseen
from .splits import Plan

__all__ = ["MARGIN", "SKEWED", "decide", "deciding_metric", "labels_needed", "most_to_gain",
           "recommend"]  # fmt: skip

MARGIN = 0.02
"""The smallest gain worth having: two in a hundred rows."""
FEWEST_ROWS = 6
"""The fewest rows of difference for which a sign test is significant: 2 · ½⁶ < 5 % < 2 · ½⁵."""
SKEWED = 0.2
"""If the rarest class has a smaller share of the labels, the error says little about it."""


def deciding_metric(counts: Sequence[int]) -> str:
    """Return what decides: the accuracy, or the AUC if a class is rare.

    A classifier that never answers a rare class is right most of the time. The AUC tells how well a
    classifier separates the classes, wherever its threshold is; with more than two classes it is
    the mean over the classes.

    Examples
    --------
    >>> deciding_metric([30, 70]), deciding_metric([10, 90])
    ('accuracy', 'auc')
    """
    return "auc" if min(counts) < SKEWED * sum(counts) else "accuracy"


# -- which classifier ---------------------------------------------------------------------------


def recommend(
    scores: Mapping[str, Mapping[str, Array]], planned: Plan, *, metric: str, n_rarest: int
) -> Recommendation:
    """Recommend a classifier: the averaged one, unless another is better by more than chance.

    Of several rivals one does well by chance. So the intervals of their leads over the averaged
    classifier are wider than 95 %: all of them together fail in 5 % of tables (Bonferroni). They
    count only with six rows of difference, as in `decide`.

    Parameters
    ----------
    scores : mapping
        By rival and metric: a value for each split.
    planned : Plan
        The splits.
    metric : str
        "accuracy" or "auc".
    n_rarest : int
        Labels of the rarest class.

    Examples
    --------
    >>> planned = Plan(folds=5, repeats=2, tests=(), n_labeled=400)
    >>> low, high = np.array([0.80, 0.81] * 5), np.array([0.90, 0.89] * 5)
    >>> scores = {"averaged": {"accuracy": low}, "logistic": {"accuracy": high}}
    >>> found = recommend(scores, planned, metric="accuracy", n_rarest=100)
    >>> found.method, found.clear, found.other
    ('logistic', True, 'averaged')
    """
    values = {
        name: scores[name][metric]
        for name in CLASSIFIERS
        if name in scores and np.isfinite(scores[name][metric]).all()
    }
    averaged = values.pop("averaged")
    means = {name: float(one.mean()) for name, one in values.items()}
    level = 1.0 - (1.0 - LEVEL) / max(len(values), 1)
    leads = {
        name: _widened(interval(one - averaged, planned.ratio, level=level), metric, planned)
        for name, one in values.items()
    }
    better = [
        name for name, lead in leads.items()
        if lead.low > 0.0 and _enough(lead, metric, planned.n_labeled, n_rarest)
    ]  # fmt: skip
    mine = float(averaged.mean())
    if better:
        best = max(better, key=means.__getitem__)
        return Recommendation(best, metric, True, means[best], "averaged", mine, leads[best])
    other = max(means, key=means.__getitem__)
    lead = _negated(leads[other])
    clear = lead.low > 0.0 and _enough(lead, metric, planned.n_labeled, n_rarest)
    return Recommendation("averaged", metric, clear, mine, other, means[other], lead)


def _widened(gain: Estimate, metric: str, planned: Plan) -> Estimate:
    flat = gain.low == gain.high
    return honest_gain(gain, planned.n_tested) if metric == "accuracy" or flat else gain


def _negated(gain: Estimate) -> Estimate:
    return Estimate(-gain.mean, -gain.high, -gain.low)


def _enough(gain: Estimate, metric: str, n_labels: int, n_rarest: int) -> bool:
    """Tell whether a difference rests on enough rows: those that differ, or those of a class."""
    n_rows = abs(gain.mean) * n_labels if metric == "accuracy" else n_rarest
    return n_rows >= FEWEST_ROWS - 1e-9


# -- what unlabeled rows are worth --------------------------------------------------------------


def decide(
    score: float,
    score_without: float,
    gain: Estimate,
    *,
    metric: str = "accuracy",
    n_labels: int,
    n_rarest: int,
    n_unlabeled: int,
) -> Verdict:
    """Answer whether the unlabeled rows help, by two classifiers that were named beforehand.

    * "yes": the interval of the gain lies above 0.
    * "no": the largest gain that is still likely is below `MARGIN`, or the interval lies below 0.
    * "unclear": neither. `labels_needed` estimates how many labels would settle it.
    * "none": there are no unlabeled rows.

    Two rules prevent few labels from proving anything. The interval is `honest_gain`, and the
    largest likely gain is its upper end, but at least 1 - 0.05^(1/L), the share of rows on which
    the two may differ although none of L labeled rows shows it (`unseen`). And an interval beside 0
    counts only if the difference is at least six rows, the fewest for which a sign test finds it;
    for the AUC, if the rarest class has six rows.

    Parameters
    ----------
    score, score_without : float
        Of the averaged classifier with and without the unlabeled rows.
    gain : Estimate
        `score` minus `score_without`, with the interval over the folds.
    metric : str, default="accuracy"
        Or "auc".
    n_labels, n_rarest, n_unlabeled : int
        Rows of the table with a label, with that of the rarest class, and without one.

    Examples
    --------
    >>> gain = Estimate(0.013, 0.004, 0.022)
    >>> decide(0.919, 0.906, gain, n_labels=900, n_rarest=400, n_unlabeled=99).answer
    'yes'
    >>> gain = Estimate(0.05, -0.2, 0.3)
    >>> found = decide(0.75, 0.7, gain, n_labels=14, n_rarest=5, n_unlabeled=999)
    >>> found.answer, found.more_labels
    ('unclear', 340)
    """
    if not n_unlabeled:
        return Verdict("none", metric, score, score_without, gain, n_labels, n_unlabeled)
    enough_rows = _enough(gain, metric, n_labels, n_rarest)
    by_folds = gain
    if metric == "accuracy" or gain.low == gain.high:
        gain = honest_gain(gain, n_labels)
    most = most_to_gain(gain, n_labels)
    harm = gain.high < 0.0 and enough_rows
    more = None
    if gain.low > 0.0 and enough_rows:
        answer = "yes"
    elif harm or most < MARGIN:
        answer = "no"
    else:
        answer, more = "unclear", labels_needed(by_folds, n_labels)
    return Verdict(
        answer, metric, score, score_without, gain, n_labels, n_unlabeled, harm, most, more
    )


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
