"""Store what later versions must read and keep (``make stored``).

Writes ``tests/stored/VERSION``, which `tests/test_stored.py` checks from then on:

* ``*.model.gz``: a model file of each kind of predictor, compressed for the repository;
* ``expected.json``: new rows, and what each model must predict for them. The numbers come from the
  fitted classifier (of scikit-learn or semisquares) and from features that `Features` computes by
  its own arithmetic; no model file is read and no stored predictor is asked;
* ``names.json``: public names with their parameters, and commands with their options.

The folder of a release is never written again. That of a development version is replaced.
"""

from __future__ import annotations

import datetime
import gzip
import inspect
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import semisquares
from semisquares import AveragedClassifier, SoftLabelClassifier
from semisquares.families import Forest
from semisquares.representations import (
    GraphRepresentation,
    KernelRepresentation,
    LinearRepresentation,
)
from semisquares.tables import make_table_pipeline
from semisquares.tables.models import TableModel
from semisquares.tables.models._calibration import DecisionCalibration
from semisquares.tables.models._operating_point import Balanced, LeastCost, Threshold
from semisquares.tables.models.files import dumps

STORED = Path(__file__).resolve().parents[1] / "tests" / "stored"
TARGET = "fruit"
CLASSES = ("apple", "pear", "plum")
COLUMNS = ("width", "weight", "colour", "ripe", "picked")
KEPT = (
    "semisquares", "semisquares.baselines", "semisquares.labeling", "semisquares.model_selection",
    "semisquares.plotting", "semisquares.representations", "semisquares.tables",
)  # fmt: skip
"""The modules whose public names are kept until they are deprecated: see docs/stability.md."""
REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "api"


# -- the table ------------------------------------------------------------------------------------


def table(n_rows: int, start: int = 0) -> pd.DataFrame:
    """Make rows by whole-number arithmetic, the same on every machine."""
    k = np.arange(start, start + n_rows)
    ripe = np.array(["yes", "no", None], dtype=object)[np.where(k % 13 == 5, 2, k * 3 % 5 % 2)]
    colour = np.array(["red", "green", "blue"], dtype=object)[k * 7 % 11 % 3]
    return pd.DataFrame(
        {
            "width": np.where(k % 9 == 4, np.nan, 5.0 + 0.25 * (k * 17 % 23)),
            "weight": 100.0 + k * 29 % 31,
            "colour": np.where(k % 10 == 3, None, colour),
            "ripe": ripe,
            "picked": pd.Timestamp("2024-02-26") + pd.to_timedelta(k * 53 % 401, "D"),
            "remark": np.array(["sweet and round", "a bit sour", "sweet", None])[k * 5 % 7 % 4],
        }
    )


def codes(frame: pd.DataFrame, n_classes: int) -> Any:
    """Give every row a class that depends on its cells."""
    score = frame["weight"].to_numpy() + 9.0 * (frame["colour"] == "red").to_numpy()
    return np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


# -- features, by hand ----------------------------------------------------------------------------


class Features:
    """Compute the features of rows from their cells, without any code of the encoders.

    Parameters
    ----------
    fitted : DataFrame
        The rows of the fit, from which means, scales, levels and components come.
    texts : bool, default=False
        Whether the features of the remarks are wanted, too.
    """

    def __init__(self, fitted: pd.DataFrame, *, texts: bool = False) -> None:
        self._fitted = fitted
        self._texts = TextFeatures([_text(cell) for cell in fitted["remark"]]) if texts else None

    def of(self, frame: pd.DataFrame) -> Any:
        """Return the matrix: numbers, levels, booleans, dates and texts, in this order."""
        makers = [self._numbers, self._levels, self._boolean, self._dates]
        rows = [
            [feature for make in makers for feature in make(row)] for _, row in frame.iterrows()
        ]
        matrix = np.array(rows, dtype=float)
        if self._texts is None:
            return matrix
        return np.hstack((matrix, [self._texts.of(_text(cell)) for cell in frame["remark"]]))

    def _numbers(self, row: Any) -> list[float]:
        found, flags = [], []
        for name in ("width", "weight"):
            cells = [float(cell) for cell in self._fitted[name]]
            known = [cell for cell in cells if not math.isnan(cell)]
            mean = math.fsum(known) / len(known)
            filled = [mean if math.isnan(cell) else cell for cell in cells]
            cell = float(row[name])
            found.append(_scaled(filled, mean if math.isnan(cell) else cell))
            if len(known) < len(cells):
                gaps = [float(math.isnan(one)) for one in cells]
                flags.append(_scaled(gaps, float(math.isnan(cell))))
        return found + flags

    def _levels(self, row: Any) -> list[float]:
        levels = sorted({_text(cell) for cell in self._fitted["colour"]})
        return [float(_text(row["colour"]) == level) for level in levels]

    def _boolean(self, row: Any) -> list[float]:
        known = [cell for cell in map(_text, self._fitted["ripe"]) if cell]
        often = max(sorted(set(known)), key=known.count)
        cell = _text(row["ripe"])
        return [float((cell or often) == "yes"), float(not cell)]

    def _dates(self, row: Any) -> list[float]:
        days = [cell.to_pydatetime() for cell in self._fitted["picked"]]
        parts = zip(*map(_date_parts, days), strict=True)
        here = _date_parts(row["picked"].to_pydatetime())
        return [_scaled(list(all_), one) for all_, one in zip(parts, here, strict=True)]


