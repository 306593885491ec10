"""Claims about tables with more columns than rows."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.core.rows.wide import ExplicitSpan, GramSpan, compress
from support.devices import on, strict_device


def wide_table(n_rows=30, d=80, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_rows)
    X = rng.normal(size=(n_rows, d)) + truth[:, None] + 3.0
    return X, np.where(np.arange(n_rows) < 12, truth, -1)


def twice(X, y, **options):
    """Fit the rows repeated until they are no longer fewer than the columns, counting as much."""
    times = X.shape[1] // len(X) + 1
    weight = np.full(times * len(X), 1.0 / times)
    return SoftLabelClassifier(**options).fit(np.tile(X, (times, 1)), np.tile(y, times), weight)


@pytest.mark.parametrize("ridge", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("place", [np.asarray, lambda X: on(strict_device(), X)])
def test_a_basis_keeps_decisions_and_norms(intercept, ridge, place):
    X, _ = wide_table()
    table, span = compress(place(X), intercept=intercept, ridge=ridge)
    rows = table.slice(0, len(X))
    v = np.random.default_rng(1).normal(size=rows.shape[1])
    w = span.to_columns(v)
    np.testing.assert_allclose((X - span.origin) @ w, rows @ v, rtol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(w), np.linalg.norm(v), rtol=1e-10)
    np.testing.assert_allclose(span.from_columns(w), v, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e12, 1e15])
def test_a_badly_scaled_column_hides_no_other(scale):
    X, y = wide_table(11, 14, seed=2)
    y[:6] = np.arange(6) % 2
    X[:, 3] *= scale
    model, plain = SoftLabelClassifier(1.0).fit(X, y), twice(X, y, alpha=1.0)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_weights_are_those_of_the_rows_repeated(alpha, fit_intercept):
    X, y = wide_table()
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    model, plain = SoftLabelClassifier(**options).fit(X, y), twice(X, y, **options)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-10)


def test_repeated_rows_leave_the_gram_matrix_without_digits_and_take_another_way():
    X, y = wide_table()
    X[5], X[7] = X[4], X[4]
    kinds = [type(compress(X, intercept=True, ridge=ridge)[1]) for ridge in (True, False)]
    assert kinds == [ExplicitSpan, ExplicitSpan]
    assert type(compress(wide_table()[0], intercept=True, ridge=True)[1]) is GramSpan
    np.testing.assert_allclose(SoftLabelClassifier().fit(X, y).coef_, twice(X, y).coef_, atol=1e-10)


def test_with_all_labels_it_is_the_ridge_classifier():
    X, _ = wide_table()
    truth = np.arange(len(X)) % 2
    ridge = RidgeClassifier().fit(X, truth)
    for model in (LeastSquaresClassifier(), SoftLabelClassifier(), HardLabelClassifier()):
        found = model.fit(X, truth)
        np.testing.assert_allclose(
            2 * found.decision_function(X), ridge.decision_function(X), atol=1e-9
        )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_the_weights_of_dense_ones(fit_intercept, dtype):
    X, y = wide_table()
    X = (X * (np.random.default_rng(3).random(X.shape) < 0.3)).astype(dtype)
    model = SoftLabelClassifier(0.5, fit_intercept=fit_intercept)
    rows = sparse.csr_array(X)
    found = clone(model).fit(rows, y)
    np.testing.assert_allclose(found.coef_, model.fit(X, y).coef_, atol=1e-10)
    assert found.solution_.status.claims_optimum


def test_a_sparse_table_with_repeated_rows_stays_sparse_and_agrees():
    X, y = wide_table()
    X = X * (np.random.default_rng(3).random(X.shape) < 0.3)
    X[5] = X[4]
    assert compress(sparse.csr_array(X), intercept=True, ridge=True) is None
    found = SoftLabelClassifier().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(found.coef_, SoftLabelClassifier().fit(X, y).coef_, atol=1e-8)


def test_x_is_not_copied():
    X, y = wide_table(200, 40_000)
    tracemalloc.start()
    SoftLabelClassifier().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * X.nbytes
