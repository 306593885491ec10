"""The page on `AveragedClassifier`: what is promised, its gains and losses table by table."""

from __future__ import annotations

from collections.abc import Sequence

from .comparing import Comparison
from .markdown import NOTHING, count, grid, interval, points, share, spread
from .methods import METHODS
from .overview_page import most_accurate
from .promises import ALONE, AVERAGED, PROMISES, RIDGE, are_measured, peers
from .sets import REGIMES
from .storing import Stored

TEXT = """
# AveragedClassifier

`AveragedClassifier` averages simple classifiers, weighted by their out-of-sample log loss; those of
least squares and the self-training ridges use representations learned from all rows, labeled or
not. This page compares it with other methods, and with itself without the unlabeled rows; see [how
it was measured](index.md). The first table lists what we promise.

{promises}

{means}

These are means over the paper's tables. *Log loss* is the mean of −log p of the true class;
*calibration* is the expected calibration error, with 15 bins of the confidence in the predicted
class.

![Differences from the tuned ridge and from itself without unlabeled rows](pictures/averaged.svg)

## What the unlabeled rows are worth

{words}

The table shows the accuracy with all rows minus that of the same classifier fitted to the labeled
rows alone, in points, with the half-width of the 95 % interval; bold if it is clearly better or
clearly worse.

{worth}

## Against the tuned ridge

The table shows the accuracy minus that of `RidgeClassifierCV(np.logspace(-3, 4, 15))`, in the same
way.

{ridge}

## Which methods beat it, and where

{losses}
"""
NOT_YET = """
# AveragedClassifier

Not measured yet: run `python -m benchmarks.peers accuracy --methods averaged,averaged_supervised`,
then `python -m benchmarks.peers pages` to write this page. """


def averaged_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    if not are_measured(stored, AVERAGED, RIDGE):
        return NOT_YET
    comparisons = {words: Comparison(stored, regime) for regime, words in REGIMES.items()}
    alone = are_measured(stored, ALONE)
    return TEXT.format(
        promises=_promises(comparisons),
        means=_means(comparisons),
        words=_worth(comparisons) if alone else "Not measured yet.",
        worth=_differences(comparisons, ALONE) if alone else "",
        ridge=_differences(comparisons, RIDGE),
        losses=_losses(comparisons),
    )


def _promises(comparisons: dict[str, Comparison]) -> str:
    """Tabulate the promises, and whether they hold."""
    rows = []
    for what, check in PROMISES.items():
        for words, comparison in comparisons.items():
            found = check(comparison)
            verdict = {True: "holds", False: "**does not hold**", None: NOTHING}[found.holds]
            rows.append([what, words, found.words, verdict])
    return grid(["promise", "regime", "found", "verdict"], rows)


def _means(comparisons: dict[str, Comparison]) -> str:
    rows = []
    for words, comparison in comparisons.items():
        best = most_accurate(comparison, peers(comparison))
        for name in dict.fromkeys((AVERAGED, ALONE, RIDGE, best)):
            if comparison.is_measured(name):
                rows.append([words, f"`{METHODS[name].label}`", *means(comparison, name)])
    return grid(["regime", "method", "accuracy", "balanced", "log loss", "calibration"], rows)


def means(comparison: Comparison, name: str) -> list[str]:
    """Return the mean accuracy, balanced accuracy, log loss and calibration error of a method."""
    scores = ("balanced", "log_loss", "calibration")
    found = [comparison.mean_score(score, name) for score in scores]
    return [share(one) for one in (comparison.mean_accuracy(name), *found)]


def _worth(comparisons: dict[str, Comparison]) -> str:
    """Say on how many tables the unlabeled rows clearly help, and on how many they hurt."""
    lines = []
    for words, comparison in comparisons.items():
        pair = comparison.pair(AVERAGED, ALONE)

        def listed(tables: Sequence[str], comparison: Comparison = comparison) -> str:
            gains = [
                f"{one} {points(comparison.difference(AVERAGED, ALONE, one).value)}"
                for one in tables
            ]
            return count(len(tables), "table") + (f" ({', '.join(gains)})" if gains else "")

        lines.append(
            f"- **{words[0].upper()}{words[1:]}**: "
            f"{interval(comparison.mean_difference(AVERAGED, ALONE), 2)} points on average over "
            f"the paper's tables. Clearly better on {listed(pair.better)}. Clearly worse on "
            f"{listed(pair.worse)}."
        )
    return "\n".join(lines)


def _differences(comparisons: dict[str, Comparison], other: str) -> str:
    """Tabulate differences from another method, the clear ones in bold."""
    clear = {}
    for words, comparison in comparisons.items():
        pair = comparison.pair(AVERAGED, other)
        clear[words] = {*pair.better, *pair.worse}
    tables = next(iter(comparisons.values())).tables
    rows = []
    for table in tables:
        cells = []
        for words, comparison in comparisons.items():
            text = spread(comparison.difference(AVERAGED, other, table))
            cells.append(f"**{text}**" if table in clear[words] else text)
        rows.append([table, *cells])
    mean = [spread(one.mean_difference(AVERAGED, other)) for one in comparisons.values()]
    return grid(["table", *comparisons], [*rows, ["mean of the paper's tables", *mean]])


def _losses(comparisons: dict[str, Comparison]) -> str:
    """Name, for each other method, the tables on which it is clearly more accurate."""
    measured = dict.fromkeys(name for one in comparisons.values() for name in peers(one))
    rows = []
    for name in measured:
        cells = []
        for comparison in comparisons.values():
            lost = comparison.pair(AVERAGED, name).worse if name in peers(comparison) else ()
            gaps = [
                f"{table} {points(comparison.difference(name, AVERAGED, table).value)}"
                for table in lost
            ]
            cells.append(", ".join(gaps) or NOTHING)
        if any(cell != NOTHING for cell in cells):
            rows.append([f"`{METHODS[name].label}`", *cells])
    if not rows:
        return "No other method is clearly more accurate on any table."
    lead = "Tables on which another method is clearly more accurate, and by how many points:"
    return f"{lead}\n\n{grid(['method', *comparisons], rows)}"
