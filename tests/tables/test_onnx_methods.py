"""ONNX graphs of every method and every member of an average predict what the model predicts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from semisquares import AveragedClassifier
from semisquares.families._trees import Trees
from semisquares.tables import export_onnx, fit_table, prepare
from semisquares.tables.models import TableModel
from semisquares.tables.models._converting import predictor_of
from semisquares.tables.models.predictors.trees import ForestScores

onnxruntime = pytest.importorskip("onnxruntime")

NUMBERS = ("age", "weight", "visits")
METHODS = ("averaged", "ridge", "logistic", "forest", "boosting", "soft", "hard")
AS_ABOVE = ("ridge", "logistic", "forest", "hard")
"""Methods whose graphs have the parts of others: weights as soft labels, trees as the average."""
MEMBERS = {
    "linear": {"families": "least_squares", "representations": "linear"},
    "kernel": {"families": "least_squares", "representations": "kernel"},
    "graph": {"families": "least_squares", "representations": "graph"},
    "hard labels": {"families": "hard_labels"},
    "logistic": {"families": "logistic"},
    "forest": {"families": "forest"},
    "all": {"representations": ("linear", "kernel", "graph"), "sharpness": 0.0},
}
EXTREMES = 10.0 ** np.array([2, 3, 4, 6, 9, 12, 30, 100, 149])


def table(n_classes=2, n_rows=300, seed=0):
    """Draw a table with a ring of one class, missing cells, and every type that ONNX can read."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(50.0, 12.0, n_rows)),
            "weight": rng.normal(size=n_rows),
            "visits": rng.integers(0, 9, n_rows),
            "smokes": rng.choice(["yes", "no", None], n_rows, p=[0.3, 0.6, 0.1]),
            "town": rng.choice(["Ulm", "Bonn", "Rom", None], n_rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    outside = (frame["age"].fillna(50.0) - 50.0) ** 2 / 144.0 + frame["weight"] ** 2 > 1.4
    codes = np.where(outside, 1 + np.arange(n_rows) % (n_classes - 1), 0)
    names = np.array(["in", "out", "far"])[codes]
    return frame.assign(label=np.where(rng.random(n_rows) < 0.4, names, None))


def new_rows(n_rows=1000):
    """Draw rows with missing cells, unseen towns and numbers of up to 1e149."""
    rng = np.random.default_rng(9)
    frame = table(n_rows=n_rows, seed=9).drop(columns="label")
    frame.loc[rng.random(n_rows) < 0.1, "town"] = "Oslo"
    for name in ("age", "weight"):
        extreme = rng.choice(EXTREMES, n_rows) * rng.normal(size=n_rows)
        frame[name] = np.where(rng.random(n_rows) < 0.2, extreme, frame[name])
    return frame


def run(path, frame):
    numbers = {name: frame[name].to_numpy(float) for name in NUMBERS}
    numbers["smokes"] = frame["smokes"].map({"yes": 1.0, "no": 0.0}).to_numpy(float)
    inputs = {**numbers, "town": frame["town"].fillna("").to_numpy(object)}
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    columns = {name: cells[:, None] for name, cells in inputs.items()}
    return session.run(["label", "probabilities"], columns)


@cache
def averaged(n_classes, **options):
    """Fit an average, once for all tests."""
    rows = prepare(table(n_classes), "label")
    classifier = AveragedClassifier(**options).fit(rows.X, rows.codes)
    return TableModel(rows.encoder, predictor_of(classifier), "label", rows.target.classes)


def assert_equal(model, path, frame, atol=1e-12):
    labels, probabilities = run(path, frame)
    expected = model.predict(frame)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=0, atol=atol)
    assert labels.tolist() == expected.labels.tolist()


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize(
    ("method", "n_classes"),
    [
        *((method, 2) for method in METHODS),
        *((method, 3) for method in ("averaged", "soft", "boosting")),
        *(pytest.param(method, 3, marks=pytest.mark.slow) for method in AS_ABOVE),
    ],
)
def test_the_graph_of_every_method_gives_calibrated_probabilities(method, n_classes, tmp_path):
    rows = prepare(table(n_classes), "label")
    model = fit_table(rows, method=method, folds=2, repeats=1)
    done = export_onnx(model, tmp_path / "m.onnx")
    assert done.largest_difference < 1e-12
    assert_equal(model, tmp_path / "m.onnx", new_rows())
    assert_equal(model, tmp_path / "m.onnx", table(n_classes))


