"""Download the tables that may not be bundled, and keep them as checked CSV.

The bytes stay in memory until they are known to be the true table, which is then written in one
step: an interrupted or wrong download leaves nothing behind.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from sklearn.datasets import get_data_home

from ..._utils.files import atomic_write
from .dataset import PIP, Dataset
from .reading import Table, WrongTable, read_table, write_csv

HOSTS = {
    "openml": "https://api.openml.org",
    "openml_www": "https://www.openml.org",
    "uci": "https://archive.ics.uci.edu",
}
"""Where the paths of `Dataset.urls` begin; change an entry to use a mirror."""

TIMEOUT = (10.0, 30.0)
"""Seconds to wait for a connection, and for the next bytes."""


def cache_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Return where downloads are kept, or None where nothing can be."""
    if data_home is not None:
        return Path(data_home).expanduser()
    try:
        return Path(get_data_home()) / "semisquares"
    except OSError:  # a home that cannot be written
        return None


def fetch(url: str) -> bytes:
    """Return what the address gives, or raise an OSError."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(f"A download needs pooch, which is not installed; run {PIP}.") from error
    raw = io.BytesIO()
    answers: list[Any] = []

    def remember(answer: Any, **_: Any) -> None:
        answers.append(answer)

    # No hash here: sources may rewrite a file without changing the table, whose own hash decides.
    download = pooch.HTTPDownloader(timeout=TIMEOUT, hooks={"response": remember})
    try:
        download(url, raw, None)
    finally:  # a download that fails would leave its connection to the garbage collector
        for answer in answers:
            answer.close()
    return raw.getvalue()


def download_table(dataset: Dataset) -> tuple[Table | None, list[str]]:
    """Return the first true table among the sources, and why those before it failed."""
    failures: list[str] = []
    for template in dataset.urls:
        url = template.format(**HOSTS)
        try:
            return read_table(fetch(url), dataset, url), failures
        except OSError as error:
            response = getattr(error, "response", None)
            reason = type(error).__name__ if response is None else f"status {response.status_code}"
            failures.append(f"{url} gave nothing ({reason})")
        except WrongTable as error:
            failures.append(error.fault)  # the remedy is about files
    return None, failures


def keep(table: Table, dataset: Dataset, folder: Path) -> None:
    """Write the table as CSV, all of it or nothing."""
    with atomic_write(folder / dataset.files[0]) as file:
        file.write(write_csv(table, dataset).encode())
