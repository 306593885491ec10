"""The sentences of a comparison, made from its numbers; notices write their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._utils.messages import Message, Parameter
from ..._utils.words import counted, fixed, percent, points_between
from . import _rivals as rivals
from ._rivals import LABELS
from ._tuning import FOLDS

if TYPE_CHECKING:
    from .comparison import LabelTrend, Recommendation, TrainingSize, Verdict

__all__ = ["LABELS", "describe_fit", "label_sentence", "recommendation_sentence",
           "verdict_sentence"]  # fmt: skip

_DIFFERENCE = "95 % interval of the difference"


def recommendation_sentence(found: Recommendation) -> str:
    """Say which classifier to use, and how sure that is.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import Estimate, Recommendation
    >>> lead = Estimate(0.013, 0.004, 0.022)
    >>> print(recommendation_sentence(
    ...     Recommendation("averaged", "accuracy", True, 0.919, "logistic", 0.906, lead)))
    Use the averaged classifier: error 8.1 %; next best: logistic regression, 9.4 %, 95 % interval
    of the difference 0.4–2.2 points.
    """
    metric, between = found.metric, _between(found.metric, found.lead.low, found.lead.high)
    score, other = _score(metric, found.score), _number(metric, found.other_score)
    rare = " (a class is rare: the error would say little)" if metric == "auc" else ""
    if found.method != "averaged":
        return Message(
            "Use {label}, {method}: {score} against {other} of the averaged classifier, {interval}"
            "{rare}.",
            label=LABELS[found.method],
            method=Parameter("method", found.method),
            score=score,
            other=other,
            interval=f"{_DIFFERENCE} {between}",
            rare=rare,
        )
    start = f"Use the averaged classifier: {score}{rare};"
    name, interval = LABELS[found.other], f"{_DIFFERENCE} {between}"
    if found.clear:
        return f"{start} next best: {name}, {other}, {interval}."
    if found.lead.mean < 0.0:
        return f"{start} {name}: {other}, which may be chance ({interval})."
    return f"{start} next best: {name}, {other}, which may be as good ({interval})."


def verdict_sentence(verdict: Verdict) -> str:
    """Say what unlabeled rows are worth.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import Estimate, Verdict
    >>> gain = Estimate(0.013, 0.004, 0.022)
    >>> print(verdict_sentence(
    ...     Verdict("yes", "accuracy", 0.919, 0.906, gain, n_labels=900, n_unlabeled=99)))
    Unlabeled rows help: error 8.1 % with them against 9.4 % without, 95 % interval of the
    difference 0.4–2.2 points.
    """
    if verdict.answer == "none":
        return "Every row has a label, so there are no unlabeled rows to learn from."
    if verdict.more_labels is not None:
        return _too_few_labels(verdict.n_labels, verdict.more_labels, verdict.n_unlabeled)
    metric, gain = verdict.metric, verdict.gain
    score, other = _score(metric, verdict.score), _number(metric, verdict.score_without)
    both = f"{score} with them against {other} without"
    if verdict.answer == "yes":
        return (
            f"Unlabeled rows help: {both}, {_DIFFERENCE} {_between(metric, gain.low, gain.high)}."
        )
    if verdict.harm:
        return (
            f"Unlabeled rows do harm here; leave them out when you fit: {both}, {_DIFFERENCE} "
            f"{_between(metric, -gain.high, -gain.low)}."
        )
    if score.endswith(other):
        both = f"{score} with and without them"
    most = verdict.most_to_gain
    points = f"{fixed(100 * most)} points" if metric == "accuracy" else f"{most:.3f}"
    return f"Unlabeled rows do not help here: {both}, and a gain of more than {points} is unlikely."


def _score(metric: str, value: float) -> str:
    """Write a score with its name."""
    return f"{'AUC' if metric == 'auc' else 'error'} {_number(metric, value)}"


def _number(metric: str, value: float) -> str:
    """Write a score: the accuracy as an error."""
    return f"{value:.3f}" if metric == "auc" else percent(1.0 - value)


def _between(metric: str, low: float, high: float) -> str:
    """Write the interval of a difference."""
    if metric == "accuracy":
        return points_between(low, high)
    return f"{fixed(low, 3)}{'–' if low >= 0.0 else ' to '}{fixed(high, 3)}"


def _too_few_labels(n_labels: int, n_more: int, n_unlabeled: int) -> str:
    start = f"Too few labels to tell what unlabeled rows are worth: {n_labels:,};"
    if n_more <= n_unlabeled:
        return f"{start} label about {n_more:,} more."
    rows = "row has" if n_unlabeled == 1 else "rows have"
    return f"{start} about {n_more:,} more would be needed, but only {n_unlabeled:,} {rows} none."


def label_sentence(trend: LabelTrend) -> str:
    """Say what the last doubling of labels brought, and what the next may bring.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import LabelTrend
    >>> print(label_sentence(LabelTrend("less", 24, 48, 0.125, 0.1, n_labels=60, repeats=2)))
    From 24 to 48 labels the error of the averaged classifier fell from 12.5 % to 10.0 % (2
    repeats); the next doubling usually brings less.
    """
    if trend.outlook == "unknown":
        return (
            f"With {trend.n_after:,} labels to learn from, the effect of more labels cannot be "
            "estimated."
        )
    old, new = percent(trend.error_before), percent(trend.error_after)
    moved = "fell" if trend.error_after < trend.error_before else "rose"
    change = f"stayed at {new}" if old == new else f"{moved} from {old} to {new}"
    # the number of repeats explains why other numbers of the comparison differ
    start = (
        f"From {trend.n_before:,} to {trend.n_after:,} labels the error of the averaged "
        f"classifier {change} ({counted(trend.repeats, 'repeat')})"
    )
    few = f"{trend.n_labels:,} labels are too few to tell what more of them would bring."
    if old != new:
        few = f"That may be chance: {few}"
    ends = {
        "perfect": "; with no wrong row left, these labels cannot show what more would bring.",
        "less": "; the next doubling usually brings less.",
        "little": "; more labels of the same kind would bring little.",
        "unclear": f". {few}",
    }
    return start + ends[trend.outlook]


def describe_fit(name: str, training: TrainingSize) -> str:
    """Say what a rival is, how it was tuned and on which rows.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import TrainingSize
    >>> size = TrainingSize(20, fewest_labels=4, n_unlabeled=80_000, most_searched=2_000)
    >>> print(describe_fit("hard", size))
    Hard labels (self-learning) for 50,000 of the 80,000 unlabeled rows, drawn at random, counted as
    all, with the tuned ridge's alpha.
    """
    n_unlabeled, single = training.n_unlabeled, training.fewest_labels == 1
    everything = _unlabeled_rows(n_unlabeled)
    labeled = "the labeled rows"
    if training.n_labeled > rivals.MOST_LABELS:
        labeled = f"{rivals.MOST_LABELS:,} of the {training.n_labeled:,} labeled rows"
    if single:
        tuned = "chosen as well as the single label of a class allows"
        penalty = "C = 1, as a class has a single label"
    else:
        tuned = "chosen by cross-validation within the training rows"
        n_folds = min(FOLDS, training.fewest_labels)
        penalty = f"C chosen by {n_folds}-fold cross-validation within the training rows"
    searched = ""
    if n_unlabeled > training.most_searched:
        searched = f", looking at {_unlabeled_rows(n_unlabeled, training.most_searched)}"
    alpha = "with the tuned ridge's alpha"
    each = f"each of which counts as much as a labeled one, {alpha}"
    hard = each if n_unlabeled <= rivals.MOST_HARD else f"counted as all, {alpha}"
    return {
        "averaged": f"Many classifiers, weighted by their out-of-sample log loss, fitted to "
        f"{labeled}, with representations of the columns learned from {everything} too.",
        "labeled_only": f"The averaged classifier, with everything learned from {labeled} alone.",
        "ridge": f"Least squares on the labeled rows alone, with an alpha {tuned}.",
        "logistic": f"Logistic regression on {labeled} alone, with {penalty}.",
        "forest": f"scikit-learn's RandomForestClassifier on {labeled} alone, as it comes.",
        "boosting": f"scikit-learn's HistGradientBoostingClassifier on {labeled} alone, as it "
        "comes, without early stopping.",
        "soft": f"Soft labels for {everything}, with an alpha, and a weight of these rows that "
        f"may be 0, {tuned}{searched}.",
        "hard": "Hard labels (self-learning) for "
        f"{_unlabeled_rows(n_unlabeled, rivals.MOST_HARD)}, {hard}.",
    }[name]


def _unlabeled_rows(n: int, most: int | None = None) -> str:
    if most is None or n <= most:
        return f"all {n:,} unlabeled rows"
    return f"{most:,} of the {n:,} unlabeled rows, drawn at random"
