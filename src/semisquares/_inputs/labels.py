"""Read y of a semi-supervised classifier: which rows have a label, and their classes.

A row has no label if its value is missing (NaN, None, NA, NaT, null, masked) or equals the marker
`unlabeled`. A missing value written as text, such as 'nan', is a class, with a warning.
Frames are read by duck typing: neither pandas nor polars is imported.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from .._utils.words import counted
from .array_api import to_numpy

MISSING_AS_TEXT = ("", "<NA>", "NaT", "None", "nan")
"""What missing values become when a column is written as text, as by `astype(str)` of pandas."""
_text_is_known: ContextVar[bool] = ContextVar("text_is_known", default=False)
_Masked = type(np.ma.masked)
_NOT_THE_USER = ("contextlib", "joblib", "semisquares", "sklearn")
"""Packages that a warning does not point to."""


@dataclass(frozen=True, eq=False)  # eq=False: == of arrays is an array, not an answer
class Labels:
    """Hold the labels of y: ``classes[codes[i]]`` is the label of row ``labeled[i]``."""

    labeled: NDArray[np.intp]  # rows with a label, ascending
    codes: NDArray[np.intp]  # the class of each of them, 0 .. K-1
    classes: NDArray[Any]  # the K classes, ascending
    n_rows: int


def labeled_mask(y: Any, unlabeled: Any = -1) -> NDArray[np.bool_]:
    """Return a mask of the rows of y that have a label; the parameters are those of `read_labels`.

    Examples
    --------
    >>> labeled_mask([1, -1, None, 0])
    array([ True, False, False,  True])
    """
    return labeled_values(one_column(y), unlabeled)[0]


def read_labels(y: Any, *, unlabeled: Any = -1, n_rows: int | None = None) -> Labels:
    """Find the rows of y that have a label, and the class of each.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of two classes or more: ints, bools, strings, whole floats or dates, in a list,
        an array or a column of a pandas or polars frame.
    unlabeled : scalar, default=-1
        Value that marks a row without a label; None turns the marker off. Missing values always
        mean "no label".
    n_rows : int, optional
        Number of rows that y must have.

    Examples
    --------
    >>> labels = read_labels(["ham", None, "spam", "ham"])
    >>> labels.classes.tolist(), labels.labeled.tolist(), labels.codes.tolist()
    (['ham', 'spam'], [0, 2, 3], [0, 1, 0])
    """
    y = one_column(y)
    mask, values = labeled_values(y, unlabeled)
    if n_rows is not None:
        check_length("y", len(mask), n_rows)
    if not len(values):
        raise ValueError(
            f"None of the {len(mask)} rows of y has a label, as missing values (NaN, None, NA) and "
            f"unlabeled={unlabeled!r} mark rows without one; label rows of two or more classes."
        )
    classes, codes = encode(values)
    text = "" if isinstance(unlabeled, str | None) else str(unlabeled)
    if text and classes.dtype.kind in "UO" and text in classes:
        raise ValueError(
            f"y holds the string {text!r} but unlabeled={unlabeled!r} is not a string; pass "
            f"unlabeled={text!r} if it marks missing labels, or unlabeled=None if it is a class."
        )
    if len(classes) == 1:
        n_marked = labeled_values(y, None)[0].sum() - len(values)
        hint = (
            f", or pass unlabeled=None (or another marker) if {unlabeled!r} is a class, because "
            f'rows with it ({n_marked} here) were read as "no label"'
        )
        raise ValueError(
            f"y has labels of one class only, {classes.tolist()[0]!r}, and a classifier needs two; "
            f"label some rows of another class{hint if n_marked else ''}."
        )
    warn_of_text(classes, np.bincount(codes))
    return Labels(np.flatnonzero(mask), codes, classes, len(mask))


def check_length(name: str, length: int, n_rows: int) -> None:
    """Refuse a column that does not have as many values as X has rows."""
    if length != n_rows:
        raise ValueError(
            f"{name} has {length} rows but X has {n_rows}; give {name} one value per row of X."
        )


def warn_of_text(classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    """Warn about classes that look like missing values written as text.

    `counts` is the number of rows of each class.
    """
    if classes.dtype.kind not in "UO" or _text_is_known.get():
        return
    found = [code for code, name in enumerate(classes.tolist()) if name in MISSING_AS_TEXT]
    if not found:
        return
    names = " and ".join(repr(name) for name in classes[found].tolist())
    rows = int(counts[found].sum())
    warnings.warn(
        f"y has the text {names} as the label of {counted(rows, 'row')}, which is read as a class; "
        "if it stands for a missing label, as after y.astype(str), put None or NaN there; "
        "otherwise, give the class another name.",
        UserWarning,
        stacklevel=user_level(),
    )


@contextmanager
def text_is_known() -> Iterator[None]:
    """Read labels without this warning, which an outer classifier has already given."""
    token = _text_is_known.set(True)
    try:
        yield
    finally:
        _text_is_known.reset(token)


def user_level() -> int:
    """Return the `stacklevel` that makes a warning by the caller point to the user's call."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _NOT_THE_USER:
        level, frame = level + 1, frame.f_back
    return level


