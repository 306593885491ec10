"""From the columns of a table to numbers for a classifier, with scikit-learn's own parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..estimators import SoftLabelClassifierCV
from .dates import DATE_PARTS, DateParts
from .errors import TableError
from .kinds import (
    KINDS,
    Column,
    family_of,
    kinds_of,
    level_of,
    text_cells,
    to_booleans,
    to_dates,
    to_numbers,
)

Array = NDArray[Any]
_BLOCK = 100_000
"""So many cells stay in the processor's cache while they are filled and scaled."""


@dataclass(frozen=True)
class Feature:
    """One column of the prepared matrix."""

    name: str
    """Such as "age", "colour = red", "age is missing" or "joined, days"."""
    column: str
    """The column of the table that it comes from."""
    scale: float
    """Users' units in one unit of the feature: coefficient / scale is the effect of one of them."""
    unit: str
    """What the effect is of: "per unit", "against not missing", "per day"."""


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    `fit` tells the kind of each column (see `kinds_of`) and fits one ``ColumnTransformer``: numbers
    are filled with the mean and scaled, booleans become 0 and 1, dates become parts, categories are
    one-hot with rare levels pooled, and a missing cell is a feature of its own wherever `fit` saw
    one. All rows take part, whether labeled or not; labels never do.

    Parameters
    ----------
    kinds : mapping of column to kind, optional
        Settles the kind of some columns: "number", "category", "boolean" or "date".
    drop : sequence of str, default=()
        Columns to leave out.
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
        drop: Sequence[str] = (),
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

    def _fit(self, X: Any) -> pd.DataFrame:
        frame = as_frame(X)
        if not len(frame):
            raise TableError("The table has no rows; a model needs some to learn from.")
        self.columns_ = kinds_of(frame, kinds=self.kinds, drop=self.drop)
        self.feature_names_in_ = np.array(list(frame.columns), dtype=object)
        self.n_features_in_ = frame.shape[1]
        clean = self._clean(frame)
        parts = []
        for kind in KINDS:
            if names := self._names(kind):
                part = _make_part(kind, len(frame), self.max_levels)
                fit = _FIT.get(kind, type(part).fit)
                parts.append((kind, fit(part, clean[names]), names))
        self.transformer_ = _assemble(parts, clean)
        self.features_ = tuple(f for kind, *part in parts for f in _DESCRIBE[kind](*part))
        return clean

    def _transform(self, clean: pd.DataFrame) -> Array:
        """Do what ``transformer_.transform(clean)`` does, each part into its place at once."""
        out = np.empty((len(clean), len(self.features_)))
        start = 0
        for kind, part, names in self.transformer_.transformers_ if len(clean) else ():
            write = _WRITE.get(kind, _write)
            start += write(out[:, start:], clean[names], part)
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
        used = [column.name for column in self.columns_ if column.used]
        lacking = [name for name in used if name not in frame.columns]
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
        return frame

    def _clean(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Bring each used column to the one form of its kind."""
        used = [column for column in self.columns_ if column.used]
        cells = {column.name: _canonical(frame[column.name], column) for column in used}
        return pd.DataFrame(cells, index=range(len(frame)), copy=False)


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
    last = SoftLabelClassifierCV() if classifier is None else classifier
    return Pipeline([("preparation", preparation), ("classifier", last)])


def as_frame(X: Any) -> pd.DataFrame:
    """Give a table as a pandas DataFrame with different names of columns, all text."""
    frame = X if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas") else X.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"X is of type {type(X).__name__}; pass a DataFrame with named columns.")
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"The table has two columns {twice!r}; rename one of them.")
    return frame


def _canonical(values: pd.Series, column: Column) -> Any:
    """Give a column as float64, as datetime64[us], or as levels, "" for a missing cell."""
    if column.kind == "number":
        return to_numbers(values, column.name)
    if column.kind == "boolean":
        return to_booleans(values, column.name)
    if column.kind == "date":
        return to_dates(values, column.name, column.format)
    family_of(values, column.name)  # refuses lists and the like
    codes, levels = text_cells(values, level_of)
    levels = np.append(levels, [""] * bool((codes < 0).any()))
    order = np.argsort(levels)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    # the code -1 finds the last level, which is "" where there is such a code
    return pd.Categorical.from_codes(places[codes], levels[order])


def _make_part(kind: str, n_rows: int, max_levels: int) -> Any:
    """Make the transformer of the columns of one kind."""
    if kind == "number":
        return Pipeline([("fill", SimpleImputer(add_indicator=True)), ("scale", StandardScaler())])
    if kind == "boolean":
        return SimpleImputer(strategy="most_frequent", add_indicator=True)
    if kind == "date":
        steps = [("parts", DateParts()), ("fill", SimpleImputer()), ("scale", StandardScaler())]
        return Pipeline(steps)
    return OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=min(20, max(2, ceil(0.01 * n_rows))),
        max_categories=max_levels,
        sparse_output=False,
    )


def _fit_numbers(part: Pipeline, numbers: pd.DataFrame) -> Pipeline:
    """Fit the part of the numbers as its own `fit` would, in a tenth of the time.

    Its imputer finds the same in two rows that have the means and the gaps of all rows; the scaler
    is told the means and variances, which are taken a column at a time.
    """
    moments = [_moments(numbers.iloc[:, k].to_numpy()) for k in range(numbers.shape[1])]
    means, variances, gaps = np.array(moments).T
    rows = pd.DataFrame([means, np.where(gaps > 0.0, np.nan, means)], columns=numbers.columns)
    filled = part["fill"].fit_transform(rows)
    part["scale"].fit(filled)
    gaps = gaps[gaps > 0.0]
    scaler = part["scale"]
    scaler.mean_ = np.append(means, gaps)
    scaler.var_ = np.append(variances, gaps * (1.0 - gaps))
    spread = np.sqrt(scaler.var_)
    constant = spread <= 64.0 * np.finfo(float).eps * np.abs(scaler.mean_)
    scaler.scale_ = np.where(constant, 1.0, spread)
    scaler.n_samples_seen_ = len(numbers)
    return part


def _moments(column: Array) -> tuple[float, float, float]:
    """Return mean and variance of a column filled with its mean, and the share of missing cells."""
    mean = column.mean()
    if not np.isnan(mean):
        return mean, np.square(column - mean).mean(), 0.0
    filled = column[~np.isnan(column)]
    mean = filled.mean()
    return mean, np.square(filled - mean).sum() / column.size, 1.0 - filled.size / column.size


def _write_numbers(out: Array, numbers: pd.DataFrame, part: Pipeline) -> int:
    """Write filled and scaled numbers into the first columns of `out`; return how many."""
    fill, scaler = part["fill"], part["scale"]
    columns = [numbers.iloc[:, k].to_numpy() for k in range(numbers.shape[1])]
    n, width = len(columns), len(scaler.mean_)
    n_rows = max(64, _BLOCK // width)
    for start in range(0, len(out), n_rows):
        block = out[start : start + n_rows, :width]
        for k, column in enumerate(columns):
            block[:, k] = column[start : start + n_rows]
        lost = np.isnan(block[:, :n])
        block[:, n:] = lost[:, fill.indicator_.features_]
        np.copyto(block[:, :n], fill.statistics_, where=lost)
        block -= scaler.mean_
        block /= scaler.scale_
    return width


def _fit_categories(part: OneHotEncoder, cells: pd.DataFrame) -> OneHotEncoder:
    """Fit the part of the categories as its own `fit` would, but with numbers for the levels."""
    part.fit(cells.apply(lambda column: column.cat.codes))
    part.categories_ = [_levels_of(cells[name]) for name in cells]
    return part


def _levels_of(column: pd.Series) -> Array:
    return np.asarray(column.cat.categories, dtype=object)


def _write_categories(out: Array, cells: pd.DataFrame, part: OneHotEncoder) -> int:
    """Write one-hot rows into the first columns of `out`: each level is encoded once."""
    levels = [_levels_of(cells[name]) for name in cells]
    longest = max(map(len, levels))
    padded = {n: np.resize(some, longest) for n, some in zip(cells, levels, strict=True)}
    encoded = np.asarray(part.transform(pd.DataFrame(padded, dtype=object)))
    start = 0
    for name, names in zip(cells, _output_levels(part), strict=True):
        stop = start + len(names)
        out[:, start:stop] = encoded[:, start:stop][cells[name].cat.codes]
        start = stop
    return start


def _output_levels(part: OneHotEncoder) -> list[list[str]]:
    """Return what each output of each category stands for: " = red", " is missing"."""
    found = []
    for levels, rare in zip(part.categories_, part.infrequent_categories_, strict=True):
        pooled = set() if rare is None else set(rare.tolist())
        ends = [f" = {lv}" if lv else " is missing" for lv in levels if lv not in pooled]
        if pooled:
            ends.append(f" = other ({len(pooled)} rare level{'s' * (len(pooled) > 1)})")
        found.append(ends)
    return found


def _write(out: Array, cells: pd.DataFrame, part: Any) -> int:
    """Write the columns of a part into the first columns of `out`; return how many."""
    block = part.transform(cells)
    out[:, : block.shape[1]] = block
    return block.shape[1]


def _assemble(parts: list[tuple[str, Any, list[str]]], clean: pd.DataFrame) -> ColumnTransformer:
    """Make the ColumnTransformer of fitted parts: its own `fit` would fit and transform anew."""
    frozen = [(kind, FrozenEstimator(part), names) for kind, part, names in parts]
    whole = ColumnTransformer(frozen, sparse_threshold=0.0).fit(clean.head(1))
    whole.transformers = [(kind, clone(part), names) for kind, part, names in parts]
    whole.transformers_ = parts
    return whole


def _describe_numbers(part: Pipeline, names: list[str]) -> list[Feature]:
    missing = [names[place] for place in part["fill"].indicator_.features_]
    labels = [(name, name, "per unit") for name in names]
    labels += [(f"{name} is missing", name, "against not missing") for name in missing]
    return [
        Feature(label, column, float(scale), unit)
        for (label, column, unit), scale in zip(labels, part["scale"].scale_, strict=True)
    ]


def _describe_booleans(part: SimpleImputer, names: list[str]) -> list[Feature]:
    missing = [names[place] for place in part.indicator_.features_]
    found = [Feature(name, name, 1.0, "against not") for name in names]
    return found + [Feature(f"{n} is missing", n, 1.0, "against not missing") for n in missing]


def _describe_dates(part: Pipeline, names: list[str]) -> list[Feature]:
    found = []
    for (place, key), scale in zip(part["parts"].parts_, part["scale"].scale_, strict=True):
        ending, unit, swing = DATE_PARTS[key]
        found.append(Feature(names[place] + ending, names[place], float(scale) / swing, unit))
    return found


def _describe_categories(part: OneHotEncoder, names: list[str]) -> list[Feature]:
    ends = zip(names, _output_levels(part), strict=True)
    return [Feature(name + end, name, 1.0, "against not") for name, some in ends for end in some]


_FIT = {"number": _fit_numbers, "category": _fit_categories}
_WRITE = {"number": _write_numbers, "category": _write_categories}
_DESCRIBE = {
    "number": _describe_numbers,
    "boolean": _describe_booleans,
    "date": _describe_dates,
    "category": _describe_categories,
}


def _listed(names: list[str]) -> str:
    """Write "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
