"""Claims about the splitters that test on labeled rows only."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.semi_supervised import SelfTrainingClassifier

from semisquares._inputs.labels import labeled_mask
from semisquares.model_selection import (
    LabeledRepeatedStratifiedKFold,
    LabeledStratifiedGroupKFold,
    LabeledStratifiedKFold,
    LabeledStratifiedShuffleSplit,
    LabeledTestSplit,
    _spread,
    _stratified_order,
)

SPLITTERS = [
    LabeledStratifiedKFold(3),
    LabeledStratifiedKFold(3, shuffle=True, random_state=0),
    LabeledRepeatedStratifiedKFold(3, n_repeats=2, random_state=0),
    LabeledStratifiedShuffleSplit(4, test_size=0.3, random_state=0),
    LabeledStratifiedShuffleSplit(4, test_size=3, train_size=6, random_state=0),
    LabeledTestSplit(3),
    LabeledTestSplit(KFold(3)),
    LabeledTestSplit(LeaveOneOut()),
]
each_splitter = pytest.mark.parametrize("cv", SPLITTERS)


@st.composite
def partly_labeled(draw):
    """Rows of three classes, at least three of each, among any number of unlabeled ones."""
    labels = [c for c in range(3) for _ in range(draw(st.integers(3, 8)))]
    return np.array(draw(st.permutations(labels + [-1] * draw(st.integers(0, 30)))))


class DropUnlabeled(ClassifierMixin, BaseEstimator):
    """Logistic regression of the labeled rows; remembers what it was given."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        labeled = labeled_mask(y, -1)
        self.n_labeled_, self.n_unlabeled_ = labeled.sum(), (~labeled).sum()
        values = np.asarray(y)[labeled]
        self.model_ = LogisticRegression(C=self.C).fit(np.asarray(X)[labeled], values.tolist())
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(np.asarray(X))


@pytest.fixture
def blobs():
    """200 rows of two far blobs, sorted by class, of which 10 of each are labeled."""
    X, truth = make_blobs([100, 100], centers=[[0, 0], [9, 9]], shuffle=False, random_state=0)
    y = np.full(200, -1)
    y[::10] = truth[::10]
    return X, y


# what is trained on, what is tested


@each_splitter
@given(y=partly_labeled())
@settings(max_examples=20, deadline=None)
def test_every_unlabeled_row_is_in_every_training_set_and_none_in_a_test_set(cv, y):
    for train, test in cv.split(None, y):
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert (y[test] != -1).all()
        assert not set(train) & set(test)
        assert len(set(train)) == len(train)
        np.testing.assert_array_equal(test, np.sort(test))


@each_splitter
def test_there_are_as_many_splits_as_announced(cv):
    y = np.tile([0, 1, -1, 1, 0, -1], 4)
    assert len(list(cv.split(None, y))) == cv.get_n_splits(None, y)


@given(y=partly_labeled())
@settings(max_examples=20, deadline=None)
def test_the_folds_are_those_of_scikit_learn_on_the_labeled_rows(y):
    labeled = np.flatnonzero(y != -1)
    theirs = StratifiedKFold(3).split(labeled, y[labeled])
    for (train, test), (their_train, their_test) in zip(
        LabeledStratifiedKFold(3).split(None, y), theirs, strict=True
    ):
        np.testing.assert_array_equal(test, labeled[their_test])
        np.testing.assert_array_equal(np.sort(train[y[train] != -1]), labeled[their_train])


@given(y=partly_labeled())
@settings(max_examples=20, deadline=None)
def test_the_test_sets_partition_the_labeled_rows(y):
    tests = [test for _, test in LabeledStratifiedKFold(3).split(None, y)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.flatnonzero(y != -1))


@given(y=partly_labeled())
@settings(max_examples=20, deadline=None)
def test_every_fold_has_the_share_of_each_class_up_to_one_row(y):
    for _, test in LabeledStratifiedKFold(3).split(None, y):
        expected = np.bincount(y[y != -1]) / 3
        assert (np.abs(np.bincount(y[test], minlength=3) - expected) <= 1).all()


def test_a_plain_stratified_k_fold_does_test_on_unlabeled_rows(blobs):
    X, y = blobs
    assert all((y[test] == -1).any() for _, test in StratifiedKFold(5).split(X, y))


def test_train_size_counts_labeled_rows_and_keeps_all_unlabeled_ones(blobs):
    cv = LabeledStratifiedShuffleSplit(1, train_size=6, test_size=4, random_state=0)
    [(train, test)] = cv.split(*blobs)
    assert (len(train), len(test)) == (6 + 180, 4)


