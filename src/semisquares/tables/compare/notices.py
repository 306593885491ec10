"""What a reader has to know before trusting a comparison: shifts, leaks, copies, rare classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..._inputs.untested import describe_untested
from ..._utils.messages import Message, Parameter
from ..dataset import Prepared
from .comparison import Notice
from .shift import FOLDS, MOST_LABELED, equal_rows_expected, shift
from .splits import Plan

__all__ = ["copies_across", "copies_labeled", "imbalance", "leaks", "notices", "untested"]

Array = NDArray[Any]

ALMOST_ALL = 0.98
PERFECT = 0.995
FEW_LABELS, FEW_OF_A_CLASS = 20, 5
CHANCE = 0.01
"""How often chance may bring about a column that seems to know the classes."""
COPIES = 0.01
"""A smaller share of copies among the labeled rows changes no verdict."""
RARE, FRAGILE = 0.05, 10
"""A class with a smaller share of the labels, or fewer of them, is worth a word."""


def notices(prepared: Prepared, *, seed: int) -> tuple[Notice, ...]:
    """Look for what makes the verdict of a comparison less trustworthy.

    Parameters
    ----------
    prepared : Prepared
    seed : int
        Draws the folds, and rows where there are very many.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from semisquares.tables import prepare
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"day": rng.normal(size=400), "sick": rng.choice(["no", "yes"], 400)})
    >>> table.loc[table["day"] > -0.5, "sick"] = None
    >>> [notice.kind for notice in notices(prepare(table, "sick"), seed=0)]
    ['shift']
    """
    leaking = _filled_with_the_label(prepared)
    found = [
        shift(prepared, seed=seed, without=leaking),
        *leaks(prepared, seed=seed),
        copies_across(prepared),
        copies_labeled(prepared),
        imbalance(prepared),
    ]
    return tuple(notice for notice in found if notice is not None)


# -- columns that know the label ----------------------------------------------------------------


def leaks(prepared: Prepared, *, seed: int) -> list[Notice]:
    """Say so where a column knows whether there is a label, or which.

    Parameters
    ----------
    prepared : Prepared
    seed : int
        Draws labeled rows where there are very many.
    """
    target, filled = repr(prepared.target.name), _filled_with_the_label(prepared)
    found = []
    for how in ("filled", "empty"):
        found += _leak(
            [column for column in filled if filled[column] == how],
            f"is {how} almost exactly where {target} has a label; if it is written down together "
            "with the label, leave it out",
            f"are {how} almost exactly where {target} has a label; if they are written down "
            "together with the label, leave them out",
            "Rows to predict then lack what the labeled rows have there.",
        )
    return found + _leak(
        _separating(prepared, seed),
        f"alone predicts {target} almost perfectly; if it is known only after {target}, leave it "
        "out",
        f"each alone predict {target} almost perfectly; if they are known only after {target}, "
        "leave them out",
        "All errors then look smaller than they will be for rows where this is not known yet.",
    )


def _leak(columns: list[str], one: str, many: str, meaning: str) -> list[Notice]:
    """Write a notice about these columns, if there are any."""
    if not columns:
        return []
    names = ", ".join(map(repr, columns[:5]))
    names += f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    claim = f"Columns {names} {many}" if len(columns) > 1 else f"Column {names} {one}"
    sentence = Message("{claim} with {drop}.", claim=claim, drop=Parameter("drop", columns))
    return [Notice("leak", sentence, meaning)]


def _filled_with_the_label(prepared: Prepared) -> dict[str, str]:
    """Find the columns that are filled (or empty) where there is a label and nowhere else."""
    labeled = prepared.codes >= 0
    found: dict[str, str] = {}
    if min(labeled.sum(), (~labeled).sum()) < 2 * FOLDS:
        return found
    for j, feature in enumerate(prepared.features):
        if feature.name == f"{feature.column} is missing":
            x = prepared.X[:, j]
            filled = x < (x.min() + x.max()) / 2
            shares = filled[labeled].mean(), filled[~labeled].mean()
            if max(shares) >= ALMOST_ALL and min(shares) <= 1.0 - ALMOST_ALL:
                found[feature.column] = "filled" if shares[0] > shares[1] else "empty"
    return found


def _separating(prepared: Prepared, seed: int) -> list[str]:
    """Find the columns that tell all classes apart, each alone."""
    rows = np.flatnonzero(prepared.codes >= 0)
    rows = np.random.default_rng(seed).permutation(rows)[:MOST_LABELED]
    codes = prepared.codes[rows]
    counts = np.bincount(codes, minlength=len(prepared.target.classes))
    if len(rows) < FEW_LABELS or counts.min() < FEW_OF_A_CLASS:
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
    """Return how well the best feature tells a class from the rest, for the class hardest so."""
    ranks, worst = rankdata(X, axis=0), 1.0
    for k, n in enumerate(np.bincount(codes)):
        auc = (ranks[codes == k].sum(axis=0) - n * (n + 1) / 2) / (n * (len(codes) - n))
        worst = min(worst, float(np.maximum(auc, 1.0 - auc).max()))
    return worst


def _recall_by_level(level: Array, codes: Array) -> float:
    """Return the mean share of a class that the other rows of the same level predict."""
    votes = np.zeros((level.max() + 1, codes.max() + 1))
    np.add.at(votes, (level, codes), 1)
    others = votes[level]
    others[np.arange(len(codes)), codes] -= 1
    right = (others.argmax(axis=1) == codes) & (others.max(axis=1) > 0)
    return float(np.mean([right[codes == k].mean() for k in range(codes.max() + 1)]))


# -- rows that are there twice ------------------------------------------------------------------


def copies_across(prepared: Prepared) -> Notice | None:
    """Say so where unlabeled rows equal labeled ones in every used column."""
    labeled = prepared.codes >= 0
    n = int((_copies(prepared, ~labeled)[labeled] > 0).sum())
    if n <= COPIES * labeled.sum():
        return None
    meaning = Message(
        "While such a row is tested, methods that learn from unlabeled rows have its copy: an "
        "advantage for them in this comparison, which they will not have with new rows. Remove "
        "the copies, or name with {group} a column that says which rows belong together.",
        group=Parameter("group"),
    )
    sentence = f"{_share(n, labeled)} an unlabeled row in every used column."
    return Notice("copies_across", sentence, _natural(prepared) or meaning)


def copies_labeled(prepared: Prepared) -> Notice | None:
    """Say so where labeled rows equal each other in every used column, and how many disagree."""
    labeled = prepared.codes >= 0
    copies = _copies(prepared, labeled)[labeled]
    n = int((copies > 0).sum())
    if n <= COPIES * labeled.sum():
        return None
    n_other = int((copies > _copies(prepared, labeled, prepared.codes)[labeled]).sum())
    verb = "has a copy" if n_other == 1 else "have copies"
    sentence = f"{_share(n, labeled)} another labeled row in every used column" + (
        f"; {n_other:,} of them {verb} with another label." if n_other else "."
    )
    meaning = Message(
        "A row may be learned from while its copy is tested, so that all errors look smaller than "
        "they are. Remove the copies, or name with {group} a column that says which rows belong "
        "together.",
        group=Parameter("group"),
    )
    return Notice("copies_labeled", sentence, _natural(prepared) or meaning)


def _copies(prepared: Prepared, among: Array, *also: Array) -> Array:
    """Count, for each row, its copies among some rows that a split may part from it.

    Rows of the same group are never parted. `also` has to be equal, too.
    """
    keys = (prepared.fingerprints, *also)
    if prepared.groups is None:
        return _count(among, *keys) - among  # no row is a copy of itself
    return _count(among, *keys) - _count(among, *keys, prepared.groups)


def _count(among: Array, *keys: Array) -> Array:
    """Count, for each row, the rows of a mask that are equal in all keys."""
    same, _ = pd.factorize(keys[0])
    for key in keys[1:]:
        other, values = pd.factorize(key)
        same, _ = pd.factorize(same * len(values) + other)
    return np.bincount(same[among], minlength=len(same))[same]


def _share(n: int, labeled: Array) -> str:
    return f"{n:,} of the {labeled.sum():,} labeled rows equal{'s' * (n == 1)}"


def _natural(prepared: Prepared) -> str:
    """Say what equal rows mean where they are to be expected; "" where they are not."""
    if not equal_rows_expected(prepared):
        return ""
    n_different = len(pd.unique(prepared.fingerprints))
    return (
        f"The columns have few values: {len(prepared.codes):,} rows are {n_different:,} different "
        "ones. So equal rows need not be copies, and new rows will equal old ones as often; the "
        "errors then hold for them."
    )


# -- classes with few labels --------------------------------------------------------------------


def untested(planned: Plan, classes: Sequence[Any], *, grouped: bool) -> list[Notice]:
    """Say so where a class could not be tested."""
    if not planned.untested:
        return []
    sentence = describe_untested([classes[k] for k in planned.untested], grouped=grouped)
    meaning = "All scores are about the other classes and say nothing about this one."
    if len(planned.untested) > 1:
        meaning = "All scores are about the other classes and say nothing about these."
    return [Notice("untested", sentence, meaning)]


def imbalance(prepared: Prepared) -> Notice | None:
    """Say so where a class has very few labels."""
    target = prepared.target
    rare = [
        (name, count)
        for name, count in sorted(zip(target.classes, target.counts, strict=True), key=_by_count)
        if count < FRAGILE or count < RARE * target.n_labeled
    ]
    if not rare:
        return None
    named = ", ".join(f"{name!r} has {count:,}" for name, count in rare[:3])
    more = f", and {len(rare) - 3} more have as few" if len(rare) > 3 else ""
    meaning = "What is said about a class with so few labels rests on few rows; label more of it."
    if rare[0][1] < RARE * target.n_labeled:
        meaning += (
            " And whoever never names it is still right most of the time: look at the balanced "
            "accuracy."
        )
    return Notice("imbalance", f"Of {target.n_labeled:,} labels class {named}{more}.", meaning)


def _by_count(one: tuple[Any, int]) -> int:
    return one[1]
