"""Helpers for two columns as a plane: grids, codes of classes, and leads of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._inputs.labels import encode, labeled_values, one_column
from .._utils.typing import Array
from ._fitted import Fitted


def leads(values: ArrayLike) -> Array:
    """Return the lead of each class over the best other one, with classes on a new first axis.

    The unit is that of soft labels: at a lead of 1 or more, one class has the whole label.

    Examples
    --------
    >>> leads([[0.25]]).tolist()
    [[[-0.5]], [[0.5]]]
    >>> leads([[[0.1, 0.7, 0.2]]]).ravel().round(1).tolist()
    [-0.6, 0.5, -0.5]
    """
    values = np.asarray(values, dtype=float)
    if values.ndim == 2:
        return np.stack((-2.0 * values, 2.0 * values))
    best_two = np.sort(values, axis=-1)[..., -2:]
    first = values == best_two[..., 1:]
    return np.moveaxis(values - np.where(first, best_two[..., :1], best_two[..., 1:]), -1, 0)


def boundaries(values: ArrayLike) -> list[Array]:
    """Return functions on the grid whose zeros together make up the boundary, each part once.

    With two classes these are the decision values. With more, there is one for each class but the
    last: its lead over the classes after it, NaN wherever an earlier class leads.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim == 2:
        return [values]
    found, before = [], np.full(values.shape[:2], -np.inf)
    for k in range(values.shape[-1] - 1):
        mine, rest = values[..., k], values[..., k + 1 :].max(axis=-1)
        found.append(np.where(np.maximum(mine, rest) >= before, mine - rest, np.nan))
        before = np.maximum(before, mine)
    return found


def two_columns(X: Any, name: str) -> tuple[Array, Sequence[str]]:
    """Return X as an array with two columns, and their names."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != 2:
        what = f"{shape[1]} columns" if len(shape) == 2 else f"shape {shape}"
        raise ValueError(
            f"X has {what}, but the decision of {name} is drawn over two columns; fit it to two, "
            "for example with make_pipeline(PCA(2), …), or use plot_soft_labels."
        )
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else (r"$x_1$", r"$x_2$")
    return np.asarray(X, dtype=float), names


def class_codes(y: Any, fitted: Fitted, n_rows: int) -> tuple[Array, list[Any]]:
    """Return the class of each row as a number, -1 if it has no label, and the classes."""
    classes = list(fitted.last.classes_.tolist())
    codes = np.full(n_rows, -1)
    if y is None:
        return codes, classes
    known, values = labeled_values(one_column(y), getattr(fitted.last, "unlabeled", -1))
    if len(known) != n_rows:
        raise ValueError(f"y has {len(known)} rows but X has {n_rows}; give y one value per row.")
    if len(values):
        found, numbers = encode(values)
        places = [classes.index(one) if one in classes else -1 for one in found.tolist()]
        codes[known] = np.array(places)[numbers]
    return codes, classes


def grid_points(column: Array, margin: float, grid: int) -> Array:
    """Return a grid from slightly below a column's values to slightly above them."""
    low, high = float(column.min()), float(column.max())
    more = margin * max(high - low, 1e-9)
    return np.linspace(low - more, high + more, grid)


def table_like(X: Any, places: Array) -> Any:
    """Return places as the same type as X; a data frame keeps its column names."""
    if not hasattr(X, "columns"):
        return places
    return type(X)(dict(zip(X.columns, places.T, strict=True)))