def test_the_same_random_state_gives_the_same_splits(blobs):
    cv = LabeledRepeatedStratifiedKFold(2, n_repeats=2, random_state=3)
    first, second = list(cv.split(*blobs)), list(cv.split(*blobs))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])


# groups


@given(y=partly_labeled(), data=st.data())
@settings(max_examples=30, deadline=None)
@pytest.mark.filterwarnings("ignore:All labeled rows of class .* are in one group")
@pytest.mark.filterwarnings("ignore:Class .* labeled rows")
@pytest.mark.parametrize("cv", [LabeledStratifiedGroupKFold(2), LabeledTestSplit(GroupKFold(2))])
def test_groups_are_on_one_side_and_only_rows_of_tested_groups_are_left_out(cv, y, data):
    groups = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))))
    labeled = np.flatnonzero(y != -1)
    groups[labeled] = np.arange(len(labeled)) % 4  # four groups with labels, others without
    for train, test in cv.split(None, y, groups):
        np.testing.assert_array_equal(
            np.sort(train), np.flatnonzero(~np.isin(groups, groups[test]))
        )
        assert (y[test] != -1).all()


def test_groups_may_be_of_mixed_kinds():
    y = [0, 1, -1, 0, 1, -1, -1]
    splits = LabeledStratifiedGroupKFold(2).split(None, y, ["a", "a", "a", 2, 2, 2, None])
    assert [sorted(train) for train, _ in splits] == [[3, 4, 5, 6], [0, 1, 2, 6]]


def test_leave_one_group_out_counts_the_groups_with_labels():
    y, groups = [0, 1, -1, 0, 1, -1], ["a", "b", "b", "c", "c", "d"]
    cv = LabeledTestSplit(LeaveOneGroupOut())
    assert cv.get_n_splits(None, y, groups) == len(list(cv.split(None, y, groups))) == 3


@pytest.mark.parametrize("cv", [LabeledStratifiedGroupKFold(2), LabeledTestSplit(GroupKFold(2))])
def test_groups_are_routed_without_being_asked_for(blobs, cv):
    with sklearn.config_context(enable_metadata_routing=True):
        params = {"groups": np.arange(200) // 10 % 4}
        scores = cross_validate(DropUnlabeled(), *blobs, cv=cv, params=params)
    np.testing.assert_array_equal(scores["test_score"], 1)


# in scikit-learn's functions


@pytest.mark.parametrize("cv", SPLITTERS[:6])
def test_scores_are_of_labeled_rows(blobs, cv):
    model = SelfTrainingClassifier(LogisticRegression())
    np.testing.assert_array_equal(cross_val_score(model, *blobs, cv=cv, scoring="accuracy"), 1)


def test_a_plain_splitter_scores_unlabeled_rows_as_errors(blobs):
    model = SelfTrainingClassifier(LogisticRegression())
    assert cross_val_score(model, *blobs, cv=StratifiedKFold(5), scoring="accuracy").max() < 0.2


def test_groups_work_in_cross_validate(blobs):
    scores = cross_validate(
        DropUnlabeled(),
        *blobs,
        cv=LabeledStratifiedGroupKFold(2),
        groups=np.arange(200) // 10 % 4,
        return_estimator=True,
    )
    np.testing.assert_array_equal(scores["test_score"], 1)
    assert [model.n_unlabeled_ for model in scores["estimator"]] == [90, 90]


def test_a_grid_search_picks_the_model_that_is_best_on_labeled_rows(blobs):
    search = GridSearchCV(DropUnlabeled(), {"C": [1e-9, 1.0]}, cv=LabeledStratifiedKFold(5))
    assert search.fit(*blobs).best_params_ == {"C": 1.0}
    assert search.best_estimator_.n_unlabeled_ == 180


WORDS = np.array(["far", "near"])
COLUMNS = {
    "floats with nan": lambda y: np.where(y == -1, np.nan, y),
    "objects with None": lambda y: np.where(y == -1, None, WORDS[y]),
    "a list": lambda y: np.where(y == -1, None, WORDS[y]).tolist(),
    "pandas strings": lambda y: pd.Series(np.where(y == -1, None, WORDS[y]), dtype="string"),
    "pandas categories": lambda y: pd.Series(np.where(y == -1, None, WORDS[y]), dtype="category"),
    "pandas Int64": lambda y: pd.Series(y, dtype="Int64").mask(y == -1),
    "polars strings": lambda y: pl.Series(np.where(y == -1, None, WORDS[y]).tolist()),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_missing_labels_of_every_kind_can_be_cross_validated(blobs, column):
    X, y = blobs
    scores = cross_validate(
        DropUnlabeled(), X, column(y), cv=LabeledStratifiedKFold(5), error_score="raise",
        scoring="accuracy", return_estimator=True,
    )  # fmt: skip
    np.testing.assert_array_equal(scores["test_score"], 1)
    assert [model.n_unlabeled_ for model in scores["estimator"]] == [180] * 5


# the order of training rows


def test_a_learning_curve_adds_labels_first_and_unlabeled_rows_then(blobs):
    X, y = blobs
    sizes, _, scores = learning_curve(
        DropUnlabeled(), X, y, cv=LabeledStratifiedKFold(5), train_sizes=[2, 16, 196]
    )
    np.testing.assert_array_equal(sizes, [2, 16, 196])
    assert (scores > 0.9).all()
    train, _ = next(LabeledStratifiedKFold(5).split(X, y))
    assert [(y[train[:n]] != -1).sum() for n in sizes] == [2, 16, 16]


def test_the_first_unlabeled_rows_come_from_the_whole_table(blobs):
    X, y = blobs
    train, _ = next(LabeledStratifiedKFold(5).split(X, y))
    assert 9 <= (train[16 : 16 + 20] < 100).sum() <= 11


@given(n=st.integers(1, 300), data=st.data())
@settings(max_examples=50, deadline=None)
def test_spreading_is_a_permutation_whose_first_rows_fill_each_half(n, data):
    order, m = _spread(n), data.draw(st.integers(1, n))
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert abs((order[:m] < n / 2).sum() - m / 2) <= 3


@given(y=partly_labeled())
@settings(max_examples=50, deadline=None)
def test_the_first_labeled_rows_have_every_class_and_then_its_share(y):
    codes = y[y != -1]
    order = _stratified_order(codes)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(codes)))
    assert set(codes[order[:3]]) == {0, 1, 2}
    for m in range(len(codes) + 1):
        expected = np.bincount(codes) * m / len(codes)
        assert (np.abs(np.bincount(codes[order[:m]], minlength=3) - expected) < 2).all()


