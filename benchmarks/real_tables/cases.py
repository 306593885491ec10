"""A case: a table in a CSV file with few labels, and rows to predict in another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]

LABELS = (50, 200, 1000)
SPLITS = range(10)
"""The reported splits; those from 1000 on are for choices."""
MOST_TESTED = 5000
LEAST_TESTED = 140
"""A table is not used with so many labels that fewer rows than these remain."""
OF_EACH_CLASS = 2


@dataclass(frozen=True, eq=False)
class Case:
    """A table whose labels are hidden but for a few, written to a folder."""

    target: str
    classes: tuple[str, ...]
    split: int
    table: Path
    """All rows; the target is empty where the label is hidden."""
    rows: Path
    """Rows to predict, without the target."""
    truth: Array
    """The classes of these rows, as numbers."""


def counts_for(n_rows: int) -> list[int]:
    """Return the numbers of labels with which a table of this length is used.

    Examples
    --------
    >>> counts_for(344), counts_for(1438)
    ([50, 200], [50, 200, 1000])
    """
    return [count for count in LABELS if n_rows - count >= LEAST_TESTED]


def choose_rows(labels: Sequence[str] | Array, n_labels: int, split: int) -> tuple[Array, Array]:
    """Return the rows that keep their label, and the rows to predict.

    Two rows of each class keep it, and others drawn at random regardless of their class. Of all
    other rows, at most 5,000 are predicted.
    """
    names = np.asarray(labels)
    order = np.random.default_rng(split).permutation(len(names))
    first = [order[names[order] == name][:OF_EACH_CLASS] for name in np.unique(names)]
    sure = np.concatenate(first)
    others = order[~np.isin(order, sure)]
    n_more = max(0, n_labels - len(sure))
    labeled = np.concatenate([sure, others[:n_more]])
    return np.sort(labeled), np.sort(others[n_more:][:MOST_TESTED])


def write_case(frame: pd.DataFrame, target: str, n_labels: int, split: int, folder: Path) -> Case:
    """Hide the labels of a table and write its files."""
    names = frame[target].to_numpy(dtype=str)
    labeled, tested = choose_rows(names, n_labels, split)
    shown = np.full(len(names), "", dtype=object)
    shown[labeled] = names[labeled]
    table, rows = folder / "table.csv", folder / "rows.csv"
    frame.assign(**{target: shown}).to_csv(table, index=False)
    frame.iloc[tested].drop(columns=target).to_csv(rows, index=False)
    classes, codes = np.unique(names, return_inverse=True)
    return Case(target, tuple(classes.tolist()), split, table, rows, codes[tested])
