"""Pictures of the theory pages: each function draws numbers that `theory_numbers` computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semisquares import plotting

from .theory_numbers import TAU, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

SOFT, HARD = plotting.look("soft").colour, plotting.look("hard").colour
WRONG = plotting.VERMILION
THIN: dict[str, Any] = {"color": plotting.LIGHT, "linewidth": 0.8, "zorder": 0.5}
GAP_FLOOR = 1e-12
"""Smaller gaps are drawn here: what lies below is rounding, and differs between processors."""
LOO_PAIR = (0.1, 10.0)
"""Two ridges that are compared with each other."""
REACH = (4.3, 2.9)
"""How far a panel of the common example reaches from the origin."""


def row_cost(numbers: Numbers) -> Picture:
    """Draw what a row is given, and what it costs, at every decision value."""
    picture, panels = plotting.facets(2, 2, row_height=2.7)
    between = f"between, τ = {TAU:g}".replace("0.5", "½")
    looks = {
        "soft": {"color": SOFT, "linewidth": 1.9},
        between: {"color": plotting.PURPLE, "linestyle": (0, (4, 1.2))},
        "hard": {"color": HARD, "linestyle": (0, (6, 1.5, 1, 1.5))},
    }
    for panel, name in zip(panels, ("label", "cost"), strict=True):
        for k, (label, style) in enumerate(looks.items()):
            panel.plot(numbers["z"], numbers[name][k], label=label, **style)
        for end in (0.0, 1.0):
            panel.axvline(end, **THIN)
        panel.set(xlabel="decision value z", xticks=[-0.5, 0, 0.5, 1, 1.5])
    panels[0].set_ylabel("label that is filled in")
    panels[1].set_ylabel("cost of the row")
    plotting.letter(panels, ["The label that costs least", "What is left to pay"])
    plotting.legend(picture, panels, n_columns=3)
    return picture


def convexity(numbers: Numbers) -> Picture:
    """Draw J_l along a label, as it is and as the printed Hessian has it, and J between optima."""
    picture, panels = plotting.facets(2, 2, row_height=2.8)
    left, right = panels
    t = numbers["t"]
    left.plot(t, numbers["curves"][0], color=SOFT, label=r"by the Hessian with $+2I$")
    left.plot(t, numbers["curves"][1], color=WRONG, linestyle="--", label=r"as printed, $-2I$")
    left.plot(t, numbers["measured"], ".", color=plotting.INK, markersize=4.5, label=r"$J_l$")
    left.set(xlabel="change of one label", ylabel=r"$J_l$")
    for k, (name, colour) in enumerate((("soft", SOFT), ("hard", HARD))):
        look = plotting.look(name)
        right.plot(
            numbers["share"], numbers["between"][k], color=colour, linestyle=look.line,
            label=look.label,
        )  # fmt: skip
    for end in (0.0, 1.0):
        right.axvline(end, **THIN)
    right.set(
        xlabel="from one hard optimum (0) to another (1)", ylabel=r"$J$",
        yscale="log", yticks=[1, 10, 100], yticklabels=["1", "10", "100"],
    )  # fmt: skip
    plotting.letter(panels, ["Along a label, Figure 3", "Labels minimised out, Figure 2"])
    for panel in panels:
        panel.legend(loc="best")
    return picture


def active_set(numbers: Numbers) -> Picture:
    """Draw the sides of all rows at the start, after two steps, and at the end."""
    last = len(numbers["w"]) - 1
    steps = [0, 1, 2, last]
    picture, panels = plotting.facets(4, 2, row_height=2.6, sharex=True, sharey=True)
    for panel, step in zip(panels, steps, strict=True):
        moved = numbers["side"][step] != numbers["side"][max(step - 1, 0)]
        _draw_sides(panel, numbers, step, moved & (numbers["y"] < 0))
        name = "supervised" if step == 0 else f"step {step}"
        note = f"{moved.sum()} rows changed side" if step else "the start"
        plotting.headline(panel, f"{name}{', the end' * (step == last)}", note)
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
        markeredgecolor=plotting.INK,
    )  # fmt: skip
    for code in (0, 1):
        panel.plot(
            *X[y == code].T, plotting.CLASS_MARKERS[code], color=plotting.CLASS_COLOURS[code],
            markersize=6.0, markeredgecolor=plotting.BLACK, markeredgewidth=1.0, zorder=4,
        )  # fmt: skip
    for level, style in ((0.0, ":"), (0.5, "-"), (1.0, ":")):
        foot = (level - w[2]) * w[:2] / (w[:2] @ w[:2])
        along = np.array([-w[1], w[0]])
        panel.axline(
            tuple(foot), tuple(foot + along), color=plotting.INK, linestyle=style, linewidth=1.1
        )
    width, height = REACH
    panel.set(xlim=(-width, width), ylim=(-height, height), aspect="equal", xticks=[], yticks=[])


def _side_colours() -> tuple[str, str, str]:
    return plotting.CLASS_COLOURS[0], "#B5B5B5", plotting.CLASS_COLOURS[1]


def _handles_of_sides() -> list[Any]:
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgewidth": 0, "markersize": 4.0}
    names = ("z < 0: active, label 0", "inside: free of charge", "z > 1: active, label 1")
    pairs = zip(_side_colours(), names, strict=True)
    handles = [Line2D([], [], color=colour, label=name, **dot) for colour, name in pairs]
    handles.append(
        Line2D(
            [], [], marker="o", linestyle="", markersize=5.6, markerfacecolor="none",
            markeredgecolor=plotting.INK, markeredgewidth=0.6, label="changed side",
        )
    )  # fmt: skip
    handles.append(Line2D([], [], color=plotting.INK, linewidth=1.1, label="z = ½"))
    handles.append(
        Line2D([], [], color=plotting.INK, linewidth=1.1, linestyle=":", label="z = 0 and z = 1")
    )
    for code in (0, 1):
        handles.append(
            Line2D(
                [], [], marker=plotting.CLASS_MARKERS[code], linestyle="", markersize=6.0,
                color=plotting.CLASS_COLOURS[code], markeredgecolor=plotting.BLACK,
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
        ("block", plotting.ORANGE, "block descent (the paper)"),
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
    """Round gaps to a hundredth of a decade, and lift those below the floor to it."""
    return 10.0 ** np.round(np.log10(np.maximum(gaps, GAP_FLOOR)), 2)


def dial_path(numbers: Numbers) -> Picture:
    """Draw all labels, and the two objectives, as the dial is turned from soft to hard."""
    picture, panels = plotting.facets(2, 2, row_height=2.9)
    left, right = panels
    for code in (0, 1):
        lines = numbers["label"][:, numbers["truth"] == code]
        left.plot(numbers["tau"], lines, color=plotting.CLASS_COLOURS[code], linewidth=0.7)
        left.plot([], [], color=plotting.CLASS_COLOURS[code], label=f"rows of class {code}")
    left.set(xlabel="τ", ylabel="label that is filled in")
    for value, name, colour in zip(numbers["value"], "lr", (SOFT, HARD), strict=True):
        line = "-" if name == "l" else plotting.look("hard").line
        right.plot(
            numbers["tau"], value, color=colour, linestyle=line,
            label=rf"$J_{name}$ at these weights and labels",
        )  # fmt: skip
    right.set(xlabel="τ", ylabel="objective", ylim=(0, None))
    plotting.letter(panels, ["Labels", "Both objectives"])
    plotting.legend(picture, panels, n_columns=2)
    return picture


def branch_and_bound(numbers: Numbers) -> Picture:
    """Draw the best value found and the bound on all others, against the nodes looked at."""
    picture = plotting.new_picture(5.2, 2.9)
    axes = picture.subplots()
    nodes = numbers["nodes"]
    axes.step(nodes, numbers["value"], where="post", color=HARD, label="best labels so far")
    axes.step(
        nodes, numbers["bound"], where="post", color=plotting.BLUE, linestyle="--",
        label="no labels are below",
    )  # fmt: skip
    axes.axhline(numbers["soft"][0], color=SOFT, linestyle=":", label="soft optimum")
    axes.set(xlabel="nodes of the search", ylabel=r"$J_r$", xlim=(0, nodes[-1]))
    axes.legend(loc="center right")
    return picture


def simplex(numbers: Numbers) -> Picture:
    """Draw decision values of three classes, and the points of the triangle they go to."""
    picture = plotting.new_picture(4.6, 3.7)
    axes = picture.subplots()
    corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, np.sqrt(3.0)]])
    z, u = numbers["z"] @ corners, numbers["label"] @ corners
    colours = np.array(
        [plotting.GREY, SOFT, plotting.PURPLE]
    )[(numbers["label"] > 0.0).sum(axis=1) - 1]  # fmt: skip
    axes.fill(*corners.T, color=plotting.LIGHT, alpha=0.35, linewidth=0)
    for place, label, colour in zip(z, u, colours, strict=True):
        axes.plot(*np.array([place, label]).T, color=colour, linewidth=0.7, alpha=0.8)
        axes.plot(*place, "o", color=colour, markersize=2.8, markeredgewidth=0)
    names = ("one class", "two classes share it", "all three: free of charge")
    for colour, name in zip((plotting.GREY, SOFT, plotting.PURPLE), names, strict=True):
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
    """Draw the weights against the ridge, and where they are without one."""
    picture = plotting.new_picture(5.2, 3.1)
    axes = picture.subplots()
    end = 0.3 * numbers["alpha"].min()
    axes.plot(numbers["alpha"], numbers["coef"], color=SOFT, linewidth=1.0)
    axes.plot([], [], color=SOFT, linewidth=1.0, label="the weights with a ridge λ")
    axes.plot(
        np.full(len(numbers["limit"]), end), numbers["limit"], "D", color=plotting.INK,
        markersize=3.4, linestyle="", label="λ = 0: the minimiser of least norm",
    )  # fmt: skip
    axes.axhline(0.0, **THIN)
    axes.set(xscale="log", xlabel="λ", ylabel="weight of a column")
    axes.invert_xaxis()
    picture.legend(loc="outside lower center", ncols=2)
    return picture


def leave_one_out(numbers: Numbers) -> Picture:
    """Draw accuracies against the ridge, and what labels say of two ridges against the truth."""
    picture, panels = plotting.facets(2, 2, row_height=3.0)
    left, right = panels
    strength, accuracy = numbers["strength"], numbers["accuracy"]
    looks: tuple[dict[str, Any], ...] = (
        {"color": WRONG, "linestyle": "--", "label": "leave-one-out, intercept and slope"},
        {"color": SOFT, "label": "leave-one-out, slope only"},
        {"color": plotting.INK, "linestyle": ":", "label": "test rows"},
    )
    for mean, look in zip(accuracy.mean(axis=0), looks, strict=True):
        left.plot(strength, mean, **look)
    left.set(
        xscale="log", ylim=(-0.03, 1.0), ylabel="accuracy, mean over draws",
        xlabel="ridge, relative to the mean eigenvalue",
    )  # fmt: skip
    weak, strong = (abs(strength - a).argmin() for a in LOO_PAIR)
    said, true = (accuracy[:, k, strong] - accuracy[:, k, weak] for k in (1, 2))
    right.plot(said, true, "o", color=SOFT, markersize=3.2, alpha=0.6, markeredgewidth=0)
    for draw_line in (right.axhline, right.axvline):
        draw_line(0.0, **THIN)
    right.set(
        xlim=(-0.18, 0.43), ylim=(-0.08, 0.28),
        xlabel="gain in leave-one-out accuracy, slope only", ylabel="gain on test rows",
    )  # fmt: skip
    plotting.letter(panels, ["20 labels, 20 columns", "From a ridge of 0.1 to one of 10, by draw"])
    plotting.legend(picture, panels, n_columns=3)
    return picture
