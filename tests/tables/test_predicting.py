"""Predictions beside a table's own cells: no cell is lost, and replaced cells are reported."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from semisquares.tables import TableError, fit_table, prepare
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.io import find, read
from semisquares.tables.models.files import dumps, loads
from support.table_files import csv_of

GIVEN = ("--method", "ridge", "--alpha", "1", "--folds", "2", "--repeats", "1", "--jobs", "1")


def damages(n_rows=60):
    """A table of three classes that lie far apart; one of them is called None."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % 3
    return pd.DataFrame(
        {
            "case": [f"case-{k:03d}" for k in range(n_rows)],
            "size": (rng.normal(size=n_rows) / 9 + (truth == 1)).round(3),
            "depth": (rng.normal(size=n_rows) / 9 + (truth == 2)).round(3),
            "damage": np.array(["None", "Minor", "Major"])[truth],
        }
    )


def fitted(frame, target="damage", **wishes):
    rows = prepare(frame, target, **wishes)
    return fit_table(rows, method="ridge", alpha=1.0, folds=2, repeats=1)


def filled(model, source, **wishes):
    counts = PredictionCounts()
    pieces = predict_rows(model, source, counts, only_missing=True, **wishes)
    return pa.concat_tables(pieces), counts


# -- labels -------------------------------------------------------------------------------------


def test_a_class_called_none_is_kept_and_na_is_filled_and_counted():
    frame = damages()
    truth = frame["damage"].tolist()
    model = fitted(frame)
    frame.loc[::5, "damage"] = ""
    frame.loc[1::5, "damage"] = "NA"
    frame.loc[2::5, "damage"] = "null"
    cells, counts = filled(model, csv_of(frame), rows=7)
    assert cells["damage"].to_pylist() == truth
    assert cells["damage_filled"].to_pylist() == [k % 5 < 3 for k in range(60)]
    assert counts.n_filled == 36
    assert counts.replaced == {"NA": 12, "null": 12}


def test_doubtful_cells_stay_as_they_are_and_are_not_marked():
    frame = damages()
    model = fitted(frame)
    frame.loc[::2, "damage"] = "NA"
    cells, counts = filled(model, csv_of(frame), rows=7, min_confidence=2.0)
    assert cells["damage"].to_pylist() == frame["damage"].tolist()
    assert not any(cells["damage_filled"].to_pylist())
    assert (counts.n_filled, counts.n_doubtful, counts.replaced) == (0, 30, {})
    sure = cells["damage_probability"].to_pylist()
    assert [one is None for one in sure] == [False, True] * 30


def test_filled_cells_have_the_probabilities_that_the_model_gives_them():
    frame = damages()
    model = fitted(frame)
    frame.loc[::3, "damage"] = None
    cells, _ = filled(model, csv_of(frame), rows=7, all_probabilities=True)
    found = model.predict(frame.iloc[::3])
    names = ["damage_probability", *(f"damage_probability_{name}" for name in model.classes)]
    assert cells.column_names[-5:] == ["damage_filled", *names]
    for name, expected in zip(names, [found.confidence, *found.probabilities.T], strict=True):
        assert cells[name].to_pylist()[::3] == expected.tolist()


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["averaged", "logistic", "forest", "boosting"])
def test_methods_with_probabilities_write_no_soft_labels(method):
    frame = damages()
    model = fit_table(prepare(frame, "damage"), method=method, folds=2, repeats=1)
    counts = PredictionCounts()
    (cells,) = predict_rows(model, csv_of(frame), counts, all_probabilities=True)
    kinds = ("probability", "decision")
    each = [f"damage_{kind}_{name}" for kind in kinds for name in model.classes]
    names = ["damage_predicted", "damage_probability", *each]
    assert cells.column_names == [*frame.columns, *names]
    found = model.predict(frame)
    columns = [found.confidence, *found.probabilities.T, *found.decision.T]
    for name, expected in zip(names[1:], columns, strict=True):
        assert cells[name].to_pylist() == expected.tolist()
    assert not [note for note in counts.notes if "calibration" in note]
    back = prepare(cells.to_pandas(), "damage")
    assert [column.name for column in back.columns if column.used] == ["size", "depth"]


def test_a_model_without_a_calibration_says_that_its_probabilities_are_soft_labels():
    model, counts = replace(fitted(damages()), calibration=None), PredictionCounts()
    (cells,) = predict_rows(model, csv_of(damages()), counts, all_probabilities=True)
    assert cells["damage_probability_None"].to_pylist() == cells["damage_soft_None"].to_pylist()
    assert counts.notes[0].startswith("The model was stored without a calibration")


