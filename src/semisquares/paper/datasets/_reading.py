"""Read a table in any of its sources' formats, and check that it is the published one.

Formats are our own CSV, UCI's CSV, OpenML's and KEEL's ARFF, and archives of these. Each is
converted to one normal form, whose hash is checked: a wrong parse cannot pass.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .dataset import Dataset

TARGETS = ("target", "class", "status", "outcome")
"""Names of the class column in the sources."""

_ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)""", re.IGNORECASE)


@dataclass(frozen=True, eq=False)  # eq=False: == of arrays is an array, not a bool
class RawTable:
    """A table in normal form: float64 with NaN for missing values, classes 0 and 1."""

    data: NDArray[np.float64]
    target: NDArray[np.int64]

    @property
    def class_counts(self) -> tuple[int, ...]:
        return tuple(np.bincount(self.target, minlength=2).tolist())

    @property
    def sha256(self) -> str:
        """The hash of data (row by row, little-endian float64) followed by target (int8)."""
        data = np.where(np.isnan(self.data), np.nan, self.data) + 0.0  # one NaN, no -0
        digest = hashlib.sha256(np.ascontiguousarray(data, dtype="<f8").tobytes())
        digest.update(self.target.astype(np.int8).tobytes())
        return digest.hexdigest()


class WrongTable(ValueError):
    """A file that does not hold the published table: what is wrong, and what to do."""

    def __init__(self, fault: str, remedy: str) -> None:
        super().__init__(fault, remedy)
        self.fault, self.remedy = fault, remedy

    def __str__(self) -> str:
        return f"{self.fault}; {self.remedy}."


def verify(table: RawTable, dataset: Dataset, where: str) -> RawTable:
    """Return the table, or raise an error unless shape, class counts and hash are as published."""
    found = (*table.data.shape, table.class_counts)
    needed = (dataset.n_rows, dataset.n_features, dataset.class_counts)
    if found != needed:
        problem = f"it has {_size(*found)}, not {_size(*needed)}"
    elif table.sha256 != dataset.sha256:
        problem = (
            f"it has {_size(*found)} as it should, but some value differs (sha256 "
            f"{table.sha256[:12]}…, not {dataset.sha256[:12]}…)"
        )
    else:
        return table
    raise WrongTable(
        f"{where} is not the published {dataset.name} table: {problem}", _remedy(dataset)
    )


def _remedy(dataset: Dataset) -> str:
    if dataset.urls:
        return f"remove it, and the table is downloaded from {dataset.source}"
    return "remove it, and the table that comes " + (
        "with semisquares is read" if dataset.bundled else "with an installed package is read"
    )


def _size(rows: int, columns: int, counts: tuple[int, ...]) -> str:
    return f"{rows}×{columns} values in classes of {'/'.join(map(str, counts))} rows"


def read_table(raw: bytes, dataset: Dataset, where: str) -> RawTable:
    """Read a CSV or ARFF file, or an archive with one, and check it."""
    try:
        table = _parse(raw, dataset)
    except (ValueError, csv.Error, zipfile.BadZipFile) as error:
        raise WrongTable(
            f"{where} cannot be read as the {dataset.name} table ({error})",
            f"it needs a header, {dataset.n_features} columns of numbers and a column 'target' of "
            f"0 and 1, so {_remedy(dataset)}",
        ) from error
    return verify(table, dataset, where)


def write_csv(table: RawTable, dataset: Dataset) -> str:
    """Return the normal form as CSV; `read_table` reads it back bit for bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*dataset.feature_names, "target"])
    for row, label in zip(table.data.tolist(), table.target.tolist(), strict=True):
        writer.writerow(["" if value != value else value for value in row] + [label])
    return text.getvalue()


def _parse(raw: bytes, dataset: Dataset) -> RawTable:
    names, rows = _rows(_unpacked(raw, dataset))
    found = [i for i, name in enumerate(names) if name.lower() in TARGETS]
    if not found:
        raise ValueError(f"none of its columns is called {', '.join(TARGETS)}")
    short = next((row for row in rows if len(row) != len(names)), None)
    if short is not None:
        raise ValueError(f"a row has {len(short)} values under a header of {len(names)}")
    features = [i for i, name in enumerate(names) if name.lower() != "name" and i != found[-1]]
    data = np.array([[_number(row[i]) for i in features] for row in rows])
    data = data.reshape(len(rows), len(features))
    if len(features) == dataset.n_features:
        for name in dataset.zero_is_missing:  # has no effect if it was done before
            column = data[:, dataset.feature_names.index(name)]
            column[column == 0] = np.nan
    return RawTable(data, _codes([row[found[-1]] for row in rows]))


def _unpacked(raw: bytes, dataset: Dataset) -> str:
    """Return the text of the file, or of the archive's member with one of its names."""
    if zipfile.is_zipfile(io.BytesIO(raw)):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            member = next(
                (name for name in archive.namelist() if name.split("/")[-1] in dataset.files), None
            )
            if member is None:
                raise ValueError(f"the archive holds none of {', '.join(dataset.files)}")
            raw = archive.read(member)
    return raw.decode("utf-8-sig", errors="replace")  # only comments have non-ASCII characters


def _rows(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the column names and the rows of a CSV or ARFF file."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("%")]
    starts = [i for i, line in enumerate(lines) if line.lower() == "@data"]
    if not starts:
        header, *rows = list(csv.reader(lines)) or [[]]
        return [name.strip() for name in header], rows
    declared = [_ATTRIBUTE.match(line) for line in lines[: starts[0]]]
    names = [match[1].strip("'\"") for match in declared if match]
    rows = list(csv.reader(lines[starts[0] + 1 :], quotechar="'", skipinitialspace=True))
    return names, rows


def _number(text: str) -> float:
    return np.nan if text.strip() in ("", "?") else float(text)


def _codes(labels: Sequence[str]) -> NDArray[np.int64]:
    """Encode the two classes as 0 and 1 in text order: 0, 1; 1, 2; negative, positive."""
    levels, codes = np.unique([label.strip() for label in labels], return_inverse=True)
    if len(levels) != 2:
        raise ValueError(f"its class column has {len(levels)} different values, not two")
    return codes.astype(np.int64)
