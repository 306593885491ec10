"""Operating points: which class is answered, stored with the model, and scored out of sample."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._parameters import in_options
from semisquares.tables import TableError, fit_table, prepare
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables.io import split
from semisquares.tables.models import _operating_scores, export_onnx
from semisquares.tables.models._calibrating import left_out_decisions
from semisquares.tables.models._measuring import FitOptions
from semisquares.tables.models._operating_point import (
    Balanced,
    LeastCost,
    PointOptions,
    Threshold,
    read_point,
)
from semisquares.tables.models._streaming import fit_streamed, on_dask
from semisquares.tables.models.files import dumps, loads
from support.table_files import csv_of

POINTS = [{"balanced": True}, {"threshold": 0.15}, {"costs": {"yes": 6.0}}]
METHODS_AND_POINTS = [
    *(("ridge", point) for point in POINTS),
    ("averaged", POINTS[2]),
    *(pytest.param("averaged", point, marks=pytest.mark.slow) for point in POINTS[:2]),
    ("logistic", POINTS[0]),
    ("forest", POINTS[1]),
    ("boosting", POINTS[2]),
]
RIDGE = {"method": "ridge", "alpha": 1.0}


def table(n_rows=400, n_labels=300, n_classes=2):
    """Draw a table with a rare last class that overlaps with the others."""
    rng = np.random.default_rng(0)
    truth = rng.choice(n_classes, size=n_rows, p=[0.86, 0.14] if n_classes == 2 else None)
    X = rng.normal(size=(n_rows, 3)) + 0.8 * (truth[:, None] == np.arange(3) % n_classes)
    frame = pd.DataFrame(X.round(4), columns=list("abc"))
    names = np.array(["no", "yes", "maybe"])[:n_classes]
    return frame.assign(sick=np.where(np.arange(n_rows) < n_labels, names[truth], None))


def fitted(frame=None, **options):
    if frame is None:
        return _fitted(json.dumps(options))
    return fit_table(prepare(frame, "sick"), folds=3, repeats=1, **options)


@cache
def _fitted(options):
    """Fit a model to the table, once for all tests."""
    return fit_table(prepare(table(), "sick"), folds=3, repeats=1, **json.loads(options))


def probabilities(n_rows=500, n_classes=3):
    return np.random.default_rng(1).dirichlet(np.ones(n_classes), size=n_rows)


# -- the rules ----------------------------------------------------------------------------------


def test_balanced_answers_are_those_of_bayes_rule_with_equal_priors():
    shares, p = np.array([0.6, 0.3, 0.1]), probabilities()
    with_equal = p / shares / (p / shares).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(Balanced(shares).decide(p), with_equal.argmax(axis=1))
    np.testing.assert_array_equal(Balanced(np.full(3, 1 / 3)).decide(p), p.argmax(axis=1))


def test_the_answer_of_least_cost_is_found_by_trying_all():
    rng = np.random.default_rng(0)
    costs, p = rng.random((3, 3)), probabilities()
    expected = [[sum(row[k] * costs[k, a] for k in range(3)) for a in range(3)] for row in p]
    np.testing.assert_array_equal(LeastCost(costs).decide(p), np.argmin(expected, axis=1))


@pytest.mark.parametrize("code", [0, 1])
def test_a_threshold_is_reached_by_a_probability_that_equals_it(code):
    p = np.array([[0.3, 0.7], [0.7, 0.3], [0.5, 0.5]])
    expected = np.where(p[:, code] >= 0.3, code, 1 - code)
    np.testing.assert_array_equal(Threshold(code, 0.3).decide(p), expected)
    assert (Threshold(code, np.nextafter(0.3, 1)).decide(p) != expected).sum() == 1


def test_a_threshold_is_the_costs_of_which_it_is_a_ratio():
    p = probabilities(n_classes=2)
    by_costs = LeastCost(np.array([[0.0, 1.0], [4.0, 0.0]])).decide(p)
    np.testing.assert_array_equal(Threshold(1, 0.2).decide(p), by_costs)


def test_missing_each_class_at_the_same_cost_answers_the_most_probable_one():
    point = PointOptions(costs={"b": 1}).resolve(tuple("abc"), None)
    np.testing.assert_array_equal(point.decide(probabilities()), probabilities().argmax(axis=1))


# -- what is asked for --------------------------------------------------------------------------


@pytest.mark.parametrize(("counts", "code"), [((9, 1), 1), ((1, 9), 0), ((5, 5), 1), (None, 1)])
def test_a_threshold_without_a_class_is_for_the_one_with_fewer_labels(counts, code):
    found = PointOptions(threshold=0.25).resolve(("no", "yes"), counts)
    assert (found.code, found.least) == (code, 0.25)


@pytest.mark.parametrize(
    ("classes", "spelling", "name", "code"),
    [
        (("no", "yes"), (), "no", 0),
        ((1, 2), (), 2, 1),
        ((1, 2), (), "2", 1),
        ((1, 2), ("1.0", "2.0"), "1.0", 0),
        ((False, True), ("FALSE", "TRUE"), "TRUE", 1),
        ((False, True), (), False, 0),
        ((0.5, 1.0), (), 1, 1),
    ],
)
def test_a_class_is_named_by_its_value_or_as_the_table_writes_it(classes, spelling, name, code):
    found = PointOptions(threshold={name: 0.5}).resolve(classes, None, spelling)
    assert found.code == code


def test_a_table_of_costs_is_put_in_the_order_of_the_classes():
    costs = pd.DataFrame({"yes": [3.0, 0.0], "no": [0.0, 7.0]}, index=["no", "yes"])
    found = PointOptions(costs=costs).resolve(("no", "yes"), None)
    np.testing.assert_array_equal(found.costs, [[0.0, 3.0], [7.0, 0.0]])
    assert found.phrase(("no", "yes")).endswith("(missing 'no' costs 3, missing 'yes' 7)")


COSTS = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], index=["no", "yes"], columns=["no", "yes"])


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"balanced": 1}, "bad_argument", "balanced is 1; give True or False."),
        ({"balanced": True, "threshold": 0.1}, "two_operating_points", "--balanced and --thr"),
        ({"threshold": 0.1, "costs": {"a": 1}}, "two_operating_points", "--threshold and --costs"),
        ({"threshold": 0.0}, "bad_threshold", "--threshold is 0.0; give a probability, above 0"),
        ({"threshold": 1.0}, "bad_threshold", "--threshold is 1.0; give a probability, above 0"),
        ({"threshold": float("nan")}, "bad_threshold", "--threshold is nan; give a probability"),
        ({"threshold": {"yes": "x"}}, "bad_threshold", "--threshold is 'x'; give a probability"),
        ({"threshold": True}, "bad_threshold", "--threshold is True; give a probability"),
        ({"threshold": {}}, "bad_argument", "threshold is of type dict; give a mapping from one"),
        ({"threshold": {"yess": 0.1}}, "unknown_class", "not a class; did you mean 'yes'?"),
        ({"threshold": {7: 0.1}}, "unknown_class", "not a class; the classes are 'no', 'yes'."),
        ({"costs": 5}, "bad_argument", "costs is 5; give a mapping from classes to costs"),
        ({"costs": {}}, "bad_argument", "costs is of type dict; give a mapping from classes to"),
        ({"costs": {"yes": -1}}, "bad_cost", "--costs has -1 for 'yes'; give a number from 0 to"),
        ({"costs": {"yes": 1e13}}, "bad_cost", "for 'yes'; give a number from 0 to 1e+12."),
        ({"costs": {"yes": "5"}}, "bad_cost", "--costs has '5' for 'yes'; give a number"),
        ({"costs": {"no": 0, "yes": 0}}, "indifferent_costs", "no answer costs more than another"),
        ({"costs": COSTS.drop(index="no")}, "costs_table", "has no 'no' among its rows; give it a"),
        ({"costs": COSTS[["no"]]}, "costs_table", "has no 'yes' among its columns; give it a row"),
        ({"costs": pd.concat([COSTS, COSTS])}, "costs_table", "has a class twice among its rows"),
        ({"costs": COSTS.replace(1.0, np.nan)}, "bad_cost", "has no number for answering"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_a_sentence(options, code, words):
    with pytest.raises(TableError) as refused:
        PointOptions(**options).resolve(("no", "yes"), (9, 1))
    assert refused.value.code == code
    assert words in in_options(refused.value)


def test_a_threshold_is_refused_for_three_classes():
    with pytest.raises(
        TableError, match="threshold is for two classes, and there are 3"
    ) as refused:
        PointOptions(threshold=0.2).resolve(tuple("abc"), None)
    assert in_options(refused.value).endswith(
        "('a', 'b', 'c'); give --costs or --balanced instead."
    )


# -- fit and predict ----------------------------------------------------------------------------


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize(("method", "given"), METHODS_AND_POINTS)
def test_a_stored_point_decides_by_the_calibrated_probabilities(method, given):
    model = loads(dumps(fitted(method=method, **given)))
    found = model.predict(table())
    p = found.probabilities
    shares = np.array(model.about["counts"]) / sum(model.about["counts"])
    second = {
        "balanced": p[:, 1] / shares[1] > p[:, 0] / shares[0],
        "threshold": p[:, 1] >= 0.15,
        "costs": 6.0 * p[:, 1] > p[:, 0],
    }[next(iter(given))]
    np.testing.assert_array_equal(found.labels, np.where(second, "yes", "no"))
    np.testing.assert_array_equal(found.confidence, np.where(second, p[:, 1], p[:, 0]))
    plain = replace(model, operating_point=None).predict(table())
    np.testing.assert_array_equal(plain.probabilities, p)
    assert (plain.labels == "yes").sum() < second.sum()


def test_what_predict_is_given_replaces_what_the_fit_has_stored():
    plain, balanced = fitted(**RIDGE), fitted(**RIDGE, balanced=True)
    for given in POINTS:
        expected = fitted(**RIDGE, **given).predict(table()).labels
        for model in (plain, balanced):
            np.testing.assert_array_equal(model.predict(table(), **given).labels, expected)
    assert isinstance(balanced.operating_point, Balanced)
    np.testing.assert_array_equal(
        balanced.predict(table()).labels, plain.predict(table(), balanced=True).labels
    )


def test_three_classes_are_weighed_by_their_costs():
    frame = table(n_classes=3)
    model = fitted(frame, **RIDGE)
    counts = [
        (model.predict(frame, costs={"maybe": cost}).labels == "maybe").sum()
        for cost in (0.2, 1, 5)
    ]
    assert counts == sorted(set(counts))


def test_a_model_that_does_not_know_its_labels_cannot_balance_them():
    model = replace(fitted(**RIDGE), about={})
    with pytest.raises(TableError, match="does not know how many labels each class had") as refused:
        model.predict(table(), balanced=True)
    assert refused.value.code == "no_label_counts"
    assert set(model.predict(table(), threshold=0.15).labels) == {"no", "yes"}


def test_a_point_of_another_type_is_refused():
    with pytest.raises(TableError, match="operating_point is 'balanced'; give an operating point"):
        replace(fitted(**RIDGE), operating_point="balanced")


@pytest.mark.parametrize("point", [*POINTS, {"threshold": {"no": 0.9}}], ids=str)
def test_the_answers_of_a_point_are_written_as_onnx(tmp_path, point):
    runtime = pytest.importorskip("onnxruntime")
    model = fitted(**RIDGE, **point)
    export_onnx(model, tmp_path / "m.onnx")
    frame = table()[list("abc")]
    session = runtime.InferenceSession((tmp_path / "m.onnx").read_bytes())
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    (found,) = session.run(["label"], inputs)
    assert found.tolist() == model.predict(frame).labels.tolist()
    assert found.tolist() != fitted(**RIDGE).predict(frame).labels.tolist()


# -- scores -------------------------------------------------------------------------------------


def metric(model, name):
    return model.about["metrics"][name]["mean"]


@pytest.mark.parametrize(("method", "given"), METHODS_AND_POINTS)
def test_scores_are_those_of_the_answers_to_rows_that_were_not_seen(method, given):
    truth = table(n_labels=400)["sick"].to_numpy()[300:]
    model = fitted(method=method, **given)
    right = model.predict(table().iloc[300:]).labels == truth
    assert metric(model, "accuracy") == pytest.approx(right.mean(), abs=0.1)
    by_class = np.mean([right[truth == name].mean() for name in ("no", "yes")])
    assert metric(model, "balanced_accuracy") == pytest.approx(by_class, abs=0.17)


@pytest.mark.parametrize("method", ["ridge", "averaged"])
def test_scores_of_noise_are_not_those_of_labels_that_were_seen(method):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 60)).round(3), columns=[f"x{k}" for k in range(60)])
    frame["sick"] = np.where(np.arange(80) % 5 == 0, "yes", "no")
    assert metric(fitted(frame, method=method, balanced=True), "balanced_accuracy") < 0.65


def test_a_lower_threshold_finds_more_of_a_class_and_says_what_it_costs():
    low, high = (fitted(**RIDGE, threshold=least) for least in (0.1, 0.6))
    assert metric(low, "balanced_accuracy") > metric(high, "balanced_accuracy") + 0.05
    assert metric(low, "accuracy") < metric(high, "accuracy")
    assert metric(low, "auc") == pytest.approx(metric(high, "auc"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (POINTS[0], "; the model answers as if all classes were equally frequent."),
        (POINTS[1], "; the model answers 'yes' if its probability is at least 0.15, else 'no'."),
        (POINTS[2], "with the least expected cost (missing 'no' costs 1, missing 'yes' 6)."),
    ],
)
def test_the_summary_says_which_point_was_chosen(given, words):
    summary = fitted(**RIDGE, **given).about["summary"]
    assert ", balanced accuracy " in summary
    assert summary.endswith(words)


@pytest.mark.parametrize(("n_rare", "shown"), [(19, True), (20, False)])
def test_the_balanced_accuracy_is_in_the_summary_of_skewed_labels(n_rare, shown):
    frame = table(100, 100).assign(sick=["yes"] * n_rare + ["no"] * (100 - n_rare))
    assert (", balanced accuracy " in fitted(frame, **RIDGE).about["summary"]) is shown


def test_labels_that_cannot_be_tested_leave_a_point_without_scores():
    frame = table(12, 12).assign(sick=["yes"] + ["no"] * 11)
    model = fitted(frame, **RIDGE, balanced=True)
    assert model.about["metrics"] == {}
    assert model.about["summary"].endswith("; the model answers as if all classes were equally "
                                           "frequent.")  # fmt: skip


def test_no_row_is_calibrated_by_a_fit_to_itself(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "semisquares.tables.models.fitting.left_out_decisions",
        lambda *given: seen.append(left_out_decisions(*given)) or seen[-1],
    )
    model = fitted(table(), **RIDGE, threshold=0.2)
    ((decision, codes),) = seen
    assert len(codes) == 300
    assert not np.isin(decision, model.predict(table()).decision).any()


def test_a_test_set_does_not_calibrate_itself(monkeypatch):
    seen, calibrate = [], _operating_scores.calibrate_method

    def watched(setting, decision, codes, counts):
        seen.append((len(decision), len(codes), counts.sum()))
        return calibrate(setting, decision, codes, counts)

    monkeypatch.setattr(_operating_scores, "calibrate_method", watched)
    fitted(table(90, 90), **RIDGE, balanced=True)
    assert seen == [(60, 60, 60)] * 3  # of three folds of 90 labels


# -- chunks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "given"),
    [("ridge", POINTS[0]), ("logistic", POINTS[1]), ("averaged", POINTS[2])],
)
def test_chunks_give_the_same_answers_and_scores(method, given):
    frame = table(240, 200)
    chunks = split(csv_of(frame), labels=["sick"], n_bytes=4_000)
    assert len(chunks) > 1
    chunked = prepare_chunks(chunks, "sick", run=on_dask)
    options = FitOptions(method, folds=2, repeats=1, point=PointOptions(**given))
    streamed = fit_streamed(chunked, options)
    whole = fit_table(prepare(frame, "sick"), method=method, folds=2, repeats=1, **given)
    one, other = streamed.predict(frame), whole.predict(frame)
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-9)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert streamed.about["summary"] == whole.about["summary"]
    assert streamed.operating_point.as_dict("ab") == whole.operating_point.as_dict("ab")


# -- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", POINTS)
def test_a_point_survives_its_file(given):
    model = fitted(**RIDGE, **given)
    again = loads(dumps(model)).operating_point
    assert again.as_dict(model.classes) == model.operating_point.as_dict(model.classes)


def test_a_file_of_an_earlier_version_has_no_point():
    model = fitted(**RIDGE)
    plain = model.to_plain()
    del plain["operating_point"]
    assert type(model).from_plain(plain).operating_point is None


@pytest.mark.parametrize(
    "forged",
    [
        {"kind": "balanced", "shares": np.array([0.5, 0.6])},
        {"kind": "balanced", "shares": np.array([1.0, 0.0])},
        {"kind": "balanced", "shares": np.array([0.5, 0.25, 0.25])},
        {"kind": "balanced", "shares": np.array([1, 1])},
        {"kind": "balanced", "shares": 0.5},
        {"kind": "threshold", "code": 2, "least": 0.5},
        {"kind": "threshold", "code": True, "least": 0.5},
        {"kind": "threshold", "code": 1, "least": 1.0},
        {"kind": "threshold", "code": 1, "least": "0.5"},
        {"kind": "costs", "costs": np.zeros((2, 2))},
        {"kind": "costs", "costs": np.array([[0.0, -1.0], [1.0, 0.0]])},
        {"kind": "costs", "costs": np.array([[0.0, np.nan], [1.0, 0.0]])},
        {"kind": "costs", "costs": np.array([[0.0, 1e300], [1.0, 0.0]])},
        {"kind": "costs", "costs": np.ones((3, 3)) - np.eye(3)},
        {"kind": "os.system", "costs": "true"},
        {},
        [],
    ],
)
def test_a_file_with_a_point_that_makes_no_sense_is_refused(forged, monkeypatch):
    model = fitted(**RIDGE)
    plain = {**model.to_plain(), "operating_point": forged}
    monkeypatch.setattr(type(model), "to_plain", lambda *_: plain)
    with pytest.raises(TableError) as refused:
        loads(dumps(model))
    assert refused.value.code == "model_senseless"


def test_forged_numbers_of_labels_count_as_unknown():
    model = fitted(**RIDGE)
    for counts in ([0, 5], [10**400, 5], [1], ["a", "b"], None):
        forged = replace(model, about={**model.about, "counts": counts})
        assert forged.label_counts is None


def test_plain_data_restores_each_kind():
    for point in (Balanced(np.array([0.5, 0.5])), Threshold(0, 0.1), LeastCost(np.eye(2))):
        assert type(read_point(point.to_plain())) is type(point)
