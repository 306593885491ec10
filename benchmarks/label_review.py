"""How well wrong labels are found, beside cleanlab. Run ``python -m benchmarks.label_review``.

On each table of benchmarks/peers half of the training rows keep their label, 200 at most, and 5 or
15 % of these get a wrong one. `doubtful_labels` reviews them with the default classifier, and
cleanlab with logistic regression, cross-validated in five folds, and its default settings.
Both rank the labels; the first as many as are wrong are compared with those that are. Then the
labels that each says to be wrong are removed (the first `n_expected`, and those of cleanlab's
`find_label_issues`), and `AveragedClassifier` is fitted to the rest.

cleanlab is needed for this alone: ``pip install cleanlab``. Each case is stored in
label_review.json as soon as it is done; run the command again to continue. Rules were chosen with
``--first-split 1000 --out FILE``.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from semisquares import AveragedClassifier
from semisquares._utils.files import atomic_write
from semisquares.labeling import doubtful_labels

from .peers import sets

Array = NDArray[Any]

STORED = Path(__file__).with_name("label_review.json")
RATES = (0.05, 0.15)
SPLITS = 2
MOST_LABELS = 200
MOST_TESTED = 2000
FOLDS = 5
SEED = 19


@dataclass(frozen=True, eq=False)
class Flipped:
    """A split of a table whose labels are partly wrong."""

    split: sets.Split
    labeled: Array
    """The labeled rows."""
    given: Array
    """Their labels, wrong ones included."""

    @property
    def y(self) -> Array:
        """The labels of all training rows, -1 if they have none."""
        return self.without(np.zeros(len(self.labeled), dtype=bool))

    @property
    def wrong(self) -> Array:
        """Which labels are wrong."""
        return self.given != self.split.truth[self.labeled]

    def without(self, removed: Array) -> Array:
        """Return the labels of all training rows without some."""
        y = np.full(len(self.split.y), -1)
        y[self.labeled[~removed]] = self.given[~removed]
        return y


@dataclass(frozen=True, eq=False)
class Review:
    """An order of the labels, the most doubtful first, and those that are said to be wrong."""

    order: Array
    said: Array


def draw(table: str, rate: float, number: int) -> Flipped:
    """Draw a split, and give some of its labels a wrong class."""
    split = sets.draw(table, "half", number)
    rng = np.random.default_rng([SEED, zlib.crc32(table.encode()), number, round(1000 * rate)])
    labeled = np.flatnonzero(split.y >= 0)
    labeled = np.sort(rng.permutation(labeled)[:MOST_LABELS])
    truth, n_classes = split.truth[labeled], len(np.unique(split.truth))
    given, flipped = truth.copy(), rng.permutation(len(truth))[: max(1, round(rate * len(truth)))]
    given[flipped] += rng.integers(1, n_classes, size=len(flipped))
    return Flipped(split, labeled, given % n_classes)


def by_cleanlab(X: Array, given: Array) -> Review:
    """Review labels with cleanlab's defaults and cross-validated logistic regression."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    codes = np.unique(given, return_inverse=True)[1]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    model = LogisticRegression(max_iter=1000)
    proba = cross_val_predict(model, X, codes, cv=folds, method="predict_proba")
    quality = get_label_quality_scores(codes, proba)
    return Review(np.argsort(quality, kind="stable"), find_label_issues(codes, proba, n_jobs=1))


