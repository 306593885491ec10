"""Number tables: however X is stored, its blocks and sums have the same numbers."""

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.rows import ArrayTable, DenseTable, SparseTable
from semisquares.core.rows.table import store_zeros
from support.devices import on, strict_device


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
