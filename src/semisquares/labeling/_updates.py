"""What a model says while labels come in: the next rows, guesses, accuracy, and when to stop.

A thread fits the classifier after every answer, and leaves out answers that come while it is busy.
Nobody waits for it: until it is done, the session uses what was found before.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone

from .._utils.errors import UserError
from .._utils.typing import Array
from ..estimators import AveragedClassifier
from ._reviewing import DoubtfulLabels, doubtful_labels
from ._suggesting import suggest

if TYPE_CHECKING:
    from ._session import LabelingSession

__all__ = [
    "AccuracyEstimate",
    "Advice",
    "Guess",
    "SameProcess",
    "Update",
    "Updater",
    "Worker",
    "advise",
    "find_update",
    "wilson",
]

BATCH = 20
"""Rows that are suggested at once."""
MORE = 10
"""Labels whose gain is estimated."""
EARLY = 20
"""With fewer labels neither the gain nor the advice to stop is given."""
SMALL_GAIN = 0.002
"""A gain in accuracy that is not worth ten labels."""
FEW_MEASURED = 20
"""With fewer representative rows the gain is estimated from all labels."""
Z = 1.959964
"""Of a 95 % interval."""
MOST_SAMPLED = 2_000
"""Rows from which the strength of features is computed."""


@dataclass(frozen=True)
class Guess:
    """The most probable class of a row."""

    label: str
    probability: float


@dataclass(frozen=True)
class AccuracyEstimate:
    """The leave-one-out accuracy after some labels, on rows that were not chosen by the model."""

    n_labels: int
    n_measured: int
    accuracy: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AccuracyEstimate:
        """Read what `as_dict` returns; other entries are ignored."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True, eq=False)
class Update:
    """What was learned from the labels of one moment."""

    n_labels: int
    suggested: Sequence[int] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    guesses: Mapping[int, Guess] = field(default_factory=dict)
    measurement: AccuracyEstimate | None = None
    gain: float | None = None
    """By how much ten more labels are expected to raise the accuracy."""
    strength: Array | None = None
    """How much each feature has to do with the predicted classes, from 0 to 1."""
    doubtful: DoubtfulLabels | None = None
    """Labels to doubt, as places in the classes; only if a session reviews labels."""
    failure: str = ""
    """Why there is no model, if that is an error."""


@dataclass(frozen=True)
class Advice:
    """Whether to go on labeling."""

    code: str
    """"classes" (there are fewer than two), "early", "go_on", "stop" or "done"."""


