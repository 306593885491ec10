"""The stored tables, from which the pages are made; they are small enough for the repository.

`tables.csv` has the size of every table. `errors.csv` has a line per table, regime and split, and a
column per method: the number of misclassified test rows, empty if there is no model.
`log_loss.csv`, `balanced.csv` and `calibration.csv` have the same lines and columns, empty if a
method gives no probabilities or was measured before these scores were added. `fits.csv` has the
status and the CPU time of the fits of a method in a table and regime. `cost.csv` has a line per fit
of generated rows. `accuracy.json` and `cost.json` have the settings and versions of each method.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from . import accuracy, cost
from .methods import METHODS
from .scoring import SCORES

RESULTS = Path(__file__).resolve().parents[2] / "results" / "peers"
PARTS = {part.PART: part for part in (accuracy, cost)}
KEYS = ["table", "regime", "split"]
SIZES = ["labels", "unlabeled", "test_rows"]
FITS = ["table", "regime", "method", "fits", "ok", "status", "error", "cpu_seconds"]
COLUMNS = {
    "tables": ["table", "rows", "columns", "classes"],
    "errors": KEYS + SIZES,
    "fits": FITS,
    "cost": cost.COLUMNS,
}
"""The columns of each table, besides the methods."""


@dataclass(frozen=True)
class Stored:
    """The tables of one folder."""

    tables: pd.DataFrame
    errors: pd.DataFrame
    fits: pd.DataFrame
    cost: pd.DataFrame
    versions: dict[str, dict[str, Any]]
    """Settings and versions of the accuracy part, by method."""
    scores: dict[str, pd.DataFrame] = field(
        default_factory=lambda: {name: pd.DataFrame(columns=KEYS) for name in SCORES}
    )
    """The tables of log loss, balanced accuracy and calibration error."""
    cost_versions: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """The measured methods, in their usual order."""
        return [name for name in METHODS if name in self.errors.columns]

    @property
    def n_splits(self) -> int:
        """The number of splits of each table."""
        return int(self.errors["split"].nunique())


def read(folder: Path = RESULTS) -> Stored:
    """Read the tables of a folder; missing ones are empty."""
    frames = [_frame(folder / f"{name}.csv", columns) for name, columns in COLUMNS.items()]
    return Stored(
        *frames,
        versions=_json(folder / "accuracy.json"),
        scores={name: _frame(folder / f"{name}.csv", KEYS) for name in SCORES},
        cost_versions=_json(folder / "cost.json"),
    )


def _frame(path: Path, columns: list[str]) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame(columns=columns)
    return pd.read_csv(path, converters={"error": str})


def _json(path: Path) -> dict[str, dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
