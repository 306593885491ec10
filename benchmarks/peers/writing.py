"""Write the stored tables from the fits in the ledger and those stored before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from semisquares._utils.files import atomic_write
from semisquares.paper._ledger import Ledger

from . import accuracy, cost, sets
from .accuracy import PLACES
from .fitting import OK
from .methods import METHODS
from .restoring import missing
from .scoring import SCORES
from .storing import COLUMNS, FITS, KEYS, SIZES, Stored, read

Cells = Sequence[Mapping[str, Any]]
Key = tuple[str, str, int]


def write_tables(ledger: Ledger, folder: Path, part: Any) -> dict[str, int]:
    """Write the tables of a part; return the methods that keep stored fits, with missing counts.

    The stored fits of a method are replaced by those of the ledger once it has all of them: a run
    that is stopped, or measures less, does not lose any.
    """
    stored = read(folder)
    kept = {method: ledger.results(part.part_of(method)) for method in METHODS}
    lacks = {
        method: len(missing(stored, part, method, cells)) for method, cells in kept.items() if cells
    }
    new = [method for method, n_missing in lacks.items() if not n_missing]
    cells = part.rows_of_cells({method: kept[method] for method in new})
    frames = (_cost_frames if part is cost else _accuracy_frames)(cells, stored, new)
    for name, frame in frames.items():
        _write(folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    versions = _versions(ledger, stored, part, new)
    _write(folder / f"{part.PART}.json", json.dumps(versions, indent=1) + "\n")
    return {method: n_missing for method, n_missing in lacks.items() if n_missing}


def _cost_frames(cells: Cells, stored: Stored, new: Sequence[str]) -> dict[str, pd.DataFrame]:
    old = stored.cost[~stored.cost["method"].isin(new)].to_dict("records")
    rows = sorted((*old, *cells), key=lambda row: (row["rows"], _place(row), row["turn"]))
    return {"cost": pd.DataFrame(rows, columns=cost.COLUMNS)}


def _accuracy_frames(cells: Cells, stored: Stored, new: Sequence[str]) -> dict[str, pd.DataFrame]:
    lines = _lines(cells, stored.errors)
    wrong = _columns("wrong", cells, stored.errors, new, lines)
    errors = lines.join(wrong.astype("Int64"))
    scores = {}
    for name in SCORES:
        found = _columns(name, cells, stored.scores[name], new, lines)
        scores[name] = lines[KEYS].join(found.dropna(axis=1, how="all"))
    old = stored.fits[~stored.fits["method"].isin(new)]
    return {
        "tables": _tables(errors["table"].unique(), stored.tables),
        "errors": errors,
        "fits": _fits(cells, old.to_dict("records")),
        **scores,
    }


def _lines(cells: Cells, old: pd.DataFrame) -> pd.DataFrame:
    """Return the splits in order, with the numbers of their rows."""
    sizes: dict[Key, Sequence[int]] = {
        (row[0], row[1], row[2]): row[3:] for row in old[KEYS + SIZES].itertuples(index=False)
    }
    for key in map(_key, cells):
        if key not in sizes:
            split = sets.draw(*key)
            labels = int((split.y >= 0).sum())
            sizes[key] = (labels, len(split.y) - labels, len(split.y_test))
    keys = sorted(sizes, key=lambda key: (PLACES[key[0]], PLACES[key[1]], key[2]))
    return pd.DataFrame([(*key, *sizes[key]) for key in keys], columns=KEYS + SIZES)


def _columns(
    value: str, cells: Cells, old: pd.DataFrame, new: Sequence[str], lines: pd.DataFrame
) -> pd.DataFrame:
    """Return a column for each method: of `new` ones from the cells, of others as stored."""
    index = pd.MultiIndex.from_frame(lines[KEYS])
    before = old.set_index(KEYS)
    found: dict[str, Any] = {name: before[name] for name in before if name not in (*SIZES, *new)}
    for method in new:
        mine = [cell for cell in cells if cell["method"] == method]
        values = [cell.get(value) if cell["status"] == OK else None for cell in mine]
        found[method] = pd.Series(values, pd.MultiIndex.from_tuples(map(_key, mine)), dtype=float)
    methods = [name for name in METHODS if name in found]
    return pd.DataFrame({name: found[name].reindex(index).to_numpy() for name in methods})


def _tables(names: Sequence[str], old: pd.DataFrame) -> pd.DataFrame:
    known = {row["table"]: row for row in old.to_dict("records")}

    def measured(name: str) -> dict[str, Any]:
        X, y = sets.table(name)
        return {"table": name, "rows": len(X), "columns": X.shape[1], "classes": int(y.max()) + 1}

    rows = [known.get(name) or measured(name) for name in names]
    return pd.DataFrame(rows, columns=COLUMNS["tables"])


def _fits(cells: Cells, old: Cells) -> pd.DataFrame:
    """Return counts, status and CPU time of the fits of each method in a table and regime."""
    rows = list(old)
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for cell in cells:
        groups.setdefault((cell["table"], cell["regime"], cell["method"]), []).append(cell)
    for key, group in groups.items():
        tried = pd.DataFrame(group)
        if accuracy.given_up(list(tried["status"])):
            tried = tried.head(accuracy.STRIKES)  # several jobs may have tried more
        bad = tried[tried["status"] != OK]
        status = OK if bad.empty else bad["status"].mode()[0]
        error = "" if bad.empty else bad["error"].mode()[0]
        seconds = tried.loc[tried["status"] == OK, "cpu"].median()
        numbers = (len(tried), len(tried) - len(bad), status, error, round(float(seconds), 4))
        rows.append(dict(zip(FITS, (*key, *numbers), strict=True)))
    rows.sort(key=lambda row: (PLACES[row["table"]], PLACES[row["regime"]], _place(row)))
    return pd.DataFrame(rows, columns=FITS)


def _key(cell: Mapping[str, Any]) -> Key:
    return cell["table"], cell["regime"], cell["split"]


def _place(row: Mapping[str, Any]) -> int:
    return PLACES[row["method"]]


def _versions(
    ledger: Ledger, stored: Stored, part: Any, new: Sequence[str]
) -> dict[str, dict[str, Any]]:
    found = dict(stored.cost_versions if part is cost else stored.versions)
    for method in new:
        record = ledger.record(part.part_of(method))
        if record is not None:
            found[method] = {**record.settings, **record.versions}
    return {method: found[method] for method in METHODS if method in found}


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
