"""Where another method is clearly more accurate than ours, and what the same numbers say of why."""

from __future__ import annotations

from dataclasses import dataclass

from .comparing import Comparison
from .methods import COMPETITORS, METHODS, OURS

CHOSEN = "soft_cv"
"""The one of ours that is held against all others: it is what we tell people to use."""
GRAPHS = ("propagation_knn", "propagation_rbf", "spreading_knn", "spreading_rbf", "lap_svm")
LOGISTIC = ("logistic", "logistic_cv", "self_training", "tri_training")
LARGE = 0.005
"""Half a point: what a reason has to explain at least."""


@dataclass(frozen=True)
class Loss:
    """A table on which others are clearly better, the best of them, and why."""

    table: str
    winners: tuple[str, ...]
    best: str
    why: str


def losses(comparison: Comparison) -> list[Loss]:
    """Return the tables on which some other method is clearly more accurate than the chosen one."""
    others = [
        name
        for name in COMPETITORS
        if name in comparison.stored.methods and METHODS[name].package != OURS
    ]
    won = {other: comparison.pair(other, CHOSEN).better for other in others}
    found = []
    for table in comparison.tables:
        winners = tuple(other for other in others if table in won[other])
        if winners:
            best = max(winners, key=lambda name: comparison.difference(name, CHOSEN, table).value)
            found.append(Loss(table, winners, best, _why(comparison, table, best)))
    return found


def _why(comparison: Comparison, table: str, best: str) -> str:
    """Say what the numbers of the same table show about a loss, from the strongest reason on."""

    def accuracy(name: str) -> float:
        return comparison.accuracy(name, table).value

    if best == "ridge_cv":
        return "the unlabeled rows mislead: the gap between them is not where the classes part"
    if best in (*GRAPHS, "co_forest") and accuracy(best) > accuracy("oracle") - LARGE:
        return (
            f"no plane parts these classes: least squares that is told all labels gets "
            f"{accuracy('oracle'):.3f}"
        )
    behind = accuracy(best) - accuracy(CHOSEN)
    logistic = max(accuracy("logistic"), accuracy("logistic_cv"))
    if best in LOGISTIC and logistic - accuracy("ridge_cv") > 0.5 * behind:
        return (
            "the loss, not the unlabeled rows: on the same labels logistic regression is "
            f"{100.0 * (logistic - accuracy('ridge_cv')):.1f} points ahead of the tuned ridge"
        )
    ours = {METHODS[name].label: accuracy(name) for name in ("soft", "hard")}
    label = max(ours, key=ours.__getitem__)
    if ours[label] > accuracy(CHOSEN) + 0.5 * behind:
        return (
            f"the unlabeled rows help and the labels are too few to prove it: {label} gets "
            f"{ours[label]:.3f}"
        )
    if best in GRAPHS:
        return "neighbours mostly share a class, and labels travel along them where planes cannot"
    if best == "co_forest":
        return "trees see what no plane does"
    return "these numbers do not tell"
