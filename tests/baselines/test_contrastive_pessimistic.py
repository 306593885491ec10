"""Contrastive pessimistic likelihood: the saddle point, its theorem, and independent optima.

Likelihoods are summed here from scipy's normal densities, not by what the estimator uses.
"""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from semisquares._inputs.labels import read_labels
from semisquares.baselines.contrastive_pessimistic import (
    ContrastivePessimisticDiscriminant,
    _Contrast,
)
from support.problems import make_problem

SMALL = {
    "two classes": {"n_labeled": 8, "n_unlabeled": 7, "n_features": 2},
    "far classes": {"n_labeled": 8, "n_unlabeled": 7, "n_features": 2, "distance": 5.0},
    "close classes": {"n_labeled": 10, "n_unlabeled": 7, "n_features": 1, "distance": 0.2},
    "three classes": {"n_labeled": 9, "n_unlabeled": 5, "n_features": 2, "n_classes": 3},
    "few labels, shrunken": {"n_labeled": 2, "n_unlabeled": 7, "n_features": 4, "shrinkage": 3.0},
    "priors": {"n_labeled": 8, "n_unlabeled": 7, "n_features": 2, "priors": (0.8, 0.2)},
}
small = pytest.mark.parametrize("options", SMALL.values(), ids=SMALL)


def make(seed, options):
    """A problem, and its fitted estimator."""
    settings = {k: v for k, v in options.items() if k in ("shrinkage", "priors", "max_iter")}
    rest = {k: v for k, v in options.items() if k not in settings}
    problem = make_problem(seed, **rest)
    model = ContrastivePessimisticDiscriminant(**settings, tol=1e-10)
    return problem, model.fit(problem.X, problem.y)


def estimate(X, q, *, shrinkage, target, priors):
    """Weighted priors, means and covariance, row by row."""
    mass = q.sum(axis=0)
    means = (q.T @ X) / mass[:, None]
    scatter = shrinkage * np.diag(target)
    for k, mean in enumerate(means):
        scatter = scatter + (X - mean).T @ (q[:, [k]] * (X - mean))
    pi = mass / mass.sum() if priors is None else np.array(priors)
    return pi, means, scatter / (mass.sum() + shrinkage)


def log_joint(theta, X):
    """The logarithm of each class's probability times its density."""
    densities = [multivariate_normal(mean, theta[2]).logpdf(X) for mean in theta[1]]
    return np.log(theta[0]) + np.stack(densities, axis=1)


def log_prior(theta, shrinkage, target):
    return (
        -0.5
        * shrinkage
        * (np.linalg.slogdet(theta[2])[1] + np.trace(np.linalg.solve(theta[2], np.diag(target))))
    )


class Literal:
    """The contrast of the definition, for one problem."""

    def __init__(self, problem, model):
        self.X, self.known = problem.X, problem.known
        self.K = problem.n_classes
        self.labeled = np.eye(self.K)[problem.y] * problem.known[:, None]
        self.options = {
            "shrinkage": model.shrinkage,
            "target": problem.X.var(axis=0),
            "priors": model.priors,
        }
        rows = problem.known
        self.supervised = estimate(self.X[rows], self.labeled[rows], **self.options)

    def all_rows(self, q):
        labels = self.labeled.copy()
        labels[~self.known] = np.reshape(q, (-1, self.K))
        return labels

    def gains(self, theta):
        """How much likelier θ makes each class of each row, and the covariance."""
        prior = [log_prior(t, self.options["shrinkage"], self.options["target"])
                 for t in (theta, self.supervised)]  # fmt: skip
        return log_joint(theta, self.X) - log_joint(self.supervised, self.X), prior[0] - prior[1]

    def contrast(self, theta, q):
        rows, prior = self.gains(theta)
        return float(np.sum(self.all_rows(q) * rows) + prior)

    def best(self, q):
        return estimate(self.X, self.all_rows(q), **self.options)

    def value(self, q):
        """max over θ of the contrast."""
        return self.contrast(self.best(q), q)

    def labelings(self):
        """All hard labelings."""
        U = int((~self.known).sum())
        return [np.eye(self.K)[list(codes)] for codes in product(range(self.K), repeat=U)]

    def worst(self, theta):
        """min over q of the contrast: linear in q, so that each row has its own worst class."""
        rows, prior = self.gains(theta)
        return np.sum(self.labeled * rows) + rows[~self.known].min(axis=1).sum() + prior


def parameters(model):
    return model.priors_, model.means_, model.covariance_


# -- the saddle point -----------------------------------------------------------------------------


@small
def test_no_labeling_makes_it_less_likely_than_the_supervised_model(options):
    problem, model = make(0, options)
    literal = Literal(problem, model)
    contrasts = [literal.contrast(parameters(model), q) for q in literal.labelings()]
    assert min(contrasts) >= -model.certificate_ - 1e-10
    assert min(contrasts) == pytest.approx(model.objective_ - model.certificate_, abs=1e-9)


