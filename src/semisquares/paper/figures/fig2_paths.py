"""Figure 2: where block descent goes from 100 starts, with soft and with hard labels.

The authors' rules, reconstructed from their stored runs: the class around −1 is encoded as 1; a
start is the supervised weights plus noise; the first step fits the decision values of the start,
without clipping them; a run ends after the first step with ``Σ|Δu| ≤ 1e-9``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import plotting
from ..._html.tables import grid
from ..._utils.typing import Array
from ..._utils.words import counted, minus
from ...core.objective import Objective
from ...core.solvers import Solution, Step, fit_labeled, minimise
from ...plotting._paths import evaluate_objective
from ...plotting._pictures import letter_panels
from ...plotting._runs import (
    BEHIND_TEXT,
    END_COLOURS,
    draw_contours,
    draw_end,
    draw_path,
    draw_runs,
    thin_path,
)
from ...plotting._style import BLACK, GREY, INK
from ..datasets.generators import published_line, published_starts
from ._descent import LABEL_TOL, LABELINGS, published_descent, published_objective
from ._figure import Agreement, Arrays, Figure, Finding, Settings, Table
from ._protocol import block_names, parse_cell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from matplotlib.lines import Line2D


RUNS_PER_CELL = 10
SAME = 1e-6
"""Ends that are closer to each other than this are one optimum."""
PUBLISHED_SOFT = (0.50082, -0.27156)
PUBLISHED_HARD = {
    (0.5027, -0.4274): 45,
    (0.0049, -0.0046): 27,
    (0.9950, -0.0042): 18,
    (0.4972, 0.4187): 10,
}
PUBLISHED_STEPS = {"soft": (486, 796), "hard": (2, 9)}
PUBLISHED_SUPERVISED_STEPS = 579
WINDOWS = {
    "whole": ((-2.3, 3.3), (-3.2, 2.0), 33),
    "near": ((-0.15, 1.15), (-0.6, 0.62), 61),
}
"""The parts of the (intercept, slope) plane that are drawn: limits, and grid points per axis."""
LEVELS = 0.28 * 1.5 ** np.arange(24)
"""The values of J at the contours."""
OUTCOMES = {
    (True, False): "clusters told apart",
    (False, False): "all in class +1",
    (True, True): "all in class −1",
    (False, True): "clusters swapped",
}
"""What weights do with the clusters at −1 and +1: whether each is put in the class around −1."""


def exact_solution(objective: Objective, w: Array, *, path: list[Array]) -> Solution:
    """Find the soft optimum from weights w; append the weights of every step to `path`."""

    def keep(step: Step) -> None:
        path.append(step.w)

    return minimise(objective, w, callback=keep)


class Paths(Figure):
    name: ClassVar = "fig2"
    place: ClassVar = "Figure 2"
    title: ClassVar = "One soft optimum, four hard ones"
    caption: ClassVar = (
        "Block descent on the data of Figure 1 from 100 starts around the supervised weights "
        "(dots), with soft labels (left) and hard ones (right); below, the framed part enlarged. "
        "Data, starts and stopping rule are the published ones. The path from the supervised "
        "weights is black. Rings mark where paths end, with the number of runs that end there; "
        "with hard labels a path has the colour of its end. Contours show J, each 1.5 times the "
        "one inside. Soft labels have one optimum, which Newton's method finds in a few steps; "
        "hard ones have four."
    )
    uses_seed: ClassVar = False
    repeats: ClassVar = {"authors": 100, "paper": 100, "quick": 100}
    columns: ClassVar = {
        "method": "soft or hard: block descent; exact: Newton's method with soft labels",
        "run": "number of the start; 0 is the supervised weights",
        "start_intercept": "intercept at the start of the run",
        "start_slope": "slope at the start of the run",
        "end_intercept": "intercept at its end",
        "end_slope": "slope at its end",
        "steps": "how many times the weights were updated",
        "J": "the objective at the end: J_l for soft and exact, J_r for hard",
        "optimum": "number of the optimum among those of the method, the most frequent is 1",
    }

    def cells(self, settings: Settings) -> list[str]:
        blocks = ("0-0", *block_names(settings.repeats, RUNS_PER_CELL, first=1))
        methods = ("soft", "hard", "exact")
        return ["surface", *(f"{method}/{block}" for method in methods for block in blocks)]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        if cell == "surface":
            return _surface()
        method, numbers = parse_cell(cell)
        return _runs(method, np.array(numbers), settings.repeats)

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

    def draw(self, table: Table, view: str) -> Picture:
        """Draw soft and hard runs side by side, and the framed part of both enlarged below."""
        picture, panels = plotting.facets(4, 2, row_height=3.1)
        shown = [(window, method) for window in WINDOWS for method in ("soft", "hard")]
        for panel, (window, method) in zip(panels, shown, strict=True):
            _draw_surface(panel, table.details["surface"], window, method)
            _draw_paths(panel, table, method)
            _draw_optima(panel, table.summary, method, named=window == "near")
            xlim, ylim, _ = WINDOWS[window]
            panel.set(xlim=xlim, ylim=ylim, xlabel="intercept", ylabel="slope")
        for panel in panels[:2]:
            _frame(panel, *WINDOWS["near"][:2])
        names = ("Soft labels", "Hard labels")
        letter_panels(panels, [*names, *(f"{name}, framed part" for name in names)])
        picture.legend(handles=_legend(), loc="outside lower center", ncols=3)
        return picture

    def findings(self, table: Table) -> list[Finding]:
        runs = table.summary[table.summary["run"] > 0]
        whole = table.settings.repeats == 100
        return [
            _soft_finding(runs[runs["method"] == "soft"]),
            _exact_finding(table.summary),
            _hard_finding(runs[runs["method"] == "hard"], whole),
            *(_steps_finding(runs, method, whole) for method in ("soft", "hard")),
            _supervised_finding(table.summary),
        ]

    def describe_run(self, settings: Settings) -> str:
        return (
            "Block descent with soft and with hard labels, and Newton's method with soft ones, "
            "each from the supervised weights and from "
            f"{counted(settings.repeats, 'start')} around them, on the data of Figure 1."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        return _compare(table.summary)


def _runs(method: str, numbers: Array, n_starts: int) -> Arrays:
    """Run one method from some of the starts."""
    line = published_line()
    objective = published_objective(line.X, line.y, "hard" if method == "hard" else "soft")
    supervised = fit_labeled(objective)
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
    """Return the steps of a path to keep: all at first, then fewer and fewer, and the last.

    Block descent slows down geometrically, so a picture of these steps looks like one of all steps.
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
        mesh = np.meshgrid(np.linspace(*xlim, n), np.linspace(*ylim, n))
        intercept, slope = (axis.ravel().round(6) for axis in mesh)
        found["window"].append(np.full(len(slope), number))
        found["intercept"].append(intercept)
        found["slope"].append(slope)
        for method in LABELINGS:
            objective = published_objective(line.X, line.y, method)
            weights = np.column_stack((slope, intercept))
            found[method].append(evaluate_objective(objective, weights).round(4))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _number_optima(runs: pd.DataFrame) -> Array:
    """Number the optima of each method, the one with the most runs first."""
    number = np.zeros(len(runs), dtype=int)
    for method in runs["method"].unique():
        index = np.flatnonzero(runs["method"] == method)
        ends = _ends(runs.loc[index])
        different = np.abs(ends[:, None] - ends[None]).max(axis=2) > SAME
        first = (~different).argmax(axis=1)  # the first run with the same end
        optima, counts = np.unique(first, return_counts=True)
        rank = np.empty(len(ends), dtype=int)
        rank[optima[np.lexsort((optima, -counts))]] = np.arange(1, len(optima) + 1)
        number[index] = rank[first]
    return number


