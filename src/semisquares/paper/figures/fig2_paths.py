"""Figure 2: where block descent goes from 100 starts, with soft and with hard labels.

The authors' rules, found in their stored runs and followed here to the last step: the class around
−1 is encoded 1; a start is the supervised weights plus noise, and its first step fits the raw
decision values of those weights, not yet clipped; a run ends after the first step that moves the
labels by ``Σ|Δu| ≤ 1e-9`` in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from ...core.objective import Objective
from ...core.solvers import Solution, Step, fit_labeled, minimise
from ..datasets.generators import published_line, published_starts
from .descent import LABELINGS, STILL, published_descent, published_objective
from .fig2_drawing import WINDOWS, draw_paths
from .figure import Arrays, Figure, Finding, Settings, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

RUNS_PER_CELL = 10
SAME = 1e-6
"""Ends nearer to each other than this are one optimum."""
PUBLISHED_SOFT = (0.50082, -0.27156)
PUBLISHED_HARD = {
    (0.5027, -0.4274): 45,
    (0.0049, -0.0046): 27,
    (0.9950, -0.0042): 18,
    (0.4972, 0.4187): 10,
}
PUBLISHED_STEPS = {"soft": (486, 796), "hard": (2, 9)}
PUBLISHED_SUPERVISED_STEPS = 579


def exact_solution(objective: Objective, w: Array, *, path: list[Array]) -> Solution:
    """Solve for the soft optimum from weights w; `path` is given every step's weights."""

    def keep(step: Step) -> None:
        path.append(step.w)

    return minimise(objective, w, callback=keep)


class Paths(Figure):
    name: ClassVar = "fig2"
    title: ClassVar = "One soft optimum, four hard ones"
    caption: ClassVar = (
        "Block descent on the data of Figure 1 from 100 starts around the supervised weights "
        "(dots), with soft labels (left) and hard ones (right); below, the framed part enlarged. "
        "Data, starts and stopping rule are the published ones. The path from the supervised "
        "weights is black. Rings are where paths end, with the number of runs that do; with hard "
        "labels the colour of a path is that of its end. Contours show J, each 1.5 times the one "
        "inside. Soft labels have one optimum, which Newton's method finds in a few steps; hard "
        "ones have four."
    )
    repeats: ClassVar = {"authors": 100, "paper": 100, "quick": 100}
    columns: ClassVar = {
        "method": "soft or hard: block descent; exact: Newton's method with soft labels",
        "run": "number of the start; 0 is the supervised weights",
        "start_intercept": "where the run starts",
        "start_slope": "where the run starts",
        "end_intercept": "where it ends",
        "end_slope": "where it ends",
        "steps": "how many times the weights were updated",
        "J": "the objective at the end: J_l for soft and exact, J_r for hard",
        "optimum": "number of the optimum among those of the method, the most frequent is 1",
    }

    def cells(self, settings: Settings) -> list[str]:
        blocks = [
            f"{first}-{min(first + RUNS_PER_CELL - 1, settings.repeats)}"
            for first in range(1, settings.repeats + 1, RUNS_PER_CELL)
        ]
        methods = ("soft", "hard", "exact")
        return ["surface", *(f"{m}/{block}" for m in methods for block in ("0-0", *blocks))]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        if cell == "surface":
            return _surface()
        method, block = cell.split("/")
        first, last = map(int, block.split("-"))
        return _runs(method, np.arange(first, last + 1), settings.repeats)

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        runs, paths = [], []
        for cell in self.cells(settings)[1:]:
            method, found = cell.split("/")[0], results[cell]
            path = {name[5:]: found[name] for name in found if name.startswith("path_")}
            rest = {name: found[name] for name in found if not name.startswith("path_")}
            runs.append(pd.DataFrame({"method": method, **rest}))
            paths.append(pd.DataFrame({"method": method, **path}))
        summary = pd.concat(runs, ignore_index=True)
        summary["optimum"] = _number_optima(summary)
        surface = pd.DataFrame(results["surface"])
        surface["window"] = np.array(list(WINDOWS))[surface["window"]]
        return Table(settings, summary, {"paths": pd.concat(paths), "surface": surface})

    def plot(self, table: Table, view: str | None = None) -> Picture:
        return draw_paths(table)

    def findings(self, table: Table) -> list[Finding]:
        runs = table.summary[table.summary["run"] > 0]
        whole = bool(table.settings.repeats == 100)
        return [
            _soft_finding(runs[runs["method"] == "soft"]),
            _exact_finding(table.summary),
            _hard_finding(runs[runs["method"] == "hard"], whole),
            *(_steps_finding(runs, method, whole) for method in ("soft", "hard")),
            _supervised_finding(table.summary),
        ]


def _runs(method: str, numbers: Array, n_starts: int) -> Arrays:
    """Run one method from some of the starts."""
    line = published_line()
    objective = published_objective(line.X, line.y, "hard" if method == "hard" else "soft")
    supervised, _ = fit_labeled(objective)
    noise = np.vstack((np.zeros(2), published_starts(n_starts=n_starts)))[numbers]
    starts = supervised + noise[:, ::-1]  # ours have the intercept last
    ends, paths, runs, steps = [], [], [], []
    for number, start in zip(numbers, starts, strict=True):
        path = [start]
        solve = exact_solution if method == "exact" else published_descent
        found = solve(objective, start, path=path)
        kept = _thin(len(path))
        ends.append(found)
        paths.append(np.array(path)[kept])
        runs.append(np.full(len(kept), number))
        steps.append(kept)
    slope, intercept = np.concatenate(paths).T
    return {
        "run": numbers,
        "start_intercept": starts[:, 1],
        "start_slope": starts[:, 0],
        "end_intercept": np.array([found.w[1] for found in ends]),
        "end_slope": np.array([found.w[0] for found in ends]),
        "steps": np.array([found.n_iter for found in ends]),
        "J": np.array([found.value for found in ends]),
        "path_run": np.concatenate(runs),
        "path_step": np.concatenate(steps),
        "path_intercept": intercept,
        "path_slope": slope,
    }


