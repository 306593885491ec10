"""The rivals of a comparison, fitted to the training rows of one split."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.semi_supervised import SelfTrainingClassifier

from ..._utils.errors import CollapsedLabelsWarning
from ...estimators import HardLabelClassifier, SoftLabelClassifier
from .choice import FOLDS, Pair, fit_pair, fit_rows, sample_rows
from .splits import grouped_folds, stratified_order

__all__ = ["ALL", "LABELS", "Complaint", "Fits", "Fitted", "Training", "how"]

Array = NDArray[Any]

LABELS = {
    "ridge": "tuned ridge",
    "logistic": "logistic regression",
    "soft": "soft labels",
    "hard": "hard labels",
    "soft_cv": "soft labels, chosen by the labels",
    "self_training": "self-training",
}
"""What each rival is called."""
ALL = tuple(LABELS)
DECIDING = ("ridge", "soft_cv")
"""The two that the verdict compares: without them there is no answer."""
MOST_HARD = 50_000
MOST_SELF_TRAINING = 5_000
"""More unlabeled rows than this are sampled, as these two are slow."""
MOST_LOGISTIC = 20_000
"""More labeled rows than this are sampled for logistic regression and self-training."""
PENALTIES = np.logspace(-3, 3, 7)
"""The values of C that logistic regression chooses from."""
MAX_ITER = 1000
"""Steps of logistic regression; the usual 100 are not always enough."""


@dataclass(frozen=True, eq=False)
class Training:
    """The rows that one split lets a classifier learn from."""

    X: Array
    codes: Array
    inside: Array
    """A mask: all other rows are not to be looked at."""
    groups: Array | None = None
    seed: int = 0
    count: float = 1.0
    """How often an unlabeled row counts: more than once where the rows are a sample."""

    @cached_property
    def labeled(self) -> Array:
        """The labeled rows to learn from."""
        return np.flatnonzero(self.inside & (self.codes >= 0))

    @cached_property
    def n_unlabeled(self) -> int:
        """How many unlabeled rows there are to learn from."""
        return int(self.inside.sum()) - len(self.labeled)

    def sample(self, most: int) -> tuple[Array, float]:
        """Return all labeled rows and some of the others, and how often each of those counts."""
        rows, count = sample_rows(np.flatnonzero(self.inside), self.codes, most, self.seed)
        return rows, count * self.count


@dataclass(frozen=True)
class Complaint:
    """A warning of a fit."""

    kind: str
    """"lost_class", "convergence" or "other"."""
    sentence: str


@dataclass(frozen=True, eq=False)
class Fitted:
    """A rival after its fit."""

    model: Any
    n_unlabeled: int = 0
    seconds: float = 0.0
    """Of everything that led to the model, also of what rivals share."""
    failed: str = ""
    complaints: tuple[Complaint, ...] = ()


class Fits:
    """All rivals on one training set; they share the search for alpha, and that for C.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=80)
    >>> X = rng.normal(size=(80, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(80) < 20, truth, -1)
    >>> fits = Fits(Training(X, codes, inside=np.ones(80, dtype=bool)))
    >>> fits.fit("hard").n_unlabeled, bool(fits.fit("hard").model.score(X, truth) > 0.9)
    (60, True)
    """

    def __init__(self, training: Training) -> None:
        self.training = training
        self._rivals: dict[str, Callable[[], Fitted]] = {
            "ridge": self._ridge,
            "logistic": lambda: self._logistic,
            "soft": self._soft,
            "hard": self._hard,
            "soft_cv": self._soft_cv,
            "self_training": self._self_training,
        }

    def fit(self, name: str) -> Fitted:
        """Fit a rival; where that fails, the answer says why (but ridge and soft_cv raise)."""
        try:
            return self._rivals[name]()
        except Exception as error:
            if name in DECIDING:
                raise
            return Fitted(None, failed=_sentence(error))

    @cached_property
    def _pair(self) -> tuple[Pair, Fitted]:
        """The search that gives tuned ridge and soft_cv, and the alpha of two more."""
        t = self.training

        def search() -> Pair:
            return fit_pair(
                t.X, t.codes, inside=t.inside, groups=t.groups, seed=t.seed, count=t.count
            )

        found = _timed(search)
        return found.model, found

    def _ridge(self) -> Fitted:
        pair, search = self._pair
        return Fitted(pair.ridge, seconds=search.seconds)

    def _soft_cv(self) -> Fitted:
        pair, search = self._pair
        return replace(search, model=pair.soft_cv, n_unlabeled=self.training.n_unlabeled)

    def _soft(self) -> Fitted:
        t = self.training
        alpha = self._pair[0].choice.supervised_alpha
        model = SoftLabelClassifier(alpha, unlabeled_weight=t.count)
        fitted = _timed(lambda: fit_rows(model, t.X, t.codes, t.inside))
        return self._after(self._pair[1], replace(fitted, n_unlabeled=t.n_unlabeled))

    def _hard(self) -> Fitted:
        t = self.training
        rows, count = t.sample(MOST_HARD)
        model = HardLabelClassifier(
            self._pair[0].choice.supervised_alpha, unlabeled_weight=count, random_state=t.seed
        )
        fitted = _timed(lambda: model.fit(t.X[rows], t.codes[rows]))
        n_unlabeled = len(rows) - len(t.labeled)
        return self._after(self._pair[1], replace(fitted, n_unlabeled=n_unlabeled))

    @cached_property
    def _logistic(self) -> Fitted:
        t = self.training
        rows = self._logistic_rows
        X, codes = t.X[rows], t.codes[rows]
        splits = _logistic_splits(codes, None if t.groups is None else t.groups[rows], t.seed)
        if not splits:
            return _timed(lambda: _logistic_regression(1.0).fit(X, codes))
        model = LogisticRegressionCV(
            Cs=PENALTIES,
            cv=splits,
            l1_ratios=(0.0,),
            scoring="neg_log_loss",
            max_iter=MAX_ITER,
            use_legacy_attributes=False,
        )
        return _timed(lambda: model.fit(X, codes))

    @cached_property
    def _logistic_rows(self) -> Array:
        """The labeled rows that logistic regression sees."""
        labeled = self.training.labeled
        if len(labeled) <= MOST_LOGISTIC:
            return labeled
        rng = np.random.default_rng(self.training.seed)
        return np.sort(labeled[stratified_order(self.training.codes[labeled], rng)[:MOST_LOGISTIC]])

    def _self_training(self) -> Fitted:
        t = self.training
        rows, _ = t.sample(MOST_SELF_TRAINING)
        rows = np.concatenate((self._logistic_rows, rows[t.codes[rows] < 0]))
        penalty = float(getattr(self._logistic.model, "C_", 1.0))
        model = SelfTrainingClassifier(_logistic_regression(penalty))
        fitted = _timed(lambda: model.fit(t.X[rows], t.codes[rows]))
        n_unlabeled = len(rows) - len(self._logistic_rows)
        return self._after(self._logistic, replace(fitted, n_unlabeled=n_unlabeled))

    def _after(self, shared: Fitted, fitted: Fitted) -> Fitted:
        return replace(fitted, seconds=shared.seconds + fitted.seconds)


def _logistic_regression(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=MAX_ITER)


def _logistic_splits(
    codes: Array, groups: Array | None, seed: int
) -> list[tuple[Array, Array]] | None:
    """Split labeled rows for the choice of C; None where a class has a single one."""
    everything = np.arange(len(codes))
    if groups is not None and (repeats := grouped_folds(codes, groups, folds=FOLDS, seed=seed)):
        return [(np.setdiff1d(everything, test), test) for test in repeats[0]]
    n_folds = min(FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return None
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(codes, codes))


def how(name: str, *, fewest: int, n_labeled: int, n_unlabeled: int, n_search: int) -> str:
    """Say in a sentence what a rival is, how it was tuned and on which rows.

    Parameters
    ----------
    name : str
    fewest : int
        Labeled rows of the rarest class in a training set, at the least.
    n_labeled, n_unlabeled : int
        Rows of a training set.
    n_search : int
        Unlabeled rows that the search saw, at the most.

    Examples
    --------
    >>> how("self_training", fewest=4, n_labeled=20, n_unlabeled=80_000, n_search=2_000)
    "scikit-learn's SelfTrainingClassifier around that logistic regression, on the labeled rows and
    5,000 of the 80,000 unlabeled rows, drawn at random."
    """
    single = "as well as the single label of a class allows"
    searched = f", looking at {_some(n_unlabeled, n_search)}" if n_unlabeled > n_search else ""
    tuned = f"chosen {'by cross-validation within the training rows' if fewest > 1 else single}"
    penalty = f"C chosen by {min(FOLDS, fewest)}-fold cross-validation within the training rows"
    labeled = "the labeled rows"
    if n_labeled > MOST_LOGISTIC:
        labeled = f"{MOST_LOGISTIC:,} of the {n_labeled:,} labeled rows"
    counted = "each of which counts as much as a labeled one, with the tuned ridge's alpha"
    sampled = "counted as all, with the tuned ridge's alpha"
    return {
        "ridge": f"Least squares on the labeled rows alone, with an alpha {tuned}.",
        "logistic": f"Logistic regression on {labeled} alone, with "
        f"{penalty if fewest > 1 else 'C = 1, as a class has a single label'}.",
        "soft": f"Soft labels for {_some(n_unlabeled)}, {counted}.",
        "hard": f"Hard labels (self-learning) for {_some(n_unlabeled, MOST_HARD)}, "
        f"{counted if n_unlabeled <= MOST_HARD else sampled}.",
        "soft_cv": f"Soft labels for {_some(n_unlabeled)}, with an alpha, and a weight of these "
        f"rows that may be 0, {tuned}{searched}.",
        "self_training": "scikit-learn's SelfTrainingClassifier around that logistic regression, "
        f"on {labeled} and {_some(n_unlabeled, MOST_SELF_TRAINING)}.",
    }[name]


def _some(n: int, most: int | None = None) -> str:
    if most is None or n <= most:
        return f"all {n:,} unlabeled rows"
    return f"{most:,} of the {n:,} unlabeled rows, drawn at random"


def _timed(work: Callable[[], Any]) -> Fitted:
    """Do some work, and note its seconds and its warnings."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = work()
    seconds = time.perf_counter() - start
    return Fitted(model, seconds=seconds, complaints=tuple(map(_complaint, caught)))


def _complaint(caught: warnings.WarningMessage) -> Complaint:
    kind = "other"
    if issubclass(caught.category, CollapsedLabelsWarning):
        kind = "lost_class"
    elif issubclass(caught.category, ConvergenceWarning):
        kind = "convergence"
    return Complaint(kind, str(caught.message))


def _sentence(error: Exception) -> str:
    """Write an error as one sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith(".") else f"{text}."
