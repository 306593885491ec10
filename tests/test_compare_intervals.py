"""Claims about intervals of means over splits that overlap."""

import math

import numpy as np
import pytest

from semisquares.tables.compare.intervals import interval


def test_the_interval_is_the_formula_by_hand():
    found = interval(np.array([1.0, 2.0, 3.0]), 0.5)
    half = 4.302653 * math.sqrt((1 / 3 + 1 / 2) * 1.0)  # t of two degrees of freedom, s² = 1
    assert found.mean == 2.0
    assert found.low == pytest.approx(2.0 - half, abs=1e-6)
    assert found.high == pytest.approx(2.0 + half, abs=1e-6)


def test_without_overlap_it_is_the_usual_t_interval():
    values = np.random.default_rng(0).normal(size=8)
    half = 2.364624 * values.std(ddof=1) / math.sqrt(8)
    assert interval(values, 0.0).high - values.mean() == pytest.approx(half, rel=1e-6)


def test_undefined_values_are_left_out():
    assert interval(np.array([np.nan, 1.0, 2.0, 4.0]), 0.25) == interval(
        np.array([1.0, 2.0, 4.0]), 0.25
    )


@pytest.mark.parametrize(("values", "mean"), [([], math.nan), ([math.nan], math.nan), ([0.3], 0.3)])
def test_too_few_values_have_no_interval(values, mean):
    found = interval(np.array(values), 0.25)
    np.testing.assert_equal([found.mean, found.low, found.high], [mean, math.nan, math.nan])


def test_the_interval_ends_where_the_score_ends():
    found = interval(np.array([0.0, 1.0, 1.0]), 0.25, lowest=0.0, highest=1.0)
    assert (found.low, found.high) == (0.0, 1.0)


def test_the_truth_is_covered_where_the_interval_of_independent_splits_fails():
    """Two fixed classifiers: on a row the first gains 1, 0 or -1, by 0.05 on average."""
    rng = np.random.default_rng(0)
    n_rows, folds, repeats, truth = 100, 5, 10, 0.05
    hits = {0.25: 0, 0.0: 0}
    for _ in range(1000):
        gains = rng.choice([-1.0, 0.0, 1.0], p=[0.10, 0.75, 0.15], size=n_rows)
        shuffled = rng.permuted(np.tile(gains, (repeats, 1)), axis=1)
        by_split = shuffled.reshape(folds * repeats, -1).mean(axis=1)
        for ratio in hits:
            found = interval(by_split, ratio)
            hits[ratio] += found.low <= truth <= found.high
    assert hits[0.25] > 935
    assert hits[0.0] < 700
