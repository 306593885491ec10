"""Leaks: columns that reveal the label, or whether there is one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ...._utils.messages import Message, Parameter
from ...._utils.typing import Array
from ...dataset import Prepared
from ..comparison import Notice
from ._context import NoticeContext

__all__ = ["Leak", "columns_filled_by_label", "find", "leaks"]


PRIORITY = 30
ALMOST_ALL = 0.98
"""Share of rows from which a column counts as filled, or as empty, wherever there is a label."""
FEWEST_ROWS = 10
"""With fewer labeled, or unlabeled, rows nothing is said about filled cells."""
PERFECT = 0.995
"""AUC, or mean recall, from which a column predicts the label almost perfectly."""
FEWEST_LABELS, FEWEST_OF_A_CLASS = 20, 5
"""With fewer labels nothing is said about what a column predicts."""
CHANCE = 0.01
"""Tolerated probability that some column predicts the labels perfectly by chance."""
MOST_LABELED = 5_000
"""More labeled rows than this are sampled."""
_MOST_NAMED = 5


@dataclass(frozen=True)
class Leak(Notice):
    """Columns that reveal the label in the same way."""

    kind = "leak"
    how: str
    """"filled" or "empty", wherever there is a label and nowhere else; or "predicts" the label."""
    columns: tuple[str, ...]
    target: str

    def words(self) -> tuple[str, str]:
        names = ", ".join(map(repr, self.columns[:_MOST_NAMED]))
        more = len(self.columns) - _MOST_NAMED
        names += f" and {more} more" if more > 0 else ""
        target, one = repr(self.target), len(self.columns) == 1
        subject, they, them = ("Column", "it is", "it") if one else ("Columns", "they are", "them")
        if self.how == "predicts":
            claim = "alone predicts" if one else "each alone predict"
            why = f"{claim} {target} almost perfectly; if {they} known only after {target}"
            meaning = (
                "All errors then look smaller than they will be for rows where this is not known "
                "yet."
            )
        else:
            why = (
                f"{'is' if one else 'are'} {self.how} almost exactly where {target} has a label; "
                f"if {they} recorded together with the label"
            )
            meaning = "Rows to predict then lack what the labeled rows have there."
        sentence = Message(
            "{claim}, leave {them} out with {drop}.",
            claim=f"{subject} {names} {why}",
            them=them,
            drop=Parameter("drop", list(self.columns)),
        )
        return sentence, meaning


def find(context: NoticeContext) -> list[Leak]:
    """Look for leaks in a table."""
    return leaks(context.prepared, seed=context.seed)


def leaks(prepared: Prepared, *, seed: int) -> list[Leak]:
    """Find the columns that reveal the label, or whether there is one.

    Parameters
    ----------
    prepared : Prepared
    seed : int
        Draws labeled rows if there are very many.
    """
    filled = columns_filled_by_label(prepared)
    columns = {
        "filled": [column for column in filled if filled[column] == "filled"],
        "empty": [column for column in filled if filled[column] == "empty"],
        "predicts": _separating_columns(prepared, seed),
    }
    target = prepared.target.name
    return [Leak(how, tuple(found), target) for how, found in columns.items() if found]


def columns_filled_by_label(prepared: Prepared) -> dict[str, str]:
    """Find the columns "filled", or "empty", where there is a label and nowhere else."""
    labeled = prepared.codes >= 0
    found: dict[str, str] = {}
    if min(labeled.sum(), (~labeled).sum()) < FEWEST_ROWS:
        return found
    for j, feature in enumerate(prepared.features):
        if feature.role == "missing":
            filled = prepared.X[:, j] <= 0.0  # a flag is positive if and only if it is set
            shares = filled[labeled].mean(), filled[~labeled].mean()
            if max(shares) >= ALMOST_ALL and min(shares) <= 1.0 - ALMOST_ALL:
                found[feature.column] = "filled" if shares[0] > shares[1] else "empty"
    return found


def _separating_columns(prepared: Prepared, seed: int) -> list[str]:
    """Find the columns that separate all classes, each by itself."""
    rows = np.flatnonzero(prepared.codes >= 0)
    rows = np.random.default_rng(seed).permutation(rows)[:MOST_LABELED]
    codes = prepared.codes[rows]
    counts = np.bincount(codes, minlength=len(prepared.target.classes))
    if len(rows) < FEWEST_LABELS or counts.min() < FEWEST_OF_A_CLASS:
        return []
    places: dict[str, list[int]] = {}
    for j, feature in enumerate(prepared.features):
        places.setdefault(feature.column, []).append(j)
    ways = math.log(CHANCE / len(places)) + _log_comb(len(rows), int(counts.min()))
    known, found = prepared.X[rows], []
    for column, features in places.items():
        X = known[:, features]
        values, level = np.unique(X, axis=0, return_inverse=True)
        by_level = len(values) * math.log(2) < ways and _recall_by_level(level, codes) >= PERFECT
        if by_level or (math.log(2 * X.shape[1]) < ways and _auc_by_feature(X, codes) >= PERFECT):
            found.append(column)
    return found


def _log_comb(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k rows of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _auc_by_feature(X: Array, codes: Array) -> float:
    """Return the AUC of the best feature for one class against the rest; the worst over classes."""
    ranks, worst = rankdata(X, axis=0), 1.0
    for k, n in enumerate(np.bincount(codes)):
        auc = (ranks[codes == k].sum(axis=0) - n * (n + 1) / 2) / (n * (len(codes) - n))
        worst = min(worst, float(np.maximum(auc, 1.0 - auc).max()))
    return worst


def _recall_by_level(level: Array, codes: Array) -> float:
    """Return the mean recall over classes if each row gets the majority of its level's others."""
    votes = np.zeros((level.max() + 1, codes.max() + 1))
    np.add.at(votes, (level, codes), 1)
    others = votes[level]
    others[np.arange(len(codes)), codes] -= 1
    right = (others.argmax(axis=1) == codes) & (others.max(axis=1) > 0)
    return float(np.mean([right[codes == k].mean() for k in range(codes.max() + 1)]))
