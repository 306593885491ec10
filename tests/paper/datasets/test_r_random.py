"""R's random numbers: values that R returns, and arguments that are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri

from semisquares.paper.datasets._r_random import RRandom

# set.seed(seed); runif(3), rnorm(3), sample(1:10) of R before 3.6
UNIFORM = {
    1: [0.2655086631421, 0.3721238996368, 0.5728533633519],
    42: [0.9148060435, 0.9370754133, 0.2861395348],
    123: [0.2875775201, 0.7883051354, 0.4089769218],
}
NORMAL = {
    1: [-0.6264538107, 0.1836433242, -0.8356286124],
    42: [1.3709584471, -0.5646981714, 0.3631284113],
    123: [-0.5604756466, -0.2301774895, 1.5587083141],
}
SAMPLE = {
    1: [3, 4, 5, 7, 2, 8, 9, 6, 10, 1],
    42: [10, 9, 3, 6, 4, 8, 5, 1, 2, 7],
    123: [3, 8, 4, 7, 6, 1, 10, 9, 2, 5],
}


class Words:
    """A generator that returns given words."""

    def __init__(self, words):
        self.words = np.array(words, dtype=np.uint64)

    def random_raw(self, size):
        return self.words[:size]


@pytest.mark.parametrize("seed", UNIFORM)
def test_uniform_numbers_are_those_of_r(seed):
    assert_allclose(RRandom(seed).uniform(3), UNIFORM[seed], rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", NORMAL)
def test_normal_numbers_are_those_of_r(seed):
    assert_allclose(RRandom(seed).normal(3), NORMAL[seed], rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SAMPLE)
def test_samples_are_those_of_r_before_3_6(seed):
    assert_array_equal(RRandom(seed).sample(10, 10), SAMPLE[seed])


def test_a_smaller_sample_is_the_beginning_of_a_larger_one():
    assert_array_equal(RRandom(7).sample(50, 5), RRandom(7).sample(50, 50)[:5])


def test_a_sample_of_all_is_a_permutation():
    assert_array_equal(np.sort(RRandom(3).sample(1000, 1000)), np.arange(1, 1001))


def test_normal_numbers_are_the_quantiles_of_two_uniform_ones_to_1e_12():
    first, second = RRandom(5).uniform(20_000).reshape(-1, 2).T
    expected = ndtri((np.floor(first * 134217728) + second) / 134217728)
    assert_allclose(RRandom(5).normal(10_000), expected, rtol=0, atol=1e-12)


def test_a_stream_goes_on_where_it_stopped():
    whole, parts = RRandom(11), RRandom(11)
    assert_array_equal(whole.uniform(1500), np.concatenate([parts.uniform(n) for n in (3, 1497)]))


def test_a_normal_number_takes_two_uniform_ones_and_an_item_of_a_sample_takes_one():
    stream, uniform = RRandom(2), RRandom(2).uniform(12)
    stream.normal(3)
    stream.sample(100, 4)
    assert_array_equal(stream.uniform(2), uniform[10:])


def test_no_uniform_number_is_0_or_1():
    stream = RRandom(1)
    stream._twister = Words([0, 2**32 - 1, 2**31])
    assert stream.uniform(3).tolist() == [1.1641532185403985e-10, 1 - 2**-32, 0.5]


def test_seeds_with_a_sign_are_seeds():
    assert not np.array_equal(RRandom(-4).uniform(3), RRandom(4).uniform(3))


@pytest.mark.parametrize("seed", [1.5, "4", None, 2**31, -(2**31)])
def test_what_is_no_seed_of_r_is_refused(seed):
    with pytest.raises(ValueError, match="is not a seed of R; give a whole number of 32 bits"):
        RRandom(seed)


@pytest.mark.parametrize(("n", "size"), [(3, 4), (3, -1), (10**8, 2)])
def test_what_cannot_be_drawn_is_refused(n, size):
    with pytest.raises(ValueError, match=f"{size} of {n} items cannot be drawn; give size"):
        RRandom(1).sample(n, size)
