"""The stored tables: what the pages are made from, small enough to keep beside the code.

`tables.csv` has the size of every table. `errors.csv` has a line per table, regime and split, and a
column per method: how many test rows got the wrong class, empty where there is no model. `fits.csv`
says what came of the fits of a method in a table and regime, and what they took. `cost.csv` has a
line per fit of drawn rows. `versions.json` has what each method was measured with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from semisquares.experiments.ledger import Ledger
from semisquares.files import replaced

from . import accuracy, cost, sets
from .fitting import OK
from .methods import METHODS

RESULTS = Path(__file__).parents[2] / "results" / "peers"
LEDGER = "ledger.sqlite"
KEYS = ["table", "regime", "split", "labels", "unlabeled", "test_rows"]


@dataclass(frozen=True)
class Stored:
    """The tables of one folder."""

    tables: pd.DataFrame
    errors: pd.DataFrame
    fits: pd.DataFrame
    cost: pd.DataFrame
    versions: dict[str, dict[str, Any]]

    @property
    def methods(self) -> list[str]:
        """The methods that were measured, in their order."""
        return [name for name in METHODS if name in self.errors.columns]


def read(folder: Path = RESULTS) -> Stored:
    """Read the tables of a folder."""
    names = ("tables", "errors", "fits", "cost")
    frames = [pd.read_csv(folder / f"{name}.csv", converters={"error": str}) for name in names]
    return Stored(
        *frames, versions=json.loads((folder / "versions.json").read_text(encoding="utf-8"))
    )


def write_tables(ledger: Ledger, folder: Path) -> None:
    """Write all tables from what the ledger has."""
    cells = accuracy.rows_of_cells(ledger)
    frames = {
        "tables": _tables(cells),
        "errors": _errors(cells),
        "fits": _fits(cells),
        "cost": pd.DataFrame(cost.rows_of_cells(ledger), columns=cost.COLUMNS),
    }
    for name, frame in frames.items():
        _write(folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    _write(folder / "versions.json", json.dumps(_versions(ledger), indent=1) + "\n")


def _tables(cells: Sequence[dict[str, Any]]) -> pd.DataFrame:
    rows = []
    for name in dict.fromkeys(cell["table"] for cell in cells):
        X, y = sets.table(name)
        rows.append([name, len(X), X.shape[1], int(y.max()) + 1])
    return pd.DataFrame(rows, columns=["table", "rows", "columns", "classes"])


def _errors(cells: Sequence[dict[str, Any]]) -> pd.DataFrame:
    rows: dict[tuple[str, str, int], dict[str, Any]] = {}
    for cell in cells:
        key = cell["table"], cell["regime"], cell["split"]
        if key not in rows:
            split = sets.draw(*key)
            labels = int((split.y >= 0).sum())
            sizes = (labels, len(split.y) - labels, len(split.y_test))
            rows[key] = dict(zip(KEYS, (*key, *sizes), strict=True))
        rows[key][cell["method"]] = cell["wrong"] if cell["status"] == OK else None
    methods = [name for name in METHODS if any(cell["method"] == name for cell in cells)]
    frame = pd.DataFrame(list(rows.values()), columns=[*KEYS, *methods])
    return frame.astype(dict.fromkeys(methods, "Int64"))


def _fits(cells: Sequence[dict[str, Any]]) -> pd.DataFrame:
    columns = ["table", "regime", "method", "fits", "ok", "status", "error", "cpu_seconds"]
    if not cells:
        return pd.DataFrame(columns=columns)
    groups = pd.DataFrame(cells).groupby(["table", "regime", "method"], sort=False)
    rows = []
    for (table, regime, method), group in groups:
        bad = group[group["status"] != OK]
        status = OK if bad.empty else bad["status"].mode()[0]
        error = "" if bad.empty else bad["error"].mode()[0]
        seconds = group.loc[group["status"] == OK, "cpu"].median()
        numbers = (len(group), len(group) - len(bad), status, error, round(float(seconds), 4))
        rows.append(dict(zip(columns, (table, regime, method, *numbers), strict=True)))
    return pd.DataFrame(rows, columns=columns)


def _versions(ledger: Ledger) -> dict[str, dict[str, Any]]:
    found = {}
    for part in (accuracy, cost):
        for method in METHODS:
            record = ledger.record(part.part_of(method))
            if record is not None:
                found[part.part_of(method)] = {**record.settings, **record.versions}
    return found


def _write(path: Path, text: str) -> None:
    with replaced(path) as file:
        file.write(text.encode())
