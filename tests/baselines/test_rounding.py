"""Columns that are constant but for rounding: the discriminants take them for constant."""

import numpy as np
import pytest
from sklearn.base import clone

from semisquares.baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
)

TRUTH = np.arange(30) % 2
Y = np.where(np.arange(30) < 24, TRUTH, -1)
MODELS = [
    AllLabelingsDiscriminant(1.0),
    ContrastivePessimisticDiscriminant(shrinkage=1.0),
    EMDiscriminantClassifier(1.0),
]
NOISES = [1e-17, 1e-16, 1e-14, 1e-12]
PLACES = [(1.0, 1.0), (1e6, 1.0), (1e6, 1e-9), (-1e9, 1e3), (0.0, 1e-30), (1e12, 1e3)]


def table(values, noise, seed=0):
    """Two columns that tell the classes apart, and one of given values with relative noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) + 2.0 * TRUTH[:, None]
    return np.insert(X, 1, values * (1.0 + noise * rng.standard_normal(30)), axis=1)


def steps(origin, scale):
    """A column with one value for each class, 30 apart in its scale."""
    return scale * (origin + 30.0 * TRUTH)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("origin", "scale"), PLACES)
def test_without_shrinkage_a_column_constant_within_classes_is_singular(
    model, noise, origin, scale
):
    plain = clone(model).set_params(shrinkage=0.0)
    for values in (steps(origin, scale), np.full(30, scale * (origin + 30.0))):
        with pytest.raises(ValueError, match=r"singular .*; pass a larger shrinkage, or drop"):
            plain.fit(table(values, noise), Y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("origin", "scale"), PLACES)
def test_with_shrinkage_the_noise_of_a_constant_column_changes_nothing(model, noise, origin, scale):
    exact, noisy = (table(np.full(30, scale * (origin + 30.0)), size) for size in (0.0, noise))
    expected = clone(model).fit(exact[:, [0, 2]], Y).predict_proba(exact[:, [0, 2]])
    for X in (exact, noisy):
        np.testing.assert_allclose(clone(model).fit(X, Y).predict_proba(X), expected, atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("noise", NOISES)
def test_with_shrinkage_the_noise_of_a_column_constant_within_classes_hardly_matters(model, noise):
    exact, noisy = (clone(model).fit(table(steps(1e6, 1.0), n), Y) for n in (0.0, noise))
    np.testing.assert_allclose(noisy.coef_, exact.coef_, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("shrinkage", [0.0, 1.0])
@pytest.mark.parametrize(("origin", "scale"), [(1e9, 1.0), (-1e9, 1e-8), (0.0, 1e-30), (0.0, 1e30)])
def test_a_column_that_varies_is_used_wherever_it_stands(model, shrinkage, origin, scale):
    X = table(np.random.default_rng(1).normal(size=30) + TRUTH, 0.0)
    moved = X.copy()
    moved[:, 1] = scale * (X[:, 1] + origin)
    near, far = (clone(model).set_params(shrinkage=shrinkage).fit(rows, Y) for rows in (X, moved))
    np.testing.assert_allclose(far.coef_ * [1.0, scale, 1.0], near.coef_, rtol=1e-5)
