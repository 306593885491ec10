"""A table to try everything on: made-up pumps, few of which have been opened.

Whether a bearing is worn can be seen only by opening the pump, which is expensive; recording its
vibration is cheap. So all pumps have a recording, and the pumps to open were drawn at random.

How the readings are made: the level of vibration is a smooth function of the frequency. Its coarse
shape differs widely from pump to pump and says nothing about the bearing. Its fine shape hardly
differs, and that is where a worn bearing shows: every second band is a little higher. Other
readings (hours, motor temperature, flow, power) help somewhat. The classes are linear in all of
them, but there are almost as many columns to weigh against each other as there are labels. How the
columns are correlated can be learned from pumps that were never opened, which is why these help a
lot: more than in most tables.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._utils.files import atomic_write
from .._utils.typing import Array
from .._utils.words import os_error
from .errors import TableError

TABLE, NEW_ROWS, TARGET = "pumps.csv", "new_rows.csv", "bearing"
UNLABELED, TRUTH = "unopened.csv", "truth.csv"
STATES = ("sound", "worn")

N_PUMPS, N_NEW, N_OPENED = 800, 50, 100
N_BANDS, BAND_HZ = 48, 25
SEED = 0
SHARE_WORN = 0.4
COARSE, FINE = 5.0, 0.05
"""Spread of the coarsest and of the finest ripple over the frequencies, in dB."""
RIPPLE = 0.19
"""How much, in dB, a worn bearing lifts every second band."""
MAKERS = ("Alder", "Brookfield", "Corvin", "Delmar", "Eastmere", "Fenn", "Garrow", "Hythe")
MAKER_SHARES = (0.38, 0.27, 0.2, 0.125, 0.009, 0.007, 0.005, 0.004)
NEW_MAKER = "Ister"
FINDINGS = ("no remark", "slight hum", "seal replaced", "oil topped up", "paint flaking", "noisy")
PLACES = ("by the east wall", "next to the stairs", "in the cellar", "under the pipe bridge")


_Columns = dict[str, list[str]]
"""The cells of each column, as in the file."""


@dataclass(frozen=True, eq=False)
class _Pumps:
    """Columns of text, and the true state of each pump."""

    columns: _Columns
    worn: Array


def write_example(folder: str | Path, *, labels: bool = True) -> list[Path]:
    """Write tables into a folder: pumps, few of them labeled or none, and new pumps to predict.

    Files that exist already are left alone.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    labels : bool, default=True
        Whether some pumps have a label. If not, a third file has the true states of all pumps.

    Returns
    -------
    list of Path
        The table of 800 pumps, that of 50 new ones and, without labels, that of the true states.

    Raises
    ------
    TableError
        If a file of the same name has other content, or the folder cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> [path.name for path in write_example(folder)]
    ['pumps.csv', 'new_rows.csv']
    >>> [path.name for path in write_example(folder, labels=False)]
    ['unopened.csv', 'new_rows.csv', 'truth.csv']
    """
    folder = Path(folder)
    tables = {name: pumps.columns for name, pumps in _tables(SEED).items()}
    if not labels:
        tables = _without_labels(tables)
    files = {folder / name: _as_csv(columns) for name, columns in tables.items()}
    try:
        missing = [path for path, content in files.items() if not _holds(path, content)]
        for path in missing:
            with atomic_write(path) as file:
                file.write(files[path])
    except OSError as error:
        what = os_error(error, "writing", repr(str(folder)))
        raise TableError(
            f"{what}; name another folder for the example.", code="example_not_writable"
        ) from error
    return list(files)


def example_truth() -> dict[str, tuple[str, ...]]:
    """Return the true state of every pump in the two tables, which the files do not contain.

    Examples
    --------
    >>> truth = example_truth()
    >>> {name: len(states) for name, states in truth.items()}
    {'pumps.csv': 800, 'new_rows.csv': 50}
    """
    return {name: _states(pumps.worn) for name, pumps in _tables(SEED).items()}


def _without_labels(tables: Mapping[str, _Columns]) -> dict[str, _Columns]:
    """Return the tables without any label, and one of the true states of all their pumps."""
    old, new = tables[TABLE], tables[NEW_ROWS]
    truth = example_truth()
    return {
        UNLABELED: old | {TARGET: [""] * N_PUMPS},
        NEW_ROWS: new,
        TRUTH: {"pump": old["pump"] + new["pump"], TARGET: [*truth[TABLE], *truth[NEW_ROWS]]},
    }


def _holds(path: Path, content: bytes) -> bool:
    """Tell whether the file exists already; raise TableError if it has other content."""
    if not path.exists():
        return False
    if path.is_dir() or path.read_bytes() != content:
        raise TableError(
            f"{str(path)!r} exists already and is not the example's; move it away, or name "
            "another folder.",
            code="example_exists",
        )
    return True


def _as_csv(columns: _Columns) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _states(worn: Array) -> tuple[str, ...]:
    return tuple(STATES[int(one)] for one in worn)


def _tables(seed: int) -> dict[str, _Pumps]:
    """Draw all pumps at once, then split them, so that new pumps are like the old ones."""
    rng = np.random.default_rng(seed)
    pumps = _draw(rng, N_PUMPS + N_NEW)
    opened = rng.permutation(N_PUMPS)[:N_OPENED]
    old, new = _slice(pumps, 0, N_PUMPS), _slice(pumps, N_PUMPS, N_PUMPS + N_NEW)
    labels = [""] * N_PUMPS
    for row in opened:
        labels[row] = STATES[int(old.worn[row])]
    new.columns["maker"][3::16] = [NEW_MAKER] * len(new.columns["maker"][3::16])
    return {TABLE: _Pumps(old.columns | {TARGET: labels}, old.worn), NEW_ROWS: new}


def _slice(pumps: _Pumps, start: int, stop: int) -> _Pumps:
    columns = {name: cells[start:stop] for name, cells in pumps.columns.items()}
    return _Pumps(columns, pumps.worn[start:stop])


def _draw(rng: np.random.Generator, n: int) -> _Pumps:
    worn = (rng.random(n) < SHARE_WORN).astype(float)
    load, use = rng.standard_normal((2, n))
    age_days = 400 + 5200 * rng.random(n)
    hours = age_days * (11 + 1.5 * use) + 7200 * worn
    flow = 120 + 18 * load - 11 * worn + 8 * rng.standard_normal(n)
    pressure = 6.2 - 0.5 * load + 0.3 * rng.standard_normal(n)
    power = 37 + 5 * load + 2.4 * worn + 2.5 * rng.standard_normal(n)
    temperature = 58 + 4 * load + 6 * worn + 5 * rng.standard_normal(n)
    columns = {
        "pump": [f"P-{number:04d}" for number in range(1, n + 1)],
        "works": ["North"] * n,
        "maker": _choice(rng, MAKERS, MAKER_SHARES, n),
        "installed": _working_days(age_days),
        "outdoors": np.where(rng.random(n) < 0.3, "yes", "no").tolist(),
        "hours_run": _written(np.maximum(hours, 200.0), 0),
        "flow_m3h": _with_gaps(rng, _written(flow, 1), 0.04),
        "pressure_bar": _written(pressure, 2),
        "power_kw": _written(power, 1),
        "motor_temperature": _with_gaps(rng, _written(temperature, 1), 0.06),
        "remark": _remarks(rng, n),
    }
    levels = _vibration(rng, load, worn)
    bands = {f"vib_{(k + 1) * BAND_HZ}hz": _written(levels[:, k], 2) for k in range(N_BANDS)}
    return _Pumps(columns | bands, worn)


def _vibration(rng: np.random.Generator, load: Array, worn: Array) -> Array:
    """Sum up ripples over the frequencies, each weaker than the coarser ones before it."""
    k = np.arange(N_BANDS)
    ripples = np.cos(np.pi * np.outer(k, k + 0.5) / N_BANDS) * np.sqrt(2 / N_BANDS)
    spread = np.sqrt(N_BANDS) / 2 * COARSE * (FINE / COARSE) ** (k / (N_BANDS - 1))
    heights = rng.standard_normal((len(load), N_BANDS)) * spread
    heights[:, 0] += 0.5 * spread[0] * load
    usual = 62 + 14 * np.exp(-(((k - 9) / 7) ** 2)) - 0.25 * k
    return usual + heights @ ripples + RIPPLE * np.outer(worn, k % 2)


def _written(values: Array, decimals: int) -> list[str]:
    return [f"{value:.{decimals}f}" for value in values]


def _with_gaps(rng: np.random.Generator, cells: list[str], share: float) -> list[str]:
    """Empty some cells at random."""
    empty = rng.random(len(cells)) < share
    return ["" if gone else cell for cell, gone in zip(cells, empty, strict=True)]


def _choice(
    rng: np.random.Generator, levels: tuple[str, ...], shares: tuple[float, ...], n: int
) -> list[str]:
    places = np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")
    return [levels[place] for place in places]


def _working_days(age_days: Array) -> list[str]:
    days = np.datetime64("2025-06-30") - age_days.astype("timedelta64[D]")
    return np.busday_offset(days, 0, roll="forward").astype(str).tolist()


def _remarks(rng: np.random.Generator, n: int) -> list[str]:
    """Write notes that say nothing about the bearing: free text."""
    what, where, day = (rng.random((3, n)).T * [len(FINDINGS), len(PLACES), 300]).astype(int).T
    return [
        f"{FINDINGS[a]}, {PLACES[b]}, looked at on day {c}"
        for a, b, c in zip(what, where, day, strict=True)
    ]