def measure(
    table: str,
    rate: float,
    number: int,
    other: Callable[[Array, Array], Review] = by_cleanlab,
    model: AveragedClassifier | None = None,
) -> dict[str, Any]:
    """Review the labels of a split by both, and fit to what each leaves."""
    drawn = draw(table, rate, number)
    split, wrong = drawn.split, drawn.wrong
    model = AveragedClassifier() if model is None else model
    fitted = _fit(model, drawn, drawn.y)
    found = doubtful_labels(fitted, split.X, drawn.y)
    ranked = np.searchsorted(drawn.labeled, found.indices)
    said = np.zeros(len(wrong), dtype=bool)
    said[ranked[: round(found.n_expected)]] = True
    mine = Review(ranked, said)
    theirs = other(split.X[drawn.labeled], drawn.given)
    accuracies = {"given": _accuracy(fitted, drawn)}
    for name, removed in (("ours", said), ("cleanlab", theirs.said), ("truth", wrong)):
        refitted = _fit(model, drawn, drawn.without(removed)) if removed.any() else fitted
        accuracies[name] = _accuracy(refitted, drawn)
    return {
        "table": table,
        "rate": rate,
        "split": number,
        "labels": len(wrong),
        "wrong": int(wrong.sum()),
        "expected": round(found.n_expected, 2),
        "interval": list(found.interval),
        "ours": asdict(Hits.of(mine, wrong)),
        "cleanlab": asdict(Hits.of(theirs, wrong)),
        "accuracy": {name: round(value, 5) for name, value in accuracies.items()},
    }


@dataclass(frozen=True)
class Hits:
    """How many wrong labels a review found."""

    first: int
    """Among the first as many as are wrong."""
    said: int
    """Labels that are said to be wrong."""
    right: int
    """Those of them that are."""

    @classmethod
    def of(cls, review: Review, wrong: Array) -> Hits:
        """Count."""
        first = review.order[: int(wrong.sum())]
        return cls(
            int(wrong[first].sum()), int(review.said.sum()), int(wrong[review.said].sum())
        )  # fmt: skip


def _fit(model: AveragedClassifier, drawn: Flipped, y: Array) -> AveragedClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AveragedClassifier(**model.get_params()).fit(drawn.split.X, y)


def _accuracy(model: AveragedClassifier, drawn: Flipped) -> float:
    X, truth = drawn.split.X_test[:MOST_TESTED], drawn.split.y_test[:MOST_TESTED]
    return float(np.mean(model.predict(X) == truth))


def run(
    out: Path,
    tables: Sequence[str],
    splits: Sequence[int],
    measured: Callable[[str, float, int], dict[str, Any]] = measure,
) -> list[dict[str, Any]]:
    """Measure the cases that are not stored yet; store each as soon as it is done."""
    cases = read(out)["cases"] if out.exists() else []
    done = {(one["table"], one["rate"], one["split"]) for one in cases}
    for number in splits:
        for table in tables:
            for rate in RATES:
                if (table, rate, number) in done:
                    continue
                cases.append(measured(table, rate, number))
                print(json.dumps(cases[-1]), flush=True)
                write(out, cases)
    return cases


def read(path: Path = STORED) -> dict[str, Any]:
    """Return the stored cases and versions."""
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored


def write(path: Path, cases: Sequence[dict[str, Any]]) -> None:
    """Store cases, one per line, by split, table and rate."""
    names = list(sets.SETS)
    order = sorted(
        cases, key=lambda one: (one["split"], names.index(one["table"]), one["rate"])
    )  # fmt: skip
    lines = ",\n".join(json.dumps(one) for one in order)
    versions = {name: _version(name) for name in ("cleanlab", "scikit-learn")}
    text = f'{{"versions": {json.dumps(versions)},\n"cases": [\n{lines}\n]}}\n'
    with atomic_write(path) as file:
        file.write(text.encode())


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:
        return ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.label_review",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--splits", type=int, default=SPLITS, help="of each table (2)")
    parser.add_argument("--first-split", type=int, default=0, help="number of the first split (0)")
    parser.add_argument("--out", type=Path, default=STORED, help="file to store cases in")
    options = parser.parse_args(arguments)
    first = options.first_split
    if (options.out.resolve() == STORED.resolve()) != (first + options.splits <= 1000):
        parser.error(
            f"splits from 1000 on are for choices, and others are reported in {STORED.name}: give "
            "both --first-split 1000 and --out FILE, or neither."
        )
    run(options.out, sets.SETS, range(first, first + options.splits))


if __name__ == "__main__":
    main()
