"""The sentences on the page of a comparison, and descriptions of its pictures.

Names from the table are inserted as they are; the templates escape them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..._utils.words import counted, points
from ..compare.comparison import Changes, Comparison, CurvePoint, Rival
from ._drawing import STYLES, points_by_method, scored_rivals
from ._numbers import few_digits, percent, spread

if TYPE_CHECKING:
    from markupsafe import Markup

ANSWERS = {
    "yes": "They help",
    "no": "They do not help",
    "unclear": "Cannot tell",
    "none": "There are none",
}
FAMILIES = {
    "least_squares": "ridge classifiers on representations of the columns",
    "forest": "random forest",
    "logistic": "logistic regressions",
    "hard_labels": "ridge classifiers with hard labels for the unlabeled rows",
}
METRICS = {
    "accuracy": "accuracy, %",
    "balanced_accuracy": "balanced accuracy, %",
    "auc": "AUC",
    "squared_loss": "squared loss",
}
GLOSSARY: Mapping[str, str] = {
    "Averaged classifier": (
        "An average of many simple classifiers: ridge classifiers on several representations of "
        "the columns, a random forest, logistic regressions, and ridge classifiers that give hard "
        "labels to the unlabeled rows. Those that predict left-out labels better get more weight. "
        "Its representations are learned from all rows, labeled or not."
    ),
    "Tuned ridge": (
        "A linear classifier that learns from the labeled rows alone. Every feature gets a weight, "
        "large weights are penalised (the ridge), and the strength of the penalty is tuned on the "
        "training rows."
    ),
    "Soft labels": (
        "A linear classifier in which a missing label is a number between 0 and 1: the degree to "
        "which the row belongs to a class. All soft labels and all weights are found together, so "
        "that they fit each other best. The labeled rows decide by cross-validation how much an "
        "unlabeled row counts; “not at all” is among the choices."
    ),
    "Hard labels": (
        "Like soft labels, but all or nothing: each unlabeled row is put into one class, the "
        "classifier is fitted again, and so on until nothing changes."
    ),
    "Error": (
        "The share of held-out labeled rows that get a wrong class. A point is one in a hundred "
        "rows. The accuracy is the share of rows that get the right class; the balanced accuracy "
        "gives every class the same weight, however few rows it has."
    ),
    "AUC": (
        "How well the rows are ranked: 1 is perfect, ½ is guessing. With more than two classes it "
        "is the mean over the classes."
    ),
    "Squared loss": (
        "The mean squared difference between the prediction, as a number between 0 and 1, and the "
        "label as 0 or 1: smaller is better."
    ),
    "95 % interval": (
        "It contains the true number in about 95 of 100 such analyses. The folds of "
        "cross-validation share most of their training rows; the interval allows for that, so it "
        "is wider than the usual one."
    ),
    "Importance": (
        "How much the predicted probability changes on average if a column is set to its typical "
        "value. A column that matters goes along with the class; it need not be its cause."
    ),
}


def empty_cells(comparison: Comparison) -> str:
    """Count the empty cells in the columns that are used."""
    used = [column for column in comparison.columns if column.used]
    empty = sum(column.n_missing for column in used)
    share = percent(empty / max(comparison.n_rows * len(used), 1))
    return f"{empty:,} ({share})" if empty else "none"


def cross_validation(comparison: Comparison) -> str:
    """Say how the rivals were tested."""
    grouped = ""
    if comparison.group is not None:
        grouped = f" Rows with the same {shortened(comparison.group)} stay together."
    times = "once" if comparison.repeats == 1 else f"{comparison.repeats:,} times at random"
    return (
        f"The {counted(comparison.n_labeled, 'labeled row was', 'labeled rows were')} split into "
        f"{comparison.folds} parts, {times}. Each part was held back once, while every rival "
        "learned from the other parts and, if it can, from the unlabeled rows. The numbers are "
        f"means over all held-out parts.{grouped}"
    )


def effort(rival: Rival, comparison: Comparison) -> str:
    """Say how many unlabeled rows a rival was given.

    The page does not show the time of a fit, as it differs from run to run; the terminal does.
    """
    total = comparison.n_unlabeled
    given = f"{rival.n_unlabeled:,} of {total:,}"
    if rival.n_unlabeled in (0, total):
        given = f"all {total:,}" if rival.n_unlabeled else "none"
    return f"Unlabeled rows in a fit: {given}."


def fewer_rows(comparison: Comparison) -> str:
    """Name the rivals that got a sample of the unlabeled rows; "" if none did."""
    most = max((rival.n_unlabeled for rival in comparison.rivals), default=0)
    sampled = [
        f"{rival.label} ({rival.n_unlabeled:,})"
        for rival in comparison.rivals
        if 0 < rival.n_unlabeled < most and not rival.failed
    ]
    if not sampled:
        return ""
    total = counted(most, "unlabeled row")
    return f"To save time, a random sample of the {total} was given to {', '.join(sampled)}."


def unlabeled_words(comparison: Comparison) -> str:
    """Describe the first and the last point of the curve over unlabeled rows."""
    for _, first, last in _ends(comparison.unlabeled_curve):
        return (
            f"The error of the averaged classifier is {percent(first.error.mean)} with "
            f"{_rows(first.n, comparison)}, and {percent(last.error.mean)} with "
            f"{_rows(last.n, comparison)}."
        )
    return ""


def curve_words(comparison: Comparison) -> str:
    """Say why the numbers of the curves differ a little from those of the rivals; "" if not."""
    if comparison.curve_repeats == comparison.repeats:
        return ""
    return (
        "To save time the curves rest on "
        f"{counted(comparison.curve_repeats, 'repeat')} of the folds, not on "
        f"{comparison.repeats} as the verdict does, so their numbers may differ a little."
    )


def metric_words(comparison: Comparison) -> str:
    """Say what decides."""
    if comparison.recommendation.metric == "accuracy":
        return "The error decides."
    share = percent(min(comparison.counts) / max(sum(comparison.counts), 1))
    return (
        f"The AUC decides, as the rarest class has only {share} of the labels: a classifier that "
        "never answers it would still have a small error."
    )


def change_words(comparison: Comparison, found: Changes) -> str:
    """Say how many predictions the unlabeled rows changed."""
    share = percent(found.n_changed / max(found.n_rows, 1))
    verb = "gets" if found.n_changed == 1 else "get"
    rows = f"{counted(found.n_rows, 'unlabeled row')},"
    if found.n_rows < comparison.n_unlabeled:
        rows += f" drawn at random from {comparison.n_unlabeled:,},"
    return (
        f"Of {rows} {found.n_changed:,} ({share}) {verb} "
        "another class if the unlabeled rows are used in training, not only the labeled rows."
    )


def sample_words(found: Changes) -> str:
    """Say how many rows are drawn; "" if all are."""
    if len(found.before) >= found.n_rows:
        return ""
    return f"The dots are a random sample of {len(found.before):,} rows."


def certificate_words(comparison: Comparison) -> Markup:
    """Say how close to the optimum the least squares members are proven to be."""
    from markupsafe import Markup

    if not math.isfinite(comparison.certificate):
        return Markup("No bound on the distance to the optimum was found.")
    return Markup(
        "Each ridge classifier of the average minimises a sum of squared errors, and comes with a "
        "proof: its sum is at most {} above the smallest possible one, relative to the sum of a "
        "constant guess. So it does not depend on when a search was stopped. This does not mean "
        "that the predictions are right."
    ).format(few_digits(comparison.certificate))


def rivals_alt(comparison: Comparison) -> str:
    shown = scored_rivals(comparison)
    gains = [
        f"{rival.label} {points(gain.mean)}{_between(points(gain.low), points(gain.high))}"
        for rival in shown
        if (gain := rival.gains.get("accuracy"))
    ]
    errors = [f"{r.label} {percent(1 - r.scores['accuracy'].mean)}" for r in shown]
    return (
        "Dots with 95 % intervals. Error points better than the averaged classifier: "
        f"{'; '.join(gains)}. Errors: {'; '.join(errors)}."
    )


def curve_alt(points: Sequence[CurvePoint], rows: str) -> str:
    """Describe a picture of errors against a number of rows."""
    lines = [
        f"{STYLES[method].label} from {percent(first.error.mean)} at {first.n:,} to "
        f"{percent(last.error.mean)} at {last.n:,}"
        for method, first, last in _ends(points)
    ]
    return f"Lines of the error against the number of {rows}: {'; '.join(lines)}."


def changes_alt(found: Changes) -> str:
    return (
        f"Two panels. The first has {len(found.before):,} dots, one for a row: the probability "
        f"without the unlabeled rows across, with them upwards; {sum(found.changed):,} marked dots "
        "changed their class. The second is a histogram of the probabilities with them."
    )


def shortened(name: str, longest: int = 60) -> str:
    """Shorten a long name, and make a blank one visible.

    Examples
    --------
    >>> shortened("a long name", 7), shortened(" ")
    ('a long…', '(blank)')
    """
    name = name if name.strip() else "(blank)"
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def _ends(points: Sequence[CurvePoint]) -> list[tuple[str, CurvePoint, CurvePoint]]:
    """Return the first and the last point of each method."""
    return [(method, line[0], line[-1]) for method, line in points_by_method(points).items()]


def _rows(n: int, comparison: Comparison) -> str:
    if n in (0, comparison.n_unlabeled):
        return f"all {n:,}" if n else "none of the unlabeled rows"
    return f"{n:,} unlabeled rows"


def _between(low: str, high: str) -> str:
    interval = spread(low, high)
    return f" ({interval})" if interval else ""
