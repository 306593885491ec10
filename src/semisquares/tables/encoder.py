"""From a table to a matrix of numbers: clean, summarise and encode its columns by their types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import SoftLabelClassifierCV
from ._arguments import refuse, whole_number
from .columns import COLUMN_TYPES, Column, Encoder
from .errors import TableError
from .io import check_width
from .schema import infer_schema

Array = NDArray[Any]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    `fit` infers the type of each column (see `infer_schema`) and how to encode it: numbers are
    filled with the mean and scaled, booleans become 0 and 1, dates become parts, and categories are
    one-hot with rare levels pooled. If `fit` saw missing cells in a column, they become a feature
    of their own (in a category one more level, which may be rare). All rows take part, whether
    labeled or not; labels are not used.

    Parameters
    ----------
    kinds : mapping of column to column type, optional
        Sets the types of some columns: "number", "category", "boolean" or "date".
    drop : sequence of str, or mapping of str to str, default=()
        Columns to leave out, and why.
    max_levels : int, default=50
        The most features that a category may have; its rarest levels share one.

    Attributes
    ----------
    columns_ : tuple of Column
        The inferred schema, with the reasons for which columns are left out.
    features_ : tuple of Feature
        What each column of the result is.
    encoders_ : dict of str to Encoder
        The fitted encoders by column type, in the order of their features.
    feature_names_in_ : ndarray of str
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [30, 50, None], "smokes": ["yes", "no", "no"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age is missing', 'smokes']
    >>> encoder.transform(frame).round(2)
    array([[-1.22, -0.71,  1.  ],
           [ 1.22, -0.71,  0.  ],
           [ 0.  ,  1.41,  0.  ]])
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        drop: Sequence[str] | Mapping[str, str] = (),
        max_levels: int = 50,
    ) -> None:
        self.kinds = kinds
        self.drop = drop
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Infer the types of the columns, and how to fill, scale and encode them.

        Parameters
        ----------
        X : DataFrame (pandas, or one with a method ``to_pandas``)
        y : ignored
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the encoded rows."""
        return self._encode(self._fit(X))

    def transform(self, X: Any) -> Array:
        """Return the encoded rows, (n_rows, n_features), float64.

        Parameters
        ----------
        X : DataFrame
            With the columns that `fit` uses, in any order; those that it left out are optional.

        Raises
        ------
        TableError
            If columns are missing or were not there in `fit`, or if a cell does not fit its column.
        """
        check_is_fitted(self)
        return self._encode(clean(self._checked(X), self.columns_))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of `features_`."""
        check_is_fitted(self)
        return np.array([feature.name for feature in self.features_], dtype=object)

    def unseen(self, X: Any) -> dict[str, dict[str, int]]:
        """Count, in each category, the levels that `fit` has not seen: column, level, rows.

        Parameters
        ----------
        X : DataFrame
        """
        check_is_fitted(self)
        frame = self._checked(X)
        return {
            name: values
            for encoder in self.encoders_.values()
            for name, values in encoder.unseen(frame).items()
        }

    def fit_statistics(
        self, names: Sequence[str], columns: Sequence[Column], statistics: TableStatistics
    ) -> None:
        """Fit to statistics of all rows, which may be merged from chunks.

        Parameters
        ----------
        names : sequence of str
            The columns of the table.
        columns : sequence of Column
            Its schema.
        statistics : TableStatistics
            Of the columns that are used.
        """
        self.columns_ = tuple(columns)
        self.feature_names_in_ = np.array(list(names), dtype=object)
        self.n_features_in_ = len(names)
        encoders = {}
        for kind, column_type in COLUMN_TYPES.items():
            mine = [column.name for column in columns if column.kind == kind]
            if mine:
                found = {name: statistics.columns[name] for name in mine}
                options = {"max_levels": self.max_levels}
                encoders[kind] = column_type.fit(found, statistics.n_rows, **options)
        self._set_encoders(encoders)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes as plain data, with few objects.

        A model file describes each object in a page of JSON. With an object for each column, a file
        with thousands of columns would take minutes to read.
        """
        state = dict(super().__getstate__())
        if state.pop("features_", None) is None:  # not fitted
            return state
        return state | {
            "columns_": json.dumps([vars(column) for column in self.columns_]),
            "encoders_": {
                kind: {name: _packed(value) for name, value in encoder.to_plain().items()}
                for kind, encoder in self.encoders_.items()
            },
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "encoders_" in state:
            self.columns_ = tuple(Column(**one) for one in json.loads(state["columns_"]))
            encoders = state["encoders_"].items()
            self._set_encoders({kind: _unpacked(kind, packed) for kind, packed in encoders})

    def _set_encoders(self, encoders: dict[str, Encoder]) -> None:
        self.encoders_ = encoders
        self.features_ = tuple(f for encoder in encoders.values() for f in encoder.features)

    def _fit(self, X: Any) -> pd.DataFrame:
        frame = as_frame(X)
        whole_number("max_levels", self.max_levels, 1)
        if not len(frame):
            raise TableError("The table has no rows; a model needs some to learn from.")
        columns = infer_schema(frame, kinds=self.kinds, drop=self.drop)
        cells = clean(frame, columns)
        self.fit_statistics(list(frame.columns), columns, TableStatistics.of(cells, columns))
        return cells

    def _encode(self, cells: pd.DataFrame) -> Array:
        """Write the features of each column type into their place of the result."""
        out = np.empty((len(cells), len(self.features_)))
        start = 0
        for encoder in self.encoders_.values() if len(cells) else ():
            stop = start + len(encoder.features)
            encoder.encode(cells, out[:, start:stop])
            start = stop
        return out

    def _checked(self, X: Any) -> pd.DataFrame:
        """Return X as a frame that has all columns in use, and none that `fit` has not seen."""
        frame = as_frame(X)
        used = [column for column in self.columns_ if column.used]
        given = set(frame.columns)
        lacking = [column.name for column in used if column.name not in given]
        if lacking:
            raise TableError(
                f"The table lacks {_listed(lacking)} that the model was fitted with; add "
                f"{'it' if len(lacking) == 1 else 'them'}, empty where nothing is known."
            )
        known = set(self.feature_names_in_.tolist())
        extra = [name for name in frame.columns if name not in known]
        if extra:
            raise TableError(
                f"The table has {_listed(extra)} that the model was not fitted with; remove "
                f"{'it' if len(extra) == 1 else 'them'}."
            )
        for column in used:
            COLUMN_TYPES[column.kind].check(frame[column.name], column.name)
        return frame


@dataclass(frozen=True, eq=False)
class TableStatistics:
    """The statistics of all columns that are used."""

    n_rows: int
    columns: Mapping[str, Any]
    """By name, what `ColumnType.statistics` returns."""

    @classmethod
    def of(cls, cells: pd.DataFrame, columns: Iterable[Column]) -> TableStatistics:
        """Summarise clean cells."""
        used = {column.name: COLUMN_TYPES[column.kind] for column in columns if column.used}
        return cls(len(cells), {name: one.statistics(cells[name]) for name, one in used.items()})

    def merge(self, other: TableStatistics) -> TableStatistics:
        """Return the statistics of both chunks."""
        pairs = zip(self.columns.items(), other.columns.values(), strict=True)
        merged = {name: one.merge(two) for (name, one), two in pairs}
        return TableStatistics(self.n_rows + other.n_rows, merged)


def clean(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """Convert each used column of a table to the representation of its type."""
    cells = {
        column.name: COLUMN_TYPES[column.kind].clean(frame[column.name], column)
        for column in columns
        if column.used
    }
    return pd.DataFrame(cells, index=range(len(frame)), copy=False)


def _packed(value: Any) -> Any:
    """Return an array as it is, and other plain data as JSON."""
    return value if isinstance(value, np.ndarray) else json.dumps(value)


def _unpacked(kind: str, packed: Mapping[str, Any]) -> Encoder:
    plain = {n: json.loads(one) if isinstance(one, str) else one for n, one in packed.items()}
    return COLUMN_TYPES[kind].encoder.from_plain(plain)


def make_table_pipeline(
    classifier: Any = None,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    max_levels: int = 50,
) -> Pipeline:
    """Make a pipeline that fits a classifier to a table as it is: text, dates, missing cells.

    This is what the command line fits. The encoder learns from rows without a label, too.

    Parameters
    ----------
    classifier : classifier, optional
        The last step; a ``SoftLabelClassifierCV`` if None.
    kinds, drop, max_levels
        As in `TableEncoder`.

    Returns
    -------
    Pipeline
        With the steps "encoder" and "classifier".

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables import make_table_pipeline
    >>> table = pd.DataFrame({
    ...     "weight": [4.1, 30.0, None, 3.9, 25.0, 4.4],
    ...     "coat": ["long", "short", "short", "long", "short", "long"],
    ...     "animal": ["cat", "dog", "dog", None, None, None],
    ... })
    >>> pipeline = make_table_pipeline(SoftLabelClassifier(alpha=0.1))
    >>> X = table.drop(columns="animal")
    >>> pipeline.fit(X, table["animal"]).predict(X).tolist()
    ['cat', 'dog', 'dog', 'cat', 'dog', 'cat']
    """
    encoder = TableEncoder(kinds=kinds, drop=drop, max_levels=max_levels)
    fits = all(callable(getattr(classifier, name, None)) for name in ("fit", "predict"))
    if classifier is not None and (isinstance(classifier, type) or not fits):
        raise refuse(
            "classifier", classifier, "a classifier, such as SoftLabelClassifier(), or None"
        )
    last = SoftLabelClassifierCV() if classifier is None else classifier
    return Pipeline([("encoder", encoder), ("classifier", last)])


def as_frame(X: Any, name: str = "X") -> pd.DataFrame:
    """Return a table as a pandas DataFrame whose column names are texts and all different."""
    frame = X if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas") else X.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise TableError(
            f"{name} is of type {type(X).__name__}; pass a DataFrame with named columns."
        )
    check_width(frame.shape[1], "The table")
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"The table has two columns {twice!r}; rename one of them.")
    return frame


def _listed(names: list[str]) -> str:
    """Write "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
