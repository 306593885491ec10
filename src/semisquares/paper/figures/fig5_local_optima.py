"""Figure 5: where the methods end from 50 random labelings, on sixteen data sets.

Each resample sets test rows aside, removes the labels of 80 % of the others, and starts both
methods from the same 50 random labelings. As in the authors' scripts a descent ends once a step
moves the labels by ``Σ|Δu| ≤ 1e-9`` in all, or silently after 1000 steps; beside it stands the
exact soft solution from the same starts. Features are raw: on half of the sets the labeled rows do
not span them.

Everything is computed in the principal axes of the training rows, where their Gram matrix is
diagonal: the same fits, norms included, at a tenth of the price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ... import plotting
from ...core.curvature import fit_labeled
from ...core.labelings import HardLabels, Labeling, SoftLabels
from ...core.objective import Objective
from ...core.rows import DenseTable, Rows
from ...core.solvers import newton
from ...core.solvers.least_norm import leaves_weights_open, vanishing_ridge
from . import published
from .descent import STILL, Descents, descend
from .fig5_drawing import plot_accuracy, plot_objective
from .figure import Arrays, Figure, Finding, Settings, Table, clearly_lower
from .protocol import DATASETS_OF, raw_table, with_constant

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

METHODS = ("soft", "soft exact", "hard")
N_STARTS = 50
MAX_STEPS = 1000
TEST_SHARE = {"authors": 0.3, "paper": 0.2, "quick": 0.3}
UNLABELED_SHARE = 0.8
SAME = 1e-6
"""Labels and values of J nearer than this (J relatively) are the same."""


@dataclass(frozen=True)
class Resample:
    """Labeled, unlabeled and test rows in principal axes, with the known classes."""

    labeled: Array
    y: Array
    unlabeled: Array
    test: Array
    y_test: Array

    def objective(self) -> Objective:
        """Return the soft objective; the constant is one of the axes, so there is no intercept."""
        table = DenseTable(np.vstack((self.labeled, self.unlabeled)))
        L = len(self.y)
        rows = Rows(table, np.arange(L), self.y, labeled_weight=np.ones(L), intercept=False)
        return Objective(rows, SoftLabels(), 0.0)

    def accuracy(self, w: Array) -> Array:
        """Return the share of test rows that weights (one column a run) classify rightly."""
        return np.mean((self.test @ w > 0.5) == (self.y_test > 0.5)[:, None], axis=0)


def resample(settings: Settings, name: str, number: int) -> Resample:
    """Draw one resample of a data set; both classes keep a label."""
    X, y = raw_table(name)
    rng = settings.generator(name, number)
    n_train = round((1.0 - TEST_SHARE[settings.preset]) * len(y))
    n_unlabeled = ceil(UNLABELED_SHARE * n_train)
    while True:
        order = rng.permutation(len(y))
        labeled, unlabeled, test = np.split(order, (n_train - n_unlabeled, n_train))
        if len(np.unique(y[labeled])) == 2:
            break
    axes = principal_axes(with_constant(X)[order[:n_train]])
    parts = (with_constant(X)[rows] @ axes for rows in (labeled, unlabeled, test))
    labeled_rows, unlabeled_rows, test_rows = parts
    return Resample(labeled_rows, y[labeled], unlabeled_rows, test_rows, y[test])


def principal_axes(rows: Array) -> Array:
    """Return orthonormal columns that span the rows, in which their Gram matrix is diagonal."""
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    return right[sizes > 1e-13 * sizes[0]].T


def run(
    drawn: Resample, labels: Array, labeling: Labeling, *, max_steps: int = MAX_STEPS
) -> Descents:
    """Descend from labels (unlabeled rows, runs) by the authors' rules."""
    return descend(
        drawn.labeled, drawn.y, drawn.unlabeled, labels, labeling, still=STILL, max_steps=max_steps
    )


def solve(drawn: Resample, starts: Array) -> Descents:
    """Solve the soft problem exactly from weights, one column a run."""
    objective = drawn.objective()
    method = vanishing_ridge if leaves_weights_open(objective) else newton
    found = [method(objective, start, max_iter=10_000) for start in starts.T]
    weights = np.stack([solution.w for solution in found], axis=1)
    steps = np.array([solution.n_iter for solution in found])
    return Descents(weights, steps, np.ones(len(found), dtype=bool))


