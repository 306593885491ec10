"""Restore cells from the stored tables if the ledger has none, so that a run can continue.

Methods with cells in the ledger are left alone. The ledger is exact; a restored fit gets the median
CPU time of its table and regime.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from semisquares.paper._ledger import Ledger, Record, pack

from . import accuracy, cost
from .fitting import OK
from .scoring import SCORES
from .storing import Stored

SETTINGS = ("seed", "test_share", "labels", "seconds", "bytes")
"""Keys of stored records that are settings; the others are versions."""


def restore(ledger: Ledger, stored: Stored, part: Any, methods: Sequence[str]) -> None:
    """Put the stored cells of methods into the ledger, if it has none of them."""
    for method in methods:
        name = part.part_of(method)
        cells = stored_cells(stored, part, method)
        if cells and ledger.record(name) is None:
            ledger.restore(name, _record(stored, part, method), cells)


def stored_cells(stored: Stored, part: Any, method: str) -> dict[str, tuple[bytes, float]]:
    """Return the cells of a method as the ledger stores them: packed, with their CPU seconds."""
    if part is cost:
        return _cost_cells(stored.cost[stored.cost["method"] == method])
    return {
        name: (result.packed(), float(np.nan_to_num(result.cpu)))
        for name, result in results(stored, method).items()
    }


def stored_names(stored: Stored, part: Any, method: str) -> Collection[str]:
    """Return the names of those cells."""
    if part is cost:
        rows = stored.cost[stored.cost["method"] == method]
        return [_cost_name(row) for row in rows[["rows", "turn"]].to_dict("records")]
    return results(stored, method)


def results(stored: Stored, method: str) -> dict[str, accuracy.Result]:
    """Return the stored results of a method, by the name of the cell."""
    found = {}
    groups = dict(tuple(stored.errors.groupby(["table", "regime"], sort=False)))
    scores = {name: _by_cell(frame, method) for name, frame in stored.scores.items()}
    for fit in stored.fits[stored.fits["method"] == method].itertuples():
        lines = groups[fit.table, fit.regime].sort_values("split")
        for split in _failed(lines, method, fit.fits - fit.ok):
            name = f"{fit.table}/{fit.regime}/{split}"
            found[name] = accuracy.Result(-1, fit.status, fit.error, np.nan)
        right = lines[lines[method].notna()]
        for split, wrong in zip(right["split"], right[method], strict=True):
            key = fit.table, fit.regime, split
            values = {name: scores[name].get(key, np.nan) for name in SCORES}
            found[f"{fit.table}/{fit.regime}/{split}"] = accuracy.Result(
                int(wrong), OK, "", fit.cpu_seconds, **values
            )
    return found


def _failed(lines: pd.DataFrame, method: str, n_failed: int) -> list[int]:
    """Return the splits that failed: the first empty ones, because work goes split by split.

    Later empty ones have not been tried.
    """
    return [int(split) for split in lines.loc[lines[method].isna(), "split"][:n_failed]]


def _by_cell(frame: pd.DataFrame, method: str) -> dict[tuple[str, str, int], float]:
    if method not in frame:
        return {}
    known = frame[frame[method].notna()]
    keys = zip(known["table"], known["regime"], known["split"], strict=True)
    return dict(zip(keys, known[method], strict=True))


def _cost_cells(rows: pd.DataFrame) -> dict[str, tuple[bytes, float]]:
    found = {}
    for row in rows.to_dict("records"):
        kept = {name: np.array(row[name]) for name in ("status", "error", *cost.MEASURES, "load")}
        for name in ("peak", "beyond"):  # integers, or NaN if there is no model
            kept[name] = kept[name].astype(int) if row[name] == row[name] else kept[name]
        found[_cost_name(row)] = pack(kept), float(np.nan_to_num(row["cpu"]))
    return found


def _cost_name(row: Mapping[str, Any]) -> str:
    return f"{row['rows']}/{row['turn']}"


def _record(stored: Stored, part: Any, method: str) -> Record:
    made_with = (stored.cost_versions if part is cost else stored.versions)[method]
    settings = {name: value for name, value in made_with.items() if name in SETTINGS}
    return Record(settings, {k: v for k, v in made_with.items() if k not in SETTINGS})


def missing(
    stored: Stored, part: Any, method: str, kept: Mapping[str, Mapping[str, Any]]
) -> Collection[str]:
    """Return the stored cells of a method that the ledger neither has nor has given up."""
    names = stored_names(stored, part, method)
    return [name for name in names if name not in kept and not part.gave_up(name, kept)]
