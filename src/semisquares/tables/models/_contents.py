"""What is inside a stored classifier, for people: coefficients, members or trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._utils.typing import Array
from ..._utils.words import counted
from .predictors import LinearScores, Predictor

if TYPE_CHECKING:
    from .predictors.averaged import AveragedScores

__all__ = ["Contents", "MemberWeight", "summarize"]


@dataclass(frozen=True)
class MemberWeight:
    """A member of an average."""

    family: str
    representation: str
    setting: str
    weight: float
    log_loss: float
    """Out of sample, calibrated."""
    accuracy: float
    """Out of sample."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What is inside a classifier."""

    sentence: str
    """The start of a sentence, without its full stop."""
    coef: Array | None = None
    """A row for two classes, else one per class; None if there are none."""
    members: tuple[MemberWeight, ...] = ()
    """The members of an average, those with the largest weights first."""


def summarize(classifier: Predictor) -> Contents:
    """Describe a stored classifier.

    Examples
    --------
    >>> import numpy as np
    >>> summarize(LinearScores(np.ones((1, 3)), np.zeros(1))).sentence
    '3 coefficients'
    """
    if isinstance(classifier, LinearScores):
        return Contents(counted(classifier.coef.size, "coefficient"), classifier.coef)
    from .predictors.averaged import AveragedScores
    from .predictors.logistic import LogisticScores
    from .predictors.trees import BoostingScores, ForestScores

    if isinstance(classifier, LogisticScores):
        return Contents(counted(classifier.coef.size, "coefficient"), classifier.coef)
    if isinstance(classifier, AveragedScores):
        members = tuple(sorted(_members(classifier), key=lambda one: -one.weight))
        return Contents(f"an average of {counted(len(members), 'member')}", members=members)
    if isinstance(classifier, ForestScores | BoostingScores):
        trees = classifier.trees
        leaves = counted(int((trees.left < 0).sum()), "leaf", "leaves")
        return Contents(f"{counted(trees.n_trees, 'tree')} with {leaves}")
    return Contents(f"a classifier of type {classifier.type}")


def _members(classifier: AveragedScores) -> list[MemberWeight]:
    table = classifier.members
    numbers = ([float(x) for x in table[name]] for name in ("weight", "log_loss", "accuracy"))
    texts = (table[name] for name in ("family", "representation", "setting"))
    return [MemberWeight(*row) for row in zip(*texts, *numbers, strict=True)]
