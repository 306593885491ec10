"""The stored tables: what the pages are made from, small enough to keep beside the code.

`tables.csv` has the size of every table. `errors.csv` has a line per table, regime and split, and a
column per method: how many test rows got the wrong class, empty where there is no model. `fits.csv`
says what came of the fits of a method in a table and regime, and what they took. `cost.csv` has a
line per fit of drawn rows. `accuracy.json` and `cost.json` have what methods were measured with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from semisquares.errors import UserError
from semisquares.experiments.ledger import Ledger
from semisquares.files import replaced

from . import accuracy, cost, sets
from .fitting import OK
from .methods import METHODS

RESULTS = Path(__file__).parents[2] / "results" / "peers"
PARTS = {part.PART: part for part in (accuracy, cost)}
KEYS = ["table", "regime", "split", "labels", "unlabeled", "test_rows"]


@dataclass(frozen=True)
class Stored:
    """The tables of one folder."""

    tables: pd.DataFrame
    errors: pd.DataFrame
    fits: pd.DataFrame
    cost: pd.DataFrame
    versions: dict[str, dict[str, Any]]
    """Settings and versions of the accuracy part, by method."""

    @property
    def methods(self) -> list[str]:
        """The methods that were measured, in their order."""
        return [name for name in METHODS if name in self.errors.columns]


def read(folder: Path = RESULTS) -> Stored:
    """Read the tables of a folder."""
    names = ("tables", "errors", "fits", "cost")
    frames = [_frame(folder / f"{name}.csv") for name in names]
    return Stored(*frames, json.loads((folder / "accuracy.json").read_text(encoding="utf-8")))


def open_ledger(folder: Path, part: Any) -> Ledger:
    """Open the cells of a part; refuse where there are tables of cells that are elsewhere."""
    path, tables = folder / f"{part.PART}.sqlite", folder / f"{part.PART}.json"
    if tables.exists() and not path.exists():
        raise UserError(
            f"{folder} holds tables of the {part.PART} part without {path.name}, the fits behind "
            "them, and would lose them; put that file there, move the tables away to measure all "
            "anew, or give another folder (--out)."
        )
    return Ledger(path)


def write_tables(ledger: Ledger, folder: Path, part: Any) -> None:
    """Write the tables of a part from what its ledger has."""
    cells = part.rows_of_cells(ledger)
    if part is cost:
        frames = {"cost": pd.DataFrame(cells, columns=cost.COLUMNS)}
    else:
        frames = {"tables": _tables(cells), "errors": _errors(cells), "fits": _fits(cells)}
    for name, frame in frames.items():
        _write(folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    _write(folder / f"{part.PART}.json", json.dumps(_versions(ledger, part), indent=1) + "\n")


def _frame(path: Path) -> pd.DataFrame:
    """Read a table; that of the cost may not be there yet."""
    if path.stem == "cost" and not path.exists():
        return pd.DataFrame(columns=cost.COLUMNS)
    return pd.read_csv(path, converters={"error": str})


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
        if accuracy.given_up(list(group["status"])):
            group = group.head(accuracy.STRIKES)  # several jobs may have tried more
        bad = group[group["status"] != OK]
        status = OK if bad.empty else bad["status"].mode()[0]
        error = "" if bad.empty else bad["error"].mode()[0]
        seconds = group.loc[group["status"] == OK, "cpu"].median()
        numbers = (len(group), len(group) - len(bad), status, error, round(float(seconds), 4))
        rows.append(dict(zip(columns, (table, regime, method, *numbers), strict=True)))
    return pd.DataFrame(rows, columns=columns)


def _versions(ledger: Ledger, part: Any) -> dict[str, dict[str, Any]]:
    records = {method: ledger.record(part.part_of(method)) for method in METHODS}
    return {
        method: {**record.settings, **record.versions}
        for method, record in records.items()
        if record is not None
    }


def _write(path: Path, text: str) -> None:
    with replaced(path) as file:
        file.write(text.encode())
