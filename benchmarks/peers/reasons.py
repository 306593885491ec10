"""Tables on which another method is clearly more accurate than ours, and possible reasons."""

from __future__ import annotations

from dataclasses import dataclass

from .comparing import Comparison
from .markdown import points
from .methods import METHODS, OURS
from .promises import ALONE, AVERAGED

CHOSEN, CHOSEN_ALONE = "soft_cv", "soft_cv_supervised"
"""`SoftLabelClassifierCV`, and the same without unlabeled rows."""
GRAPHS = ("propagation_knn", "propagation_rbf", "spreading_knn", "spreading_rbf", "lap_svm")
LOGISTIC = ("logistic", "logistic_cv", "self_training", "tri_training")
TREES = ("random_forest", "extra_trees", "hist_gradient_boosting", "co_forest")
CURVED = (*GRAPHS, *TREES, "svc", "knn")
"""Methods that can draw curved boundaries."""
LARGE = 0.005
"""Half a point, the smallest difference that a reason must explain."""


@dataclass(frozen=True)
class Loss:
    """A table on which others are clearly better, the best of them, and why."""

    table: str
    winners: tuple[str, ...]
    best: str
    why: str


def chosen(comparison: Comparison) -> str:
    """Return the one of our methods that we recommend, and compare with all others."""
    return AVERAGED if AVERAGED in comparison.competitors else CHOSEN


def losses(comparison: Comparison, ours: str = "") -> list[Loss]:
    """Return the tables on which some other method is clearly more accurate than one of ours."""
    ours = ours or chosen(comparison)
    why = _why_averaged if ours == AVERAGED else _why
    others = [name for name in comparison.competitors if METHODS[name].package != OURS]
    won = {other: comparison.pair(other, ours).better for other in others}
    found = []
    for table in comparison.tables:
        winners = tuple(other for other in others if table in won[other])
        if winners:
            best = max(winners, key=lambda name: comparison.difference(name, ours, table).value)
            found.append(Loss(table, winners, best, why(comparison, table, best)))
    return found


def _why_averaged(comparison: Comparison, table: str, best: str) -> str:
    """Explain a loss of the averaged classifier by the other numbers of the table."""
    behind = comparison.difference(best, AVERAGED, table).value
    if comparison.is_measured(ALONE):
        alone = comparison.difference(ALONE, AVERAGED, table).value
        if alone > 0.5 * behind:
            return f"the unlabeled rows mislead: without them it is {points(alone)} points better"
    if best in GRAPHS:
        return "neighbours mostly share a class, and labels spread along them"
    if best in TREES:
        return "trees alone are better than an average that contains them"
    if best in LOGISTIC:
        return "logistic regression alone is better than an average that contains it"
    return "these numbers do not show why"


def _why(comparison: Comparison, table: str, best: str) -> str:
    """Explain a loss by the other numbers of the table; the strongest reason comes first."""

    def ahead(method: str, other: str) -> float:
        return comparison.difference(method, other, table).value

    def gets(name: str) -> str:
        return f"{comparison.accuracy(name, table).value:.3f}"

    behind = ahead(best, CHOSEN)
    if best == "ridge_cv":
        return "the unlabeled rows mislead: the gap between them does not separate the classes"
    if best in CURVED and ahead(best, "oracle") > -LARGE:
        with_all = f"least squares with all labels gets {gets('oracle')}"
        return f"no plane separates these classes: {with_all}"
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
            "the unlabeled rows help, but the labels are too few to prove it: "
            f"{METHODS[ours].label} gets {gets(ours)}"
        )
    if best in GRAPHS:
        return "neighbours mostly share a class, and labels spread along curved shapes"
    if best in TREES:
        return "trees can separate classes that no plane can"
    return "these numbers do not show why"
