"""Is the recommended classifier better than always answering the most frequent class?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._utils.typing import Array
from ...._utils.words import percent, points_between
from ..comparison import Estimate, Notice
from ..intervals import honest_gain, interval
from ..splits import Plan
from ._context import NoticeContext

__all__ = [
    "Majority",
    "NoBetterThanMajority",
    "against_majority",
    "compare_with_majority",
    "find",
]


PRIORITY = 10
WIDER = 1.45
"""Width of a 99 % interval for a mean over ten folds, relative to the 95 % interval."""


@dataclass(frozen=True)
class Majority:
    """The most frequent class, compared with a classifier."""

    code: int
    error: float
    """Of always answering this class."""
    gain: Estimate
    """Accuracy of the classifier minus that of always answering this class."""


@dataclass(frozen=True)
class NoBetterThanMajority(Notice):
    """A classifier that is not clearly better than always answering the most frequent class."""

    kind = "majority"
    subject: str
    """The classifier, as the start of a sentence."""
    answer: Any
    """The most frequent class."""
    found: Majority
    ranking: Estimate | None
    """The AUC of its decision values, if that is clearly above ½."""

    def words(self) -> tuple[str, str]:
        gain, answer = self.found.gain, f"always answering {self.answer!r}"
        mine, its = percent(self.found.error - gain.mean), percent(self.found.error)
        errors = f"error {its} either way" if mine == its else f"error {mine} against {its}"
        if round(gain.mean, 3) <= 0.0:
            sentence = f"{self.subject} is no better than {answer}: {errors}"
            meaning = (
                "The predicted classes are worth no more than that answer: the columns may say "
                "nothing about the classes, or the labels may be too few to learn it from."
            )
        else:
            sentence = (
                f"{self.subject} may be no better than {answer}: {errors}, 95 % interval of the "
                f"difference {points_between(gain.low, gain.high)}"
            )
            meaning = (
                "The labels are too few to tell whether the predicted classes are worth anything."
            )
        if (auc := self.ranking) is not None:
            meaning = (
                "The predicted classes may be worth no more than that answer, but the order of the "
                f"rows by their probabilities may be better than chance: AUC {auc.mean:.2f} (95 % "
                f"interval {auc.low:.2f} to {auc.high:.2f})."
            )
        return f"{sentence}.", meaning


def find(context: NoticeContext) -> list[Notice | None]:
    """Check the classifier that is recommended."""
    if context.results is None:
        return []
    results, classes = context.results, context.prepared.target.classes
    evaluation, name = results.evaluation, results.method
    auc = next(rival.scores["auc"] for rival in evaluation.rivals if rival.name == name)
    accuracy = evaluation.scores[name]["accuracy"]
    majority = against_majority(accuracy, evaluation.plan, results.codes)
    return [compare_with_majority(results.subject, majority, auc, classes)]


def against_majority(accuracy: Array, planned: Plan, codes: Array) -> Majority:
    """Compare a classifier with always answering the most frequent class among the labels.

    Parameters
    ----------
    accuracy : ndarray of shape (n_splits,)
        Of the classifier, on the test rows of each split.
    planned : Plan
        The splits.
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 if it has no label.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.tables.compare.splits import plan
    >>> codes = np.array([0, 1, 0, 1, 0, 1, 0, 0, -1])
    >>> found = against_majority(np.full(6, 0.625), plan(codes, repeats=2), codes)
    >>> found.code, round(found.error, 2), abs(round(found.gain.mean, 2))
    (0, 0.39, 0.01)
    """
    code = int(np.bincount(codes[codes >= 0]).argmax())
    share = np.array([np.mean(codes[test] == code) for test in planned.tests])
    gain = interval(accuracy - share, planned.ratio)
    return Majority(code, 1.0 - float(share.mean()), honest_gain(gain, planned.n_tested))


def compare_with_majority(
    subject: str, found: Majority, auc: Estimate | None, classes: Sequence[Any]
) -> NoBetterThanMajority | None:
    """Return a notice if a classifier may be no better than one answer.

    Parameters
    ----------
    subject : str
        The classifier, as the start of a sentence.
    found : Majority
    auc : Estimate, optional
        Of its decision values: they may rank rows well even if all are on the same side of 0.
    classes : sequence
        The names of the classes.

    Examples
    --------
    >>> found = Majority(0, 0.2, Estimate(-0.001, -0.02, 0.02))
    >>> print(compare_with_majority("Tuned ridge", found, None, ["ok", "worn"]).sentence)
    Tuned ridge is no better than always answering 'ok': error 20.1 % against 20.0 %.
    """
    if not found.gain.low <= 0.0:  # also if it is NaN
        return None
    ranks = auc is not None and auc.mean - WIDER * (auc.mean - auc.low) > 0.5
    return NoBetterThanMajority(subject, classes[found.code], found, auc if ranks else None)
