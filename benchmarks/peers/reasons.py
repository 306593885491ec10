"""Where another method is clearly more accurate than ours, and what the same numbers say of why."""

from __future__ import annotations

from dataclasses import dataclass

from .comparing import Comparison
from .markdown import points
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

    def ahead(method: str, other: str) -> float:
        return comparison.difference(method, other, table).value

    def gets(name: str) -> str:
        return f"{comparison.accuracy(name, table).value:.3f}"

    behind = ahead(best, CHOSEN)
    if best == "ridge_cv":
        return "the unlabeled rows mislead: the gap between them is not where the classes part"
    if best in (*GRAPHS, "co_forest") and ahead(best, "oracle") > -LARGE:
        told = f"least squares that is told all labels gets {gets('oracle')}"
        return f"no plane parts these classes: {told}"
    if best == "self_training" and ahead(best, "logistic") > 0.5 * behind:
        return (
            "the unlabeled rows help logistic regression, by "
            f"{points(ahead(best, 'logistic'))} points, and least squares less"
        )
    logistic = max(("logistic", "logistic_cv"), key=lambda name: ahead(name, "ridge_cv"))
    if best in LOGISTIC and ahead(logistic, "ridge_cv") > 0.5 * behind:
        return (
            "the loss, not the unlabeled rows: on the same labels logistic regression is "
            f"{points(ahead(logistic, 'ridge_cv'))} points from the tuned ridge"
        )
    ours = max(("soft", "hard"), key=lambda name: ahead(name, CHOSEN))
    if ahead(ours, CHOSEN) > 0.5 * behind:
        return (
            "the unlabeled rows help, and the labels are too few to prove it: "
            f"{METHODS[ours].label} gets {gets(ours)}"
        )
    if best in GRAPHS:
        return "neighbours mostly share a class, and labels travel along them where planes cannot"
    if best == "co_forest":
        return "trees see what no plane does"
    return "these numbers do not tell"
