"""The authors' preprocessing, one function per step.

Figure 5 uses the first two steps (`features`), Figure 6 all five (`learning_curve_table`):

1. `fill_missing`: by the median of a numeric column, or the mode of a factor;
2. `encode_factors`: one column of 0 and 1 per level of a factor, except for its first level;
3. `drop_constant_columns`;
4. `standardise`: mean 0, variance 1 with the divisor n−1;
5. `principal_components`: the fewest with at least 99 % of the variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .catalogue import find
from .loading import Folder, load

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]


def features(
    name: str, *, text_columns: bool = False, data_home: Folder = None
) -> tuple[Matrix, Labels]:
    """Return a data set with missing values filled and factors encoded, and its classes.

    Parameters
    ----------
    name : str
        As for `load`.
    text_columns : bool, default=False
        Whether the columns Recency and Time of Transfusion are factors with levels in text order,
        as the authors' reader took them; the other data sets have no such columns.
    data_home : path, optional
        As for `load`.

    Examples
    --------
    >>> features("Transfusion")[0].shape, features("Transfusion", text_columns=True)[0].shape
    ((748, 4), (748, 109))
    """
    dataset = find(name)
    bunch = load(name, data_home=data_home)
    factors = [dataset.feature_names.index(column) for column in dataset.factors]
    text = [dataset.feature_names.index(column) for column in dataset.text_columns]
    X = fill_missing(bunch.data, factors=factors)
    return encode_factors(X, factors=factors, text=text if text_columns else ()), bunch.target


def learning_curve_table(
    name: str, *, text_columns: bool = False, data_home: Folder = None
) -> tuple[Matrix, Labels]:
    """Return the principal components of a data set's `features`, and its classes.

    Examples
    --------
    >>> learning_curve_table("Ionosphere")[0].shape
    (351, 30)
    """
    X, y = features(name, text_columns=text_columns, data_home=data_home)
    return principal_components(standardise(drop_constant_columns(X))), y


def fill_missing(X: ArrayLike, *, factors: Sequence[int] = ()) -> Matrix:
    """Replace NaN by the median of its column, or by the mode of a factor (the least if tied).

    Examples
    --------
    >>> fill_missing([[1, 3], [np.nan, 3], [5, 1], [9, np.nan]], factors=[1]).T
    array([[1., 5., 5., 9.],
           [3., 3., 1., 3.]])
    """
    X = np.array(X, dtype=np.float64)
    for j in range(X.shape[1]):
        missing = np.isnan(X[:, j])
        present = X[~missing, j]
        if not len(present):
            raise ValueError(f"Column {j} of X has no value at all; drop it before filling.")
        if missing.any():
            levels, counts = np.unique(present, return_counts=True)
            X[missing, j] = levels[counts.argmax()] if j in factors else np.median(present)
    return X


def encode_factors(
    X: ArrayLike, *, factors: Sequence[int] = (), text: Sequence[int] = ()
) -> Matrix:
    """Replace a factor by one column of 0 and 1 per level, except for its first level.

    Levels are in numeric order in `factors`, and in text order ("10" before "2") in `text`.

    Examples
    --------
    >>> encode_factors([[2, 0.5], [10, 0.5], [3, 0.5]], factors=[0])
    array([[0. , 0. , 0.5],
           [0. , 1. , 0.5],
           [1. , 0. , 0.5]])
    >>> encode_factors([[2, 0.5], [10, 0.5], [3, 0.5]], text=[0])
    array([[1. , 0. , 0.5],
           [0. , 0. , 0.5],
           [0. , 1. , 0.5]])
    """
    X = np.asarray(X, dtype=np.float64)
    columns = []
    for j, column in enumerate(X.T):
        levels = np.unique(column).tolist()
        if j in text:
            levels.sort(key="{:g}".format)
        encoded = j in factors or j in text
        columns.append(column[:, None] == levels[1:] if encoded else column[:, None])
    return np.hstack(columns).astype(np.float64)


def drop_constant_columns(X: ArrayLike) -> Matrix:
    """Drop the columns with a single value.

    Examples
    --------
    >>> drop_constant_columns([[1, 7], [2, 7]])
    array([[1.],
           [2.]])
    """
    X = np.asarray(X, dtype=np.float64)
    return X[:, np.ptp(X, axis=0) > 0]


def standardise(X: ArrayLike) -> Matrix:
    """Centre each column and divide it by its standard deviation (divisor n−1).

    Examples
    --------
    >>> standardise([[1], [2], [3]]).ravel()
    array([-1.,  0.,  1.])
    """
    X = np.asarray(X, dtype=np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def principal_components(X: ArrayLike, *, share: float = 0.99) -> Matrix:
    """Return the rows in the fewest principal components with at least `share` of the variance.

    The sign of each component makes its largest loading positive. Scores below 1e-9 of the largest
    are rounding errors and set to 0: a component may be nonzero on a few rows only, and in a fit to
    other rows its rounding errors would count as a direction.

    Examples
    --------
    >>> principal_components([[1, 2], [2, 4], [3, 6]]).round(4)
    array([[-2.2361],
           [ 0.    ],
           [ 2.2361]])
    """
    centred = np.asarray(X, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    shares = np.cumsum(sizes**2) / np.sum(sizes**2)
    kept = directions[: 1 + int(np.argmax(shares >= share))]
    largest = np.abs(kept).argmax(axis=1)
    signs = np.sign(kept[np.arange(len(kept)), largest])
    scores = centred @ (kept * signs[:, None]).T
    scores[np.abs(scores) < 1e-9 * np.abs(scores).max()] = 0.0
    return scores
