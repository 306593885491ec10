"""Claims about matrices on a device: their products are those of NumPy, and come back to it."""

import numpy as np
import pytest

from semisquares.core.rows.array_api import Host
from support.devices import DEVICES, on, strict_device


@pytest.fixture(params=list(DEVICES))
def device(request):
    return DEVICES[request.param]()


@pytest.fixture(params=["float64", "float32"])
def X(request):
    X = np.random.default_rng(0).normal(size=(9, 4)).astype(request.param)
    X[X < -1.0] = 0.0
    return X


def test_rows_and_columns_are_those_of_numpy(device, X):
    there, index = on(device, X), np.array([7, 0, 0])
    assert there.shape == (9, 4)
    assert len(there) == 9
    mask = X[:, 0] > 0.0
    for key in (slice(2, 5), slice(1, None), slice(None, None, 2), index, [3], index[:0], mask):
        np.testing.assert_array_equal(there[key].toarray(), X[key])
    np.testing.assert_array_equal(there[:, [2]].toarray(), X[:, [2]])
    np.testing.assert_array_equal(there.T.toarray(), X.T)


def test_a_device_is_the_same_as_itself_and_no_other():
    one = strict_device()
    assert one.is_same(strict_device())
    assert not one.is_same(strict_device("CPU_DEVICE"))
    assert not one.is_same(Host())


def test_products_are_those_of_numpy_in_float64(device, X):
    there, rng = on(device, X), np.random.default_rng(1)
    exact = X.astype(np.float64)
    for other in (rng.normal(size=4), rng.normal(size=(4, 3)), np.arange(4)):
        found = there @ other
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, exact @ other, rtol=1e-12, atol=1e-12)
    r = rng.normal(size=9)
    np.testing.assert_allclose(there.T @ r, exact.T @ r, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(abs(there).T @ r, abs(exact).T @ r, rtol=1e-12, atol=1e-12)
    ones = np.ones(9)
    np.testing.assert_array_equal((there != 0.0).T @ ones, np.count_nonzero(X, axis=0))
    assert abs(there).max() == abs(X).max()


def test_products_of_rows_are_those_of_numpy(device, X):
    origin = X[0].astype(np.float64)
    D = X - origin
    np.testing.assert_allclose(on(device, X).row_gram(origin), D @ D.T, rtol=1e-12, atol=1e-12)


def test_memory_that_cannot_be_written_and_backward_strides_are_copied(device):
    numbers = np.arange(6.0)
    numbers.flags.writeable = False
    for values in (numbers, numbers[::-1], numbers[::-2]):
        np.testing.assert_array_equal(device.get(device.put(values)), values)
    found = device.get(device.put(numbers))
    found += 1.0
    np.testing.assert_array_equal(numbers, np.arange(6.0))


def test_text_stays_in_numpy(device):
    names = np.array(["no", "yes"])
    assert device.put(names) is names


def test_numpy_does_not_convert_a_matrix_unasked():
    there = on(strict_device(), np.ones((2, 2)))
    with pytest.raises(TypeError):
        np.ones((2, 2)) @ there
    with pytest.raises(TypeError):
        np.ones((2, 2)) + there


def test_ranges_tell_columns_with_at_most_two_values(device, X):
    X[:, 1] = np.where(X[:, 1] > 0.0, 5.0, -1.0)
    X[:, 2] = 3.0
    low, high, two_valued = on(device, X).ranges()
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    assert two_valued.tolist() == [False, True, True, False]
