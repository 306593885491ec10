"""Figure 5: where the methods end from 50 random labelings, on sixteen data sets.

Each resample sets test rows aside, removes the labels of 80 % of the others, and starts both
methods from the same 50 random labelings. As in the authors' scripts, a descent ends after a step
with ``Σ|Δu| ≤ 1e-9``, or silently after 1000 steps; the exact soft solution from the same starts is
shown beside it. Features are raw: on half of the data sets the labeled rows do not span them.

Everything is computed in the principal axes of the training rows, where their Gram matrix is
diagonal: this gives the same fits with the same norms, at a tenth of the cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.stats import rankdata

from ... import plotting
from ..._html.tables import grid
from ..._utils.typing import Array
from ..._utils.words import NONE, counted, minus, percent
from ...core.curvature import fit_labeled
from ...core.labelings import HardLabels, Labeling, SoftLabels
from ...core.objective import Objective
from ...core.rows import DenseTable, MemoryRows
from ...core.solvers import newton
from ...core.solvers.least_norm import leaves_weights_open, vanishing_ridge
from ...plotting._pictures import title_panel
from ...plotting._style import BLACK, LIGHT, MUTED
from . import _published as published
from ._curves import label_axes, mark_round, n_columns, panel_grid, put_legend
from ._descent import LABEL_TOL, Descents, descend
from ._figure import Agreement, Arrays, Figure, Finding, Settings, Table, clearly_lower
from ._protocol import DATASETS_BY_PRESET, largest_first, raw_table, with_constant

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Picture
    from matplotlib.lines import Line2D


METHODS = ("soft", "soft exact", "hard")
N_STARTS = 50
MAX_STEPS = 1000
TEST_SHARE = {"authors": 0.3, "paper": 0.2, "quick": 0.3}
UNLABELED_SHARE = 0.8
SAME = 1e-6
"""Labels that differ by less are equal; so are values of J, relative to the largest."""

ROW_NAMES = {"soft": "soft", "soft exact": "soft,\nexact", "hard": "hard"}
"""The rows of dots in a panel, from top to bottom."""
SUPERVISED_LINE: dict[str, Any] = {
    "color": plotting.method_style("supervised").colour,
    "linestyle": plotting.method_style("supervised").line,
    "linewidth": 1.2,
    "zorder": 1,
}
COLUMN_HEIGHT = 0.7
"""Height of a column of `N_STARTS` dots with one accuracy; a row of dots has height 1."""


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
        rows = MemoryRows(table, np.arange(L), self.y, labeled_weight=np.ones(L), intercept=False)
        return Objective(rows, SoftLabels(), 0.0)

    def accuracy(self, w: Array) -> Array:
        """Return the accuracy on the test rows of weights with one column per run."""
        return np.mean((self.test @ w > 0.5) == (self.y_test > 0.5)[:, None], axis=0)


def draw_resample(settings: Settings, name: str, number: int) -> Resample:
    """Draw one resample of a data set in which both classes have a label."""
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
    rows = drawn.labeled, drawn.y, drawn.unlabeled
    return descend(*rows, labels, labeling, tol=LABEL_TOL, max_steps=max_steps)


def solve(drawn: Resample, starts: Array) -> Descents:
    """Solve the soft problem exactly from starting weights with one column per run."""
    objective = drawn.objective()
    method = vanishing_ridge if leaves_weights_open(objective) else newton
    found = [method(objective, start, max_iter=10_000) for start in starts.T]
    weights = np.stack([solution.w for solution in found], axis=1)
    steps = np.array([solution.n_iter for solution in found])
    return Descents(weights, steps, np.ones(len(found), dtype=bool))


def runs(drawn: Resample, rng: np.random.Generator) -> Arrays:
    """Run every method from the supervised weights (run 0) and from random labels (runs 1 to 50).

    Arrays have shape (methods, runs). `labeling` and `value` number the distinct labelings and
    values of J, in the order of the runs.
    """
    supervised = fit_labeled(drawn.objective())
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
    """Number points; a point within `tolerance` of an earlier one (max norm) gets its number.

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
    place: ClassVar = "Figure 5"
    title: ClassVar = "Soft labels end in one place, hard ones in many"
    caption: ClassVar = (
        "Accuracy on test rows at the ends of descents from 50 random labelings (small dots, equal "
        "ones spread into a column), in the first resample; larger marks are the descents from the "
        "supervised weights, and dashed lines these weights themselves. At the right of each row: "
        "how many accuracies and how many labelings are distinct. Soft labels have one optimum; "
        "several accuracies come from stopping after 1000 steps, and the exact solution has one. "
        "Then the objective of the hard runs against their accuracy, and its rank correlation ρ: "
        "the lowest J_r (ringed) is often not the best classifier, nor as good as the soft one."
    )
    repeats: ClassVar = {"authors": 10, "paper": 10, "quick": 2}
    datasets: ClassVar = DATASETS_BY_PRESET
    views: ClassVar = {
        "accuracy": "Accuracy",
        "objective": "The objective J beside the accuracy",
    }
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
        "rank_correlation": "Spearman's, of J (to 1e-6) with the accuracy, over the random starts",
        "accuracy_supervised_start": "accuracy of the descent from the supervised weights",
        "accuracy_supervised": "accuracy of the supervised weights",
        "J_lowest": "the lowest J from a random start",
        "J_supervised_start": "J of the descent from the supervised weights",
        "steps_median": "median number of steps from the random starts",
    }

    def cells(self, settings: Settings) -> list[str]:
        numbers = range(1, settings.repeats + 1)
        return [f"{name}/{k}" for name in largest_first(settings.datasets) for k in numbers]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, number = cell.split("/")
        drawn = draw_resample(settings, name, int(number))
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

    def draw(self, table: Table, view: str) -> Picture:
        return {"accuracy": _plot_accuracy, "objective": _plot_objective}[view](table)

    def findings(self, table: Table) -> list[Finding]:
        return [
            _one_exact(table.summary),
            _few_soft(table),
            _many_hard(table),
            _lowest_is_no_better(table.summary),
        ]

    def describe_run(self, settings: Settings) -> str:
        return (
            f"{counted(settings.repeats, 'resample')} of "
            f"{counted(len(settings.datasets), 'data set')}, raw features. In each, "
            f"{percent(TEST_SHARE[settings.preset], 0)} of the rows are for testing and "
            f"{percent(UNLABELED_SHARE, 0)} of the others lose their label. Soft labels by block "
            "descent, soft labels solved exactly, and hard labels start from "
            f"{N_STARTS} random labelings and from the supervised weights."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        return _compare(table)


def _summary(name: str, number: int, method: str, cell: Arrays) -> dict[str, Any]:
    """Summarise the runs of one method in one resample; run 0 starts at the supervised weights."""
    own = _runs_of(method, cell)
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
        "rank_correlation": rank_correlation(J, random["value"], accuracy),
        "accuracy_supervised_start": own["accuracy"][0],
        "accuracy_supervised": float(cell["supervised"][0]),
        "J_lowest": J.min(),
        "J_supervised_start": own["J"][0],
        "steps_median": float(np.median(random["steps"])),
    }


