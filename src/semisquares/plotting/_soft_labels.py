"""The soft labels of the unlabeled rows: how many are 0, between, and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._inputs.labels import labeled_mask
from .._utils.typing import Array
from .._utils.words import percent
from ..core.labelings import soft_labels
from ._fitted import read_fitted
from ._pictures import Display
from ._style import BLUE, METHOD_STYLES, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BARS = 20


class SoftLabelsDisplay(Display):
    """Histogram of the soft labels of the unlabeled rows, beside those of the supervised weights.

    The dark parts of the first and last bar are labels of exactly 0 and 1: the decision values of
    these rows lie outside [0, 1], and the rows pull at the weights. Rows in between do not pull.
    With more than two classes, the label of each row's likeliest class is shown.

    Create one with `from_estimator`, or from counts of your own.

    Parameters
    ----------
    counts : array of shape (n_bars,)
        The number of rows in each bar, from label 0 to label 1.
    ends : pair of float
        The shares of all rows whose label is exactly 0 and exactly 1.
    edges : array of shape (n_bars + 1,), optional
        The limits of the bars; by default they have equal widths.
    supervised : array of shape (n_bars,), optional
        The counts with the supervised weights.
    whose : str, default="the second class"
        The class that the labels refer to.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.

    Examples
    --------
    >>> from semisquares.plotting import SoftLabelsDisplay, new_picture
    >>> shown = SoftLabelsDisplay([6, 0, 2, 2], (0.5, 0.0)).plot(new_picture().subplots())
    >>> [text.get_text() for text in shown.ax_.texts]
    ['50 % are 0', '50 % between']
    """

    def __init__(
        self,
        counts: ArrayLike,
        ends: tuple[float, float],
        *,
        edges: ArrayLike | None = None,
        supervised: ArrayLike | None = None,
        whose: str = "the second class",
    ) -> None:
        self.counts = np.asarray(counts, dtype=float)
        self.ends = ends
        self.edges = np.linspace(0, 1, len(self.counts) + 1) if edges is None else np.asarray(edges)
        self.supervised = None if supervised is None else np.asarray(supervised, dtype=float)
        self.whose = whose

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        supervised: bool = True,
        bars: int = BARS,
        ax: Axes | None = None,
    ) -> SoftLabelsDisplay:
        """Draw the labels that a fitted classifier imputed to its unlabeled rows.

        Parameters
        ----------
        estimator : classifier, pipeline or search
            Fitted to X and y.
        X : array-like of shape (n_rows, n_features)
            The rows that it was fitted to.
        y : array-like of shape (n_rows,)
            Their labels as in ``fit``.
        supervised : bool, default=True
            Whether to draw the labels of `supervised_` too, if the classifier has it.
        bars : int, default=20
            The number of bars.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : SoftLabelsDisplay
            Drawn.
        """
        fitted = read_fitted(estimator)
        free = ~labeled_mask(y, getattr(fitted.last, "unlabeled", -1))
        imputed = _of_one_class(fitted.imputed_labels(len(free)))[free]
        if np.isnan(imputed).all():
            raise ValueError(
                f"{fitted.name} imputed no label; fit a classifier that does, such as "
                "SoftLabelClassifier, to a table with unlabeled rows."
            )
        imputed = imputed[~np.isnan(imputed)]
        edges = np.linspace(0.0, 1.0, bars + 1)
        before = None
        if supervised and hasattr(fitted.last, "supervised_"):
            z = fitted.decide(X, by=fitted.last.supervised_) + 0.5
            given = soft_labels(z)
            given = _of_one_class(given[:, 1] if given.shape[1] == 2 else given)
            before = np.histogram(given[free], edges)[0]
        classes = fitted.last.classes_
        display = cls(
            np.histogram(imputed, edges)[0],
            (float(np.mean(imputed <= 0.0)), float(np.mean(imputed >= 1.0))),
            edges=edges,
            supervised=before,
            whose=f"class {classes[1]}" if len(classes) == 2 else "the likeliest class",
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> SoftLabelsDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        self : SoftLabelsDisplay
        """
        outline: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.5}
        with self._drawing(ax, height=3.0) as axes:
            shares = _per_cent(self.counts)
            left, width = self.edges[:-1], np.diff(self.edges)
            axes.bar(left, shares, width, color=SKY, **outline)
            for bar, share in zip((0, -1), self.ends, strict=True):
                if share:  # perhaps of a sample, while the bar counts all rows
                    height = min(100 * share, shares[bar])
                    axes.bar(left[bar], height, width[bar], color=BLUE, **outline)
            self._write_shares(axes)
            if self.supervised is not None:
                one = METHOD_STYLES["supervised"]
                axes.stairs(
                    _per_cent(self.supervised), self.edges, color=one.colour, linestyle=one.line,
                    linewidth=1.2, label="with the supervised weights",
                )  # fmt: skip
                axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.92))
            axes.margins(y=0.15 if self.supervised is None else 0.3)  # for the text on top
            axes.set(xlabel=f"soft label of {self.whose}", ylabel="share of the unlabeled rows, %")
        return self

    def _write_shares(self, axes: Axes) -> None:
        """Write the shares of labels that are 0, between and 1 at the top, if there are any."""
        low, high = self.ends
        texts = (
            (0.0, "left", low, "are 0"),
            (0.5, "center", 1.0 - low - high, "between"),
            (1.0, "right", high, "are 1"),
        )
        for place, side, share, text in texts:
            if share > 0.0:
                axes.text(
                    place, 0.99, f"{percent(share, 0)} {text}", fontsize=7.5, va="top", ha=side,
                    transform=axes.get_xaxis_transform(),
                )  # fmt: skip


def plot_soft_labels(
    estimator: Any, X: Any, y: Any, *, ax: Axes | None = None
) -> SoftLabelsDisplay:
    """Draw the soft labels of the unlabeled rows, beside those of the supervised weights.

    See `SoftLabelsDisplay.from_estimator` for all parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.plotting import new_picture, plot_soft_labels
    >>> X, y = np.array([[-1.0], [1.0], [-1.0], [4.0]]), [0, 1, -1, -1]
    >>> model = SoftLabelClassifier(alpha=0).fit(X, y)
    >>> shown = plot_soft_labels(model, X, y, ax=new_picture().subplots())
    >>> shown.ends                                          # the labels are 9/38 and 1
    (0.0, 0.5)
    """
    return SoftLabelsDisplay.from_estimator(estimator, X, y, ax=ax)


def _of_one_class(labels: Array) -> Array:
    """Return the label of the second class if there are two, else of each row's likeliest."""
    return labels if labels.ndim == 1 else labels.max(axis=1)


def _per_cent(counts: Array) -> Array:
    return 100.0 * counts / max(counts.sum(), 1.0)
