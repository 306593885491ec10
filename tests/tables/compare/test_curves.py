"""Claims about the curves over unlabeled rows and over labels, and the sentence beside them."""

from itertools import pairwise

import numpy as np
import pytest

from semisquares.tables.compare import _curves as curves
from semisquares.tables.compare import _tasks as tasks
from semisquares.tables.compare._curves import curve_tasks, draw_curves, label_trend
from semisquares.tables.compare._evaluation import split_tasks
from semisquares.tables.compare._rivals import FittedRival
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tasks import Outcome, run_tasks
from semisquares.tables.compare.splits import Plan, plan
from support.made_rows import clusters, needle

ENDS = ("averaged", "labeled_only", "ridge")


def table(n_rows=120, n_labels=24, d=3, n_classes=2, seed=0):
    return clusters(n_rows, d, n_classes, n_labels, seed, apart=1.0)[:2]


def of(points, method):
    return {point.n: point.error for point in points if point.method == method}


def measured(rows, planned, seed=0):
    """Return the curves of a plan."""
    work = split_tasks(planned, ENDS) + curve_tasks(rows, planned)
    return draw_curves(rows, planned, work, run_tasks(rows, work, seed=seed))


def trained(rows, planned):
    """Return the tasks of the curves, and the training rows of each as a mask."""
    work = curve_tasks(rows, planned)
    return work, [tasks._training(rows, one, tasks.split_seed(0, one.split)).inside for one in work]


def given(rows, planned, errors):
    """Return the curves for which every rival has the error that `errors(task, name)` gives."""
    work = split_tasks(planned, ENDS) + curve_tasks(rows, planned)
    found = [
        {name: Outcome((1.0 - errors(one, name),), FittedRival(None)) for name in one.rivals}
        for one in work
    ]
    return draw_curves(rows, planned, work, found)


def test_the_ends_of_the_curves_are_those_of_whole_training_sets():
    X, codes = table(n_labels=60, n_rows=92)
    rows, planned = TableRows(X, codes), plan(codes, folds=2, repeats=1)
    whole = {"averaged": 0.1, "labeled_only": 0.3, "ridge": 0.4}

    def errors(task, name):
        part = task.n_unlabeled is not None or task.n_labels is not None
        return 0.2 if part else whole[name]

    found = given(rows, planned, errors)
    unlabeled = {n: error.mean for n, error in of(found.unlabeled, "averaged").items()}
    assert unlabeled == pytest.approx({0: 0.3, 2: 0.2, 8: 0.2, 32: 0.1})
    for method in ("averaged", "ridge"):
        ends = {n: error.mean for n, error in of(found.labels, method).items()}
        assert ends == pytest.approx({4: 0.2, 8: 0.2, 15: 0.2, 30: whole[method]})
    assert (found.trend.error_before, found.trend.error_after) == pytest.approx((0.2, 0.1))


