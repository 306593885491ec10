"""Shift: the labeled rows of a table differ from the unlabeled ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold

from ...._utils.typing import Array
from ...dataset import Prepared
from ..comparison import Notice
from ..scores import auc
from ._context import NoticeContext
from .copies import equal_rows_expected
from .leak import columns_filled_by_label

__all__ = ["Shift", "find", "shift"]


PRIORITY = 20
LEAST_AUC = 0.6
"""The AUC of a shift by a third of a standard deviation; a smaller one is not worth a notice."""
FOLDS = 5
MOST_LABELED, MOST_UNLABELED, MOST_CELLS = 5_000, 10_000, 20_000_000
"""More rows than this are sampled."""


@dataclass(frozen=True)
class Shift(Notice):
    """A classifier that separates labeled from unlabeled rows."""

    kind = "shift"
    auc: float
    """Cross-validated."""
    features: tuple[str, ...]
    """The one or two features that contribute most."""

    def words(self) -> tuple[str, str]:
        return (
            "The labeled rows do not look like the unlabeled ones: a classifier tells them apart "
            f"with AUC {self.auc:.2f} (0.5 is chance), most by "
            f"{' and '.join(map(repr, self.features))}.",
            "Errors are measured on labeled rows and may not hold for the unlabeled ones, and the "
            "methods that learn from unlabeled rows assume that both come from the same source.",
        )


def find(context: NoticeContext) -> list[Shift | None]:
    """Look for a shift in columns other than those that are filled together with the label."""
    prepared = context.prepared
    return [shift(prepared, seed=context.seed, without=columns_filled_by_label(prepared))]


def shift(prepared: Prepared, *, seed: int, without: Collection[str] = ()) -> Shift | None:
    """Test whether a classifier can separate labeled from unlabeled rows.

    There is a notice if its AUC exceeds 0.6 by more than 1.96 standard errors. With labels missing
    at random, few of them or many columns do not lead to that. Labeled rows that were suggested are
    left out: they are meant to differ.

    Parameters
    ----------
    prepared : Prepared
    seed : int
    without : collection of str
        Columns to leave out.
    """
    kept = [j for j, feature in enumerate(prepared.features) if feature.column not in without]
    rows = _sample(prepared.codes, prepared.suggested, len(kept), seed)
    labeled = prepared.codes[rows] >= 0
    together, units = _units(prepared, rows)
    sizes = [len(np.unique(units[part])) for part in (labeled, ~labeled)]
    if min(sizes) < 2 * FOLDS or not kept:
        return None
    X = prepared.X[rows][:, kept]
    auc = _cross_validated_auc(X, labeled, together, seed)
    if not auc > LEAST_AUC + 1.96 * _standard_error(LEAST_AUC, *sizes):
        return None
    features = (prepared.features[kept[j]].name for j in _strongest_features(X, labeled))
    return Shift(auc, tuple(features))


def _sample(codes: Array, suggested: Array | None, n_features: int, seed: int) -> Array:
    """Return labeled rows that were not suggested, and unlabeled ones; samples of very many."""
    labeled = codes >= 0 if suggested is None else (codes >= 0) & ~suggested
    rng = np.random.default_rng(seed)
    share = min(1.0, MOST_CELLS / ((MOST_LABELED + MOST_UNLABELED) * max(1, n_features)))
    parts = []
    for part, most in ((labeled, MOST_LABELED), (codes < 0, MOST_UNLABELED)):
        rows = np.flatnonzero(part)
        parts.append(rng.permutation(rows)[: max(100, int(share * most))])
    return np.sort(np.concatenate(parts))


def _units(prepared: Prepared, rows: Array) -> tuple[Array | None, Array]:
    """Return what must stay on one side of a split, and what counts as one observation.

    Copies of a row stay together, because a classifier would recognise them. Rows of a group may be
    much alike, so a group counts once, however many rows it has.
    """
    alone = np.arange(len(rows))
    if prepared.groups is not None:
        groups, _ = pd.factorize(prepared.groups[rows])
        return groups, groups
    if equal_rows_expected(prepared):
        return None, alone
    # numbered in the order of the rows, so that folds do not depend on the last digits
    marks, _ = pd.factorize(prepared.fingerprints[rows])
    return (marks if len(np.unique(marks)) < len(rows) else None), alone


def _cross_validated_auc(X: Array, labeled: Array, together: Array | None, seed: int) -> float:
    """Return the mean AUC over folds; NaN if no fold has both kinds of rows."""
    if together is None:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, labeled)
    elif len(np.unique(together)) < FOLDS:
        return math.nan
    else:
        folds = GroupKFold(FOLDS, shuffle=True, random_state=seed).split(X, labeled, together)
    scores, weights = [], []
    for train, test in folds:
        counts = np.bincount(labeled[test], minlength=2)
        if counts.all() and len(np.unique(labeled[train])) == 2:
            z = _logistic(X[train], labeled[train]).decision_function(X[test])
            scores.append(auc(z[:, None], labeled[test, None]))
            weights.append(counts.prod())
    return float(np.average(scores, weights=weights)) if scores else math.nan


def _logistic(X: Array, labeled: Array) -> LogisticRegression:
    model = LogisticRegression(C=0.1, class_weight="balanced", tol=1e-3, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough fit is good enough
        return model.fit(X, labeled)


def _standard_error(auc: float, n: int, m: int) -> float:
    """Return the standard error of a cross-validated AUC of n rows against m.

    That of Hanley & McNeil (1982) times √2: theirs is for a given classifier, and here the folds'
    classifiers vary with the same rows. In simulations the factor came out as 1.4.
    """
    both = auc / (2.0 - auc) - auc**2, 2.0 * auc**2 / (1.0 + auc) - auc**2
    variance = (auc * (1.0 - auc) + (n - 1) * both[0] + (m - 1) * both[1]) / (n * m)
    return math.sqrt(2.0 * variance)


def _strongest_features(X: Array, labeled: Array) -> list[int]:
    """Return the one or two features that separate the mean decision values most."""
    gap = X[labeled].mean(axis=0) - X[~labeled].mean(axis=0)
    part = _logistic(X, labeled).coef_[0] * gap
    best = np.argsort(-part, kind="stable")[:2]
    return [int(j) for j in best if part[j] >= part[best[0]] / 3]
