"""The paper's generated data: two Gaussians, classes by x1 > x2, labels removed at random.

Some functions follow scikit-learn's conventions; the `published_` functions re-create the data of
Figures 1, 2 and 4 from R's random numbers (`RRandom`), equal to the authors' data to twelve digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..._utils.typing import Array
from ._r_random import RRandom

UNLABELED = -1
PUBLISHED_SEED = 4
VARIANCE = 0.2


def two_gaussians(
    n_samples: int = 400,
    n_features: int = 1,
    *,
    variance: float = VARIANCE,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Draw rows of two classes: class 0 around −1 and class 1 around +1 in every feature.

    Half of the rows, the first ones, are of class 0 (one more than half if `n_samples` is odd).

    Parameters
    ----------
    n_samples : int, default=400
    n_features : int, default=1
    variance : float, default=0.2
        Of each feature within a class.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,), of 0 and 1

    Examples
    --------
    >>> X, y = two_gaussians(6, 2, random_state=0)
    >>> X.shape, y.tolist()
    ((6, 2), [0, 0, 0, 1, 1, 1])
    """
    _check_count("n_samples", n_samples, 2)
    _check_count("n_features", n_features, 1)
    if not isinstance(variance, int | float | np.number) or not 0.0 <= variance < np.inf:
        raise ValueError(f"variance={variance!r} is not a variance; give a number of at least 0.")
    y = np.repeat([0, 1], [n_samples - n_samples // 2, n_samples // 2])
    noise = _generator(random_state).standard_normal((n_samples, n_features))
    return 2.0 * y[:, None] - 1.0 + math.sqrt(variance) * noise, y


def diagonal_classes(
    n_samples: int = 1000, *, variance: float = VARIANCE, random_state: Any = None
) -> tuple[Array, Array]:
    """Draw two clouds in the plane that the classes cut lengthwise: class 1 is x1 > x2.

    The clouds are those of `two_gaussians`. A classifier that takes them for the classes is wrong
    on half of the rows, which is what happens to hard labels in Figure 4.

    Parameters
    ----------
    n_samples : int, default=1000
    variance : float, default=0.2
        Of each feature within a cloud.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,), of 0 and 1

    Examples
    --------
    >>> X, y = diagonal_classes(4, random_state=0)
    >>> bool(((X[:, 0] > X[:, 1]) == y).all())
    True
    """
    X, _ = two_gaussians(n_samples, 2, variance=variance, random_state=random_state)
    return X, _by_diagonal(X)


def remove_labels(
    y: ArrayLike,
    *,
    n_labeled: int | None = None,
    fraction: float | None = None,
    random_state: Any = None,
) -> Array:
    """Remove labels at random; return a copy of y with −1 for every removed label.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes as whole numbers, or bools, which become 0 and 1.
    n_labeled : int, optional
        The number of labels to keep; give this or `fraction`.
    fraction : float, optional
        The share of labels to remove: ``ceil(fraction * n_samples)`` of them, as in the paper.
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> y = remove_labels([0, 0, 1, 1, 1], fraction=0.5, random_state=0)
    >>> int((y == -1).sum())
    3
    """
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "biu":
        raise ValueError(
            f"y has shape {y.shape} and dtype {y.dtype}; give one whole number per row, such as "
            "LabelEncoder().fit_transform(y)."
        )
    y = y.astype(np.int64)  # a copy; and a bool or an unsigned y could not hold -1
    if (y == UNLABELED).any():
        raise ValueError("y holds -1, which marks a row without a label; number classes from 0 on.")
    n_removed = _count_removed(len(y), n_labeled, fraction)
    y[_generator(random_state).permutation(len(y))[:n_removed]] = UNLABELED
    return y


@dataclass(frozen=True, eq=False)
class PublishedLine:
    """The data of Figure 1: class 0 around −1, class 1 around +1."""

    X: Array
    """The 400 points, of shape (400, 1)."""
    y: Array
    """The four labels, −1 for the rest."""
    truth: Array
    """All labels."""


@dataclass(frozen=True, eq=False)
class PublishedPlane:
    """The data of Figure 4, or the same for another seed: class 1 is x1 > x2."""

    X: Array
    y: Array
    """The five labels, −1 for the rest."""
    truth: Array
    X_test: Array
    y_test: Array


def published_line(seed: int = PUBLISHED_SEED) -> PublishedLine:
    """Draw the data of Figure 1 as the authors did.

    There are 200 points around −1 and 200 around +1, and 99 % of the labels are removed.

    Examples
    --------
    >>> line = published_line()
    >>> line.X[line.y >= 0].ravel().round(3).tolist(), line.y[line.y >= 0].tolist()
    ([-1.417, -0.72, 1.382, 0.519], [0, 0, 1, 1])
    """
    return _draw_line(RRandom(seed))


def published_starts(seed: int = PUBLISHED_SEED, *, n_starts: int = 100) -> Array:
    """Draw the noise of Figure 2, which is added to intercept and slope of each start.

    The stream continues that of Figure 1, after 400 uniform numbers that the authors' session used
    in between.

    Examples
    --------
    >>> published_starts(n_starts=2).round(3).tolist()
    [[-0.424, -1.021], [-0.625, 0.994]]
    """
    stream = RRandom(seed)
    _draw_line(stream)
    stream.uniform(400)
    return stream.normal(2 * n_starts).reshape(n_starts, 2)


def published_plane(seed: int = PUBLISHED_SEED) -> PublishedPlane:
    """Draw the data of Figure 4 as the authors did: 1000 points, five labels, 400 test points.

    Examples
    --------
    >>> plane = published_plane()
    >>> plane.X.shape, plane.y[plane.y >= 0].tolist(), plane.X_test.shape
    ((1000, 2), [1, 1, 1, 0, 1], (400, 2))
    """
    stream = RRandom(seed)
    X = _draw_clouds(stream, 1000)
    truth = _by_diagonal(X)
    y = _remove(truth, stream, 995)
    X_test = _draw_clouds(stream, 400)
    return PublishedPlane(X, y, truth, X_test, _by_diagonal(X_test))


def _draw_line(stream: RRandom) -> PublishedLine:
    truth = np.repeat([0, 1], 200)
    X = 2.0 * truth - 1.0 + math.sqrt(VARIANCE) * stream.normal(400)
    return PublishedLine(X[:, None], _remove(truth, stream, 396), truth)


def _draw_clouds(stream: RRandom, n: int) -> Array:
    """Draw n points in the plane: first half of them around (−1, −1), then half around (1, 1).

    R fills the noise column by column and rotates it to principal axes: x2 gets the first column,
    x1 the second one with its sign changed.
    """
    clouds = []
    for centre in (-1.0, 1.0):
        first, second = math.sqrt(VARIANCE) * stream.normal(n).reshape(2, n // 2)
        clouds.append(np.column_stack((centre - second, centre + first)))
    return np.vstack(clouds)


def _remove(truth: Array, stream: RRandom, n_removed: int) -> Array:
    y = truth.copy()
    y[stream.sample(len(truth), n_removed) - 1] = UNLABELED
    return y


def _by_diagonal(X: Array) -> Array:
    return (X[:, 0] > X[:, 1]).astype(np.intp)


def _count_removed(n: int, n_labeled: int | None, fraction: float | None) -> int:
    if (n_labeled is None) == (fraction is None):
        raise ValueError(
            f"n_labeled={n_labeled!r} and fraction={fraction!r} were given; give exactly one: the "
            "number of labels to keep, or the share to remove."
        )
    if fraction is not None:
        if not isinstance(fraction, int | float | np.number) or not 0.0 <= fraction <= 1.0:
            raise ValueError(f"fraction={fraction!r} is not a share; give a number from 0 to 1.")
        return math.ceil(fraction * n)
    if not isinstance(n_labeled, int | np.integer) or not 0 <= n_labeled <= n:
        raise ValueError(f"n_labeled={n_labeled!r} of {n} labels cannot be kept; give 0 to {n}.")
    return n - int(n_labeled)


def _check_count(name: str, given: Any, least: int) -> None:
    if not isinstance(given, int | np.integer) or given < least:
        raise ValueError(f"{name}={given!r} is too few; give a whole number of at least {least}.")


def _generator(random_state: Any) -> Any:
    """Return a Generator unchanged, and treat anything else as scikit-learn does."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)