@pytest.mark.parametrize(
    ("cells", "replaced"),
    [
        (pa.array(["None", None, "NA", ""]), {"NA": 1}),
        (pa.array(["None", None, "?", "NA"]).dictionary_encode(), {"?": 1, "NA": 1}),
    ],
)
def test_cells_of_parquet_that_are_not_empty_are_counted_when_filled(tmp_path, cells, replaced):
    model = fitted(damages().assign(damage=["None", "Minor", "?"] * 20), unlabeled="?")
    numbers = {"size": [0.0, 1.0, 0.0, 1.0], "depth": [0.0] * 4}
    parquet.write_table(pa.table({**numbers, "damage": cells}), tmp_path / "a.parquet")
    found, counts = filled(model, find(str(tmp_path / "a.parquet")))
    assert found["damage"].to_pylist() == ["None", "Minor", "None", "Minor"]
    assert counts.replaced == replaced


def test_the_command_says_what_it_understood_and_what_it_replaced(semisquares):
    frame = damages()
    frame.loc[::4, "damage"] = "NA"
    frame.loc[1::4, "damage"] = ""
    frame.to_csv("t.csv", index=False)
    code, _, notes = semisquares("fit", "t.csv", "--target", "damage", "-o", "m", *GIVEN)
    assert code == 0
    assert "Note: 15 cells of column 'damage' say 'NA', which is read as no label" in notes
    code, _, notes = semisquares("predict", "m", "t.csv", "--only-missing", "-o", "out.parquet")
    assert (code, notes) == (
        0,
        "Note: 15 of the filled cells contained 'NA', which is not a label.\n",
    )
    out = pd.read_parquet("out.parquet")
    assert out["damage"].tolist() == damages()["damage"].tolist()
    assert out.dtypes.astype(str)["size"] == "float64"
    code, printed, _ = semisquares(
        "predict", "m", "t.csv", "--only-missing", "-o", "out.csv", "--json"
    )
    assert json.loads(printed)["replaced"] == {"NA": 15}


# -- types and index ----------------------------------------------------------------------------


def test_a_csv_keeps_the_types_of_its_cells_if_the_output_does():
    frame = damages().assign(n=[*range(58), "", ""], level=["2", "1", ""] * 20)
    model = fitted(frame, "level")
    everything = pa.concat_tables(
        predict_rows(model, csv_of(frame), PredictionCounts(), typed=True, rows=7)
    )
    assert everything.schema.field("size").type == pa.float64()
    assert everything["n"].to_pylist() == [*range(58), None, None]
    assert everything["level"].to_pylist() == [2, 1, None] * 20
    assert everything["level_predicted"].type == pa.int64()
    cells, _ = filled(model, csv_of(frame.assign(level="")), typed=True)
    assert set(cells["level"].to_pylist()) == {1, 2}
    text = pa.concat_tables(predict_rows(model, csv_of(frame), PredictionCounts()))
    assert text["n"].to_pylist() == [*map(str, range(58)), "", ""]


@pytest.mark.parametrize("only_missing", [False, True])
def test_a_string_index_of_parquet_comes_back(tmp_path, only_missing):
    frame = damages().set_index("case").rename_axis(None)
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    pieces = predict_rows(
        fitted(frame), find(str(path)), PredictionCounts(), only_missing=only_missing
    )
    out = pa.concat_tables(pieces).to_pandas()
    pd.testing.assert_frame_equal(out[["size", "depth", "damage"]], frame)


# -- what a model keeps and reports -------------------------------------------------------------


def test_a_stored_model_holds_no_cell_of_an_id():
    model = fitted(damages())
    assert "example" not in model.about["columns"][0]
    data = dumps(model)
    with ZipFile(io.BytesIO(data)) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert b"case" in content
    assert b"case-" not in content
    assert {column.example for column in loads(data).encoder.columns} == {""}
    assert model.encoder.columns[0].example == "case-000"  # in memory, but not in the file


@pytest.mark.parametrize("method", ["soft", "hard"])
def test_without_unlabeled_rows_no_weight_is_reported(method):
    rows = prepare(damages(), "damage")
    model = fit_table(rows, method=method, folds=2, repeats=1)
    assert ", no unlabeled rows: error" in model.about["summary"]


def test_signs_of_numbers_may_differ_from_the_fit_if_they_mean_the_same():
    frame = damages()
    model = fitted(frame.assign(size="$" + frame["size"].astype(str)))
    plain = model.predict(frame).decision
    np.testing.assert_array_equal(loads(dumps(model)).predict(frame).decision, plain)
    signed = csv_of(frame.assign(size="$ " + frame["size"].astype(str)))
    cells = pa.concat_tables(predict_rows(model, signed, PredictionCounts()))
    np.testing.assert_array_equal(cells["damage_decision_None"], plain[:, 2])
    assert cells["size"][0].as_py().startswith("$ ")


