"""Dates: how they are written, and what a linear model can use of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

Array = NDArray[Any]

DATE_FORMATS = {
    "yyyy-mm-dd": "%Y-%m-%d",
    "yyyy/mm/dd": "%Y/%m/%d",
    "dd.mm.yyyy": "%d.%m.%Y",
    "dd/mm/yyyy": "%d/%m/%Y",
    "mm/dd/yyyy": "%m/%d/%Y",
}
"""How a date may be written; a time of day, hh:mm[:ss[.f]], may follow each of them."""
_TIMES = ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", "T%H:%M:%S", "T%H:%M", "T%H:%M:%S.%f")
_WITH_ZONE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)"
_SAMPLE = 100

DATE_PARTS = {
    "days": (", days", "per day", 1.0),
    "year_cos": (", time of year (January, not July)", "January against July", 2.0),
    "year_sin": (", time of year (April, not October)", "April against October", 2.0),
    "weekend": (", weekend", "against working days", 1.0),
    "day_cos": (", time of day (midnight, not noon)", "midnight against noon", 2.0),
    "day_sin": (", time of day (6 h, not 18 h)", "6 h against 18 h", 2.0),
    "missing": (" is missing", "against not missing", 1.0),
}
"""Of each part: the end of its name, the unit of its effect, and how much of the part that is."""


def find_format(texts: Array) -> tuple[str | None, bool]:
    """Find the one format in which all these texts are dates, and whether two would do.

    ``dd/mm/yyyy`` and ``mm/dd/yyyy`` are told apart by a day beyond the 12th; where no text has
    one, neither is taken, as half of the readers would be wrong.
    """
    return one_format(formats_of(texts)) if len(texts) else (None, False)


def formats_of(texts: Array) -> frozenset[str]:
    """Find the formats in which all these texts are dates; all of them where there is no text."""
    if not len(texts):
        return frozenset(DATE_FORMATS)
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    if not all(text[:1].isdigit() for text in sample):
        return frozenset()
    fits = [name for name in DATE_FORMATS if _all_dates(sample, name)]
    return frozenset(name for name in fits if _all_dates(texts, name))


def one_format(fits: Collection[str]) -> tuple[str | None, bool]:
    """Return the format if there is one alone, and whether there are several."""
    return (next(iter(fits)), False) if len(fits) == 1 else (None, len(fits) > 1)


def _all_dates(texts: Array, name: str) -> bool:
    return not np.isnat(parse_dates(texts, name)).any()


def parse_dates(texts: Array, name: str) -> Array:
    """Read texts as datetime64[us], in UTC; NaT where one is no date of this form."""
    dates = np.full(len(texts), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    rest = np.arange(len(texts))
    for form in _likely_first([DATE_FORMATS[name] + time for time in _TIMES], texts[:_SAMPLE]):
        if rest.size:
            dates[rest] = _parse(texts[rest], form)
            rest = rest[np.isnat(dates[rest])]
    if rest.size and name == "yyyy-mm-dd":
        zoned = pd.Series(texts[rest], dtype=object).str.fullmatch(_WITH_ZONE).to_numpy(bool)
        dates[rest[zoned]] = _parse(texts[rest[zoned]], "ISO8601")
    return dates


def _likely_first(forms: list[str], sample: Array) -> list[str]:
    """Order forms by how many of a few texts they fit: a pass over all of them costs."""
    return sorted(forms, key=lambda form: np.count_nonzero(np.isnat(_parse(sample, form))))


def _parse(texts: Array, form: str) -> Array:
    found = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    return found.tz_localize(None).to_numpy().astype("datetime64[us]")


class DateParts(TransformerMixin, BaseEstimator):
    """Turn dates into numbers that a linear model can use.

    Of each column: days since 2000-01-01 (a trend), the time of year and the time of day as points
    on a circle (so that December is next to January), a flag for weekends (a week's pattern is
    mostly that step, which one sine wave cannot draw), and a flag for missing dates. Parts that do
    not vary in `fit` are left out. A missing date is NaN in all parts but its flag.

    Attributes
    ----------
    parts_ : list of (int, str)
        Of each output: the number of its column, and its part (a key of `DATE_PARTS`).
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables.dates import DateParts
    >>> dates = pd.DataFrame({"joined": pd.to_datetime(["2000-01-02", "2000-01-03", "2000-07-03"])})
    >>> parts = DateParts().fit(dates)
    >>> parts.get_feature_names_out().tolist()[0], parts.transform(dates)[:, 0]
    ('joined, days', array([  1.,   2., 184.]))
    """

    def fit(self, X: Any, y: Any = None) -> DateParts:
        """Find the parts that vary."""
        names, columns = _date_columns(X)
        varying = [
            (place, name)
            for place, values in enumerate(columns)
            for name, part in parts_of(values).items()
            if np.fmin.reduce(part) < np.fmax.reduce(part)
        ]
        return self.settle(names, varying)

    def settle(self, names: list[str], parts: list[tuple[int, str]]) -> DateParts:
        """Take parts that are known to vary, of columns with these names."""
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.parts_ = parts
        return self

    def transform(self, X: Any) -> Array:
        """Return the parts found in `fit`, as float64."""
        check_is_fitted(self)
        _, columns = _date_columns(X)
        parts = [parts_of(values) for values in columns]
        out = np.empty((len(columns[0]), len(self.parts_)))
        for k, (place, name) in enumerate(self.parts_):
            out[:, k] = parts[place][name]
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names such as "joined, days"."""
        check_is_fitted(self)
        names = self.feature_names_in_ if input_features is None else input_features
        out = [f"{names[place]}{DATE_PARTS[part][0]}" for place, part in self.parts_]
        return np.array(out, dtype=object)


def _date_columns(X: Any) -> tuple[list[str], list[Array]]:
    """Give the names and the datetime64[us] values of the columns of a frame or an array."""
    frame = X if hasattr(X, "columns") else pd.DataFrame(np.asarray(X)).add_prefix("x")
    values = [frame.iloc[:, k].to_numpy() for k in range(frame.shape[1])]
    return list(map(str, frame.columns)), [v.astype("datetime64[us]") for v in values]


def parts_of(dates: Array) -> dict[str, Array]:
    """Compute all parts of a column of dates, by the keys of `DATE_PARTS`."""
    days = (dates - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
    year = dates.astype("datetime64[Y]")
    length = (year + np.timedelta64(1, "Y")).astype("datetime64[D]") - year.astype("datetime64[D]")
    turn = 2.0 * np.pi * ((dates - year) / length)
    clock = 2.0 * np.pi * (days % 1.0)
    weekend = (np.floor(days) % 7.0 < 2.0).astype(float)  # 2000-01-01 was a Saturday
    return {
        "days": days,
        "year_cos": np.cos(turn),
        "year_sin": np.sin(turn),
        "weekend": np.where(np.isnat(dates), np.nan, weekend),
        "day_cos": np.cos(clock),
        "day_sin": np.sin(clock),
        "missing": np.isnat(dates).astype(float),
    }
