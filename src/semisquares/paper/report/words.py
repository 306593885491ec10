"""What was run, in words: the settings of each figure as a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from ..._utils.words import counted, percent
from ..figures.fig4_failure import NAMED_SEEDS
from ..figures.fig5_local_optima import N_STARTS, TEST_SHARE, UNLABELED_SHARE
from ..figures.figure import Figure, Settings
from ..figures.ridge import ALPHAS
from ..figures.rivals_methods import METHODS

PRESETS = {
    "authors": "what made the published figures",
    "paper": "what the paper's text says",
    "quick": "minutes of work, for demonstrations and tests",
}

PLACES = {f"fig{number}": f"Figure {number}" for number in range(1, 7)}
BEYOND = "Beyond the paper"

VIEWS = {
    "fig4": {"example": "The published example", "seeds": "The same for other seeds"},
    "fig5": {"accuracy": "Accuracy", "objective": "The objective J beside the accuracy"},
    "fig6": {"error": "Classification error, as published", "loss": "Squared loss"},
    "ridge": {"error": "Classification error", "loss": "Squared loss"},
    "fractions": {"error": "Classification error", "loss": "Squared loss"},
    "rivals": {
        "overview": "Mean error over the data sets",
        "least_squares": "Error on each data set: least squares",
        "discriminants": "Error on each data set: discriminants",
        "others": "Error on each data set: margins and graphs",
        "ranks": "Mean ranks, and which of them a test tells apart",
        "pairs": "Each method against each other",
    },
}

_SEEDLESS = ("fig1", "fig2", "fig3", "fig4")
"""Figures that R's generator, or nothing random at all, makes."""


def place(figure: Figure) -> str:
    """Return where a figure is in the paper."""
    return PLACES.get(figure.name, BEYOND)


def view_title(figure: Figure, view: str) -> str:
    """Return what a view is called; empty for the only one."""
    if len(figure.views) == 1:
        return ""
    return VIEWS.get(figure.name, {}).get(view, view.replace("_", " ").capitalize())


def what_was_run(settings: Settings) -> str:
    """Say what was computed."""
    say = _SAYINGS.get(settings.figure)
    return say(settings) if say else f"{counted(settings.repeats, 'repeat')}."


def randomness(settings: Settings) -> str:
    """Say what the seed does."""
    if settings.figure in _SEEDLESS:
        return "The seed changes nothing here."
    return f"Seed {settings.seed}; each piece of work has random numbers of its own."


def command(figure: Figure, settings: Settings) -> str:
    """Return the command that runs a figure alone."""
    usual = figure.settings(settings.preset, seed=settings.seed)
    words = ["semisquares", "reproduce", figure.name, "--preset", settings.preset]
    words += ["--seed", str(settings.seed)]
    if settings.datasets != usual.datasets:
        words += ["--datasets", ",".join(settings.datasets)]
    if settings.repeats != usual.repeats:
        words += ["--repeats", str(settings.repeats)]
    return shlex.join([*words, "--out", "DIR"])


def _sets(settings: Settings) -> str:
    return counted(len(settings.datasets), "data set")


def _fig2(settings: Settings) -> str:
    return (
        "Block descent with soft and with hard labels, and Newton's method with soft ones, each "
        f"from the supervised weights and from {counted(settings.repeats, 'start')} "
        "around them, on the data of Figure 1."
    )


def _fig4(settings: Settings) -> str:
    named = [str(seed) for seed in NAMED_SEEDS if seed <= settings.repeats]
    marked = f" (marked in the picture: {', '.join(named)})" if named else ""
    return (
        "The published example, where soft labels are run as published, to the end by block "
        f"descent, and exactly; and the same draw for the seeds 1 to {settings.repeats} of R's "
        f"generator{marked}."
    )


def _fig5(settings: Settings) -> str:
    resamples = counted(settings.repeats, "resample")
    return (
        f"{resamples} of {_sets(settings)}, raw features. In each, "
        f"{percent(TEST_SHARE[settings.preset], 0)} of the rows are for testing and "
        f"{percent(UNLABELED_SHARE, 0)} of the others lose their label; {N_STARTS} random starts "
        "and the supervised one, for soft labels by block descent, soft labels solved exactly, and "
        "hard labels."
    )


def _fig6(settings: Settings) -> str:
    most = "1, 2, 4, … 256" if settings.preset == "paper" else "2, 4, 8, … 1024"
    return (
        f"{counted(settings.repeats, 'repeat')} on each of {_sets(settings)}, with "
        f"{most} unlabeled rows as far as there are rows; supervised, soft, hard, and the oracle "
        "that knows the labels of the unlabeled rows."
    )


def _ridge(settings: Settings) -> str:
    return (
        f"{counted(settings.repeats, 'repeat')} on each of {_sets(settings)}, drawn as "
        f"in Figure 6; ridges of λ = {', '.join(f'{alpha:g}' for alpha in ALPHAS)}, a supervised "
        "ridge tuned by leave-one-out, and hard labels that start at the soft solution. The "
        "intercept is free."
    )


def _fractions(settings: Settings) -> str:
    return (
        f"{counted(settings.repeats, 'repeat')} on each of {_sets(settings)}: 20 % of "
        "the rows are for testing, and 10, 20, … 90 % of the others have labels."
    )


def _rivals(settings: Settings) -> str:
    most = "1, 4, 16, 64, 256" if settings.preset == "paper" else "2, 8, 32, 128, 512"
    return (
        f"{counted(settings.repeats, 'repeat')} on each of {_sets(settings)}, drawn as "
        f"in Figure 6, with {most} unlabeled rows as far as there are rows; {len(METHODS)} "
        "methods, and regression with missing outcomes beside them. The intercept is free."
    )


_SAYINGS: dict[str, Callable[[Settings], str]] = {
    "fig1": lambda settings: (
        "The published points, from R's generator (seed 4), re-created here. Nothing else is "
        "random."
    ),
    "fig2": _fig2,
    "fig3": lambda settings: "Arithmetic with fractions. Nothing is random, and nothing rounded.",
    "fig4": _fig4,
    "fig5": _fig5,
    "fig6": _fig6,
    "ridge": _ridge,
    "fractions": _fractions,
    "rivals": _rivals,
}
