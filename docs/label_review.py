"""The tables on how well wrong labels are found, beside cleanlab."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from benchmarks.label_review import RATES, STORED, read
from benchmarks.peers.markdown import grid, points
from benchmarks.peers.sets import SETS

NAMES = {"ours": "`doubtful_labels`", "cleanlab": "cleanlab"}
"""The reviews, by their names in the stored file."""
FITS = {
    "given": "all labels as given",
    "ours": "without those that `doubtful_labels` finds",
    "cleanlab": "without those that cleanlab finds",
    "truth": "without the wrong ones",
}


def cases() -> pd.DataFrame:
    """Return the stored cases, a line each."""
    return pd.json_normalize(read(STORED)["cases"])


def mean_over_tables(values: pd.Series, stored: pd.DataFrame) -> tuple[float, float]:
    """Return the mean over tables, and its standard error from the variation over splits."""
    by_table = values.groupby(stored["table"])
    variances = by_table.var(ddof=1) / by_table.count()
    return float(by_table.mean().mean()), float(np.sqrt(variances.sum()) / len(by_table))


def first_found(stored: pd.DataFrame, name: str) -> pd.Series:
    """Return the share of the first labels that are wrong; as many are first as are wrong."""
    return stored[f"{name}.first"] / stored["wrong"]


def found() -> str:
    """Return precision and recall of both reviews at each share of wrong labels."""
    head = [
        "wrong labels", "review", "precision and recall among the first",
        "declared wrong", "precision of these", "recall of these",
    ]  # fmt: skip
    return grid(head, [_found_row(rate, name) for rate in RATES for name in NAMES])


def _found_row(rate: float, name: str) -> list[str]:
    stored = _of(rate)
    said, right = stored[f"{name}.said"], stored[f"{name}.right"]
    mean, error = mean_over_tables(first_found(stored, name), stored)
    return [
        f"{100 * rate:.0f} %",
        NAMES[name],
        f"{100 * mean:.1f} ± {error * 100:.1f} %",
        f"{mean_over_tables(said, stored)[0]:.1f} of {stored['labels'].mean():.0f}",
        f"{100 * right.sum() / said.sum():.1f} %",
        f"{100 * right.sum() / stored['wrong'].sum():.1f} %",
    ]


def accuracies() -> str:
    """Return the accuracies of the classifier that is fitted to what each review leaves."""
    head = ["`AveragedClassifier` fitted to", *(f"{100 * rate:.0f} % wrong" for rate in RATES)]
    rows = []
    for name, words in FITS.items():
        cells = [mean_over_tables(_of(rate)[f"accuracy.{name}"], _of(rate)) for rate in RATES]
        rows.append([words, *(f"{100 * mean:.2f} %" for mean, _ in cells)])
    return grid(head, rows)


def numbers_wrong() -> str:
    """Return how the estimated number of wrong labels compares with the true one."""
    head = [
        "wrong labels",
        "mean number",
        "mean estimate",
        "in the interval",
        "its width",
    ]
    rows = []
    for rate in RATES:
        stored = _of(rate)
        low, high = _interval(stored)
        inside = is_inside(stored)
        rows.append([
            f"{100 * rate:.0f} %",
            f"{stored['wrong'].mean():.1f}",
            f"{stored['expected'].mean():.1f}",
            f"in {inside.sum()} of {len(inside)} cases",
            f"{(high - low).mean():.0f} labels on average",
        ])  # fmt: skip
    return grid(head, rows)


def is_inside(stored: pd.DataFrame) -> pd.Series:
    """Tell in which cases the interval holds the number of wrong labels."""
    low, high = _interval(stored)
    return (low <= stored["wrong"]) & (stored["wrong"] <= high)


def by_table() -> str:
    """Return the share of wrong labels among the first, and the change of accuracy, by table."""
    head = ["table", "labels"]
    for rate in RATES:
        head += [f"{100 * rate:.0f} %: {name}" for name in NAMES.values()]
    head += [f"{100 * rate:.0f} %: accuracy, in points" for rate in RATES]
    return grid(head, [_table_row(table) for table in SETS if _has(table)])


def _has(table: str) -> bool:
    return bool((cases()["table"] == table).any())


def _table_row(table: str) -> list[str]:
    shares, changes = [], []
    for rate in RATES:
        stored = _of(rate)
        stored = stored[stored["table"] == table]
        pairs = [first_found(stored, name).mean() for name in NAMES]
        shares += [_bold(f"{100 * one:.0f} %", one == max(pairs)) for one in pairs]
        changes.append(points((stored["accuracy.ours"] - stored["accuracy.given"]).mean()))
    return [table, f"{stored['labels'].mean():.0f}", *shares, *changes]


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def _of(rate: float) -> pd.DataFrame:
    stored = cases()
    return stored[stored["rate"] == rate].reset_index(drop=True)


def _interval(stored: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return stored["interval"].str[0], stored["interval"].str[1]


def summary() -> str:
    """Return on how many tables which review finds more, in a sentence."""
    lines = []
    for rate in RATES:
        stored = _of(rate)
        means = [first_found(stored, name).groupby(stored["table"]).mean() for name in NAMES]
        more, fewer = int((means[0] > means[1]).sum()), int((means[0] < means[1]).sum())
        equal = len(means[0]) - more - fewer
        lines.append(
            f"- With {100 * rate:.0f} % of the labels wrong, `doubtful_labels` finds more of them "
            f"on {more} tables, fewer on {fewer} and as many on {equal or 'none'}."
        )
    return "\n".join(lines)


BLOCKS: dict[str, Callable[[], str]] = {
    "review.summary": summary,
    "review.found": found,
    "review.numbers": numbers_wrong,
    "review.accuracies": accuracies,
    "review.tables": by_table,
}
