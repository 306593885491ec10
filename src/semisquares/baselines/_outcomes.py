"""Read outcomes of which some are missing, the values to start from, and the rows to fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._inputs.arrays import read_numbers
from .._inputs.labels import labeled_values, one_column
from .._utils.typing import Array
from ..core.objective import MAX_DIRECT
from ..core.rows import DenseTable, MemoryRows

__all__ = ["filled", "read_outcomes", "read_start", "write_rows"]


def read_outcomes(y: Any, n_rows: int) -> Array:
    """Read y as floats, with NaN for a missing outcome."""
    if y is None:
        raise ValueError(
            "A regressor requires y to be passed, but the target y is None; pass one value per "
            "row, and NaN for a missing one."
        )
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] != 1:
        raise ValueError(
            f"y should be a 1d array, got shape {shape} instead; fit one regressor per column."
        )
    known, values = labeled_values(one_column(y), None)
    if len(known) != n_rows:
        raise ValueError(
            f"y has {len(known)} rows but X has {n_rows}; give y one value per row of X."
        )
    if not known.any():
        raise ValueError(f"All {n_rows} outcomes in y are missing; at least one has to be known.")
    outcomes = np.full(n_rows, np.nan)
    try:
        outcomes[known] = values
        finite = np.abs(outcomes[known]).max() < np.sqrt(np.finfo(np.float64).max / n_rows)
    except (TypeError, ValueError):
        finite = False
    if not finite:
        raise ValueError(
            f"y holds outcomes (such as {values.tolist()[0]!r}) that are not numbers, or so large "
            "that their squares overflow; pass finite numbers, and NaN for a missing one."
        )
    return outcomes


def write_rows(X: Array, y: Array, intercept: bool) -> MemoryRows:
    """Return X and y as rows; with an intercept, the columns are centred."""
    if X.shape[1] > MAX_DIRECT:
        raise ValueError(
            f"X has {X.shape[1]} columns; outcomes are filled in for up to {MAX_DIRECT}: select "
            "some."
        )
    shift = np.where(X.min(axis=0) == X.max(axis=0), X[0], X.mean(axis=0)) if intercept else None
    labeled = np.flatnonzero(~np.isnan(y))
    ones = np.ones(len(labeled))
    table = DenseTable(X, shift)
    return MemoryRows(table, labeled, y[labeled], labeled_weight=ones, intercept=intercept)


def read_start(rows: MemoryRows, init: Any, random_state: Any) -> Array:
    """Return the missing outcomes to start from."""
    if isinstance(init, str):
        if init == "zero":
            return np.zeros(rows.n_unlabeled)
        draws = check_random_state(0 if random_state is None else random_state)
        return draws.normal(rows.y.mean(), rows.y.std(), rows.n_unlabeled)
    given = read_numbers("outcomes", init)
    if given.shape != (rows.n_unlabeled,):
        raise ValueError(
            f"init has shape {given.shape}; outcomes to start from have shape "
            f"{(rows.n_unlabeled,)}: give one for each missing value of y, in its order."
        )
    return given


def filled(y: Array, labels: Any) -> Array:
    """Return y with the gaps filled."""
    return np.where(np.isnan(y), labels, y)
