"""The results of a comparison as data: the terminal, the page and JSON all show these values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._utils.messages import join
from .._arguments import refuse, text
from .._importance import ColumnImportance
from ..columns import Column
from . import _words as words

METRICS = ("accuracy", "balanced_accuracy", "auc", "squared_loss")


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % interval, which allows for the overlap of the folds' training sets."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainingSize:
    """Numbers of rows in the training sets of a cross-validation."""

    n_labeled: int
    fewest_labels: int
    """Labels of the rarest class, in the training set that has the fewest."""
    n_unlabeled: int
    most_searched: int
    """If there are more unlabeled rows, alpha and weight are chosen by a sample of this size."""


@dataclass(frozen=True)
class Rival:
    """A method, scored on labeled rows that it had not seen."""

    name: str
    training: TrainingSize
    n_unlabeled: int
    """Unlabeled rows in a fit."""
    scores: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    """Over the averaged classifier on the same folds; positive is better, also for the squared
    loss. Empty for that classifier itself."""
    seconds: float
    """Mean time of a fit."""
    failed: str = ""
    """Why there are no scores; "" if there are."""

    @property
    def label(self) -> str:
        """What the method is called."""
        return words.LABELS[self.name]

    @property
    def how(self) -> str:
        """How it was tuned, and on which rows."""
        return words.describe_fit(self.name, self.training)

    def as_dict(self) -> dict[str, Any]:
        """Return the values for JSON, without the time: the same table and seed give the same."""
        found = {"name": self.name, "label": self.label, "how": self.how, **asdict(self)}
        return {key: found[key] for key in found if key not in ("training", "seconds")}


@dataclass(frozen=True)
class Recommendation:
    """The answer to the question which classifier to use."""

    method: str
    """The method of `fit_table`."""
    metric: str
    """What decides: "accuracy", or "auc" if a class is rare."""
    clear: bool
    """Whether it is better than `other` by more than chance."""
    score: float
    other: str
    """The averaged classifier or, if that is recommended, the next best one."""
    other_score: float
    lead: Estimate
    """`score` minus `other_score`, with an interval that allows for the number of rivals."""

    @property
    def label(self) -> str:
        """What the classifier is called."""
        return words.LABELS[self.method]

    @property
    def sentence(self) -> str:
        """The answer in words."""
        return words.recommendation_sentence(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in words and numbers for JSON."""
        return {"sentence": self.sentence, **asdict(self)}


