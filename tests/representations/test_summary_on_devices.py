"""The summary of rows on a device is that of NumPy, and so is its sample, to the last bit."""

import numpy as np
import pytest

from semisquares.representations import _summary
from semisquares.representations._summary import hash_rows, summarize
from support.devices import DEVICES, on
from support.made_rows import mixed_rows


@pytest.fixture(params=list(DEVICES))
def device(request):
    return DEVICES[request.param]()


def assert_same_summary(found, expected):
    for name in ("sample", "hashes", "low", "high", "two_valued", "n_sample"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("weight", "mean", "sample_weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    np.testing.assert_allclose(found.squares, expected.squares, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("block_bytes", [2_000, 1 << 23])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_summary_is_that_of_numpy(device, weighted, block_bytes, dtype, monkeypatch):
    monkeypatch.setattr(_summary, "DEVICE_BLOCK_BYTES", block_bytes)
    X = mixed_rows().astype(dtype)
    weight = [None, np.arange(len(X)) % 4.0][weighted]  # a weight of 0 leaves a row out
    found = summarize(on(device, X), weight, n_sample=50)
    expected = summarize(X, weight, n_sample=50)
    assert_same_summary(found, expected)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-9, atol=1e-6)


def test_many_columns_have_no_covariance(device):
    X = np.random.default_rng(0).normal(size=(60, _summary.COVARIANCE_COLUMNS + 1))
    found = summarize(on(device, X))
    assert found.scatter is None
    assert_same_summary(found, summarize(X))


def test_rows_of_weight_0_leave_nothing(device):
    X = np.ones((5, 2))
    assert_same_summary(summarize(on(device, X), np.zeros(5)), summarize(X, np.zeros(5)))


@pytest.mark.parametrize("seed", [0, 1])
def test_hashes_are_those_of_numpy(device, seed):
    X = np.random.default_rng(0).normal(size=(200, 7)) * 10.0 ** np.arange(-150, 200, 50)
    X[:4] = [[0.0], [-0.0], [-1.0], [np.nextafter(-1.0, 0.0)]]
    np.testing.assert_array_equal(hash_rows(on(device, X), seed), hash_rows(X, seed))
