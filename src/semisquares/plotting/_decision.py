"""The decision of a classifier over two columns, and the labels imputed to the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.typing import Array
from ._fitted import read_fitted, style_of
from ._pictures import Display, legend
from ._plane import boundaries, class_codes, grid_points, leads, table_like, two_columns
from ._rows import ENDS, blend, class_style, decision_entries, draw_imputed_rows, draw_labeled_rows
from ._style import METHOD_STYLES, MethodStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


BANDS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The leads at which shades of the background end; from 1 on, one class has the whole label."""
SHADES = (0.06, 0.11, 0.16, 0.21, 0.30)
"""The amount of the class's colour in each shade."""
TINT = 0.1


class DecisionDisplay(Display):
    """Decision of a classifier over two columns, with the rows and their imputed labels.

    The line is the boundary. Between the two dotted lines, shades show soft labels between 0 and 1;
    outside, one class has the whole label, and rows pull at the weights. Large dots are labeled
    rows. Small dots have the colour of their imputed label, grey if all classes have the same
    share. The boundary of the supervised classifier is drawn too.

    Create one with `from_estimator`, or from values of your own.

    Parameters
    ----------
    grid_x, grid_y : array of shapes (m,), (n,)
        The coordinates of the grid.
    values : array of shape (n, m) or (n, m, n_classes)
        Decision values on the grid: one number if binary (above 0 for the second class), else one
        per class.
    rows : array of shape (n_rows, 2), optional
        The rows to draw.
    codes : array of shape (n_rows,), optional
        The class of each row as a number from 0 on; -1 if it has no label.
    imputed : array of shape (n_rows,) or (n_rows, n_classes), optional
        The imputed label of each row, of the second class if binary; NaN if it has none.
    classes : sequence, default=(0, 1)
        The names of the classes.
    style : MethodStyle, optional
        Style and name of the boundary.
    beside : mapping, optional
        Decision values of other methods on the same grid; the keys are names that `method_style`
        knows.
    soft : bool, default=True
        Whether decision values are those of soft labels, so that shades can be drawn.
    names : pair of str
        The names of the two columns.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.
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

    handles_: list[Line2D]

    def __init__(
        self,
        grid_x: Array,
        grid_y: Array,
        values: Array,
        *,
        rows: Array | None = None,
        codes: Array | None = None,
        imputed: Array | None = None,
        classes: Sequence[Any] = (0, 1),
        style: MethodStyle = METHOD_STYLES["soft"],
        beside: Mapping[str, Array] | None = None,
        soft: bool = True,
        names: Sequence[str] = (r"$x_1$", r"$x_2$"),
    ) -> None:
        self.grid_x, self.grid_y, self.values = grid_x, grid_y, values
        self.rows = np.empty((0, 2)) if rows is None else rows
        self.codes = np.full(len(self.rows), -1) if codes is None else codes
        self.imputed = np.full(len(self.rows), np.nan) if imputed is None else imputed
        self.classes, self.style, self.soft, self.names = classes, style, soft, names
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
            Their labels as in ``fit``; if missing, no row is drawn as labeled.
        supervised : bool, default=True
            Whether to draw the boundary of `supervised_` too, if the classifier has it.
        grid : int, default=121
            Number of grid points in each direction.
        margin : float, default=0.06
            Margin around the rows, relative to their extent.
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
        x, x_other = (grid_points(column, margin, grid) for column in rows.T)
        places = np.stack([axis.ravel() for axis in np.meshgrid(x, x_other)], axis=1)
        places = table_like(X, places)

        def on_grid(by: Any = None) -> Array:
            found = fitted.decide(places, by=by)
            return found.reshape(grid, grid, *found.shape[1:])

        beside = {}
        if supervised and hasattr(fitted.last, "supervised_"):
            beside["supervised"] = on_grid(fitted.last.supervised_)
        display = cls(
            x, x_other, on_grid(), rows=rows, codes=codes, imputed=fitted.imputed_labels(len(rows)),
            classes=classes, style=style_of(estimator), beside=beside, soft=fitted.soft,
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
            Whether the background shows soft labels, or only the two sides; by default, it shows
            soft labels if decision values are those of soft labels.
        scale : float, default=1.0
            Relative size of dots and lines.

        Returns
        -------
        self : DecisionDisplay
        """
        shades = self.soft if shades is None else shades
        with self._drawing(ax, height=4.2) as axes:
            self._draw_background(axes, shades, scale)
            for method, values in self.beside.items():
                self._draw_boundary(axes, values, METHOD_STYLES[method], 1.3 * np.sqrt(scale))
            self._draw_boundary(axes, self.values, self.style, 1.9 * np.sqrt(scale))
            self._draw_rows(axes, scale)
            axes.set(
                xlim=(self.grid_x[0], self.grid_x[-1]), ylim=(self.grid_y[0], self.grid_y[-1]),
                xlabel=self.names[0], ylabel=self.names[1],
            )  # fmt: skip
            missing = np.isnan(self._unlabeled())
            self.handles_ = decision_entries(
                self.style, list(self.beside), self.classes, not_imputed=bool(missing.any()),
                imputed=not missing.all(), ends=shades,
            )  # fmt: skip
            if ax is None:
                legend(self.figure_, [], n_columns=2, more=self.handles_)
        return self

    def _unlabeled(self) -> Array:
        """Return the imputed labels of the unlabeled rows."""
        return self.imputed[self.codes < 0]

    def _draw_background(self, axes: Axes, shades: bool, scale: float) -> None:
        from matplotlib.colors import to_rgb

        levels, shares = ((*BANDS, np.inf), SHADES) if shades else ((0.0, np.inf), (TINT,))
        for k, lead in enumerate(leads(self.values)):
            colour = class_style(k)[0]
            ends = [min(level, float(np.abs(lead).max()) + 2.0) for level in levels]
            mixed = [tuple(blend((1.0, 1.0, 1.0), to_rgb(colour), share)) for share in shares]
            axes.contourf(self.grid_x, self.grid_y, lead, levels=ends, colors=mixed, zorder=0)
            if shades:
                dots = {"colors": colour, "linestyles": [ENDS], "linewidths": 1.1 * np.sqrt(scale)}
                self._line(axes, lead, 1.0, **dots)

    def _draw_boundary(self, axes: Axes, values: Array, style: MethodStyle, width: float) -> None:
        """Draw the line where another class takes the lead."""
        line = {"colors": style.colour, "linestyles": [style.line], "linewidths": width}
        for lead in boundaries(values):
            self._line(axes, lead, 0.0, zorder=3, **line)

    def _line(self, axes: Axes, lead: Array, level: float, **line: Any) -> None:
        """Draw the contour of one level, if the level occurs."""
        if np.nanmin(lead) < level < np.nanmax(lead):
            axes.contour(self.grid_x, self.grid_y, lead, levels=[level], **line)

    def _draw_rows(self, axes: Axes, scale: float) -> None:
        draw_imputed_rows(axes, self.rows[self.codes < 0], self._unlabeled(), size=2.8 * scale)
        for code in range(len(self.classes)):
            x, y = self.rows[self.codes == code].T
            draw_labeled_rows(axes, x, y, code, size=8.0 * scale, edge=1.2 * np.sqrt(scale))


def plot_decision(
    estimator: Any, X: Any, y: Any = None, *, ax: Axes | None = None
) -> DecisionDisplay:
    """Draw the decision of a fitted classifier over two columns.

    See `DecisionDisplay.from_estimator` for all parameters.

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
