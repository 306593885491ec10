"""EM for linear discriminant analysis, and the Gaussian classes that it climbs with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from semisquares.baselines._gaussian import (
    GaussianClasses,
    Given,
    complete_log_likelihood,
    fit_gaussian,
    log_prior,
)
from semisquares.baselines.em_discriminant import EMDiscriminantClassifier

PRIORS = {2: [0.3, 0.7], 3: [0.2, 0.3, 0.5], 4: [0.1, 0.2, 0.3, 0.4]}


def table(n_classes=2, n_labeled=10, n_unlabeled=40, d=3, seed=0, distance=2.0):
    """Draw rows of Gaussian classes whose columns are correlated; -1 marks a missing label."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    y = np.concatenate((np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)))
    means = distance * rng.standard_normal((n_classes, d))
    X = means[y] + rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    y[n_labeled:] = -1
    return X, y


def mixture(X, y, priors, means, covariance, shrinkage):
    """Write the penalised marginal log likelihood as the sum that defines it."""
    T = np.diag(X.var(axis=0))
    densities = np.column_stack(
        [p * multivariate_normal(m, covariance).pdf(X) for p, m in zip(priors, means, strict=True)]
    )
    known = np.log(densities[y >= 0, y[y >= 0]]).sum()
    free = np.log(densities[y < 0].sum(axis=1)).sum()
    trace = np.trace(np.linalg.solve(covariance, T))
    return known + free - 0.5 * shrinkage * (np.linalg.slogdet(covariance)[1] + trace)


def unpacked(theta, n_classes, d):
    """Read θ from free numbers: logits of the priors, means, and a root of the covariance."""
    logits, means, root = np.split(theta, [n_classes, n_classes * (d + 1)])
    odds, root = np.exp(logits), root.reshape(d, d)
    return odds / odds.sum(), means.reshape(n_classes, d), root @ root.T


def packed(model):
    root = np.linalg.cholesky(model.covariance_)
    return np.concatenate((np.log(model.priors_), model.means_.ravel(), root.ravel()))


# -- the likelihood ---------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    n_classes=st.integers(2, 4),
    d=st.integers(1, 12),
    n_unlabeled=st.integers(0, 30),
    shrinkage=st.floats(1e-3, 30.0),
    distance=st.floats(0.0, 20.0),
    fixed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_log_likelihood_never_falls(
    n_classes, d, n_unlabeled, shrinkage, distance, fixed, seed
):
    X, y = table(n_classes, n_classes + 2, n_unlabeled, d, seed, distance)
    priors = {True: PRIORS[n_classes], False: None}[fixed]
    model = EMDiscriminantClassifier(shrinkage, priors=priors, tol=1e-4, record_path=True)
    values = np.array([step.log_likelihood for step in model.fit(X, y).path_])
    assert np.diff(values).min() >= -1e-11 * np.abs(values).max()


@pytest.mark.parametrize("priors", [None, PRIORS[3]])
@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
def test_every_step_reports_the_likelihood_of_the_mixture(shrinkage, priors):
    X, y = table(3, 15, d=4)
    model = EMDiscriminantClassifier(shrinkage, priors=priors, record_path=True).fit(X, y)
    assert model.n_iter_ == len(model.path_) - 1 == model.path_[-1].iteration > 3
    for step in model.path_:
        theta = step.model
        expected = mixture(X, y, theta.priors, theta.means, theta.covariance, shrinkage)
        assert step.log_likelihood == pytest.approx(expected, rel=1e-11)
    end = mixture(X, y, model.priors_, model.means_, model.covariance_, shrinkage)
    assert model.log_likelihood_ == pytest.approx(end, rel=1e-11)


@pytest.mark.parametrize("priors", [None, PRIORS[3]])
@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
def test_the_likelihood_of_rows_that_all_have_labels_is_that_of_the_mixture(shrinkage, priors):
    X, y = table(3, 25, 0, d=4)
    model = EMDiscriminantClassifier(shrinkage, priors=priors, record_path=True).fit(X, y)
    expected = mixture(X, y, model.priors_, model.means_, model.covariance_, shrinkage)
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-11)
    assert [step.iteration for step in model.path_] == [0, 1]


