"""Exported ONNX graphs predict what the model predicts, for rows that neither has seen."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from packaging.version import parse

from semisquares import LeastSquaresClassifier, SoftLabelClassifier
from semisquares.tables import TableError, make_table_pipeline
from semisquares.tables.models import TableModel, export_onnx
from semisquares.tables.models import _graph as operators
from semisquares.tables.models import onnx as module

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TOWNS = ["Ulm", "Bonn", "Köln", None, "Lyon", "Rom", "7"]
CLASSES = {
    "text": ("no", "yes"),
    "three": ("a", "b", "ü"),
    "ints": (3, 5, 12),
    "bools": (False, True),
}
CLASSES |= {"floats": (0.5, 1.5), "five": tuple("vwxyz")}


def table(n_rows=250, seed=0, towns=TOWNS):
    """Numbers, booleans and categories, each with missing cells; two towns are rare."""
    rng = np.random.default_rng(seed)
    shares = np.array([50, 30, 20, 10, 1, 1, 15, *[5] * (len(towns) - 7)])
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(50, 12, n_rows)),
            "visits": rng.integers(0, 9, n_rows),
            "smokes": rng.choice(["yes", "no", None], n_rows, p=[0.3, 0.6, 0.1]),
            "town": rng.choice(np.array(towns, dtype=object), n_rows, p=shares / shares.sum()),
            "site": rng.choice(["n", "s", "w"], n_rows),
        }
    )


def fitted(classes, frame=None, classifier=None):
    frame = table() if frame is None else frame
    score = frame["age"].fillna(50.0) + 10.0 * (frame["town"] == "Ulm") + 3.0 * frame["visits"]
    codes = pd.qcut(score.rank(method="first"), len(classes), labels=False).to_numpy()
    codes = np.where(np.arange(len(codes)) % 3 == 0, codes, -1)
    pipeline = make_table_pipeline(classifier or SoftLabelClassifier(0.1)).fit(frame, codes)
    return TableModel.from_pipeline(pipeline, "sick", classes)


def as_inputs(frame):
    """Write a table as the documentation asks callers to, with pandas alone."""
    numbers = {name: frame[name].to_numpy(float) for name in ("age", "visits")}
    numbers["smokes"] = frame["smokes"].map({"yes": 1.0, "no": 0.0}).to_numpy(float)
    texts = {name: frame[name].fillna("").to_numpy(object) for name in ("town", "site")}
    return {name: values[:, None] for name, values in (numbers | texts).items()}


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities", "soft_label", "decision"], inputs)


def assert_same(found, expected):
    labels, probabilities, soft, decision = found
    assert labels.tolist() == expected.labels.tolist()
    np.testing.assert_allclose(probabilities, expected.probabilities, atol=1e-12)
    np.testing.assert_allclose(soft, expected.soft_labels, atol=1e-12)
    np.testing.assert_allclose(decision, expected.decision, atol=1e-12)
    assert decision.shape == expected.decision.shape


@pytest.mark.parametrize("name", CLASSES)
def test_a_graph_predicts_new_rows_as_the_model_does(name, tmp_path):
    model = fitted(CLASSES[name])
    done = export_onnx(model, tmp_path / "model.onnx", sample=table(20))
    new = table(300, seed=1, towns=[*TOWNS, "Oslo", "Turin"])
    assert_same(run(tmp_path / "model.onnx", as_inputs(new)), model.predict(new))
    assert done.whole
    assert sorted(done.inputs) == sorted(new.columns)
    assert done.n_checked == 220
    assert done.largest_difference < 1e-12


def test_missing_cells_where_the_fit_saw_none_and_unseen_levels_without_rare_ones(tmp_path):
    frame = table().dropna()
    frame = frame[frame["town"].isin(["Ulm", "Bonn"])]
    model = fitted(("no", "yes"), frame)
    export_onnx(model, tmp_path / "model.onnx", sample=frame)
    new = table(100, seed=2)
    assert_same(run(tmp_path / "model.onnx", as_inputs(new)), model.predict(new))


def test_soft_labels_far_from_the_simplex_are_projected_as_ours_are(tmp_path):
    model = fitted(tuple("vwxyz"), classifier=LeastSquaresClassifier(1e-6))
    model.classifier.coef[:] *= 40.0
    export_onnx(model, tmp_path / "model.onnx", sample=table(20))
    new = table(300, seed=3)
    soft = run(tmp_path / "model.onnx", as_inputs(new))[2]
    np.testing.assert_allclose(soft, model.predict(new).soft_labels, atol=1e-11)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-12)


divides_by_zero = pytest.mark.skipif(
    parse(onnxruntime.__version__) < parse("1.31"), reason="onnxruntime dies of a table of no rows"
)


@pytest.mark.parametrize("n_rows", [pytest.param(0, marks=divides_by_zero), 1])
def test_a_graph_takes_no_rows_and_a_single_one(tmp_path, n_rows):
    export_onnx(fitted(("a", "b", "c")), tmp_path / "model.onnx", sample=table(5))
    found = run(tmp_path / "model.onnx", as_inputs(table(5)[:n_rows]))
    assert [len(values) for values in found] == [n_rows] * 4


def with_dates(n_rows, seed):
    days = np.random.default_rng(seed).integers(0, 900, n_rows)
    return table(n_rows, seed).assign(
        joined=pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")
    )


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_with_dates_the_classifier_alone_is_written_and_said(classes, tmp_path):
    model = fitted(classes, with_dates(200, 0))
    done = export_onnx(model, tmp_path / "model.onnx", sample=with_dates(20, 1))
    assert (done.whole, done.inputs) == (False, ("features",))
    assert "dates in column 'joined'" in done.note
    new = with_dates(100, 2)
    features = model.encoder.transform(new)
    assert_same(run(tmp_path / "model.onnx", {"features": features}), model.predict(new))


def test_columns_called_as_the_outputs_are_get_an_underscore(tmp_path):
    frame = pd.DataFrame(
        {"label": [1.0, 2.0, 3.0, 9.0], "decision": list("aabb"), "Add_1_0": [1, 5, 2, 4]}
    )
    model = TableModel.from_pipeline(
        make_table_pipeline(SoftLabelClassifier()).fit(frame, [0, 0, 1, -1]), "y", (0, 1)
    )
    done = export_onnx(model, tmp_path / "model.onnx", sample=frame)
    assert set(done.inputs) == {"label_", "decision_", "Add_1_0"}
    inputs = {
        "label_": frame[["label"]].to_numpy(float),
        "Add_1_0": frame[["Add_1_0"]].to_numpy(float),
        "decision_": frame[["decision"]].to_numpy(object),
    }
    assert_same(run(tmp_path / "model.onnx", inputs), model.predict(frame))


def test_the_note_says_what_each_input_takes(tmp_path):
    done = export_onnx(fitted(("no", "yes")), tmp_path / "model.onnx")
    assert done.note == (
        "The graph holds encoder and classifier and takes the table's columns: numbers as "
        "doubles, NaN where missing; yes or no ('smokes') as the doubles 1 and 0, NaN where "
        "missing; categories as text, empty where missing."
    )
    numbers = pd.DataFrame({"x": [1.0, 2.0, 5.0, 7.0]})
    pipeline = make_table_pipeline(SoftLabelClassifier()).fit(numbers, [0, 1, 1, -1])
    done = export_onnx(
        TableModel.from_pipeline(pipeline, "y", ("no", "yes")), tmp_path / "model.onnx"
    )
    assert done.note.endswith("the table's columns: numbers as doubles, NaN where missing.")


def test_a_graph_says_what_it_is(tmp_path):
    model = fitted(("a", "b", "ü"))
    export_onnx(model, tmp_path / "model.onnx", sample=table(5))
    graph = onnx.load(tmp_path / "model.onnx")
    about = {entry.key: entry.value for entry in graph.metadata_props}
    assert graph.producer_name == "semisquares"
    assert about["target"] == "sick"
    assert json.loads(about["classes"]) == ["a", "b", "ü"]
    assert "town = Köln; town = Lyon; town = Ulm; town = other (1 rare" in graph.graph.doc_string
    assert json.loads(about["features"]) == [f.name for f in model.encoder.features]


def test_a_classifier_without_a_graph_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delitem(operators._OPERATORS, "linear")
    with pytest.raises(TableError, match=r"A model of type linear cannot be written as ONNX; use"):
        export_onnx(fitted(("no", "yes")), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["coef", "intercept"])
def test_a_wrong_graph_is_refused_and_nothing_is_written(part, tmp_path, monkeypatch):
    model, add = fitted(("no", "yes")), operators._add_linear

    def add_wrong(graph, scores, features, n_classes):
        wrong = replace(scores, **{part: getattr(scores, part) + 1e-6})
        return add(graph, wrong, features, n_classes)

    monkeypatch.setitem(operators._OPERATORS, "linear", add_wrong)
    (tmp_path / "model.onnx").write_text("old")
    with pytest.raises(TableError, match="disagree"):
        export_onnx(model, tmp_path / "model.onnx", sample=table(20))
    assert (tmp_path / "model.onnx").read_text() == "old"


def test_swapped_classes_are_refused(tmp_path, monkeypatch):
    values = np.array(["yes", "no"], dtype=object)
    monkeypatch.setattr(operators, "class_values", lambda model: values)
    with pytest.raises(TableError, match="20 of 20 labels"):
        export_onnx(fitted(("no", "yes")), tmp_path / "model.onnx", sample=table(20))


@pytest.mark.parametrize("wrong", range(3))
def test_nan_is_no_agreement(wrong):
    expected = fitted(("no", "yes")).predict(table(20))
    found = [expected.probabilities, expected.soft_labels, expected.decision]
    assert module._difference(expected, expected.labels, *found) == 0.0
    found[wrong] = found[wrong] * np.nan
    with pytest.raises(TableError, match="0 of 20 labels"):
        module._difference(expected, expected.labels, *found)


def test_without_a_sample_made_up_rows_are_checked(tmp_path):
    model = fitted(("no", "yes"))
    done = export_onnx(model, tmp_path / "model.onnx")
    assert (done.n_checked, done.whole) == (200, True)
    made_up = model.made_up_rows()
    assert set(made_up["town"]) > {"Ulm", "Lyon"}
    assert made_up["town"].isna().any()
    assert model.predict(made_up).unseen.keys() == {"town", "site"}
    assert 0 < made_up["age"].isna().sum() < 100
    assert_same(run(tmp_path / "model.onnx", as_inputs(table(9))), model.predict(table(9)))


def test_a_bad_path_is_one_sentence(tmp_path):
    model = fitted(("no", "yes"))
    with pytest.raises(TableError, match="is a folder; give the ONNX model a path"):
        export_onnx(model, tmp_path, sample=table(20))


@pytest.mark.parametrize("name", ["onnx", "onnxruntime"])
def test_without_the_packages_the_way_to_install_them_is_told(name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    sentence = re.escape(f"needs {name}, which is not installed; install it with pip install")
    with pytest.raises(TableError, match=sentence):
        export_onnx(fitted(("no", "yes")), tmp_path / "model.onnx", sample=table(20))
