"""The strategies: from a fitted classifier, all rows and the labels so far to the rows to label.

Those of scikit-activeml choose batches in their own batch mode. They get the probabilities of our
classifier, and the columns themselves as features; their other settings are the defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisquares.labeling import suggest

Array = NDArray[Any]

OURS = "semisquares"
PEER = "scikit-activeml"


@dataclass(frozen=True)
class Situation:
    """What a strategy may look at; `y` is −1 for rows without a label."""

    model: Any
    X: Array
    y: Array
    n: int
    rng: np.random.Generator

    @property
    def unlabeled(self) -> Array:
        """The rows without a label."""
        return np.flatnonzero(self.y < 0)

    @property
    def margins(self) -> Array:
        """The differences of the two largest probabilities of the unlabeled rows."""
        p = np.sort(self.model.predict_proba(self.X[self.unlabeled]), axis=1)
        return np.asarray(p[:, -1] - p[:, -2])


Choose = Callable[[Situation], Array]


@dataclass(frozen=True)
class Strategy:
    """A strategy, its name on the page, and the package that it comes from."""

    label: str
    choose: Choose
    package: str = ""

    @property
    def version(self) -> str:
        """The version of its package; "" for strategies without one."""
        return version(self.package) if self.package else ""


def random(now: Situation) -> Array:
    """Choose rows at random."""
    return now.rng.permutation(now.unlabeled)[: now.n]


def margin(now: Situation) -> Array:
    """Choose the rows with the smallest margins."""
    return now.unlabeled[np.argsort(now.margins, kind="stable")[: now.n]]


def ours(now: Situation) -> Array:
    """Choose the rows that `semisquares.labeling.suggest` suggests.

    If these are too few, as all others are copies of labeled rows, others at random complete them.
    """
    found = suggest(now.model, now.X, now.y, n=now.n).indices if _has_new_rows(now) else []
    rest = np.setdiff1d(now.unlabeled, found)
    return np.concatenate((found, now.rng.permutation(rest)))[: now.n].astype(np.intp)


def _has_new_rows(now: Situation) -> bool:
    """Tell whether some unlabeled row is not a copy of a labeled one."""
    labeled = {row.tobytes() for row in now.X[now.y >= 0]}
    return any(row.tobytes() not in labeled for row in now.X[now.unlabeled])


def features_only(name: str) -> Choose:
    """Return a strategy of scikit-activeml that looks at the rows alone."""

    def choose(now: Situation) -> Array:
        from skactiveml import pool

        query = getattr(pool, name)(missing_label=-1, random_state=_seed(now))
        return np.asarray(query.query(now.X, now.y, batch_size=now.n))

    return choose


def with_classifier(name: str) -> Choose:
    """Return a strategy of scikit-activeml that also looks at the classifier's probabilities."""

    def choose(now: Situation) -> Array:
        from skactiveml import pool

        query = getattr(pool, name)(missing_label=-1, random_state=_seed(now))
        fitted = _as_theirs(now)
        return np.asarray(query.query(now.X, now.y, fitted, False, batch_size=now.n))

    return choose


def _seed(now: Situation) -> int:
    return int(now.rng.integers(2**31))


def _as_theirs(now: Situation) -> Any:
    """Return our fitted classifier with their interface."""
    from skactiveml.base import SkactivemlClassifier

    class Fitted(SkactivemlClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return self

        def predict_proba(self, X: Any) -> Array:
            return np.asarray(now.model.predict_proba(np.asarray(X)))

        def predict(self, X: Any) -> Array:
            return np.asarray(now.model.predict(np.asarray(X)))

    model = Fitted(missing_label=-1)
    model.classes_ = now.model.classes_
    return model


STRATEGIES: dict[str, Strategy] = {
    "random": Strategy("at random", random),
    "margin": Strategy("smallest margin", margin),
    "badge": Strategy("`Badge`", with_classifier("Badge"), PEER),
    "clue": Strategy("`Clue`", with_classifier("Clue"), PEER),
    "typiclust": Strategy("`TypiClust`", features_only("TypiClust"), PEER),
    "coreset": Strategy("`CoreSet`", features_only("CoreSet"), PEER),
    "ours": Strategy("`suggest`", ours, OURS),
}
"""By their names in the stored file, in the order of the page."""