def test_inspect_lists_features_by_the_strength_that_it_shows(semisquares):
    frame = damages()
    rng = np.random.default_rng(1)
    for name, unit in (("a", 1e3), ("b", 1e-3), ("c", 1.0)):
        frame[name] = frame["size"] * unit + rng.normal(size=60) * unit
    frame.query("damage != 'Major'").to_csv("t.csv", index=False)
    semisquares("fit", "t.csv", "--target", "damage", "-o", "m", *GIVEN)
    code, printed, _ = semisquares("inspect", "m")
    header, *rows = printed[printed.index("\nfeature") :].split("\n")[1:7]
    assert (code, header.split()) == (0, ["feature", "strength", "effect"])
    shown = [abs(float(row.split()[1].replace("−", "-"))) for row in rows]
    assert len(shown) == 5
    assert shown == sorted(shown, reverse=True)


def test_a_shift_in_the_fit_is_said_by_fit_inspect_and_predict(semisquares):
    rng = np.random.default_rng(0)
    price = np.sort(rng.exponential(1.0, 400)).round(3)
    good = np.where(rng.random(400) < np.clip(0.2 + price / 2, 0, 1), "good", "fair")
    frame = pd.DataFrame({"price": price, "depth": rng.normal(size=400).round(3)})
    frame["cut"] = np.where(np.arange(400) < 100, good, None)
    frame.to_csv("t.csv", index=False)
    words = "The labeled rows do not look like the unlabeled ones"
    _, _, fit = semisquares("fit", "t.csv", "--target", "cut", "-o", "m", *GIVEN)
    _, _, inspected = semisquares("inspect", "m")
    _, _, predicted = semisquares("predict", "m", "t.csv", "-o", "out.csv")
    assert f"Note: {words}" in fit
    assert f"Note: {words}" in inspected
    assert f"Note: Noticed in the fit: {words}" in predicted
    assert "differ from those that the model was fitted on" not in predicted
    _, printed, _ = semisquares("predict", "m", "t.csv", "-o", "out.csv", "--json")
    useless, notice = json.loads(printed)["fit_notices"]
    assert useless.startswith("The model is useless for class 'good'")
    assert notice.startswith(words)
    _, printed, _ = semisquares("inspect", "m", "--json")
    assert "shift" in [one["kind"] for one in json.loads(printed)["notices"]]


# -- other columns ------------------------------------------------------------------------------


def test_columns_that_the_fit_has_not_seen_are_ignored_with_a_note():
    frame = damages()
    model = fitted(frame)
    more = frame.assign(site="A", visit=range(60))
    prediction = model.predict(more)
    np.testing.assert_array_equal(prediction.decision, model.predict(frame).decision)
    assert prediction.ignored == ("site", "visit")
    assert prediction.notes == [
        "The table has columns 'site', 'visit' that the model was not fitted with; they are "
        "ignored."
    ]
    assert model.predict(frame).notes == model.predict(frame[["depth", "size"]]).notes == []


def test_the_command_keeps_a_column_that_the_model_ignores(semisquares):
    damages().to_csv("t.csv", index=False)
    damages().assign(site="A").to_csv("more.csv", index=False)
    semisquares("fit", "t.csv", "--target", "damage", "-o", "m", *GIVEN)
    code, _, notes = semisquares("predict", "m", "more.csv", "-o", "out.csv")
    assert (code, notes) == (
        0,
        "Note: The table has column 'site' that the model was not fitted with; it is ignored.\n",
    )
    assert set(pd.read_csv("out.csv")["site"]) == {"A"}
    _, printed, _ = semisquares("predict", "m", "more.csv", "-o", "out.csv", "--json")
    assert json.loads(printed)["ignored_columns"] == ["site"]


INDEXES = {
    "a number of the row": range(60),
    "a category": ["pump", "belt", "pump"] * 20,
    "a quantity": np.random.default_rng(1).normal(size=60).round(3),
}


@pytest.mark.parametrize("index", INDEXES)
def test_a_csv_with_an_unnamed_index_is_the_same_table_for_us_and_for_pandas(tmp_path, index):
    path = tmp_path / "t.csv"
    damages().set_axis(INDEXES[index]).to_csv(path)
    ours, theirs = read(path, labels=["damage"]), pd.read_csv(path, keep_default_na=False)
    assert (ours.columns[0], theirs.columns[0]) == ("column 1", "Unnamed: 0")
    for frame, other in ((ours, theirs), (theirs, ours)):
        model = loads(dumps(fitted(frame)))
        expected = model.predict(frame)
        found = model.predict(other)
        np.testing.assert_array_equal(found.decision, expected.decision)
        assert found.notes == []
        counts = PredictionCounts()
        cells = pa.concat_tables(predict_rows(model, find(path), counts, rows=25))
        np.testing.assert_allclose(cells["damage_decision_None"], expected.decision[:, 2])
        assert cells.column_names[0] == "column 1"
        assert counts.notes == []


