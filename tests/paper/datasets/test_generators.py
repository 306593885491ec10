"""The paper's generated data: the published draws to 1e-12, and the general generators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisquares.paper.datasets._r_random import RRandom
from semisquares.paper.datasets.generators import (
    diagonal_classes,
    published_line,
    published_plane,
    published_starts,
    remove_labels,
    two_gaussians,
)
from support.reference import reference_table

DIGITS = {"rtol": 0, "atol": 1e-12}
# The authors' classes −1 and +1 are 0 and 1 here; a removed label is −1.
CODES = {"-1": 0, "1": 1, "NA": -1}


def column(table, name):
    return np.array([float(row[name]) for row in table])


def codes(table, name):
    return np.array([CODES[row[name]] for row in table])


def test_the_line_is_that_of_figure_1():
    table = reference_table("paper/fig1_data.csv")
    line = published_line()
    assert_allclose(line.X[:, 0], column(table, "x"), **DIGITS)
    assert_array_equal(line.y, codes(table, "class"))
    assert_array_equal(line.truth, codes(table, "true_class"))


def test_the_starts_are_those_of_figure_2():
    table = reference_table("paper/fig2_runs.csv")
    line = published_line()
    known = line.y >= 0
    A = np.column_stack((np.ones(known.sum()), line.X[known]))
    supervised = np.linalg.lstsq(A, 1.0 - line.y[known])[0]
    expected = np.column_stack((column(table, "start_intercept"), column(table, "start_slope")))
    assert_allclose(supervised + published_starts(), expected[:100], **DIGITS)


def test_fewer_starts_are_the_first_ones():
    assert_array_equal(published_starts(n_starts=7), published_starts()[:7])


def test_the_training_points_are_those_of_figure_4():
    table = reference_table("paper/fig4_train.csv")
    plane = published_plane()
    assert_allclose(plane.X, np.c_[column(table, "x1"), column(table, "x2")], **DIGITS)
    assert_array_equal(plane.y, codes(table, "class"))
    assert_array_equal(plane.truth, codes(table, "true_class"))


def test_the_test_points_are_those_of_figure_4():
    table = reference_table("paper/fig4_test.csv")
    plane = published_plane()
    assert_allclose(plane.X_test, np.c_[column(table, "x1"), column(table, "x2")], **DIGITS)
    assert_array_equal(plane.y_test, codes(table, "class"))


def test_another_seed_gives_another_plane_of_the_same_kind():
    plane = published_plane(5)
    assert (plane.y >= 0).sum() == 5
    assert_array_equal(plane.truth, plane.X[:, 0] > plane.X[:, 1])
    assert not np.allclose(plane.X, published_plane(4).X)


def test_the_line_of_a_seed_begins_with_its_normal_numbers():
    assert published_line(9).X[0, 0] == pytest.approx(-1 + np.sqrt(0.2) * RRandom(9).normal(1)[0])


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_gaussians_have_their_means_and_variance(n_features):
    X, y = two_gaussians(40_000, n_features, variance=0.3, random_state=0)
    assert X.shape == (40_000, n_features)
    assert_array_equal(np.bincount(y), [20_000, 20_000])
    means = [X[y == code].mean(axis=0) for code in (0, 1)]
    assert_allclose(means, [[-1.0] * n_features, [1.0] * n_features], atol=0.02)
    assert_allclose(X[y == 1].var(axis=0), 0.3, atol=0.01)


def test_an_odd_row_is_of_class_0():
    assert np.bincount(two_gaussians(7)[1]).tolist() == [4, 3]


def test_without_variance_all_points_lie_on_their_centres():
    X, _ = two_gaussians(4, 2, variance=0)
    assert_array_equal(X, np.repeat([[-1.0], [1.0]], 2, axis=0).repeat(2, axis=1))


def test_diagonal_classes_cut_both_clouds_in_halves():
    X, y = diagonal_classes(20_000, random_state=0)
    assert_array_equal(y, X[:, 0] > X[:, 1])
    assert_allclose([y[:10_000].mean(), y[10_000:].mean()], 0.5, atol=0.02)


@pytest.mark.parametrize("make", [two_gaussians, diagonal_classes])
def test_the_same_random_state_gives_the_same_rows(make):
    assert_array_equal(make(10, random_state=3)[0], make(10, random_state=3)[0])


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_of_numpy_goes_on_from_call_to_call(kind):
    source = kind(0)
    assert not np.array_equal(*(two_gaussians(10, random_state=source)[0] for _ in range(2)))


def test_a_number_of_labels_stays():
    y = np.arange(50) % 3
    removed = remove_labels(y, n_labeled=8, random_state=0)
    assert (removed >= 0).sum() == 8
    assert_array_equal(removed[removed >= 0], y[removed >= 0])


@pytest.mark.parametrize(("n", "fraction", "gone"), [(400, 0.99, 396), (137, 0.8, 110), (5, 0, 0)])
def test_a_share_of_the_labels_goes_rounded_up(n, fraction, gone):
    assert (remove_labels(np.zeros(n, int), fraction=fraction) == -1).sum() == gone


def test_every_label_is_removed_as_often_as_another():
    rng = np.random.default_rng(0)
    gone = sum(remove_labels([0] * 10, n_labeled=4, random_state=rng) == -1 for _ in range(4000))
    assert_allclose(gone / 4000, 0.6, atol=0.04)


def test_removing_labels_leaves_y_as_it_was():
    y = np.array([0, 1, 1, 0])
    remove_labels(y, n_labeled=1)
    assert_array_equal(y, [0, 1, 1, 0])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8])
def test_labels_of_any_whole_kind_become_minus_one(dtype):
    y = remove_labels(np.array([0, 1, 1], dtype=dtype), n_labeled=0)
    assert y.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: two_gaussians(1), "n_samples=1 is too few; give a whole number of at least 2."),
        (lambda: two_gaussians(9.0), "n_samples=9.0 is too few; give a whole number"),
        (lambda: two_gaussians(9, 0), "n_features=0 is too few; give a whole number of at least 1"),
        (lambda: two_gaussians(9, variance=-1), "variance=-1 is not a variance; give a number"),
        (
            lambda: two_gaussians(9, variance=np.nan),
            "variance=nan is not a variance; give a number",
        ),
        (lambda: remove_labels([0, 1]), "give exactly one: the number of labels to keep, or"),
        (lambda: remove_labels([0, 1], n_labeled=1, fraction=0.5), "give exactly one"),
        (
            lambda: remove_labels([0, 1], n_labeled=3),
            "n_labeled=3 of 2 labels cannot be kept; give 0",
        ),
        (lambda: remove_labels([0, 1], fraction=1.1), "fraction=1.1 is not a share; give a number"),
        (lambda: remove_labels([-1, 1], fraction=1), "y holds -1, which marks a row without a"),
        (lambda: remove_labels(["a", "b"], fraction=1), r"dtype <U1; give one whole number per"),
        (lambda: remove_labels([[0], [1]], fraction=1), r"shape \(2, 1\) and dtype int64; give"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
