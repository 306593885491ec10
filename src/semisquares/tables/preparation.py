"""From the columns of a table to numbers for a classifier, with scikit-learn's own parts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import SoftLabelClassifierCV
from .arguments import refuse, whole_number
from .cells import family_of, level_of, text_cells
from .errors import TableError
from .formats.headers import check_width
from .kinds import KINDS, Column, kinds_of
from .parts import Feature, assemble, canonical, describe_part, fit_part, write_part
from .sums import Sums

Array = NDArray[Any]

_RECORDS = {"columns_": Column, "features_": Feature}
"""The attributes that hold a record for each column."""


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    `fit` tells the kind of each column (see `kinds_of`) and fits one ``ColumnTransformer``: numbers
    are filled with the mean and scaled, booleans become 0 and 1, dates become parts, categories are
    one-hot with rare levels pooled, and a missing cell is a feature of its own wherever `fit` saw
    one (or, in a category, one more level, which may be rare). All rows take part, whether labeled
    or not; labels never do.

    Parameters
    ----------
    kinds : mapping of column to kind, optional
        Settles the kind of some columns: "number", "category", "boolean" or "date".
    drop : sequence of str, or mapping of str to str, default=()
        Columns to leave out, and why.
    max_levels : int, default=50
        A category has at most so many features; its rarest levels share one.

    Attributes
    ----------
    columns_ : tuple of Column
        What each column of the table is, and why some are left out.
    features_ : tuple of Feature
        What each column of the result is.
    transformer_ : ColumnTransformer
        With the parts "number", "boolean", "date" and "category", those that have columns.
    feature_names_in_ : ndarray of str
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.preparation import TablePreparation
    >>> frame = pd.DataFrame({"age": [30, 50, None], "smokes": ["yes", "no", "no"]})
    >>> preparation = TablePreparation().fit(frame)
    >>> preparation.get_feature_names_out().tolist()
    ['age', 'age is missing', 'smokes']
    >>> preparation.transform(frame).round(2)
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

    def fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Find out what the columns are, and how to fill, scale and encode them.

        Parameters
        ----------
        X : DataFrame (pandas, or one with a method ``to_pandas``)
        y : ignored
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the prepared rows."""
        return self._transform(self._fit(X))

    def transform(self, X: Any) -> Array:
        """Return the prepared rows, (n_rows, n_features), float64.

        Parameters
        ----------
        X : DataFrame
            With the columns that `fit` uses, in any order; those that it left out may be there.

        Raises
        ------
        TableError
            Where columns lack or were never seen, and where a cell does not fit its column.
        """
        check_is_fitted(self)
        return self._transform(self._clean(self._checked(X)))

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
        found = {}
        for name, levels in self._levels().items():
            codes, texts = text_cells(frame[name], level_of)
            counts = np.bincount(codes[codes >= 0], minlength=len(texts))
            known = set(levels.tolist())
            new = {str(t): int(n) for t, n in zip(texts, counts, strict=True) if t not in known}
            if new:
                found[name] = new
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, those that hold a record for each column as text.

        A model file describes each object in a page of JSON: thousands of columns would make it
        so large that it takes minutes to read.
        """
        state = super().__getstate__()
        return state | {
            name: json.dumps([vars(record) for record in state[name]])
            for name in _RECORDS
            if name in state
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        records = {
            name: tuple(record(**one) for one in json.loads(state[name]))
            for name, record in _RECORDS.items()
            if isinstance(state.get(name), str)
        }
        super().__setstate__(state | records)

    def _fit(self, X: Any) -> pd.DataFrame:
        frame = as_frame(X)
        whole_number("max_levels", self.max_levels, 1)
        if not len(frame):
            raise TableError("The table has no rows; a model needs some to learn from.")
        columns = kinds_of(frame, kinds=self.kinds, drop=self.drop)
        clean = cleaned(frame, columns)
        self.settle(list(frame.columns), columns, summed(clean, columns), clean)
        return clean

    def settle(
        self, names: Sequence[str], columns: Sequence[Column], sums: Sums, clean: pd.DataFrame
    ) -> None:
        """Fit to what is known of all rows.

        Parameters
        ----------
        names : sequence of str
            The columns of the table.
        columns : sequence of Column
            What each of them is.
        sums : Sums
            Over all rows of those in use.
        clean : DataFrame
            Some of these rows, from `cleaned`.
        """
        self.columns_ = tuple(columns)
        self.feature_names_in_ = np.array(list(names), dtype=object)
        self.n_features_in_ = len(names)
        parts = []
        for kind in KINDS:
            if used := self._names(kind):
                parts.append((kind, fit_part(kind, used, sums, self.max_levels), used))
        self.transformer_ = assemble(parts, clean)
        self.features_ = tuple(feature for part in parts for feature in describe_part(*part))

    def _transform(self, clean: pd.DataFrame) -> Array:
        """Do what ``transformer_.transform(clean)`` does, each part into its place at once."""
        out = np.empty((len(clean), len(self.features_)))
        start = 0
        for kind, part, names in self.transformer_.transformers_ if len(clean) else ():
            start += write_part(kind, part, clean[names], out[:, start:])
        return out

    def _names(self, kind: str) -> list[str]:
        return [column.name for column in self.columns_ if column.kind == kind]

    def _levels(self) -> dict[str, Array]:
        names = self._names("category")
        if not names:
            return {}
        encoder = self.transformer_.named_transformers_["category"]
        return dict(zip(names, encoder.categories_, strict=True))

    def _checked(self, X: Any) -> pd.DataFrame:
        """Give X as a frame that has all columns in use, and none that `fit` has not seen."""
        frame = as_frame(X)
        used = [column for column in self.columns_ if column.used]
        lacking = [column.name for column in used if column.name not in frame.columns]
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
            if column.kind != "date":  # which may be dates and texts at once
                family_of(frame[column.name], column.name)  # refuses lists and the like
        return frame

    def _clean(self, frame: pd.DataFrame) -> pd.DataFrame:
        return cleaned(frame, self.columns_)


def cleaned(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """Bring each used column of a table to the one form of its kind."""
    cells = {c.name: canonical(frame[c.name], c) for c in columns if c.used}
    return pd.DataFrame(cells, index=range(len(frame)), copy=False)


def summed(clean: pd.DataFrame, columns: Iterable[Column]) -> Sums:
    """Sum over rows that are brought to the forms of their kinds."""
    kinds = {column.name: column.kind for column in columns if column.used}
    return Sums.of(clean, kinds)


def make_table_pipeline(
    classifier: Any = None,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    max_levels: int = 50,
) -> Pipeline:
    """Make a pipeline that fits a classifier to a table as it is: text, dates, missing cells.

    This is what the command line fits. Rows without a label take part in the preparation, too.

    Parameters
    ----------
    classifier : classifier, optional
        The last step; a ``SoftLabelClassifierCV`` where it is None.
    kinds, drop, max_levels
        As in `TablePreparation`.

    Returns
    -------
    Pipeline
        With the steps "preparation" and "classifier".

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables.preparation import make_table_pipeline
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
    preparation = TablePreparation(kinds=kinds, drop=drop, max_levels=max_levels)
    fits = all(callable(getattr(classifier, name, None)) for name in ("fit", "predict"))
    if classifier is not None and (isinstance(classifier, type) or not fits):
        raise refuse(
            "classifier", classifier, "a classifier, such as SoftLabelClassifier(), or None"
        )
    last = SoftLabelClassifierCV() if classifier is None else classifier
    return Pipeline([("preparation", preparation), ("classifier", last)])


def as_frame(X: Any, name: str = "X") -> pd.DataFrame:
    """Give a table as a pandas DataFrame with different names of columns, all text."""
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