def test_two_unnamed_columns_are_not_mixed_up():
    frame = damages().drop(columns="case")
    model = fitted(frame.assign(**{"column 1": np.arange(60) % 7}))
    with pytest.raises(TableError, match="lacks column 'column 1'"):
        model.predict(frame.assign(**{"Unnamed: 0": 1.0, "": 2.0}))


# -- numbers ------------------------------------------------------------------------------------


def in_points(values):
    """Write numbers with a decimal comma and points between thousands."""
    return [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]


@pytest.mark.parametrize("fitted_from", ["points", "commas", "numbers"])
def test_amounts_are_the_same_numbers_however_both_tables_write_them(fitted_from):
    plain = damages().assign(size=lambda table: (table["size"] * 1e6).round(2))
    tables = {
        "points": plain.assign(size=in_points(plain["size"])),
        "commas": plain.assign(size=[f"{value:,.2f}" for value in plain["size"]]),
        "numbers": plain,
    }
    sources = {
        name: io.BytesIO(table.to_csv(index=False, sep=";", decimal=mark).encode())
        for (name, table), mark in zip(tables.items(), ",..", strict=True)
    }
    model = fitted(read(find("-", stdin=sources[fitted_from]), labels=["damage"]))
    found = {}
    for name, content in sources.items():
        content.seek(0)
        pieces = predict_rows(model, find("-", stdin=content), PredictionCounts())
        found[name] = next(pieces)["damage_decision_Minor"].to_pylist()
    assert found["points"] == found["commas"] == found["numbers"]


def test_percentages_without_their_sign_are_noted():
    frame = damages()
    model = fitted(frame.assign(size=[f"{100 * value:.1f}%" for value in frame["size"]]))
    bare, signed = PredictionCounts(), PredictionCounts()
    list(predict_rows(model, csv_of(frame), bare, rows=20))
    assert bare.notes[0] == (
        "Column 'size' was fitted from cells with %, and here none has it: numbers are read as "
        "percent, so write 72.5 and not 0.725."
    )
    assert [one.column for one in bare.drift.differing] == ["size"]
    some = [f"{value}%" if k == 30 else str(value) for k, value in enumerate(frame["size"])]
    list(predict_rows(model, csv_of(frame.assign(size=some)), signed, rows=20))
    assert "was fitted from cells with %" not in " ".join(signed.notes)


# -- dates and codes ----------------------------------------------------------------------------


def test_a_model_keeps_the_order_of_dates_that_was_named():
    days = pd.Series(pd.to_datetime([f"2024-{k % 11 + 1:02d}-{k % 7 + 1:02d}" for k in range(60)]))
    frame = damages().assign(seen=days.dt.strftime("%m/%d/%Y"), brief=days.dt.strftime("%d.%m.%y"))
    model = loads(dumps(fitted(frame, dates="mdy", kinds={"seen": "date"})))
    formats = {column.name: column.format for column in model.encoder.columns}
    assert (formats["seen"], formats["brief"]) == ("mm/dd/yyyy", None)
    iso = fitted(frame.assign(seen=days))
    expected = iso.predict(frame.assign(seen=days)).decision
    found = next(predict_rows(model, csv_of(frame), PredictionCounts()))
    decisions = [found[f"damage_decision_{name}"].to_pylist() for name in ("None", "Minor")]
    places = [list(model.classes).index(name) for name in ("None", "Minor")]
    np.testing.assert_allclose(np.transpose(decisions), expected[:, places], rtol=1e-9)


def test_codes_mean_the_same_with_and_without_their_zeros():
    frame = damages().assign(zip=lambda t: np.where(t["size"] > 0.5, "01234", "94110"))
    model = loads(dumps(fitted(read(csv_of(frame), labels=["damage"]))))
    assert {c.name: c.kind for c in model.encoder.columns}["zip"] == "category"
    written = csv_of(frame.assign(zip=frame["zip"].astype(int)))
    counts = PredictionCounts()
    tables = [next(predict_rows(model, source, counts)) for source in (csv_of(frame), written)]
    one, other = (table["damage_decision_Minor"].to_pylist() for table in tables)
    assert one == other
    assert counts.unseen == {}