def _runs_table(name: str, method: str, cell: Arrays) -> pd.DataFrame:
    import pandas as pd

    numbers = np.arange(N_STARTS + 1)
    return pd.DataFrame(
        {"dataset": name, "method": method, "run": numbers, **_runs_of(method, cell)}
    )


def _runs_of(method: str, cell: Arrays) -> Arrays:
    """Return the arrays of one method's runs."""
    return {key: values[METHODS.index(method)] for key, values in cell.items() if values.ndim == 2}


def _panels(
    table: Table,
) -> tuple[Picture, list[Axes], list[tuple[str, pd.DataFrame, pd.DataFrame]]]:
    """Return a picture, its panels, and name, summary and runs of each panel's data set.

    All are from the first resample.
    """
    first, runs = table.summary[table.summary["resample"] == 1], table.details["runs"]
    shown = [
        (str(name), own.set_index("method"), runs[runs["dataset"] == name])
        for name, own in first.groupby("dataset", sort=False)
    ]
    return *panel_grid(len(shown)), shown


def _plot_accuracy(table: Table) -> Picture:
    """Draw the accuracies at the ends of the first resample's runs: a row of dots per method."""
    picture, panels, shown = _panels(table)
    for panel, (name, counts, runs) in zip(panels, shown, strict=True):
        panel.axvline(
            counts["accuracy_supervised"].iloc[0], **SUPERVISED_LINE, label="supervised weights"
        )
        for height, method in enumerate(ROW_NAMES):
            _draw_ends(panel, runs[runs["method"] == method], method, height=-height)
            _write_counts(panel, counts.loc[method], height=-height)
        _frame_ends(panel)
        title_panel(panel, name)
    _name_methods(panels)
    label_axes(picture, panels, "accuracy on test rows")
    put_legend(picture, panels, [_remark("right: distinct accuracies | labelings")])
    return picture