def _draw_surface(panel: Axes, surface: pd.DataFrame, window: str, method: str) -> None:
    n = WINDOWS[window][2]
    shown = surface[surface["window"] == window]
    x, y, J = (shown[name].to_numpy().reshape(n, n) for name in ("intercept", "slope", method))
    draw_contours(panel, x, y, J, levels=LEVELS)


def _draw_paths(panel: Axes, table: Table, method: str) -> None:
    paths, runs = (
        part[part["method"] == method] for part in (table.details["paths"], table.summary)
    )
    ends = dict(zip(runs["run"], runs["optimum"], strict=True))
    lines = {
        run: thin_path(path[["intercept", "slope"]].to_numpy())
        for run, path in paths.groupby("run")
    }
    for optimum in runs["optimum"].unique():
        chosen = [lines[run] for run in lines if run > 0 and ends[run] == optimum]
        colour = _end_colour(method, optimum)
        draw_runs(panel, chosen, colour)
    draw_path(panel, lines[0], BLACK, bold=True)


def _draw_optima(panel: Axes, summary: pd.DataFrame, method: str, *, named: bool) -> None:
    runs = summary[(summary["method"] == method) & (summary["run"] > 0)]
    for optimum, ends in runs.groupby("optimum"):
        place = ends["end_intercept"].mean(), ends["end_slope"].mean()
        colour = _end_colour(method, optimum)
        draw_end(panel, place, colour, size=9.0 if named else 5.5)
        if named:
            outcome = OUTCOMES[place[0] - place[1] > 0.5, place[0] + place[1] > 0.5]
            alone = len(ends) == len(runs)
            _name(
                panel, place, f"all {len(ends)} runs" if alone else f"{len(ends)} runs\n{outcome}"
            )