@pytest.mark.parametrize(("n_classes", "shrinkage"), [(2, 0.0), (2, 3.0), (3, 3.0)])
def test_the_gradient_vanishes_at_the_end(n_classes, shrinkage):
    X, y = table(n_classes, 12, d=3)
    model = EMDiscriminantClassifier(shrinkage, tol=0.0).fit(X, y)

    def value(theta):
        return mixture(X, y, *unpacked(theta, n_classes, 3), shrinkage)

    def slope(theta):
        return (approx_fprime(theta, value, 1e-6) + approx_fprime(theta, value, -1e-6)) / 2.0

    start = EMDiscriminantClassifier(shrinkage, max_iter=1, tol=1e9).fit(X, y)
    assert np.abs(slope(packed(start))).max() > 0.1
    assert np.abs(slope(packed(model))).max() < 1e-5


def test_a_step_is_the_plain_maximisation():
    X, y = table(3, 15)
    known, prior = y >= 0, Given.of(X, 2.0)
    model = EMDiscriminantClassifier(2.0, record_path=True).fit(X, y)
    for before, after in zip(model.path_, model.path_[1:], strict=False):
        q = before.model.posteriors(X)
        q[known] = np.eye(3)[y[known]]
        expected = fit_gaussian(X, q, prior)
        np.testing.assert_allclose(after.model.covariance, expected.covariance, atol=1e-10)
        np.testing.assert_allclose(after.model.means, expected.means, atol=1e-10)
        np.testing.assert_allclose(after.model.priors, expected.priors, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(1e-3, 0.3))
@settings(max_examples=40, deadline=None)
def test_no_other_model_has_a_larger_complete_likelihood(seed, size):
    rng = np.random.default_rng(seed)
    X, q = rng.standard_normal((20, 3)), rng.dirichlet(np.ones(2), size=20)
    prior = Given.of(X, 1.5)
    best = fit_gaussian(X, q, prior)
    root = best.factor + size * np.tril(rng.standard_normal((3, 3)))
    odds = best.priors * np.exp(size * rng.standard_normal(2))
    means = best.means + size * rng.standard_normal((2, 3))
    covariance = root @ root.T + 1e-6 * np.eye(3)
    other = GaussianClasses(odds / odds.sum(), means, covariance, np.linalg.cholesky(covariance))

    def value(model):
        return complete_log_likelihood(model, X, q) + log_prior(model, prior)

    assert value(other) < value(best)


# -- what it is equal to ----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_labeled_is_linear_discriminant_analysis(n_classes):
    X, y = table(n_classes, 50, 0, d=4)
    model = EMDiscriminantClassifier(0.0).fit(X, y)
    plain = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.covariance_, plain.covariance_, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-10)
    ours, theirs = (m.decision_function(X).reshape(50, -1) for m in (model, plain))
    offset = {2: 0.0, 3: (ours - theirs).mean(axis=1, keepdims=True)}[n_classes]
    np.testing.assert_allclose(ours, theirs + offset, atol=1e-9)
    np.testing.assert_array_equal(model.transduction_, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_bayes_rule(n_classes):
    X, y = table(n_classes, 15)
    model = EMDiscriminantClassifier().fit(X, y)
    joint = np.column_stack(
        [
            p * multivariate_normal(m, model.covariance_).pdf(X)
            for p, m in zip(model.priors_, model.means_, strict=True)
        ]
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-11)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, atol=1e-11)
    free = y < 0
    np.testing.assert_allclose(model.label_distributions_[free], expected[free], atol=1e-11)
    np.testing.assert_array_equal(model.label_distributions_[~free], np.eye(n_classes)[y[~free]])
    np.testing.assert_array_equal(model.transduction_[free], model.predict(X)[free])


def test_units_do_not_matter():
    X, y = table(3, 15)
    units, shift = np.array([1e-6, 1.0, 1e5]), np.array([1e-3, 1e4, -1e7])
    one = EMDiscriminantClassifier(tol=1e-10).fit(X, y)
    other = EMDiscriminantClassifier(tol=1e-10).fit(X * units + shift, y)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.label_distributions_, other.label_distributions_, atol=1e-7)
    expected = one.log_likelihood_ - (len(X) + 1.0) * np.log(units).sum()
    assert other.log_likelihood_ == pytest.approx(expected, rel=1e-9)


