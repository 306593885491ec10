"""Parquet files of rows: two overlapping classes, a few labels, a seed for every file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from .data import OVERLAPPING

COLUMNS, LABELS, ROWS_PER_FILE = 100, 2_000, 125_000
"""With 100 columns of float32, a file has 50 MB."""
SIZES = 20
"""The smallest fitted size is 1/20 of the largest, and contains all labels."""
NAMES = [f"x{j}" for j in range(COLUMNS)]


@dataclass(frozen=True)
class Files:
    """Files of one kind in a folder; a smaller table consists of the first of them."""

    folder: Path
    rows: int

    @property
    def rows_per_file(self) -> int:
        return min(ROWS_PER_FILE, max(1, self.rows // SIZES))

    @property
    def n_files(self) -> int:
        return -(-self.rows // self.rows_per_file)

    @property
    def every(self) -> int:
        """Rows per label in the smallest size."""
        return max(1, self.rows // SIZES // LABELS)

    @property
    def n_labels(self) -> int:
        return -(-self._labeled_rows // self.every)

    @property
    def _labeled_rows(self) -> int:
        return min(self.rows // SIZES, LABELS * self.every)

    @property
    def bytes(self) -> int:
        """Size of the features in the files."""
        return 4 * COLUMNS * self.rows_per_file * self.n_files

    def path(self, k: int) -> Path:
        kind = f"{self.rows_per_file}_rows_{self._labeled_rows}_by_{self.every}"
        return self.folder / f"{kind}_{k:05d}.parquet"

    def count(self, rows: int) -> int:
        """Return the number of files that have `rows` rows."""
        return max(1, round(rows / self.rows_per_file))

    def frame(self, n_files: int) -> Any:
        """Return the first `n_files` files as a Dask frame."""
        return dd.read_parquet([str(self.path(k)) for k in range(n_files)])

    def write(self, k: int) -> None:
        """Draw and write a file atomically, unless it exists."""
        path = self.path(k)
        if path.exists():
            return
        first = k * self.rows_per_file
        rng = np.random.default_rng([0, k])
        truth = rng.integers(2, size=self.rows_per_file, dtype=np.int8)
        X = rng.standard_normal((self.rows_per_file, COLUMNS), dtype=np.float32)
        X += ((2 * truth - 1) * np.float32(OVERLAPPING / np.sqrt(COLUMNS)))[:, None]
        place = np.arange(first, first + self.rows_per_file)
        known = (place % self.every == 0) & (place < self._labeled_rows)
        columns = dict(zip(NAMES, X.T, strict=True))
        table = pa.table({**columns, "y": np.where(known, truth, np.int8(-1)), "truth": truth})
        part = path.with_suffix(f".{os.getpid()}.part")
        parquet.write_table(
            table, part, compression="none", use_dictionary=False, row_group_size=len(truth)
        )
        part.replace(path)


@contextmanager
def files_in(folder: Path | None, rows: int) -> Iterator[Files]:
    """Yield files in a folder, which stay there, or in a temporary folder."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield _with_space(Files(folder, rows))
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield _with_space(Files(Path(temporary), rows))


def _with_space(files: Files) -> Files:
    there = sum(files.path(k).exists() for k in range(files.n_files)) / files.n_files
    needed = 1.1 * files.bytes * (1.0 - there)
    free = shutil.disk_usage(files.folder).free
    if free < needed:
        raise SystemExit(
            f"The files need {needed / 1e9:.1f} GB and {files.folder} has {free / 1e9:.1f} GB "
            "free; give --folder a place with more, or --rows a smaller number."
        )
    return files