def runs(drawn: Resample, rng: np.random.Generator) -> Arrays:
    """Run every method from the supervised weights (run 0) and from random labels (runs 1 to 50).

    Arrays are (methods, runs); `labeling` and `value` number the distinct labels and values of J
    among the random starts, in the order of the runs.
    """
    supervised = fit_labeled(drawn.objective())[0]
    random = rng.uniform(size=(len(drawn.unlabeled), N_STARTS))
    z = drawn.unlabeled @ supervised
    found: dict[str, list[Array]] = {}
    for method in METHODS:
        labeling: Labeling = HardLabels() if method == "hard" else SoftLabels()
        starts = np.column_stack((labeling.impute(z), random))
        if method == "soft exact":
            ends = solve(drawn, run(drawn, starts, labeling, max_steps=1).weights)
        else:
            ends = run(drawn, starts, labeling)
        w = ends.weights
        decision = drawn.unlabeled @ w
        labels = labeling.impute(decision)
        J = np.sum((drawn.labeled @ w - drawn.y[:, None]) ** 2, axis=0)
        J = J + np.sum((decision - labels) ** 2, axis=0)
        each = {
            "accuracy": drawn.accuracy(w),
            "J": J,
            "steps": ends.steps,
            "ended": ends.ended,
            "labeling": number_distinct(labels.T, SAME),
            "value": number_distinct(J[:, None], SAME * J.max()),
        }
        for key, values in each.items():
            found.setdefault(key, []).append(values)
    arrays = {key: np.array(values) for key, values in found.items()}
    return {**arrays, "supervised": drawn.accuracy(supervised[:, None])}


def number_distinct(points: Array, tolerance: float) -> Array:
    """Give points the number of the first one that is as near as `tolerance` in every coordinate.

    Examples
    --------
    >>> number_distinct(np.array([[0.0], [1.0], [0.0], [2.0]]), 1e-6)
    array([0, 1, 0, 2])
    """
    numbers = np.empty(len(points), dtype=int)
    kept: list[Array] = []
    for k, point in enumerate(points):
        near = [i for i, other in enumerate(kept) if np.abs(point - other).max() <= tolerance]
        numbers[k] = near[0] if near else len(kept)
        if not near:
            kept.append(point)
    return numbers


class LocalOptima(Figure):
    name: ClassVar = "fig5"
    title: ClassVar = "Soft labels end in one place, hard ones in many"
    caption: ClassVar = (
        "Accuracy on test rows where descents from 50 random labelings end (small dots, equal ones "
        "spread into a column), in the first resample; larger marks are the descents from the "
        "supervised weights, and dashed lines these weights themselves. At the right of each row, "
        "how many accuracies and how many labelings differ. Soft labels have one optimum; what "
        "differs further comes from stopping after 1000 steps, and is gone in the exact solution. "
        "Then the objective of the hard runs against their accuracy, and its rank correlation ρ: "
        "the lowest J_r (ringed) is often not the best classifier, nor as good as the soft one."
    )
    repeats: ClassVar = {"authors": 10, "paper": 10, "quick": 2}
    datasets: ClassVar = DATASETS_OF
    views: ClassVar = ("accuracy", "objective")
    columns: ClassVar = {
        "dataset": "name of the data set",
        "resample": "number of the resample, from 1",
        "method": "soft or hard: block descent by the authors' rules; soft exact: Newton's method",
        "distinct_accuracies": "number of different accuracies from 50 random starts",
        "distinct_labelings": "number of different labels of the unlabeled rows (to 1e-6)",
        "distinct_values": "number of different values of J (to 1e-6 of the largest)",
        "stopped": "number of random starts that were stopped after 1000 steps",
        "accuracy_mean": "accuracy on the test rows, mean over the random starts",
        "accuracy_sd": "its standard deviation over them",
        "accuracy_min": "the lowest",
        "accuracy_max": "the highest",
        "accuracy_lowest_J": "accuracy of the random start with the lowest J",
        "rank_correlation": "Spearman's, of J with the accuracy, over the random starts",
        "accuracy_supervised_start": "accuracy of the descent from the supervised weights",
        "accuracy_supervised": "accuracy of the supervised weights",
        "J_lowest": "the lowest J from a random start",
        "J_supervised_start": "J of the descent from the supervised weights",
        "steps_median": "median number of steps from the random starts",
    }

    def cells(self, settings: Settings) -> list[str]:
        order = sorted(settings.datasets, key=lambda name: name in DATASETS_OF["quick"])
        return [f"{name}/{k}" for name in order for k in range(1, settings.repeats + 1)]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, number = cell.split("/")
        drawn = resample(settings, name, int(number))
        return runs(drawn, settings.generator(name, int(number), "starts"))

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        rows, first = [], []
        for name in settings.datasets:
            for k in range(1, settings.repeats + 1):
                cell = results[f"{name}/{k}"]
                rows += [_summary(name, k, method, cell) for method in METHODS]
            first += [_runs_table(name, method, results[f"{name}/1"]) for method in METHODS]
        return Table(settings, pd.DataFrame(rows), {"runs": pd.concat(first, ignore_index=True)})

    def plot(self, table: Table, view: str | None = None) -> Picture:
        view = plotting.choose_view(view, self.views)
        with plotting.style():
            return plot_accuracy(table) if view == "accuracy" else plot_objective(table)

    def findings(self, table: Table) -> list[Finding]:
        return [
            _one_exact(table.summary),
            _few_soft(table),
            _many_hard(table),
            _lowest_is_no_better(table.summary),
        ]


