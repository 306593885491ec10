"""Claims about intervals of means over splits that overlap."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from semisquares.tables.compare.comparison import METRICS, Estimate
from semisquares.tables.compare.intervals import (
    honest_gain,
    honest_gains,
    honest_score,
    honest_scores,
    interval,
    unseen,
)


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


# -- no surer than the labels -------------------------------------------------------------------


def test_as_many_rows_may_differ_unseen_as_are_missed_once_in_twenty_times():
    assert (1.0 - unseen(40)) ** 40 == pytest.approx(0.05)


@pytest.mark.parametrize(("right", "n"), [(0, 9), (3, 9), (20, 20), (120, 150), (999, 1000)])
def test_an_accuracy_without_variance_has_the_exact_interval_of_a_share(right, n):
    share = right / n
    exact = binomtest(right, n).proportion_ci(0.95, method="exact")
    found = honest_score(Estimate(share, share, share), n)
    assert found.mean == share
    np.testing.assert_allclose([found.low, found.high], [exact.low, exact.high], atol=1e-9)


def test_wider_intervals_are_left_but_end_where_the_number_ends():
    assert honest_score(Estimate(0.6, 0.2, 0.9), 500) == Estimate(0.6, 0.2, 0.9)
    assert honest_score(Estimate(0.9, -0.2, 1.3), 500) == Estimate(0.9, 0.0, 1.0)
    assert honest_gain(Estimate(0.1, -0.3, 0.5), 500) == Estimate(0.1, -0.3, 0.5)
    assert honest_gain(Estimate(0.1, -1.3, 1.5), 500) == Estimate(0.1, -1.0, 1.0)


def test_no_interval_stays_none():
    for found in (honest_score(Estimate(0.5, math.nan, math.nan), 9),
                  honest_gain(Estimate(0.5, math.nan, math.nan), 9)):  # fmt: skip
        np.testing.assert_equal([found.mean, found.low], [0.5, math.nan])


def test_measures_of_no_width_get_one_and_a_narrow_auc_or_loss_is_believed():
    flat = honest_gains(dict.fromkeys(METRICS, Estimate(0.0, 0.0, 0.0)), 30)
    assert {(gain.low, gain.high) for gain in flat.values()} == {(-unseen(30), unseen(30))}
    perfect = honest_scores(dict.fromkeys(METRICS[:3], Estimate(1.0, 1.0, 1.0)), 30)
    assert {(score.low < 0.9, score.high) for score in perfect.values()} == {(True, 1.0)}
    narrow = {metric: Estimate(0.01, 0.009, 0.011) for metric in ("auc", "squared_loss")}
    assert honest_gains(narrow, 30) == honest_scores(narrow, 30) == narrow


def test_an_auc_ends_at_one():
    found = honest_scores({"auc": Estimate(0.9, 0.7, 1.1)}, 30)["auc"]
    assert (found.low, found.high) == (0.7, 1.0)


def test_the_truth_about_one_answer_for_all_rows_is_covered_though_no_fold_shows_it_vary():
    """Stratified folds of "always 0" are right equally often, whatever the table."""
    rng = np.random.default_rng(0)
    hits = np.zeros(2, dtype=int)
    for n_zeros in rng.binomial(100, 0.8, size=500):
        share = n_zeros / 100
        by_folds = interval(np.full(50, share), 0.25)
        for k, found in enumerate((by_folds, honest_score(by_folds, 100))):
            hits[k] += found.low <= 0.8 <= found.high
    assert hits[0] < 100
    assert hits[1] >= 475
