"""Is a classifier worth more than always answering the class that is most frequent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._utils.words import percent, points_between
from .comparison import Estimate, Notice
from .intervals import honest_gain, interval
from .splits import Plan

__all__ = ["Majority", "against_majority", "worth"]

Array = NDArray[Any]

_NAMED = 3
_SURER = 1.45
"""So many times as wide as a 95 % interval of a mean over ten folds is that of 99 %."""


@dataclass(frozen=True)
class Majority:
    """The most frequent class, the error of always answering it, and what a classifier gains."""

    code: int
    error: float
    gain: Estimate


def against_majority(accuracy: Array, planned: Plan, codes: Array) -> Majority:
    """Compare a classifier with always answering the class that most labels have.

    Parameters
    ----------
    accuracy : ndarray of shape (n_splits,)
        Of the classifier, on the test rows of each split.
    planned : Plan
        The splits.
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 where it has no label.

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


def worth(
    who: str, found: Majority, auc: Estimate | None, predicted: Array, classes: Sequence[Any]
) -> Notice | None:
    """Say so where a classifier may be worth no more than one answer, or never gives another.

    Parameters
    ----------
    who : str
        What to call the classifier, at the start of a sentence.
    found : Majority
    auc : Estimate, optional
        Of its decision values: they may rank rows well though no row is on the other side of 0.
    predicted : ndarray of shape (n_rows,)
        What the classifier fitted to all rows of the table says of them, as codes.
    classes : sequence
        The names of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> found = Majority(0, 0.2, Estimate(-0.001, -0.02, 0.02))
    >>> print(worth("Tuned ridge", found, None, np.zeros(9), ["ok", "worn"]).sentence)
    Tuned ridge is no better than always answering 'ok': error 20.1 % against 20.0 %; class 'worn'
    is never predicted.
    """
    never = [name for k, name in enumerate(classes) if not (predicted == k).any()]
    if not found.gain.low <= 0.0:  # NaN is no reason
        return _never(who, never, len(predicted)) if never else None
    gain, answer = found.gain, f"always answering {classes[found.code]!r}"
    mine, its = percent(found.error - gain.mean), percent(found.error)
    errors = f"error {its} either way" if mine == its else f"error {mine} against {its}"
    if round(gain.mean, 3) <= 0.0:
        sentence = f"{who} is no better than {answer}: {errors}"
        meaning = (
            "The predicted classes are worth no more than that answer: the columns may say nothing "
            "about the classes, or the labels may be too few to learn it from."
        )
    else:
        sentence = (
            f"{who} may be no better than {answer}: {errors}, 95 % interval of the difference "
            f"{points_between(gain.low, gain.high)}"
        )
        meaning = "The labels are too few to tell whether the predicted classes are worth anything."
    if auc is not None and auc.mean - _SURER * (auc.mean - auc.low) > 0.5:
        meaning = (
            "The predicted classes may be worth no more than that answer, but the order of the "
            f"rows by their soft labels may be better than chance: AUC {auc.mean:.2f} (95 % "
            f"interval {auc.low:.2f} to {auc.high:.2f})."
        )
    verb = "is" if len(never) == 1 else "are"
    sentence += f"; {_classes(never)} {verb} never predicted." if never else "."
    return Notice("majority", sentence, meaning)


def _never(who: str, never: Sequence[Any], n_rows: int) -> Notice:
    whose = "that class" if len(never) == 1 else "those classes"
    return Notice(
        "never_predicted",
        f"{who} never predicts {_classes(never)}, for none of the {n_rows:,} rows of the table.",
        f"All rows of {whose} then get a wrong one; label more of them.",
    )


def _classes(names: Sequence[Any]) -> str:
    said = ", ".join(map(repr, names[:_NAMED]))
    said += f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"class {said}" if len(names) == 1 else f"classes {said}"
