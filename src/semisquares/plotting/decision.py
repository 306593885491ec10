"""The decision of a classifier over two columns, and the labels that the rows got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .fitted import own_look, read_fitted
from .looks import LOOKS, Look
from .pictures import drawing_on, legend
from .plane import boundaries, class_codes, leads, reach, table_like, two_columns
from .rows import ENDS, blend, class_look, labeled_dots, legend_of_decision, made_dots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Array = NDArray[Any]

BANDS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The leads at which a shade of the background ends; from 1 on a soft label is all of a class's."""
SHADES = (0.06, 0.11, 0.16, 0.21, 0.30)
"""How much of the colour of its class each shade has."""
TINT = 0.1


class DecisionDisplay:
    """Decision of a classifier over two columns, with the rows and the labels that they got.

    The line is the boundary. Shades between two dotted lines are soft labels between 0 and 1;
    outside, where a label is one class's altogether, a row pulls at the weights. Large dots are
    labeled rows; small ones have the colour of the label that the fit gave them, grey where it is
    equally of all classes. The boundary that the labeled rows alone give is drawn beside it.

    Make one with `from_estimator`, or from values of your own.

    Parameters
    ----------
    grid_x, grid_y : array of shapes (m,), (n,)
        Places of the grid.
    values : array of shape (n, m) or (n, m, n_classes)
        Decision values there: above 0 for the second class, or one for each class.
    rows : array of shape (n_rows, 2), optional
        The rows to draw.
    codes : array of shape (n_rows,), optional
        The class of each as a number from 0 on; -1 where it has no label.
    made : array of shape (n_rows,) or (n_rows, n_classes), optional
        The label that each got: of two classes that of the second; NaN where it got none.
    classes : sequence, default=(0, 1)
        Their names.
    look : Look, optional
        How the boundary looks, and its name.
    beside : mapping, optional
        Decision values on the same grid of other methods, by their names in `LOOKS`.
    soft : bool, default=True
        Whether decision values are those of soft labels, so that shades can be drawn.
    names : pair of str
        The names of the two columns.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    handles_ : list
        Entries for a legend.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.plotting import DecisionDisplay, new_picture
    >>> X = np.array([[-1.0, 0.2], [1.0, 0.1], [-1.2, 0.4], [0.9, -0.3], [2.0, 0.5]])
    >>> model = SoftLabelClassifier().fit(X, ["no", "yes", None, None, None])
    >>> panel = new_picture().subplots()
    >>> shown = DecisionDisplay.from_estimator(
    ...     model, X, ["no", "yes", None, None, None], ax=panel
    ... )
    >>> [str(handle.get_label()) for handle in shown.handles_][:2]
    ['soft labels', 'supervised']
    """

    ax_: Axes
    figure_: Figure
    handles_: list[Line2D]

    def __init__(
        self,
        grid_x: Array,
        grid_y: Array,
        values: Array,
        *,
        rows: Array | None = None,
        codes: Array | None = None,
        made: Array | None = None,
        classes: Sequence[Any] = (0, 1),
        look: Look = LOOKS["soft"],
        beside: Mapping[str, Array] | None = None,
        soft: bool = True,
        names: Sequence[str] = (r"$x_1$", r"$x_2$"),
    ) -> None:
        self.grid_x, self.grid_y, self.values = grid_x, grid_y, values
        self.rows = np.empty((0, 2)) if rows is None else rows
        self.codes = np.full(len(self.rows), -1) if codes is None else codes
        self.made = np.full(len(self.rows), np.nan) if made is None else made
        self.classes, self.look, self.soft, self.names = classes, look, soft, names
        self.beside = {} if beside is None else dict(beside)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        supervised: bool = True,
        grid: int = 121,
        margin: float = 0.06,
        shades: bool | None = None,
        scale: float = 1.0,
        ax: Axes | None = None,
    ) -> DecisionDisplay:
        """Draw the decision of a fitted classifier.

        Parameters
        ----------
        estimator : classifier, pipeline or search
            Fitted to two columns.
        X : array-like of shape (n_rows, 2)
            The rows that it was fitted to.
        y : array-like of shape (n_rows,), optional
            Their labels as in ``fit``; without them no row is drawn as a labeled one.
        supervised : bool, default=True
            Whether to draw the boundary of `supervised_` too, where the classifier has it.
        grid : int, default=121
            Points of the grid in each direction.
        margin : float, default=0.06
            How far the picture reaches beyond the rows, as a share of their extent.
        shades, scale, ax
            As in `plot`.

        Returns
        -------
        display : DecisionDisplay
            Drawn.
        """
        fitted = read_fitted(estimator)
        rows, names = two_columns(X, fitted.name)
        codes, classes = class_codes(y, fitted, len(rows))
        x, x_other = (reach(column, margin, grid) for column in rows.T)
        places = np.stack([axis.ravel() for axis in np.meshgrid(x, x_other)], axis=1)
        places = table_like(X, places)

        def on_grid(by: Any = None) -> Array:
            found = fitted.decide(places, by=by)
            return found.reshape(grid, grid, *found.shape[1:])

        beside = {}
        if supervised and hasattr(fitted.last, "supervised_"):
            beside["supervised"] = on_grid(fitted.last.supervised_)
        display = cls(
            x, x_other, on_grid(), rows=rows, codes=codes, made=fitted.made_labels(len(rows)),
            classes=classes, look=own_look(estimator), beside=beside, soft=fitted.soft,
            names=names,
        )  # fmt: skip
        return display.plot(ax, shades=shades, scale=scale)

    def plot(
        self, ax: Axes | None = None, *, shades: bool | None = None, scale: float = 1.0
    ) -> DecisionDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure, with a legend.
        shades : bool, optional
            Whether the background shows soft labels, or the two sides alone; by default where
            decision values are those of soft labels.
        scale : float, default=1.0
            How large dots and lines are.

        Returns
        -------
        self : DecisionDisplay
        """
        shades = self.soft if shades is None else shades
        with drawing_on(ax, height=4.2) as axes:
            self.ax_, self.figure_ = axes, axes.figure  # type: ignore[assignment]
            self._draw_background(axes, shades, scale)
            for method, values in self.beside.items():
                self._draw_boundary(axes, values, LOOKS[method], 1.3 * np.sqrt(scale))
            self._draw_boundary(axes, self.values, self.look, 1.9 * np.sqrt(scale))
            self._draw_rows(axes, scale)
            axes.set(
                xlim=(self.grid_x[0], self.grid_x[-1]), ylim=(self.grid_y[0], self.grid_y[-1]),
                xlabel=self.names[0], ylabel=self.names[1],
            )  # fmt: skip
            bare = bool(np.isnan(self._unlabeled()).any())
            made = bool(np.isfinite(self._unlabeled()).any())
            self.handles_ = legend_of_decision(
                self.look, list(self.beside), self.classes, bare=bare, made=made, ends=shades
            )
            if ax is None:
                legend(axes.figure, [], n_columns=2, more=self.handles_)  # type: ignore[arg-type]
        return self

    def _unlabeled(self) -> Array:
        """Return the labels that the rows without one got."""
        return self.made[self.codes < 0]

    def _draw_background(self, axes: Axes, shades: bool, scale: float) -> None:
        from matplotlib.colors import to_rgb

        levels, shares = ((*BANDS, np.inf), SHADES) if shades else ((0.0, np.inf), (TINT,))
        for k, lead in enumerate(leads(self.values)):
            colour = class_look(k)[0]
            ends = [min(level, float(np.abs(lead).max()) + 2.0) for level in levels]
            mixed = [tuple(blend((1.0, 1.0, 1.0), to_rgb(colour), share)) for share in shares]
            axes.contourf(self.grid_x, self.grid_y, lead, levels=ends, colors=mixed, zorder=0)
            if shades:
                dots = {"colors": colour, "linestyles": [ENDS], "linewidths": 1.1 * np.sqrt(scale)}
                self._line(axes, lead, 1.0, **dots)

    def _draw_boundary(self, axes: Axes, values: Array, look: Look, width: float) -> None:
        """Draw where the lead passes to another class."""
        line = {"colors": look.colour, "linestyles": [look.line], "linewidths": width}
        for lead in boundaries(values):
            self._line(axes, lead, 0.0, zorder=3, **line)

    def _line(self, axes: Axes, lead: Array, level: float, **looks: Any) -> None:
        """Draw one level, where there is such a place."""
        if np.nanmin(lead) < level < np.nanmax(lead):
            axes.contour(self.grid_x, self.grid_y, lead, levels=[level], **looks)

    def _draw_rows(self, axes: Axes, scale: float) -> None:
        made_dots(axes, self.rows[self.codes < 0], self._unlabeled(), size=2.8 * scale)
        for code in range(len(self.classes)):
            x, y = self.rows[self.codes == code].T
            labeled_dots(axes, x, y, code, size=8.0 * scale, edge=1.2 * np.sqrt(scale))


def plot_decision(
    estimator: Any, X: Any, y: Any = None, *, ax: Axes | None = None
) -> DecisionDisplay:
    """Draw the decision of a fitted classifier over two columns; see `DecisionDisplay`.

    The rest of its options, and what the parameters are, is in `DecisionDisplay.from_estimator`.

    Examples
    --------
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.paper.datasets import remove_labels, two_gaussians
    >>> from semisquares.plotting import new_picture, plot_decision
    >>> X, truth = two_gaussians(60, 2, random_state=0)
    >>> y = remove_labels(truth, n_labeled=8, random_state=0)
    >>> shown = plot_decision(SoftLabelClassifier().fit(X, y), X, y, ax=new_picture().subplots())
    >>> shown.ax_.get_xlabel()
    '$x_1$'
    """
    return DecisionDisplay.from_estimator(estimator, X, y, ax=ax)
