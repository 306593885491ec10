"""Reasons for predictions: changes by hand, sums of linear ones, and oracles that predict again."""

from __future__ import annotations

import functools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import expit

from semisquares.families import Member
from semisquares.families._average import Average, Learned
from semisquares.families._calibration import Calibration
from semisquares.families._odds import ForestOdds, HardLabelOdds
from semisquares.families._trees import Trees
from semisquares.representations._scaling import FixedScaling
from semisquares.tables import TableError, find, fit_table, prepare, read
from semisquares.tables import _explaining as explaining
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables._encoding import fit_encoding
from semisquares.tables._explaining import Explanation, probability_changes
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.columns.text import ROUNDING_UNIT
from semisquares.tables.io import split
from semisquares.tables.models._calibration import DecisionCalibration
from semisquares.tables.models.files import dumps, loads
from semisquares.tables.models.model import TableModel
from semisquares.tables.models.predictors import LinearScores
from semisquares.tables.models.predictors import _replacing as replacing
from semisquares.tables.models.predictors.averaged import AveragedScores
from semisquares.tables.models.predictors.protocol import Predictor
from support import mixed_table
from support.plain_predictors import KINDS, N_FEATURES, new_rows, predictor, rows
from support.table_files import csv_of

pytestmark = pytest.mark.usefixtures("few_trees")

METHODS = ("soft", "logistic", "forest", "boosting", "averaged")
COLUMNS = [np.array([1, 3]), np.array([0]), np.array([2])]
VALUES = np.array([0.1, -0.2, 1.0, 1000.5])


