"""Which labeled rows can be tested, and a sentence about the classes that cannot.

A class with a single labeled row cannot be both learned from and tested. Wherever rows are split
here, such a row is in every training set and in no test set. If groups are kept together, the same
holds for a class whose labeled rows are all in one group, and for all rows of that group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["describe_untested", "rows_to_test"]

_NAMED = 5
"""At most this many classes are named in a sentence."""


def rows_to_test(codes: NDArray[np.intp], groups: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Tell for each row whether it can be tested: it has a label, and its class has another row.

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
    """Say in one sentence that some classes are not tested.

    >>> print(describe_untested(["eel"]))
    Class 'eel' has a single labeled row, so it is always trained on and never tested; label more
    rows of it to have it tested.
    """
    shown = ", ".join(map(repr, names[:_NAMED]))
    shown += f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
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