def test_a_rare_class_is_among_the_first_rows():
    codes = np.array([0] * 50 + [1] * 2)
    assert set(codes[_stratified_order(codes)[:2]]) == {0, 1}


# which labels are missing


@pytest.mark.parametrize(
    ("build", "groups"),
    [
        (LabeledTestSplit, None),
        (LabeledStratifiedKFold, None),
        (LabeledStratifiedGroupKFold, np.arange(30)),
        (LabeledRepeatedStratifiedKFold, None),
        (LabeledStratifiedShuffleSplit, None),
    ],
)
def test_every_splitter_takes_another_marker(build, groups):
    y = np.array(["a", "b", "?"] * 10)
    cv = build(unlabeled="?")
    assert not any("?" in y[test] for _, test in cv.split(None, y, groups))


@pytest.mark.parametrize(
    ("y", "unlabeled", "labeled"),
    [
        (np.array([0, -1, 1]), -1, [1, 0, 1]),
        (np.array([0, -1, 1]), None, [1, 1, 1]),
        (np.array([0, -1, 1]), np.nan, [1, 1, 1]),
        (np.array([0, -1, 1]), "none", [1, 1, 1]),
        (np.array([0, 255, 1], dtype=np.uint8), -1, [1, 1, 1]),
        (np.array([0.0, -1.0, np.nan]), -1, [1, 0, 0]),
        (np.array([0.0, -1.0, np.nan]), pd.NA, [1, 1, 0]),
        (np.array([True, False]), -1, [1, 1]),
        (np.array(["a", "-1", ""]), -1, [1, 1, 1]),
        (np.array(["a", "-1", ""]), "", [1, 1, 0]),
        (np.array(["a", "?"], dtype=np.dtypes.StringDType()), "?", [1, 0]),
        (["a", np.nan], -1, [1, 0]),
        (["a", np.nan, None, -1, pd.NA], -1, [1, 0, 0, 0, 0]),
        (("a", np.nan, None, -1, pd.NA), None, [1, 0, 0, 1, 0]),
        (pd.Series([True, None, False], dtype="boolean"), -1, [1, 0, 1]),
        (pd.Series([1, None, -1], dtype="Int64", index=[7, 7, 7]), -1, [1, 0, 0]),
        (pd.Series(["a", None], dtype="category"), -1, [1, 0]),
        (pd.Series(["a", None], dtype="string"), -1, [1, 0]),
        (pd.Series(["a", None]), -1, [1, 0]),
        (pl.Series([1, None, -1]), -1, [1, 0, 0]),
        (pl.Series(["a", None]), -1, [1, 0]),
        (pl.Series(["a", None], dtype=pl.Categorical), -1, [1, 0]),
    ],
)
def test_the_marker_and_missing_values_are_found_in_every_kind_of_column(y, unlabeled, labeled):
    mask = labeled_mask(y, unlabeled)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, np.array(labeled, dtype=bool))


