"""The page on accuracy: means, each table, which method is clearly better, where we lose."""

from __future__ import annotations

from .averaged_page import means
from .comparing import Comparison
from .markdown import NOTHING, count, grid, interval, names, number, points, share, spread
from .methods import METHODS, OURS
from .reasons import chosen, losses
from .sets import REGIMES
from .storing import Stored

SHOWN = (
    *("averaged", "soft_cv", "soft", "hard", "ridge_cv", "logistic_cv", "self_training"),
    *("spreading_knn", "tri_training", "oracle"),
)
"""The columns of the tables by data set: one of each family."""

TEXT = """
# Accuracy

This page shows the accuracy of all methods on test rows; see [how it was measured](index.md).

![How much more accurate each method is than the tuned ridge](pictures/accuracy.svg)

The picture shows differences from the tuned ridge (`RidgeClassifierCV`, which uses the labeled rows
alone), in points, as means over the paper's tables with 95 % intervals. Green is semisquares; blue
are linear classifiers and grey other classifiers that use the labeled rows alone; red are graph
methods, orange is self-training, purple is sslearn, light blue is LAMDA-SSL.
{regimes}
"""

REGIME = """
## {title}

{lead}

{means}

*Accuracy*, *balanced* accuracy, *log loss* and *calibration* error are means over the paper's
tables. *Against the ridge* is the difference in accuracy on the same splits, in points, with the
half-width of its 95 % interval. *Rank* is the mean rank among the methods: 1 is the best, and a
method without a model is last. *Better / equal / worse* counts the tables, of all {n_tables}, on
which `{ours}` is clearly better than this method, neither better nor worse, or clearly worse;
*without a model* counts those on which this method or `{ours}` has none. *CPU* is the median over
tables of the median seconds of a fit, on a machine with other users.

### Each table

{tables}

*All labels* is the tuned ridge fitted to the labels of all training rows.

### Where semisquares loses

{losses}
"""


def accuracy_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    parts = [_regime(Comparison(stored, regime), words) for regime, words in REGIMES.items()]
    return TEXT.format(regimes="".join(parts))


def _regime(comparison: Comparison, words: str) -> str:
    return REGIME.format(
        title=words[0].upper() + words[1:],
        lead=_lead(comparison),
        means=_means(comparison),
        n_tables=len(comparison.tables),
        ours=METHODS[chosen(comparison)].label,
        tables=_tables(comparison),
        losses=_losses(comparison),
    )


def _lead(comparison: Comparison) -> str:
    """Say which method is first, and how far our best one is behind."""
    placed = comparison.mean_ranks
    first = min(placed, key=placed.__getitem__)
    ours = min((name for name in placed if METHODS[name].package == OURS), key=placed.__getitem__)
    lead = (
        f"`{METHODS[first].label}` has the best mean rank over the paper's tables, "
        f"{placed[first]:.1f} among {len(placed)} methods"
    )
    if first == ours:
        return f"{lead}."
    gap = comparison.mean_difference(ours, first)
    return (
        f"{lead}; `{METHODS[ours].label}` is the best of ours, with {placed[ours]:.1f}. Its "
        f"accuracy differs from that of the first by {interval(gap)} points."
    )


def _means(comparison: Comparison) -> str:
    placed = comparison.mean_ranks
    rows = []
    for name in comparison.competitors:
        gain = NOTHING
        if name != "ridge_cv":
            gain = spread(comparison.mean_difference(name, "ridge_cv"))
        pair = NOTHING if name == chosen(comparison) else _pair(comparison, name)
        tables = comparison.tables_of(name)
        some = "" if tables == comparison.paper else f" ({count(len(tables), 'table')})"
        accuracy, *scores = means(comparison, name)
        cells = (accuracy + some, gain, *scores, f"{placed[name]:.1f}", pair)
        rows.append([f"`{METHODS[name].label}`", *cells, _seconds(comparison, name)])
    head = ["method", "accuracy", "against the ridge", "balanced", "log loss", "calibration"]
    return grid([*head, "rank", "better / equal / worse", "CPU, s"], rows)


def _pair(comparison: Comparison, name: str) -> str:
    pair = comparison.pair(chosen(comparison), name)
    return f"{pair}" + (f" ({len(pair.untold)} without a model)" if pair.untold else "")


def _seconds(comparison: Comparison, name: str) -> str:
    fits = comparison.stored.fits
    mine = fits[(fits["regime"] == comparison.regime) & (fits["method"] == name)]
    mine = mine[mine["table"].isin(comparison.paper)]["cpu_seconds"]
    median = float(mine.median())
    return "< 0.001" if median < 0.001 else number(median)


def _tables(comparison: Comparison) -> str:
    """Tabulate accuracies, the best of each table in bold."""
    shown = [name for name in SHOWN if comparison.is_measured(name)]
    rows = []
    for table in comparison.tables:
        found = {name: comparison.accuracy(name, table) for name in shown}
        best = max(
            (name for name in shown if name != "oracle" and comparison.has(name, table)),
            key=lambda name: found[name].value,
        )
        cells = [f"**{share(one)}**" if name == best else share(one) for name, one in found.items()]
        rows.append([table, str(comparison.sizes(table)["labels"]), *cells])
    labels = ["all labels" if name == "oracle" else METHODS[name].label for name in shown]
    return grid(["table", "labels", *labels], rows)


def _losses(comparison: Comparison) -> str:
    found, ours = losses(comparison), chosen(comparison)
    label = METHODS[ours].label
    if not found:
        return f"On no table is another method clearly more accurate than `{label}`."
    rows = []
    for loss in found:
        gap = comparison.difference(loss.best, ours, loss.table)
        others = [METHODS[name].label for name in loss.winners if name != loss.best]
        best = f"`{METHODS[loss.best].label}`, {share(comparison.accuracy(loss.best, loss.table))}"
        rows.append([loss.table, best, points(gap.value), names(others), loss.why])
    head = ["table", "the best method", "points ahead", "also clearly ahead", "why"]
    lead = (
        f"On {count(len(found), 'table')} of {len(comparison.tables)}, some method is clearly more "
        f"accurate than `{label}`:"
    )
    return f"{lead}\n\n{grid(head, rows)}"
