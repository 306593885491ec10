"""The sentences of a comparison, made from its numbers; notices write their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._utils.words import counted, fixed, percent, points_between
from . import _rivals as rivals
from ._rivals import LABELS
from ._tuning import FOLDS

if TYPE_CHECKING:
    from .comparison import LabelTrend, TrainingSize, Verdict

__all__ = ["LABELS", "describe_fit", "label_sentence", "verdict_sentence"]


def verdict_sentence(verdict: Verdict) -> str:
    """Say whether unlabeled rows help.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import Estimate, Verdict
    >>> gain = Estimate(0.013, 0.004, 0.022)
    >>> print(verdict_sentence(Verdict("yes", 0.081, 0.094, gain, n_labels=900, n_unlabeled=99)))
    Unlabeled rows help: error 8.1 % against 9.4 % for tuned ridge, 95 % interval of the difference
    0.4–2.2 points.
    """
    error, ridge_error, gain = percent(verdict.error), percent(verdict.ridge_error), verdict.gain
    if verdict.more_labels is not None:
        return _too_few_labels(verdict.n_labels, verdict.more_labels, verdict.n_unlabeled)
    if verdict.answer == "yes":
        return (
            f"Unlabeled rows help: error {error} against {ridge_error} for tuned ridge, 95 % "
            f"interval of the difference {points_between(gain.low, gain.high)}."
        )
    if verdict.harm:
        return (
            f"Unlabeled rows do harm here; use the tuned ridge: error {ridge_error} against "
            f"{error} with them, 95 % interval of the difference "
            f"{points_between(-gain.high, -gain.low)}."
        )
    same = f"{error} with and without"
    errors = same if error == ridge_error else f"{ridge_error} against {error} with"
    return (
        f"Unlabeled rows do not help here; use the tuned ridge: error {errors} them, and a gain of "
        f"more than {fixed(100 * verdict.most_to_gain)} points is unlikely."
    )


def _too_few_labels(n_labels: int, n_more: int, n_unlabeled: int) -> str:
    start = f"Too few labels to tell: {n_labels:,};"
    if n_more <= n_unlabeled:
        return f"{start} label about {n_more:,} more."
    rows = "row has" if n_unlabeled == 1 else "rows have"
    return f"{start} about {n_more:,} more would be needed, but only {n_unlabeled:,} {rows} none."


def label_sentence(trend: LabelTrend) -> str:
    """Say what the last doubling of labels brought the tuned ridge, and what the next may bring.

    Examples
    --------
    >>> from semisquares.tables.compare.comparison import LabelTrend
    >>> print(label_sentence(LabelTrend("less", 24, 48, 0.125, 0.1, n_labels=60, repeats=2)))
    From 24 to 48 labels the error of the tuned ridge fell from 12.5 % to 10.0 % (2 repeats); the
    next doubling usually brings less.
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
        f"From {trend.n_before:,} to {trend.n_after:,} labels the error of the tuned ridge "
        f"{change} ({counted(trend.repeats, 'repeat')})"
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
    >>> print(describe_fit("self_training", size))
    scikit-learn's SelfTrainingClassifier around that logistic regression, on the labeled rows and
    5,000 of the 80,000 unlabeled rows, drawn at random.
    """
    n_unlabeled, single = training.n_unlabeled, training.fewest_labels == 1
    everything = _unlabeled_rows(n_unlabeled)
    labeled = "the labeled rows"
    if training.n_labeled > rivals.MOST_LOGISTIC:
        labeled = f"{rivals.MOST_LOGISTIC:,} of the {training.n_labeled:,} labeled rows"
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
        "ridge": f"Least squares on the labeled rows alone, with an alpha {tuned}.",
        "logistic": f"Logistic regression on {labeled} alone, with {penalty}.",
        "soft": f"Soft labels for {everything}, {each}.",
        "hard": "Hard labels (self-learning) for "
        f"{_unlabeled_rows(n_unlabeled, rivals.MOST_HARD)}, {hard}.",
        "soft_cv": f"Soft labels for {everything}, with an alpha, and a weight of these rows that "
        f"may be 0, {tuned}{searched}.",
        "self_training": "scikit-learn's SelfTrainingClassifier around that logistic regression, "
        f"on {labeled} and {_unlabeled_rows(n_unlabeled, rivals.MOST_SELF_TRAINING)}.",
    }[name]


def _unlabeled_rows(n: int, most: int | None = None) -> str:
    if most is None or n <= most:
        return f"all {n:,} unlabeled rows"
    return f"{most:,} of the {n:,} unlabeled rows, drawn at random"