def _draw_ends(panel: Axes, runs: pd.DataFrame, method: str, *, height: int) -> None:
    """Draw the random starts as small dots, equal ones spread out, and the supervised start."""
    style = plotting.method_style(method.split()[0])
    random, supervised = runs[runs["run"] > 0], runs[runs["run"] == 0]
    panel.plot(
        random["accuracy"], height + spread(random["accuracy"].to_numpy()), "o",
        color=style.colour, markersize=2.3, alpha=0.6, markeredgewidth=0, zorder=2,
        label=f"{style.label}, random starts",
    )  # fmt: skip
    _mark_supervised_start(panel, supervised["accuracy"], [height], style)


def _mark_supervised_start(panel: Axes, x: Any, y: Any, style: plotting.MethodStyle) -> None:
    panel.plot(
        x, y, style.marker, color=style.colour, markersize=6.0, markeredgecolor=BLACK,
        markeredgewidth=0.9, zorder=4, label=f"{style.label}, supervised start",
    )  # fmt: skip


def spread(values: Array) -> Array:
    """Return offsets around 0 that spread equal values: more of them make a taller column.

    Examples
    --------
    >>> spread(np.array([0.5, 0.7, 0.5])).round(2)
    array([-0.05,  0.  ,  0.05])
    """
    places = np.zeros(len(values))
    for value in np.unique(values):
        equal = np.flatnonzero(values == value)
        tall = COLUMN_HEIGHT * np.sqrt((len(equal) - 1) / (N_STARTS - 1))
        places[equal] = np.linspace(-tall / 2, tall / 2, len(equal)) if len(equal) > 1 else 0.0
    return places


def _write_counts(panel: Axes, counts: pd.Series, *, height: int) -> None:
    """Write the numbers of distinct accuracies and labelings at the right of a row."""
    panel.text(
        1.02, height, f"{counts['distinct_accuracies']} | {counts['distinct_labelings']}",
        transform=panel.get_yaxis_transform(), va="center", fontsize=6.8, color=MUTED,
    )  # fmt: skip


