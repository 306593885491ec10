"""Tuning: the choice of alpha and of the weight of unlabeled rows, and the fits with it."""

import numpy as np
import pytest

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares.tables.compare import _tuning as tuning
from semisquares.tables.compare._rows import TableRows, subsample
from semisquares.tables.compare._tuning import fit_pair, fit_rows, tune
from semisquares.tables.models._measuring import FitOptions, choose, fit_setting
from support.made_rows import clusters
from support.made_rows import needle as wide_needle


def table(n_rows=120, n_labels=30, d=4, n_classes=2, seed=0):
    return clusters(n_rows, d, n_classes, n_labels, seed, apart=1.5)[:2]


def needle():
    return wide_needle(d=50)


@pytest.mark.parametrize("make", [table, needle])
def test_the_choice_is_that_of_the_classifier(make):
    X, codes = make()
    model = SoftLabelClassifierCV().fit(X, codes)
    pair = fit_pair(TableRows(X, codes))
    assert tune(TableRows(X, codes)) == pair.choice
    assert pair.choice.alpha == model.alpha_
    assert pair.choice.unlabeled_weight == model.unlabeled_weight_
    assert pair.choice.n_search == (codes < 0).sum()
    np.testing.assert_allclose(pair.soft.coef_, model.coef_, atol=1e-12)
    np.testing.assert_array_equal(pair.ridge.coef_, model.supervised_.coef_)


def test_the_two_tables_are_one_where_unlabeled_rows_are_used_and_one_where_not():
    assert tune(TableRows(*table())).unlabeled_weight == 0.0
    assert tune(TableRows(*needle())).unlabeled_weight > 0.0


def test_without_unlabeled_rows_the_chosen_classifier_is_the_ridge():
    pair = fit_pair(TableRows(*table()))
    assert pair.soft is pair.ridge
    assert isinstance(pair.ridge, LeastSquaresClassifier)


@pytest.fixture
def search_in(monkeypatch):
    """Return a function that sets how many unlabeled rows a search sees."""
    return lambda most: monkeypatch.setattr(tuning, "search_size", lambda n_columns: most)


def test_a_sample_counts_for_all_unlabeled_rows(search_in):
    X, codes = needle()
    X[codes < 0] = X[-1]  # any sample of equal rows is the same
    whole, _ = tuning._search(TableRows(X, codes), None, 0)
    search_in(7)
    some, _ = tuning._search(TableRows(X, codes), None, 0)
    assert (some.choice.n_search, whole.choice.n_search) == (7, 140)
    np.testing.assert_allclose(
        some.soft.cv_results_["mean_test_score"],
        whole.soft.cv_results_["mean_test_score"],
        rtol=1e-6,
    )


def test_the_seed_shuffles_the_folds_of_the_search():
    X, codes = needle()
    groups = np.arange(len(X)) // 2
    same, again, other = (fit_pair(TableRows(X, codes, groups), seed=seed) for seed in (5, 5, 0))
    assert same.soft.best_score_ == again.soft.best_score_
    assert same.soft.best_score_ != other.soft.best_score_


def test_after_a_search_among_some_rows_the_fit_is_to_all(search_in):
    X, codes = needle()
    search_in(100)
    pair = fit_pair(TableRows(X, codes))
    assert pair.choice.n_search == 100
    expected = SoftLabelClassifier(
        pair.choice.alpha, unlabeled_weight=pair.choice.unlabeled_weight
    ).fit(X, codes)
    np.testing.assert_array_equal(pair.soft.coef_, expected.coef_)


def test_a_row_that_counts_three_times_is_as_good_as_three_rows():
    X, codes = needle()
    three = np.repeat(np.arange(len(X)), np.where(codes < 0, 3, 1))
    counted = fit_pair(TableRows(X, codes, count=3.0))
    repeated = fit_pair(TableRows(X[three], codes[three]))
    assert counted.choice.alpha == pytest.approx(repeated.choice.alpha)
    assert counted.choice.unlabeled_weight == repeated.choice.unlabeled_weight > 0.0
    np.testing.assert_allclose(counted.ridge.coef_, repeated.ridge.coef_, atol=1e-9)
    np.testing.assert_allclose(counted.soft.coef_, repeated.soft.coef_, atol=1e-7)


def test_with_a_given_weight_a_row_that_counts_three_times_is_as_good_as_three_rows():
    X, codes = needle()
    three = np.repeat(np.arange(len(X)), np.where(codes < 0, 3, 1))
    options = FitOptions("soft", weight=0.1)
    both = TableRows(X, codes, count=3.0), TableRows(X[three], codes[three])
    counted, repeated = (choose(rows, options) for rows in both)
    assert counted.alpha == pytest.approx(repeated.alpha)
    assert counted.unlabeled_weight == repeated.unlabeled_weight == 0.1
    first, second = (fit_setting(counted, both[0]), fit_setting(repeated, both[1]))
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-7)
    np.testing.assert_allclose(first.intercept_, second.intercept_, atol=1e-7)


