"""A column type that is added in one file works from a CSV to predictions, report and ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from semisquares.cli._describe import listed, used
from semisquares.tables import (
    export_onnx,
    find,
    fit_table,
    load,
    prepare,
    read,
    save,
)
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.columns import COLUMN_TYPES
from semisquares.tables.columns._cells import check_texts, factorize_texts, text_of
from semisquares.tables.columns._moments import Moments
from semisquares.tables.columns._protocol import ColumnType, Encoder, Feature, missing_flag
from semisquares.tables.columns.excluded import unless_constant
from semisquares.tables.errors import TableError
from semisquares.tables.io import split
from semisquares.tables.report import _page
from support.comparisons import binary

# -- the file that one would add to semisquares/tables/columns ------------------------------------

POINTS = {point: 45.0 * k for k, point in enumerate(("N", "NE", "E", "SE", "S", "SW", "W", "NW"))}


@dataclass(frozen=True)
class OnlyPoints:
    """Evidence that all texts are points of the compass."""

    def merge(self, other: OnlyPoints) -> OnlyPoints:
        return self


@dataclass(frozen=True)
class CompassEncoder(Encoder):
    columns: tuple[str, ...]

    def describe(self):
        found = []
        for name in self.columns:
            found += [Feature(f"{name}, {way}", name, 1.0, "per unit") for way in ("north", "east")]
        return found + [missing_flag(name) for name in self.columns]

    def encode(self, cells, out):
        n = len(self.columns)
        for k, name in enumerate(self.columns):
            angle = np.deg2rad(cells[name].to_numpy())
            out[:, 2 * k], out[:, 2 * k + 1] = np.cos(angle), np.sin(angle)
            out[:, 2 * n + k] = np.isnan(angle)
        np.nan_to_num(out, copy=False)

    def typical(self, statistics, n_rows):
        return np.zeros(len(self.features))

    def made_up_cells(self, place, rng):
        return np.array([*POINTS, None], dtype=object)

    def add_to_graph(self, graph):
        blocks, flags = [], []
        for name in self.columns:
            degrees = graph.input(name, "double")
            missing = graph.add("IsNaN", degrees)
            radians = graph.add("Mul", degrees, graph.constant(np.pi / 180.0))
            for turn in (np.pi / 2.0, 0.0):  # onnxruntime 1.20 has no cosine of doubles
                turned = graph.add("Sin", graph.add("Add", radians, graph.constant(turn)))
                blocks.append(graph.add("Where", missing, graph.constant(0.0), turned))
            flags.append(graph.cast(missing, "double"))
        return blocks + flags


class CompassType(ColumnType):
    """Points of the compass, encoded as coordinates on a circle."""

    name = "compass"
    plural = title = "compass points"
    onnx_input = "compass points as degrees, NaN where missing"
    encoder = CompassEncoder

    def profile_texts(self, cells):
        return OnlyPoints() if all(text in POINTS for text in cells.texts[1]) else None

    def infer(self, profile, name, *, requested):
        if not requested and self.name not in profile.evidence:
            return None
        return unless_constant(profile.describe(name, self.name), profile.n_rows)

    def clean(self, values, column):
        codes, texts = factorize_texts(values, text_of)
        degrees = np.array([POINTS.get(text, np.nan) for text in texts] + [np.nan])
        check_texts(values, column.name, codes, np.isnan(degrees[:-1]), "compass points", "none")
        return degrees[codes]

    def statistics(self, cells):
        return Moments.of(cells.to_numpy())

    def fit(self, statistics: Mapping[str, Any], n_rows, *, max_levels):
        return CompassEncoder(tuple(statistics))


# -- the tests ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def compass(monkeypatch):
    monkeypatch.setitem(COLUMN_TYPES, "compass", CompassType())


@pytest.fixture
def path(tmp_path):
    """A CSV in which the wind decides about rain; half of the rows have no label."""
    rng = np.random.default_rng(0)
    wind = rng.choice(list(POINTS), 160)
    rain = np.where(np.isin(wind, ["W", "SW", "NW"]), "yes", "no").astype(object)
    rain[1::2] = None
    wind = np.where(np.arange(160) % 9 == 4, None, wind)
    frame = pd.DataFrame({"wind": wind, "pressure": rng.normal(1013, 9, 160).round(1)})
    frame.assign(rain=rain).to_csv(tmp_path / "weather.csv", index=False)
    return str(tmp_path / "weather.csv")


def fitted(path):
    prepared = prepare(read(find(path), labels=("rain",)), "rain")
    return prepared, fit_table(prepared, method="soft", alpha=0.1, weight=1.0)


def test_a_csv_is_encoded_in_memory_and_in_chunks(path):
    prepared = prepare(read(find(path), labels=("rain",)), "rain")
    assert [(column.name, column.kind) for column in prepared.columns] == [
        ("wind", "compass"),
        ("pressure", "number"),
    ]
    assert [(feature.name, feature.role) for feature in prepared.features] == [
        ("pressure", "value"),
        ("wind, north", "value"),
        ("wind, east", "value"),
        ("wind is missing", "missing"),
    ]
    parts = split(find(path), labels=["rain"], n_bytes=600)
    table = prepare_chunks(parts, "rain")
    assert len(parts) > 3
    assert table.columns == prepared.columns
    X = np.concatenate([table.transform(part)[0] for part in parts])
    np.testing.assert_allclose(X, prepared.X, rtol=1e-12, atol=1e-12)


def test_the_type_can_be_requested_and_then_all_cells_have_to_be_of_it(path):
    frame = read(find(path), labels=("rain",)).assign(wind="N")
    frame.loc[3, "wind"] = "up"
    with pytest.raises(TableError) as caught:
        prepare(frame, "rain", kinds={"wind": "compass"})
    assert str(caught.value) == (
        "Column 'wind' has to hold compass points, but 'up' in row 4 is none; correct that cell, "
        "or empty it."
    )


def test_a_stored_model_predicts_the_rows_of_the_csv(path, tmp_path):
    prepared, model = fitted(path)
    save(model, tmp_path / "model")
    again, counts = load(tmp_path / "model"), PredictionCounts()
    rows = pa.concat_tables(predict_rows(again, find(path), counts)).to_pandas()
    truth = rows["wind"].isin(["W", "SW", "NW"]).map({True: "yes", False: "no"})
    known = rows["wind"] != ""
    assert (rows["rain_predicted"] == truth)[known].mean() > 0.85
    np.testing.assert_array_equal(again.encoder.transform(prepare_features(path)), prepared.X)


def prepare_features(path):
    return read(find(path), labels=("rain",)).drop(columns="rain")


def test_an_onnx_graph_predicts_what_the_model_predicts(path, tmp_path):
    pytest.importorskip("onnxruntime")
    _, model = fitted(path)
    done = export_onnx(model, tmp_path / "model.onnx", sample=prepare_features(path))
    assert done.whole
    assert done.inputs == ("pressure", "wind")
    assert "compass points as degrees, NaN where missing" in done.note


def test_the_command_line_and_the_report_name_the_type(path, monkeypatch):
    prepared, _ = fitted(path)
    assert used(prepared.columns).startswith("2 columns are used: 1 number, 1 compass;")
    assert "compass points: wind" in listed(prepared.columns)
    monkeypatch.setattr(_page, "_pictures", lambda comparison: {})  # which take long
    page = _page.render_comparison(binary(columns=prepared.columns), "semisquares compare")
    assert "compass points" in page
    assert "wind" in page
