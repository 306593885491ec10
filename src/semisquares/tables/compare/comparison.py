"""What a comparison found: values alone, for the terminal, the page and JSON alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._utils.messages import join
from ..arguments import refuse, text
from ..columns import Column

METRICS = ("accuracy", "balanced_accuracy", "auc", "squared_loss")


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, which respects that the training sets of folds overlap."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Rival:
    """A method with its scores on labeled rows that it had not seen."""

    name: str
    label: str
    how: str
    n_unlabeled: int
    scores: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    """Over the tuned ridge on the same folds: positive is better, for the squared loss, too."""
    seconds: float
    """Mean time of a fit."""
    failed: str = ""
    """Why there are no scores, where there are none."""


@dataclass(frozen=True)
class Verdict:
    """The answer: do the unlabeled rows help?"""

    answer: str
    """"yes", "no" or "unclear"."""
    sentence: str
    error: float
    ridge_error: float
    gain: Estimate
    """`ridge_error` less `error`."""
    n_labels: int
    more_labels: int | None = None


@dataclass(frozen=True)
class CurvePoint:
    """The error of a method with n rows."""

    method: str
    n: int
    error: Estimate


@dataclass(frozen=True)
class Notice:
    """Something that a reader has to know before trusting the verdict."""

    kind: str
    sentence: str
    meaning: str
    """What it means for the verdict."""

    @property
    def text(self) -> str:
        """Both in a row."""
        return join(" ", (self.sentence, self.meaning))


@dataclass(frozen=True)
class Changes:
    """What the unlabeled rows changed in the predictions for themselves."""

    method: str
    """"soft_cv"; or "soft" where that left the unlabeled rows out: had they been used."""
    used: bool
    n_rows: int
    n_flipped: int
    flips: tuple[tuple[str, str, int], ...]
    """From class, to class, how many."""
    before: tuple[float, ...]
    after: tuple[float, ...]
    """Decision values of a sample of rows; with more than two classes the winner's margin."""
    flipped: tuple[bool, ...]
    histogram_edges: tuple[float, ...]
    histogram: tuple[int, ...]
    """Of the soft labels: of the second class, or of the winner where there are more."""
    examples: tuple[tuple[int, str, str, float, float], ...]
    """Row of the table, from class, to class, value before and after: the clearest flips."""


@dataclass(frozen=True)
class Strength:
    """How much a feature pulls towards a class."""

    feature: str
    column: str
    class_name: str
    effect: float
    """Change of the decision value in the user's units."""
    unit: str
    weight: float
    """Change of the decision value for one standard deviation of the feature."""


@dataclass(frozen=True)
class Comparison:
    """Everything that ``semisquares compare`` found."""

    source: str
    target: str
    group: str | None
    n_rows: int
    n_labeled: int
    classes: tuple[str, ...]
    counts: tuple[int, ...]
    columns: tuple[Column, ...]
    folds: int
    repeats: int
    curve_repeats: int
    """Of the folds for the curves, to save time: mostly fewer."""
    seed: int
    rivals: tuple[Rival, ...]
    verdict: Verdict
    unlabeled_curve: tuple[CurvePoint, ...]
    label_curve: tuple[CurvePoint, ...]
    label_sentence: str
    notices: tuple[Notice, ...]
    changes: Changes
    strengths: tuple[Strength, ...]
    alpha: float
    unlabeled_weight: float
    supervised_alpha: float
    certificate: float
    settings: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - self.n_labeled

    def rival(self, name: str) -> Rival:
        """Return the rival of that name."""
        found = {rival.name: rival for rival in self.rivals}
        if text("name", name) not in found:
            raise refuse("name", name, f"one of {', '.join(found)}")
        return found[name]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can say it: NaN and infinity are None.

        How long the fits took is left out: the same table and seed give the same text.
        """
        found: dict[str, Any] = plain(asdict(self))
        for rival in found["rivals"]:
            del rival["seconds"]
        return found


def plain(value: Any) -> Any:
    """Return a value as JSON can say it: NaN and infinity are None, tuples lists.

    Examples
    --------
    >>> plain({1: (0.5, float("nan"))})
    {'1': [0.5, None]}
    """
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
