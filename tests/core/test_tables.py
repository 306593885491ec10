"""Number tables: what is done to a sparse X changes no number of it."""

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.rows.table import store_zeros


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
