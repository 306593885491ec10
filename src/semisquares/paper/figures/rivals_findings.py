"""What `rivals` shows, in words: who is ahead, who helps, who hurts, and where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.words import percent
from .fig6_learning_curves import ENOUGH_REPEATS, ENOUGH_SETS
from .figure import Finding, Table
from .protocol import compared
from .ranking import LEVEL
from .rivals_methods import (
    COMPETITORS,
    LABELS_ALONE,
    METHODS,
    MOST_TO_ENUMERATE,
    OPTIMISTS,
    PESSIMISTS,
)

if TYPE_CHECKING:
    import pandas as pd

SAME = 1e-8
"""Decision values that differ by less, as a share of the largest, are those of one fit."""
WITHOUT_RIDGE = ("soft", "hard", "implicitly_constrained")


def findings(table: Table) -> list[Finding]:
    """Say what the table shows, claim by claim."""
    return [
        _ranks_differ(table),
        _one_is_ahead(table),
        _best_where(table),
        _beats(table, "soft", "supervised"),
        _beats(table, "soft", "hard"),
        _nearest_to_the_oracle(table),
        *(_never_hurts(table, name) for name in PESSIMISTS),
        _optimists_hurt(table),
        _all_help(table),
        _against_the_ridge(table),
        *_all_labelings(table),
        _missing_outcomes(table),
        _failures(table),
    ]


def _name(method: str) -> str:
    return METHODS[method].look.label


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(parts: Iterable[str], none: str = "none") -> str:
    return ", ".join(parts) or none


def _enough(table: Table, n_sets: int = 2) -> bool:
    """Tell whether there are repeats and data sets enough for a verdict."""
    some = table.summary["dataset"].nunique() >= n_sets
    return some and table.settings.repeats >= ENOUGH_REPEATS


def _ranks_differ(table: Table) -> Finding:
    test = table.details["friedman"].iloc[0]
    k, N = int(test["methods"]), int(test["datasets"])
    told = bool(np.isfinite(test["p"]))
    return Finding(
        "The methods differ in mean rank",
        bool(test["p"] < LEVEL) if told and _enough(table) else None,
        f"{k} methods on {N} data sets at {test['n_unlabeled']:.0f} unlabeled rows; Friedman's "
        f"test in the form of Iman and Davenport: F = {test['F']:.1f} with {k - 1} and "
        f"{(k - 1) * (N - 1)} degrees of freedom, p = {test['p']:.1g}"
        if told
        else "one data set is too few for a test",
    )


def _one_is_ahead(table: Table) -> Finding:
    found, test = table.details["ranks"], table.details["friedman"].iloc[0]
    apart = float(test["critical_difference"])
    near = found[found["mean_rank"] - found["mean_rank"].min() <= apart]
    first, *others = (
        f"{_name(method)} ({rank:.1f})"
        for method, rank in zip(near["method"], near["mean_rank"], strict=True)
    )
    return Finding(
        "One method is ahead of all others in mean rank",
        bool(test["p"] < LEVEL and not others) if _enough(table, ENOUGH_SETS) else None,
        f"the best is {first}; not significantly worse (Nemenyi's test at {percent(LEVEL, 0)}: "
        f"within {apart:.1f}) are {_listed(others)}",
    )


def _common_size(table: Table) -> int:
    return int(table.details["friedman"]["n_unlabeled"].iloc[0])


def _here(table: Table) -> str:
    return f"at {_common_size(table)} unlabeled rows"


def _best_where(table: Table) -> Finding:
    here = table.summary[table.summary["n_unlabeled"] == _common_size(table)]
    here = here[here["method"].isin(COMPETITORS)].dropna(subset=["error"])
    best = here.loc[here.groupby("dataset", sort=False)["error"].idxmin()]
    wins = best.groupby("method", sort=False)["dataset"].agg(list)
    wins = wins.loc[wins.map(len).sort_values(ascending=False, kind="stable").index]
    n_sets = table.summary["dataset"].nunique()
    return Finding(
        "One method has the lowest error on most data sets",
        bool(len(wins.iloc[0]) > n_sets / 2) if _enough(table) else None,
        f"{_here(table)}, lowest are "
        + "; ".join(f"{_name(m)} on {', '.join(sets)}" for m, sets in wins.items()),
    )


def _pair(table: Table, method: str, other: str) -> pd.Series:
    pairs = table.details["pairs"]
    return pairs[(pairs["method"] == method) & (pairs["other"] == other)].iloc[0]


def _where(pair: pd.Series, side: str) -> str:
    """Name the data sets on one side of a pair."""
    return ", ".join(str(pair[f"{side}_on"]).split()) if pair[side] else "none"


def _score(table: Table, pair: pd.Series) -> str:
    return (
        f"{_here(table)} clearly better on {pair['better']}, worse on {pair['worse']} of "
        f"{table.summary['dataset'].nunique()} data sets (worse: {_where(pair, 'worse')})"
    )


def _beats(table: Table, method: str, other: str) -> Finding:
    pair = _pair(table, method, other)
    return Finding(
        f"{_capital(_name(method))} beat {_name(other)} on most data sets",
        bool(pair["better"] > table.summary["dataset"].nunique() / 2) if _enough(table) else None,
        _score(table, pair),
    )


def _nearest_to_the_oracle(table: Table) -> Finding:
    means = table.details["means"]
    last = means[means["n_unlabeled"] == _common_size(table)]
    mean = last.set_index("method")["error"]
    gap = mean["supervised"] - mean["oracle"]
    claim = "Of least squares without a ridge, soft labels come nearest to the oracle"
    errors = (
        f"{_here(table)} the mean error is {mean['supervised']:.3f} supervised, "
        f"{mean['oracle']:.3f} for the oracle"
    )
    if not gap > 0.0:
        return Finding(claim, None, f"{errors}: there is no gap to close")
    closed = {name: (mean["supervised"] - mean[name]) / gap for name in WITHOUT_RIDGE}
    return Finding(
        claim,
        max(closed, key=closed.__getitem__) == "soft" if _enough(table) else None,
        f"{errors}; of that gap are closed by "
        + ", ".join(f"{_name(name)} {percent(share, 0)}" for name, share in closed.items()),
    )


def _never_hurts(table: Table, method: str) -> Finding:
    other = METHODS[method].without
    assert other is not None
    pair = _pair(table, method, other)
    return Finding(
        f"A pessimist never hurts: {_name(method)} against {_name(other)}",
        bool(pair["worse"] == 0) if _enough(table) else None,
        _score(table, pair),
    )


def _optimists_hurt(table: Table) -> Finding:
    pairs = {name: _pair(table, name, str(METHODS[name].without)) for name in OPTIMISTS}
    hurt = any(pair["worse"] for pair in pairs.values())
    return Finding(
        "An optimist can hurt: there are data sets on which it is worse than without the "
        "unlabeled rows",
        (True if hurt else None) if _enough(table) else None,
        f"{_here(table)} worse are "
        + "; ".join(f"{_name(name)} on {_where(pair, 'worse')}" for name, pair in pairs.items()),
    )


def _all_help(table: Table) -> Finding:
    pairs = {
        name: _pair(table, name, str(METHODS[name].without))
        for name in COMPETITORS
        if METHODS[name].without
    }
    return Finding(
        "With every method the unlabeled rows help on more data sets than they hurt",
        all(pair["better"] > pair["worse"] for pair in pairs.values()) if _enough(table) else None,
        f"{_here(table)}, help and hurt against the same classifier without them: "
        + ", ".join(
            f"{_name(m)} {pair['better']} and {pair['worse']}" for m, pair in pairs.items()
        ),
    )


def _against_the_ridge(table: Table) -> Finding:
    learners = [name for name in COMPETITORS if name not in LABELS_ALONE]
    pairs = sorted(
        ((name, _pair(table, name, "ridge")) for name in learners),
        key=lambda one: one[1]["worse"] - one[1]["better"],
    )
    most = table.summary["dataset"].nunique() / 2
    return Finding(
        "Some method that uses the unlabeled rows beats the tuned supervised ridge on most data "
        "sets",
        any(pair["better"] > most for _, pair in pairs) if _enough(table) else None,
        f"{_here(table)}, better and worse than the ridge: "
        + ", ".join(f"{_name(name)} {pair['better']} and {pair['worse']}" for name, pair in pairs),
    )


def _all_labelings(table: Table) -> list[Finding]:
    summary = table.summary
    at = summary["n_unlabeled"][summary["n_unlabeled"] <= MOST_TO_ENUMERATE].max()
    points = {
        method: rows.set_index("dataset")
        for method, rows in summary[summary["n_unlabeled"] == at].groupby("method")
    }
    return [
        compared(
            f"With {at} unlabeled rows, the {_name(best)} has a lower error than {_name(local)}",
            points[best],
            points[local],
        )
        for best, local in (("all_labelings", "hard"), ("all_labelings_lda", "self_learning"))
    ]


def _missing_outcomes(table: Table) -> Finding:
    found = table.details["missing_outcomes"]
    fits, undecided = int(found["fits"].sum()), int(found["open"].sum())
    largest = float(found["largest"].max())
    return Finding(
        "Regression with missing outcomes (Yates) is the supervised fit",
        bool(largest < SAME) if fits else None,
        (
            f"decision values differ by {largest:.0e} of the largest at most, in {fits:,} fits"
            if fits
            else "no fit tells"
        )
        + (f"; in {undecided:,} more, labels leave weights open" if undecided else ""),
    )


def _failures(table: Table) -> Finding:
    failed, stopped = (_counted(table, column) for column in ("failures", "unfinished"))
    return Finding(
        "Every fit gives an answer",
        bool((table.summary["failures"] == 0).all()),
        f"of {table.summary['repeats'].sum():,} errors to be measured, missing as the fit failed: "
        f"{failed}; after a fit that stopped before it had converged: {stopped}",
    )


def _counted(table: Table, column: str) -> str:
    """Say to how many fits of which methods something happened, and on which data sets."""
    some = table.summary[table.summary[column] > 0]
    return _listed(
        f"{rows[column].sum()} of {_name(str(method))} ({', '.join(rows['dataset'].unique())})"
        for method, rows in some.groupby("method", sort=False)
    )
