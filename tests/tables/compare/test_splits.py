"""Claims about who is tested when, and about the choice of alpha and the unlabeled rows' weight."""

import numpy as np
import pytest

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares.model_selection import LabeledStratifiedGroupKFold
from semisquares.tables import TableError
from semisquares.tables.compare import choice
from semisquares.tables.compare.choice import fit_pair, fit_rows, thinned, tune
from semisquares.tables.compare.splits import grouped_folds, plan, stratified_order, training_mask


def labels(*counts, n_unlabeled=30, seed=0):
    codes = np.repeat([*range(len(counts)), -1], [*counts, n_unlabeled])
    return np.random.default_rng(seed).permutation(codes)


def table(n_rows=120, n_labels=30, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, d)) + 1.5 * rng.normal(size=(n_classes, d))[truth]
    return X, np.where(np.arange(n_rows) < n_labels, truth, -1)


def needle(n_rows=200, n_labels=60, d=50, seed=0):
    """Hide two clouds among wide columns: unlabeled rows tell which columns are wide."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    X = 3.0 * rng.normal(size=(n_rows, d))
    X[:, 0] = 2.0 * truth - 1.0 + 0.1 * rng.normal(size=n_rows)
    return X, np.where(np.arange(n_rows) < n_labels, truth, -1)


# -- splits -------------------------------------------------------------------------------------


def test_every_repeat_tests_every_labeled_row_once_and_no_other():
    codes = labels(13, 27, 8)
    planned = plan(codes, repeats=3)
    for repeat in range(3):
        tested = np.concatenate(planned.tests[5 * repeat : 5 * repeat + 5])
        np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(codes >= 0))


def test_every_test_set_holds_every_class():
    codes = labels(4, 30, 9)
    assert all(set(codes[test]) == {0, 1, 2} for test in plan(codes).tests)


def test_all_rows_but_the_tested_are_learned_from():
    codes = labels(10, 10)
    for test in plan(codes).tests:
        np.testing.assert_array_equal(np.flatnonzero(~training_mask(test, codes)), test)


@pytest.mark.parametrize(("counts", "folds"), [((20, 20), 5), ((20, 3), 3), ((2, 2), 2)])
def test_there_are_as_many_folds_as_the_rarest_class_allows(counts, folds):
    planned = plan(labels(*counts))
    assert planned.folds == folds
    assert planned.ratio == pytest.approx(1 / (folds - 1))


@pytest.mark.parametrize(("n_labels", "repeats"), [(20, 10), (1000, 4), (9000, 2)])
def test_more_labels_are_split_less_often(n_labels, repeats):
    planned = plan(labels(n_labels // 2, n_labels // 2))
    assert planned.repeats == repeats
    assert len(planned.tests) == 5 * repeats


@pytest.mark.parametrize("groups", [None, np.arange(90) % 15])
def test_plans_of_one_seed_begin_alike_and_those_of_others_differ(groups):
    codes = labels(30, 30)
    short, long, other = (
        plan(codes, groups, repeats=n, seed=seed).tests for n, seed in [(2, 1), (4, 1), (2, 2)]
    )
    for one, same in zip(short, long, strict=False):
        np.testing.assert_array_equal(one, same)
    assert any(list(one) != list(another) for one, another in zip(short, other, strict=True))


def test_groups_never_straddle_and_leave_training_with_their_unlabeled_rows():
    codes = labels(30, 30, n_unlabeled=60)
    groups = np.random.default_rng(1).integers(20, size=120)
    for test in plan(codes, groups).tests:
        inside = training_mask(test, codes, groups)
        assert not set(groups[inside]) & set(groups[test])
        assert set(groups[~inside]) == set(groups[test])


def test_group_folds_are_those_of_the_splitter():
    codes = labels(30, 30, n_unlabeled=60)
    groups = np.arange(120) % 24
    splitter = LabeledStratifiedGroupKFold(5, shuffle=True, random_state=np.random.RandomState(3))
    (repeat,) = grouped_folds(codes, groups, folds=5, seed=3)
    for test, (train, expected) in zip(repeat, splitter.split(None, codes, groups), strict=True):
        np.testing.assert_array_equal(test, expected)
        np.testing.assert_array_equal(
            np.flatnonzero(training_mask(test, codes, groups)), np.sort(train)
        )


def test_repeats_of_group_folds_that_would_be_the_same_are_left_out():
    codes, groups = np.array([0, 1, 0, 1, -1]), np.array([1, 1, 2, 2, 3])
    planned = plan(codes, groups, repeats=10)
    assert (planned.folds, planned.repeats, len(planned.tests)) == (2, 1, 2)


@pytest.mark.parametrize(
    ("codes", "groups", "words"),
    [
        ([0, 0, 1, -1], None, "Class 'dog' has a single labeled row.*label more rows"),
        ([0, 0, -1, -1], None, "fewer than two classes"),
        ([0, 0, 1, 1, -1], [1, 2, 3, 3, 1], "All labeled rows of class 'dog' are in one group"),
        ([0, 0, 1, 1, 2, 2, -1], [1, 2, 2, 3, 3, 1, 4], "cannot be cut in two.*more groups"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_with_the_reason(codes, groups, words):
    groups = None if groups is None else np.array(groups)
    with pytest.raises(TableError, match=words):
        plan(np.array(codes), groups, names=("cat", "dog", "eel"))


def test_a_single_fold_is_refused():
    with pytest.raises(TableError, match="1 folds were asked for"):
        plan(labels(5, 5), folds=1)


def test_first_rows_of_a_stratified_order_keep_the_shares_and_two_of_each_class():
    codes = labels(80, 16, 4, n_unlabeled=0)
    order = stratified_order(codes, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    assert np.bincount(codes[order[:6]]).tolist() == [2, 2, 2]
    np.testing.assert_allclose(np.bincount(codes[order[:50]]), [40, 8, 2], atol=1)


# -- choice -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [table, needle])
def test_the_choice_is_that_of_the_classifier(make):
    X, codes = make()
    model = SoftLabelClassifierCV().fit(X, codes)
    pair = fit_pair(X, codes)
    assert tune(X, codes) == pair.choice
    assert pair.choice.alpha == model.alpha_
    assert pair.choice.unlabeled_weight == model.unlabeled_weight_
    assert pair.choice.n_search == (codes < 0).sum()
    np.testing.assert_allclose(pair.soft_cv.coef_, model.coef_, atol=1e-12)
    np.testing.assert_array_equal(pair.ridge.coef_, model.supervised_.coef_)


def test_the_two_tables_are_one_where_unlabeled_rows_are_used_and_one_where_not():
    assert tune(*table()).unlabeled_weight == 0.0
    assert tune(*needle()).unlabeled_weight > 0.0


def test_without_unlabeled_rows_the_chosen_classifier_is_the_ridge():
    pair = fit_pair(*table())
    assert pair.soft_cv is pair.ridge
    assert isinstance(pair.ridge, LeastSquaresClassifier)


def test_a_sample_counts_for_all_unlabeled_rows():
    X, codes = needle()
    X[codes < 0] = X[-1]  # any sample of equal rows is the same
    some, whole = (choice._search(X, codes, None, None, 0, most) for most in (7, 140))
    assert (some.choice.n_search, whole.choice.n_search) == (7, 140)
    np.testing.assert_allclose(
        some.soft_cv.cv_results_["mean_test_score"],
        whole.soft_cv.cv_results_["mean_test_score"],
        rtol=1e-6,
    )


def test_the_seed_shuffles_the_folds_of_the_search():
    X, codes = needle()
    groups = np.arange(len(X)) // 2
    same, again, other = (fit_pair(X, codes, groups=groups, seed=seed) for seed in (5, 5, 0))
    assert same.soft_cv.best_score_ == again.soft_cv.best_score_
    assert same.soft_cv.best_score_ != other.soft_cv.best_score_


def test_after_a_search_among_some_rows_the_fit_is_to_all():
    X, codes = needle()
    pair = fit_pair(X, codes, most=100)
    assert pair.choice.n_search == 100
    expected = SoftLabelClassifier(
        pair.choice.alpha, unlabeled_weight=pair.choice.unlabeled_weight
    ).fit(X, codes)
    np.testing.assert_array_equal(pair.soft_cv.coef_, expected.coef_)
    on_sample = fit_pair(X, codes, most=100, all_rows=False).soft_cv
    assert np.abs(on_sample.coef_ - expected.coef_).max() > 1e-6


@pytest.mark.parametrize("wish", [{}, {"weight": 0.1}])
def test_a_row_that_counts_three_times_is_as_good_as_three_rows(wish):
    X, codes = needle()
    three = np.repeat(np.arange(len(X)), np.where(codes < 0, 3, 1))
    counted = fit_pair(X, codes, count=3.0, **wish)
    repeated = fit_pair(X[three], codes[three], **wish)
    assert counted.choice.alpha == pytest.approx(repeated.choice.alpha)
    assert counted.choice.unlabeled_weight == repeated.choice.unlabeled_weight > 0.0
    np.testing.assert_allclose(counted.ridge.coef_, repeated.ridge.coef_, atol=1e-9)
    np.testing.assert_allclose(counted.soft_cv.coef_, repeated.soft_cv.coef_, atol=1e-7)


def test_after_a_search_in_a_sample_of_a_sample_rows_count_as_often_as_was_said():
    X, codes = needle()
    pair = fit_pair(X, codes, count=3.0, most=100)
    weight = 3.0 * pair.choice.unlabeled_weight
    expected = SoftLabelClassifier(pair.choice.alpha, unlabeled_weight=weight).fit(X, codes)
    assert weight > 0.0
    np.testing.assert_array_equal(pair.soft_cv.coef_, expected.coef_)


def test_a_thinned_table_keeps_all_labels_and_some_of_the_others():
    X, codes = needle()
    groups = np.arange(len(X))
    thin, kept, some, count = thinned(X, codes, groups, seed=0, most=35)
    assert count == 4.0
    assert (kept >= 0).sum() == 60
    assert (kept < 0).sum() == 35
    np.testing.assert_array_equal(thin, X[some])
    np.testing.assert_array_equal(kept, codes[some])
    assert thinned(X, codes, groups, seed=0, most=140)[0] is X


def test_a_given_alpha_and_a_given_weight_are_taken_as_they_are():
    X, codes = table()
    pair = fit_pair(X, codes, alpha=2.0, weight=0.3)
    expected = SoftLabelClassifier(2.0, unlabeled_weight=0.3).fit(X, codes)
    np.testing.assert_array_equal(pair.soft_cv.coef_, expected.coef_)
    ridge = LeastSquaresClassifier(2.0).fit(X, codes)
    np.testing.assert_allclose(pair.ridge.coef_, ridge.coef_, atol=1e-12)


def test_rows_outside_a_mask_are_as_if_they_were_not_there(monkeypatch):
    X, codes = needle()
    inside = np.arange(len(X)) % 10 > 0
    spoilt = np.where(inside[:, None], X, np.nan)
    expected = fit_pair(X[inside], codes[inside])
    found = fit_pair(spoilt, codes, inside=inside)
    np.testing.assert_array_equal(found.soft_cv.coef_, expected.soft_cv.coef_)
    model = SoftLabelClassifier(1.0)
    copied = fit_rows(model, X, codes, inside).coef_
    monkeypatch.setattr(choice, "COPIED", 0)  # rows outside now have the weight 0
    np.testing.assert_allclose(fit_rows(model, X, codes, inside).coef_, copied, atol=1e-12)


def test_the_order_of_unlabeled_rows_does_not_matter():
    X, codes = needle()
    order = np.concatenate((np.arange(60), np.random.default_rng(0).permutation(140) + 60))
    one, other = fit_pair(X, codes), fit_pair(X[order], codes[order])
    assert (one.choice.alpha, one.choice.unlabeled_weight) == (
        pytest.approx(other.choice.alpha),
        other.choice.unlabeled_weight,
    )
    np.testing.assert_allclose(one.soft_cv.coef_, other.soft_cv.coef_, atol=1e-9)
    np.testing.assert_allclose(one.soft_cv.intercept_, other.soft_cv.intercept_, atol=1e-9)


def test_where_a_class_has_one_label_and_no_two_others_are_left_the_middle_alpha_is_taken():
    X, codes = table(n_labels=30)
    grid = np.unique(SoftLabelClassifierCV().fit(X, codes).cv_results_["param_alpha"])
    alone = np.where(codes >= 0, np.arange(len(X)) == 3, -1).astype(int)
    found = tune(X, alone)
    assert found.alpha == pytest.approx(grid[len(grid) // 2])
    assert found.unlabeled_weight == 0.0


def test_a_class_with_one_label_is_learned_from_but_not_tested():
    X, codes = table(n_classes=3)
    codes[np.flatnonzero(codes == 2)[1:]] = -1
    single = np.flatnonzero(codes == 2)[0]
    splits = choice._splits(codes, None, 0)
    assert len(splits) == 5
    assert all(single in train and single not in test for train, test in splits)
    assert fit_pair(X, codes).ridge.classes_.tolist() == [0, 1, 2]


def test_a_table_without_unlabeled_rows_has_a_choice():
    X, codes = table(n_rows=30, n_labels=30)
    assert tune(X, codes).unlabeled_weight == 0.0


def test_the_search_keeps_groups_together():
    X, codes = table()
    groups = np.arange(len(X)) // 3
    splits = choice._splits(codes, groups, 0)
    assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)
    model = SoftLabelClassifierCV(cv=splits).fit(X, codes)
    assert tune(X, codes, groups=groups).supervised_alpha == model.supervised_alpha_
