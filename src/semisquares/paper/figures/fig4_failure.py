"""Figure 4: an example where hard labels lead away from a reasonable start, and 200 more like it.

Two clouds in the plane, which the classes cut lengthwise (x1 > x2), and five labels. The published
example is one seed of R's generator. The authors say that it is not typical, so the experiment is
repeated for the seeds 1 to 200. The published soft labels come from a block descent that was
silently stopped after 1000 steps; the soft optimum is shown beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import plotting
from ..._html.tables import grid
from ..._utils.typing import Array
from ...core.solvers import fit_labeled, minimise
from ...plotting._pictures import letter_panels
from ...plotting._rows import draw_labeled_rows, draw_unlabeled_rows
from ...plotting._style import BLACK, GREY, LIGHT, METHOD_STYLES
from ..datasets.generators import PUBLISHED_SEED, PublishedPlane, published_plane
from ._descent import LABEL_TOL, published_descent, published_objective
from ._figure import Agreement, Arrays, Figure, Finding, Settings, Table, clearly_lower
from ._protocol import block_names, parse_block

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


METHODS = ("supervised", "soft", "hard", "oracle")
EXAMPLE = (*METHODS, "soft_published", "soft_block")
"""The published example adds block descent with soft labels: as published, and converged."""
PUBLISHED = {"supervised": 0.2100, "hard": 0.5475, "soft_published": 0.1500}
PUBLISHED_LIMIT = 1000
NAMES = {
    "supervised": "supervised",
    "hard": "hard labels",
    "soft_published": f"soft labels stopped at {PUBLISHED_LIMIT} steps",
}
SOFT_ERROR, SOFT_STEPS = 0.1600, 9554
"""Error and number of steps of the published soft run if it is not stopped."""
NAMED_SEEDS = (4, 5, 11)
"""The published seed, and two more that the authors show in a second report."""
SEEDS_PER_CELL = 20
BEHIND_TEXT = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.8}
NUMBERS = ("error", "intercept", "w1", "w2", "steps")
POINTS = ("x1", "x2", "class", "label", "test")


class Failure(Figure):
    name: ClassVar = "fig4"
    place: ClassVar = "Figure 4"
    title: ClassVar = "Where hard labels fail"
    caption: ClassVar = (
        "The published example: 1000 points in two clouds that the classes cut lengthwise (light "
        "grey: the true boundary), five of them labeled (large). Lines are the decision boundaries "
        "with their errors on 400 test points. Then the same for the seeds 1, 2, 3, … of R's "
        "generator: the error with the unlabeled points against the error without them, one point "
        "per seed and method, and the differences sorted. Above the line, the unlabeled points "
        "hurt."
    )
    uses_seed: ClassVar = False
    repeats: ClassVar = {"authors": 200, "paper": 200, "quick": 20}
    columns: ClassVar = {
        "seed": "seed of R's generator",
        "method": "supervised, soft (the exact optimum), hard (from the supervised weights), "
        "oracle (all labels known)",
        "labels_0": "how many of the five labels are of class 0, x1 ≤ x2",
        "labels_1": "how many are of class 1, x1 > x2; if all labels are of one class there is no "
        "classifier, and the columns that follow are empty",
        "error": "share of the 400 test points in the wrong class",
        "intercept": "of the decision function, whose target is 1 for class 0",
        "w1": "its weight for x1",
        "w2": "its weight for x2",
        "steps": "steps of Newton's method (soft) or of block descent (hard)",
    }
    views: ClassVar = {"example": "The published example", "seeds": "The same for other seeds"}

    def cells(self, settings: Settings) -> list[str]:
        return ["example", *block_names(settings.repeats, SEEDS_PER_CELL, first=1)]

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        return _example() if cell == "example" else _study(parse_block(cell))

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        studies = [results[cell] for cell in self.cells(settings)[1:]]
        seeds, labels, numbers = (
            np.concatenate([study[name] for study in studies])
            for name in ("seed", "labels", "numbers")
        )
        summary = _frame(
            numbers.reshape(-1, len(NUMBERS)),
            seed=np.repeat(seeds, len(METHODS)),
            method=np.tile(METHODS, len(seeds)),
            labels_0=np.repeat(labels[:, 0], len(METHODS)),
            labels_1=np.repeat(labels[:, 1], len(METHODS)),
        )
        found = results["example"]
        example = _frame(found["numbers"], method=EXAMPLE)
        points = pd.DataFrame({name: found[name] for name in POINTS})
        return Table(settings, summary, {"example": example, "points": points})

    def draw(self, table: Table, view: str) -> Picture:
        return {"example": _plot_example, "seeds": _plot_seeds}[view](table)

    def findings(self, table: Table) -> list[Finding]:
        example = table.details["example"].set_index("method")
        errors = _errors(table.summary)
        skipped = table.summary["seed"].nunique() - len(errors)
        seeds = f"{len(errors)} seeds (without {skipped} that have labels of one class only)"
        return [
            *(_example_finding(example, method) for method in PUBLISHED),
            _end_finding(example),
            _typical_finding(errors, seeds),
            _harm_finding(errors, "hard", seeds),
            _harm_finding(errors, "soft", seeds),
            _better_finding(errors, seeds),
        ]

    def describe_run(self, settings: Settings) -> str:
        named = [str(seed) for seed in NAMED_SEEDS if seed <= settings.repeats]
        marked = f" (marked in the picture: {', '.join(named)})" if named else ""
        return (
            "The published example, with soft labels by block descent stopped as published, by "
            "block descent until it converges, and by Newton's method; and the same draw for the "
            f"seeds 1 to {settings.repeats} of R's generator{marked}."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        return _compare(table.details["example"].set_index("method")["error"])


def _frame(numbers: Array, **keys: Any) -> pd.DataFrame:
    """Return a table with the columns `keys`, then `NUMBERS`."""
    import pandas as pd

    frame = pd.DataFrame({**keys, **dict(zip(NUMBERS, numbers.T, strict=True))})
    return frame.astype({"steps": "Int64"})  # whole numbers, some missing


def _example() -> Arrays:
    """Fit all methods to the published example."""
    plane = published_plane()
    found = {**_fit_all(plane), **_blocks(plane)}
    points = np.vstack((plane.X, plane.X_test))
    return {
        "numbers": np.array([found[method] for method in EXAMPLE]),
        "x1": points[:, 0],
        "x2": points[:, 1],
        "class": np.concatenate((plane.truth, plane.y_test)),
        "label": np.concatenate((plane.y, np.full(len(plane.y_test), -1))),
        "test": np.repeat([0, 1], [len(plane.X), len(plane.X_test)]),
    }


def _study(seeds: range) -> Arrays:
    """Fit all methods to the data of some seeds."""
    numbers, labels = [], []
    for seed in seeds:
        plane = published_plane(seed)
        counts = [int((plane.y == code).sum()) for code in (0, 1)]
        nothing = dict.fromkeys(METHODS, [np.nan] * len(NUMBERS))
        found = _fit_all(plane) if all(counts) else nothing
        numbers.append([found[method] for method in METHODS])
        labels.append(counts)
    return {"seed": np.array(seeds), "labels": np.array(labels), "numbers": np.array(numbers)}


def _fit_all(plane: PublishedPlane) -> dict[str, list[float]]:
    """Return error, weights and steps of every method."""
    soft = published_objective(plane.X, plane.y, "soft")
    supervised = fit_labeled(soft)
    oracle = fit_labeled(published_objective(plane.X, plane.truth, "soft"))
    exact = minimise(soft, supervised)
    hard = published_descent(published_objective(plane.X, plane.y, "hard"), supervised)
    return {
        "supervised": _measure(plane, supervised, 0),
        "soft": _measure(plane, exact.w, exact.n_iter),
        "hard": _measure(plane, hard.w, hard.n_iter),
        "oracle": _measure(plane, oracle, 0),
    }


def _blocks(plane: PublishedPlane) -> dict[str, list[float]]:
    """Run block descent with soft labels: stopped as published, and until it converges."""
    soft = published_objective(plane.X, plane.y, "soft")
    supervised = fit_labeled(soft)
    path: list[Array] = []
    end = published_descent(soft, supervised, path=path)
    return {
        "soft_published": _measure(plane, path[PUBLISHED_LIMIT - 1], PUBLISHED_LIMIT),
        "soft_block": _measure(plane, end.w, end.n_iter),
    }


def _measure(plane: PublishedPlane, w: Array, steps: int) -> list[float]:
    """Return one row of the table: the error on the test points, the weights, the steps."""
    predicts_0 = plane.X_test @ w[:2] + w[2] > 0.5  # class 0 is encoded 1
    return [float(np.mean(predicts_0 != (plane.y_test == 0))), w[2], w[0], w[1], float(steps)]


def _errors(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the error of each method (columns) for each seed that has labels of both classes."""
    return summary.pivot(index="seed", columns="method", values="error").dropna()


