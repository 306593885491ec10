"""Dates: how they are written, and the parts of them that a linear model can use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import pandas as pd

from ..._utils.messages import Message, Parameter, join
from ..._utils.typing import Array
from ..errors import TableError
from ._cells import check_cells, check_texts, factorize_texts, level_of, object_storage, text_of
from ._moments import Moments, scales_of
from ._protocol import (
    Cells,
    Column,
    ColumnType,
    Encoder,
    Feature,
    Profile,
    missing_flag,
    typical_flags,
)
from ._summary import ColumnSummary
from .excluded import unless_constant

FORMATS = {
    "yyyy-mm-dd": "%Y-%m-%d",
    "yyyy/mm/dd": "%Y/%m/%d",
    "yyyy.mm.dd": "%Y.%m.%d",
    "dd.mm.yyyy": "%d.%m.%Y",
    "dd/mm/yyyy": "%d/%m/%Y",
    "mm/dd/yyyy": "%m/%d/%Y",
    "dd-mm-yyyy": "%d-%m-%Y",
    "mm-dd-yyyy": "%m-%d-%Y",
    "dd.mm.yy": "%d.%m.%y",
    "dd/mm/yy": "%d/%m/%y",
    "mm/dd/yy": "%m/%d/%y",
    "yy/mm/dd": "%y/%m/%d",
    "dd-mm-yy": "%d-%m-%y",
    "mm-dd-yy": "%m-%d-%y",
    "yy-mm-dd": "%y-%m-%d",
}
"""How a date may be written; a time of day, hh:mm[:ss[.f]], may follow each of them.

