"""The rivals: the methods of a comparison, fitted to the training rows of one split."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from ..._utils.errors import CollapsedLabelsWarning
from ..._utils.typing import Array
from ...estimators import AveragedClassifier, HardLabelClassifier
from ._rows import TableRows, sample_rows
from ._tuning import FOLDS, fit_pair
from .splits import grouped_folds, stratified_order

__all__ = [
    "ALL",
    "ALONE",
    "CLASSIFIERS",
    "LABELS",
    "QUICK",
    "CaughtWarning",
    "FittedRival",
    "RivalFits",
    "Training",
]


LABELS = {
    "averaged": "averaged classifier",
    "labeled_only": "the same, labeled rows only",
    "ridge": "tuned ridge",
    "logistic": "logistic regression",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "soft": "soft labels",
    "hard": "hard labels",
}
"""What each rival is called. All but "labeled_only" are methods of `fit_table`."""
ALL = tuple(LABELS)
CLASSIFIERS = tuple(name for name in ALL if name != "labeled_only")
"""The rivals of the first question, which classifier to use."""
QUICK = ("averaged", "labeled_only", "ridge", "logistic")
"""The rivals of a quick comparison."""
ALONE = ("logistic", "forest", "boosting")
"""Methods of scikit-learn: they use the labeled rows alone."""
DECIDING = ("averaged", "labeled_only")
"""The two that tell what unlabeled rows are worth: if one of them fails, there is no answer."""
MOST_HARD = 50_000
"""More unlabeled rows than this are sampled for hard labels, which are slow."""
MOST_LABELS = 5_000
"""More labeled rows than this are sampled for the average, logistic regression and trees."""
PENALTIES = np.logspace(-3, 3, 7)
"""The values of C that logistic regression chooses from."""
MAX_ITER = 1000
"""Iterations of logistic regression; the default of 100 is not always enough."""


@dataclass(frozen=True, eq=False)
class Training:
    """The rows that one split lets a classifier learn from."""

    rows: TableRows
    inside: Array
    """A mask of the rows to learn from; all others are off limits."""
    seed: int = 0
    all_labels: bool = False
    """Whether to fit all labels however many there are, as a model that is stored should."""

    @cached_property
    def labeled(self) -> Array:
        """The labeled rows to learn from."""
        return np.flatnonzero(self.inside & (self.rows.codes >= 0))

    @cached_property
    def n_unlabeled(self) -> int:
        """The number of unlabeled rows to learn from."""
        return int(self.inside.sum()) - len(self.labeled)

    def sample(self, most: int) -> TableRows:
        """Return the labeled rows to learn from, and a sample of the others."""
        places = np.flatnonzero(self.inside)
        return self.rows.take(*sample_rows(places, self.rows.codes, most, self.seed))


@dataclass(frozen=True)
class CaughtWarning:
    """A warning that a fit gave."""

    kind: str
    """"lost_class", "convergence" or "other"."""
    message: str


@dataclass(frozen=True, eq=False)
class FittedRival:
    """A rival after its fit."""

    model: Any
    n_unlabeled: int = 0
    seconds: float = 0.0
    """Time of all steps that led to the model, including those that rivals share."""
    failed: str = ""
    warnings: tuple[CaughtWarning, ...] = ()


class RivalFits:
    """All rivals on one training set; linear ones share the search for alpha.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=80)
    >>> X = rng.normal(size=(80, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(80) < 20, truth, -1)
    >>> fits = RivalFits(Training(TableRows(X, codes), inside=np.ones(80, dtype=bool)))
    >>> fits.fit("hard").n_unlabeled, bool(fits.fit("hard").model.score(X, truth) > 0.9)
    (60, True)
    """

    def __init__(self, training: Training) -> None:
        self.training = training
        self._rivals: dict[str, Callable[[], FittedRival]] = {
            "averaged": lambda: self._averaged,
            "labeled_only": self._labeled_only,
            "ridge": self._ridge,
            "logistic": self._logistic,
            "forest": lambda: self._trees(_forest),
            "boosting": lambda: self._trees(_boosting),
            "soft": self._soft,
            "hard": self._hard,
        }

    def fit(self, name: str) -> FittedRival:
        """Fit a rival; if that fails, the result says why, but those of `DECIDING` raise."""
        try:
            return self._rivals[name]()
        except Exception as error:
            if name in DECIDING:
                raise
            return FittedRival(None, failed=_sentence(error))

    @cached_property
    def _averaged(self) -> FittedRival:
        t = self.training
        rows = t.rows.take(np.flatnonzero(t.inside & (t.rows.codes < 0)))
        known = t.rows.take(self.labels)
        X = np.concatenate((known.X, rows.X))
        codes = np.concatenate((known.codes, rows.codes))
        weight = np.where(codes < 0, t.rows.count, 1.0) if t.rows.count > 1.0 else None
        groups = None
        if known.groups is not None and rows.groups is not None:
            groups = np.concatenate((known.groups, rows.groups))
        model = AveragedClassifier()
        return _timed(lambda: model.fit(X, codes, sample_weight=weight, groups=groups), len(rows.X))

    def _labeled_only(self) -> FittedRival:
        return _timed(lambda: self._averaged.model.supervised_)

    @cached_property
    def _pair(self) -> FittedRival:
        """The search behind tuned ridge and soft labels; hard labels take its alpha."""
        t = self.training
        return _timed(lambda: fit_pair(t.rows, inside=t.inside, seed=t.seed))

    def _ridge(self) -> FittedRival:
        return FittedRival(self._pair.model.ridge, seconds=self._pair.seconds)

    def _soft(self) -> FittedRival:
        model, n_unlabeled = self._pair.model.soft, self.training.n_unlabeled
        return replace(self._pair, model=model, n_unlabeled=n_unlabeled)

    def _hard(self) -> FittedRival:
        t = self.training
        rows = t.sample(MOST_HARD)
        alpha = self._pair.model.choice.supervised_alpha
        model = HardLabelClassifier(alpha, unlabeled_weight=rows.count, random_state=t.seed)
        n_unlabeled = len(rows.codes) - len(t.labeled)
        return _timed(lambda: model.fit(rows.X, rows.codes), n_unlabeled, after=self._pair)

    def _logistic(self) -> FittedRival:
        rows = self.training.rows.take(self.labels)
        X, codes = rows.X, rows.codes
        splits = _logistic_splits(codes, rows.groups, self.training.seed)
        if not splits:
            return _timed(lambda: _logistic_regression(1.0).fit(X, codes))
        model = LogisticRegressionCV(
            Cs=PENALTIES,
            cv=splits,
            l1_ratios=(0.0,),
            scoring=_mean_log_probability,
            max_iter=MAX_ITER,
            use_legacy_attributes=False,
        )
        chosen = _timed(lambda: model.fit(X, codes))
        if not self.training.all_labels or len(X) == len(self.training.labeled):
            return chosen
        whole, penalty = self.training.rows.take(self.training.labeled), float(model.C_)
        final = _logistic_regression(penalty)
        return _timed(lambda: final.fit(whole.X, whole.codes), after=chosen)

    def _trees(self, make: Callable[[int], Any]) -> FittedRival:
        t = self.training
        rows = t.rows.take(t.labeled if t.all_labels else self.labels)
        return _timed(lambda: make(t.seed).fit(rows.X, rows.codes))

    @cached_property
    def labels(self) -> Array:
        """The labeled rows that the average, logistic regression and trees see."""
        labeled = self.training.labeled
        if len(labeled) <= MOST_LABELS:
            return labeled
        rng = np.random.default_rng(self.training.seed)
        order = stratified_order(self.training.rows.codes[labeled], rng)
        return np.sort(labeled[order[:MOST_LABELS]])


def _mean_log_probability(model: LogisticRegression, X: Array, y: Array) -> float:
    """Return the score "neg_log_loss"; on small tables its checks take longer than the fits."""
    scores = X @ np.atleast_2d(model.coef_).T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack((np.zeros_like(scores), scores))
    log_probability = scores - logsumexp(scores, axis=1, keepdims=True)
    own = log_probability[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.maximum(own, np.log(np.finfo(np.float64).eps)).mean())


def _logistic_regression(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=MAX_ITER)


def _forest(seed: int) -> Any:
    return RandomForestClassifier(random_state=seed)


def _boosting(seed: int) -> Any:
    # without early stopping: it would set labels aside, and a class may have a single one
    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed)


def _logistic_splits(
    codes: Array, groups: Array | None, seed: int
) -> list[tuple[Array, Array]] | None:
    """Split labeled rows for the choice of C; None if a class has only one."""
    everything = np.arange(len(codes))
    if groups is not None and (repeats := grouped_folds(codes, groups, folds=FOLDS, seed=seed)):
        return [(np.setdiff1d(everything, test), test) for test in repeats[0]]
    n_folds = min(FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return None
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(codes, codes))


def _timed(
    work: Callable[[], Any], n_unlabeled: int = 0, *, after: FittedRival | None = None
) -> FittedRival:
    """Fit a model; record the warnings, and the time with that of the step before it."""
    start = time.perf_counter() - (0.0 if after is None else after.seconds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = work()
    seconds = time.perf_counter() - start
    return FittedRival(model, n_unlabeled, seconds, warnings=tuple(map(_classify, caught)))


def _classify(caught: warnings.WarningMessage) -> CaughtWarning:
    kind = "other"
    if issubclass(caught.category, CollapsedLabelsWarning):
        kind = "lost_class"
    elif issubclass(caught.category, ConvergenceWarning):
        kind = "convergence"
    return CaughtWarning(kind, str(caught.message))


def _sentence(error: Exception) -> str:
    """Write an error as one sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith(".") else f"{text}."