def test_shrinkage_counts_rows():
    X, y = table()
    once = EMDiscriminantClassifier(1.5).fit(X, y)
    twice = EMDiscriminantClassifier(3.0).fit(np.vstack((X, X)), np.tile(y, 2))
    np.testing.assert_allclose(once.coef_, twice.coef_, atol=1e-9)


def test_endless_shrinkage_leaves_the_target():
    X, y = table()
    model = EMDiscriminantClassifier(1e12).fit(X, y)
    np.testing.assert_allclose(model.covariance_, np.diag(X.var(axis=0)), atol=1e-8)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.5, -1e9 / 3])
def test_a_constant_column_changes_nothing(value):
    X, y = table()
    wide = np.insert(X, 1, value, axis=1)
    one, other = (EMDiscriminantClassifier().fit(rows, y) for rows in (X, wide))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(wide), atol=1e-12)


def test_given_priors_are_kept_and_learned_ones_are_mean_posteriors():
    X, y = table()
    kept = EMDiscriminantClassifier(priors=[0.2, 0.8]).fit(X, y)
    np.testing.assert_array_equal(kept.priors_, [0.2, 0.8])
    learned = EMDiscriminantClassifier(tol=0.0).fit(X, y)
    np.testing.assert_allclose(
        learned.priors_, learned.label_distributions_.mean(axis=0), atol=1e-8
    )


def test_missing_values_mark_rows_as_the_marker_does():
    X, y = table()
    names = np.where(y < 0, None, np.where(y == 1, "yes", "no"))
    one, other = (EMDiscriminantClassifier().fit(X, labels) for labels in (y, names))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(np.where(one.transduction_, "yes", "no"), other.transduction_)


# -- few rows ---------------------------------------------------------------------------------


def test_classes_may_have_fewer_rows_than_there_are_features():
    X, y = table(3, 6, 20, d=40)
    model = EMDiscriminantClassifier(0.5, record_path=True).fit(X, y)
    values = [step.log_likelihood for step in model.path_]
    assert np.isfinite(values).all()
    assert np.linalg.eigvalsh(model.covariance_)[0] > 0.0
    assert model.score(X, y) == 1.0


def test_without_shrinkage_unlabeled_rows_can_give_the_covariance():
    X, y = table(2, 2, 60, d=5)
    model = EMDiscriminantClassifier(0.0, record_path=True).fit(X, y)
    assert np.diff([step.log_likelihood for step in model.path_]).min() >= -1e-9


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).standard_normal((6, 9)),  # too few rows
        np.repeat(np.arange(6.0)[:, None], 2, axis=1),  # a copied column
        np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]]),  # classes without spread
    ],
    ids=["short", "copied", "points"],
)
def test_a_singular_covariance_is_answered_with_what_to_do(X):
    y = [0, 1, 0, 1, -1, -1]
    with pytest.raises(ValueError, match=r"singular within the classes.*pass a larger shrinkage"):
        EMDiscriminantClassifier(0.0).fit(X, y)
    assert np.isfinite(EMDiscriminantClassifier().fit(X, y).coef_).all()


# -- input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("priors", [[0.5], [0.5, 0.6], [0.0, 1.0], [np.nan, 0.5], ["a", "b"]])
def test_what_is_no_distribution_is_refused_as_priors(priors):
    X, y = table()
    with pytest.raises(ValueError, match="must be 2 positive numbers that sum to 1"):
        EMDiscriminantClassifier(priors=priors).fit(X, y)


def test_numbers_whose_squares_overflow_are_named():
    X, y = table()
    with pytest.raises(ValueError, match=r"numbers as large as .*e\+20.*rescale"):
        EMDiscriminantClassifier().fit(X * 1e200, y)


def test_a_failed_fit_loses_nothing():
    X, y = table()
    model = EMDiscriminantClassifier().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="overflow"):
        model.fit(1e200 * X, np.where(y < 0, None, np.where(y == 1, "yes", "no")))
    np.testing.assert_array_equal(model.predict(X), before)


def test_too_few_steps_are_told():
    X, y = table()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .* raise max_iter or tol"):
        model = EMDiscriminantClassifier(max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert not hasattr(model, "path_")


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_the_end_is_where_a_row_gains_less_than_tol(tol):
    X, y = table()
    model = EMDiscriminantClassifier(tol=tol, record_path=True).fit(X, y)
    gains = np.diff([step.log_likelihood for step in model.path_]) / len(X)
    assert gains[-1] <= tol < gains[:-1].min()