def test_labels_of_mixed_kinds_are_classes_too():
    y = [1, "a", None, 1, "a", None]
    tests = [test.tolist() for _, test in LabeledStratifiedKFold(2).split(None, y)]
    assert tests == [[0, 1], [3, 4]]


# the object itself


@each_splitter
def test_a_splitter_survives_pickle_and_clone(cv):
    assert repr(pickle.loads(pickle.dumps(cv))) == repr(clone(cv, safe=False)) == repr(cv)


@each_splitter
def test_the_representation_shows_every_parameter(cv):
    for name in inspect.signature(type(cv)).parameters:
        assert f"{name}={getattr(cv, name)}" in repr(cv)


# errors


def test_no_labeled_row_is_an_error():
    with pytest.raises(ValueError, match=r"None of the 4 rows .* unlabeled=-1.*label some"):
        next(LabeledStratifiedKFold(2).split(None, [-1, None, np.nan, -1]))


def test_classes_with_a_single_labeled_row_each_are_an_error():
    with pytest.raises(
        ValueError, match="No labeled row can be tested: classes 'a', 'b' have a si"
    ):
        next(LabeledStratifiedKFold(2).split(None, ["a", "b", None]))


def test_a_single_labeled_row_is_fine_without_strata():
    assert len(list(LabeledTestSplit(KFold(3)).split(None, ["a", "a", "b", None]))) == 3


def test_a_class_rarer_than_n_splits_gives_one_warning_that_names_it():
    cv = LabeledRepeatedStratifiedKFold(3, n_repeats=2, random_state=0)
    with pytest.warns(UserWarning, match=r"Class 1 has 2 labeled rows.*n_splits=2") as caught:
        list(cv.split(None, [0, 0, 0, 1, 1, -1, -1]))
    assert len(caught) == 1


def test_too_many_folds_are_an_error_that_names_the_rarest_class():
    with pytest.raises(ValueError, match=r"5 labeled rows \(rarest class: 1, 2 rows\).*Lower n_sp"):
        next(LabeledStratifiedKFold(4).split(None, [0, 0, 0, 1, 1, -1, -1]))


@pytest.mark.parametrize("cv", [LabeledStratifiedGroupKFold(2), LabeledTestSplit(GroupKFold(2))])
def test_missing_groups_are_an_error(cv):
    with pytest.raises(ValueError, match=r"given none; pass groups="):
        next(cv.split(None, [0, 0, 1, 1]))


def test_groups_that_nobody_reads_change_nothing_and_give_the_warning_of_scikit_learn(blobs):
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        splits = list(LabeledStratifiedKFold(2).split(*blobs, np.zeros(200)))
    assert [len(train) for train, _ in splits] == [190, 190]


@pytest.mark.parametrize(("y", "given"), [(None, "no y"), (np.zeros((4, 2)), r"shape \(4, 2\)")])
def test_anything_but_one_label_per_row_is_an_error(y, given):
    with pytest.raises(ValueError, match=given):
        next(LabeledStratifiedKFold(2).split(None, y))


def test_x_and_y_of_different_lengths_are_an_error():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(LabeledStratifiedKFold(2).split(np.zeros((3, 1)), [0, 0, 1, 1]))


@pytest.mark.parametrize("build", [LabeledStratifiedKFold, LabeledStratifiedGroupKFold])
def test_parameters_are_checked_at_once(build):
    with pytest.raises(ValueError, match="n_splits=2 or more"):
        build(1)


def test_something_that_cannot_split_is_an_error():
    with pytest.raises(ValueError, match="cv='five' is not a splitter"):
        LabeledTestSplit("five")


def test_folds_that_were_fixed_for_all_rows_are_not_taken_for_folds_of_the_labeled_ones():
    with pytest.raises(IndexError):
        list(LabeledTestSplit(PredefinedSplit([0, 1, 0, 1])).split(None, [0, 1, -1, -1]))