def _summary(name: str, number: int, method: str, cell: Arrays) -> dict[str, Any]:
    """Sum up one method's runs in one resample; run 0 is from the supervised weights."""
    own = {key: values[METHODS.index(method)] for key, values in cell.items() if values.ndim == 2}
    random = {key: values[1:] for key, values in own.items()}
    accuracy, J = random["accuracy"], random["J"]
    return {
        "dataset": name,
        "resample": number,
        "method": method,
        "distinct_accuracies": len(np.unique(accuracy)),
        "distinct_labelings": len(np.unique(random["labeling"])),
        "distinct_values": len(np.unique(random["value"])),
        "stopped": int((~random["ended"]).sum()),
        "accuracy_mean": accuracy.mean(),
        "accuracy_sd": accuracy.std(ddof=1),
        "accuracy_min": accuracy.min(),
        "accuracy_max": accuracy.max(),
        "accuracy_lowest_J": accuracy[J.argmin()],
        "rank_correlation": _rank_correlation(J, accuracy),
        "accuracy_supervised_start": own["accuracy"][0],
        "accuracy_supervised": float(cell["supervised"][0]),
        "J_lowest": J.min(),
        "J_supervised_start": own["J"][0],
        "steps_median": float(np.median(random["steps"])),
    }


def _runs_table(name: str, method: str, cell: Arrays) -> pd.DataFrame:
    import pandas as pd

    own = {key: values[METHODS.index(method)] for key, values in cell.items() if values.ndim == 2}
    return pd.DataFrame({"dataset": name, "method": method, "run": np.arange(N_STARTS + 1), **own})


def _one_exact(summary: pd.DataFrame) -> Finding:
    exact = summary[summary["method"] == "soft exact"]
    several = exact[exact["distinct_labelings"] > 1]
    return Finding(
        "Solved to the end, soft labels have one optimum",
        several.empty,
        f"one labeling from 50 random starts in {len(exact) - len(several)} of {len(exact)} "
        f"resamples of {exact['dataset'].nunique()} data sets",
    )


def _few_soft(table: Table) -> Finding:
    summary = table.summary
    soft = summary[summary["method"] == "soft"]
    several = soft[soft["distinct_accuracies"] > 1]
    spread = ", ".join(sorted(set(several["dataset"]))) or "none"
    return Finding(
        "Stopped after 1000 steps, soft labels show a few accuracies more, and only there",
        None if several.empty else bool((several["stopped"] > 0).all()),
        f"more than one accuracy in {len(several)} of {len(soft)} resamples ({spread}); published: "
        f"{_published_several('soft', table)}",
    )


def _many_hard(table: Table) -> Finding:
    summary = table.summary
    hard = summary[summary["method"] == "hard"]
    accuracies, labelings = hard["distinct_accuracies"], hard["distinct_labelings"]
    first = hard[hard["resample"] == 1]
    return Finding(
        "Hard labels have many optima, more than their accuracies show",
        bool(accuracies.median() > 1 and labelings.sum() > accuracies.sum()),
        f"from 50 random starts a median of {accuracies.median():g} accuracies and "
        f"{labelings.median():g} labelings; {first['distinct_accuracies'].sum()} accuracies over "
        f"the {len(first)} data sets in the first resample; published: "
        f"{_published_total('hard', table)}",
    )


def _published_of(method: str, table: Table) -> pd.DataFrame:
    known = published.local_optima()
    names = table.settings.datasets
    return known[(known["method"] == method) & known["dataset"].isin(names)]


def _published_several(method: str, table: Table) -> str:
    known = _published_of(method, table)
    return f"{(known['n_distinct'] > 1).sum()} of {len(known)}"


def _published_total(method: str, table: Table) -> str:
    known = _published_of(method, table)
    return str(known.loc[known["resample"] == 1, "n_distinct"].sum())


def _rank_correlation(J: Array, accuracy: Array) -> float:
    if len(np.unique(accuracy)) == 1 or len(np.unique(J)) == 1:
        return np.nan
    return float(np.corrcoef(rankdata(J), rankdata(accuracy))[0, 1])


def _lowest_is_no_better(summary: pd.DataFrame) -> Finding:
    keys = ["dataset", "resample"]
    hard = summary[summary["method"] == "hard"].set_index(keys)
    soft = summary[summary["method"] == "soft exact"].set_index(keys)
    lowest = hard["accuracy_lowest_J"]
    behind_soft = soft["accuracy_supervised_start"] - lowest
    behind_best = hard["accuracy_max"] - lowest
    half = clearly_lower(0.5, (behind_soft > 0).mean(), 0.5 / np.sqrt(len(hard)))
    return Finding(
        "The lowest J_r is often a bad classifier",
        half,
        f"the random start with the lowest J_r is less accurate than the soft solution in "
        f"{(behind_soft > 0).sum()} of {len(hard)} resamples (its mean accuracy is "
        f"{lowest.mean():.3f} against {(lowest + behind_soft).mean():.3f}), than the average start "
        f"in {(lowest < hard['accuracy_mean']).sum()}, and {100 * behind_best.mean():.1f} points "
        f"behind the best start; the median rank correlation of J_r with accuracy is "
        f"{hard['rank_correlation'].median():.2f}",
    )


FIG5 = LocalOptima()