def _plot_example(table: Table) -> Picture:
    example, points = table.details["example"], table.details["points"]
    picture = plotting.new_picture(6.1, 3.8)
    axes = picture.subplots()
    train = points[points["test"] == 0]
    limit = float(np.ceil(train[["x1", "x2"]].abs().to_numpy().max() * 10) / 10)
    _draw_points(axes, train)
    axes.axline((0, 0), slope=1, color=LIGHT, linewidth=5.0, zorder=0.5, label="true boundary")
    soft = plotting.method_style("soft")
    lines = {
        "supervised": plotting.method_style("supervised").line,
        "hard": plotting.method_style("hard").line,
        "soft": soft.line,
        "soft_published": (0, (1, 1.5)),
    }
    names = {
        "soft": "soft labels, exact",
        "soft_published": f"soft labels, as published\n({PUBLISHED_LIMIT} steps)",
    }
    for method, line in lines.items():
        row = example.set_index("method").loc[method]
        style = METHOD_STYLES.get(method, soft)
        label = f"{names.get(method, style.label)}: {row['error']:.4f}"
        _draw_boundary(axes, row, color=style.colour, linestyle=line, label=label)
    axes.set(
        xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal",
        xlabel=r"$x_1$", ylabel=r"$x_2$",
    )  # fmt: skip
    axes.legend(
        loc="center left", bbox_to_anchor=(1.04, 0.5), labelspacing=0.9,
        title="Points, boundaries and\ntheir test errors", alignment="left",
    )  # fmt: skip
    return picture