def wilson(n_right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    share, denominator = n_right / n, 1.0 + Z**2 / n
    middle = (share + Z**2 / (2 * n)) / denominator
    half = Z * np.sqrt(share * (1.0 - share) / n + Z**2 / (4 * n**2)) / denominator
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def advise(
    n_labeled: int, n_rows: int, counts: Mapping[str, int], gains: Sequence[float]
) -> Advice:
    """Advise whether to go on; `gains` are the latest estimates, the newest last.

    Examples
    --------
    >>> advise(60, 800, {"a": 30, "b": 30}, [0.004, 0.001, 0.0]).code
    'stop'
    >>> advise(60, 800, {"a": 30, "b": 30}, [0.001, 0.004]).code
    'go_on'
    """
    if n_labeled == n_rows:
        return Advice("done")
    if sum(count > 0 for count in counts.values()) < 2:
        return Advice("classes")
    if n_labeled < EARLY or not gains:
        return Advice("early")
    small = len(gains) > 1 and max(gains[-2:]) < SMALL_GAIN
    return Advice("stop" if small else "go_on")


def find_update(
    X: Array,
    codes: Array,
    classes: Sequence[str],
    *,
    model: AveragedClassifier,
    groups: Array | None = None,
    representative: Sequence[int] = (),
    upcoming: Sequence[int] = (),
    with_gain: bool = True,
    measured_codes: Array | None = None,
    with_doubts: bool = False,
) -> Update:
    """Fit a classifier to the labels, and find what a session needs to know.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    codes : array of shape (n_rows,)
        The class of each row, -1 if it has none.
    classes : sequence of str
    model : AveragedClassifier
        The classifier, which is fitted. With `warm_start` it takes over what it has learned from
        the rows in an earlier call, and only the part that depends on labels is fitted.
    groups : array of shape (n_rows,), optional
        Rows that are left out together.
    representative : sequence of int
        Labeled rows on which accuracy is measured.
    upcoming : sequence of int
        Rows whose class is guessed, besides those that are suggested.
    with_gain : bool, default=True
        Whether to estimate what more labels bring, which takes two more fits.
    measured_codes : array of shape (n_rows,), optional
        Labels against which accuracy is measured, if these are not the codes.
    with_doubts : bool, default=False
        Whether to find labels to doubt instead of rows to label and of that estimate.
    """
    n_labels = int(np.count_nonzero(codes >= 0))
    if len(np.unique(codes[codes >= 0])) < 2:
        found = _suggest(clone(model), X, codes, groups)
        return Update(n_labels, *found)
    model.fit(X, codes, groups=groups)
    suggested, reasons = ([], {}) if with_doubts else _suggest(model, X, codes, groups)
    wanted = np.array([*suggested, *upcoming], dtype=np.intp)
    return Update(
        n_labels,
        suggested,
        reasons,
        _guess(model, X, wanted, classes),
        _measure(model, codes if measured_codes is None else measured_codes, representative),
        _gain(model, X, codes, groups, representative) if with_gain and not with_doubts else None,
        _strength(model, X),
        doubtful_labels(model, X, codes, groups=groups) if with_doubts else None,
    )


def _suggest(
    model: AveragedClassifier, X: Array, codes: Array, groups: Array | None
) -> tuple[list[int], dict[int, str]]:
    if (codes >= 0).all():
        return [], {}
    found = suggest(model, X, codes, BATCH, groups=groups)
    rows = [int(row) for row in found.indices]
    return rows, dict(zip(rows, found.reasons, strict=True))


def _guess(
    model: AveragedClassifier, X: Array, rows: Array, classes: Sequence[str]
) -> dict[int, Guess]:
    if not len(rows):
        return {}
    p = model.predict_proba(X[rows])
    best = p.argmax(axis=1)
    return {
        int(row): Guess(classes[int(model.classes_[k])], float(p[i, k]))
        for i, (row, k) in enumerate(zip(rows, best, strict=True))
    }


def _measure(
    model: AveragedClassifier, codes: Array, representative: Sequence[int]
) -> AccuracyEstimate | None:
    """Return the leave-one-out accuracy on representative rows, or None if there are none."""
    rows = np.asarray(model.loo_indices_)
    kept = np.isin(rows, np.array(representative, dtype=np.intp))
    if not kept.any():
        return None
    predicted = model.classes_[model.loo_proba_[kept].argmax(axis=1)]
    right, n = int(np.count_nonzero(predicted == codes[rows[kept]])), int(kept.sum())
    return AccuracyEstimate(int(np.count_nonzero(codes >= 0)), n, right / n, *wilson(right, n))


def _gain(
    model: AveragedClassifier,
    X: Array,
    codes: Array,
    groups: Array | None,
    representative: Sequence[int],
) -> float | None:
    """Estimate what ten more labels bring, from two fits to half of the labels each.

    Suppose that the expected error falls as e + c / L with the number L of labels. Then half of the
    labels cost c / L, and ten more bring that times 10 / (L + 10). The cost is measured by
    1 - P(true class), which varies less than the share of wrong rows. That share is assumed to fall
    in proportion: from 2 % of wrong rows, no label can bring 3 points.
    """
    labeled = np.flatnonzero(codes >= 0)
    if len(labeled) < EARLY or not np.array_equal(labeled, model.loo_indices_):
        return None
    halves = _halves(codes[labeled], None if groups is None else groups[labeled])
    classes = model.classes_
    place = np.searchsorted(classes, codes[labeled])
    full = model.loo_proba_[np.arange(len(labeled)), place]
    half = np.full(len(labeled), np.nan)
    again = copy(model)
    for k in (0, 1):
        y = codes.copy()
        y[labeled[halves == k]] = -1
        if len(np.unique(y[y >= 0])) < len(classes):
            return None
        p = again.fit(X, y, groups=groups).predict_proba(X[labeled[halves == k]])
        half[halves == k] = p[np.arange(len(p)), place[halves == k]]
    kept = np.isin(labeled, np.array(representative, dtype=np.intp))
    if kept.sum() < FEW_MEASURED:
        kept[:] = True
    doubt = float((1.0 - full[kept]).mean())
    loss = np.clip(float((full - half)[kept].mean()), 0.0, doubt)
    wrong = np.count_nonzero((model.loo_proba_.argmax(axis=1) != place)[kept])
    error = (wrong + 0.5) / (kept.sum() + 1.0)  # that no row was wrong does not mean that none is
    return float(loss / doubt * error * MORE / (len(labeled) + MORE)) if doubt > 0.0 else 0.0


def _halves(codes: Array, groups: Array | None) -> Array:
    """Assign rows, or whole groups, to two halves, class by class in turn."""
    if groups is None:
        order = np.argsort(codes, kind="stable")
        halves = np.empty(len(codes), dtype=np.intp)
        halves[order] = np.arange(len(codes)) % 2
        return halves
    names, first, member = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(codes[first], kind="stable")
    of_group = np.empty(len(names), dtype=np.intp)
    of_group[order] = np.arange(len(names)) % 2
    return np.asarray(of_group[member])


def _strength(model: AveragedClassifier, X: Array) -> Array:
    """Return the largest correlation of each feature with the probability of a class."""
    rows = np.linspace(0, len(X) - 1, min(len(X), MOST_SAMPLED)).astype(np.intp)
    sample = X[rows]
    p = model.predict_proba(sample)
    sample, p = sample - sample.mean(axis=0), p - p.mean(axis=0)
    size = np.sqrt(np.square(sample).sum(axis=0))[:, None] * np.sqrt(np.square(p).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.abs(sample.T @ p) / size
    return np.asarray(np.nan_to_num(correlation).max(axis=1))


def codes_of(labels: Sequence[str | None], classes: Sequence[str]) -> Array:
    """Return the place of each label in the classes, -1 if there is none.

    Examples
    --------
    >>> codes_of(["b", None, "a"], ["a", "b"]).tolist()
    [1, -1, 0]
    """
    places = {name: k for k, name in enumerate(classes)}
    return np.array([-1 if one is None else places[one] for one in labels], dtype=np.int64)


class Worker(Protocol):
    """Where models are fitted."""

    def find(self, task: dict[str, Any]) -> Update:
        """Run `find_update` with these arguments, besides the rows."""
        ...

    def stop(self) -> None:
        """End, if it is a process."""
        ...


class SameProcess:
    """Fit models in the thread that asks for them; parameters as in `find_update`."""

    def __init__(
        self, X: Array, groups: Array | None = None, model: AveragedClassifier | None = None
    ) -> None:
        self._X, self._groups = X, groups
        self._model = AveragedClassifier(warm_start=True) if model is None else model

    def find(self, task: dict[str, Any]) -> Update:
        """Run `find_update` with these arguments, besides the rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return find_update(self._X, groups=self._groups, model=self._model, **task)

    def stop(self) -> None:
        """Do nothing."""


class Updater:
    """A thread that has the classifier fitted whenever there are new labels.

    Parameters
    ----------
    session : LabelingSession
    worker : Worker
        Where it is fitted.
    """

    def __init__(self, session: LabelingSession, worker: Worker) -> None:
        self._session, self._worker = session, worker
        self._wake = threading.Condition()
        self._turn_done = -1
        self._stopped = False
        self._gain_at = 0
        self.gains: list[float] = []
        """Estimates of the gain of ten more labels, the newest last."""
        self._thread = threading.Thread(target=self._run, name="semisquares-label", daemon=True)

    def start(self) -> None:
        """Begin with the labels that are there."""
        self._thread.start()

    def request(self) -> None:
        """Tell that an answer was given; returns at once."""
        with self._wake:
            self._wake.notify_all()

    def stop(self) -> None:
        """End; a fit in this process is left to itself."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        self._worker.stop()

    def wait(self, seconds: float) -> bool:
        """Wait until the latest answer is used; return whether it is."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._pending(), seconds)

    def _pending(self) -> bool:
        return self._turn_done != self._session.turn

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped or self._pending())
                if self._stopped:
                    return
            turn, update = self._found()
            with self._wake:
                if self._stopped:
                    return
            self._install(update)
            with self._wake:
                self._turn_done = turn
                self._wake.notify_all()

    def _install(self, update: Update) -> None:
        if update.gain is not None:
            self.gains.append(update.gain)
            self._gain_at = update.n_labels
        # a full disk is reported by the next answer; a closed journal means the end
        with suppress(UserError):
            self._session.install(update)

    def _found(self) -> tuple[int, Update]:
        """Return the turn whose labels were used, and what was found."""
        turn, task = self._session.task()
        n_labels = int(np.count_nonzero(task["codes"] >= 0))
        # two more fits, so not after every single answer
        is_due = n_labels >= self._gain_at + max(2, n_labels // 20) or n_labels < self._gain_at
        try:
            return turn, self._worker.find({**task, "with_gain": is_due})
        except Exception as error:  # labels that no classifier can be fitted to
            return turn, Update(n_labels, failure=" ".join(str(error).split()))
