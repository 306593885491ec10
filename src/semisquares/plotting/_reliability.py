"""Reliability: how often predictions are right, against their probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._inputs.dask import computed
from .._utils.typing import Array
from .._utils.words import counted
from ._fitted import read_fitted
from ._pictures import Display
from ._plane import class_codes
from ._rows import shares_of_classes
from ._style import GREEN, GREY, INK, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BINS = 10
LEVEL = 0.95
HISTOGRAM = 0.22
"""Height of the tallest bar of the histogram of rows, as a fraction of the axes."""


class ReliabilityDisplay(Display):
    """Accuracy against the probability of the predicted class, in bins of equal width.

    A dot is a bin: the mean probability of its rows, and the share of them that was predicted
    right, with its 95 % Wilson interval. The dots of a calibrated classifier lie on the diagonal,
    except for chance. Grey bars and the numbers on them show how many rows each bin holds.

    The expected calibration error is the mean distance of dots from the diagonal, weighted by their
    rows. With few rows it is far from 0 even if all probabilities are right; `chance` is its mean
    in that case.

    Create one with `from_estimator`, for the labeled rows of an average, with `from_predictions`,
    for any rows with known classes, or from values of your own.

    Parameters
    ----------
    counts : array of shape (n_bins,)
        The number of rows in each bin.
    confidence : array of shape (n_bins,)
        The mean probability of the predicted class in each bin; ignored if it has no rows.
    accuracy : array of shape (n_bins,)
        The share of rows in each bin that was predicted right.
    edges : array of shape (n_bins + 1,), optional
        The limits of the bins; by default they have equal widths.
    n_classes : int, default=2
        The number of classes: the probability of a predicted class is at least 1 / n_classes.

    Attributes
    ----------
    calibration_error, chance : float
        The expected calibration error, and its mean if all probabilities were right.
    ax_, figure_ : Axes, Figure
        The axes and figure of the last plot.

    Examples
    --------
    >>> from semisquares.plotting import ReliabilityDisplay, new_picture
    >>> p = [[0.9, 0.1], [0.1, 0.9], [0.92, 0.08], [0.6, 0.4]]
    >>> shown = ReliabilityDisplay.from_predictions(
    ...     ["a", "b", "b", "a"], p, ax=new_picture().subplots()
    ... )
    >>> shown.counts.tolist()
    [0, 0, 0, 0, 0, 0, 1, 0, 0, 3]
    >>> f"{shown.calibration_error:.3f}"
    '0.280'
    """

    def __init__(
        self,
        counts: ArrayLike,
        confidence: ArrayLike,
        accuracy: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        n_classes: int = 2,
    ) -> None:
        self.counts = np.asarray(counts)
        self.confidence = np.asarray(confidence, dtype=float)
        self.accuracy = np.asarray(accuracy, dtype=float)
        self.edges = np.linspace(0, 1, len(self.counts) + 1) if edges is None else np.asarray(edges)
        self.n_classes = n_classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, y: Any, *, bins: int = BINS, ax: Axes | None = None
    ) -> ReliabilityDisplay:
        """Draw the reliability of an average on its labeled rows, from leave-one-out predictions.

        Parameters
        ----------
        estimator : AveragedClassifier, or pipeline or search that ends in one
            Fitted.
        y : array-like of shape (n_rows,)
            The labels that it was fitted to, including the missing ones.
        bins : int, default=10
            The number of bins between 0 and 1.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            Drawn.
        """
        fitted = read_fitted(estimator)
        if not hasattr(fitted.last, "loo_proba_"):
            raise ValueError(
                f"{fitted.name} has no out-of-sample probabilities; give a fitted "
                "AveragedClassifier, or use from_predictions with rows that were kept back."
            )
        y, rows = computed(y), fitted.last.loo_indices_
        codes, _ = class_codes(y, fitted, len(y))
        if len(codes) <= rows[-1] or (codes[rows] < 0).any():
            raise ValueError(
                f"y does not have the labels that {fitted.name} was fitted to; pass the same y."
            )
        return cls._of_codes(codes[rows], fitted.last.loo_proba_, bins).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        bins: int = BINS,
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the reliability of probabilities for rows with known classes.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The true classes.
        proba : array-like of shape (n_rows, n_classes) or (n_rows,)
            The probability of each class, or of the second one if there are two.
        classes : array-like of shape (n_classes,), optional
            The class of each column, such as `classes_` of a classifier; by default the classes in
            y, sorted.
        bins : int, default=10
            The number of bins between 0 and 1.
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            Drawn.
        """
        y, proba = np.asarray(computed(y)), shares_of_classes(computed(proba))
        names = (np.unique(y) if classes is None else np.asarray(classes)).tolist()
        if proba.shape != (len(y), len(names)):
            raise ValueError(
                f"proba has shape {proba.shape}, but y has {len(y)} rows and there are "
                f"{len(names)} classes; give one row for each label and one column for each "
                "class."
            )
        codes = np.array([names.index(one) if one in names else -1 for one in y.tolist()], int)
        if (codes < 0).any():
            odd = y[codes < 0].tolist()[0]
            raise ValueError(
                f"y holds {odd!r}, which is not one of the classes {names}; leave it out."
            )
        return cls._of_codes(codes, proba, bins).plot(ax)

    @classmethod
    def _of_codes(cls, codes: Array, proba: Array, bins: int) -> ReliabilityDisplay:
        """Sort rows into bins by the probability of their predicted class."""
        sure, right = proba.max(axis=1), proba.argmax(axis=1) == codes
        edges = np.arange(bins + 1) / bins
        place = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, bins - 1)
        counts = np.bincount(place, minlength=bins)
        filled = np.maximum(counts, 1)
        confidence = np.bincount(place, sure, minlength=bins) / filled
        accuracy = np.bincount(place, right, minlength=bins) / filled
        return cls(counts, confidence, accuracy, edges=edges, n_classes=proba.shape[1])

    @property
    def calibration_error(self) -> float:
        """The mean distance between accuracy and confidence, over all rows."""
        return float(self._share @ abs(self.accuracy - self.confidence))

    @property
    def chance(self) -> float:
        """The mean calibration error of as many rows if the probability of each bin were right."""
        n, p = self.counts, self.confidence
        # De Moivre's formula for the mean absolute deviation of a binomial
        above = np.floor(n * p) + 1.0
        distance = 2.0 * above * (1.0 - p) * stats.binom.pmf(above, n, p)
        return float(np.sum(distance) / max(n.sum(), 1))

    @property
    def note(self) -> str:
        """A note on the number of rows and the calibration error to expect by chance."""
        rows = counted(int(self.counts.sum()), "row")
        return f"{rows}; right probabilities would show about {self.chance:.3f}"

    @property
    def _share(self) -> Array:
        return self.counts / max(self.counts.sum(), 1)

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        self : ReliabilityDisplay
        """
        with self._drawing(ax, width=4.8, height=4.2) as axes:
            low = self.edges[self.edges <= 1.0 / self.n_classes + 1e-9][-1]
            axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=1)
            self._draw_histogram(axes)
            filled = self.counts > 0
            sure, right = self.confidence[filled], self.accuracy[filled]
            below, above = _wilson(right, self.counts[filled])
            axes.vlines(sure, below, above, color=GREEN, linewidth=1.2, zorder=2)
            axes.plot(sure, right, "o", color=GREEN, markersize=5.0, zorder=3, clip_on=False)
            axes.set(
                xlim=(low, 1.0), ylim=(0.0, 1.0), ylabel="share of rows predicted right",
                xlabel=f"probability of the predicted class\n{self.note}",
                title=f"Expected calibration error {self.calibration_error:.3f}",
            )  # fmt: skip
        return self

    def _draw_histogram(self, axes: Axes) -> None:
        """Draw the number of rows in each bin."""
        heights = HISTOGRAM * self.counts / max(self.counts.max(initial=0), 1)
        axes.bar(
            self.edges[:-1], heights, np.diff(self.edges), align="edge", color=LIGHT,
            edgecolor="white", linewidth=0.5, zorder=0,
        )  # fmt: skip
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        for middle, height, count in zip(middles, heights, self.counts, strict=True):
            if count:
                axes.text(
                    middle, height + 0.008, f"{count:,}", ha="center", va="bottom", fontsize=7.0,
                    color=INK, zorder=4,
                )  # fmt: skip


def plot_reliability(estimator: Any, y: Any, *, ax: Axes | None = None) -> ReliabilityDisplay:
    """Draw the accuracy of an average on its labeled rows, against its probabilities.

    The probabilities are leave-one-out (`loo_proba_`). See `ReliabilityDisplay.from_estimator` for
    all parameters, and `ReliabilityDisplay.from_predictions` for held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import AveragedClassifier
    >>> from semisquares.plotting import new_picture, plot_reliability
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.where(np.arange(60) < 20, X[:, 0] > 0, -1)
    >>> model = AveragedClassifier("least_squares", representations="linear").fit(X, y)
    >>> shown = plot_reliability(model, y, ax=new_picture().subplots())
    >>> int(shown.counts.sum())
    20
    """
    return ReliabilityDisplay.from_estimator(estimator, y, ax=ax)


def _wilson(share: Array, n: Array) -> tuple[Array, Array]:
    """Return the ends of Wilson's interval for a probability, given an observed share."""
    z = stats.norm.ppf(0.5 + LEVEL / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half
