"""The folder of a figure: its table as CSV, its settings and versions as JSON, its plots.

Files are replaced atomically, so that a killed process leaves the old file or the new one, and
equal tables give equal bytes on every machine. `settings.json` is written last: if it exists, the
table is complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.files import atomic_write
from .._utils.messages import Parameter
from .._utils.versions import versions as versions_of
from .._utils.words import os_error
from ._ledger import Record, ReproduceError
from .figures._figure import Figure, Settings, Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["no_table", "read_record", "read_table", "versions", "write_plots", "write_table"]

_SETTINGS = "settings.json"


def versions() -> dict[str, str]:
    """Return the versions that a table is made with."""
    return versions_of("pandas")


def write_table(
    table: Table, folder: str | Path, *, made_with: Mapping[str, str] | None = None
) -> None:
    """Write a table as summary.csv, a CSV per detail, and settings.json.

    Parameters
    ----------
    table : Table
    folder : path
        Created if it does not exist.
    made_with : mapping, optional
        The versions that computed the table; by default the current `versions()`.
    """
    folder = Path(folder)
    for name, frame in {"summary": table.summary, **table.details}.items():
        _replace(folder / f"{name}.csv", _csv(frame))
    record = {
        "settings": asdict(table.settings),
        "versions": dict(versions() if made_with is None else made_with),
    }
    _replace(folder / _SETTINGS, (json.dumps(record, indent=2) + "\n").encode())


def read_table(folder: str | Path) -> Table:
    """Read a table that `write_table` wrote."""
    folder = Path(folder)
    record = read_record(folder)
    if record is None:
        raise no_table(folder)
    settings = Settings(**{**record.settings, "datasets": tuple(record.settings["datasets"])})
    frames = {path.stem: _frame(path) for path in sorted(folder.glob("*.csv"))}
    return Table(settings, frames.pop("summary"), frames)


def no_table(folder: Path) -> ReproduceError:
    """Return the error about a folder without a finished table."""
    return ReproduceError(f"{folder} holds no finished table; run semisquares reproduce first.")


def read_record(folder: str | Path) -> Record | None:
    """Read the settings and versions of the table in a folder, or None if there is no table."""
    path = Path(folder) / _SETTINGS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Record(found["settings"], found["versions"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReproduceError(
            "{path} cannot be read as settings of semisquares ({error}); move it away, or give "
            "another folder ({out}).",
            code="not_ours",
            path=path,
            error=str(error),
            out=Parameter("out"),
        ) from error


def write_plots(figure: Figure, table: Table, folder: str | Path) -> None:
    """Write every view of a figure to `view`.svg and `view`.png."""
    from ..plotting import render

    for view in figure.views:
        picture = figure.plot(table, view)
        for kind in ("svg", "png"):
            _replace(Path(folder) / f"{view}.{kind}", render(picture, kind))


def _csv(frame: pd.DataFrame) -> bytes:
    # pandas writes floats like repr: the shortest text that reads back as the same number
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _frame(path: Path) -> pd.DataFrame:
    import pandas as pd

    texts = pd.read_csv(StringIO(path.read_bytes().decode()), dtype=str, na_filter=False)
    return pd.DataFrame({name: _typed(list(texts[name])) for name in texts})


def _typed(texts: list[str]) -> list[Any]:
    """Convert a column to numbers or bools; some versions of pandas lose the last digit."""
    if set(texts) <= {"True", "False"}:
        return [text == "True" for text in texts]
    for kind in (int, lambda text: float(text or "nan")):
        try:
            return [kind(text) for text in texts]
        except ValueError:
            pass
    return [text or None for text in texts]


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    try:
        with atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise ReproduceError(
            f"{os_error(error, 'writing', str(path))}; computed cells are kept, so correct that "
            "and run the same command again."
        ) from error
