"""What experiments on data sets share: which sets, how rows are drawn, how fits are measured."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import DATASETS, features, learning_curve_table
from .figure import Finding, Settings, clearly_lower

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]

ALL = tuple(DATASETS)
AT_HAND = tuple(name for name, found in DATASETS.items() if found.bundled or name == "WDBC")
"""Those that are there without a download or another package."""
DATASETS_OF = {"authors": ALL, "paper": ALL, "quick": AT_HAND}

MEASURES = {
    "error": "share of test rows that get the wrong class, mean over repeats",
    "error_se": "its standard error",
    "loss": "mean squared loss of the decision values on the test rows",
    "loss_se": "its standard error",
    "repeats": "number of repeats",
}
"""The columns that measure a method over repeats."""


@lru_cache(maxsize=2)
def raw_table(name: str) -> tuple[Array, Array]:
    """Return a data set with fills and factors only, and the authors' targets.

    Transfusion is all numbers here, as the published accuracies of Figure 5 show.
    """
    X, classes = features(name)
    return X, targets(classes)


@lru_cache(maxsize=2)
def component_table(name: str, preset: str) -> tuple[Array, Array]:
    """Return a data set's principal components with a constant behind, and the authors' targets."""
    X, classes = learning_curve_table(name, text_columns=preset != "paper")
    return with_constant(X), targets(classes)


def targets(classes: Array) -> Array:
    """Encode classes as the authors do: the first is 1."""
    return 1.0 - classes


def with_constant(X: Array) -> Array:
    """Return rows with a one at their end: weights carry the intercept last."""
    return np.column_stack((X, np.ones(len(X))))


def labeled_first(y: Array, rng: np.random.Generator) -> Array:
    """Return a random order of the rows: one of each class first, then the others."""
    ones = [rng.choice(np.flatnonzero(y == value)) for value in (0.0, 1.0)]
    rest = np.delete(np.arange(len(y)), ones)
    return np.concatenate((ones, rng.permutation(rest)))


def measures(X: Array, y: Array, w: Array) -> tuple[float, float]:
    """Return the share of wrong classes, and the mean squared loss of decision values."""
    z = X @ w
    return float(np.mean((z > 0.5) != (y > 0.5))), float(np.mean((z - y) ** 2))


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean over repeats (the first axis) and its standard error."""
    n = len(values)
    deviation = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), deviation / np.sqrt(n)


def compared(claim: str, first: pd.DataFrame, second: pd.DataFrame) -> Finding:
    """Hold against the claim that the first has the lower error, on average over data sets.

    Both have `error` and `error_se` by data set. They share their draws, so that the standard error
    of the difference is overstated.
    """
    second = second.loc[first.index]
    a, b = first["error"], second["error"]
    spread = np.sqrt((first["error_se"] ** 2 + second["error_se"] ** 2).sum()) / len(first)
    wins, losses = int((a < b).sum()), int((a > b).sum())
    return Finding(
        claim,
        clearly_lower(a.mean(), b.mean(), spread),
        f"mean error {a.mean():.3f} against {b.mean():.3f} (±{2.0 * spread:.3f}); lower on {wins}, "
        f"higher on {losses} of {len(first)} data sets",
    )


def blocks(repeats: int, per_cell: int) -> list[str]:
    """Name the blocks of repeats that make the cells: "0-19", "20-39", …"""
    starts = range(0, repeats, per_cell)
    return [f"{start}-{min(start + per_cell, repeats) - 1}" for start in starts]


def cells_of(settings: Settings, per_cell: int) -> list[str]:
    """Name the cells of all data sets, the dear ones first: none is left alone at the end."""
    order = sorted(settings.datasets, key=lambda name: name in AT_HAND)
    return [f"{name}/{block}" for name in order for block in blocks(settings.repeats, per_cell)]


def block_range(cell: str) -> tuple[str, range]:
    """Read the name of a cell: its data set and its repeats."""
    name, block = cell.split("/")
    first, last = map(int, block.split("-"))
    return name, range(first, last + 1)