def _name(panel: Axes, place: tuple[float, float], text: str) -> None:
    """Write text beside an optimum, on the side towards the middle of the four."""
    right, up = 0.5 - place[0], 0.0 - place[1]
    beside = abs(right) > abs(up)
    panel.annotate(
        text,
        place,
        xytext=(9 * np.sign(right), 0) if beside else (0, 9 * np.sign(up)),
        textcoords="offset points",
        ha={1.0: "left", -1.0: "right"}[np.sign(right)] if beside else "center",
        va="center" if beside else {1.0: "bottom", -1.0: "top"}[np.sign(up)],
        zorder=6,
        linespacing=1.15,
        bbox=BEHIND_TEXT,
    )


def _legend() -> list[Line2D]:
    from matplotlib.lines import Line2D

    run = Line2D([], [], color=GREY, linewidth=0.8, marker=".", markevery=[0])
    end = Line2D([], [], color=GREY, linestyle="", marker="o", markersize=7.0)
    end.set(markerfacecolor="white", markeredgewidth=1.8)
    first = Line2D([], [], color=BLACK, linewidth=1.8, marker="s", markevery=[0])
    labels = ("run and its start", "optimum", "run from the supervised weights")
    for handle, label in zip((run, end, first), labels, strict=True):
        handle.set_label(label)
    return [run, end, first]


def _end_colour(method: str, optimum: int) -> str:
    """Return the colour of the runs that end in an optimum; all soft runs have the same one."""
    if method == "soft":
        return plotting.method_style("soft").colour
    return END_COLOURS[(optimum - 1) % len(END_COLOURS)]


