"""The authors' preprocessing, step by step, and the sizes of its results on all sixteen sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from semisquares.paper.datasets import features, learning_curve_table, load
from semisquares.paper.datasets.preprocessing import (
    drop_constant_columns,
    encode_factors,
    fill_missing,
    principal_components,
    standardise,
)
from support.reference import at_hand

NAN = np.nan

# Features used and principal components, from the table of the data sets' README.
SIZES = {
    "Haberman": (3, 3),
    "Ionosphere": (33, 30),
    "Parkinsons": (22, 12),
    "Diabetes": (8, 8),
    "Sonar": (60, 43),
    "SPECT": (22, 21),
    "SPECTF": (44, 37),
    "Transfusion": (4, 3),
    "WDBC": (30, 17),
    "Mammography": (9, 9),
    "Digit1": (241, 221),
    "USPS": (241, 183),
    "COIL2": (241, 114),
    "BCI": (117, 45),
    "g241c": (241, 235),
    "g241d": (241, 235),
}


@pytest.mark.parametrize("name", SIZES)
def test_features_and_components_are_as_many_as_the_authors_had(name):
    bunch = at_hand(name)
    X, y = features(name)
    Z, same = learning_curve_table(name)
    assert (drop_constant_columns(X).shape[1], Z.shape[1]) == SIZES[name]
    assert len(X) == len(Z) == len(bunch.data)
    assert_array_equal(y, bunch.target)
    assert_array_equal(same, bunch.target)


def test_transfusion_as_the_authors_read_it_has_109_columns_and_103_components():
    assert features("Transfusion", text_columns=True)[0].shape == (748, 109)
    assert learning_curve_table("Transfusion", text_columns=True)[0].shape == (748, 103)


def test_the_baseline_of_time_as_text_is_10_and_of_recency_0():
    raw = load("Transfusion").data
    X, _ = features("Transfusion", text_columns=True)
    recency, numbers, time = X[:, :30], X[:, 30:32], X[:, 32:]
    assert_array_equal(recency.sum(axis=1) == 0, raw[:, 0] == 0)
    assert_array_equal(time.sum(axis=1) == 0, raw[:, 3] == 10)
    assert_array_equal(numbers, raw[:, 1:3])


@pytest.mark.parametrize("name", [name for name in SIZES if name != "Transfusion"])
def test_no_other_set_has_text_columns(name):
    at_hand(name)
    assert_array_equal(features(name)[0], features(name, text_columns=True)[0])


def test_diabetes_is_filled_with_the_authors_medians():
    raw = at_hand("Diabetes").data
    X, _ = features("Diabetes")
    missing = np.isnan(raw)
    filled = {j: set(X[missing[:, j], j].tolist()) for j in range(8)}
    empty = set()
    assert filled == {0: empty, 1: {117}, 2: {72}, 3: {29}, 4: empty, 5: {32.3}, 6: empty, 7: empty}
    assert_array_equal(X[~missing], raw[~missing])


def test_mammography_is_filled_with_the_authors_medians_and_modes():
    raw = load("Mammography").data
    filled = fill_missing(raw, factors=[1, 2])
    missing = np.isnan(raw)
    assert [set(filled[missing[:, j], j].tolist()) for j in range(4)] == [{57}, {4}, {1}, {3}]


def test_mammography_drops_the_first_level_of_shape_and_margin():
    raw = fill_missing(load("Mammography").data, factors=[1, 2])
    X, _ = features("Mammography")
    assert_array_equal(X[:, [0, 8]], raw[:, [0, 3]])
    assert_array_equal(X[:, 1:4] @ [2, 3, 4] + (X[:, 1:4].sum(axis=1) == 0), raw[:, 1])
    assert_array_equal(X[:, 4:8] @ [2, 3, 4, 5] + (X[:, 4:8].sum(axis=1) == 0), raw[:, 2])


def test_a_tie_of_modes_goes_to_the_first_level():
    assert fill_missing([[3], [NAN], [1], [3], [1]], factors=[0])[1, 0] == 1


def test_filling_does_not_touch_what_it_was_given():
    X = np.array([[1.0], [NAN]])
    fill_missing(X)
    assert np.isnan(X[1, 0])


def test_a_column_without_values_is_refused():
    with pytest.raises(ValueError, match="Column 1 of X has no value at all; drop it"):
        fill_missing([[1, NAN], [2, NAN]])


def test_ionospheres_second_column_is_the_constant_one():
    X = load("Ionosphere").data
    assert_array_equal(drop_constant_columns(X), np.delete(X, 1, axis=1))


def test_a_constant_column_of_a_value_that_does_not_average_exactly_is_dropped():
    assert drop_constant_columns(np.full((7, 1), 0.1)).shape == (7, 0)


def test_standardising_is_scikit_learns_with_the_other_divisor():
    X = load("WDBC").data
    n = len(X)
    expected = StandardScaler().fit_transform(X) * np.sqrt((n - 1) / n)
    assert_allclose(standardise(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["WDBC", "Sonar", "Ionosphere", "Haberman"])
def test_components_are_scikit_learns_up_to_sign(name):
    X = standardise(drop_constant_columns(load(name).data))
    expected = PCA(n_components=0.99, svd_solver="full").fit_transform(X)
    ours = principal_components(X)
    assert ours.shape == expected.shape
    signs = np.sign(np.sum(ours * expected, axis=0))
    assert_allclose(ours, expected * signs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["WDBC", "Sonar", "Ionosphere"])
def test_the_largest_loading_of_every_component_is_positive(name):
    X = standardise(drop_constant_columns(load(name).data))
    loadings = X.T @ principal_components(X)
    assert_array_equal(loadings.max(axis=0), np.abs(loadings).max(axis=0))


def test_a_share_that_is_met_exactly_needs_no_further_component():
    X = np.array([[3.0, 0], [-3, 0], [0, 1], [0, -1]])  # shares of 0.9 and 0.1
    assert principal_components(X, share=0.9).shape == (4, 1)
    assert principal_components(X, share=0.91).shape == (4, 2)


def test_levels_are_numbers_in_factors_and_text_in_text():
    column = np.array([[2.0], [10.0], [9.0], [100.0]])
    assert encode_factors(column, factors=[0]).argmax(axis=1).tolist() == [0, 1, 0, 2]
    assert encode_factors(column, text=[0]).argmax(axis=1).tolist() == [1, 0, 2, 0]
    assert encode_factors(column, text=[0])[1].sum() == 0