def _draw_points(axes: Axes, train: pd.DataFrame) -> None:
    names = (r"class $x_1 \leq x_2$", r"class $x_1 > x_2$")
    for code, name in enumerate(names):
        of_class = train[train["class"] == code]
        known = of_class[of_class["label"] >= 0]
        draw_unlabeled_rows(
            axes, of_class["x1"], of_class["x2"], code, size=2.0, alpha=0.5, zorder=1
        )
        draw_labeled_rows(axes, known["x1"], known["x2"], code, label=f"{name}, labeled")


def _draw_boundary(axes: Axes, row: pd.Series, **line: Any) -> None:
    """Draw the line ``intercept + w1 x1 + w2 x2 = ½``."""
    w = np.array([row["w1"], row["w2"]], dtype=float)
    foot = (0.5 - row["intercept"]) * w / (w @ w)
    along = np.array([-w[1], w[0]])
    axes.axline(tuple(foot), tuple(foot + along), linewidth=1.7, zorder=3, **line)


def _plot_seeds(table: Table) -> Picture:
    errors = _errors(table.summary)
    picture, panels = plotting.facets(2, 2, row_height=3.4)
    _draw_scatter(panels[0], errors)
    _draw_sorted(panels[1], errors)
    letter_panels(panels, ["Error of each seed", "Change by the unlabeled points, sorted"])
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return picture


def _draw_scatter(panel: Axes, errors: pd.DataFrame) -> None:
    limit = 0.62
    panel.plot([0, limit], [0, limit], color=GREY, linewidth=0.8, zorder=0.5)
    for method in ("hard", "soft"):
        style = plotting.method_style(method)
        panel.plot(
            errors["supervised"], errors[method], style.marker, color=style.colour, alpha=0.55,
            markersize=3.8, markeredgewidth=0, label=style.label,
        )  # fmt: skip
    for seed in errors.index.intersection(list(NAMED_SEEDS)):
        x, hard, soft = (errors.loc[seed, name] for name in ("supervised", "hard", "soft"))
        panel.plot([x, x], [soft, hard], color=BLACK, linewidth=0.8, zorder=3)
        for method, y in (("hard", hard), ("soft", soft)):
            _mark(panel, x, y, method)
        panel.annotate(
            f"seed {seed}", (x, soft), xytext=(7, 0), textcoords="offset points", va="center",
            zorder=5, bbox=BEHIND_TEXT,
        )  # fmt: skip
    panel.text(0.015, 0.61, "unlabeled points hurt", va="top", style="italic", bbox=BEHIND_TEXT)
    panel.text(0.61, 0.015, "unlabeled points help", ha="right", style="italic", bbox=BEHIND_TEXT)
    panel.set(
        xlim=(0, limit), ylim=(0, limit), aspect="equal",
        xlabel="test error, supervised", ylabel="test error with unlabeled points",
    )  # fmt: skip


def _draw_sorted(panel: Axes, errors: pd.DataFrame) -> None:
    panel.axhline(0, color=GREY, linewidth=0.8, zorder=0.5)
    places = {"hard": (0.03, 0.95), "soft": (0.03, 0.87)}
    beside: dict[str, Any] = {
        "hard": {"xytext": (-6, 4), "ha": "right", "va": "bottom"},
        "soft": {"xytext": (7, -2), "ha": "left", "va": "top"},
    }
    for method in ("hard", "soft"):
        style = plotting.method_style(method)
        change = (errors[method] - errors["supervised"]).sort_values(kind="stable")
        share = 100 * (np.arange(len(change)) + 0.5) / len(change)
        panel.plot(share, change.to_numpy(), color=style.colour, linestyle=style.line)
        for seed in change.index.intersection([PUBLISHED_SEED]):
            place = change.index.get_loc(seed)
            _mark(panel, share[place], change.iloc[place], method)
            panel.annotate(
                f"seed {seed}", (share[place], change.iloc[place]), textcoords="offset points",
                **beside[method],
            )  # fmt: skip
        panel.text(
            *places[method], f"{style.label} worse on {(change > 0).sum()} of {len(change)} seeds",
            color=style.colour, va="top", transform=panel.transAxes,
        )  # fmt: skip
    panel.set(xlim=(0, 100), xlabel="share of the seeds, %", ylabel="error less that of supervised")


