"""Hand-written comparisons with realistic numbers."""

from dataclasses import dataclass, replace

import numpy as np

from semisquares.tables._importance import ColumnImportance
from semisquares.tables.columns import Column
from semisquares.tables.compare.comparison import (
    METRICS,
    Changes,
    Comparison,
    CurvePoint,
    Estimate,
    LabelTrend,
    Notice,
    Part,
    Recommendation,
    Rival,
    TrainingSize,
    Verdict,
)

HOSTILE = "<script>alert(1)</script>"
LONG = "a name that nobody would give to a column unless a program had made it, " * 4


@dataclass(frozen=True)
class Written(Notice):
    """A notice whose words are given."""

    kind: str
    first: str
    second: str

    def words(self):
        return self.first, self.second


def around(mean, half):
    return Estimate(mean, mean - half, mean + half)


def column(name, kind="number", reason="", n_missing=0, n_distinct=40, example="3.5"):
    return Column(name, kind, reason, n_missing, n_distinct, example, None)


def rival(name, accuracy, gain=0.0, half=0.009, n_unlabeled=1630, seconds=0.21, failed=""):
    scores = {
        "accuracy": around(accuracy, 0.014),
        "balanced_accuracy": around(accuracy - 0.022, 0.019),
        "auc": around(accuracy + 0.05, 0.008),
        "squared_loss": around(0.31 - accuracy / 4, 0.006),
    }
    gains = {metric: around(gain, half) for metric in METRICS}
    return Rival(
        name,
        TrainingSize(296, fewest_labels=110, n_unlabeled=1630, most_searched=2000),
        n_unlabeled,
        {} if failed else scores,
        {} if failed or name == "averaged" else gains,
        seconds,
        failed,
    )


def eight_rivals():
    return (
        rival("averaged", 0.919, seconds=0.52),
        rival("labeled_only", 0.906, -0.013, n_unlabeled=0, seconds=0.3),
        rival("ridge", 0.897, -0.022, n_unlabeled=0, seconds=0.04),
        rival("logistic", 0.901, -0.018, n_unlabeled=0, seconds=0.31),
        rival("forest", 0.893, -0.026, half=0.012, n_unlabeled=0),
        rival("boosting", 0.883, -0.036, half=0.012, n_unlabeled=0),
        rival("soft", 0.915, -0.004),
        rival("hard", 0.893, -0.026, half=0.012, n_unlabeled=500, seconds=1.9),
    )


def curve(**methods):
    return tuple(
        CurvePoint(method, n, around(error, 0.012))
        for method, points in methods.items()
        for n, error in points.items()
    )


def changed(n_classes=2, n_rows=1630):
    rng = np.random.default_rng(3)
    odds = rng.normal(scale=1.6, size=n_rows) + 0.1
    before = 1.0 / (1.0 + np.exp(-odds))
    after = 1.0 / (1.0 + np.exp(-odds - rng.normal(scale=0.3, size=n_rows)))
    moved = (before > 0.5) != (after > 0.5)
    if n_classes > 2:
        before, after = np.maximum(before, 1 - before), np.maximum(after, 1 - after)
    histogram, edges = np.histogram(after, 20, (0, 1))
    return Changes(
        n_rows=n_rows,
        n_changed=int(moved.sum()),
        moves=(("benign", "malignant", 61), ("malignant", "benign", 26)),
        before=tuple(before[:800].tolist()),
        after=tuple(after[:800].tolist()),
        changed=tuple(moved[:800].tolist()),
        histogram_edges=tuple(edges.tolist()),
        histogram=tuple(histogram.tolist()),
        examples=(
            (17, "benign", "malignant", 0.81, 0.92),
            (1204, "malignant", "benign", 0.78, 0.69),
        ),
    )


