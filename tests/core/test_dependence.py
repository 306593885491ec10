"""A column is dropped from a certificate only if it is proven to be a combination of others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from semisquares.core import _dependence
from semisquares.core._dependence import independent_columns
from semisquares.core.rows import DenseTable, MemoryRows, SparseTable


def kept(X, intercept=False):
    """Return the columns that are kept; the intercept is the last one."""
    table = SparseTable(X) if sparse.issparse(X) else DenseTable(X)
    n = X.shape[0]
    rows = MemoryRows(
        table, np.arange(n), np.zeros(n), labeled_weight=np.ones(n), intercept=intercept
    )
    triangle = np.roll(rows.triangle(np.arange(n), None), -int(intercept), axis=1)
    return independent_columns(rows, triangle, np.arange(rows.n_weights))


def whole(n, d, seed=0, size=9):
    return np.random.default_rng(seed).integers(-size, size + 1, (n, d)).astype(float)


def beside(X, *columns):
    return np.column_stack((X, *columns))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_one_of_the_one_hot_columns_beside_an_intercept_is_dropped(kind):
    X = kind(np.eye(4)[np.arange(20) % 4])
    assert len(kept(X, intercept=True)) == 4
    assert 4 in kept(X, intercept=True)
    assert len(kept(X)) == 4


@pytest.mark.parametrize("intercept", [True, False])
def test_copies_multiples_and_sums_are_dropped_and_what_is_kept_spans_the_same(intercept):
    X = whole(30, 3)
    X = beside(X, X[:, 0], -2.0 * X[:, 1], X @ [1.0, -3.0, 2.0])
    found = kept(X, intercept)
    assert len(found) == 3 + intercept
    A = np.hstack((X, np.ones((30, 1))))[:, found]
    assert np.linalg.matrix_rank(A) == len(found)


@pytest.mark.parametrize(("intercept", "dropped"), [(True, 1), (False, 0)])
def test_a_constant_apart_is_a_combination_only_beside_an_intercept(intercept, dropped):
    X = whole(30, 2)
    X = beside(X, X[:, 0] - X[:, 1] + 7.0)
    assert len(kept(X, intercept)) == 3 + intercept - dropped


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("row", [0, 17, 29])
def test_a_column_that_is_off_by_one_bit_in_one_row_is_kept(row, intercept):
    X = np.random.default_rng(0).normal(size=(30, 2)).round(3)
    X = beside(X, 0.5 * X[:, 0])
    assert len(kept(X, intercept)) == 2 + intercept
    X[row, 2] = np.nextafter(X[row, 2], np.inf)
    assert len(kept(X, intercept)) == 3 + intercept


def test_a_sum_that_is_right_only_after_rounding_is_no_combination():
    X = whole(30, 2)
    X[4] = 2.0**53, 1.0
    X = beside(X, X[:, 0] + X[:, 1])
    assert X[4, 2] == 2.0**53
    assert len(kept(X)) == 3


def test_fractions_up_to_a_denominator_are_recognised():
    numbers = whole(40, 2)
    for denominator, n_kept in ((1000.0, 2), (1001.0, 3)):
        X = beside(numbers * [denominator, 1.0], numbers @ [1.0, 1.0])
        assert len(kept(X)) == n_kept


def test_combinations_of_many_columns_need_whole_coefficients():
    X = 2.0 * whole(60, 17)
    assert len(kept(beside(X, X.sum(axis=1)))) == 17
    assert len(kept(beside(X, X.sum(axis=1) / 2.0))) == 18
    assert len(kept(beside(X, X[:, :16].sum(axis=1) / 2.0))) == 17


def test_exact_arithmetic_has_a_limit(monkeypatch):
    X = whole(30, 2) + 0.5
    X = beside(X, X @ [0.5, 0.25])
    monkeypatch.setattr(_dependence, "MOST_FRACTIONS", 30 * 3)
    assert len(kept(X)) == 2
    monkeypatch.setattr(_dependence, "MOST_FRACTIONS", 30 * 3 - 1)
    assert len(kept(X)) == 3


@pytest.mark.parametrize(("factors", "constant"), [((1,), 0), ((3,), 0), ((0,), 2**52)])
def test_sums_of_integers_are_whole_as_long_as_float64_has_all_of_them(factors, constant):
    largest = 2.0**52 / max(1, *factors)
    assert not _dependence._are_whole([np.array([1.0, -np.ceil(largest)])], factors, constant)
    smaller = [np.array([1.0, 1.0 - np.floor(largest)])]
    assert _dependence._are_whole(smaller, factors, constant // 2)
    assert not _dependence._are_whole([np.array([0.5])], factors, constant // 2)


def test_columns_that_no_row_shows_are_all_kept():
    X = whole(30, 3)
    X[:, 1] = 0.0
    X[:, 2] = X[:, 0]
    assert kept(X).tolist() == [0, 1, 2]
