"""The blocks of the page on choosing a method: tables and sentences from the evidence."""

from __future__ import annotations

from collections.abc import Callable

from . import storing
from .comparing import Comparison
from .cost_page import medians
from .markdown import grid, interval, names, share
from .methods import METHODS
from .overview_page import most_accurate
from .promises import AVERAGED, are_measured, peers
from .reasons import CHOSEN, CHOSEN_ALONE, GRAPHS, losses
from .sets import REGIMES
from .storing import Stored

USUAL = ("ridge_fine", "logistic_cv", "random_forest", "hist_gradient_boosting")
"""What people usually try first."""
SHOWN = ("averaged", "soft_cv", "ridge_cv", "logistic_cv", "self_training", "spreading_knn")


def headline(stored: Stored) -> str:
    """Compare the average with what people use when labels are few: mean accuracy and log loss."""
    if not are_measured(stored, AVERAGED):
        return "Not measured yet."
    comparisons = {words: Comparison(stored, regime) for regime, words in REGIMES.items()}
    others = {name for one in comparisons.values() for name in [most_accurate(one, peers(one))]}
    shown = [AVERAGED, *(name for name in METHODS if name in others | set(USUAL))]
    rows = []
    for name in shown:
        cells = [
            " / ".join(map(share, (one.mean_accuracy(name), one.mean_score("log_loss", name))))
            for one in comparisons.values()
        ]
        label = f"`{METHODS[name].label}`"
        rows.append([label, *(f"**{cell}**" if name == AVERAGED else cell for cell in cells)])
    return grid(["mean accuracy / log loss", *comparisons], rows)


def by_regime(stored: Stored) -> str:
    """Tabulate the mean accuracies of one method of each kind, and the most accurate of all."""
    comparisons = {words: Comparison(stored, regime) for regime, words in REGIMES.items()}
    rows = []
    for name in (name for name in SHOWN if are_measured(stored, name)):
        cells = [share(one.mean_accuracy(name)) for one in comparisons.values()]
        rows.append([f"`{METHODS[name].label}`", *cells])
    best = [(one, most_accurate(one)) for one in comparisons.values()]
    cells = [f"{share(one.mean_accuracy(name))}, `{METHODS[name].label}`" for one, name in best]
    rows.append(["the most accurate of all", *cells])
    return grid(["mean accuracy", *comparisons], rows)


def gain(stored: Stored) -> str:
    """Report the gain of `SoftLabelClassifierCV` from unlabeled rows, in each regime."""
    lines = []
    for regime, words in REGIMES.items():
        comparison = Comparison(stored, regime)
        found = comparison.mean_difference(CHOSEN, CHOSEN_ALONE)
        pair = comparison.pair(CHOSEN, CHOSEN_ALONE, comparison.paper)
        lines.append(
            f"- {words}: {interval(found, 2)} points on average; clearly better on "
            f"{names(pair.better)}; clearly worse on {names(pair.worse)}."
        )
    return "\n".join(lines)


def beaten(stored: Stored) -> str:
    """Count the tables on which unlabeled rows beat both tuned supervised classifiers."""
    lines = []
    for regime, words in REGIMES.items():
        comparison = Comparison(stored, regime)
        won: dict[str, list[str]] = {}
        for name in comparison.competitors:
            if METHODS[name].uses_unlabeled:
                pairs = [comparison.pair(name, other, comparison.paper) for other in TUNED]
                for table in set(pairs[0].better) & set(pairs[1].better):
                    won.setdefault(table, []).append(METHODS[name].label)
        tables = [table for table in comparison.paper if table in won]
        lines.append(f"- {words}: {len(tables)} of {len(comparison.paper)} ({names(tables)}).")
    return "\n".join(lines)


def kinds(stored: Stored) -> str:
    """Tabulate accuracies on the generated tables, whose kinds are known."""
    comparison = Comparison(stored, "ten")
    tables = [table for table in KINDS if table in comparison.tables]
    rows = []
    for name in (name for name in COMPARED if are_measured(stored, name)):
        label = "all labels" if name == "oracle" else f"`{METHODS[name].label}`"
        rows.append([label, *(share(comparison.accuracy(name, table)) for table in tables)])
    return grid(["accuracy", *(KINDS[table] for table in tables)], rows)


def graphs(stored: Stored) -> str:
    """List the tables on which a graph of neighbours is clearly ahead, in each regime."""
    lines = []
    for regime, words in REGIMES.items():
        comparison = Comparison(stored, regime)
        tables = [one.table for one in losses(comparison, CHOSEN) if one.best in GRAPHS]
        lines.append(f"- {words}: {names(tables)}.")
    return "\n".join(lines)


def reach(stored: Stored) -> str:
    """Tabulate how many rows each method could fit within the limits."""
    if stored.cost.empty:
        return "Not measured yet."
    seconds = medians(stored, "wall")
    rows = []
    for name in seconds.index:
        known = seconds.loc[name].dropna()
        if METHODS[name].uses_unlabeled and len(known):
            taken = f"{known.iloc[-1]:.2g}" if known.iloc[-1] < 10 else f"{known.iloc[-1]:.0f}"
            rows.append([f"`{METHODS[name].label}`", f"{known.index[-1]:,}", taken])
    return grid(["method", "largest number of rows", "seconds for these"], rows)


KINDS = {
    "Clusters": "the classes are clusters",
    "No clusters": "one cloud that a plane cuts in two",
    "Lengthwise": "clusters that are not the classes",
    "Moons": "interlocking curved shapes",
}
COMPARED = (
    *("ridge_cv", "averaged", "soft_cv", "soft", "hard"),
    *("self_training", "spreading_knn", "oracle"),
)
TUNED = ("ridge_cv", "logistic_cv")
BLOCKS: dict[str, Callable[[Stored], str]] = {
    "choosing.headline": headline,
    "choosing.beaten": beaten,
    "choosing.kinds": kinds,
    "choosing.regimes": by_regime,
    "choosing.gain": gain,
    "choosing.graphs": graphs,
    "choosing.reach": reach,
}
"""The blocks between the marks of docs/choosing.md."""


def block(name: str) -> Callable[[], str]:
    """Return a function that makes a block from the stored tables, for `docs.measured`."""
    return lambda: BLOCKS[name](storing.read())
