"""Shared by the experiments on data sets: the sets, the draws, the cells and their averages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._utils.typing import Array
from ..._utils.words import counted
from ..datasets import DATASETS, features, learning_curve_table
from ._figure import Arrays, Figure, Finding, Settings, clearly_lower

if TYPE_CHECKING:
    import pandas as pd


ALL = tuple(DATASETS)
OFFLINE = tuple(name for name, found in DATASETS.items() if found.bundled or name == "WDBC")
"""Data sets that need neither a download nor another package."""
DATASETS_BY_PRESET = {"authors": ALL, "paper": ALL, "quick": OFFLINE}

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
    """Return a data set with gaps filled and factors encoded, and the authors' targets.

    All columns of Transfusion are numbers here, as the published accuracies of Figure 5 show.
    """
    X, classes = features(name)
    return X, targets(classes)


@lru_cache(maxsize=2)
def component_table(name: str, preset: str) -> tuple[Array, Array]:
    """Return the principal components of a data set and a constant, and the authors' targets."""
    X, classes = learning_curve_table(name, text_columns=preset != "paper")
    return with_constant(X), targets(classes)


def targets(classes: Array) -> Array:
    """Encode classes as the authors do: the first is 1."""
    return 1.0 - classes


def with_constant(X: Array) -> Array:
    """Append a column of ones; the last weight is then the intercept."""
    return np.column_stack((X, np.ones(len(X))))


def labeled_first(y: Array, rng: np.random.Generator) -> Array:
    """Return a random order of the rows that starts with one row of each class."""
    ones = [rng.choice(np.flatnonzero(y == value)) for value in (0.0, 1.0)]
    rest = np.delete(np.arange(len(y)), ones)
    return np.concatenate((ones, rng.permutation(rest)))


def error_and_loss(X: Array, y: Array, w: Array) -> tuple[float, float]:
    """Return the classification error and the mean squared loss of the decision values."""
    z = X @ w
    return float(np.mean((z > 0.5) != (y > 0.5))), float(np.mean((z - y) ** 2))


def average(cell: Arrays) -> dict[str, Any]:
    """Average `error` and `loss` over repeats (the first axis); return the columns `MEASURES`."""
    n = len(cell["error"])
    columns: dict[str, Any] = {}
    for name in ("error", "loss"):
        values = cell[name]
        deviation = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1:], np.nan)
        columns[name] = values.mean(axis=0).ravel()
        columns[f"{name}_se"] = (deviation / np.sqrt(n)).ravel()
    return {**columns, "repeats": n}


def compare_errors(
    claim: str, first: pd.DataFrame, second: pd.DataFrame, *, key: str = ""
) -> Finding:
    """Check the claim that the first method has the lower error, on average over data sets.

    Both frames have `error` and `error_se` by data set. The methods share their draws, so the
    standard error of the difference is overstated.
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
        key=key,
        numbers={"error": float(a.mean()), "other_error": float(b.mean())},
    )


def describe_repeats(settings: Settings) -> str:
    """Return the beginning of a sentence about a run: "100 repeats on each of 16 data sets"."""
    repeats = counted(settings.repeats, "repeat")
    return f"{repeats} on each of {counted(len(settings.datasets), 'data set')}"


def block_names(repeats: int, per_cell: int, *, first: int = 0) -> list[str]:
    """Return the names of the blocks of repeats: "0-19", "20-39", …"""
    end = first + repeats
    starts = range(first, end, per_cell)
    return [f"{start}-{min(start + per_cell, end) - 1}" for start in starts]


def largest_first(names: Sequence[str]) -> list[str]:
    """Put expensive data sets first, so that none is left to the end."""
    return sorted(names, key=lambda name: name in OFFLINE)


def parse_block(block: str) -> range:
    """Return the numbers of the repeats in a block."""
    first, last = map(int, block.split("-"))
    return range(first, last + 1)


def parse_cell(cell: str) -> tuple[str, range]:
    """Return the data set and the repeats of a cell."""
    name, block = cell.split("/")
    return name, parse_block(block)


class RepeatedFigure(Figure):
    """A figure that repeats a measurement on data sets; a cell is a block of repeats."""

    repeats: ClassVar[Mapping[str, int]] = {"authors": 100, "paper": 100, "quick": 10}
    datasets: ClassVar[Mapping[str, tuple[str, ...]]] = DATASETS_BY_PRESET
    views: ClassVar[Mapping[str, str]] = {"error": "Classification error", "loss": "Squared loss"}
    repeats_per_cell: ClassVar[int] = 20

    @abstractmethod
    def measure_repeat(self, settings: Settings, name: str, repeat: int) -> Arrays:
        """Measure one repeat; `n_unlabeled`, if there, is the same in all repeats."""

    def cells(self, settings: Settings) -> list[str]:
        blocks = block_names(settings.repeats, self.repeats_per_cell)
        return [f"{name}/{block}" for name in largest_first(settings.datasets) for block in blocks]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, repeats = parse_cell(cell)
        found = [self.measure_repeat(settings, name, repeat) for repeat in repeats]
        return _combine(found, np.array)

    def join_blocks(self, settings: Settings, results: Mapping[str, Arrays]) -> dict[str, Arrays]:
        """Concatenate the repeats of each data set."""
        blocks = block_names(settings.repeats, self.repeats_per_cell)
        return {
            name: _combine([results[f"{name}/{block}"] for block in blocks], np.concatenate)
            for name in settings.datasets
        }


def _combine(parts: Sequence[Arrays], join: Callable[[list[Array]], Array]) -> Arrays:
    """Join the arrays of repeats or blocks, except for `n_unlabeled`, which all parts share."""
    return {
        key: first if key == "n_unlabeled" else join([part[key] for part in parts])
        for key, first in parts[0].items()
    }