Years of two digits are from 1969 to 2068. They are read only if the user names the order, because
other codes look like them: 1.2.10, 10-12-30.
"""
ORDERS = {"dmy": "day/month", "mdy": "month/day", "ymd": "year/month/day"}
"""The orders that a user may name, and what messages call them."""
_TIMES = ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", "T%H:%M:%S", "T%H:%M", "T%H:%M:%S.%f")
_TIME_OF_DAY = re.compile(r"([ T])\d+:\d+(:\d+)?(\.\d+)?$")
_DIGITS = {"yyyy": r"\d{4}", "yy": r"\d\d", "mm": r" ?\d\d?", "dd": r" ?\d\d?"}


def _shape(name: str) -> re.Pattern[str]:
    """Compile what every date of a format looks like, and some other texts too."""
    parts = [_DIGITS.get(part, re.escape(part)) for part in re.split("([./-])", name)]
    return re.compile("".join(parts) + r"(?:[\sT]|$)", re.IGNORECASE)


_SHAPES = {name: _shape(name) for name in FORMATS}
_WITH_ZONE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)"
_SAMPLE = 100

PARTS = {
    "days": (", days", "per day", 1.0),
    "year_cos": (", time of year (January, not July)", "January against July", 2.0),
    "year_sin": (", time of year (April, not October)", "April against October", 2.0),
    "weekend": (", weekend", "against working days", 1.0),
    "day_cos": (", time of day (midnight, not noon)", "midnight against noon", 2.0),
    "day_sin": (", time of day (6 h, not 18 h)", "6 h against 18 h", 2.0),
}
"""For each part: the end of its name, the unit of its effect, and that unit in values of it."""


# -- reading cells --------------------------------------------------------------------------------


@dataclass(frozen=True)
class DateFormats:
    """The formats in which all texts of a column are dates."""

    names: frozenset[str]
    settled: bool = False
    """Whether the user has named the order of the only format."""

    @classmethod
    def of(cls, texts: Array) -> DateFormats:
        """Find the formats; all of them if there is no text."""
        if not len(texts):
            return cls(frozenset(FORMATS))
        sample = texts[:: max(1, len(texts) // _SAMPLE)]
        if not all(text[:1].isdigit() for text in sample):
            return cls(frozenset())
        likely = [name for name, shape in _SHAPES.items() if all(map(shape.match, sample))]
        fits = [name for name in likely if _all_dates(sample, name)]
        return cls(frozenset(name for name in fits if _all_dates(texts, name)))

    @property
    def only(self) -> str | None:
        """The format, if there is exactly one, and its year has four digits or it is settled."""
        name = next(iter(self.names)) if len(self.names) == 1 else None
        return name if name is not None and (self.settled or "yyyy" in name) else None

    @property
    def ambiguous(self) -> bool:
        """Whether several formats fit: dd/mm/yyyy and mm/dd/yyyy if no day is beyond the 12th.

        Neither is taken then, because half of the readers would be wrong. A year of two digits may
        also be a day.
        """
        return bool(self.names) and self.only is None

    @property
    def orders(self) -> list[str]:
        """The orders of the formats, as a user may name them."""
        return [order for order in ORDERS if order in map(order_of, self.names)]

    @property
    def readings(self) -> str:
        """What the dates may be: "day/month or month/day"."""
        return " or ".join(ORDERS[order] for order in self.orders)

    @property
    def remedy(self) -> Message:
        """How to settle dates that are ambiguous."""
        given = [Message("{dates}", dates=Parameter("dates", order)) for order in self.orders]
        return Message("give {dates}, or write them as yyyy-mm-dd", dates=join(" or ", given))

    def settle(self, order: str) -> DateFormats:
        """Return the format of an order if the formats are ambiguous and it is among them."""
        chosen = frozenset(name for name in self.names if order_of(name) == order)
        return DateFormats(chosen, settled=True) if self.ambiguous and chosen else self

    def merge(self, other: DateFormats) -> DateFormats:
        """Return the formats that fit both chunks."""
        return DateFormats(self.names & other.names)


def order_of(name: str) -> str:
    """Return the order of a format.

    Examples
    --------
    >>> order_of("dd/mm/yyyy"), order_of("yy-mm-dd")
    ('dmy', 'ymd')
    """
    return "".join(part[0] for part in re.split("[./-]", name))


def settle_dates(profile: Profile, order: str | None) -> Profile:
    """Return a profile whose ambiguous dates have an order, if the user has named one."""
    formats: DateFormats | None = profile.evidence.get(DateType.name)
    if order is None or formats is None:
        return profile
    return replace(profile, evidence={**profile.evidence, DateType.name: formats.settle(order)})


def are_dates(texts: Array) -> bool:
    """Tell whether all texts are dates of one format, even an ambiguous one, with full years."""
    return bool(len(texts)) and any("yyyy" in name for name in DateFormats.of(texts).names)


def _all_dates(texts: Array, name: str) -> bool:
    return not np.isnat(parse_dates(texts, name)).any()


def parse_dates(texts: Array, name: str) -> Array:
    """Read texts as datetime64[us] in UTC, NaT if one is not a date of this format."""
    dates = np.full(len(texts), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    rest = np.arange(len(texts))
    for time in _likely_first(texts[:_SAMPLE]):
        if rest.size:
            dates[rest] = _parse(texts[rest], FORMATS[name] + time)
            rest = rest[np.isnat(dates[rest])]
    if rest.size and name == "yyyy-mm-dd":
        zoned = pd.Series(texts[rest], dtype=object).str.fullmatch(_WITH_ZONE).to_numpy(bool)
        dates[rest[zoned]] = _parse(texts[rest[zoned]], "ISO8601")
    return dates


def _likely_first(sample: Array) -> list[str]:
    """Order times by how many texts of a sample end like them, to save passes over all texts."""
    counts = Counter(map(_time_of, sample))
    return sorted(_TIMES, key=lambda time: -counts[time])


def _time_of(text: str) -> str:
    """Return how the time of day at the end of a text is written, "" if there is none."""
    found = _TIME_OF_DAY.search(text)
    if found is None:
        return ""
    separator, seconds, fraction = found.groups()
    return separator + "%H:%M" + (":%S" if seconds else "") + (".%f" if fraction else "")


def _parse(texts: Array, form: str) -> Array:
    found = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    return found.tz_localize(None).to_numpy().astype("datetime64[us]")


def to_dates(values: pd.Series, name: str, form: str | None) -> Array:
    """Return a column as datetime64[us], NaT for missing cells; TableError for other cells."""
    if values.dtype.kind == "M":
        dtype = getattr(values.dtype, "pyarrow_dtype", values.dtype)
        if getattr(dtype, "tz", None) is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        return values.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT", "us"))
    storage = object_storage(values)
    if storage == "date":
        return _dates_of_objects(values)
    if storage == "mixed":
        check_cells(values, name, date, np.datetime64)
    form = form or "yyyy-mm-dd"
    codes, texts = factorize_texts(values, text_of)
    dates = np.append(parse_dates(texts, form), np.datetime64("NaT", "us"))
    check_texts(values, name, codes, np.isnat(dates[:-1]), f"dates of the form {form}", "not one")
    return dates[codes]


def _dates_of_objects(values: pd.Series) -> Array:
    """Return objects such as ``datetime.date`` as datetime64[us] in UTC."""
    found = pd.to_datetime(values, errors="coerce", utc=True).dt.tz_localize(None)
    dates = found.to_numpy(dtype="datetime64[us]", copy=True)
    # if pandas counts in nanoseconds, it loses the dates after 2262
    lost = np.flatnonzero(np.isnat(dates) & values.notna().to_numpy())
    for place in lost:
        stamp = pd.Timestamp(values.iloc[place])
        stamp = stamp if stamp.tz is None else stamp.tz_convert(None)
        dates[place] = stamp.as_unit("us").to_datetime64()
    return dates


# -- parts of dates -------------------------------------------------------------------------------


def date_parts(dates: Array) -> dict[str, Array]:
    """Compute the `PARTS` of datetime64[us] dates, and the flag "missing".

    The parts are the days since 2000-01-01 (a trend), the time of year and the time of day as
    points on a circle (so that December is next to January), and a flag for weekends (one sine
    wave could not follow the step of a week). A missing date is NaN in all parts but its flag.

    Examples
    --------
    >>> import numpy as np
    >>> date_parts(np.array(["2000-01-02", "NaT"], dtype="datetime64[us]"))["days"]
    array([ 1., nan])
    """
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


@dataclass(frozen=True)
class DateMoments:
    """The moments of each part of a column of dates."""

    parts: Mapping[str, Moments]

    @classmethod
    def of(cls, dates: Array) -> DateMoments:
        """Return the moments of datetime64[us] dates."""
        return cls({name: Moments.of(part) for name, part in date_parts(dates).items()})

    def merge(self, other: DateMoments) -> DateMoments:
        """Return the moments of both chunks."""
        pairs = zip(self.parts.items(), other.parts.values(), strict=True)
        return DateMoments({name: one.merge(two) for (name, one), two in pairs})


# -- the encoder ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DateEncoder(Encoder):
    """Computes parts of dates, fills those of missing dates with the mean, and scales them."""

    columns: tuple[str, ...]
    parts: tuple[tuple[int, str], ...]
    """For each feature: the position of its column, and the name of the part."""
    means: Array
    scales: Array

    def describe(self) -> list[Feature]:
        """Describe the parts of each column in turn."""
        found = []
        for (place, part), scale in zip(self.parts, self.scales.tolist(), strict=True):
            name = self.columns[place]
            if part == "missing":
                found.append(missing_flag(name, scale))
                continue
            ending, unit, swing = PARTS[part]
            found.append(Feature(name + ending, name, scale / swing, unit, "date part"))
        return found

    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Compute, fill and scale the parts."""
        parts = [date_parts(cells[name].to_numpy()) for name in self.columns]
        for k, (place, part) in enumerate(self.parts):
            out[:, k] = parts[place][part]
        np.copyto(out, self.means, where=np.isnan(out))
        out -= self.means
        out /= self.scales

    def typical(self, statistics: Mapping[str, DateMoments], n_rows: int) -> Array:
        """Return the mean of each part of the dates."""
        flags = np.array([part == "missing" for _, part in self.parts], dtype=bool)
        row = np.where(flags, typical_flags(self.means), self.means)
        return (row - self.means) / self.scales

    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return dates from 1990 to 2044 and a missing one."""
        days = rng.integers(0, 20_000, 79).astype("timedelta64[D]")
        return np.append(np.datetime64("1990-01-01", "us") + days, np.datetime64("NaT", "us"))


# -- the column type ------------------------------------------------------------------------------


class DateType(ColumnType):
    """Dates, encoded as those of their parts that vary, scaled."""

    name = "date"
    plural = title = "dates"
    encoder = DateEncoder

    def profile_texts(self, cells: Cells) -> DateFormats:
        """Find the formats in which all texts are dates."""
        return DateFormats.of(cells.texts[1])

    def profile(self, cells: Cells, *, requested: bool) -> Profile:
        """Count dates; if requested, check that cells are dates of one format."""
        evidence = {}
        if requested and cells.storage != self.name:
            formats = evidence[self.name] = self.profile_texts(cells)
            if not formats.ambiguous:
                to_dates(cells.values, cells.name, formats.only)
        if cells.values.dtype.kind == "M":  # do not write a million dates as text
            return Profile.of_values(cells, *pd.factorize(cells.values))
        profile = Profile.of_values(cells, *factorize_texts(cells.values, level_of))
        return replace(profile, evidence=evidence)

    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column | None:
        """Accept text that is dates of exactly one format."""
        formats: DateFormats | None = profile.evidence.get(self.name)
        form = None if formats is None or not profile.n_filled else formats.only
        known = requested or profile.storage == self.name
        if requested and formats is not None and profile.n_filled and formats.ambiguous:
            raise TableError(
                "Column {name!r} cannot be read as dates: cells such as {cell!r} may be "
                "{readings}; {remedy}.",
                code="ambiguous_dates",
                name=name,
                cell=profile.example[1],
                readings=formats.readings,
                remedy=formats.remedy,
            )
        if not known and form is None:
            return None
        return unless_constant(profile.describe(name, self.name, form), profile.n_rows)

    def remark(self, profile: Profile, column: Column) -> str:
        """Point out dates that are ambiguous, unless they may as well be codes, such as 1.2.10."""
        formats: DateFormats | None = profile.evidence.get(self.name)
        if formats is None or not formats.ambiguous:
            return ""
        if not any("/" in name or "yyyy" in name for name in formats.names):
            return ""
        return Message(
            "its dates may be {readings}: {remedy}",
            readings=formats.readings,
            remedy=formats.remedy,
        )

    def check(self, values: pd.Series, name: str) -> None:
        """Accept all cells here; `clean` checks them, because dates and texts may be mixed."""

    def clean(self, values: pd.Series, column: Column) -> Array:
        """Return datetime64[us], NaT for missing cells."""
        return to_dates(values, column.name, column.format)

    def statistics(self, cells: pd.Series) -> DateMoments:
        """Return the moments of each part."""
        return DateMoments.of(cells.to_numpy())

    def comparable(self, cells: pd.Series) -> Array:
        """Return days since 2000-01-01."""
        days: Array = (cells.to_numpy() - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
        return days

    def summary(self, statistics: DateMoments, n_rows: int, sample: Array) -> ColumnSummary:
        """Choose bins of days by the sample."""
        return ColumnSummary.of_numbers(self.name, statistics.parts["days"], n_rows, sample)

    def fit(
        self, statistics: Mapping[str, DateMoments], n_rows: int, *, max_levels: int
    ) -> DateEncoder:
        """Keep the parts that vary, and scale them by the moments of all rows."""
        varying = [
            (place, part, moments)
            for place, dates in enumerate(statistics.values())
            for part, moments in dates.parts.items()
            if moments.varies
        ]
        means = np.array([moments.mean for _, _, moments in varying])
        squares = np.array([moments.squares for _, _, moments in varying])
        parts = tuple((place, part) for place, part, _ in varying)
        return DateEncoder(tuple(statistics), parts, means, scales_of(means, squares / n_rows))