@small
def test_the_objective_is_the_contrast_at_the_labels_found(options):
    problem, model = make(1, options)
    literal = Literal(problem, model)
    q = model.label_distributions_[~problem.known]
    assert model.objective_ == pytest.approx(literal.value(q), abs=1e-9)
    assert model.objective_ >= 0.0
    assert model.certificate_ <= 1e-10 * len(problem.y)


@small
def test_the_labeling_is_the_worst_by_sequential_quadratic_programming(options):
    problem, model = make(2, options)
    literal = Literal(problem, model)
    U = int((~problem.known).sum())
    found = minimize(
        literal.value,
        np.random.default_rng(0).dirichlet(np.ones(literal.K), size=U).ravel(),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * (U * literal.K),
        constraints={"type": "eq", "fun": lambda q: q.reshape(U, -1).sum(axis=1) - 1.0},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert model.objective_ == pytest.approx(found.fun, abs=1e-5)
    assert model.objective_ <= found.fun + model.certificate_ + 1e-8


@small
def test_no_random_labeling_is_worse(options):
    problem, model = make(3, options)
    literal = Literal(problem, model)
    rng = np.random.default_rng(1)
    U = int((~problem.known).sum())
    drawn = [rng.dirichlet(np.full(literal.K, rng.choice([0.1, 1.0])), size=U) for _ in range(100)]
    near = [0.99 * model.label_distributions_[~problem.known] + 0.01 * q for q in drawn]
    values = [literal.value(q) for q in drawn + near]
    assert min(values) >= model.objective_ - model.certificate_ - 1e-10


@small
def test_no_other_parameters_promise_more(options):
    problem, model = make(4, options)
    literal = Literal(problem, model)
    theta = parameters(model)
    rng = np.random.default_rng(2)
    assert literal.worst(theta) == pytest.approx(model.objective_, abs=1e-8)
    for size in (1e-3, 1e-2, 1e-1) * 5:
        root = np.eye(len(theta[2])) + size * rng.normal(size=theta[2].shape)
        tilt = theta[0] * np.exp((model.priors is None) * size * rng.normal(size=literal.K))
        means = theta[1] + size * rng.normal(size=theta[1].shape)
        other = tilt / tilt.sum(), means, root @ theta[2] @ root.T
        assert literal.worst(other) <= model.objective_ + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_with_the_true_labels_it_is_likelier_than_the_supervised_model(seed):
    problem = make_problem(seed, n_labeled=10, n_unlabeled=200, distance=1.0)
    order = np.lexsort(problem.X.T)  # any labels are possible truths, even silly ones
    truth = np.eye(2)[np.argsort(order)[~problem.known] % 2]
    model = ContrastivePessimisticDiscriminant().fit(problem.X, problem.y)
    literal = Literal(problem, model)
    assert literal.contrast(parameters(model), truth) > 0.0


@pytest.mark.parametrize("steps", [1, 2, 4])
@small
def test_the_certificate_bounds_what_an_early_stop_costs(options, steps):
    _, best = make(5, options)
    with pytest.warns(ConvergenceWarning, match="nats per row"):
        _, model = make(5, {**options, "max_iter": steps})
    assert model.objective_ - best.objective_ > 0.0
    assert model.objective_ - best.objective_ <= model.certificate_


# -- derivatives ----------------------------------------------------------------------------------


@small
def test_the_gradient_and_the_hessian_are_those_of_finite_differences(options):
    problem, model = make(6, options)
    labels = read_labels(problem.y)
    contrast = _Contrast.of(problem.X, labels, model._given(problem.X, labels))
    rng = np.random.default_rng(0)
    U, K = len(contrast.free), contrast.joint.shape[1]
    q = rng.dirichlet(np.ones(K), size=U)
    step = 1e-5 * (rng.dirichlet(np.ones(K), size=U) - 1.0 / K)
    gradient, H = contrast(q)
    V = contrast.V
    values = []
    for p in (q - step, q + step):
        best = contrast.best(p)
        values.append(contrast.value(best, contrast.gains(best), p))
    assert (values[1] - values[0]) / 2 == pytest.approx(np.sum(gradient * step), rel=1e-5)
    change = (contrast(q + step)[0] - contrast(q - step)[0]) / 2
    curved = V @ (H @ (step[:, 1:].T @ V).ravel()).reshape(K - 1, -1).T
    against_first = change[:, 1:] - change[:, :1]
    np.testing.assert_allclose(against_first, curved, atol=1e-6 * np.abs(change).max())


# -- the model ------------------------------------------------------------------------------------


@small
def test_the_parameters_are_those_of_the_labels_found(options):
    problem, model = make(7, options)
    literal = Literal(problem, model)
    expected = literal.best(model.label_distributions_[~problem.known])
    for ours, theirs in zip(parameters(model), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_mean_and_covariance_of_all_rows_are_those_of_the_model():
    problem, model = make(8, {"n_labeled": 12, "n_unlabeled": 100, "n_features": 4})
    pi, means, covariance = parameters(model)
    mean = pi @ means
    np.testing.assert_allclose(mean, problem.X.mean(axis=0), atol=1e-12)
    total = covariance + (means - mean).T @ (pi[:, None] * (means - mean))
    np.testing.assert_allclose(total, np.cov(problem.X.T, bias=True), atol=1e-12)


def test_with_all_labels_it_is_linear_discriminant_analysis():
    problem = make_problem(9, n_labeled=60, n_unlabeled=0, n_classes=3)
    model = ContrastivePessimisticDiscriminant().fit(problem.X, problem.y)
    other = LinearDiscriminantAnalysis(solver="lsqr").fit(problem.X, problem.y)
    np.testing.assert_allclose(model.predict_proba(problem.X), other.predict_proba(problem.X))
    assert model.objective_ == model.certificate_ == 0.0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_are_on_the_simplex_and_rows_are_predicted(n_classes):
    options = {"n_labeled": 20, "n_unlabeled": 300, "n_features": 5, "n_classes": n_classes}
    problem, model = make(10, options)
    q, known = model.label_distributions_, problem.known
    assert q.min() >= 0.0
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(q[known], np.eye(n_classes)[problem.y[known]])
    np.testing.assert_array_equal(model.transduction_[known], problem.y[known])
    np.testing.assert_array_equal(model.transduction_[~known], model.predict(problem.X)[~known])


def test_units_and_origin_of_the_columns_do_not_matter():
    options = {"n_labeled": 12, "n_unlabeled": 60, "n_features": 3}
    problem, model = make(11, options)
    mix = np.random.default_rng(0).normal(size=(3, 3)) * [0.01, 1.0, 100.0]
    other = clone(model).fit(problem.X @ mix + [10.0, 0.0, -1e3], problem.y)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-7)
    np.testing.assert_allclose(other.label_distributions_, model.label_distributions_, atol=1e-6)


def test_priors_that_are_given_are_kept():
    _, model = make(12, SMALL["priors"])
    np.testing.assert_array_equal(model.priors_, [0.8, 0.2])


@pytest.mark.parametrize("seed", range(10))
def test_hard_problems_are_solved_to_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    K, d = rng.choice([2, 3, 6]), rng.choice([2, 10])
    L, U = K * 2 + d, 200
    y = np.r_[np.arange(L) % K, rng.choice(K, U, p=rng.dirichlet(np.ones(K)))]
    X = rng.choice([0.1, 5.0, 30.0]) * rng.normal(size=(K, d))[y] + rng.standard_t(2, (L + U, d))
    X[L:] += 10.0 * rng.normal(size=d)
    y[L:] = -1
    model = ContrastivePessimisticDiscriminant(shrinkage=rng.choice([0.0, 0.01, 10.0])).fit(X, y)
    assert model.certificate_ <= 1e-8 * len(X)
    assert model.n_iter_ <= 40


# plain predictor-corrector steps stall at 183, and means over a row's classes cost digits at 134
@pytest.mark.parametrize("seed", [0, 1, 2, 134, 183])
def test_a_contrast_far_from_quadratic_is_solved_to_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    K, d = rng.choice([3, 5]), rng.choice([2, 8])
    L, U = K + 3, rng.choice([2, 5, 30])
    y = np.arange(L + U) % K
    X = rng.choice([1.0, 30.0]) * rng.normal(size=(K, d))[y]
    X += rng.standard_t(2, size=(L + U, d)) * rng.choice([1e-3, 1.0, 100.0], size=d)
    X[L:] += 20.0 * rng.normal(size=d)
    y[L:] = -1
    model = ContrastivePessimisticDiscriminant(shrinkage=0.01).fit(X, y)
    assert model.certificate_ <= 1e-8 * len(X)


# the means are rounded, so that the variances are tiny, not zero
CONSTANT_WITHIN_CLASSES = [[1.1]] * 5 + [[2.7]] * 6 + [[2.0]]

# -- input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.eye(6), [0, 1, 0, -1, -1, -1], {}, "pass a larger shrinkage"),
        (CONSTANT_WITHIN_CLASSES, [0] * 5 + [1] * 6 + [-1], {}, "singular within the classes"),
        ([[0.0], [1.0], [2.0]], [1, 1, -1], {}, "one class only"),
        ([[0.0], [1.0], [2.0], [1e200]], [0, 1, 1, -1], {}, "rescale the columns"),
        ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], {"priors": [0.5, 0.6]}, "sum to 1"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_a_sentence(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        ContrastivePessimisticDiscriminant(**options).fit(X, y)


def test_shrinkage_helps_where_rows_are_too_few():
    model = ContrastivePessimisticDiscriminant(shrinkage=1.0).fit(np.eye(6), [0, 1, 0, -1, -1, -1])
    assert model.objective_ >= 0.0
    assert np.isfinite(model.coef_).all()
