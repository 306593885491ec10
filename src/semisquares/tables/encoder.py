"""A scikit-learn transformer that turns the columns of a table into numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils.typing import Array
from ..estimators import AveragedClassifier
from ._arguments import refuse, whole_number
from ._encoding import MAX_LEVELS, Encoding, as_frame, fit_encoding
from .columns import Column, Encoder, Feature


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    `fit` infers the type of each column (see `infer_schema`) and how to encode it: numbers are
    filled with the mean and scaled, booleans become 0 and 1, dates become parts, categories are
    one-hot with rare levels pooled, and free text becomes at most 10 features (the leading singular
    vectors of its character n-grams). If `fit` saw missing cells in a column, they become a feature
    of their own (in a category one more level, which may be rare). All rows take part, whether
    labeled or not; labels are not used.

    Parameters
    ----------
    kinds : mapping of column to column type, optional
        Sets the types of some columns: "number", "category", "boolean", "date" or "text".
    drop : sequence of str, or mapping of str to str, default=()
        Columns to leave out, and why.
    max_levels : int, default=50
        The most features that a category may have; its rarest levels share one.
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in dates that can be read in several ways; such columns
        are text otherwise.

    Attributes
    ----------
    columns_ : tuple of Column
        The inferred schema, with the reasons for which columns are left out.
    features_ : tuple of Feature
        What each column of the result is.
    encoders_ : dict of str to Encoder
        The fitted encoders by column type, in the order of their features.
    encoding_ : Encoding
        The three together.
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

    encoding_: Encoding

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        drop: Sequence[str] | Mapping[str, str] = (),
        max_levels: int = MAX_LEVELS,
        dates: str | None = None,
    ) -> None:
        self.kinds = kinds
        self.drop = drop
        self.max_levels = max_levels
        self.dates = dates

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Infer the types of the columns, and how to fill, scale and encode them.

        Parameters
        ----------
        X : DataFrame (pandas, or one with a method ``to_pandas``)
        y : ignored
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the encoded rows."""
        frame = as_frame(X)
        whole_number("max_levels", self.max_levels, 1)
        self.encoding_, encoded = fit_encoding(
            frame,
            kinds=self.kinds,
            drop=self.drop,
            dates=self.dates,
            max_levels=self.max_levels,
        )
        self.feature_names_in_ = np.array(self.encoding_.names, dtype=object)
        self.n_features_in_ = len(self.encoding_.names)
        return encoded

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
        return self.encoding_.transform(X)

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
        return self.encoding_.unseen(X)

    @property
    def columns_(self) -> tuple[Column, ...]:
        return self.encoding_.columns

    @property
    def features_(self) -> tuple[Feature, ...]:
        return self.encoding_.features

    @property
    def encoders_(self) -> Mapping[str, Encoder]:
        return self.encoding_.encoders


def make_table_pipeline(
    classifier: Any = None,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    max_levels: int = MAX_LEVELS,
    dates: str | None = None,
) -> Pipeline:
    """Make a pipeline that fits a classifier to a table as it is: text, dates, missing cells.

    This is what the command line fits. The encoder learns from rows without a label, too.

    Parameters
    ----------
    classifier : classifier, optional
        The last step; an ``AveragedClassifier`` if None.
    kinds, drop, max_levels, dates
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
    encoder = TableEncoder(kinds=kinds, drop=drop, max_levels=max_levels, dates=dates)
    fits = all(callable(getattr(classifier, name, None)) for name in ("fit", "predict"))
    if classifier is not None and (isinstance(classifier, type) or not fits):
        raise refuse(
            "classifier", classifier, "a classifier, such as SoftLabelClassifier(), or None"
        )
    last = AveragedClassifier() if classifier is None else classifier
    return Pipeline([("encoder", encoder), ("classifier", last)])
