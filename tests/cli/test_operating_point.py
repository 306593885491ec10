"""--balanced, --threshold and --costs in fit, predict and inspect."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FAST = ("--method", "ridge", "--alpha", "1", "--folds", "2", "--repeats", "1", "--jobs", "1")


@pytest.fixture
def table(semisquares):
    """Write a table with a rare class, and two files of costs."""
    rng = np.random.default_rng(0)
    truth = rng.random(240) < 0.15
    frame = pd.DataFrame({"a": rng.normal(size=240) + truth, "b": rng.normal(size=240)}).round(3)
    frame["sick"] = np.where(truth, "yes", "no")
    frame.to_csv("t.csv", index=False)
    pd.DataFrame({"truth": ["yes", "no"], "no": [5, 0], "yes": [0, 1]}).to_csv("c.csv", index=False)
    return frame


def fit(semisquares, *words):
    return semisquares("fit", "t.csv", "--target", "sick", "-o", "m", *FAST, *words)


def predicted(semisquares, *words):
    code, printed, errors = semisquares("predict", "m", "t.csv", "-o", "out.csv", *words)
    assert code == 0, errors
    return printed, pd.read_csv("out.csv")


THRESHOLD = "The model answers 'yes' if its probability is at least 0.2, else 'no'."
COSTS = (
    "The model gives the answer with the least expected cost (missing 'no' costs 1, missing 'yes' "
    "5)."
)


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        (("--balanced",), "balanced", "The model answers as if all classes were equally frequent."),
        (("--threshold", "0.2"), "threshold", THRESHOLD),
        (("--threshold", "yes=0.2"), "threshold", THRESHOLD),
        (("--costs", "yes=5"), "costs", COSTS),
        (("--costs", "yes=5,no=1"), "costs", COSTS),
        (("--costs", "c.csv"), "costs", COSTS),
    ],
)
def test_the_point_of_a_fit_is_stored_and_shown(semisquares, table, words, kind, sentence):
    code, printed, errors = fit(semisquares, *words)
    assert code == 0, errors
    assert ", balanced accuracy " in printed
    assert sentence.removeprefix("The model ") in printed
    _, printed, _ = semisquares("inspect", "m")
    assert f"  operating point: {sentence}" in printed
    facts = json.loads(semisquares("inspect", "m", "--json")[1])["operating_point"]
    assert (facts["kind"], facts["sentence"]) == (kind, sentence)
    assert json.loads(fit(semisquares, *words, "--json")[1])["operating_point"] == facts
    printed, out = predicted(semisquares)
    assert f"Operating point: {sentence}" in printed
    printed, _ = predicted(semisquares, "--json")
    assert json.loads(printed)["operating_point"] == facts
    fit(semisquares)
    assert "Operating point" not in predicted(semisquares)[0]
    again = predicted(semisquares, *words)[1]
    pd.testing.assert_frame_equal(again, out)


def test_probabilities_do_not_change_and_are_those_of_the_answers(semisquares, table):
    fit(semisquares)
    plain = predicted(semisquares, "--all-probabilities")[1]
    printed, out = predicted(semisquares, "--all-probabilities", "--threshold", "0.2")
    second = out["sick_probability_yes"]
    pd.testing.assert_series_equal(second, plain["sick_probability_yes"])
    np.testing.assert_array_equal(out["sick_predicted"], np.where(second >= 0.2, "yes", "no"))
    own = np.where(out["sick_predicted"] == "yes", second, out["sick_probability_no"])
    np.testing.assert_array_equal(out["sick_probability"], own)
    n_less = int((own < 0.5).sum())
    assert n_less > 1
    assert (
        f"In {n_less} rows another class is more probable than the predicted one: the " in printed
    )
    assert "the operating point prefers the latter." in printed


def test_a_useless_model_says_so_and_one_with_costs_does_not(semisquares, table):
    useless = "The model is useless for class 'yes'"
    assert f"Note: {useless}" in fit(semisquares)[2]
    assert f"Note: {useless}" in semisquares("inspect", "m")[2]
    words = ("predict", "m", "t.csv", "-o", "out.csv")
    assert semisquares(*words)[2].count(useless) == 1
    facts = json.loads(semisquares(*words, "--json")[1])
    assert [one["class"] for one in facts["missed_classes"]] == ["yes"]
    assert useless not in semisquares(*words, "--costs", "yes=9")[2]
    assert useless not in fit(semisquares, "--costs", "yes=9")[2]
    low = semisquares(*words, "--threshold", "no=0.01")[2]
    assert "Note: None of 240 rows is predicted to be of class 'yes', although 1" in low


def test_missing_labels_are_filled_at_the_operating_point(semisquares, table):
    fit(semisquares)
    expected = predicted(semisquares, "--costs", "yes=9")[1]["sick_predicted"]
    table.assign(sick="").to_csv("t.csv", index=False)
    out = predicted(semisquares, "--only-missing", "--costs", "yes=9")[1]
    assert out["sick"].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--balanced", "--costs", "yes=2"), "--balanced and --costs both say which class is"),
        (("--threshold", "low"), "--threshold 'low' is not a probability; write it as"),
        (("--threshold", "yes="), "--threshold 'yes=' is not a probability; write it as"),
        (("--threshold", "1.5"), "--threshold is 1.5; give a probability, above 0 and below 1."),
        (("--threshold", "maybe=0.2"), "--threshold names 'maybe', which is not a class; the"),
        (("--costs", "none.csv"), "--costs 'none.csv' is neither an existing file nor written as"),
        (("--costs", "yes=1,no"), "--costs 'yes=1,no' is neither an existing file nor written as"),
        (("--costs", "yes=1,yes=2"), "--costs 'yes=1,yes=2' names 'yes' twice; give one cost."),
        (("--costs", "yes=-1"), "--costs has -1.0 for 'yes'; give a number from 0 to 1e+12."),
        (("--costs", "t.csv"), "--costs names "),
        (("--costs", "narrow.csv"), "--costs 'narrow.csv' has 2 columns; give it one with"),
        (("--costs", "empty.csv"), "--costs has no number for answering 'yes' for 'no'; give a"),
        (("--costs", "."), ". is a folder; give one file"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(semisquares, table, words, sentence):
    pd.DataFrame({"class": ["no", "yes"], "cost": [1, 5]}).to_csv("narrow.csv", index=False)
    pd.DataFrame({"": ["no", "yes"], "no": [0, 5], "yes": ["", 1]}).to_csv("empty.csv", index=False)
    assert fit(semisquares)[0] == 0
    for command in (
        ("fit", "t.csv", "--target", "sick", "-o", "n", *FAST),
        ("predict", "m", "t.csv", "-o", "out.csv"),
    ):
        code, _, errors = semisquares(*command, *words)
        assert code == 2
        assert sentence in " ".join(errors.split())
        assert "Traceback" not in errors


def test_a_file_of_costs_is_not_overwritten(semisquares, table):
    assert fit(semisquares)[0] == 0
    code, _, errors = semisquares("predict", "m", "t.csv", "-o", "c.csv", "--costs", "c.csv")
    assert (code, "'c.csv' is a file that the command reads" in errors) == (2, True)


def test_a_model_with_an_operating_point_is_written_as_onnx(semisquares, table):
    pytest.importorskip("onnx")
    assert fit(semisquares, "--balanced", "--onnx", "m.onnx")[0] == 0
    assert semisquares("export", "m", "-o", "n.onnx")[0] == 0
    assert Path("m.onnx").read_bytes() == Path("n.onnx").read_bytes()


def test_classes_that_are_numbers_are_named_as_they_are_written(semisquares, table):
    table["sick"] = np.where(table["sick"] == "yes", 1, 0)
    table.to_csv("t.csv", index=False)
    pd.DataFrame([[0, 1], [7, 0]], index=[0, 1], columns=[0, 1]).to_csv("numbers.csv")
    assert fit(semisquares, "--costs", "numbers.csv")[0] == 0
    by_file = predicted(semisquares)[1]
    fit(semisquares, "--costs", "1=7")
    pd.testing.assert_frame_equal(predicted(semisquares)[1], by_file)
