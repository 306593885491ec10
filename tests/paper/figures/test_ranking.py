"""Ranks and tests over data sets, against published tables, scipy and hand examples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from semisquares.paper.figures._ranking import (
    critical_difference,
    friedman,
    holm,
    indistinguishable_runs,
    paired_p,
    ranks,
)

# Demšar (2006), Table 5a: k = 2 … 10
QUANTILES = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


@pytest.mark.parametrize("level", QUANTILES)
def test_critical_differences_are_those_of_demsars_table(level):
    for k, q in enumerate(QUANTILES[level], start=2):
        expected = q * np.sqrt(k * (k + 1) / (6 * 30))
        assert_allclose(critical_difference(k, 30, level=level), expected, rtol=4e-4)


@pytest.mark.parametrize("seed", range(5))
def test_friedmans_test_is_scipys_with_ties_too(seed):
    errors = np.random.default_rng(seed).integers(6, size=(9, 5)) / 10
    assert_allclose(friedman(errors).chi_square, stats.friedmanchisquare(*errors.T).statistic)


@pytest.mark.parametrize("seed", range(3))
def test_iman_and_davenports_f_is_that_of_an_analysis_of_variance_of_ranks(seed):
    placed = ranks(np.random.default_rng(seed).random((8, 4)))
    between = 8 * ((placed.mean(axis=0) - 2.5) ** 2).sum() / 3
    left = ((placed - placed.mean(axis=0)) ** 2).sum() / (3 * 7)
    found = friedman(placed)
    assert_allclose(found.F, between / left)
    assert_allclose(found.p, stats.f.sf(between / left, 3, 21))


def test_methods_that_never_differ_have_equal_ranks():
    assert friedman(np.full((5, 4), 0.2)).p == 1.0


def test_methods_in_the_same_order_everywhere_differ_for_sure():
    found = friedman(np.tile([0.1, 0.2, 0.3], (5, 1)))
    assert (found.chi_square, found.F, found.p) == (10.0, np.inf, 0.0)


@pytest.mark.parametrize("shape", [(1, 5), (5, 2)])
def test_too_little_to_rank_is_not_tested(shape):
    assert np.isnan(friedman(np.random.default_rng(0).random(shape)).p)


def test_holm_multiplies_step_by_step():
    # 4 × 0.005, 3 × 0.01, 2 × 0.03, and 0.04 which is no smaller than the one before it
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])


def test_holm_takes_what_cannot_be_told_for_one():
    assert_allclose(holm(np.array([0.01, np.nan])), [0.02, 1.0])


def test_the_paired_test_is_students():
    a, b = np.random.default_rng(0).random((2, 12))
    assert_allclose(paired_p(a - b), stats.ttest_rel(a, b).pvalue)
    assert_allclose(paired_p(np.append(a - b, np.nan)), stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize(("differences", "p"), [([0.2] * 4, 0.0), ([0.0] * 4, 1.0)])
def test_differences_that_do_not_vary_are_sure(differences, p):
    assert paired_p(np.array(differences)) == p


def test_one_difference_tells_nothing():
    assert np.isnan(paired_p(np.array([0.3, np.nan])))


def test_runs_that_are_part_of_others_are_left_out():
    assert indistinguishable_runs([1.0, 2.0, 2.5, 3.1, 9.0], 1.5) == [(0, 2), (1, 3)]
