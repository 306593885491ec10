"""A table made ready for classifiers: numbers, labels, groups, and what each column became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import text_cells, text_of
from .errors import TableError
from .kinds import Column, check_column
from .parts import Feature
from .preparation import TablePreparation, as_frame
from .target import Target, read_target

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows and labels of a table as the classifiers get them."""

    source: str
    X: Array
    """(n_rows, n_features), float64."""
    target: Target
    preparation: TablePreparation
    groups: Array | None = None
    """A number for each row: rows of one group are never on both sides of a split."""
    group: str | None = None
    unlabeled: str | None = None
    """What marks a missing label, besides the empty cell."""

    @cached_property
    def fingerprints(self) -> Array:
        """A number for each row, equal where all features are."""
        return pd.util.hash_pandas_object(pd.DataFrame(self.X, copy=False), index=False).to_numpy()

    @property
    def codes(self) -> Array:
        """The class of each row, -1 where it has no label."""
        return self.target.codes

    @property
    def columns(self) -> tuple[Column, ...]:
        """What each column of the table is."""
        return self.preparation.columns_

    @property
    def features(self) -> tuple[Feature, ...]:
        """What each column of `X` is."""
        return self.preparation.features_


def prepare(
    frame: pd.DataFrame,
    target: str,
    *,
    group: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    unlabeled: str | None = None,
    source: str = "the table",
) -> Prepared:
    """Read the labels of a table, and turn its other columns into numbers.

    All rows, labeled or not, settle how columns are filled, scaled and encoded; labels do not.

    Parameters
    ----------
    frame : DataFrame
    target : str
        The column of the labels; a cell is empty where the label is missing.
    group : str, optional
        A column whose values mark rows that belong together (a patient, a site). It is no feature.
    kinds, drop
        As in `TablePreparation`.
    unlabeled : str, optional
        Another mark of a missing label, besides the empty cell.
    source : str
        What to call the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 40, 50, 60], "sick": ["no", None, "yes", None]})
    >>> prepared = prepare(frame, "sick")
    >>> prepared.codes.tolist(), prepared.X.shape
    ([0, -1, 1, -1], (4, 1))
    """
    frame = as_frame(frame)
    labels = read_target(frame, target, unlabeled=unlabeled)
    groups = None if group is None else _read_groups(frame, group, target)
    features = frame.drop(columns=[target] if group is None else [target, group])
    named = (drop,) if isinstance(drop, str) else drop
    unwanted = tuple(name for name in named if name not in (target, group))
    wanted = {name: kind for name, kind in (kinds or {}).items() if name not in (target, group)}
    preparation = TablePreparation(kinds=wanted, drop=unwanted)
    X = preparation.fit_transform(features)
    return Prepared(source, X, labels, preparation, groups, group, unlabeled)


def _read_groups(frame: pd.DataFrame, group: str, target: str) -> Array:
    """Number the groups of the rows."""
    check_column(frame, group, "groups")
    if group == target:
        raise TableError(f"Column {group!r} is both target and group; name two columns.")
    codes, _ = text_cells(frame[group], text_of)
    codes = codes.copy()
    alone = codes < 0  # a row without a group belongs to nobody else's
    codes[alone] = codes.max(initial=0) + 1 + np.arange(alone.sum())
    return codes