def _frame(panel: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    (left, right), (low, high) = xlim, ylim
    corners = [left, right, right, left, left], [low, low, high, high, low]
    panel.plot(*corners, color=INK, linewidth=0.6, zorder=6)


def _soft_finding(runs: pd.DataFrame) -> Finding:
    ends = _ends(runs)
    spread = float(np.abs(ends - ends[0]).max())
    place = tuple(runs[["end_intercept", "end_slope"]].mean())
    return Finding(
        "Soft labels: every run ends in one optimum, the published one.",
        bool(runs["optimum"].max() == 1 and np.allclose(place, PUBLISHED_SOFT, rtol=0, atol=1e-5)),
        f"{runs['optimum'].nunique()} optimum from {len(runs)} starts, at ({place[0]:.5f}, "
        f"{place[1]:.5f}), published {PUBLISHED_SOFT}; the ends differ by at most {spread:.0e}.",
    )


def _exact_finding(summary: pd.DataFrame) -> Finding:
    exact, soft = (summary[summary["method"] == method] for method in ("exact", "soft"))
    spread = float(np.ptp(_ends(exact), axis=0).max())
    apart = float(np.abs(_ends(exact) - _ends(soft)).max())
    return Finding(
        "Newton's method finds the same soft optimum from every start.",
        spread < 1e-12,
        f"It takes {exact['steps'].min()} to {exact['steps'].max()} steps; its ends differ by at "
        f"most {spread:.0e}, and from those of block descent by at most {apart:.0e}.",
    )


def _hard_finding(runs: pd.DataFrame, whole: bool) -> Finding:
    optima = runs.groupby("optimum")[["end_intercept", "end_slope"]].mean().to_numpy()
    counts = runs["optimum"].value_counts().sort_index().to_list()
    published = np.array(list(PUBLISHED_HARD))
    known = all(np.abs(published - place).max(axis=1).min() < 1e-4 for place in optima)
    same = known and counts == list(PUBLISHED_HARD.values())
    places = ", ".join(f"({a:.4f}, {b:.4f}) ×{n}" for (a, b), n in zip(optima, counts, strict=True))
    return Finding(
        "Hard labels: 45, 27, 18 and 10 runs end in the four published optima.",
        same if whole else None,
        places + ".",
        key="hard_optima",
        numbers={"runs": counts},
    )


def _steps_finding(runs: pd.DataFrame, method: str, whole: bool) -> Finding:
    steps = runs.loc[runs["method"] == method, "steps"]
    low, high = PUBLISHED_STEPS[method]
    ours = int(steps.min()), int(steps.max())
    return Finding(
        f"{method.capitalize()} labels: runs take {low} to {high} steps.",
        ours == (low, high) if whole else None,
        f"{ours[0]} to {ours[1]} steps, until Σ|Δu| ≤ {LABEL_TOL:.0e}.",
    )


def _supervised_finding(summary: pd.DataFrame) -> Finding:
    steps = _supervised_steps(summary)
    return Finding(
        f"From the supervised weights, soft labels take {PUBLISHED_SUPERVISED_STEPS} steps.",
        steps == PUBLISHED_SUPERVISED_STEPS,
        f"{steps} steps.",
    )


def _supervised_steps(summary: pd.DataFrame) -> int:
    """Return the steps of the soft run from the supervised weights."""
    chosen = (summary["method"] == "soft") & (summary["run"] == 0)
    return int(summary.loc[chosen, "steps"].iloc[0])


def _compare(summary: pd.DataFrame) -> Agreement:
    runs = summary[summary["run"] > 0]
    soft, hard = (runs[runs["method"] == method] for method in ("soft", "hard"))
    apart = float(np.abs(_ends(soft) - np.array(PUBLISHED_SOFT)).max())
    counts = hard["optimum"].value_counts().sort_index().to_list()
    published_counts = list(PUBLISHED_HARD.values())
    rows = [("soft optimum", *_pair_optima(soft, [PUBLISHED_SOFT])[0])]
    rows += [
        (f"hard optimum {k}", *pair)
        for k, pair in enumerate(_pair_optima(hard, list(PUBLISHED_HARD)), start=1)
    ]
    rows.append(("runs in each hard optimum", _join(counts), _join(published_counts)))
    for method, part in (("soft", soft), ("hard", hard)):
        steps = [part["steps"].min(), part["steps"].max()]
        rows.append(
            (f"steps, {method}", _join(steps, " to "), _join(PUBLISHED_STEPS[method], " to "))
        )
    first, published_first = _supervised_steps(summary), PUBLISHED_SUPERVISED_STEPS
    rows.append(("steps, soft from supervised", str(first), str(published_first)))
    return Agreement(
        f"The soft optimum is within {apart:.0e} of the published one, which is known to five "
        f"digits; {_join(counts)} hard runs end in the four optima (published: "
        f"{_join(published_counts)}).",
        grid("Ours and the published runs", ("", "ours", "published"), rows),
    )


def _ends(runs: pd.DataFrame) -> Array:
    """Return (intercept, slope) at the end of each run."""
    return np.asarray(runs[["end_intercept", "end_slope"]].to_numpy(dtype=float))


def _pair_optima(runs: pd.DataFrame, published: list[tuple[float, float]]) -> list[tuple[str, str]]:
    """Pair our optima, in order, with the published ones; a missing one is a dash."""
    ours = [_ends(ends).mean(axis=0) for _, ends in runs.groupby("optimum")]
    digits = 5 if len(published) == 1 else 4

    def write(place: Any) -> str:
        return minus(f"({place[0]:.{digits}f}, {place[1]:.{digits}f})")

    return list(zip_longest(map(write, ours), map(write, published), fillvalue="–"))


def _join(values: Iterable[int], by: str = ", ") -> str:
    return by.join(str(value) for value in values)


FIG2 = Paths()
