"""Splits: which labeled rows are tested, and which rows are learned from meanwhile."""

import numpy as np
import pytest

from semisquares.model_selection import LabeledStratifiedGroupKFold
from semisquares.tables import TableError
from semisquares.tables.compare.splits import grouped_folds, plan, stratified_order, training_mask


def labels(*counts, n_unlabeled=30, seed=0):
    codes = np.repeat([*range(len(counts)), -1], [*counts, n_unlabeled])
    return np.random.default_rng(seed).permutation(codes)


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


@pytest.mark.parametrize(("n_labels", "repeats"), [(20, 4), (200, 3), (9000, 2)])
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


@pytest.mark.parametrize("groups", [None, np.arange(90) % 15])
def test_the_first_repeats_of_a_plan_are_the_plan_of_fewer_repeats(groups):
    codes = labels(30, 30)
    long, short = (plan(codes, groups, repeats=n, seed=1) for n in (4, 2))
    assert long.first(2).repeats == short.repeats == 2
    for one, same in zip(long.first(2).tests, short.tests, strict=True):
        np.testing.assert_array_equal(one, same)
    assert long.first(9).tests == long.tests


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
    ("codes", "groups", "words", "code"),
    [
        ([0, 0, 1, -1], None, "Class 'dog' has a single labeled row.*label more rows",
         "fewer_than_two_tested_classes"),
        ([0, 0, -1, -1], None, "fewer than two classes", "fewer_than_two_classes"),
        ([0, 0, 1, 1, -1], [1, 2, 3, 3, 1], "All labeled rows of class 'dog' are in one group",
         "fewer_than_two_tested_classes"),
        ([0, 0, 1, 1, 2, 2, -1], [1, 2, 2, 3, 3, 1, 4], "cannot be cut in two.*more groups",
         "groups_not_separable"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_is_refused_with_the_reason(codes, groups, words, code):
    groups = None if groups is None else np.array(groups)
    with pytest.raises(TableError, match=words) as error:
        plan(np.array(codes), groups, names=("cat", "dog", "eel"))
    assert error.value.code == code


def test_first_rows_of_a_stratified_order_keep_the_shares_and_two_of_each_class():
    codes = labels(80, 16, 4, n_unlabeled=0)
    order = stratified_order(codes, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    assert np.bincount(codes[order[:6]]).tolist() == [2, 2, 2]
    np.testing.assert_allclose(np.bincount(codes[order[:50]]), [40, 8, 2], atol=1)