def _scaled(values: Sequence[float], value: float) -> float:
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / len(values))
    return (value - mean) / spread


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else ""


def _date_parts(day: datetime.datetime) -> tuple[float, ...]:
    """Return the days since 2000, the time of year on a circle, and whether it is a weekend."""
    start, end = datetime.datetime(day.year, 1, 1), datetime.datetime(day.year + 1, 1, 1)
    turn = 2.0 * math.pi * ((day - start) / (end - start))
    since = (day - datetime.datetime(2000, 1, 1)) / datetime.timedelta(days=1)
    return since, math.cos(turn), math.sin(turn), float(day.weekday() >= 5)


class TextFeatures:
    """Tf-idf of hashed n-grams, projected on singular vectors of the rows of the fit."""

    N_BUCKETS, N_COMPONENTS = 4096, 10

    def __init__(self, texts: Sequence[str]) -> None:
        filled = [_counts(text) for text in texts if text]
        self._gaps = [float(not text) for text in texts]
        self._n = len(filled)
        self._rows_with = [sum(k in one for one in filled) for k in range(self.N_BUCKETS)]
        weighted = np.array([self._weighted(text) for text in texts if text])
        _, sizes, vectors = np.linalg.svd(weighted, full_matrices=False)
        vectors = vectors[sizes > 1e-8 * sizes[0]][: self.N_COMPONENTS]
        vectors = np.array([one * np.sign(one[np.abs(one).argmax()]) for one in vectors])
        features = weighted @ vectors.T
        scale = np.sqrt(features.var(axis=0).sum())
        self._vectors, self._means = vectors / scale, features.mean(axis=0) / scale

    def of(self, text: str) -> list[float]:
        """Return the features of a text, then whether it is missing."""
        flag = _scaled(self._gaps, float(not text))
        if not text:
            return [0.0] * len(self._means) + [flag]
        return [*(self._vectors @ self._weighted(text) - self._means), flag]

    def _weighted(self, text: str) -> Any:
        row = np.zeros(self.N_BUCKETS)
        for bucket, count in _counts(text).items():
            idf = 1.0 + math.log((1 + self._n) / (1 + self._rows_with[bucket]))
            row[bucket] = (1.0 + math.log(count)) * idf
        return row / np.linalg.norm(row)


def _counts(text: str) -> dict[int, int]:
    """Count the n-grams of the words of a text by their hashes, in whole numbers modulo 2^64."""
    found: dict[int, int] = {}
    for word in text.lower().split():
        padded = f" {word} "
        for length in (3, 4):
            for start in range(len(padded) - length + 1):
                hashed = length
                for letter in padded[start : start + length]:
                    hashed = (hashed + ord(letter)) % 2**64
                    hashed = (hashed ^ (hashed >> 32)) * 0x9E3779B97F4A7C15 % 2**64
                    hashed ^= hashed >> 29
                bucket = hashed >> 52  # the first 12 bits
                found[bucket] = found.get(bucket, 0) + 1
    return found


# -- the models -----------------------------------------------------------------------------------

SLOPE, OFFSETS, DOUBT = 3.0, (0.1, -0.2, 0.1), 0.05
SHARES = (0.5, 0.3, 0.2)
COSTS = ((0.0, 1.0, 1.0), (4.0, 0.0, 1.0), (2.0, 1.0, 0.0))


def _calibrated(decision: Any) -> Any:
    """Return the probabilities that the calibration above gives for decision values."""
    by_class = np.column_stack((-decision, decision)) / 2.0 if decision.ndim == 1 else decision
    odds = np.exp(SLOPE * by_class + np.array(OFFSETS[: by_class.shape[1]]))
    p = odds / odds.sum(axis=1, keepdims=True)
    return (1.0 - DOUBT) * p + DOUBT / p.shape[1]


def _average() -> AveragedClassifier:
    """Return an average with members of every family and representation."""
    return AveragedClassifier(
        ("least_squares", Forest(2), "logistic", "hard_labels"),
        representations=[
            LinearRepresentation(1),
            KernelRepresentation(n_landmarks=4),
            GraphRepresentation(1, n_rows=8),
        ],
        sharpness=0.0,
    )


