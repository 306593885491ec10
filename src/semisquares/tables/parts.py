"""The parts of a preparation: how columns of each kind are fitted, written out, and described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .._utils.words import counted
from .cells import level_of, text_cells, to_booleans, to_dates, to_numbers
from .dates import DATE_PARTS, DateParts
from .kinds import Column
from .sums import Counts, DateMoments, Moments, Sums

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


def canonical(values: pd.Series, column: Column) -> Any:
    """Give a column as float64, as datetime64[us], or as levels, "" for a missing cell."""
    if column.kind == "number":
        return to_numbers(values, column.name, column.format)
    if column.kind == "boolean":
        return to_booleans(values, column.name)
    if column.kind == "date":
        return to_dates(values, column.name, column.format)
    codes, levels = text_cells(values, level_of)
    levels = np.append(levels, [""] * bool((codes < 0).any()))
    order = np.argsort(levels)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    # the code -1 finds the last level, which is "" where there is such a code
    return pd.Categorical.from_codes(places[codes], levels[order])


def fit_part(kind: str, names: list[str], sums: Sums, max_levels: int) -> Any:
    """Fit the transformer of the columns of one kind by the sums over their rows."""
    part = _make_part(kind, sums.n_rows, max_levels)
    return _FIT[kind](part, names, [sums.columns[name] for name in names], sums.n_rows)


def write_part(kind: str, part: Any, cells: pd.DataFrame, out: Array) -> int:
    """Write what a part makes of cells into the first columns of `out`; return how many."""
    return _WRITE.get(kind, _write)(part, cells, out)


def describe_part(kind: str, part: Any, names: list[str]) -> list[Feature]:
    """Say what each column is that a part makes of the columns with these names."""
    return _DESCRIBE[kind](part, names)


def assemble(parts: list[tuple[str, Any, list[str]]], clean: pd.DataFrame) -> ColumnTransformer:
    """Make the ColumnTransformer of fitted parts: its own `fit` would fit and transform anew.

    Of the rows `clean` one is enough.
    """
    frozen = [(kind, FrozenEstimator(part), names) for kind, part, names in parts]
    whole = ColumnTransformer(frozen, sparse_threshold=0.0).fit(clean.head(1))
    whole.transformers = [(kind, clone(part), names) for kind, part, names in parts]
    whole.transformers_ = parts
    return whole


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


def _write(part: Any, cells: pd.DataFrame, out: Array) -> int:
    """Write the columns of a part into the first columns of `out`; return how many."""
    block = part.transform(cells)
    out[:, : block.shape[1]] = block
    return block.shape[1]


# -- numbers ------------------------------------------------------------------------------------


def _fit_numbers(part: Pipeline, names: list[str], sums: list[Moments], n_rows: int) -> Pipeline:
    """Fit the part of the numbers as its own `fit` would.

    Its imputer finds the same in two rows that have the means and the gaps of all rows; the scaler
    is told the means and variances.
    """
    means = np.array([moments.mean for moments in sums])
    gaps = np.array([0.0 if m.n == n_rows else 1.0 - m.n / n_rows for m in sums])
    filled = part["fill"].fit_transform(_two_rows(names, means, gaps > 0.0))
    squares = np.array([moments.squares for moments in sums])
    gaps = gaps[gaps > 0.0]
    means, variances = np.append(means, gaps), np.append(squares / n_rows, gaps * (1.0 - gaps))
    _tell_scaler(part["scale"].fit(filled), means, variances, n_rows)
    return part


def _two_rows(names: list[str], values: Array, gaps: Array) -> pd.DataFrame:
    """Make rows that have these values, and gaps in the columns that have some."""
    return pd.DataFrame([values, np.where(gaps, np.nan, values)], columns=names)


def _tell_scaler(scaler: StandardScaler, means: Array, variances: Array, n_rows: int) -> None:
    """Let a scaler know the means and variances of all rows."""
    scaler.mean_, scaler.var_ = means, variances
    spread = np.sqrt(variances)
    constant = spread <= 64.0 * np.finfo(float).eps * np.abs(means)
    scaler.scale_ = np.where(constant, 1.0, spread)
    scaler.n_samples_seen_ = n_rows


def _write_numbers(part: Pipeline, numbers: pd.DataFrame, out: Array) -> int:
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


def _describe_numbers(part: Pipeline, names: list[str]) -> list[Feature]:
    missing = [names[place] for place in part["fill"].indicator_.features_]
    labels = [(name, name, "per unit") for name in names]
    labels += [(f"{name} is missing", name, "against not missing") for name in missing]
    return [
        Feature(label, column, float(scale), unit)
        for (label, column, unit), scale in zip(labels, part["scale"].scale_, strict=True)
    ]


# -- booleans and dates -------------------------------------------------------------------------


def _fit_booleans(
    part: SimpleImputer, names: list[str], sums: list[Counts], n_rows: int
) -> SimpleImputer:
    """Fit the part of the booleans as its own `fit` would, to two rows that stand for all."""
    counted = [counts.in_order for counts in sums]
    modes = np.array([values[counts.argmax()] for values, counts in counted])
    gaps = np.array([counts.sum() < n_rows for _, counts in counted])
    return part.fit(_two_rows(names, modes, gaps))


def _fit_dates(part: Pipeline, names: list[str], sums: list[DateMoments], n_rows: int) -> Pipeline:
    """Fit the part of the dates as its own `fit` would."""
    varying = [
        (place, key, moments)
        for place, dates in enumerate(sums)
        for key, moments in dates.parts.items()
        if moments.varies
    ]
    part["parts"].settle(names, [(place, key) for place, key, _ in varying])
    means = np.array([moments.mean for _, _, moments in varying])
    squares = np.array([moments.squares for _, _, moments in varying])
    day = pd.DataFrame({name: [np.datetime64("2000-01-01", "us")] for name in names})
    row = part["parts"].transform(day)  # an array or a frame, as scikit-learn is configured
    row[:] = means[None, :]
    part["scale"].fit(part["fill"].fit_transform(row))
    _tell_scaler(part["scale"], means, squares / n_rows, n_rows)
    return part


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


# -- categories ---------------------------------------------------------------------------------


def _fit_categories(
    part: OneHotEncoder, names: list[str], sums: list[Counts], n_rows: int
) -> OneHotEncoder:
    """Fit the part of the categories as its own `fit` would, to a few rows with numbers for levels.

    In these rows frequent levels are just frequent, and each of the others occurs.
    """
    counted = [counts.in_order for counts in sums]
    frequent = [_are_frequent(counts, part) for _, counts in counted]
    rows = [np.repeat(np.arange(len(f)), np.where(f, part.min_frequency, 1)) for f in frequent]
    length = max(map(len, rows))
    rows = [_longer(some, often, length) for some, often in zip(rows, frequent, strict=True)]
    part.fit(pd.DataFrame(dict(zip(names, rows, strict=True))))
    part.categories_ = [levels for levels, _ in counted]
    return part


def _are_frequent(counts: Array, part: OneHotEncoder) -> Array:
    """Say which levels have a feature of their own, by the rules of the encoder."""
    often = counts >= part.min_frequency
    if np.count_nonzero(often) >= part.max_categories:  # one place is for all the others
        often[np.argsort(counts, kind="stable")[: len(counts) - part.max_categories + 1]] = False
    return often


def _longer(rows: Array, frequent: Array, length: int) -> Array:
    """Append frequent levels; where none is, all in turn, which so few rows make none frequent."""
    more = np.flatnonzero(frequent) if frequent.any() else np.arange(len(frequent))
    return np.append(rows, np.resize(more, length - len(rows)))


def _write_categories(part: OneHotEncoder, cells: pd.DataFrame, out: Array) -> int:
    """Write one-hot rows into the first columns of `out`; return how many."""
    start = 0
    blocks = encode_levels(part, {name: _levels_of(cells[name]) for name in cells})
    for name, block in zip(cells, blocks, strict=True):
        stop = start + block.shape[1]
        out[:, start:stop] = block[cells[name].cat.codes]
        start = stop
    return start


def encode_levels(part: OneHotEncoder, levels: Mapping[str, Array]) -> list[Array]:
    """Return the features of some levels of each category, a row for each level."""
    longest = max(map(len, levels.values()))
    padded = {name: np.resize(some, longest) for name, some in levels.items()}
    rows = np.asarray(part.transform(pd.DataFrame(padded, dtype=object)))
    stops = np.cumsum([len(ends) for ends in _output_levels(part)])
    blocks = np.split(rows, stops[:-1], axis=1)
    return [block[: len(some)] for block, some in zip(blocks, levels.values(), strict=True)]


def _describe_categories(part: OneHotEncoder, names: list[str]) -> list[Feature]:
    ends = zip(names, _output_levels(part), strict=True)
    return [Feature(name + end, name, 1.0, "against not") for name, some in ends for end in some]


def _output_levels(part: OneHotEncoder) -> list[list[str]]:
    """Return what each output of each category stands for: " = red", " is missing"."""
    found = []
    for levels, rare in zip(part.categories_, part.infrequent_categories_, strict=True):
        pooled = set() if rare is None else set(rare.tolist())
        ends = [f" = {lv}" if lv else " is missing" for lv in levels if lv not in pooled]
        if pooled:
            ends.append(f" = other ({counted(len(pooled), 'rare level')})")
        found.append(ends)
    return found


def _levels_of(column: pd.Series) -> Array:
    return np.asarray(column.cat.categories, dtype=object)


_FIT: dict[str, Any] = {
    "number": _fit_numbers,
    "boolean": _fit_booleans,
    "date": _fit_dates,
    "category": _fit_categories,
}
_WRITE = {"number": _write_numbers, "category": _write_categories}
_DESCRIBE = {
    "number": _describe_numbers,
    "boolean": _describe_booleans,
    "date": _describe_dates,
    "category": _describe_categories,
}
