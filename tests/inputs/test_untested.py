"""A class with a single labeled row is always trained on, never tested, and everything goes on."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_validate

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares._inputs.untested import describe_untested, rows_to_test
from semisquares.estimators import _cross_validation
from semisquares.model_selection import (
    LabeledRepeatedStratifiedKFold,
    LabeledStratifiedGroupKFold,
    LabeledStratifiedKFold,
    LabeledStratifiedShuffleSplit,
    LabeledTestSplit,
)
from semisquares.tables import TableError, compare_table, fit_table, prepare
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tuning import tune
from semisquares.tables.compare.scores import score
from semisquares.tables.compare.splits import plan, training_mask

SPLITTERS = [
    LabeledStratifiedKFold(2),
    LabeledStratifiedKFold(2, shuffle=True, random_state=0),
    LabeledRepeatedStratifiedKFold(2, n_repeats=2, random_state=0),
    LabeledStratifiedShuffleSplit(3, test_size=0.5, random_state=0),
    LabeledTestSplit(StratifiedKFold(2)),
]
SINGLE = "has a single labeled row, so it is always trained on and never tested; label more rows"


def table(n_rows=120, n_labels=30, n_classes=2, seed=0):
    """Rows of some classes, the first of them labeled, and one more class with a single label."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 3)) + 2.0 * np.eye(3)[truth]
    y = np.where(np.arange(n_rows) < n_labels, truth, -1)
    X[-1], y[-1] = 4.0, n_classes
    return X, y


# -- the rule -----------------------------------------------------------------------------------


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=40))
def test_a_row_is_tested_if_another_has_its_label(codes):
    expected = [code >= 0 and codes.count(code) > 1 for code in codes]
    assert rows_to_test(np.array(codes)).tolist() == expected


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), min_size=1, max_size=30))
def test_with_groups_every_tested_class_has_rows_in_another_group(rows):
    codes, groups = np.array(rows).T
    tested = rows_to_test(codes, groups)
    assert not (tested & (codes < 0)).any()
    assert not set(groups[tested]) & set(groups[(codes >= 0) & ~tested])
    for row in np.flatnonzero(tested):
        assert (groups[codes == codes[row]] != groups[row]).any()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("names", [["a"], ["a", 1], list("abcdefgh")], ids=len)
def test_it_is_said_in_one_sentence(names, grouped):
    text = describe_untested(names, grouped=grouped)
    assert repr(names[0]) in text
    assert re.fullmatch(r"[^.\n]*\.", text)


# -- splitters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", SPLITTERS, ids=repr)
def test_a_single_labeled_row_is_in_every_training_set_and_in_no_test_set(cv):
    y = np.array(["a", "b", "c", None, "a", "b", "a", "b", None], dtype=object)
    with pytest.warns(UserWarning, match=f"Class 'c' {SINGLE}") as caught:
        splits = list(cv.split(None, y))
    assert len(splits) == cv.get_n_splits(None, y)
    assert [warning.filename for warning in caught] == [__file__]
    for train, test in splits:
        assert 2 in train
        assert set(y[test]) == {"a", "b"}
        assert not set(train) & set(test)
        assert {3, 8} <= set(train)


def test_the_other_rows_are_split_as_if_it_had_no_label():
    y = np.array([0, 1, 2, -1, 0, 1, 0, 1, 0, 1, -1])
    cv = LabeledStratifiedKFold(3, shuffle=True, random_state=4)
    with pytest.warns(UserWarning, match=f"Class 2 {SINGLE}"):
        found = [test.tolist() for _, test in cv.split(None, y)]
    expected = [test.tolist() for _, test in cv.split(None, np.where(y == 2, -1, y))]
    assert found == expected


def test_several_such_classes_are_named_in_one_warning():
    y = ["a", "a", "b", "c", "a", "d", "d"]
    with pytest.warns(UserWarning, match="Classes 'b', 'c' have a single labeled row") as caught:
        list(LabeledStratifiedKFold(2).split(None, y))
    assert len(caught) == 1


def test_the_group_of_a_class_that_is_in_no_other_is_in_every_training_set():
    y = np.array([0, 1, 0, 1, 0, 1, 2, 0, -1, -1])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 0])
    with pytest.warns(UserWarning, match="All labeled rows of class 2 are in one group") as caught:
        splits = list(LabeledStratifiedGroupKFold(3).split(None, y, groups))
    assert len(caught) == 1
    for train, test in splits:
        assert {6, 7, 8} <= set(train)
        assert not set(groups[train]) & set(groups[test])
        assert set(y[test]) == {0, 1}


