"""What the page of a comparison says in words: sentences, and its pictures for who cannot see them.

Names of a table are put in as they are; the templates escape them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..._utils.words import counted, points
from ..compare.comparison import Comparison, CurvePoint, Rival
from . import drawing
from .drawing import LOOKS, in_order
from .numbers import few_digits, percent, spread

if TYPE_CHECKING:
    from markupsafe import Markup

ANSWERS = {"yes": "Yes", "no": "No", "unclear": "Cannot tell"}
METRICS = {
    "accuracy": "accuracy, %",
    "balanced_accuracy": "balanced accuracy, %",
    "auc": "AUC",
    "squared_loss": "squared loss",
}
GLOSSARY: Mapping[str, str] = {
    "Tuned ridge": (
        "A linear classifier that learns from the labeled rows alone. Every feature gets a weight, "
        "large weights are held down (the ridge), and how firmly is tuned on the training rows. "
        "It is what the unlabeled rows have to beat."
    ),
    "Soft label": (
        "A number between 0 and 1 in the place of a missing label: how much of the row belongs to "
        "a class. All soft labels and all weights are found together, so that they fit each other "
        "best. It is no calibrated probability."
    ),
    "Soft labels, chosen by the labels": (
        "The method of the verdict. It uses soft labels, and lets the labeled rows decide by "
        "cross-validation how much an unlabeled row counts. “Not at all” is among the choices; "
        "then it is the tuned ridge."
    ),
    "Hard labels": (
        "As soft labels, but all or nothing: each unlabeled row is put into one class, the "
        "classifier is fitted again, and so on until nothing changes."
    ),
    "Self-training": (
        "A logistic regression that labels the rows it is surest of, learns from them, and goes on."
    ),
    "Error": (
        "The share of labeled rows, held back from training, that get a wrong class. A point is "
        "one in a hundred rows. The accuracy is all the others; the balanced accuracy counts every "
        "class alike, however few its rows."
    ),
    "AUC": (
        "How well the rows are ranked: 1 is perfect, ½ is guessing. With more than two classes it "
        "is a mean over them."
    ),
    "Squared loss": (
        "The mean squared distance of what is predicted, as a number between 0 and 1, from the "
        "label as 0 or 1: smaller is better."
    ),
    "95 % interval": (
        "Where the true number lies in about 95 of 100 such analyses. It allows for the folds of "
        "cross-validation having most of their training rows in common, so it is wider than the "
        "usual one."
    ),
    "Decision value": (
        "What the weights add up to for a row. With two classes its sign decides; with more, the "
        "class with the largest value wins, and its lead is how far the next one is behind."
    ),
}


def empty_cells(comparison: Comparison) -> str:
    """Say how many cells of the columns used are empty."""
    used = [column for column in comparison.columns if column.used]
    empty = sum(column.n_missing for column in used)
    share = percent(empty / max(comparison.n_rows * len(used), 1))
    return f"{empty:,} ({share})" if empty else "none"


def cross_validation(comparison: Comparison) -> str:
    """Say how the rivals were tested."""
    grouped = ""
    if comparison.group is not None:
        grouped = f" Rows with the same {shortened(comparison.group)} stay together."
    anew = "once" if comparison.repeats == 1 else f"{comparison.repeats:,} times anew"
    return (
        f"The {counted(comparison.n_labeled, 'labeled row was', 'labeled rows were')} split into "
        f"{comparison.folds} parts, {anew}. Each part "
        "was held back once, while every rival learned from the others, and those that can from "
        f"the unlabeled rows, too. The numbers are means over all parts held back.{grouped}"
    )


def scored(comparison: Comparison) -> list[Rival]:
    """Return the rivals that have numbers, the two of the verdict first."""
    return in_order(comparison.rivals)


def effort(rival: Rival, comparison: Comparison) -> str:
    """Say how many unlabeled rows a rival was given.

    How long its fits took would differ from run to run: the terminal says it, not the page.
    """
    total = comparison.n_unlabeled
    given = f"{rival.n_unlabeled:,} of {total:,}"
    if rival.n_unlabeled in (0, total):
        given = f"all {total:,}" if rival.n_unlabeled else "none"
    return f"Unlabeled rows in a fit: {given}."


def fewer_rows(comparison: Comparison) -> str:
    """Name the rivals that got a sample of the unlabeled rows; empty where none did."""
    most = max((rival.n_unlabeled for rival in comparison.rivals), default=0)
    said = [
        f"{rival.label} ({rival.n_unlabeled:,})"
        for rival in comparison.rivals
        if 0 < rival.n_unlabeled < most and not rival.failed
    ]
    if not said:
        return ""
    total = counted(most, "unlabeled row")
    return f"To save time, a random sample of the {total} was given to {', '.join(said)}."


def unlabeled_words(comparison: Comparison) -> str:
    """Say what the first and the last point of each curve over unlabeled rows are."""
    said = []
    for method, first, last in _ends(comparison.unlabeled_curve):
        name, error = _capital(LOOKS[method].label), percent(last.error.mean)
        if method == "ridge":
            said.append(f"{name}, which uses none of them: error {error}.")
        elif first.n == last.n:
            said.append(f"{name}: error {error} with {_rows(last.n, comparison)}.")
        else:
            start = f"{percent(first.error.mean)} with {_rows(first.n, comparison)}"
            said.append(f"{name}: error {start}, {error} with {_rows(last.n, comparison)}.")
    return " ".join(said)


def curve_words(comparison: Comparison) -> str:
    """Say why the numbers of the curves are not quite those of the rivals; empty where they are."""
    if comparison.curve_repeats == comparison.repeats:
        return ""
    return (
        "To save time the curves rest on "
        f"{counted(comparison.curve_repeats, 'repeat')} of the folds, not on "
        f"{comparison.repeats} as the verdict does, so their numbers may differ a little from its."
    )


def change_words(comparison: Comparison) -> str:
    """Say how many predictions the unlabeled rows changed, or would have."""
    found = comparison.changes
    share = percent(found.n_flipped / max(found.n_rows, 1))
    of = f"Of {counted(found.n_rows, 'unlabeled row')}, {found.n_flipped:,}"
    if found.used:
        verb = "gets" if found.n_flipped == 1 else "get"
        return (
            f"{of} ({share}) {verb} another class because the unlabeled rows took part in the "
            "training; before, only the labeled rows did."
        )
    return (
        "The labels chose to leave the unlabeled rows out, so these changed nothing. Had they been "
        f"used: o{of[1:]} ({share}) would get another class."
    )


def sample_words(comparison: Comparison) -> str:
    """Say how many rows are dots in the picture, where not all are."""
    found = comparison.changes
    if len(found.before) >= found.n_rows:
        return ""
    return f"The dots are a random sample of {len(found.before):,} rows."


def strength_words(comparison: Comparison) -> str:
    """Say which classifier the strongest features are of, and what their numbers mean."""
    which = "soft labels, chosen by the labels"
    if not comparison.unlabeled_weight:
        which = "tuned ridge (the labels chose to leave the unlabeled rows out)"
    return (
        f"The classifier is that of {which}, fitted to all rows; the bars show what one standard "
        "deviation of a feature does, that of a level, too, where “semisquares inspect” shows the "
        "whole step from rows without the level to those with it."
    )


def certificate_words(comparison: Comparison) -> Markup:
    """Say how close to the optimum the fit is, proven."""
    from markupsafe import Markup

    if not comparison.unlabeled_weight:
        return Markup(
            "The labels chose to leave the unlabeled rows out. What is left, tuned ridge, is one "
            "system of linear equations, solved directly: no search that could end too early."
        )
    if not math.isfinite(comparison.certificate):
        return Markup("No bound on the distance to the optimum was found.")
    return Markup(
        "The classifier fitted to all rows minimises a sum of squared errors, and comes with a "
        "proof: its sum is at most {} above the smallest there can be, measured in the sum that "
        "a constant guess would have. So it depends neither on a starting point nor on when a "
        "search was stopped; it does not say that the predictions are right."
    ).format(few_digits(comparison.certificate))


def rivals_alt(comparison: Comparison) -> str:
    shown = in_order(comparison.rivals)
    gains = [
        f"{rival.label} {points(gain.mean)}{_between(points(gain.low), points(gain.high))}"
        for rival in shown
        if (gain := rival.gains.get("accuracy"))
    ]
    errors = [f"{r.label} {percent(1 - r.scores['accuracy'].mean)}" for r in shown]
    return (
        "Dots with 95 % intervals. Error points better than tuned ridge: "
        f"{'; '.join(gains)}. Errors: {'; '.join(errors)}."
    )


def curve_alt(points: Sequence[CurvePoint], rows: str) -> str:
    """Describe a picture of errors against a number of rows."""
    said = [
        f"{LOOKS[method].label} from {percent(first.error.mean)} at {first.n:,} to "
        f"{percent(last.error.mean)} at {last.n:,}"
        for method, first, last in _ends(points)
    ]
    return f"Lines of the error against the number of {rows}: {'; '.join(said)}."


def changes_alt(comparison: Comparison) -> str:
    found = comparison.changes
    return (
        f"Two panels. The first has {len(found.before):,} dots, one for a row: the decision value "
        f"without the unlabeled rows across, with them upwards; {sum(found.flipped):,} marked dots "
        "changed their class. The second is a histogram of the soft labels: "
        f"{pinned_words(comparison)}."
    )


def pinned_words(comparison: Comparison) -> str:
    """Say how many soft labels are as sure as can be."""
    zero, one = drawing.pinned(comparison.changes, len(comparison.classes))
    if len(comparison.classes) > 2:
        return f"{percent(one, 0)} are exactly 1"
    return f"{percent(zero, 0)} are exactly 0 and {percent(one, 0)} exactly 1"


def shortened(name: str, longest: int = 60) -> str:
    """Return a name that fits on a line or two, and can be seen.

    Examples
    --------
    >>> shortened("a long name", 7), shortened(" ")
    ('a long…', '(blank)')
    """
    name = name if name.strip() else "(blank)"
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def _ends(points: Sequence[CurvePoint]) -> list[tuple[str, CurvePoint, CurvePoint]]:
    """Return the first and the last point of each method."""
    lines = {
        method: sorted((one for one in points if one.method == method), key=lambda one: one.n)
        for method in LOOKS
    }
    return [(method, line[0], line[-1]) for method, line in lines.items() if line]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rows(n: int, comparison: Comparison) -> str:
    if n in (0, comparison.n_unlabeled):
        return f"all {n:,}" if n else "none of the unlabeled rows"
    return f"{n:,} unlabeled rows"


def _between(low: str, high: str) -> str:
    said = spread(low, high)
    return f" ({said})" if said else ""
