"""Refuse input that scikit-learn would misread: repeated column names, dates, masked cells, bools.

scikit-learn reads a date as a number in its own unit, often nanoseconds, and ignores the mask of a
masked array. Frames are read by duck typing: pandas, polars and pyarrow are not imported.
"""

from __future__ import annotations

import datetime
from collections import Counter
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from .._utils.words import listed

_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_CONVERT = "(column - column.min()) / np.timedelta64(1, 'D')"
_SHOWN = 10
"""The largest number of column names in a message."""


def is_dask(given: Any) -> bool:
    """Return whether an object is a Dask collection, without importing Dask."""
    return hasattr(given, "__dask_graph__") and hasattr(given, "to_delayed")


def check_table(X: Any) -> None:
    """Refuse a table that scikit-learn would misread; scikit-learn refuses other faults."""
    check_names(X)
    check_dates(X)
    check_masked("X", X)


def check_names(X: Any) -> None:
    """Refuse a frame in which two columns have the same name.

    >>> import pandas as pd
    >>> check_names(pd.DataFrame([[1, 2, 3]], columns=["age", "size", "age"]))
    Traceback (most recent call last):
    ValueError: X has several columns named 'age'; rename or drop columns until every name is
    unique.
    """
    repeated = [name for name, count in Counter(column_names(X)).items() if count > 1]
    if repeated:
        raise ValueError(
            f"X has several columns named {listed(map(repr, repeated), _SHOWN)}; rename or drop "
            "columns until every name is unique."
        )


def check_dates(X: Any) -> None:
    """Refuse dates and durations.

    >>> check_dates(np.array([["2024-02-29"]], dtype="datetime64[D]"))
    Traceback (most recent call last):
    ValueError: X is of type datetime64[D]; turn dates and durations into numbers first, such as
    days with (column - column.min()) / np.timedelta64(1, 'D').
    """
    names, types = column_names(X), _types(X)
    if names:
        found = [
            (name, kind) for name, kind in zip(names, types, strict=False) if _is_temporal(kind)
        ]
        if not found:
            return
        raise ValueError(
            "X has columns that are not numeric: "
            f"{listed((str(name) for name, _ in found), _SHOWN)} (of type {found[0][1]}); turn "
            f"dates and durations into numbers, such as days with {_CONVERT}, in X itself or with "
            "sklearn.compose.ColumnTransformer."
        )
    kind = _array_type(X)
    if kind is not None:
        raise ValueError(
            f"X is of type {kind}; turn dates and durations into numbers first, such as days with "
            f"{_CONVERT}."
        )


def check_masked(name: str, values: Any) -> None:
    """Refuse a masked array unless its mask is empty.

    >>> check_masked("sample_weight", np.ma.masked_equal([1.0, 2.0, 0.0], 0.0))
    Traceback (most recent call last):
    ValueError: sample_weight is a masked array that lacks 1 of its 3 values; fill in what is
    missing, for instance with its method filled, or drop these rows.
    """
    parts = values if isinstance(values, list | tuple) else [values]
    masked = [part for part in parts if isinstance(part, np.ma.MaskedArray)]
    count = sum(int(np.ma.count_masked(part)) for part in masked)
    if count:
        raise ValueError(
            f"{name} is a masked array that lacks {count:,} of its "
            f"{sum(part.size for part in masked):,} values; fill in what is missing, for instance "
            "with its method filled, or drop these rows."
        )


class Number(Interval):
    """Constraint of a parameter: a number within bounds, of any type that converts to float.

    scikit-learn's own constraint takes True for 1, and fails at fractions and at integers larger
    than any float.

    >>> from fractions import Fraction
    >>> from numbers import Real
    >>> positive = Number(Real, 0, None, closed="neither")
    >>> [positive.is_satisfied_by(value) for value in (Fraction(1, 3), True, 10**400)]
    [True, False, False]
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is within the bounds."""
        if isinstance(val, bool) or not isinstance(val, self.type):
            return False
        if issubclass(self.type, Integral):
            return val in self
        try:
            return float(val) in self
        except OverflowError:
            return False


def read_floats(given: Any) -> NDArray[np.float64]:
    """Convert a user's numbers to floats; NaN for masked values and if they are not numbers.

    >>> read_floats([1, 2.5]), read_floats(["many"]), read_floats([10**400])
    (array([1. , 2.5]), array(nan), array(nan))
    """
    try:
        values = np.ma.asarray(given)
        if values.dtype.kind == "c":
            return np.array(np.nan)
        with np.errstate(over="ignore"):
            return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    except (OverflowError, TypeError, ValueError):
        return np.array(np.nan)


def read_grid(name: str, given: Any, *, add: float | None = None) -> NDArray[np.float64]:
    """Read a parameter that is a grid of non-negative numbers; return it sorted, with `add`."""
    values = read_floats(given).ravel()
    if not len(values) or not (values >= 0.0).all() or not np.isfinite(values).all():
        raise ValueError(
            f"{name}={one_line(given)} must be finite numbers, none negative, at least one."
        )
    return np.unique(values if add is None else np.append(values, add))


def one_line(given: Any) -> str:
    """Return the repr of an argument on one line."""
    return " ".join(repr(given).split())


def column_names(X: Any) -> list[Any]:
    """Return the column names of a frame (pandas, polars, Dask or pyarrow), or []."""
    if hasattr(X, "column_names"):  # pyarrow, whose `columns` are the values
        return list(X.column_names)
    return list(getattr(X, "columns", ()))


def _types(X: Any) -> list[Any]:
    """Return the types of the columns of a frame."""
    if hasattr(X, "column_names"):
        return list(X.schema.types)
    return list(getattr(X, "dtypes", ()))


def _is_temporal(kind: Any) -> bool:
    """Recognise dates and durations by type names, which start alike in all libraries."""
    return str(kind).lower().startswith(("date", "time", "duration"))


def _array_type(X: Any) -> Any:
    """Return the type of dates in an array or a list of rows, or None."""
    if isinstance(X, list | tuple):
        X = np.empty(0) if not X or isinstance(X[0], str) else _first_row(X)
    dtype = getattr(X, "dtype", None)
    if _is_temporal(dtype):
        return dtype
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        for kind in set(map(type, X.flat)):
            if issubclass(kind, _TIMES):
                return kind.__name__
    return None


def _first_row(X: Any) -> Any:
    try:
        return np.asarray(X[0])
    except ValueError:  # ragged: scikit-learn refuses it
        return np.empty(0)