def _remark(text: str) -> Line2D:
    """Return a legend entry that is only text."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=text)


def _frame_ends(panel: Axes) -> None:
    """Set the limits of a panel of rows, and draw lines between the rows."""
    _mark_accuracies(panel.xaxis, panel.dataLim.intervalx, at_most=4)
    panel.set_ylim(-len(ROW_NAMES) + 0.5, 0.5)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    for height in range(1, len(ROW_NAMES)):
        panel.axhline(0.5 - height, color=LIGHT, linewidth=0.5, zorder=0.4)


def _mark_accuracies(axis: Axis, found: Array, *, at_most: int) -> None:
    """Set limits around accuracies, with some room even if all are equal, and mark a few."""
    low, high = found
    margin = max(0.07 * (high - low), 0.01)
    axis.set_view_interval(low - margin, high + margin, ignore=True)
    mark_round(axis, low - margin, high + margin, at_most=at_most)


def _name_methods(panels: list[Axes]) -> None:
    """Name the rows in the first panel of each line of panels."""
    for panel in panels[:: n_columns(panels)]:
        panel.set_yticks(-np.arange(len(ROW_NAMES)), list(ROW_NAMES.values()))
        panel.tick_params(axis="y", length=0)


def _plot_objective(table: Table) -> Picture:
    """Draw J_r against accuracy for the hard runs of the first resample."""
    picture, panels, shown = _panels(table)
    for panel, (name, found, runs) in zip(panels, shown, strict=True):
        _draw_levels(panel, found)
        _draw_hard_runs(panel, runs[runs["method"] == "hard"])
        _mark_accuracies(panel.yaxis, panel.dataLim.intervaly, at_most=6)
        rank = found.loc["hard", "rank_correlation"]
        title_panel(panel, name, "" if np.isnan(rank) else minus(f"ρ {rank:+.2f}"))
    label_axes(picture, panels, "objective $J_r$", "accuracy on test rows")
    put_legend(picture, panels, [_remark("ρ: rank correlation")])
    return picture


def _draw_levels(panel: Axes, found: pd.DataFrame) -> None:
    """Draw the accuracies of the soft solution and of the supervised weights."""
    style = plotting.method_style("soft")
    panel.axhline(
        found.loc["soft exact", "accuracy_supervised_start"], color=style.colour,
        linestyle=style.line, linewidth=1.2, zorder=1, label="soft solution",
    )  # fmt: skip
    panel.axhline(
        found.loc["hard", "accuracy_supervised"], **SUPERVISED_LINE, label="supervised weights"
    )


def _draw_hard_runs(panel: Axes, runs: pd.DataFrame) -> None:
    from matplotlib.ticker import MaxNLocator

    style = plotting.method_style("hard")
    random, supervised = runs[runs["run"] > 0], runs[runs["run"] == 0]
    panel.plot(
        random["J"], random["accuracy"], "o", color=style.colour, markersize=3.0, alpha=0.55,
        markeredgewidth=0, label="hard labels, random starts",
    )  # fmt: skip
    lowest = random.loc[random["J"].idxmin()]
    panel.plot(
        lowest["J"], lowest["accuracy"], "o", markersize=7.0, markerfacecolor="none",
        markeredgecolor=BLACK, markeredgewidth=1.1, zorder=3,
        label="lowest $J_r$ of these",
    )  # fmt: skip
    _mark_supervised_start(panel, supervised["J"], supervised["accuracy"], style)
    panel.margins(0.08)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def _one_exact(summary: pd.DataFrame) -> Finding:
    exact = summary[summary["method"] == "soft exact"]
    several = exact[exact["distinct_labelings"] > 1]
    return Finding(
        "Solved exactly, soft labels have one optimum",
        several.empty,
        f"one labeling from 50 random starts in {len(exact) - len(several)} of {len(exact)} "
        f"resamples of {exact['dataset'].nunique()} data sets",
        key="one_soft_optimum",
        numbers={"with_one_optimum": len(exact) - len(several), "resamples": len(exact)},
    )


def _few_soft(table: Table) -> Finding:
    names = table.settings.datasets
    soft, known = (
        _of(frame, "soft", *names) for frame in (table.summary, published.local_optima())
    )
    several = soft[soft["distinct_accuracies"] > 1]
    where = ", ".join(sorted(set(several["dataset"]))) or "none"
    return Finding(
        "Soft labels show several accuracies only if block descent was stopped after 1000 steps",
        None if several.empty else bool((several["stopped"] > 0).all()),
        f"more than one accuracy in {len(several)} of {len(soft)} resamples ({where}); published: "
        f"{(known['distinct_accuracies'] > 1).sum()} of {len(known)}",
    )


def _many_hard(table: Table) -> Finding:
    names = table.settings.datasets
    hard = _of(table.summary, "hard", *names)
    accuracies, labelings = hard["distinct_accuracies"], hard["distinct_labelings"]
    return Finding(
        "Hard labels have many optima, more than their accuracies show",
        bool(accuracies.median() > 1 and labelings.sum() > accuracies.sum()),
        f"from 50 random starts a median of {accuracies.median():g} accuracies and "
        f"{labelings.median():g} labelings; {_total(hard, 'hard', names)} accuracies over the "
        f"{len(names)} data sets in the first resample; published: "
        f"{_total(published.local_optima(), 'hard', names)}",
        key="many_hard_optima",
        numbers={
            "median_accuracies": float(accuracies.median()),
            "median_labelings": float(labelings.median()),
        },
    )


def _of(frame: pd.DataFrame, method: str, *names: str) -> pd.DataFrame:
    """Return the rows of one method on some data sets."""
    return frame[(frame["method"] == method) & frame["dataset"].isin(names)]


def _total(frame: pd.DataFrame, method: str, names: Sequence[str]) -> int:
    """Return the number of distinct accuracies in the first resample, summed over data sets."""
    own = _of(frame, method, *names)
    return int(own.loc[own["resample"] == 1, "distinct_accuracies"].sum())


def rank_correlation(J: Array, value: Array, accuracy: Array) -> float:
    """Return Spearman's correlation; runs with the same number in `value` have the same rank.

    Their J differ by rounding, which would order them differently on every processor.
    """
    _, first, place = np.unique(value, return_index=True, return_inverse=True)
    J = J[first][place]
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
        "the random start with the lowest J_r is less accurate than the soft solution in "
        f"{(behind_soft > 0).sum()} of {len(hard)} resamples (its mean accuracy is "
        f"{lowest.mean():.3f} against {(lowest + behind_soft).mean():.3f}) and less accurate than "
        f"the average start in {(lowest < hard['accuracy_mean']).sum()}; on average it is "
        f"{100 * behind_best.mean():.1f} points behind the best start; the median rank "
        "correlation of J_r with accuracy is "
        f"{hard['rank_correlation'].median():.2f}",
        key="lowest_objective",
        numbers={"behind_soft": int((behind_soft > 0).sum()), "resamples": len(hard)},
    )


def _compare(table: Table) -> Agreement:
    names, both = table.settings.datasets, (table.summary, published.local_optima())
    rows = []
    for name in names:
        counts = [
            _of(frame, method, name)["distinct_accuracies"].mean()
            for method in ("soft", "hard")
            for frame in both
        ]
        supervised = [_of(frame, "hard", name)["accuracy_supervised"] for frame in both]
        z = _z_score(*supervised)
        cells = [f"{count:.1f}" for count in counts]
        cells += [f"{part.mean():.3f}" for part in supervised]
        rows.append([name, *cells, NONE if np.isnan(z) else minus(f"{z:.1f}")])
    totals = ", ".join(
        "{} {} (published {})".format(method, *(_total(frame, method, names) for frame in both))
        for method in ("soft", "hard")
    )
    header = ("data set", "soft", "publ.", "hard", "publ.", "supervised", "publ.", "z")
    other_share = ", and the test rows are 20 %, not 30 % as published"
    truncation = " Parkinsons differs because R drops small singular values, as explained below."
    return Agreement(
        "Distinct accuracies from 50 random starts in the first resample, summed over "
        f"{len(names)} data sets: {totals}.",
        grid(
            "Distinct accuracies per resample with soft and with hard labels, and the accuracy of "
            "the supervised weights: our means over the resamples, and the published ones",
            header,
            rows,
        ),
        "The resamples are drawn anew, so only averages can agree"
        + (other_share if table.settings.preset == "paper" else "")
        + "; z is the difference of the supervised accuracies in standard errors, estimated from "
        "the spread of the ten published resamples."
        + (truncation if "Parkinsons" in names else ""),
    )


def _z_score(ours: pd.Series, theirs: pd.Series) -> float:
    """Return the difference of two means in standard errors, both from the published spread."""
    error = float(theirs.std()) * np.sqrt(1 / len(ours) + 1 / len(theirs))
    return float(ours.mean() - theirs.mean()) / error if error > 0 else float("nan")


FIG5 = LocalOptima()
