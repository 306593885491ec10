"""Do unlabeled rows help on the breast-cancer table? Run ``python -m benchmarks.breast_cancer``.

With ``--out benchmarks/breast_cancer.csv`` it also stores every accuracy; the table of the README
is made from that file (``python -m docs --fill``).
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import scale

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

Array = NDArray[Any]

LABELS = 40
SPLITS = 20
ALPHAS = np.logspace(-2, 4, 13)
STORED = Path(__file__).with_name("breast_cancer.csv")


@dataclass(frozen=True, eq=False)
class Measured:
    """Accuracy, certificate and seconds of one rival in each split."""

    accuracy: Array
    certificate: Array
    seconds: Array

    def __str__(self) -> str:
        mean, error = mean_and_error(self.accuracy)
        worst = self.certificate.max()
        shown = "—" if np.isnan(worst) else f"{worst:.1e}"
        return f"{mean:9.3f} ± {error:.3f}{shown:>14s}{1e3 * np.median(self.seconds):10.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the classifiers over random choices of the labeled rows, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.breast_cancer", description=main.__doc__
    )
    parser.add_argument("--out", type=Path, help="also write every accuracy to this CSV file")
    options = parser.parse_args(arguments)
    X, _ = rows()
    print(
        f"Breast-cancer table: {len(X)} rows, {X.shape[1]} columns. {LABELS} labels are kept, the "
        f"others hidden;\naccuracy on the hidden rows, mean of {SPLITS} random choices of the "
        "labels.\n"
    )
    print(f"{'':44s}{'accuracy':>17s}{'certificate':>14s}{'ms a fit':>10s}")
    found = {}
    for name in rivals():
        found[name] = measure(name, range(SPLITS))
        print(f"{name:44s}{found[name]}", flush=True)
    print(
        "\nThe certificate is a proven bound on the distance to the optimum of the classifier's own"
        "\nobjective, relative to that of a constant. For hard labels it bounds the distance to the"
        "\nbest of all labelings, which is why it is large: nobody knows that labeling."
    )
    if options.out:
        _write(options.out, {name: one.accuracy for name, one in found.items()})


def rivals() -> dict[str, Any]:
    """Return the classifiers by their names in the table."""
    return {
        "supervised least squares, alpha=0": LeastSquaresClassifier(alpha=0.0),
        "tuned ridge (RidgeClassifierCV)": RidgeClassifierCV(ALPHAS),
        "soft labels, alpha=0": SoftLabelClassifier(alpha=0.0),
        "soft labels, alpha=1": SoftLabelClassifier(alpha=1.0),
        "hard labels, alpha=0": HardLabelClassifier(alpha=0.0, certify=True),
        "hard labels, alpha=1": HardLabelClassifier(alpha=1.0, certify=True),
        "tuned soft labels (SoftLabelClassifierCV)": SoftLabelClassifierCV(),
    }


def rows() -> tuple[Array, Array]:
    """Return the rows, scaled, and their true labels."""
    X, truth = load_breast_cancer(return_X_y=True)
    return scale(X), truth


def measure(name: str, splits: Sequence[int]) -> Measured:
    """Fit one rival in some splits; a split is the seed that chooses the labels."""
    X, truth = rows()
    model = rivals()[name]
    accuracy, certificates, seconds = [], [], []
    for split in splits:
        y = _hide(truth, split)
        hidden = y == -1
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a lost class shows in the accuracy
            if isinstance(model, RidgeClassifierCV):
                model.fit(X[~hidden], y[~hidden])
            else:
                model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        accuracy.append(np.mean(model.predict(X[hidden]) == truth[hidden]))
        certificates.append(getattr(model, "certificate_", np.nan))
    return Measured(*map(np.array, (accuracy, certificates, seconds)))


def read(path: Path = STORED) -> dict[str, Array]:
    """Read the accuracies of each rival, split by split."""
    found: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["rival"], []).append(float(row["accuracy"]))
    return {name: np.array(accuracy) for name, accuracy in found.items()}


def mean_and_error(accuracy: Array) -> tuple[float, float]:
    """Return the mean over the splits and its standard error."""
    return float(np.mean(accuracy)), float(np.std(accuracy, ddof=1) / np.sqrt(len(accuracy)))


def _write(path: Path, found: dict[str, Array]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rival", "split", "accuracy"])
        for name, accuracy in found.items():
            writer.writerows([name, split, float(value)] for split, value in enumerate(accuracy))


def _hide(truth: Array, seed: int) -> Array:
    """Keep the labels of random rows, equally many of each class; -1 for the rest."""
    rng = np.random.default_rng(seed)
    kept = np.concatenate(
        [rng.choice(np.flatnonzero(truth == c), LABELS // 2, replace=False) for c in (0, 1)]
    )
    y = np.full(len(truth), -1)
    y[kept] = truth[kept]
    return y


if __name__ == "__main__":
    main()
