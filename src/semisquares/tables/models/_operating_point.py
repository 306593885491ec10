"""Operating points: which class is answered, given the probabilities of all classes.

Without one, a model gives the answers of its classifier. An operating point gives others:

* `Balanced`: as if all classes were equally frequent, argmax_k p_k / share_k;
* `Threshold`: of two classes, one if its probability is at least P, else the other;
* `LeastCost`: the answer a with the least expected cost, sum_k p_k · cost(k, a).

The probabilities are calibrated; an operating point does not change them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ..._utils.messages import Parameter
from ..._utils.typing import Array
from ..._utils.words import did_you_mean
from .._arguments import refuse
from ..errors import TableError

__all__ = [
    "Balanced",
    "LeastCost",
    "OperatingPoint",
    "PointOptions",
    "Threshold",
    "most_probable",
    "own_answers",
    "read_point",
]

HIGHEST_COST = 1e12
_MOST_NAMED = 4


def own_answers(decision: Array) -> Array:
    """Return the codes that a classifier answers by its decision values.

    Examples
    --------
    >>> own_answers(np.array([-0.5, 0.0, 0.1])), own_answers(np.array([[0.1, 0.7, 0.2]]))
    (array([0, 0, 1]), array([1]))
    """
    return decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0.0).astype(np.intp)


def most_probable(probabilities: Array) -> Array:
    """Return the codes of the most probable classes."""
    return probabilities.argmax(axis=1)


class OperatingPoint(ABC):
    """A rule that answers with one of the classes; subclasses are frozen dataclasses."""

    kind: ClassVar[str]
    """Its name in model files and in JSON."""

    @abstractmethod
    def decide(self, probabilities: Array) -> Array:
        """Return the code of the answer for each row of probabilities, (n, n_classes)."""

    @abstractmethod
    def phrase(self, classes: Sequence[Any]) -> str:
        """Say how it answers, as the rest of a sentence that starts with "the model"."""

    @abstractmethod
    def fits(self, n_classes: int) -> bool:
        """Tell whether it is for this many classes, and makes sense; a file can be forged."""

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `read_point` restores it."""

    @abstractmethod
    def facts(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return its numbers by class for JSON."""

    @classmethod
    @abstractmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Restore it from plain data; raise any exception if that is impossible."""

    def as_dict(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return all about it for JSON."""
        sentence = f"The model {self.phrase(classes)}."
        return {"kind": self.kind, "sentence": sentence, **self.facts(classes)}


@dataclass(frozen=True, eq=False)
class Balanced(OperatingPoint):
    """Answer as if all classes were equally frequent.

    Examples
    --------
    >>> point = Balanced(np.array([0.9, 0.1]))
    >>> point.decide(np.array([[0.95, 0.05], [0.85, 0.15]]))
    array([0, 1])
    >>> point.phrase(["no", "yes"])
    'answers as if all classes were equally frequent'
    """

    kind: ClassVar[str] = "balanced"
    shares: Array
    """The shares of the classes among the labels, (n_classes,)."""

    def decide(self, probabilities: Array) -> Array:
        return (probabilities / self.shares).argmax(axis=1)

    def phrase(self, classes: Sequence[Any]) -> str:
        return "answers as if all classes were equally frequent"

    def fits(self, n_classes: int) -> bool:
        return (
            self.shares.dtype == np.float64
            and self.shares.shape == (n_classes,)
            and bool((self.shares > 0.0).all())
            and math.isclose(float(self.shares.sum()), 1.0)
        )

    def to_plain(self) -> dict[str, Any]:
        return {"kind": self.kind, "shares": self.shares}

    def facts(self, classes: Sequence[Any]) -> dict[str, Any]:
        return {"shares": _by_class(classes, self.shares)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(plain["shares"])


@dataclass(frozen=True, eq=False)
class Threshold(OperatingPoint):
    """Answer one of two classes if its probability is large enough, and else the other.

    Examples
    --------
    >>> point = Threshold(1, 0.2)
    >>> point.decide(np.array([[0.81, 0.19], [0.8, 0.2]]))
    array([0, 1])
    >>> point.phrase(["no", "yes"])
    "answers 'yes' if its probability is at least 0.2, else 'no'"
    """

    kind: ClassVar[str] = "threshold"
    code: int
    """The place of the class among the classes."""
    least: float
    """Its least probability."""

    def decide(self, probabilities: Array) -> Array:
        return np.where(probabilities[:, self.code] >= self.least, self.code, 1 - self.code)

    def phrase(self, classes: Sequence[Any]) -> str:
        one, other = classes[self.code], classes[1 - self.code]
        return f"answers {one!r} if its probability is at least {self.least:g}, else {other!r}"

    def fits(self, n_classes: int) -> bool:
        return (
            n_classes == 2
            and type(self.code) is int
            and self.code in (0, 1)
            and isinstance(self.least, float)
            and 0.0 < self.least < 1.0
        )

    def to_plain(self) -> dict[str, Any]:
        return {"kind": self.kind, "code": self.code, "least": self.least}

    def facts(self, classes: Sequence[Any]) -> dict[str, Any]:
        return {"class": classes[self.code], "least_probability": self.least}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(plain["code"], plain["least"])


@dataclass(frozen=True, eq=False)
class LeastCost(OperatingPoint):
    """Answer the class with the least expected cost.

    Examples
    --------
    >>> point = LeastCost(np.array([[0.0, 1.0], [5.0, 0.0]]))
    >>> point.decide(np.array([[0.9, 0.1], [0.8, 0.2]]))
    array([0, 1])
    >>> point.phrase(["no", "yes"])
    "gives the answer with the least expected cost (missing 'no' costs 1, missing 'yes' 5)"
    """

    kind: ClassVar[str] = "costs"
    costs: Array
    """The cost of each answer (columns) to a row of each class (rows), (n_classes, n_classes)."""

    def decide(self, probabilities: Array) -> Array:
        return (probabilities @ self.costs).argmin(axis=1)

    def phrase(self, classes: Sequence[Any]) -> str:
        start = "gives the answer with the least expected cost"
        missed = self.costs.max(axis=1)
        if (self.costs == missed[:, None] * (1.0 - np.eye(len(missed)))).all():
            named = [f"missing {name!r}" for name in classes]
            numbers = missed
        else:
            truths, answers = np.nonzero(self.costs)
            named = [
                f"answering {classes[a]!r} for {classes[k]!r}"
                for k, a in zip(truths.tolist(), answers.tolist(), strict=True)
            ]
            numbers = self.costs[truths, answers]
        parts = [f"{one} {number:g}" for one, number in zip(named, numbers, strict=True)]
        parts[0] = f"{named[0]} costs {numbers[0]:g}"
        more = len(parts) - _MOST_NAMED
        listed = ", ".join(parts[:_MOST_NAMED]) + (f", and {more} more" if more > 0 else "")
        return f"{start} ({listed})"

    def fits(self, n_classes: int) -> bool:
        return (
            self.costs.dtype == np.float64
            and self.costs.shape == (n_classes, n_classes)
            and bool(((self.costs >= 0.0) & (self.costs <= HIGHEST_COST)).all())
            and not _is_indifferent(self.costs)
        )

    def to_plain(self) -> dict[str, Any]:
        return {"kind": self.kind, "costs": self.costs}

    def facts(self, classes: Sequence[Any]) -> dict[str, Any]:
        return {
            "costs": {
                str(k): _by_class(classes, row) for k, row in zip(classes, self.costs, strict=True)
            }
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(plain["costs"])


_POINTS: dict[str, type[OperatingPoint]] = {
    one.kind: one for one in (Balanced, Threshold, LeastCost)
}


def read_point(plain: Mapping[str, Any]) -> OperatingPoint:
    """Restore an operating point from plain data."""
    return _POINTS[plain["kind"]].from_plain(plain)


def _by_class(classes: Sequence[Any], values: Array) -> dict[str, float]:
    return {str(name): float(value) for name, value in zip(classes, values, strict=True)}


def _is_indifferent(costs: Array) -> bool:
    """Tell whether no answer costs more than another, whatever the class."""
    return bool((costs == costs[:, :1]).all())


# -- options --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PointOptions:
    """The operating point that the user asks for, before the classes are known.

    Parameters
    ----------
    balanced : bool, default=False
    threshold : float or mapping, optional
        A probability for the class with fewer labels (the second one, if they have the same
        number), or a mapping from a class to its probability.
    costs : mapping or DataFrame, optional
        A mapping from classes to the cost of missing a row of the class, 1 for others, or a
        table of costs whose index are the true classes, and whose columns are the answers.

    Examples
    --------
    >>> options = PointOptions(costs={"yes": 5})
    >>> print(options.resolve(("no", "yes"), (90, 10)).costs.tolist())
    [[0.0, 1.0], [5.0, 0.0]]
    >>> PointOptions(threshold=0.3).resolve((1, 2), (10, 90)).phrase((1, 2))
    'answers 1 if its probability is at least 0.3, else 2'
    """

    balanced: bool = False
    threshold: float | Mapping[Any, float] | None = None
    costs: Mapping[Any, float] | pd.DataFrame | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.balanced, bool):
            raise refuse("balanced", self.balanced, "True or False")
        given = [Parameter(name) for name in self._given]
        if len(given) > 1:
            raise TableError(
                "{one} and {other} both say which class is answered; give one of them.",
                code="two_operating_points",
                one=given[0],
                other=given[1],
            )
        if self.threshold is not None:
            self._check_threshold()
        if self.costs is not None and not (
            isinstance(self.costs, pd.DataFrame)
            or (isinstance(self.costs, Mapping) and len(self.costs))
        ):
            raise refuse("costs", self.costs, "a mapping from classes to costs, or a DataFrame")

    @property
    def is_given(self) -> bool:
        """Whether the user asks for one."""
        return bool(self._given)

    @property
    def _given(self) -> list[str]:
        named = {"threshold": self.threshold, "costs": self.costs}
        found = [name for name, value in named.items() if value is not None]
        return ["balanced"] * self.balanced + found

    def _check_threshold(self) -> None:
        least: Any = self.threshold
        if isinstance(self.threshold, Mapping):
            if len(self.threshold) != 1:
                raise refuse("threshold", self.threshold, "a mapping from one class to a number")
            (least,) = self.threshold.values()
        if not (_is_number(least) and 0.0 < least < 1.0):
            raise TableError(
                "{threshold} is {value}; give a probability, above 0 and below 1.",
                code="bad_threshold",
                threshold=Parameter("threshold"),
                value=least if _is_number(least) else repr(least),
            )

    def resolve(
        self,
        classes: Sequence[Any],
        counts: Sequence[int] | None,
        spelling: Sequence[str] = (),
    ) -> OperatingPoint | None:
        """Return the operating point for the classes of a table; None if none is given.

        Parameters
        ----------
        classes : sequence
        counts : sequence of int, optional
            The number of labels of each class, if known.
        spelling : sequence of str
            The classes as the table writes them; () if they are written as Python does.
        """
        if self.balanced:
            return _balanced(counts)
        names = _Names(classes, spelling)
        if self.threshold is not None:
            return _threshold(self.threshold, names, counts)
        if self.costs is not None:
            return _least_cost(self.costs, names)
        return None


def _balanced(counts: Sequence[int] | None) -> Balanced:
    if counts is None:
        raise TableError(
            "The model does not know how many labels each class had, which {balanced} needs; give "
            "{costs} instead, or fit the model with fit_table.",
            code="no_label_counts",
            balanced=Parameter("balanced"),
            costs=Parameter("costs"),
        )
    return Balanced(np.asarray(counts, dtype=np.float64) / sum(counts))


def _threshold(
    given: float | Mapping[Any, float], names: _Names, counts: Sequence[int] | None
) -> Threshold:
    if len(names.classes) != 2:
        listed = ", ".join(map(repr, names.classes[:_MOST_NAMED]))
        more = ", …" if len(names.classes) > _MOST_NAMED else ""
        raise TableError(
            "{threshold} is for two classes, and there are {n} ({listed}); give {costs} or "
            "{balanced} instead.",
            code="threshold_for_two",
            threshold=Parameter("threshold"),
            n=len(names.classes),
            listed=f"{listed}{more}",
            costs=Parameter("costs"),
            balanced=Parameter("balanced"),
        )
    if isinstance(given, Mapping):
        ((name, least),) = given.items()
        return Threshold(names.place(name, "threshold"), float(least))
    rarer = 0 if counts is not None and counts[0] < counts[1] else 1
    return Threshold(rarer, float(given))


def _least_cost(given: Mapping[Any, float] | pd.DataFrame, names: _Names) -> LeastCost:
    n = len(names.classes)
    if isinstance(given, pd.DataFrame):
        costs = _matrix(given, names)
    else:
        missed = np.ones(n)
        for name, cost in given.items():
            missed[names.place(name, "costs")] = _cost(cost, repr(name))
        costs = missed[:, None] * (1.0 - np.eye(n))
    if _is_indifferent(costs):
        raise TableError(
            "By {costs} no answer costs more than another; give a cost above 0 for a wrong answer.",
            code="indifferent_costs",
            costs=Parameter("costs"),
        )
    return LeastCost(costs)


def _matrix(table: pd.DataFrame, names: _Names) -> Array:
    """Return the costs of a table in the order of the classes; each must be there once."""
    places = []
    for what, given in (("rows", table.index), ("columns", table.columns)):
        found = [names.place(name, "costs") for name in given]
        missing = [one for k, one in enumerate(names.classes) if k not in found]
        if missing or len(found) > len(names.classes):
            fault = f"no {missing[0]!r}" if missing else "a class twice"
            raise TableError(
                "The table of {costs} has {fault} among its {what}; give it a row for each true "
                "class and a column for each answer.",
                code="costs_table",
                costs=Parameter("costs"),
                fault=fault,
                what=what,
            )
        places.append(found)
    costs = np.zeros((len(names.classes), len(names.classes)))
    for row, k in enumerate(places[0]):
        for column, a in enumerate(places[1]):
            where = f"answering {names.classes[a]!r} for {names.classes[k]!r}"
            costs[k, a] = _cost(table.iloc[row, column], where)
    return costs


def _cost(value: Any, where: str) -> float:
    if not (_is_number(value) and 0.0 <= value <= HIGHEST_COST):
        raise TableError(
            "{costs} has {value} for {where}; give a number from 0 to {highest:g}.",
            code="bad_cost",
            costs=Parameter("costs"),
            value="no number" if value != value else value if _is_number(value) else repr(value),
            where=where,
            highest=HIGHEST_COST,
        )
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class _Names:
    """The classes, and how the table writes them."""

    classes: Sequence[Any]
    spelling: Sequence[str]

    def place(self, given: Any, parameter: str) -> int:
        """Return the place of a class that is given as a value or as text."""
        for k, value in enumerate(self.classes):
            if _is_same(given, value) or (isinstance(given, str) and given in self._texts(k)):
                return k
        listed = ", ".join(map(repr, self.classes[:20])) + ", …" * (len(self.classes) > 20)
        hint = did_you_mean(str(given), [self._texts(k)[-1] for k in range(len(self.classes))],
                            f"the classes are {listed}.")  # fmt: skip
        raise TableError(
            "{parameter} names {given!r}, which is not a class; {hint}",
            code="unknown_class",
            parameter=Parameter(parameter),
            given=given,
            hint=hint,
        )

    def _texts(self, k: int) -> list[str]:
        return [str(self.classes[k]), *self.spelling[k : k + 1]]


def _is_same(given: Any, value: Any) -> bool:
    """Compare two values; True is not 1."""
    flags = [isinstance(one, bool | np.bool_) for one in (given, value)]
    return bool(flags[0] == flags[1] and isinstance(given, type(value) | Real) and given == value)
