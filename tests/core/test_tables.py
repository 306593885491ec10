"""Number tables: however X is stored, its blocks and sums have the same numbers."""

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.rows import ArrayTable, DenseTable, SparseTable
from semisquares.core.rows import table as tables
from semisquares.core.rows.table import store_zeros
from support.devices import on, strict_device
from support.watching import watch


@pytest.mark.parametrize("shape", [(9, 4), (3, 4)])
def test_stored_zeros_fill_the_chosen_columns_and_change_no_number(shape):
    X = np.random.default_rng(0).integers(0, 2, shape) * np.arange(1.0, 5.0)
    X[:, 3] = 0.0
    before = sparse.csr_array(X)
    found = store_zeros(before, np.array([True, False, False, True]))
    np.testing.assert_array_equal(found.toarray(), X)
    counts = np.count_nonzero(X, axis=0)
    counts[[0, 3]] = shape[0]
    np.testing.assert_array_equal(np.bincount(found.indices, minlength=4), counts)


def test_full_columns_are_left_as_they_are():
    X = sparse.csr_array(np.ones((3, 2)))
    assert store_zeros(X, np.array([True, False])) is X


def numbers(order="C", dtype=np.float32):
    return np.asarray(np.random.default_rng(0).normal(size=(10, 3)), dtype=dtype, order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shift", [None, np.arange(3.0)], ids=["as they are", "shifted"])
def test_blocks_in_scratch_memory_are_those_in_new_memory(order, shift):
    X = numbers(order)
    scratch = np.full(15, np.nan)
    table, plain = DenseTable(X, shift, scratch), DenseTable(X, shift)
    for start, stop in [(0, 5), (5, 8), (0, 10)]:
        found, expected = table.slice(start, stop), plain.slice(start, stop)
        np.testing.assert_array_equal(found, expected)
        assert found.strides == expected.strides  # or BLAS would sum in another order
        assert np.shares_memory(found, scratch) is (stop - start <= 5)


def test_a_block_that_needs_no_conversion_is_a_view_of_the_rows():
    X = numbers(dtype=np.float64)
    assert np.shares_memory(DenseTable(X, None, np.empty(30)).slice(2, 7), X)


@pytest.mark.parametrize(
    "table",
    [
        DenseTable(numbers("C")),
        DenseTable(numbers("F")),
        DenseTable(numbers(), np.arange(3.0)),
        SparseTable(sparse.csr_array(numbers() * (numbers() > 0.0))),
        SparseTable(sparse.csr_array((10, 3))),
        ArrayTable(on(strict_device(), numbers())),
    ],
    ids=["by rows", "by columns", "shifted", "sparse", "zeros", "array API"],
)
def test_squares_are_summed_column_by_column(table):
    block = table.slice(0, 10)
    expected = (table.dense(block) ** 2).sum(axis=0)
    np.testing.assert_allclose(table.column_squares(block), expected, rtol=1e-14)


# -- products with several columns -----------------------------------------------------------------


@pytest.fixture(params=["C", "F", "shifted", "sparse", "device"])
def table(request):
    X = numbers(dtype=np.float64)
    return {
        "C": lambda: DenseTable(X),
        "F": lambda: DenseTable(np.asfortranarray(X)),
        "shifted": lambda: DenseTable(X, np.arange(3.0)),
        "sparse": lambda: SparseTable(sparse.csr_array(X)),
        "device": lambda: ArrayTable(on(strict_device(), X)),
    }[request.param]()


@pytest.mark.parametrize("most", [1, 8, 20, 30, 10**6])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("least", [1, 2], ids=["X on the left", "X on the right"])
def test_products_in_parts_are_those_of_whole_blocks(least, table, most, order, monkeypatch):
    monkeypatch.setattr(tables, "is_fast_with_small_products", lambda: True)
    monkeypatch.setattr(tables, "SMALL_PRODUCT", most)
    monkeypatch.setattr(tables, "LEFT_COLUMNS_PER_CLASS", least)
    monkeypatch.setattr(tables, "FEWEST_PART_ROWS", 1)
    rng = np.random.default_rng(1)
    W, V = (np.asarray(rng.normal(size=(n, 2)), order=order) for n in (3, 10))
    block = table.slice(0, 10)
    X = table.dense(block)
    out = np.full((14, 2), np.nan, order="F")
    np.testing.assert_allclose(table.times(block, W), X @ W, atol=1e-14)
    assert table.times(block, W, out[2:12]).base is out
    np.testing.assert_allclose(out[2:12], X @ W, atol=1e-14)
    assert np.isnan(out[[0, 1, 12, 13]]).all()
    np.testing.assert_allclose(table.transpose_times(block, V), X.T @ V, atol=1e-14)


# -- single precision ------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shift", [None, np.arange(3.0)], ids=["as they are", "shifted"])
@pytest.mark.parametrize("most", [0, 100], ids=["each time", "once"])
def test_rows_in_single_precision_are_rounded_after_the_shift(order, shift, most, monkeypatch):
    monkeypatch.setattr(tables, "COPIED_VALUES", most)
    X = numbers(order, np.float64) + 1e6
    single, index = DenseTable(X, shift).in_single(), np.array([7, 2])
    expected = (X - (0.0 if shift is None else shift)).astype(np.float32)
    found = (single.slice(2, 7), single.take(index), single.subset(index).slice(0, 2))
    for rows, part in zip(found, (slice(2, 7), index, index), strict=True):
        np.testing.assert_array_equal(rows, expected[part])
        assert rows.dtype == single.dtype == np.float32


def test_rows_in_single_precision_are_copied_only_if_they_are_not_yet_in_it():
    X = numbers()
    assert np.shares_memory(DenseTable(X).in_single().slice(0, 10), X)


def test_sums_of_products_in_single_precision_are_in_double():
    single = DenseTable(numbers(dtype=np.float64)).in_single()
    block = single.slice(0, 10)
    assert single.times(block, np.ones((3, 2))).dtype == np.float32
    assert single.transpose_times(block, np.ones((10, 2))).dtype == np.float64
    assert single.gram(block, np.ones(10)).dtype == np.float32


def test_numbers_beyond_single_precision_become_infinite_without_a_warning():
    single = DenseTable(np.array([[1e200, 1.0]])).in_single()
    np.testing.assert_array_equal(single.slice(0, 1), [[np.inf, 1.0]])


@pytest.mark.parametrize("n_columns", [17, 32, 50, 96])
def test_a_gram_matrix_of_small_products_is_exact_for_integers(n_columns, monkeypatch):
    whole = np.random.default_rng(0).integers(-9, 10, (4999, n_columns))
    X, weight = whole.astype(float), np.full(4999, 4.0)
    bands = watch(monkeypatch, tables, "banded_gram")
    for is_fast in (False, True):
        monkeypatch.setattr(tables, "is_fast_with_small_products", lambda fast=is_fast: fast)
        np.testing.assert_array_equal(DenseTable(X).gram(X, None), whole.T @ whole)
        np.testing.assert_array_equal(DenseTable(X).gram(X, weight), 4 * (whole.T @ whole))
    assert len(bands) == 2
