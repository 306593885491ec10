"""Sums without rounding are those of fractions, and are refused if float64 cannot hold them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from semisquares.core import _exact_sums
from semisquares.core._exact_sums import exact_decisions, exact_moment, exact_products


def numbers(*shape, seed=0):
    """Return numbers of either sign and of many sizes, with all their digits."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape)


def fraction_of(products):
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in products), Fraction(0))


def test_a_product_and_its_rounding_error_are_the_exact_product():
    a, b = numbers(200, seed=1), numbers(200, seed=2)
    for one, other, high, low in zip(a, b, *exact_products(a, b), strict=True):
        assert high == one * other
        assert Fraction(float(high)) + Fraction(float(low)) == fraction_of([(one, other)])


def test_a_moment_is_rounded_once():
    X, theta, ridge, w = (numbers(*shape) for shape in ((9, 3), (9, 2), (3, 2), (3, 2)))
    found = exact_moment(X, theta, ridge, w)
    for j, k in np.ndindex(w.shape):
        terms = [*zip(X[:, j], theta[:, k], strict=True), (ridge[j, k], w[j, k])]
        assert found[j, k] == float(fraction_of(terms))


def test_decision_values_are_rounded_once(monkeypatch):
    monkeypatch.setattr(_exact_sums, "_AT_ONCE", 4)
    X, coef, intercept = numbers(9, 3), numbers(2, 3, seed=1), numbers(2, seed=2)
    found = exact_decisions(X, coef, intercept)
    for i, k in np.ndindex(found.shape):
        terms = [*zip(X[i], coef[k], strict=True), (intercept[k], 1.0)]
        assert found[i, k] == float(fraction_of(terms))


@pytest.mark.parametrize("place", range(4))
def test_numbers_whose_products_leave_the_range_of_float64_are_refused(place):
    for size, accepted in ((480, True), (481, False), (-480, True), (-481, False)):
        parts = [np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1))]
        parts[place] = np.array([[-(2.0**size)]])
        assert (exact_moment(*parts) is not None) is accepted