@pytest.mark.parametrize(
    ("member", "n_classes"),
    [
        *((member, 2) for member in MEMBERS if member != "all"),
        *((member, 3) for member in ("hard labels", "logistic", "forest", "all")),
        *(
            pytest.param(member, n_classes, marks=pytest.mark.slow)
            for member, n_classes in (("linear", 3), ("kernel", 3), ("graph", 3), ("all", 2))
        ),
    ],
)
def test_the_graph_of_every_member_gives_its_probabilities(member, n_classes, tmp_path):
    model = averaged(n_classes, **MEMBERS[member])
    export_onnx(model, tmp_path / "m.onnx")
    assert_equal(model, tmp_path / "m.onnx", new_rows())
    assert_equal(model, tmp_path / "m.onnx", table(n_classes))  # copies of landmarks among them


def test_rows_are_predicted_one_by_one_as_all_at_once(tmp_path):
    export_onnx(averaged(3, **MEMBERS["all"]), tmp_path / "m.onnx")
    frame = new_rows(5)
    alone = [run(tmp_path / "m.onnx", frame[k : k + 1])[1] for k in range(5)]
    np.testing.assert_allclose(
        np.concatenate(alone), run(tmp_path / "m.onnx", frame)[1], rtol=0, atol=1e-12
    )


def test_neighbours_at_equal_distances_are_all_counted(tmp_path):
    """On a grid most rows have ties, and rows of the graph are not their own neighbours."""
    rng = np.random.default_rng(0)
    grid = pd.DataFrame(rng.integers(0, 4, (400, 3)), columns=list(NUMBERS)).astype(float)
    label = np.where(grid.sum(axis=1) % 2 == 0, "even", "odd")
    rows = prepare(grid.assign(label=np.where(np.arange(400) < 150, label, None)), "label")
    classifier = AveragedClassifier("least_squares", representations="graph")
    found = predictor_of(classifier.fit(rows.X, rows.codes))
    assert found.holds_rows
    model = TableModel(rows.encoder, found, "label", rows.target.classes)
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    halves = grid + rng.integers(0, 2, (400, 1)) / 2.0
    for frame in (grid, halves):
        inputs = {name: frame[[name]].to_numpy() for name in NUMBERS}
        (probabilities,) = session.run(["probabilities"], inputs)
        np.testing.assert_allclose(probabilities, model.predict(frame).probabilities, atol=1e-12)


def test_trees_of_a_single_leaf_and_cells_at_a_threshold(tmp_path):
    """A threshold that single precision cannot hold splits the two numbers beside it."""
    numbers = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "label": ["a", "a", "b", "b"]})
    rows = prepare(numbers, "label")
    at = float(rows.encoder.transform(pd.DataFrame({"x": [1.5]}))[0, 0])
    leaf = {"left": [-1], "right": [-1], "feature": [0], "threshold": [0.0], "missing_left": [True]}
    stump = {
        "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
        "threshold": [at + 1e-13, 0.0, 0.0], "value": [[0, 0], [1, 0], [0, 1]],
        "missing_left": [True] * 3,
    }  # fmt: skip
    trees = Trees.join([{**leaf, "value": [[0.25, 0.75]]}, stump, stump])
    model = TableModel(rows.encoder, ForestScores(1, trees), "label", ("a", "b"))
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    beside = np.nextafter(1.5, [0.0, 1.5, 2.0])[:, None]
    (probabilities,) = session.run(["probabilities"], {"x": beside})
    expected = model.predict(pd.DataFrame({"x": beside[:, 0]})).probabilities
    np.testing.assert_array_equal(probabilities, expected)
    (far,) = session.run(["probabilities"], {"x": np.array([[-1e100], [1e100]])})
    np.testing.assert_allclose(far[:, 0], [2.25 / 3.0, 0.25 / 3.0], atol=1e-15)


def test_a_graph_says_how_many_rows_it_holds(tmp_path):
    model = averaged(2, **MEMBERS["kernel"], n_landmarks=40)
    note = export_onnx(model, tmp_path / "m.onnx").note
    assert note.endswith(" It holds 40 rows of the table, encoded and standardised.")
    none = export_onnx(averaged(2, **MEMBERS["linear"]), tmp_path / "m.onnx").note
    assert "rows of the table" not in none


def test_probabilities_are_calibrated_and_soft_labels_are_not(tmp_path):
    model = fit_table(prepare(table(), "label"), method="soft", alpha=1.0, weight=1.0, repeats=1)
    export_onnx(model, tmp_path / "m.onnx")
    uncalibrated = replace(model, calibration=None)
    export_onnx(uncalibrated, tmp_path / "n.onnx")
    frame = table(seed=3)
    assert_equal(model, tmp_path / "m.onnx", frame)
    assert_equal(uncalibrated, tmp_path / "n.onnx", frame)
    one, other = (run(tmp_path / name, frame)[1] for name in ("m.onnx", "n.onnx"))
    assert abs(one - other).max() > 0.01