def one_column(y: Any) -> Any:
    """Return y as a one-dimensional Series or array; refuse other shapes."""
    if y is None:
        raise ValueError(
            "A classifier requires y to be passed, but the target y is None; pass one value per "
            "row, a missing value if the label is unknown."
        )
    y = to_numpy(y)
    if issparse(y):
        raise ValueError(f"y is sparse, of shape {y.shape}; pass a dense column, a label per row.")
    if not hasattr(y, "__array__"):
        # As objects: np.asarray makes strings of ["a", nan] and ints of [True, -1].
        y = np.asarray(y, dtype=object)
        y = y.astype(str) if set(map(type, y.flat)) == {str} else y
    elif not hasattr(y, "shape"):
        y = np.asarray(y)
    if len(y.shape) == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        y = y[y.columns[0]] if hasattr(y, "columns") else y.reshape(-1)
    if len(y.shape) != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {tuple(y.shape)} instead; pass one "
            "label per row, and fit one classifier per column of a multilabel y."
        )
    return y


def labeled_values(y: Any, unlabeled: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return a mask of the rows that have a label, and the values of these rows."""
    if np.ndim(unlabeled):
        raise ValueError(f"unlabeled={unlabeled!r} is not a scalar; pass the one value to ignore.")
    if hasattr(y, "dropna"):  # pandas: dropped first, as np.asarray makes floats of ints and NA
        mask, values = ~np.asarray(y.isna()), np.asarray(y.dropna())
    elif hasattr(y, "drop_nulls"):  # polars: likewise
        mask, values = np.array(y.is_not_null()), np.asarray(y.drop_nulls())
    elif isinstance(y, np.ma.MaskedArray):
        mask, values = ~np.ma.getmaskarray(y), y.compressed()
    else:
        mask, values = np.ones(len(y), dtype=bool), np.asarray(y)
    if values.dtype.kind in "OT":  # T: numpy's StringDType, whose missing value is any object
        values = values.astype(object, copy=False)
        for kind in set(map(type, values)):
            if hasattr(kind, "__len__") and not issubclass(kind, str | bytes | _Masked):
                raise ValueError(f"y holds a {kind.__name__} in a row; pass one label per row.")
        missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
        mask, values = _keep(mask, values, ~missing)
    elif values.dtype.kind in "fM":
        mask, values = _keep(mask, values, ~np.isnan(values))
    return (mask, values) if _is_missing(unlabeled) else _keep(mask, values, values != unlabeled)


def _is_missing(value: Any) -> bool:
    """Recognise None, NaN, NaT, numpy's masked and (by name, as its == is not a bool) pd.NA."""
    by_identity = value is None or value is np.ma.masked
    return by_identity or type(value).__name__ == "NAType" or bool(value != value)


def _keep(mask: NDArray[np.bool_], values: NDArray[Any], keep: NDArray[np.bool_]) -> Any:
    """Keep some of the values, and update the mask of their rows in place."""
    if not keep.all():
        mask[mask], values = keep, values[keep]
    return mask, values


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels that can be sorted: bools, ints, floats or strings."""
    if values.dtype.kind in "biufUM":
        return values
    types = set(map(type, values)) if values.dtype.kind == "O" else {values.dtype.type}
    if all(issubclass(t, int | float | np.bool_ | np.integer | np.floating) for t in types):
        return np.array(values.tolist())
    names = " and ".join(sorted(t.__name__ for t in types))
    if values.dtype.kind != "O" or not any(issubclass(t, str) for t in types):
        raise ValueError(f"Unknown label type: {names}; make the labels in y ints or strings.")
    if not all(issubclass(t, str) for t in types):
        raise ValueError(f"y mixes labels of type {names}; make them all strings, or all numbers.")
    return values


def encode(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes among the values, and the index of each value's class."""
    values = _plain(values)
    if values.dtype.kind in "UO":  # hashing strings is far cheaper than the sort of np.unique
        items = values.tolist()
        index = {label: code for code, label in enumerate(sorted(set(items)))}
        codes = np.fromiter(map(index.__getitem__, items), dtype=np.intp, count=len(items))
        return np.array(list(index), dtype=values.dtype), codes
    if values.dtype.kind in "biuf":
        low, high = values.min().item(), values.max().item()
        if math.isinf(low) or math.isinf(high):
            raise ValueError("y holds an infinite label; use NaN for a row without a label.")
        if values.dtype.kind == "f" and (parts := values[values != np.trunc(values)]).size:
            raise ValueError(
                f"Unknown label type: continuous, as y holds {parts[0].item()!r}; a classifier "
                "needs classes, so use a regressor or cut y into classes."
            )
        low, high = int(low), int(high)
        if high - low < max(1024, 4 * len(values)) and high <= np.iinfo(np.intp).max:
            # A histogram finds the classes of small whole numbers without a sort.
            shifted = np.subtract(values, low, dtype=np.intp, casting="unsafe")
            seen = np.bincount(shifted) > 0
            classes = (np.flatnonzero(seen) + low).astype(values.dtype)
            return classes, shifted if seen.all() else (np.cumsum(seen) - 1)[shifted]
    return np.unique(values, return_inverse=True)