def _mark(panel: Axes, x: float, y: float, method: str) -> None:
    """Draw the marker of a seed that is named in the picture."""
    style = plotting.method_style(method)
    panel.plot(
        x, y, style.marker, color=style.colour, markersize=6.0, markeredgecolor=BLACK,
        markeredgewidth=1.0, zorder=4,
    )  # fmt: skip


def _example_finding(example: pd.DataFrame, method: str) -> Finding:
    ours, theirs = float(example.loc[method, "error"]), PUBLISHED[method]
    return Finding(
        f"The published example, {NAMES[method]}: test error {theirs:.4f}.",
        round(ours, 4) == theirs,
        f"{ours:.4f}.",
    )


def _end_finding(example: pd.DataFrame) -> Finding:
    block, exact = example.loc["soft_block"], example.loc["soft"]
    apart = float(np.abs(block[["w1", "w2", "intercept"]] - exact[["w1", "w2", "intercept"]]).max())
    same = int(block["steps"]) == SOFT_STEPS and round(float(block["error"]), 4) == SOFT_ERROR
    return Finding(
        f"Run until it converges, the published soft run takes {SOFT_STEPS:,} steps and its error "
        f"is {SOFT_ERROR:.4f}, not 0.1500.",
        same and round(float(exact["error"]), 4) == SOFT_ERROR and apart < 1e-6,
        f"{int(block['steps']):,} steps until Σ|Δu| ≤ {LABEL_TOL:.0e}, error {block['error']:.4f}; "
        f"Newton's method takes {int(exact['steps'])} steps to the same weights (to {apart:.0e}), "
        f"error {exact['error']:.4f}.",
    )


def _typical_finding(errors: pd.DataFrame, seeds: str) -> Finding:
    like = (errors["soft"] < errors["supervised"]) & (errors["hard"] > errors["supervised"])
    return Finding(
        "The example, where soft labels help and hard ones hurt, is not typical.",
        clearly_lower(like.mean(), 0.5, 0.5 / np.sqrt(len(errors))),
        f"Soft labels help and hard ones hurt for {like.sum()} of {seeds}.",
        key="typical",
        numbers={"like_the_example": int(like.sum()), "seeds": len(errors)},
    )


def _harm_finding(errors: pd.DataFrame, method: str, seeds: str) -> Finding:
    change = errors[method] - errors["supervised"]
    mean, se = change.mean(), change.sem()
    return Finding(
        f"On this problem the unlabeled points harm {plotting.method_style(method).label}.",
        clearly_lower(0.0, mean, se),
        f"Of {seeds} they are worse than supervised on {(change > 0).sum()}, better on "
        f"{(change < 0).sum()}; their mean error is {errors[method].mean():.3f} against "
        f"{errors['supervised'].mean():.3f}, a change of {mean:+.3f} ± {se:.3f}; the oracle has "
        f"{errors['oracle'].mean():.3f}.",
    )


def _better_finding(errors: pd.DataFrame, seeds: str) -> Finding:
    less = errors["hard"] - errors["soft"]
    mean, se = less.mean(), less.sem()
    return Finding(
        "Soft labels do less harm than hard ones.",
        clearly_lower(0.0, mean, se),
        f"Of {seeds} soft labels are better on {(less > 0).sum()}, worse on {(less < 0).sum()}; "
        f"their mean error is lower by {mean:.3f} ± {se:.3f}.",
    )


def _compare(errors: pd.Series) -> Agreement:
    rows = [
        (NAMES[method], f"{errors[method]:.4f}", f"{published:.4f}")
        for method, published in PUBLISHED.items()
    ]
    rows.append(("soft labels, run until they converge", f"{errors['soft_block']:.4f}", "–"))
    rows.append(("soft labels, exact", f"{errors['soft']:.4f}", "–"))
    n_equal = sum(ours == published for _, ours, published in rows)
    return Agreement(
        f"{n_equal} of {len(PUBLISHED)} published test errors are equal to ours, in all digits.",
        grid("Test errors of the published example", ("", "ours", "published"), rows),
    )


FIG4 = Failure()
