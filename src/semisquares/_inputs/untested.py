"""Find labeled rows that can be tested, and describe the classes that cannot.

A class with a single labeled row cannot be both learned and tested, so such a row is in every
training set and in no test set. If groups are kept together, the same holds for a class whose
labeled rows are all in one group, and for all rows of that group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.words import listed

_NAMED = 5
"""The largest number of class names in a sentence."""


def rows_to_test(codes: NDArray[np.intp], groups: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Return a mask of the rows that can be tested: labeled, and not the only one of their class.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 if it has no label.
    groups : ndarray of shape (n_rows,), optional
        Groups that are kept together.

    Examples
    --------
    >>> rows_to_test(np.array([0, 0, 1, -1])).tolist()
    [True, True, False, False]
    >>> rows_to_test(np.array([0, 0, 1, 1]), groups=np.array([1, 2, 2, 2])).tolist()
    [True, False, False, False]
    """
    labeled = codes >= 0
    if groups is None:
        counts = np.bincount(codes[labeled], minlength=1)
        return labeled & (counts[codes] > 1)
    held = [
        of_class[0]
        for k in np.unique(codes[labeled])
        if len(of_class := np.unique(groups[codes == k])) == 1
    ]
    return labeled & ~np.isin(groups, held)


def describe_untested(names: Sequence[Any], *, grouped: bool = False) -> str:
    """Return a sentence about classes that are not tested.

    >>> print(describe_untested(["eel"]))
    Class 'eel' has a single labeled row, so it is always trained on and never tested; label more
    rows of it to have it tested.
    """
    shown = listed(map(repr, names), _NAMED)
    if len(names) == 1:
        rest = "so it is always trained on and never tested; label"
        if grouped:
            return (
                f"All labeled rows of class {shown} are in one group, {rest} rows of it in another."
            )
        return f"Class {shown} has a single labeled row, {rest} more rows of it to have it tested."
    rest = "so they are always trained on and never tested; label"
    if grouped:
        return (
            f"For each of the classes {shown} all labeled rows are in one group, {rest} rows of "
            "each in another."
        )
    return f"Classes {shown} have a single labeled row each, {rest} more rows to have them tested."