def test_cross_validation_goes_on_and_warns_once():
    X, y = table()
    with pytest.warns(UserWarning, match=f"Class 2 {SINGLE}") as caught:
        found = cross_validate(SoftLabelClassifier(), X, y, cv=LabeledStratifiedKFold(5))
    assert len(caught) == 1
    assert np.isfinite(found["test_score"]).all()


# -- the classifier that chooses ----------------------------------------------------------------


@pytest.mark.parametrize("options", [{"cv": 4}, {"scoring": "accuracy"}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_choice_is_made_by_the_other_classes(monkeypatch, n_classes, options):
    X, y = table(n_classes=n_classes)
    seen = []
    fit = _cross_validation.Search.fit

    def remember(self, train):
        seen.append(train)
        return fit(self, train)

    monkeypatch.setattr(_cross_validation.Search, "fit", remember)
    with pytest.warns(UserWarning, match=f"Class {n_classes} {SINGLE}") as caught:
        model = SoftLabelClassifierCV([0.1, 10.0], **options).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    single = len(X) - 1
    assert seen
    assert all(single in train for train in seen)
    assert {row for train in seen for row in range(30) if row not in train} == set(range(30))
    assert model.classes_.tolist() == list(range(n_classes + 1))
    assert len(model.predict(X)) == len(X)


def test_it_takes_what_the_ridge_classifier_of_scikit_learn_takes():
    X, y = table()
    labeled = y >= 0
    with pytest.warns(UserWarning, match=SINGLE):
        ours = SoftLabelClassifierCV([1.0], unlabeled_weights=[0.0]).fit(X, y)
    theirs = RidgeClassifierCV([1.0]).fit(X[labeled], y[labeled])
    np.testing.assert_allclose(2 * ours.coef_, theirs.coef_, atol=1e-9)


def test_a_single_row_is_not_left_out():
    X, y = table(seed=3)
    with pytest.warns(UserWarning, match=SINGLE):
        model = SoftLabelClassifierCV([0.1, 10.0], unlabeled_weights=[0.0]).fit(X, y)
    everything = np.arange(len(X))
    splits = [(np.delete(everything, row), [row]) for row in range(30)]
    others = SoftLabelClassifierCV([0.1, 10.0], unlabeled_weights=[0.0], cv=splits).fit(X, y)
    assert model.n_splits_ == 30
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], others.cv_results_["mean_test_score"], rtol=1e-7
    )


def test_there_are_as_many_folds_as_the_rarest_class_that_can_be_tested_allows():
    X, y = table(n_labels=60)
    y[np.flatnonzero(y == 1)[3:]] = -1
    with pytest.warns(UserWarning, match=SINGLE):
        assert SoftLabelClassifierCV([1.0], cv=5).fit(X, y).n_splits_ == 3


ONE_OF_EACH = {"no class": [0, 1], "no class of three": [0, 1, 2], "one class": [0, 0, 0, 0, 1]}