MODELS: dict[str, tuple[Callable[[], Any], int, bool, Any]] = {
    "linear": (lambda: SoftLabelClassifier(1.0), 2, True, Threshold(1, 0.35)),
    "linear_classes": (lambda: SoftLabelClassifier(1.0), 3, True, LeastCost(np.array(COSTS))),
    "linear_texts": (lambda: SoftLabelClassifier(1.0), 3, False, None),
    "logistic": (lambda: LogisticRegression(), 3, False, Balanced(np.array(SHARES))),
    "forest": (lambda: RandomForestClassifier(3, max_depth=3, random_state=0), 3, False, None),
    "boosting": (
        lambda: HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=5),
        3, False, None,
    ),
    "averaged": (_average, 2, False, None),
}  # fmt: skip
"""Name: classifier, number of classes, whether it is calibrated, and its operating point."""


def store_model(name: str, new: pd.DataFrame) -> tuple[bytes, dict[str, Any]]:
    """Fit a model; return its file, and what must be predicted for new rows."""
    make, n_classes, is_calibrated, point = MODELS[name]
    classes, texts = CLASSES[:n_classes], name.endswith("texts")
    frame = table(60)
    columns = [*COLUMNS, "remark"] if texts else list(COLUMNS)
    known = codes(frame, n_classes)
    if name.startswith(("linear", "averaged")):  # the others cannot use rows without labels
        known = np.where(np.arange(len(frame)) % 3 == 1, -1, known)
    pipeline = make_table_pipeline(make(), kinds={"remark": "text"} if texts else None)
    pipeline.fit(frame[columns], known)
    calibration = None
    if is_calibrated:
        calibration = DecisionCalibration(SLOPE, np.array(OFFSETS[:n_classes]), doubt=DOUBT)
    model = TableModel.from_pipeline(
        pipeline, TARGET, classes, calibration=calibration, operating_point=point
    )
    classifier, X = pipeline.named_steps["classifier"], Features(frame, texts=texts).of(new)
    p = classifier.predict_proba(X)
    if is_calibrated:
        p = _calibrated(classifier.decision_function(X))
    answers = p.argmax(axis=1)
    if isinstance(point, Threshold):
        answers = (p[:, 1] >= point.least).astype(int)
    if isinstance(point, Balanced):
        answers = (p / np.array(SHARES)).argmax(axis=1)
    if isinstance(point, LeastCost):
        answers = (p @ np.array(COSTS)).argmin(axis=1)
    labels = [classes[k] for k in answers]
    return dumps(model), {"labels": labels, "classes": list(classes), "probabilities": p.tolist()}


# -- names ----------------------------------------------------------------------------------------


def public_names() -> Iterator[tuple[str, str]]:
    """Yield the modules and names that the reference lists, of the modules that are kept."""
    for page in sorted(REFERENCE.glob("*.md")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if named := re.search(r"(?:currentmodule|automodule):: *(\S+)", line):
                module = named[1]
                continue
            named = re.fullmatch(r" *~?(\w+)", line) if module in KEPT else None
            if named and hasattr(import_module(module), named[1]):
                yield module, named[1]


def parameters(module: str, name: str) -> list[str]:
    """Return the parameters of a public function or class."""
    thing = getattr(import_module(module), name)
    return list(inspect.signature(thing).parameters) if callable(thing) else []


def commands() -> dict[str, list[str]]:
    """Return the options of every command."""
    from semisquares.cli._commands import COMMANDS

    found = {}
    for name in COMMANDS:
        command = getattr(import_module(f"semisquares.cli.{name}"), name)
        options = [word for one in command.params for word in one.opts if word.startswith("-")]
        found[name] = sorted(options)
    return found


# -- the folder -----------------------------------------------------------------------------------


def main() -> None:
    """Write the folder of this version, instead of those of development versions."""
    folder = STORED / semisquares.__version__
    if folder.exists() and "dev" not in folder.name:
        sys.exit(f"{folder} is that of a release, and later versions must read it; keep it.")
    for old in STORED.glob("*dev*"):
        shutil.rmtree(old)
    folder.mkdir(parents=True)
    new = table(12, start=1000)
    new.to_csv(folder / "new_rows.csv", index=False, lineterminator="\n")
    expected = {}
    for name in MODELS:
        content, expected[name] = store_model(name, new)
        (folder / f"{name}.model.gz").write_bytes(gzip.compress(content, mtime=0))
    names = {f"{module}.{name}": parameters(module, name) for module, name in public_names()}
    for file, what in {
        "expected.json": expected,
        "names.json": {"python": names, "commands": commands()},
    }.items():
        text = json.dumps(what, indent=1, ensure_ascii=False)
        (folder / file).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    sizes = ", ".join(f"{path.name} {path.stat().st_size:,}" for path in sorted(folder.iterdir()))
    sys.stdout.write(f"{folder.relative_to(STORED.parents[1])}: {sizes} bytes\n")


if __name__ == "__main__":
    main()