def test_unlabeled_rows_that_help_lower_the_curve():
    X, codes = needle(n_rows=180)
    found = measured(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    errors = of(found.unlabeled, "averaged")
    assert list(errors) == [0, 1, 7, 30, 120]
    assert errors[120].mean + 0.05 < errors[0].mean


def test_smaller_sets_of_unlabeled_rows_are_within_larger_ones():
    X, codes = table()
    work, masks = trained(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    first = [
        mask for one, mask in zip(work, masks, strict=True)
        if one.split == 0 and one.n_unlabeled is not None
    ]  # fmt: skip
    assert [int((mask & (codes < 0)).sum()) for mask in first] == [1, 6, 24]
    for smaller, larger in pairwise(first):
        assert (smaller <= larger).all()
        np.testing.assert_array_equal(smaller[codes >= 0], larger[codes >= 0])


def test_smaller_sets_of_labels_are_within_larger_ones_and_no_label_is_hidden():
    X, codes = table(n_labels=60, n_classes=3)
    work, masks = trained(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    first = [
        mask for one, mask in zip(work, masks, strict=True)
        if one.split == 0 and one.n_labels is not None
    ]  # fmt: skip
    assert [int((mask & (codes >= 0)).sum()) for mask in first] == [8, 15]
    for smaller, larger in pairwise(first):
        assert (smaller <= larger).all()
        assert (np.bincount(codes[smaller & (codes >= 0)]) >= 2).all()
        np.testing.assert_array_equal(smaller[codes < 0], larger[codes < 0])
    assert all((mask & (codes < 0)).sum() == 60 for mask in first)


def test_no_group_is_learned_from_and_tested():
    X, codes = table(n_labels=60)
    groups = np.arange(len(X)) % 15  # each with labeled and unlabeled rows
    rows, planned = TableRows(X, codes, groups), plan(codes, groups, folds=3, repeats=1)
    work, masks = trained(rows, planned)
    for one, mask in zip(work, masks, strict=True):
        assert not set(groups[mask]) & set(groups[one.test])
    found = given(rows, planned, lambda task, name: 0.1)
    assert max(point.n for point in found.unlabeled) == 40  # what is left on average


@pytest.mark.parametrize(
    ("n_unlabeled", "sizes"),
    [
        (540, (8, 33, 135)),
        (5, (1,)),
        (3, ()),
        (0, ()),
        (998_000, (1250, 5000, 20_000)),
    ],
)
def test_sizes_grow_fourfold_up_to_all_rows_or_to_what_can_be_paid(n_unlabeled, sizes):
    assert curves._unlabeled_sizes(n_unlabeled) == sizes


@pytest.mark.parametrize(
    ("n_train", "n_classes", "sizes"),
    [(48, 2, (6, 12, 24)), (16, 2, (4, 8)), (6, 2, ()), (4, 2, ()), (48, 10, (24,))],
)
def test_label_sizes_allow_two_of_each_class(n_train, n_classes, sizes):
    assert curves._label_sizes(n_train, n_classes) == sizes


@pytest.mark.parametrize(
    ("before", "after", "noise", "n_labels", "end"),
    [
        (0.123, 0.098, 0.001, 60, "fell from 12.3 % to 9.8 % (2 repeats); the next doubling "
         "usually brings less."),
        (0.123, 0.118, 0.1, 60, "fell from 12.3 % to 11.8 % (2 repeats). That may be chance: 60 "
         "labels are too few to tell what more of them would bring."),
        (0.1, 0.12, 0.1, 60, "rose from 10.0 % to 12.0 % (2 repeats). That may be chance: 60 "
         "labels are too few to tell what more of them would bring."),
        (0.1, 0.12, 0.001, 900, "rose from 10.0 % to 12.0 % (2 repeats); more labels of the same "
         "kind would bring little."),
        (0.1, 0.1, 0.001, 900, "stayed at 10.0 % (2 repeats); more labels of the same kind would "
         "bring little."),
        (0.1, 0.1, 0.0, 20, "stayed at 10.0 % (2 repeats). 20 labels are too few to tell what more "
         "of them would bring."),
        (0.0, 0.0, 0.0, 20, "stayed at 0.0 % (2 repeats); with no wrong row left, these labels "
         "cannot show what more would bring."),
        (0.1, 0.0, 0.001, 90, "fell from 10.0 % to 0.0 % (2 repeats); with no wrong row left, "
         "these labels cannot show what more would bring."),
    ],
)  # fmt: skip
def test_the_sentence_about_labels_says_what_is_known(before, after, noise, n_labels, end):
    errors = np.array([[0.3, before + sign * noise, after] for sign in (1, -1, 1, -1)])
    planned = Plan(folds=5, repeats=2, tests=(), n_labeled=n_labels)
    trend = label_trend([12, 24, 48], errors, planned)
    assert trend.sentence == f"From 24 to 48 labels the error of the averaged classifier {end}"


def test_errors_of_the_curves_are_no_surer_than_the_labels():
    _, codes = table(n_rows=30, n_labels=10)
    rows, planned = TableRows(np.zeros((30, 1)), codes), plan(codes, folds=2, repeats=1)
    found = given(rows, planned, lambda task, name: 0.0)
    ends = {(one.error.mean, one.error.low, round(one.error.high, 3)) for one in found.unlabeled}
    assert ends == {(0.0, 0.0, 0.308)}  # 0.025^(1/10) = 0.692


def test_too_few_labels_for_a_curve_are_told():
    X, codes = table(n_labels=4)
    rows, planned = TableRows(X, codes), plan(codes, repeats=2)
    found = given(rows, planned, lambda task, name: 0.0)
    assert found.trend.sentence == (
        "With 2 labels to learn from, the effect of more labels cannot be estimated."
    )
    assert found.labels == ()


def test_a_table_without_unlabeled_rows_has_no_curve_over_them():
    X, codes = table(n_rows=40, n_labels=40)
    rows, planned = TableRows(X, codes), plan(codes, folds=2, repeats=1)
    assert given(rows, planned, lambda task, name: 0.1).unlabeled == ()