def binary(**other):
    """Return a comparison that finds unlabeled rows to help, or one that differs from it."""
    found = Comparison(
        source="clinic.csv",
        target="diagnosis",
        group="patient",
        n_rows=2000,
        n_labeled=370,
        classes=("benign", "malignant"),
        counts=(232, 138),
        columns=(
            column("radius_mean"),
            column("x_1", n_missing=41),
            column("smoker", "boolean", n_missing=3, n_distinct=2, example="yes"),
            column("site", "category", n_distinct=9, example="Leiden"),
            column("admitted", "date", n_distinct=700, example="2021-03-04"),
            column("record", "id", "each of its 2,000 values occurs once", 0, 2000, "R-00017"),
            column("notes", "text", n_missing=188, n_distinct=1812, example="pain …"),
        ),
        quick=False,
        folds=5,
        repeats=4,
        curve_repeats=1,
        seed=1,
        rivals=eight_rivals(),
        recommendation=Recommendation(
            "averaged", "accuracy", False, 0.919, "soft", 0.915, around(0.004, 0.009)
        ),
        verdict=Verdict(
            "yes", "accuracy", 0.919, 0.906, around(0.013, 0.009), n_labels=370, n_unlabeled=1630
        ),
        unlabeled_curve=curve(averaged={0: 0.094, 25: 0.093, 100: 0.09, 400: 0.085, 1630: 0.081}),
        label_curve=curve(
            averaged={37: 0.13, 74: 0.11, 148: 0.09, 296: 0.081},
            ridge={37: 0.17, 74: 0.13, 148: 0.105, 296: 0.103},
        ),
        label_trend=LabelTrend("less", 148, 296, 0.09, 0.081, n_labels=370, repeats=1),
        notices=(
            Written(
                "shift",
                "The labeled rows do not look like the unlabeled ones: a classifier tells them "
                "apart with an AUC of 0.81.",
                "The errors here are those on rows like the labeled ones; on the others they may "
                "be larger.",
            ),
        ),
        changes=changed(),
        importance=(
            ColumnImportance("radius_mean", 0.124),
            ColumnImportance("site", 0.061),
            ColumnImportance("admitted", 0.0004),
        ),
        parts=(Part("least_squares", 0.71, 35, 0.085), Part("forest", 0.29, 1, 0.11)),
        certificate=2.3e-16,
        settings={"method": "averaged", "jobs": "1"},
        versions={"semisquares": "0.4", "numpy": "2.1.0"},
    )
    return replace(found, **other)


def many_classes(n_classes=3, n_rows=1630):
    """Return a comparison with more than two classes."""
    names = tuple(f"class {k}" for k in range(1, n_classes + 1))
    moves = tuple((names[k], names[k - 1], 9 - k % 9) for k in range(n_classes))
    return binary(
        classes=names,
        counts=tuple(370 // n_classes for _ in names),
        changes=replace(
            changed(n_classes, n_rows=n_rows),
            moves=moves,
            examples=((17, names[0], names[1], 0.5, 0.7),),
        ),
    )


def hostile():
    """Return a comparison with malicious names and 200 columns."""
    names = [
        HOSTILE,
        "a & b",
        "x_i -1e-05",
        "$\\frac{1}{2$",
        '"quoted" onload="x"',
        LONG,
        "空の列",
        "\n\t",
    ]
    names += [f"feature_{k}_of_a_machine" for k in range(192)]
    columns = [column(name, n_missing=k % 3) for k, name in enumerate(names[:150])]
    columns += [column(name, "constant", f"all are {HOSTILE}") for name in names[150:]]
    columns += [column(HOSTILE + " 2", "dropped", "a & b <i>")]
    classes = (HOSTILE, "$x_1$ & " + LONG)
    return binary(
        source=f"{HOSTILE}.csv",
        target="a & b",
        group=HOSTILE,
        classes=classes,
        columns=tuple(columns),
        changes=replace(changed(), moves=((*classes, 3),), examples=((1, *classes, 0.6, 0.7),)),
        importance=tuple(
            ColumnImportance(name, 0.1 - 0.01 * k) for k, name in enumerate(names[:8])
        ),
        notices=(Written("leak", f"Column {HOSTILE} gives it away.", "a & b <b>no</b>"),),
        settings={HOSTILE: HOSTILE},
    )


PICTURES = ("rivals", "unlabeled_curve", "label_curve", "changes")