def test_after_a_search_in_a_sample_of_a_sample_rows_count_as_often_as_was_said(search_in):
    X, codes = needle()
    search_in(100)
    pair = fit_pair(TableRows(X, codes, count=3.0))
    weight = 3.0 * pair.choice.unlabeled_weight
    expected = SoftLabelClassifier(pair.choice.alpha, unlabeled_weight=weight).fit(X, codes)
    assert weight > 0.0
    np.testing.assert_array_equal(pair.soft.coef_, expected.coef_)


def test_a_subsampled_table_keeps_all_labels_and_some_of_the_others():
    X, codes = needle()
    rows = TableRows(X, codes, np.arange(len(X)))
    sample = subsample(rows, seed=0, most=35)
    assert sample.count == 4.0
    assert (sample.codes >= 0).sum() == 60
    assert (sample.codes < 0).sum() == 35
    np.testing.assert_array_equal(sample.X, X[sample.groups])
    np.testing.assert_array_equal(sample.codes, codes[sample.groups])
    assert subsample(rows, seed=0, most=140).X is X


def test_a_given_alpha_and_a_given_weight_are_taken_as_they_are():
    X, codes = table()
    choice = tune(TableRows(X, codes), alpha=2.0, weight=0.3)
    assert (choice.alpha, choice.unlabeled_weight, choice.supervised_alpha) == (2.0, 0.3, 2.0)
    setting = choose(TableRows(X, codes), FitOptions("soft", alpha=2.0, weight=0.3))
    expected = SoftLabelClassifier(2.0, unlabeled_weight=0.3).fit(X, codes)
    np.testing.assert_array_equal(fit_setting(setting, TableRows(X, codes)).coef_, expected.coef_)


def test_rows_outside_a_mask_are_as_if_they_were_not_there(monkeypatch):
    X, codes = needle()
    inside = np.arange(len(X)) % 10 > 0
    spoilt = np.where(inside[:, None], X, np.nan)
    expected = fit_pair(TableRows(X[inside], codes[inside]))
    found = fit_pair(TableRows(spoilt, codes), inside=inside)
    np.testing.assert_array_equal(found.soft.coef_, expected.soft.coef_)
    model = SoftLabelClassifier(1.0)
    copied = fit_rows(model, TableRows(X, codes), inside).coef_
    monkeypatch.setattr(tuning, "COPIED", 0)  # rows outside now have the weight 0
    np.testing.assert_allclose(
        fit_rows(model, TableRows(X, codes), inside).coef_, copied, atol=1e-12
    )


def test_the_order_of_unlabeled_rows_does_not_matter():
    X, codes = needle()
    order = np.concatenate((np.arange(60), np.random.default_rng(0).permutation(140) + 60))
    one, other = fit_pair(TableRows(X, codes)), fit_pair(TableRows(X[order], codes[order]))
    assert (one.choice.alpha, one.choice.unlabeled_weight) == (
        pytest.approx(other.choice.alpha),
        other.choice.unlabeled_weight,
    )
    np.testing.assert_allclose(one.soft.coef_, other.soft.coef_, atol=1e-9)
    np.testing.assert_allclose(one.soft.intercept_, other.soft.intercept_, atol=1e-9)


def test_where_a_class_has_one_label_and_no_two_others_are_left_the_middle_alpha_is_taken():
    X, codes = table(n_labels=30)
    grid = np.unique(SoftLabelClassifierCV().fit(X, codes).cv_results_["param_alpha"])
    alone = np.where(codes >= 0, np.arange(len(X)) == 3, -1).astype(int)
    found = tune(TableRows(X, alone))
    assert found.alpha == pytest.approx(grid[len(grid) // 2])
    assert found.unlabeled_weight == 0.0


def test_a_class_with_one_label_is_learned_from_but_not_tested():
    X, codes = table(n_classes=3)
    codes[np.flatnonzero(codes == 2)[1:]] = -1
    single = np.flatnonzero(codes == 2)[0]
    splits = tuning._splits(codes, None, 0)
    assert len(splits) == 5
    assert all(single in train and single not in test for train, test in splits)
    assert fit_pair(TableRows(X, codes)).ridge.classes_.tolist() == [0, 1, 2]


def test_a_table_without_unlabeled_rows_has_a_choice():
    X, codes = table(n_rows=30, n_labels=30)
    assert tune(TableRows(X, codes)).unlabeled_weight == 0.0


def test_the_search_keeps_groups_together():
    X, codes = table()
    groups = np.arange(len(X)) // 3
    splits = tuning._splits(codes, groups, 0)
    assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)
    model = SoftLabelClassifierCV(cv=splits).fit(X, codes)
    assert tune(TableRows(X, codes, groups)).supervised_alpha == model.supervised_alpha_