@pytest.mark.parametrize("alphas", [None, [0.5], [1.0, 10.0, 100.0]], ids=str)
@pytest.mark.parametrize("labels", ONE_OF_EACH.values(), ids=ONE_OF_EACH.keys())
def test_where_nothing_can_be_tested_the_middle_of_the_grid_is_taken(labels, alphas):
    X, y = table(n_labels=0)
    y[:] = -1
    y[: len(labels)] = labels
    with pytest.warns(UserWarning, match="^Fewer than two classes have two labeled") as caught:
        model = SoftLabelClassifierCV(alphas).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    grid = np.unique(model.cv_results_["param_alpha"])
    assert model.alpha_ == model.supervised_alpha_ == grid[len(grid) // 2]
    assert (model.unlabeled_weight_, model.n_splits_) == (0.0, 0)
    assert np.isnan(model.best_score_)
    assert np.isnan(model.cv_results_["mean_test_score"]).all()
    plain = LeastSquaresClassifier(model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)


def test_splits_that_a_user_gives_are_taken_as_they_are():
    X, y = table()
    everything = np.arange(len(X))
    splits = [(np.delete(everything, [0, 1]), [0, 1]), (np.delete(everything, -1), [len(X) - 1])]
    assert SoftLabelClassifierCV([1.0], cv=splits).fit(X, y).n_splits_ == 2


# -- tables -------------------------------------------------------------------------------------


def frame(grouped=False):
    X, y = table(n_labels=40)
    found = pd.DataFrame(X, columns=list("abc"))
    found["label"] = [None if code < 0 else "xyz"[code] for code in y]
    found["batch"] = (np.arange(len(X)) * 7 // 5 % 12).astype(str) if grouped else "-"
    return found


def test_every_test_set_of_a_plan_has_every_class_but_the_single_one():
    _, codes = table()
    planned = plan(codes, repeats=2)
    assert planned.untested == (2,)
    assert (planned.n_labeled, planned.n_tested, planned.folds) == (31, 30, 5)
    assert planned.ratio == pytest.approx(6 / 25)
    for test in planned.tests:
        assert set(codes[test]) == {0, 1}
        assert training_mask(test, codes)[-1]


def test_groups_of_a_plan_that_hold_the_single_row_are_never_tested():
    _, codes = table()
    groups = np.arange(len(codes)) % 10
    planned = plan(codes, groups, repeats=2)
    assert planned.untested == (2,)
    for test in planned.tests:
        assert groups[-1] not in groups[test]
        assert training_mask(test, codes, groups)[-1]
        assert set(codes[test]) == {0, 1}


def test_the_search_keeps_groups_together_though_a_class_is_in_one_group():
    X, codes = table()
    groups = np.arange(len(codes)) % 10
    assert tune(TableRows(X, codes, groups)).n_search == (codes < 0).sum()


def test_auc_is_the_mean_of_the_classes_among_the_rows():
    X, codes = table(n_classes=3)
    model = LeastSquaresClassifier(1.0).fit(X, codes)
    rows = np.flatnonzero((codes >= 0) & (codes < 3))
    z = model.decision_function(X[rows])
    expected = []
    for k in range(3):
        inside, outside = z[codes[rows] == k, k], z[codes[rows] != k, k]
        expected.append((inside[:, None] > outside).mean())
    assert score(model, X[rows], codes[rows])[2] == pytest.approx(np.mean(expected))
    assert np.isnan(score(model, X[rows[:1]], codes[rows[:1]])[2])


@pytest.mark.usefixtures("few_trees")
def test_a_comparison_goes_on_with_a_notice():
    found = compare_table(prepare(frame(), "label", drop=["batch"]), folds=2, repeats=1)
    notices = [notice for notice in found.notices if notice.kind == "untested"]
    assert [notice.sentence for notice in notices] == [describe_untested(["z"])]
    assert all(np.isfinite(rival.scores["auc"].mean) for rival in found.rivals)
    assert "other" not in {notice.kind for notice in found.notices}


def test_a_comparison_of_groups_goes_on_with_a_notice():
    rows = prepare(frame(grouped=True), "label", group="batch")
    found = compare_table(rows, folds=2, repeats=1, quick=True)
    notices = [notice for notice in found.notices if notice.kind == "untested"]
    assert [notice.sentence for notice in notices] == [describe_untested(["z"], grouped=True)]


@pytest.mark.parametrize("options", [{}, {"method": "soft", "alpha": 1.0, "weight": 1.0}], ids=str)
def test_a_model_is_fitted_and_measured_with_a_note(options):
    rows = prepare(frame(), "label", drop=["batch"])
    model = fit_table(rows, folds=2, repeats=1, **options)
    assert model.classes == ("x", "y", "z")
    assert model.about["metrics"]["accuracy"]["mean"] > 0.5
    notes = [note for note in model.about["notes"] if note.startswith(describe_untested(["z"]))]
    assert len(notes) == 1


def test_a_comparison_that_could_test_one_class_only_is_refused():
    rows = frame()
    rows.loc[rows["label"] == "y", "label"] = None
    with pytest.raises(TableError, match=r"Class 'z' has a single .* two classes or more are"):
        compare_table(prepare(rows, "label", drop=["batch"]), folds=2, repeats=1)
    model = fit_table(prepare(rows, "label", drop=["batch"]), folds=2, repeats=1)
    assert model.classes == ("x", "z")
    assert any("No scores could be measured" in note for note in model.about["notes"])
