"""Download the tables that cannot be bundled, and cache them as checked CSV files.

The bytes stay in memory until the table is verified, and the file is written atomically: an
interrupted or wrong download leaves no file behind.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from sklearn.datasets import get_data_home

from ..._utils.files import atomic_write
from ._reading import RawTable, WrongTable, read_table, write_csv
from .dataset import PIP, Dataset

HOSTS = {
    "openml": "https://api.openml.org",
    "openml_www": "https://www.openml.org",
    "uci": "https://archive.ics.uci.edu",
}
"""The hosts in `Dataset.urls`; change an entry to use a mirror."""

TIMEOUT = (10.0, 30.0)
"""Timeouts in seconds for connecting and for reading."""


def cache_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder for downloads, or None if there is no writable one."""
    if data_home is not None:
        return Path(data_home).expanduser()
    try:
        return Path(get_data_home()) / "semisquares"
    except OSError:  # a home that cannot be written
        return None


def fetch(url: str) -> bytes:
    """Return the content of an address, or raise an OSError."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(f"A download needs pooch, which is not installed; run {PIP}.") from error
    raw = io.BytesIO()
    answers: list[Any] = []

    def remember(answer: Any, **_: Any) -> None:
        answers.append(answer)

    # No hash here: sources may rewrite a file without changing the table, which is hashed later.
    download = pooch.HTTPDownloader(timeout=TIMEOUT, hooks={"response": remember})
    try:
        download(url, raw, None)
    finally:  # otherwise a failed download leaves its connection to the garbage collector
        for answer in answers:
            answer.close()
    return raw.getvalue()


def download_table(dataset: Dataset) -> tuple[RawTable | None, list[str]]:
    """Return the first verified table among the sources, and why earlier ones failed."""
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


def keep(table: RawTable, dataset: Dataset, folder: Path) -> None:
    """Write the table as CSV atomically."""
    with atomic_write(folder / dataset.files[0]) as file:
        file.write(write_csv(table, dataset).encode())
