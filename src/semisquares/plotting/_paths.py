"""The path of a solver: J above its lowest value by step, and weights over the contours of J."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._utils.typing import Array
from ..core.labelings import hard, soft
from ..core.linalg import EPS
from ..core.objective import Objective
from ..estimators import HardLabelClassifier
from ._fitted import assign_styles, read_fitted
from ._pictures import Display
from ._runs import (
    BEHIND_TEXT,
    END_COLOURS,
    draw_contours,
    draw_end,
    draw_path,
    draw_runs,
    thin_path,
)
from ._style import MethodStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


KINDS = ("objective", "weights")
MANY = 7
"""With more paths, colours show only where paths end."""
SAME = 0.01
"""Ends that differ by less than this fraction of the picture's width are one."""
GRID = 51


@dataclass(frozen=True, eq=False)
class Path:
    """The path of one fit."""

    style: MethodStyle
    steps: Array
    """The number of each step; 0 is the start."""
    values: Array
    """J after each step, NaN if unknown."""
    weights: Array
    """The weights after each step, of shape (steps, n_weights), with the intercept last."""


class PathDisplay(Display):
    """The path of a solver, step by step, for one fit or several.

    With kind="objective", the display shows J minus the lowest J of all fits, on a logarithmic
    axis. With kind="weights", it shows the weights, if there are two, over the contours of J if X
    and y are given. A ring marks the end of a path.

    Create one with `from_estimator` from fits with ``record_path=True``.

    Parameters
    ----------
    paths : sequence of Path
        The paths.
    kind : {"objective", "weights"}, default="objective"
        What is drawn.
    surface : tuple of three arrays, optional
        The coordinates of a grid, two arrays of shape (n,), and J on it, of shape (n, n).
    names : pair of str
        The names of the two weights.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.

    Examples
    --------
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.paper.datasets import remove_labels, two_gaussians
    >>> from semisquares.plotting import PathDisplay, new_picture
    >>> X, truth = two_gaussians(60, random_state=0)
    >>> y = remove_labels(truth, n_labeled=6, random_state=0)
    >>> fits = {
    ...     name: SoftLabelClassifier(solver=name, record_path=True).fit(X, y)
    ...     for name in ("newton", "block")
    ... }
    >>> shown = PathDisplay.from_estimator(fits, ax=new_picture().subplots())
    >>> len(shown.paths[0].steps) < len(shown.paths[1].steps)
    True
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        kind: str = "objective",
        surface: tuple[Array, Array, Array] | None = None,
        names: Sequence[str] = ("first weight", "second weight"),
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is unknown; take one of {', '.join(KINDS)}.")
        self.paths, self.kind, self.surface, self.names = tuple(paths), kind, surface, names

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "objective",
        ax: Axes | None = None,
    ) -> PathDisplay:
        """Draw the recorded paths of fits.

        Parameters
        ----------
        estimators : classifier, list or dict of them
            Fitted with ``record_path=True``.
        X, y : array-like, optional
            The rows and labels of the fits, for the contours of the first fit's J.
        kind : {"objective", "weights"}, default="objective"
            What is drawn.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : PathDisplay
            Drawn.
        """
        given = list(assign_styles(estimators).values())
        paths = [_read_path(one, style) for one, style in given]
        display = cls(paths, kind=kind)
        if kind == "weights":
            wide = {path.weights.shape[1] for path in paths}
            if wide != {2}:
                raise ValueError(
                    f"A fit has {max(wide)} weights, but a picture shows two; fit one column with "
                    "an intercept or two without, or take kind='objective'."
                )
            first = read_fitted(given[0][0]).last
            display.names = ("weight", "intercept") if first.fit_intercept else ("$w_1$", "$w_2$")
            if X is not None:
                display.surface = _surface(first, X, y, paths)
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> PathDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        self : PathDisplay
        """
        with self._drawing(ax) as axes:
            if self.kind == "objective":
                self._draw_objective(axes)
            else:
                self._draw_weights(axes)
            if len(self.paths) <= MANY:
                axes.legend(loc="lower left" if self.kind == "objective" else "best")
        return self

    def _draw_objective(self, axes: Axes) -> None:
        lowest = min(np.nanmin(path.values) for path in self.paths)
        floor = EPS * max(np.nanmax(path.values) for path in self.paths)
        for path in self.paths:
            known = np.isfinite(path.values)
            above = np.maximum(path.values[known] - lowest, floor)
            few = known.sum() <= 30
            axes.plot(
                path.steps[known], above, color=path.style.colour, linestyle=path.style.line,
                marker=path.style.marker if few else "", markeredgewidth=0, label=path.style.label,
            )  # fmt: skip
        axes.set(xlabel="step", ylabel="J above the lowest", xscale="log", yscale="log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="y")

    def _draw_weights(self, axes: Axes) -> None:
        if self.surface is not None:
            draw_contours(axes, *self.surface)
        if len(self.paths) > MANY:
            self._draw_runs(axes)
        for path in self.paths if len(self.paths) <= MANY else ():
            draw_path(axes, path.weights, path.style.colour, label=path.style.label)
            draw_end(axes, path.weights[-1], path.style.colour)
        axes.set(xlabel=self.names[0], ylabel=self.names[1])

    def _draw_runs(self, axes: Axes) -> None:
        """Draw many paths; those with the same end share a colour, the most frequent end first."""
        ends = np.array([path.weights[-1] for path in self.paths])
        lines = [thin_path(path.weights) for path in self.paths]
        apart = SAME * np.ptp(np.vstack(lines), axis=0).max()
        first = (np.abs(ends[:, None] - ends[None]).max(axis=2) <= apart).argmax(axis=1)
        places, counts = np.unique(first, return_counts=True)
        colours = cycle(dict.fromkeys((self.paths[0].style.colour, *END_COLOURS)))
        for place in places[np.argsort(-counts, kind="stable")]:
            colour = next(colours)
            draw_runs(axes, [lines[k] for k in np.flatnonzero(first == place)], colour)
            draw_end(axes, ends[place], colour)
            axes.annotate(
                f"{(first == place).sum()} runs", ends[place], xytext=(0, 7), va="bottom",
                ha="center", textcoords="offset points", zorder=6, bbox=BEHIND_TEXT,
            )  # fmt: skip


def plot_path(
    estimators: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = "objective",
    ax: Axes | None = None,
) -> PathDisplay:
    """Draw the path of a solver, for one fit or several with ``record_path=True``.

    See `PathDisplay.from_estimator` for the parameters.

    Examples
    --------
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.plotting import new_picture, plot_path
    >>> model = SoftLabelClassifier(alpha=0, record_path=True)
    >>> model = model.fit([[-1.0], [1.0], [-1.0], [4.0]], [0, 1, -1, -1])
    >>> shown = plot_path(model, kind="weights", ax=new_picture().subplots())
    >>> shown.ax_.get_xlabel(), shown.ax_.get_ylabel()
    ('weight', 'intercept')
    """
    return PathDisplay.from_estimator(estimators, X, y, kind=kind, ax=ax)


def evaluate_objective(objective: Objective, weights: Array) -> Array:
    """Evaluate J at many weights, an array of shape (n, n_weights)."""
    rows, labeling = objective.rows, objective.labeling
    return np.array(
        [rows.loss(rows.decisions(w), labeling) + float(objective.ridge(w)) for w in weights]
    )


def _read_path(estimator: Any, style: MethodStyle) -> Path:
    """Return the recorded path of a fit, preceded by its starting weights if known."""
    fitted = read_fitted(estimator)
    model = fitted.last
    if not hasattr(model, "path_"):
        raise ValueError(f"{fitted.name} has no recorded path; fit it again with record_path=True.")
    weights = np.array([np.ravel(step.w) for step in model.path_])
    steps = np.array([step.iteration for step in model.path_])
    values = np.array([step.value for step in model.path_])
    start = _start(model)
    if not len(steps):  # the fit started at the optimum
        weights = _optimum(model)[None]
        steps, values = np.array([1]), np.array([model.objective_])
    elif start is not None and steps[0] > 0 and start.size == weights.shape[1]:
        weights = np.vstack((start, weights))
        steps, values = np.append(0, steps), np.append(np.nan, values)
    return Path(style, steps, values, weights)


def _start(model: Any) -> Array | None:
    """Return the weights that a fit started from; None if it started from labels, or is unknown."""
    init = getattr(model, "init", "supervised")
    if isinstance(init, str) and init == "supervised":
        # a tuned fit starts from the ridge with its own alpha, which is not kept
        same = getattr(model, "supervised_alpha_", None) == getattr(model, "alpha_", None)
        return _optimum(model.supervised_) if same else None
    if not isinstance(init, tuple):
        return None
    coef, intercept = init
    return _weights(coef, intercept, model.fit_intercept)


def _optimum(model: Any) -> Array:
    """Return the weights that minimise J: a tuned fit shifts the intercept after that."""
    intercept = model.intercept_ - getattr(model, "intercept_shift_", 0.0)
    return _weights(model.coef_, intercept, model.fit_intercept)


def _weights(coef: Any, intercept: Any, fit_intercept: bool) -> Array:
    coef, intercept = (np.asarray(part, dtype=float).ravel() for part in (coef, intercept))
    return np.append(coef, intercept + 0.5) if fit_intercept else coef


def _surface(model: Any, X: Any, y: Any, paths: Sequence[Path]) -> tuple[Array, Array, Array]:
    """Evaluate the objective of a fit on a grid around paths."""
    points = np.vstack([path.weights for path in paths])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.15 * np.maximum(high - low, 0.1)
    first, second = np.linspace(low - margin, high + margin, GRID).T
    grid = np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
    tuned = "_" if hasattr(model, "alpha_") else ""
    alpha, weight = (
        float(getattr(model, f"{name}{tuned}")) for name in ("alpha", "unlabeled_weight")
    )
    problem = clone(model)._read(X, y, None, unlabeled_weight=weight, ridge=alpha > 0.0)
    labeling = (hard if isinstance(model, HardLabelClassifier) else soft)(2)
    objective = Objective(problem.rows, labeling, alpha)
    n_columns = 1 if model.fit_intercept else 2
    last = grid[:, 1] - 0.5 if model.fit_intercept else np.full(len(grid), -0.5)
    pairs = [problem.from_user(w[:n_columns], b) for w, b in zip(grid, last, strict=True)]
    return first, second, evaluate_objective(objective, np.array(pairs)).reshape(GRID, GRID)
