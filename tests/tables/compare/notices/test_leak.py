"""Columns that reveal the label are found, and chance is not taken for one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from semisquares.cli._parameters import in_options
from semisquares.tables.compare.notices import leak
from semisquares.tables.compare.notices.leak import (
    _auc_by_feature,
    _recall_by_level,
    _threshold_errors,
    leaks,
)
from semisquares.tables.dataset import prepare
from support.partly_labeled import notices, table


@pytest.mark.parametrize("kind", ["number", "date", "category", "boolean"])
def test_a_column_filled_with_the_label_is_a_leak_and_no_shift(kind):
    frame = table()
    cells = {
        "number": np.random.default_rng(1).normal(size=400),
        "date": pd.Series(pd.date_range("2020-01-01", periods=400)),
        "category": np.random.default_rng(1).choice(["a", "b", "c"], 400),
        "boolean": np.random.default_rng(1).choice(["yes", "no"], 400),
    }
    frame["found on"] = pd.Series(cells[kind]).where(frame["y"].notna())
    (notice,) = notices(frame)
    assert notice.kind == "leak"
    assert notice.sentence.startswith("Column 'found on' is filled almost exactly where 'y' has")
    assert notice.sentence.endswith("drop=['found on'].")
    assert in_options(notice.sentence).endswith("--drop 'found on'.")


def test_a_column_empty_where_there_is_a_label_is_a_leak():
    frame = table()
    frame["x0"] = frame["x0"].where(frame["y"].isna())
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence.startswith("Column 'x0' is empty almost exactly where")


@pytest.mark.parametrize("filled", [0.01, 0.2, 0.99])
def test_gaps_at_random_are_no_leak(filled):
    frame = table()
    frame["x0"] = frame["x0"].where(np.random.default_rng(1).random(400) < filled)
    assert leaks(prepare(frame, "y"), seed=0) == []


def test_a_number_that_alone_tells_the_classes_apart_is_a_leak():
    frame = table()
    frame["score"] = np.random.default_rng(1).normal(size=400) + 9.0 * (frame["y"] == "yes")
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence == (
        "Column 'score' alone predicts 'y' almost perfectly; if it is known only after 'y', leave "
        "it out with drop=['score']."
    )


def test_codes_that_go_with_one_class_each_are_a_leak():
    frame = table()
    rng = np.random.default_rng(1)
    sick, well = rng.choice(["I10", "J20", "K30"], 400), rng.choice(["Z00", "Z01"], 400)
    frame["code"] = np.where(frame["y"] == "yes", sick, well)
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert "'code' alone predicts" in notice.sentence


def test_thousands_of_labels_are_looked_at():
    frame = table(n=7000, n_labeled=6000, n_columns=2)
    frame["copy"] = frame["y"].map({"yes": 1.5, "no": 2.5}).fillna(9.0)
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert "'copy' alone predicts" in notice.sentence


def test_a_code_that_occurs_once_predicts_nothing():
    found = _recall_by_level(np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 1]))
    assert found == pytest.approx((1 + 2 / 3) / 2)


def test_one_of_three_classes_told_apart_is_no_leak_but_all_three_are():
    frame = table(n=300, n_labeled=90)
    rng = np.random.default_rng(1)
    frame["y"] = frame["y"].where(frame["y"].isna(), rng.choice(["a", "b", "c"], 300))
    place = frame["y"].map({"a": 0, "b": 1, "c": 2}).fillna(0)
    frame["one"] = rng.normal(size=300) + 20.0 * (place == 2)
    frame["all"] = 10 + place
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence.startswith("Column 'all' alone")


@pytest.mark.parametrize(("chance", "n_found"), [(0.01, 1), (1e-5, 0)])
def test_what_chance_does_among_many_columns_is_no_leak(monkeypatch, chance, n_found):
    frame = table(n=60, n_labeled=0, n_columns=5)
    frame.loc[:39, "y"] = ["yes"] * 5 + ["no"] * 35
    # one column of random numbers in 329,004 parts 5 labels from 35
    frame.loc[:39, "x0"] = np.arange(40.0)
    monkeypatch.setattr(leak, "CHANCE", chance)
    assert len(leaks(prepare(frame, "y"), seed=0)) == n_found


def right_mostly(kind, seed, n_labeled):
    """Draw a column that is right about 91 % of the rows."""
    rng = np.random.default_rng(seed)
    frame = table(n=300, n_labeled=0, n_columns=3, seed=seed)
    yes = rng.random(300) < 0.5
    columns = {
        "number": rng.normal(size=300) + 2.68 * yes,
        "category": np.where(yes ^ (rng.random(300) < 0.09), "a", "b"),
    }
    frame["good"] = columns[kind]
    frame["y"] = np.where(np.arange(300) < n_labeled, np.where(yes, "yes", "no"), None)
    return frame


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_column_that_is_mostly_right_is_no_leak_however_few_labels_show_it(kind):
    few = [leaks(prepare(right_mostly(kind, seed, 35), "y"), seed=0) for seed in range(40)]
    many = [leaks(prepare(right_mostly(kind, seed, 200), "y"), seed=0) for seed in range(10)]
    assert not any(few)
    assert not any(many)


@pytest.mark.parametrize("n_labeled", [40, 60])
def test_a_column_that_is_always_right_is_a_leak_from_forty_labels_on(n_labeled):
    frame = table(n_labeled=n_labeled)
    frame["after"] = frame["y"].map({"yes": "A", "no": "B"}).fillna("A")
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.columns == ("after",)


@pytest.mark.parametrize("different", [False, True], ids=["copies", "with another column"])
@pytest.mark.parametrize("n_times", [2, 3, 10])
def test_a_table_that_is_written_several_times_has_no_leak(n_times, different):
    once = table(n=100, n_labeled=40, n_columns=2).assign(
        c=np.random.default_rng(1).choice(["a", "b", "c"], 100)
    )
    frame = pd.concat([once] * n_times, ignore_index=True)
    noise = {"noise": np.random.default_rng(2).normal(size=len(frame))} if different else {}
    assert leaks(prepare(frame.assign(**noise), "y"), seed=0) == []


def test_a_leak_in_a_table_that_is_written_twice_is_found():
    once = table()
    once["score"] = np.random.default_rng(1).normal(size=400) + 9.0 * (once["y"] == "yes")
    once["code"] = once["y"].map({"yes": "A", "no": "B"}).fillna("A")
    frame = pd.concat([once, once], ignore_index=True)
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.columns == ("score", "code")


def test_a_number_of_a_group_is_no_leak_if_few_groups_have_labels():
    frame = table(n=400, n_labeled=0, n_columns=2)
    patient = np.arange(400) // 20
    frame["patient"], frame["height"] = patient, 150.0 + patient
    frame["y"] = np.where(patient < 8, np.where(patient < 4, "yes", "no"), None)
    assert leaks(prepare(frame, "y", group="patient"), seed=0) == []


def test_a_class_with_a_single_label_hides_no_leak():
    frame = table()
    frame["copy"] = frame["y"].map({"yes": 1.5, "no": 2.5}).fillna(9.0)
    frame.loc[frame.index[frame["y"].notna()][0], "y"] = "maybe"
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.columns == ("copy",)


def test_the_errors_of_a_threshold_are_the_fewest():
    feature, inside = np.array([1.0, 2.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 0, 0], dtype=bool)
    assert _threshold_errors(feature, inside) == 1
    assert _threshold_errors(-feature, inside) == 1
    assert _threshold_errors(feature, ~inside) == 1


def test_the_auc_of_a_feature_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, codes = rng.integers(6, size=(50, 1)).astype(float), rng.integers(2, size=50)
    expected = roc_auc_score(codes, X[:, 0])
    assert _auc_by_feature(X, codes) == pytest.approx(max(expected, 1.0 - expected))
