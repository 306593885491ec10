"""Hand-written comparisons with realistic numbers."""

from dataclasses import dataclass, replace

import numpy as np

from semisquares.tables.columns import Column
from semisquares.tables.compare.comparison import (
    METRICS,
    Changes,
    Comparison,
    CurvePoint,
    Estimate,
    LabelTrend,
    Notice,
    Rival,
    Strength,
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
        {} if failed or name == "ridge" else gains,
        seconds,
        failed,
    )


def six_rivals():
    return (
        rival("ridge", 0.906, n_unlabeled=0, seconds=0.04),
        rival("logistic", 0.901, -0.005, n_unlabeled=0, seconds=0.31),
        rival("soft", 0.915, 0.009),
        rival("hard", 0.893, -0.013, half=0.012),
        rival("soft_cv", 0.919, 0.013),
        rival("self_training", 0.897, -0.009, n_unlabeled=500, seconds=1.9),
    )


def curve(**methods):
    return tuple(
        CurvePoint(method, n, around(error, 0.012))
        for method, points in methods.items()
        for n, error in points.items()
    )


def changed(n_classes=2, used=True, n_rows=1630):
    rng = np.random.default_rng(3)
    before = rng.normal(scale=0.6, size=n_rows) + 0.1
    after = 0.8 * before + rng.normal(scale=0.08, size=n_rows)
    flipped = np.sign(before) != np.sign(after)
    soft = np.clip(after + 0.5, 0, 1)
    if n_classes > 2:
        before, after = np.abs(before), np.abs(after)
        soft = np.clip((1 + after) / 2, 0, 1)
    histogram, edges = np.histogram(soft, 20, (0, 1))
    return Changes(
        method="soft_cv" if used else "soft",
        used=used,
        n_rows=n_rows,
        n_flipped=int(flipped.sum()),
        flips=(("benign", "malignant", 61), ("malignant", "benign", 26)),
        before=tuple(before[:800].tolist()),
        after=tuple(after[:800].tolist()),
        flipped=tuple(flipped[:800].tolist()),
        histogram_edges=tuple(edges.tolist()),
        histogram=tuple(histogram.tolist()),
        examples=(
            (17, "benign", "malignant", -0.31, 0.42),
            (1204, "malignant", "benign", 0.28, -0.19),
        ),
    )


def binary(**other):
    """Return a comparison whose answer is yes, or one that differs from it."""
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
        folds=5,
        repeats=10,
        curve_repeats=2,
        seed=1,
        rivals=six_rivals(),
        verdict=Verdict("yes", 0.081, 0.094, around(0.013, 0.009), n_labels=370, n_unlabeled=1630),
        unlabeled_curve=curve(
            soft_cv={0: 0.094, 100: 0.091, 200: 0.088, 400: 0.085, 800: 0.083, 1630: 0.081},
            soft={100: 0.093, 200: 0.091, 400: 0.089, 800: 0.087, 1630: 0.085},
            ridge={0: 0.094, 1630: 0.094},
        ),
        label_curve=curve(
            soft_cv={20: 0.16, 40: 0.13, 80: 0.11, 160: 0.09, 296: 0.081},
            ridge={20: 0.22, 40: 0.17, 80: 0.13, 160: 0.105, 296: 0.094},
        ),
        label_trend=LabelTrend("less", 160, 296, 0.105, 0.094, n_labels=370, repeats=2),
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
        strengths=(
            Strength("radius_mean", "radius_mean", "malignant", 0.12, "per unit", 0.31),
            Strength("site = Leiden", "site", "malignant", -0.22, "against not", -0.18),
            Strength("admitted, days", "admitted", "malignant", 0.0004, "per day", 0.09),
            Strength("x_1", "x_1", "malignant", -2.5e-7, "per unit", -0.04),
        ),
        alpha=3.16,
        unlabeled_weight=0.1,
        supervised_alpha=10.0,
        certificate=2.3e-16,
        settings={"method": "auto", "jobs": "1"},
        versions={"semisquares": "0.4", "numpy": "2.1.0"},
    )
    return replace(found, **other)


def many_classes(n_classes=3, n_rows=1630):
    """Return a comparison with more than two classes."""
    names = tuple(f"class {k}" for k in range(1, n_classes + 1))
    flips = tuple((names[k], names[k - 1], 9 - k % 9) for k in range(n_classes))
    return binary(
        classes=names,
        counts=tuple(370 // n_classes for _ in names),
        changes=replace(
            changed(n_classes, n_rows=n_rows),
            flips=flips,
            examples=((17, names[0], names[1], 0.2, 0.4),),
        ),
        strengths=tuple(
            Strength("radius_mean", "radius_mean", name, 0.1, "per unit", 0.3 - 0.1 * k)
            for k, name in enumerate(names)
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
        changes=replace(changed(), flips=((*classes, 3),), examples=((1, *classes, -0.1, 0.2),)),
        strengths=tuple(
            Strength(name, name, classes[1], 0.1, "per unit", 0.3 - 0.1 * k)
            for k, name in enumerate(names[:8])
        ),
        notices=(Written("leak", f"Column {HOSTILE} gives it away.", "a & b <b>no</b>"),),
        settings={HOSTILE: HOSTILE},
    )


PICTURES = ("rivals", "unlabeled_curve", "label_curve", "changes")