def cases(n_rows=90, n_classes=2, seed=0):
    """A table with numbers, a category and a boolean; two of three rows have a label."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    frame = pd.DataFrame(
        {
            "age": (rng.normal(size=n_rows) + 1.5 * truth).round(2),
            "dose": rng.normal(size=n_rows).round(2),
            "town": rng.choice(["Bern", "Graz", "Ulm"], n_rows, p=[0.5, 0.3, 0.2]),
            "smokes": rng.random(n_rows) < 0.3 + 0.3 * (truth == 1),
        }
    )
    frame.loc[::7, "dose"] = np.nan
    labels = np.array(["no", "yes", "maybe"][:n_classes], dtype=object)[truth]
    return frame.assign(ill=np.where(np.arange(n_rows) % 3 < 2, labels, None))


@functools.cache
def fitted(method, n_classes=2):
    given = {"alpha": 1.0, "weight": 0.5} if method == "soft" else {}
    rows = prepare(cases(n_classes=n_classes), "ill")
    return fit_table(rows, method=method, folds=2, repeats=1, **given)


def every_change(model, frame):
    """Return the change of each column in each row, by the strongest reasons of the model."""
    found = model.predict(frame, explain=99).explanation
    changes = np.zeros((len(frame), len(found.columns)))
    for row, (names, numbers) in enumerate(zip(found.names, found.changes, strict=True)):
        for name, number in zip(names, numbers, strict=True):
            changes[row, list(found.columns).index(name or found.columns[0])] += number
    return pd.DataFrame(changes, columns=found.columns)


# -- typical rows -------------------------------------------------------------------------------


def test_a_typical_row_has_means_and_the_most_frequent_levels():
    frame = cases().drop(columns="ill")
    encoding, _ = fit_encoding(frame)
    typical = {
        "age": frame["age"].mean(),
        "dose": frame["dose"].mean(),
        "town": frame["town"].mode()[0],
        "smokes": frame["smokes"].mode()[0],
    }
    expected = encoding.transform(pd.DataFrame([typical]))[0]
    np.testing.assert_allclose(encoding.typical, expected, rtol=0, atol=1e-12)
    assert [encoding.features[k].name for k in encoding.places["dose"]] == [
        "dose",
        "dose is missing",
    ]


def test_a_typical_date_or_text_has_the_means_of_its_features():
    frame = mixed_table.table()
    words = np.random.default_rng(0).choice(["red", "shoe", "of", "wool", "felt"], (len(frame), 6))
    frame["remark"] = [" ".join(row) for row in words]
    encoding, X = fit_encoding(frame, kinds={"remark": "text"})
    for column, rounding in (("joined", 1e-12), ("remark", ROUNDING_UNIT / 2.0)):
        values = [k for k in encoding.places[column] if encoding.features[k].role != "missing"]
        means = X[:, values].mean(axis=0)
        np.testing.assert_allclose(encoding.typical[values], means, atol=rounding)


@pytest.mark.parametrize("missing", [0.4, 0.6])
@pytest.mark.parametrize("column", ["number", "boolean", "date", "category", "text"])
def test_a_typical_cell_is_missing_if_most_cells_are(column, missing):
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "shoe", "of", "wool", "felt"], (50, 6))
    cells = {
        "number": rng.normal(size=50),
        "boolean": rng.random(50) < 0.5,
        "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 50), "D"),
        "category": ["Bern"] * 50,
        "text": [" ".join(row) for row in words],
    }
    frame = pd.DataFrame({column: pd.Series(cells[column]).astype(object)})
    frame.loc[: int(50 * missing) - 1, column] = None
    encoding, X = fit_encoding(frame, kinds={column: column})
    (flag,) = [k for k, one in enumerate(encoding.features) if one.role == "missing"]
    expected = X[0 if missing > 0.5 else -1, flag]
    np.testing.assert_allclose(encoding.typical[flag], expected, rtol=0, atol=1e-12)


def test_chunks_have_the_typical_row_of_the_whole_table(tmp_path):
    frame = mixed_table.table(600).assign(ill=["no", "yes", ""] * 200)
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = find(str(tmp_path / "t.csv"))
    whole = prepare(read(source, labels=["ill"]), "ill").encoder
    chunks = split(source, labels=["ill"], n_bytes=4096)
    assert len(chunks) > 3
    parts = prepare_chunks(chunks, "ill").encoder
    np.testing.assert_allclose(parts.typical, whole.typical, rtol=0, atol=1e-12)


# -- predictors with a column replaced ----------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_replaced_column_gives_what_the_replaced_rows_give(kind, n_classes):
    scores = predictor(kind, n_classes)
    X = np.concatenate([new_rows(150), rows(n_classes)[0][:100]])  # a graph may hold the others
    X[::5, 0] = VALUES[0]
    for places, found in zip(COLUMNS, scores.replace_each(X, COLUMNS, VALUES), strict=True):
        changed = X.copy()
        changed[:, places] = VALUES[places]
        for one, other in zip(found, scores.evaluate(changed), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_average_of_these_tests_has_members_of_every_kind(n_classes):
    average = predictor("averaged", n_classes).average
    maps = {type(one).__name__ for one in average.learned.representations.values()}
    assert maps == {"LinearMap", "KernelMap", "GraphMap"}
    parts = {type(one).__name__ for one in average.families}
    assert parts == {"RidgeOdds", "ForestOdds", "HardLabelOdds", "LogisticOdds"}


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_paths_are_followed_in_blocks_of_rows(monkeypatch, kind):
    X, scores = new_rows(50), predictor(kind, 3)
    whole = list(scores.replace_each(X, COLUMNS, VALUES))
    monkeypatch.setattr(replacing, "AT_ONCE", 7 * 3 * scores.trees.n_trees)
    blocks = list(scores.replace_each(X, COLUMNS, VALUES))
    np.testing.assert_allclose([p for _, p in blocks], [p for _, p in whole], rtol=0, atol=1e-14)


def test_the_way_without_a_faster_one_is_to_evaluate_all_rows_again():
    X, scores = new_rows(9), predictor("linear", 3)
    found = [values[0] for values in Predictor.replace_each(scores, X, COLUMNS, VALUES)]
    for one, (other, _) in zip(found, scores.replace_each(X, COLUMNS, VALUES), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_changes_add_up_to_the_difference_from_the_typical_row(kind, n_classes):
    X, scores = rows(n_classes)[0], predictor(kind, n_classes)
    before = scores.decision(X)
    total = sum(before - after for after, _ in scores.replace_each(X, COLUMNS, VALUES))
    expected = before - scores.decision(VALUES[None])
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)


# -- changes ------------------------------------------------------------------------------------


def two_columns():
    """A linear model on numbers with mean 0 and spread 1, whose log-odds are 2 a - b."""
    frame = pd.DataFrame({"a": [-1.0, 1.0, -1.0, 1.0], "b": [-1.0, -1.0, 1.0, 1.0]})
    encoding, X = fit_encoding(frame, kinds={"a": "number", "b": "number"})
    np.testing.assert_array_equal(X, frame)
    scores = LinearScores(np.array([[2.0, -1.0]]), np.zeros(1))
    calibration = DecisionCalibration(1.0, np.zeros(2), doubt=0.5)
    return TableModel(encoding, scores, "y", ("no", "yes"), calibration=calibration), frame


def test_two_columns_by_hand():
    model, frame = two_columns()
    found = model.predict(frame, explain=2)
    assert found.labels.tolist() == ["no", "yes", "no", "yes"]
    assert found.explanation.names.tolist() == [["a", "b"]] * 4
    p1, p2, p3 = 0.5 * expit([1.0, 2.0, 3.0]) + 0.25
    at_b = 0.5 * expit(1.0) + 0.25  # log-odds -1 or 1 for the answer if a is 0
    expected = [
        [p1 - (1.0 - at_b), p1 - p2],
        [p3 - at_b, p3 - p2],
        [p3 - at_b, p3 - p2],
        [p1 - (1.0 - at_b), p1 - p2],
    ]
    np.testing.assert_allclose(found.explanation.changes, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("method", "n_classes"),
    [
        *((method, 2) for method in METHODS),
        *((method, 3) for method in ("soft", "averaged")),
        *(pytest.param(method, 3, marks=pytest.mark.slow) for method in METHODS[1:4]),
    ],
)
def test_a_change_is_that_of_the_probability_with_a_typical_cell(method, n_classes):
    frame = cases(n_classes=n_classes)
    model = fitted(method, n_classes)
    found, changes = model.predict(frame), every_change(model, frame)
    assert list(changes) == ["age", "dose", "town", "smokes"]
    for name in changes:
        cells = frame[name]
        typical = cells.mean() if cells.dtype.kind == "f" else cells.mode()[0]
        other = model.predict(frame.assign(**{name: typical})).probabilities
        expected = found.confidence - other[np.arange(len(frame)), found.codes]
        np.testing.assert_allclose(changes[name], expected, rtol=0, atol=1e-9)
    assert (changes["age"] != 0.0).any()


def stump(feature):
    """Return a tree that asks for one feature."""
    return {
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "feature": [feature, 0, 0],
        "threshold": [0.0, 0.0, 0.0],
        "value": [[0.0, 0.0], [0.9, 0.1], [0.2, 0.8]],
        "missing_left": [True] * 3,
    }


def test_a_column_that_no_member_uses_changes_nothing():
    X = rows(2)[0]
    member, n = [Member("columns", "one")], N_FEATURES
    coef = np.array([1.0, 0.0, 0.0, -2.0]).reshape(n, 1, 1)
    scaling = FixedScaling(X.mean(axis=0), np.ones(n), np.zeros((n, 0)), np.zeros(0))
    shares = np.array([0.5, 0.5])
    parts = (
        HardLabelOdds(member, coef, np.array([[2000.0]])),
        ForestOdds(member, Trees.join([stump(0), stump(2)]), shares),
    )
    calibration = Calibration(np.ones(2), np.zeros((2, 2)), shares)
    average = Average(Learned(scaling, {}), parts, calibration, np.array([0.3, 0.7]))
    scores = AveragedScores(average, {})
    encoding, _ = fit_encoding(pd.DataFrame(X, columns=list("abcd")))
    encoding = replace(encoding, typical=X.mean(axis=0))
    changes = probability_changes(encoding, scores, None, X, np.zeros(len(X), dtype=int))
    assert (changes[:, 1] == 0.0).all()
    assert (np.abs(changes[:, [0, 2, 3]]).max(axis=0) > 0.1).all()


class Rounding(LinearScores):
    """A predictor that rounds differently if a column is replaced."""

    def replace_each(self, X, columns, values):
        for decision, soft in super().replace_each(X, columns, values):
            yield decision * (1.0 + 1e-12), soft


def test_changes_that_are_rounding_errors_are_no_reasons():
    model, frame = two_columns()
    scores = Rounding(np.array([[2.0, 0.0]]), np.zeros(1))
    found = replace(model, classifier=scores).predict(frame, explain=2).explanation
    assert found.names.tolist() == [["a", None]] * 4


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_rows_does_not_matter(method):
    frame = cases()
    model = fitted(method)
    order = np.random.default_rng(1).permutation(len(frame))
    expected = every_change(model, frame).iloc[order]
    found = every_change(model, frame.iloc[order])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_change_no_reason(monkeypatch, method):
    frame = cases()
    model = fitted(method)
    expected = every_change(model, frame)
    monkeypatch.setattr(explaining, "AT_ONCE", 0)
    assert len(frame) > 64  # the smallest block
    np.testing.assert_allclose(every_change(model, frame), expected, rtol=0, atol=1e-9)


def test_the_largest_changes_come_first_and_equal_ones_in_the_order_of_the_table():
    changes = np.array([[0.1, -0.3, 0.3, 0.0], [0.0, 0.0, 0.0, -0.1]])
    for most in (3, explaining.FEW + 1):
        found = Explanation.strongest(tuple("abcd"), changes, most)
        assert found.names[:, :3].tolist() == [["b", "c", "a"], ["d", None, None]]
        assert found.changes[:, :3].tolist() == [[-0.3, 0.3, 0.1], [-0.1, 0.0, 0.0]]


def test_a_probability_of_one_class_is_one_of_the_probabilities():
    calibration = DecisionCalibration(3.0, np.array([0.4, -0.1]), doubt=0.1)
    decision = np.linspace(-2.0, 2.0, 9)
    found = [calibration.of_class(decision, np.full(9, k)) for k in (0, 1)]
    np.testing.assert_allclose(found, calibration.probabilities(decision).T, rtol=1e-14)


# -- arguments and files ------------------------------------------------------------------------


def test_predictions_have_no_explanation_unless_it_is_asked_for():
    model, frame = two_columns()
    assert model.predict(frame).explanation is None
    assert model.predict(frame[:0], explain=1).explanation.names.shape == (0, 1)
    assert model.predict(frame, explain=1).explanation.names.tolist() == [["a"]] * 4


@pytest.mark.parametrize("explain", [-1, 1.5, "2", True])
def test_the_number_of_reasons_is_a_whole_number(explain):
    model, frame = two_columns()
    with pytest.raises(TableError, match=r"explain is .*; give a whole number from 0 on"):
        model.predict(frame, explain=explain)


def test_a_stored_model_gives_the_same_reasons():
    frame = cases()
    model = fitted("averaged")
    again = loads(dumps(model))
    found, expected = (one.predict(frame, explain=2).explanation for one in (again, model))
    assert found.names.tolist() == expected.names.tolist()
    np.testing.assert_array_equal(found.changes, expected.changes)


def test_a_model_without_a_typical_row_says_that_it_cannot_explain():
    model, frame = two_columns()
    plain = model.encoder.to_plain()
    del plain["typical"]  # as in files of the first versions
    old = replace(model, encoder=type(model.encoder).from_plain(plain))
    assert old.predict(frame).labels.tolist() == model.predict(frame).labels.tolist()
    with pytest.raises(TableError, match="could not explain predictions; fit it again") as caught:
        old.predict(frame, explain=1)
    assert caught.value.code == "no_typical_row"


@pytest.mark.parametrize("row", [np.zeros(3), np.array([0.0, np.nan]), np.zeros(2, int), [0.0]])
def test_a_typical_row_that_does_not_fit_is_refused(row):
    model, _ = two_columns()
    plain = model.encoder.to_plain() | {"typical": row}
    with pytest.raises(ValueError, match="typical row"):
        type(model.encoder).from_plain(plain)


# -- tables -------------------------------------------------------------------------------------


def explained(model, frame, counts=None, **wishes):
    counts = PredictionCounts() if counts is None else counts
    pieces = predict_rows(model, csv_of(frame), counts, rows=7, **wishes)
    return pa.concat_tables(pieces)


def test_reasons_and_changes_are_written_in_pairs_behind_the_predictions():
    frame = cases()
    model = fitted("soft")
    cells = explained(model, frame, explain=2)
    names = ["ill_reason_1", "ill_change_1", "ill_reason_2", "ill_change_2"]
    assert cells.column_names[-4:] == names
    found = model.predict(frame, explain=2).explanation
    for k in range(2):
        assert cells[names[2 * k]].to_pylist() == found.names[:, k].tolist()
        np.testing.assert_allclose(cells[names[2 * k + 1]], found.changes[:, k], atol=1e-12)


def test_only_filled_rows_have_reasons_and_doubtful_ones_too():
    frame = cases()
    model = fitted("soft")
    cells = explained(model, frame, only_missing=True, min_confidence=2.0, explain=1)
    empty = frame["ill"].isna()
    assert cells.column_names[-2:] == ["ill_reason_1", "ill_change_1"]
    for name in ("ill_reason_1", "ill_change_1"):
        assert [one is not None for one in cells[name].to_pylist()] == empty.tolist()
    found = model.predict(frame[empty], explain=1).explanation
    assert [one for one in cells["ill_reason_1"].to_pylist() if one] == found.names[:, 0].tolist()


def test_a_row_that_no_column_moved_has_no_reason():
    frame = cases()
    model = fitted("soft")
    still = replace(model.classifier, coef=np.zeros_like(model.classifier.coef))
    cells = explained(replace(model, classifier=still), frame, explain=1)
    assert cells["ill_reason_1"].null_count == cells["ill_change_1"].null_count == len(frame)


def test_there_are_no_more_reasons_than_columns():
    frame = cases()
    model, counts = fitted("soft"), PredictionCounts()
    cells = explained(model, frame, counts, explain=9)
    assert cells.column_names[-1] == "ill_change_4"
    assert counts.notes == ["The model uses 4 columns, so each row has at most 4 reasons, not 9."]
    assert explained(model, frame, counts, explain=4).column_names == cells.column_names
    assert counts.notes == []


@pytest.mark.parametrize("only_missing", [False, True])
def test_a_column_with_the_name_of_a_reason_is_refused(only_missing):
    frame = cases()
    model = fitted("soft")
    taken = frame.assign(ill_change_2=1.0)
    wishes = {"only_missing": only_missing}
    assert "ill_change_1" in explained(model, taken, explain=1, **wishes).column_names
    with pytest.raises(TableError, match="already has a column 'ill_change_2'"):
        explained(model, taken, explain=2, **wishes)


@pytest.mark.parametrize("only_missing", [False, True])
def test_reasons_are_not_used_as_features_when_they_come_back(only_missing):
    frame = cases()
    model = fitted("soft")
    back = explained(model, frame, explain=2, only_missing=only_missing).to_pandas()
    used = [one.name for one in prepare(back, "ill").columns if one.used]
    assert used == ["age", "dose", "town", "smokes"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet", "feather", "csv.gz"])
def test_every_format_holds_the_reasons(semisquares, ending):
    frame = cases()
    frame.to_csv("t.csv", index=False)
    given = ("--method", "ridge", "--alpha", "1", "--folds", "2", "--repeats", "1")
    assert semisquares("fit", "t.csv", "--target", "ill", "-o", "m", *given, "--jobs", "1")[0] == 0
    words = ("--only-missing", "--explain", "2", "--json")
    code, printed, _ = semisquares("predict", "m", "t.csv", "-o", f"out.{ending}", *words)
    assert (code, json.loads(printed)["reasons"]) == (0, 2)
    found = read(find(f"out.{ending}"))
    reasons, changes = found["ill_reason_1"], found["ill_change_1"]
    assert set(reasons.dropna()) - {""} <= {"age", "dose", "town", "smokes"}
    assert (pd.to_numeric(changes).notna() == cases()["ill"].isna()).all()


def test_the_command_refuses_no_reasons(semisquares):
    code, _, errors = semisquares("predict", "m", "t.csv", "-o", "out.csv", "--explain", "0")
    assert code == 2
    assert "--explain" in errors
