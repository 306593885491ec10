"""Columns that reveal the label are found, and chance is not taken for one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from semisquares.cli._parameters import in_options
from semisquares.tables.compare.notices.leak import _auc_by_feature, _recall_by_level, leaks
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


@pytest.mark.parametrize(("n_columns", "n_found"), [(5, 1), (100, 0)])
def test_what_chance_does_among_many_columns_is_no_leak(n_columns, n_found):
    frame = table(n=60, n_labeled=0, n_columns=n_columns)
    frame.loc[:19, "y"] = ["yes"] * 5 + ["no"] * 15
    # one column of random numbers in 7,752 parts 5 labels from 15
    frame.loc[:19, "x0"] = np.arange(20.0)
    assert len(leaks(prepare(frame, "y"), seed=0)) == n_found


def test_the_auc_of_a_feature_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, codes = rng.integers(6, size=(50, 1)).astype(float), rng.integers(2, size=50)
    expected = roc_auc_score(codes, X[:, 0])
    assert _auc_by_feature(X, codes) == pytest.approx(max(expected, 1.0 - expected))
