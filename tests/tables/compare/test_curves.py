"""Claims about the curves over unlabeled rows and over labels, and the sentence beside them."""

from itertools import pairwise

import numpy as np
import pytest

from semisquares import LeastSquaresClassifier
from semisquares.tables.compare import _curves as curves
from semisquares.tables.compare import _tuning as tuning
from semisquares.tables.compare._curves import label_curve, label_trend, unlabeled_curve
from semisquares.tables.compare._evaluation import evaluate
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tuning import Choice, Pair
from semisquares.tables.compare.splits import Plan, plan
from support.made_rows import clusters, needle


def table(n_rows=120, n_labels=24, d=3, n_classes=2, seed=0):
    return clusters(n_rows, d, n_classes, n_labels, seed, apart=1.0)[:2]


def of(points, method):
    return {point.n: point.error for point in points if point.method == method}


@pytest.fixture
def trained(monkeypatch):
    """Record the rows of every fit, and fit them without a search."""
    masks = []

    def fit_pair(rows, *, inside, **options):
        masks.append(inside.copy())
        ridge = LeastSquaresClassifier().fit(rows.X[inside], rows.codes[inside])
        return Pair(Choice(1.0, 0.0, 1.0, 0), ridge, ridge)

    monkeypatch.setattr(curves, "fit_pair", fit_pair)
    return masks


def test_the_ends_of_the_curve_are_what_the_evaluation_found():
    X, codes = table(n_labels=60, n_rows=92, d=8, seed=2)
    X[:, ::2] *= 30.0  # so that the ridge and the seed of its search matter
    points = unlabeled_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1, seed=2), seed=2)
    found = evaluate(
        TableRows(X, codes), folds=2, repeats=1, seed=2, rivals=("ridge", "soft_cv", "soft")
    )
    scores = {one.name: one.scores["accuracy"] for one in found.rivals}
    for method in ("soft", "soft_cv"):
        assert of(points, method)[32].mean == pytest.approx(1.0 - scores[method].mean)
    ridge = of(points, "ridge")
    assert list(ridge) == [0, 32]
    assert ridge[0] == ridge[32]
    assert ridge[0].mean == pytest.approx(1.0 - scores["ridge"].mean)
    assert ridge[0].low == pytest.approx(max(0.0, 1.0 - scores["ridge"].high))


def test_unlabeled_rows_that_help_lower_the_curve():
    X, codes = needle(n_rows=180)
    planned = plan(codes, folds=2, repeats=1)
    errors = of(unlabeled_curve(TableRows(X, codes), planned), "soft_cv")
    assert list(errors) == [3, 7, 15, 30, 60, 120]
    assert errors[120].mean + 0.2 < errors[3].mean


def test_smaller_sets_of_unlabeled_rows_are_within_larger_ones(trained):
    X, codes = table()
    unlabeled_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    first = trained[:6]  # the sizes of the first split
    assert [int((mask & (codes < 0)).sum()) for mask in first] == [3, 6, 12, 24, 48, 96]
    for smaller, larger in pairwise(first):
        assert (smaller <= larger).all()
        np.testing.assert_array_equal(smaller[codes >= 0], larger[codes >= 0])


def test_smaller_sets_of_labels_are_within_larger_ones_and_no_label_is_hidden(trained):
    X, codes = table(n_labels=60, n_classes=3)
    label_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    first = trained[:4]
    assert [int((mask & (codes >= 0)).sum()) for mask in first] == [8, 15, 22, 30]
    for smaller, larger in pairwise(first):
        assert (smaller <= larger).all()
        assert (np.bincount(codes[smaller & (codes >= 0)]) >= 2).all()
        np.testing.assert_array_equal(smaller[codes < 0], larger[codes < 0])
    assert all((mask & (codes < 0)).sum() == 60 for mask in first)


def test_no_group_is_learned_from_and_tested(trained):
    X, codes = table(n_labels=60)
    groups = np.arange(len(X)) % 15  # each with labeled and unlabeled rows
    rows, planned = TableRows(X, codes, groups), plan(codes, groups, folds=3, repeats=1)
    unlabeled_curve(rows, planned)
    n_sizes = len(label_curve(rows, planned)[0]) // 2
    with_all_labels = trained[: -3 * n_sizes] + trained[n_sizes - 1 - 3 * n_sizes :: n_sizes]
    assert len(with_all_labels) == 3 * 6 + 3
    for mask in with_all_labels:
        tested = ~mask & (codes >= 0)
        assert tested.any()
        assert not set(groups[mask]) & set(groups[tested])


def test_with_groups_the_largest_size_is_what_is_left_on_average(trained):
    X, codes = table(n_labels=60)
    groups = np.arange(len(X)) % 15
    planned = plan(codes, groups, folds=3, repeats=1)
    points = unlabeled_curve(TableRows(X, codes, groups), planned)
    assert max(point.n for point in points) == 40


@pytest.mark.parametrize(
    ("n_unlabeled", "sizes"),
    [
        (540, (16, 33, 67, 135, 270)),
        (5, (1, 2)),
        (1, ()),
        (0, ()),
        (998_000, (625, 1250, 2500, 5000, 10_000, 20_000)),
    ],
)
def test_sizes_double_up_to_all_rows_or_to_what_can_be_paid(n_unlabeled, sizes):
    assert curves._sizes(n_unlabeled) == sizes


@pytest.mark.parametrize(
    ("n_train", "n_classes", "sizes"),
    [(48, 2, (6, 12, 24, 36)), (16, 2, (4, 8, 12)), (6, 2, (4,)), (4, 2, ()), (48, 10, (24, 36))],
)
def test_label_sizes_allow_two_of_each_class(n_train, n_classes, sizes):
    assert curves._label_sizes(n_train, n_classes) == sizes


def test_the_curve_over_labels_takes_a_sample_of_many_unlabeled_rows_counted_as_all(monkeypatch):
    X, codes = table(n_labels=16)
    X[codes < 0] = X[-1]
    whole = label_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    original, sampled = curves.fit_pair, []
    monkeypatch.setattr(tuning, "search_size", lambda n_columns: 20)

    def fit_pair(*arguments, **options):
        pair = original(*arguments, **options)
        sampled.append((pair.choice.n_search, options["all_rows"]))
        return pair

    monkeypatch.setattr(curves, "fit_pair", fit_pair)
    assert label_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1)) == whole
    assert set(sampled) == {(20, False)}


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
    assert trend.sentence == f"From 24 to 48 labels the error of the tuned ridge {end}"


def test_errors_of_the_curves_are_no_surer_than_the_labels():
    X = np.array([-1.0, 1.0] * 15)[:, None]
    codes = np.where(np.arange(30) < 10, np.arange(30) % 2, -1)
    ends = {
        (one.error.mean, one.error.low, round(one.error.high, 3))
        for one in unlabeled_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    }
    assert ends == {(0.0, 0.0, 0.308)}  # 0.025^(1/10) = 0.692


def test_too_few_labels_for_a_curve_are_told():
    X, codes = table(n_labels=4)
    points, trend = label_curve(TableRows(X, codes), plan(codes, repeats=2))
    assert trend.sentence == (
        "With 2 labels to learn from, the effect of more labels cannot be estimated."
    )
    assert [point.n for point in points] == [2, 2]
