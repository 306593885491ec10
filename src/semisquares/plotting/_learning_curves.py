"""Learning curves: the error as unlabeled or labeled rows are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._curves import band_ends, band_entry, draw_interval_curve, label_sizes, size_positions
from ._fitted import assign_styles
from ._held_out import VARIED, HeldOut
from ._pictures import Display, legend
from ._style import METHOD_STYLES, MethodStyle

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Curve:
    """The error of one method at several numbers of rows, with the ends of its intervals.

    A curve of one point is drawn as a horizontal line: its method ignores these rows.
    """

    style: MethodStyle
    n: ArrayLike
    mean: ArrayLike
    low: ArrayLike
    high: ArrayLike


class LearningCurveDisplay(Display):
    """Error against the number of rows, with bands, for one method or several.

    The x axis is logarithmic; "none" stands one doubling before the first number.

    Create one with `from_estimator` (by cross-validation on the labeled rows), with `from_results`
    (from a stored table), or from curves of your own.

    Parameters
    ----------
    curves : sequence of Curve
        The curves, in the order of the legend.
    x_label, y_label : str
        The labels of the axes.
    bands : str, default="± 2 standard errors"
        The legend entry of the bands.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.
    handles_ : list
        Legend entries besides the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.plotting import Curve, LearningCurveDisplay, method_style, new_picture
    >>> n, error = np.array([0, 100, 400]), np.array([0.3, 0.2, 0.15])
    >>> curve = Curve(method_style("soft"), n, error, error - 0.01, error + 0.01)
    >>> shown = LearningCurveDisplay([curve]).plot(new_picture().subplots())
    >>> [text.get_text() for text in shown.ax_.get_xticklabels()]
    ['400', '100', 'none']
    """

    handles_: list[Artist]

    def __init__(
        self,
        curves: Sequence[Curve],
        *,
        x_label: str = VARIED["unlabeled"],
        y_label: str = "error",
        bands: str = "± 2 standard errors",
    ) -> None:
        self.curves, self.x_label, self.y_label, self.bands = curves, x_label, y_label, bands

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        *,
        vary: str = "unlabeled",
        sizes: ArrayLike | None = None,
        cv: Any = None,
        scoring: Any = None,
        ax: Axes | None = None,
    ) -> LearningCurveDisplay:
        """Cross-validate classifiers at several numbers of rows, and draw their errors.

        The labeled rows are split into training and test rows. With vary="unlabeled" a training set
        has all its labeled rows and some unlabeled rows, with vary="labeled" some of its labeled
        rows and all unlabeled rows. The bands are two standard errors, corrected for overlapping
        training sets (Nadeau and Bengio 2003).

        Parameters
        ----------
        estimators : classifier, list or dict of them
            Clones of them are fitted.
        X : array-like of shape (n_rows, n_features)
            All rows.
        y : array-like of shape (n_rows,)
            Their labels; missing ones are marked as in ``fit``.
        vary : {"unlabeled", "labeled"}, default="unlabeled"
            Which rows are added.
        sizes : array-like of int, optional
            The numbers of added rows; by default all rows, halved repeatedly.
        cv : splitter, optional
            One of `semisquares.model_selection`; by default 20 random halves of the labeled rows.
        scoring : str or callable, optional
            A scikit-learn scorer whose best value is 1; by default the accuracy. The error is one
            minus the score.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            Drawn.
        """
        held_out = HeldOut.split(X, y, vary=vary, sizes=sizes, cv=cv)
        curves = []
        for estimator, style in assign_styles(estimators).values():
            mean, error = held_out.errors(estimator, scoring)
            curves.append(Curve(style, held_out.sizes, mean, *band_ends(mean, error)))
        return cls(curves, x_label=VARIED[vary], y_label="error on held-out labeled rows").plot(ax)

    @classmethod
    def from_results(
        cls,
        table: Any,
        *,
        x: str = "n_unlabeled",
        y: str = "error",
        methods: Mapping[str, MethodStyle] | None = None,
        ax: Axes | None = None,
    ) -> LearningCurveDisplay:
        """Draw the curves of a stored table, such as the rows of one data set of Figure 6.

        Parameters
        ----------
        table : DataFrame
            With the columns ``method``, x, y, and y followed by ``_se``, its standard error.
        x, y : str
            The columns to draw.
        methods : mapping of str to MethodStyle, optional
            The methods and their styles; by default all methods that have a style.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            Drawn.
        """
        missing = [name for name in ("method", x, y, f"{y}_se") if name not in table.columns]
        if missing:
            raise ValueError(
                f"The table has no column {', '.join(missing)}; it has "
                f"{', '.join(map(str, table.columns))}."
            )
        curves = []
        for method, style in (METHOD_STYLES if methods is None else methods).items():
            mine = table[table["method"] == method]
            if len(mine):
                n, mean, error = (mine[name].to_numpy() for name in (x, y, f"{y}_se"))
                curves.append(Curve(style, n, mean, *band_ends(mean, error)))
        if not curves:
            raise ValueError(
                "The table has none of the methods to draw; name its methods with methods."
            )
        labels = {"n_unlabeled": VARIED["unlabeled"], "n_labeled": VARIED["labeled"]}
        return cls(curves, x_label=labels.get(x, x), y_label=y).plot(ax)

    def plot(
        self, ax: Axes | None = None, *, at_most: int = 8, edged: bool = False
    ) -> LearningCurveDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure, with a legend.
        at_most : int, default=8
            The largest number of tick labels on the x axis.
        edged : bool, default=False
            Whether bands have visible edges, which helps if they overlap.

        Returns
        -------
        self : LearningCurveDisplay
        """
        sizes = np.unique(np.concatenate([np.asarray(one.n, dtype=float) for one in self.curves]))
        with self._drawing(ax) as axes:
            for one in self.curves:
                n, mean, low, high = (
                    np.asarray(part, dtype=float) for part in (one.n, one.mean, one.low, one.high)
                )
                if len(n) == 1:
                    n = sizes[[0, -1]]
                    mean, low, high = (np.repeat(part, 2) for part in (mean, low, high))
                x = size_positions(n, sizes)
                draw_interval_curve(axes, x, mean, low, high, one.style, edged=edged)
            label_sizes(axes, sizes, at_most=at_most)
            axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
            axes.set(xlabel=self.x_label, ylabel=self.y_label)
            axes.grid(axis="y")
            self.handles_ = [band_entry(self.bands)]
            if ax is None:
                legend(self.figure_, [axes], n_columns=2, more=self.handles_)
        return self


def plot_learning_curve(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    vary: str = "unlabeled",
    sizes: ArrayLike | None = None,
    cv: Any = None,
    ax: Axes | None = None,
) -> LearningCurveDisplay:
    """Draw the error of classifiers as unlabeled or labeled rows are added.

    See `LearningCurveDisplay.from_estimator` for all parameters.

    Examples
    --------
    >>> from semisquares import LeastSquaresClassifier, SoftLabelClassifier
    >>> from semisquares.paper.datasets import remove_labels, two_gaussians
    >>> from semisquares.plotting import new_picture, plot_learning_curve
    >>> X, truth = two_gaussians(100, 3, random_state=0)
    >>> y = remove_labels(truth, n_labeled=20, random_state=0)
    >>> shown = plot_learning_curve(
    ...     [LeastSquaresClassifier(), SoftLabelClassifier()], X, y, ax=new_picture().subplots()
    ... )
    >>> [curve.style.label for curve in shown.curves], shown.curves[0].n.tolist()
    (['supervised', 'soft labels'], [0, 5, 10, 20, 40, 80])
    """
    return LearningCurveDisplay.from_estimator(
        estimators, X, y, vary=vary, sizes=sizes, cv=cv, ax=ax
    )