@dataclass(frozen=True)
class Verdict:
    """The answer to the question what the unlabeled rows are worth."""

    answer: str
    """"yes" if they help, "no" or "unclear"; "none" if there are none."""
    metric: str
    """What decides: "accuracy", or "auc" if a class is rare."""
    score: float
    """Of the averaged classifier."""
    score_without: float
    """Of the same classifier without the unlabeled rows."""
    gain: Estimate
    """`score` minus `score_without`."""
    n_labels: int
    n_unlabeled: int
    harm: bool = False
    """Whether "no" means that unlabeled rows make the classifier worse."""
    most_to_gain: float = math.nan
    """The largest gain that is still likely."""
    more_labels: int | None = None
    """About how many more labels would settle an unclear answer."""

    @property
    def sentence(self) -> str:
        """The answer in words."""
        return words.verdict_sentence(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in words and numbers for JSON."""
        return {
            "answer": self.answer,
            "sentence": self.sentence,
            "metric": self.metric,
            "score": self.score,
            "score_without": self.score_without,
            "gain": asdict(self.gain),
            "n_labels": self.n_labels,
            "more_labels": self.more_labels,
        }


@dataclass(frozen=True)
class CurvePoint:
    """The error of a method with n rows."""

    method: str
    n: int
    error: Estimate


@dataclass(frozen=True)
class LabelTrend:
    """How the error of the averaged classifier changed with the last doubling of the labels."""

    outlook: str
    """What more labels would bring: "less", "little", "unclear"; "perfect" if no error is left to
    learn from, "unknown" if there was only one number of labels."""
    n_before: int
    n_after: int
    """Numbers of labels learned from."""
    error_before: float
    error_after: float
    n_labels: int
    """Labels in the table."""
    repeats: int

    @property
    def sentence(self) -> str:
        """The trend in words."""
        return words.label_sentence(self)


class Notice(ABC):
    """Something to know before trusting the verdict.

    Subclasses are frozen dataclasses in `notices`: they hold what was found as numbers and names.
    """

    kind: str
    """A code that programs can rely on: sentences may change."""

    @abstractmethod
    def words(self) -> tuple[str, str]:
        """Say what was found, and what it means for the verdict."""

    @property
    def sentence(self) -> str:
        """What was found."""
        return self.words()[0]

    @property
    def meaning(self) -> str:
        """What it means for the verdict."""
        return self.words()[1]

    @property
    def text(self) -> str:
        """What was found and what it means."""
        return join(" ", self.words())


@dataclass(frozen=True)
class Changes:
    """How the unlabeled rows changed the predictions for themselves."""

    n_rows: int
    """Unlabeled rows that were classified: all of them, or a random sample."""
    n_changed: int
    moves: tuple[tuple[str, str, int], ...]
    """Old class, new class, number of rows."""
    before: tuple[float, ...]
    after: tuple[float, ...]
    """Probabilities for a sample of rows: of the second class or, with more than two, of the
    likeliest."""
    changed: tuple[bool, ...]
    histogram_edges: tuple[float, ...]
    histogram: tuple[int, ...]
    """Of the probabilities `after` of all rows."""
    examples: tuple[tuple[int, str, str, float, float], ...]
    """The clearest changes: row of the table, old class, new class, and their probabilities."""


@dataclass(frozen=True)
class Part:
    """A family of the averaged classifier."""

    family: str
    weight: float
    """The share of the average that its members have."""
    n_members: int
    error: float
    """Out of sample, of its member with the lowest log loss."""


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
    quick: bool
    """Whether only some rivals were compared, and no curves were measured."""
    folds: int
    repeats: int
    curve_repeats: int
    """Repeats of the folds for the curves: usually fewer, to save time."""
    seed: int
    rivals: tuple[Rival, ...]
    recommendation: Recommendation
    verdict: Verdict
    unlabeled_curve: tuple[CurvePoint, ...]
    label_curve: tuple[CurvePoint, ...]
    label_trend: LabelTrend | None
    notices: tuple[Notice, ...]
    changes: Changes | None
    """None in a quick comparison."""
    importance: tuple[ColumnImportance, ...]
    parts: tuple[Part, ...]
    certificate: float
    settings: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - self.n_labeled

    @property
    def label_sentence(self) -> str:
        """What more labels would bring, in words; "" if that was not measured."""
        return "" if self.label_trend is None else self.label_trend.sentence

    def rival(self, name: str) -> Rival:
        """Return the rival with this name."""
        found = {rival.name: rival for rival in self.rivals}
        if text("name", name) not in found:
            raise refuse("name", name, f"one of {', '.join(found)}")
        return found[name]

    def as_dict(self) -> dict[str, Any]:
        """Return all values for JSON: NaN and infinity are None."""
        found = asdict(self) | {
            "rivals": [rival.as_dict() for rival in self.rivals],
            "recommendation": self.recommendation.as_dict(),
            "verdict": self.verdict.as_dict(),
            "label_trend": self.label_sentence,
            "notices": [
                {"kind": one.kind, "sentence": one.sentence, "meaning": one.meaning}
                for one in self.notices
            ],
        }
        renamed = {"label_trend": "label_sentence"}
        result: dict[str, Any] = plain({renamed.get(key, key): found[key] for key in found})
        return result


def plain(value: Any) -> Any:
    """Convert a value for JSON: NaN and infinity become None, tuples become lists.

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
