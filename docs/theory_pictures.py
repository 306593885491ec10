"""Pictures of the theory pages, drawn from the numbers of `theory_numbers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semisquares import plotting
from semisquares.plotting._pictures import letter_panels, title_panel
from semisquares.plotting._style import (
    BLACK,
    BLUE,
    CLASS_COLOURS,
    CLASS_MARKERS,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PURPLE,
    VERMILION,
)

from .theory_numbers import TAU, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

SOFT, HARD = plotting.method_style("soft").colour, plotting.method_style("hard").colour
WRONG = VERMILION
THIN: dict[str, Any] = {"color": LIGHT, "linewidth": 0.8, "zorder": 0.5}
GAP_FLOOR = 1e-12
"""Smaller gaps are drawn here: they are rounding errors, and differ between processors."""
LOO_PAIR = (0.1, 10.0)
"""The two ridges that are compared."""
REACH = (4.3, 2.9)
"""The limits of a panel of the common example on both sides of the origin."""


def row_cost(numbers: Numbers) -> Picture:
    """Draw the imputed label of a row and its cost against the decision value."""
    picture, panels = plotting.facets(2, 2, row_height=2.7)
    between = f"between, τ = {TAU:g}".replace("0.5", "½")
    styles = {
        "soft": {"color": SOFT, "linewidth": 1.9},
        between: {"color": PURPLE, "linestyle": (0, (4, 1.2))},
        "hard": {"color": HARD, "linestyle": (0, (6, 1.5, 1, 1.5))},
    }
    for panel, name in zip(panels, ("label", "cost"), strict=True):
        for k, (label, line) in enumerate(styles.items()):
            panel.plot(numbers["z"], numbers[name][k], label=label, **line)
        for end in (0.0, 1.0):
            panel.axvline(end, **THIN)
        panel.set(xlabel="decision value z", xticks=[-0.5, 0, 0.5, 1, 1.5])
    panels[0].set_ylabel("label that is filled in")
    panels[1].set_ylabel("cost of the row")
    letter_panels(panels, ["The label that costs least", "What is left to pay"])
    plotting.legend(picture, panels, n_columns=3)
    return picture


def convexity(numbers: Numbers) -> Picture:
    """Draw J_l along a label, as it is and by the printed Hessian, and J between two optima."""
    picture, panels = plotting.facets(2, 2, row_height=2.8)
    left, right = panels
    t = numbers["t"]
    left.plot(t, numbers["curves"][0], color=SOFT, label=r"by the Hessian with $+2I$")
    left.plot(t, numbers["curves"][1], color=WRONG, linestyle="--", label=r"as printed, $-2I$")
    left.plot(t, numbers["measured"], ".", color=INK, markersize=4.5, label=r"$J_l$")
    left.set(xlabel="change of one label", ylabel=r"$J_l$")
    for k, (name, colour) in enumerate((("soft", SOFT), ("hard", HARD))):
        style = plotting.method_style(name)
        right.plot(
            numbers["share"], numbers["between"][k], color=colour, linestyle=style.line,
            label=style.label,
        )  # fmt: skip
    for end in (0.0, 1.0):
        right.axvline(end, **THIN)
    right.set(
        xlabel="from one hard optimum (0) to another (1)", ylabel=r"$J$",
        yscale="log", yticks=[1, 10, 100], yticklabels=["1", "10", "100"],
    )  # fmt: skip
    letter_panels(panels, ["Along a label, Figure 3", "Labels minimised out, Figure 2"])
    for panel in panels:
        panel.legend(loc="best")
    return picture


def active_set(numbers: Numbers) -> Picture:
    """Draw the active set at the start, after two steps, and at the end."""
    last = len(numbers["w"]) - 1
    steps = [0, 1, 2, last]
    picture, panels = plotting.facets(4, 2, row_height=2.6, sharex=True, sharey=True)
    for panel, step in zip(panels, steps, strict=True):
        moved = numbers["side"][step] != numbers["side"][max(step - 1, 0)]
        _draw_sides(panel, numbers, step, moved & (numbers["y"] < 0))
        name = "supervised" if step == 0 else f"step {step}"
        note = f"{moved.sum()} rows changed side" if step else "the start"
        title_panel(panel, f"{name}{', the end' * (step == last)}", note)
    picture.legend(handles=_handles_of_sides(), loc="outside lower center", ncols=4)
    return picture


def _draw_sides(panel: Axes, numbers: Numbers, step: int, moved: Any) -> None:
    X, y, side, w = numbers["X"], numbers["y"], numbers["side"][step], numbers["w"][step]
    free = y < 0
    dots: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgewidth": 0}
    for code, colour in zip((-1, 0, 1), _side_colours(), strict=True):
        panel.plot(*X[free & (side == code)].T, color=colour, markersize=2.6, **dots)
    panel.plot(
        *X[moved].T, "o", markersize=5.6, markerfacecolor="none", markeredgewidth=0.6,
        markeredgecolor=INK,
    )  # fmt: skip
    for code in (0, 1):
        panel.plot(
            *X[y == code].T, CLASS_MARKERS[code], color=CLASS_COLOURS[code],
            markersize=6.0, markeredgecolor=BLACK, markeredgewidth=1.0, zorder=4,
        )  # fmt: skip
    for level, style in ((0.0, ":"), (0.5, "-"), (1.0, ":")):
        foot = (level - w[2]) * w[:2] / (w[:2] @ w[:2])
        along = np.array([-w[1], w[0]])
        panel.axline(tuple(foot), tuple(foot + along), color=INK, linestyle=style, linewidth=1.1)
    width, height = REACH
    panel.set(xlim=(-width, width), ylim=(-height, height), aspect="equal", xticks=[], yticks=[])


def _side_colours() -> tuple[str, str, str]:
    return CLASS_COLOURS[0], "#B5B5B5", CLASS_COLOURS[1]


def _handles_of_sides() -> list[Any]:
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgewidth": 0, "markersize": 4.0}
    names = ("z < 0: active, label 0", "inside: free of charge", "z > 1: active, label 1")
    pairs = zip(_side_colours(), names, strict=True)
    handles = [Line2D([], [], color=colour, label=name, **dot) for colour, name in pairs]
    handles.append(
        Line2D(
            [], [], marker="o", linestyle="", markersize=5.6, markerfacecolor="none",
            markeredgecolor=INK, markeredgewidth=0.6, label="changed side",
        )
    )  # fmt: skip
    handles.append(Line2D([], [], color=INK, linewidth=1.1, label="z = ½"))
    handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=":", label="z = 0 and z = 1"))
    for code in (0, 1):
        handles.append(
            Line2D(
                [], [], marker=CLASS_MARKERS[code], linestyle="", markersize=6.0,
                color=CLASS_COLOURS[code], markeredgecolor=BLACK,
                label=f"labeled {code}",
            )
        )  # fmt: skip
    return handles


def gap(numbers: Numbers) -> Picture:
    """Draw the certified gap and the true one against the steps of two solvers."""
    picture = plotting.new_picture(5.6, 3.6)
    axes = picture.subplots()
    for name, colour, label in (
        ("newton", SOFT, "Newton on the active set"),
        ("block", ORANGE, "block descent (the paper)"),
    ):
        step = numbers[f"{name}_step"]
        marker = "o" if name == "newton" else ""
        axes.plot(
            step, _drawn(numbers[f"{name}_gap"]), color=colour, marker=marker,
            label=f"{label}: certified",
        )  # fmt: skip
        axes.plot(
            step, _drawn(numbers[f"{name}_true"]), color=colour, linestyle=":",
            label=f"{label}: true",
        )  # fmt: skip
    powers = range(-12, 1, 3)
    axes.set(
        xscale="log", yscale="log", xlabel="steps", ylabel="gap, relative to the best constant",
        ylim=(0.3 * GAP_FLOOR, 10), yticks=[10.0**power for power in powers],
        yticklabels=[rf"${'≤ ' * (power == -12)}10^{{{power}}}$" for power in powers],
    )  # fmt: skip
    picture.legend(loc="outside lower center", ncols=2)
    return picture


def _drawn(gaps: Any) -> Any:
    """Round gaps to a hundredth of a decade, and replace those below the floor by it."""
    return 10.0 ** np.round(np.log10(np.maximum(gaps, GAP_FLOOR)), 2)


def dial_path(numbers: Numbers) -> Picture:
    """Draw all labels and both objectives as the dial turns from soft to hard."""
    picture, panels = plotting.facets(2, 2, row_height=2.9)
    left, right = panels
    for code in (0, 1):
        lines = numbers["label"][:, numbers["truth"] == code]
        left.plot(numbers["tau"], lines, color=CLASS_COLOURS[code], linewidth=0.7)
        left.plot([], [], color=CLASS_COLOURS[code], label=f"rows of class {code}")
    left.set(xlabel="τ", ylabel="label that is filled in")
    for value, name, colour in zip(numbers["value"], "lr", (SOFT, HARD), strict=True):
        line = "-" if name == "l" else plotting.method_style("hard").line
        right.plot(
            numbers["tau"], value, color=colour, linestyle=line,
            label=rf"$J_{name}$ at these weights and labels",
        )  # fmt: skip
    right.set(xlabel="τ", ylabel="objective", ylim=(0, None))
    letter_panels(panels, ["Labels", "Both objectives"])
    plotting.legend(picture, panels, n_columns=2)
    return picture


def branch_and_bound(numbers: Numbers) -> Picture:
    """Draw the best value and the lower bound against the number of visited nodes."""
    picture = plotting.new_picture(5.2, 2.9)
    axes = picture.subplots()
    nodes = numbers["nodes"]
    axes.step(nodes, numbers["value"], where="post", color=HARD, label="best labels so far")
    axes.step(
        nodes, numbers["bound"], where="post", color=BLUE, linestyle="--",
        label="no labels are below",
    )  # fmt: skip
    axes.axhline(numbers["soft"][0], color=SOFT, linestyle=":", label="soft optimum")
    axes.set(xlabel="nodes of the search", ylabel=r"$J_r$", xlim=(0, nodes[-1]))
    axes.legend(loc="center right")
    return picture


def simplex(numbers: Numbers) -> Picture:
    """Draw decision values of three classes and their projections to the triangle."""
    picture = plotting.new_picture(4.6, 3.7)
    axes = picture.subplots()
    corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, np.sqrt(3.0)]])
    z, u = numbers["z"] @ corners, numbers["label"] @ corners
    colours = np.array(
        [GREY, SOFT, PURPLE]
    )[(numbers["label"] > 0.0).sum(axis=1) - 1]  # fmt: skip
    axes.fill(*corners.T, color=LIGHT, alpha=0.35, linewidth=0)
    for place, label, colour in zip(z, u, colours, strict=True):
        axes.plot(*np.array([place, label]).T, color=colour, linewidth=0.7, alpha=0.8)
        axes.plot(*place, "o", color=colour, markersize=2.8, markeredgewidth=0)
    names = ("one class", "two classes share it", "all three: free of charge")
    for colour, name in zip((GREY, SOFT, PURPLE), names, strict=True):
        axes.plot([], [], "o-", color=colour, markersize=3.0, linewidth=0.7, label=name)
    for corner, name, side in zip(corners, "012", (-0.14, 0.14, 0.0), strict=True):
        axes.text(
            corner[0] + side, corner[1] + (0.08 if side == 0.0 else -0.1), f"class {name}",
            ha="center", va="center", fontweight="bold", fontsize=8, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
        )  # fmt: skip
    axes.set(aspect="equal")
    axes.set_axis_off()
    picture.legend(loc="outside lower center", ncols=3)
    return picture


def vanishing_ridge(numbers: Numbers) -> Picture:
    """Draw the weights against the ridge, and their limit without one."""
    picture = plotting.new_picture(5.2, 3.1)
    axes = picture.subplots()
    end = 0.3 * numbers["alpha"].min()
    axes.plot(numbers["alpha"], numbers["coef"], color=SOFT, linewidth=1.0)
    axes.plot([], [], color=SOFT, linewidth=1.0, label="the weights with a ridge λ")
    axes.plot(
        np.full(len(numbers["limit"]), end), numbers["limit"], "D", color=INK,
        markersize=3.4, linestyle="", label="λ = 0: the minimiser of least norm",
    )  # fmt: skip
    axes.axhline(0.0, **THIN)
    axes.set(xscale="log", xlabel="λ", ylabel="weight of a column")
    axes.invert_xaxis()
    picture.legend(loc="outside lower center", ncols=2)
    return picture


def leave_one_out(numbers: Numbers) -> Picture:
    """Draw accuracies against the ridge, and the estimated gain of one ridge over another."""
    picture, panels = plotting.facets(2, 2, row_height=3.0)
    left, right = panels
    strength, accuracy = numbers["strength"], numbers["accuracy"]
    styles: tuple[dict[str, Any], ...] = (
        {"color": WRONG, "linestyle": "--", "label": "leave-one-out, intercept and slope"},
        {"color": SOFT, "label": "leave-one-out, slope only"},
        {"color": INK, "linestyle": ":", "label": "test rows"},
    )
    for mean, style in zip(accuracy.mean(axis=0), styles, strict=True):
        left.plot(strength, mean, **style)
    left.set(
        xscale="log", ylim=(-0.03, 1.0), ylabel="accuracy, mean over draws",
        xlabel="ridge, relative to the mean eigenvalue",
    )  # fmt: skip
    weak, strong = (abs(strength - a).argmin() for a in LOO_PAIR)
    estimated, true = (accuracy[:, k, strong] - accuracy[:, k, weak] for k in (1, 2))
    right.plot(estimated, true, "o", color=SOFT, markersize=3.2, alpha=0.6, markeredgewidth=0)
    for draw_line in (right.axhline, right.axvline):
        draw_line(0.0, **THIN)
    right.set(
        xlim=(-0.18, 0.43), ylim=(-0.08, 0.28),
        xlabel="gain in leave-one-out accuracy, slope only", ylabel="gain on test rows",
    )  # fmt: skip
    letter_panels(panels, ["20 labels, 20 columns", "From a ridge of 0.1 to one of 10, by draw"])
    plotting.legend(picture, panels, n_columns=3)
    return picture
