"""Leaks: columns that reveal the label, or whether there is one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv
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
ACCURATE, DOUBT = 0.89, 0.01
"""The lower 99 % confidence bound of its accuracy has to reach 0.89.

That takes 40 labels if it is right about all of them: a column that is right 91 % of the time is
right about 35 labels too often.
"""
FEWEST_OF_A_CLASS = 5
"""Classes with fewer labels are left out when predictions are judged."""
MOST_LEVELS, ROWS_OF_A_LEVEL = 50, 5
"""Values are taken for levels if there are at most 50, with 5 independent rows each on average."""
CHANCE = 0.01
"""Tolerated probability that some column predicts the labels perfectly by chance."""
MOST_LABELED = 5_000
"""More labeled rows than this are sampled."""
MOST_COMPARED = 20
"""Other columns by which copies of rows are recognised, at most."""
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
    counts = np.bincount(prepared.codes[rows], minlength=len(prepared.target.classes))
    rows = rows[counts[prepared.codes[rows]] >= FEWEST_OF_A_CLASS]
    codes = np.unique(prepared.codes[rows], return_inverse=True)[1]
    if len(np.unique(codes)) < 2:
        return []
    places: dict[str, list[int]] = {}
    for j, feature in enumerate(prepared.features):
        places.setdefault(feature.column, []).append(j)
    known = prepared.X[rows]
    groups = None if prepared.groups is None else prepared.groups[rows]
    levels = {name: _levels(known[:, features]) for name, features in places.items()}
    found = []
    for name, features in places.items():
        by_level = _judge_levels(levels[name], codes)
        by_order = _judge_order(known[:, features], codes)
        if not by_level and not by_order:
            continue
        others = (level for other, level in levels.items() if other != name)
        share = _share_independent(levels[name], others)
        if groups is not None:
            share = min(share, _share_of_groups(levels[name], groups))
        judged = (one for one in (by_level, by_order) if one is not None)
        if any(_is_certain(one, codes, share, len(places)) for one in judged):
            found.append(name)
    return found


@dataclass(frozen=True)
class _Judgement:
    """How well a column predicts the labels of some rows."""

    n_right: int
    log_rules: float
    """The logarithm of the number of rules among which the best was chosen."""
    n_levels: int = 0
    """Levels of the rule; 0 if it is a threshold."""


def _judge_levels(level: Array, codes: Array) -> _Judgement | None:
    """Judge the rule that each level has one class; None if that is not almost perfect."""
    n_levels = int(level.max()) + 1
    if n_levels > MOST_LEVELS or _recall_by_level(level, codes) < PERFECT:
        return None
    n_right = int(_right_by_level(level, codes).sum())
    return _Judgement(n_right, n_levels * math.log(2), n_levels)


def _judge_order(X: Array, codes: Array) -> _Judgement | None:
    """Judge thresholds of the features of a column; None if they are not almost perfect."""
    if _auc_by_feature(X, codes) < PERFECT:
        return None
    return _Judgement(len(codes) - _errors_by_feature(X, codes), math.log(2 * X.shape[1]))


def _is_certain(one: _Judgement, codes: Array, share: float, n_columns: int) -> bool:
    """Tell whether chance explains neither the separation nor that it is so accurate.

    Parameters
    ----------
    one : _Judgement
    codes : ndarray of shape (n_rows,)
    share : float
        Of the rows that are independent of each other.
    n_columns : int
        Columns that might have separated the classes by chance.
    """
    counts = np.bincount(codes)
    n, fewest = share * len(codes), share * counts.min()
    if one.n_levels and n < ROWS_OF_A_LEVEL * one.n_levels:
        return False
    if not one.log_rules < math.log(CHANCE / n_columns) + _log_comb(n, fewest):
        return False
    n_right = share * one.n_right
    lowest = float(betaincinv(n_right, n - n_right + 1.0, DOUBT))  # Clopper & Pearson, 1934
    return lowest >= ACCURATE and lowest > float(counts.max()) / len(codes)


def _levels(X: Array) -> Array:
    """Number the different rows of the features of a column."""
    level = np.zeros(len(X), dtype=np.int64)
    for feature in X.T:
        values, place = np.unique(feature, return_inverse=True)
        level = np.unique(level * len(values) + place, return_inverse=True)[1]
    return level


def _share_independent(level: Array, others: Iterable[Array]) -> float:
    """Return the share of rows that are not copies of others, by a majority of other columns.

    If a table is written twice, its rows have half as many different pairs of values of two columns
    as rows would have if the columns were independent. Columns with few values cannot show that.
    """
    n_rows, n_levels = len(level), int(level.max()) + 1
    shares = []
    for other in others:
        n_values = int(other.max()) + 1
        if n_levels * n_values > n_rows:
            n_pairs = len(np.unique(level * n_values + other))
            expected = n_levels * n_values * -math.expm1(-n_rows / (n_levels * n_values))
            shares.append(min(1.0, n_pairs / expected))
        if len(shares) == MOST_COMPARED:
            break
    return sorted(shares)[(len(shares) - 1) // 2] if shares else 1.0


def _share_of_groups(level: Array, groups: Array) -> float:
    """Return the share of rows that are left if equal rows of a group count once."""
    return len(np.unique(np.column_stack([level, groups]), axis=0)) / len(level)


def _log_comb(n: float, k: float) -> float:
    """Return the logarithm of the number of ways to choose k rows of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _auc_by_feature(X: Array, codes: Array) -> float:
    """Return the AUC of the best feature for one class against the rest; the worst over classes."""
    ranks, worst = rankdata(X, axis=0), 1.0
    for k, n in enumerate(np.bincount(codes)):
        auc = (ranks[codes == k].sum(axis=0) - n * (n + 1) / 2) / (n * (len(codes) - n))
        worst = min(worst, float(np.maximum(auc, 1.0 - auc).max()))
    return worst


def _errors_by_feature(X: Array, codes: Array) -> int:
    """Return the errors of the best threshold for one class against the rest; the most of all."""
    most = 0
    for k in range(codes.max() + 1):
        inside = codes == k
        fewest = min(_threshold_errors(feature, inside) for feature in X.T)
        most = max(most, fewest)
    return most


def _threshold_errors(feature: Array, inside: Array) -> int:
    """Return the fewest errors of a threshold, whichever side the class is on."""
    order = np.argsort(feature, kind="stable")
    above = np.append(np.diff(feature[order]) > 0.0, True)  # thresholds do not cut ties
    n_inside = np.cumsum(inside[order])[above]
    n_outside = np.cumsum(~inside[order])[above]
    wrong = n_outside + n_inside[-1] - n_inside  # if the class is below the threshold
    return int(min(wrong.min(), (len(feature) - wrong).min()))


def _recall_by_level(level: Array, codes: Array) -> float:
    """Return the mean recall over classes if each row gets the majority of its level's others."""
    right = _right_by_level(level, codes)
    return float(np.mean([right[codes == k].mean() for k in range(codes.max() + 1)]))


def _right_by_level(level: Array, codes: Array) -> Array:
    """Tell which rows have the class that most other rows of their level have."""
    votes = np.zeros((level.max() + 1, codes.max() + 1))
    np.add.at(votes, (level, codes), 1)
    others = votes[level]
    others[np.arange(len(codes)), codes] -= 1
    return (others.argmax(axis=1) == codes) & (others.max(axis=1) > 0)
