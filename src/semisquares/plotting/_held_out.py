"""Errors on held-out labeled rows, for several numbers of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from .._inputs.labels import one_column, read_labels
from .._utils.typing import Array
from ..model_selection import LabeledStratifiedShuffleSplit

VARIED = {"unlabeled": "unlabeled rows", "labeled": "labeled rows"}
"""Which rows are added, and the label of the axis."""
N_SPLITS = 20
N_SIZES = 6


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Splits of the labeled rows; in each training set some rows are fixed, others are added."""

    X: Any
    y: Any
    sizes: Array
    always: tuple[Array, ...]
    added: tuple[Array, ...]
    tests: tuple[Array, ...]
    share: float
    """The number of test rows per labeled training row."""

    @classmethod
    def split(cls, X: Any, y: Any, *, vary: str, sizes: ArrayLike | None, cv: Any) -> HeldOut:
        """Split the labeled rows, by default into 20 random halves."""
        if vary not in VARIED:
            raise ValueError(f"vary={vary!r} is unknown; take one of {', '.join(VARIED)}.")
        y = one_column(y)
        if cv is None:
            cv = LabeledStratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=0)
        splits = list(cv.split(X, y))
        labels = read_labels(y, unlabeled=getattr(cv, "unlabeled", -1))
        code = np.full(labels.n_rows, -1)
        code[labels.labeled] = labels.codes
        known = code >= 0
        labeled = tuple(train[known[train]] for train, _ in splits)
        rest = tuple(train[~known[train]] for train, _ in splits)
        always, added = (labeled, rest) if vary == "unlabeled" else (rest, labeled)
        tests = tuple(test for _, test in splits)
        share = float(np.mean([len(b) / len(a) for a, b in zip(labeled, tests, strict=True)]))
        least = 0 if vary == "unlabeled" else max(_two_of_each(code[rows]) for rows in labeled)
        at = _read_sizes(sizes, least, min(map(len, added)), vary)
        return cls(X, y, at, always, added, tests, share)

    def errors(self, estimator: Any, scoring: Any = None) -> tuple[Array, Array]:
        """Return the mean error at every size, and its standard error.

        The standard error is corrected for overlapping training sets (Nadeau and Bengio 2003).
        """
        score = check_scoring(estimator, scoring)
        found = np.empty((len(self.tests), len(self.sizes)))
        for k, test in enumerate(self.tests):
            X_test, y_test = _safe_indexing(self.X, test), _safe_indexing(self.y, test)
            for j, size in enumerate(self.sizes):
                rows = np.sort(np.concatenate((self.always[k], self.added[k][:size])))
                model = clone(estimator)
                model.fit(_safe_indexing(self.X, rows), _safe_indexing(self.y, rows))
                found[k, j] = 1.0 - float(score(model, X_test, y_test))
        mean = found.mean(axis=0)
        if len(found) == 1:  # one split has no spread
            return mean, np.full(len(mean), np.nan)
        return mean, found.std(axis=0, ddof=1) * np.sqrt(1.0 / len(found) + self.share)


def _read_sizes(sizes: ArrayLike | None, least: int, most: int, vary: str) -> Array:
    """Return the sorted numbers of rows to fit with; by default all rows, halved repeatedly."""
    if sizes is None:
        halves = most // 2 ** np.arange(N_SIZES - 1)
        return np.unique(np.append(least, halves[halves > least]))
    found = np.unique(np.asarray(sizes, dtype=int))
    if not found.size or found[0] < 0 or found[-1] > most:
        raise ValueError(
            f"sizes={sizes!r} must be numbers from 0 to {most}, the number of {vary} rows in the "
            "smallest training set; leave others out."
        )
    return found


def _two_of_each(codes: Array) -> int:
    """Return the least number of leading rows with two of every class, or all rows."""
    counts = np.cumsum(codes[:, None] == np.unique(codes), axis=0)
    enough = (counts >= 2).all(axis=1)
    return int(enough.argmax()) + 1 if enough.any() else len(codes)