def _thin(length: int) -> Array:
    """Choose the steps of a path that are kept: the first ones all, then ever fewer, and the last.

    Block descent slows down geometrically, so that a picture of these is a picture of all.
    """
    growing = np.floor(1.25 ** np.arange(64)).astype(int)
    kept = np.concatenate(([0], growing[growing < length], [length - 1]))
    return np.unique(kept)


def _surface() -> Arrays:
    """Evaluate both objectives on a grid for each window."""
    line = published_line()
    found: dict[str, list[Array]] = {
        name: [] for name in ("window", "intercept", "slope", *LABELINGS)
    }
    for number, (xlim, ylim, n) in enumerate(WINDOWS.values()):
        grid = np.meshgrid(np.linspace(*xlim, n), np.linspace(*ylim, n))
        intercept, slope = (axis.ravel().round(6) for axis in grid)
        found["window"].append(np.full(len(slope), number))
        found["intercept"].append(intercept)
        found["slope"].append(slope)
        for method in LABELINGS:
            objective = published_objective(line.X, line.y, method)
            weights = np.column_stack((slope, intercept))
            found[method].append(plotting.surface(objective, weights).round(4))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _number_optima(runs: pd.DataFrame) -> Array:
    """Number the ends within each method, by how many runs end there."""
    number = np.zeros(len(runs), dtype=int)
    for method in runs["method"].unique():
        index = np.flatnonzero(runs["method"] == method)
        ends = runs.loc[index, ["end_intercept", "end_slope"]].to_numpy()
        different = np.abs(ends[:, None] - ends[None]).max(axis=2) > SAME
        first = (~different).argmax(axis=1)  # of each end the first run with the same one
        optima, counts = np.unique(first, return_counts=True)
        rank = np.empty(len(ends), dtype=int)
        rank[optima[np.lexsort((optima, -counts))]] = np.arange(1, len(optima) + 1)
        number[index] = rank[first]
    return number


def _soft_finding(runs: pd.DataFrame) -> Finding:
    ends = runs[["end_intercept", "end_slope"]]
    spread = float((ends - ends.iloc[0]).abs().to_numpy().max())
    place = tuple(ends.mean())
    return Finding(
        "Soft labels: every run ends in one optimum, the published one.",
        bool(runs["optimum"].max() == 1 and np.allclose(place, PUBLISHED_SOFT, rtol=0, atol=1e-5)),
        f"{runs['optimum'].nunique()} optimum from {len(runs)} starts, at ({place[0]:.5f}, "
        f"{place[1]:.5f}), published {PUBLISHED_SOFT}; the ends differ by at most {spread:.0e}.",
    )


def _exact_finding(summary: pd.DataFrame) -> Finding:
    exact, soft = (summary[summary["method"] == method] for method in ("exact", "soft"))
    names = ["end_intercept", "end_slope"]
    spread = float(np.ptp(exact[names].to_numpy(), axis=0).max())
    apart = float(np.abs(exact[names].to_numpy() - soft[names].to_numpy()).max())
    return Finding(
        "Solved exactly, the soft optimum is one and the same from every start.",
        bool(spread < 1e-12),
        f"Newton's method takes {exact['steps'].min()} to {exact['steps'].max()} steps; its ends "
        f"differ by at most {spread:.0e}, and from those of block descent by {apart:.0e}.",
    )


def _hard_finding(runs: pd.DataFrame, whole: bool) -> Finding:
    optima = runs.groupby("optimum")[["end_intercept", "end_slope"]].mean().to_numpy()
    counts = runs["optimum"].value_counts().sort_index().to_list()
    published = np.array(list(PUBLISHED_HARD))
    known = all(np.abs(published - place).max(axis=1).min() < 1e-4 for place in optima)
    same = known and counts == list(PUBLISHED_HARD.values())
    places = ", ".join(f"({a:.4f}, {b:.4f}) ×{n}" for (a, b), n in zip(optima, counts, strict=True))
    return Finding(
        "Hard labels: the runs end in the four published optima, 45, 27, 18 and 10 of them.",
        same if whole else None,
        places + ".",
    )


def _steps_finding(runs: pd.DataFrame, method: str, whole: bool) -> Finding:
    steps = runs.loc[runs["method"] == method, "steps"]
    low, high = PUBLISHED_STEPS[method]
    ours = int(steps.min()), int(steps.max())
    return Finding(
        f"{method.capitalize()} labels: runs take {low} to {high} steps.",
        ours == (low, high) if whole else None,
        f"{ours[0]} to {ours[1]} steps, until Σ|Δu| ≤ {STILL:.0e}.",
    )


def _supervised_finding(summary: pd.DataFrame) -> Finding:
    chosen = (summary["method"] == "soft") & (summary["run"] == 0)
    steps = int(summary.loc[chosen, "steps"].iloc[0])
    return Finding(
        f"From the supervised weights, soft labels take {PUBLISHED_SUPERVISED_STEPS} steps.",
        steps == PUBLISHED_SUPERVISED_STEPS,
        f"{steps} steps.",
    )


FIG2 = Paths()
