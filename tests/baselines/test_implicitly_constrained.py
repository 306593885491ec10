"""Implicitly constrained least squares: the quadratic program, RSSL's numbers, its properties."""

import json

import numpy as np
import pytest
import qpsolvers
from scipy.optimize import lsq_linear
from scipy.sparse import csc_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from semisquares import LeastSquaresClassifier
from semisquares.baselines import ImplicitlyConstrainedClassifier
from semisquares.baselines._least_labeling import least_labeling
from support.problems import SETTINGS, SHORT, make_problem
from support.reference import (
    RSSL_NAMES,
    RSSL_NEAR_COPY,
    RSSL_TRUNCATED,
    reference_file,
    rssl_problem,
)

UNWEIGHTED = ("plain", "no ridge", "no intercept", "neither ridge nor intercept", "wide")
COMPARABLE = [name for name in RSSL_NAMES if name not in RSSL_TRUNCATED + RSSL_NEAR_COPY]
VARIANTS = ("lbfgs", "lbfgs_lambda2_0", "projection_semisupervised_qp")

settings = pytest.mark.parametrize("options", [SETTINGS[k] for k in UNWEIGHTED], ids=UNWEIGHTED)
classes = pytest.mark.parametrize("n_classes", [2, 3])
on_rssl = pytest.mark.parametrize("name", COMPARABLE)


def fit(problem, **options):
    model = ImplicitlyConstrainedClassifier(
        problem.alpha, fit_intercept=problem.intercept, **options
    )
    return model.fit(problem.X, problem.y)


def labeled_loss(problem, labels):
    """Fit labels of all rows by the normal equations, and sum the squares of the labeled rows."""
    gram = problem.gram() + np.diag(problem.penalty)
    w = np.linalg.lstsq(gram, problem.design.T @ labels)[0]
    known = problem.known
    return float(np.sum((problem.design[known] @ w - problem.targets(problem.y[known])) ** 2))


def least_loss(problem):
    """The optimum by a solver from outside: bounded least squares, or an interior point QP."""
    hat = problem.design @ np.linalg.pinv(problem.gram() + np.diag(problem.penalty))
    hat = hat @ problem.design.T
    known = problem.known
    y = problem.targets(problem.y[known])
    A, b = hat[np.ix_(known, ~known)], y - hat[np.ix_(known, known)] @ y
    return {2: _by_bounds, 3: _by_quadratic_program}[problem.n_classes](A, b)


def _by_bounds(A, b):
    return 2.0 * lsq_linear(A, b, (0, 1), method="bvls", tol=1e-15, max_iter=2000).cost


def _by_quadratic_program(A, b):
    """Minimise ‖r‖² over labels q, class by class, and residuals r = Aq - b."""
    (L, U), K = A.shape, b.shape[1]
    residuals = np.hstack((np.kron(np.eye(K), A), -np.eye(L * K)))
    sums = np.hstack((np.kron(np.ones(K), np.eye(U)), np.zeros((U, L * K))))
    x = qpsolvers.solve_qp(
        csc_matrix(np.diag(np.r_[np.zeros(U * K), np.ones(L * K)])), np.zeros((U + L) * K),
        A=csc_matrix(np.vstack((residuals, sums))), b=np.r_[b.T.ravel(), np.ones(U)],
        lb=np.r_[np.zeros(U * K), np.full(L * K, -np.inf)],
        solver="clarabel", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11,
    )  # fmt: skip
    return float(np.sum(x[U * K :] ** 2))


def rssl_fit(name):
    """RSSL's ridge is (L+U) lambda and never falls on the first column: make that one large."""
    problem = rssl_problem(name)
    X = np.vstack((problem.X, problem.X_u))
    free = not problem.fit_intercept and problem.rssl_lambda > 0.0
    X[:, 0] *= 1e6**free
    y = np.concatenate((problem.y, np.full(len(problem.X_u), -1.0))).astype(int)
    model = ImplicitlyConstrainedClassifier(
        len(X) * problem.rssl_lambda, fit_intercept=problem.fit_intercept
    )
    return model.fit(X, y), len(problem.y)


# -- the optimum ----------------------------------------------------------------------------------


@classes
@settings
def test_the_loss_is_that_of_an_independent_solver(options, n_classes):
    problem = make_problem(3, n_classes=n_classes, **options)
    assert fit(problem).objective_ == pytest.approx(least_loss(problem), abs=1e-9)


@pytest.mark.parametrize("options", SHORT.values(), ids=SHORT)
def test_fewer_labels_than_columns_are_solved_too(options):
    problem = make_problem(5, **options)
    assert fit(problem).objective_ == pytest.approx(least_loss(problem), abs=1e-9)


@on_rssl
def test_the_loss_is_that_of_rssl(name):
    model, n_labeled = rssl_fit(name)
    theirs = rssl_problem(name).icls.labeled_mse
    assert model.objective_ / n_labeled == pytest.approx(theirs, abs=1e-9)
    assert model.certificate_ < 1e-11


@on_rssl
def test_the_gap_closes_to_the_last_digits(name):
    problem = rssl_problem(name)
    X = np.vstack((problem.X, problem.X_u))
    y = np.concatenate((problem.y, np.full(len(problem.X_u), -1.0))).astype(int)
    model = ImplicitlyConstrainedClassifier(problem.alpha, tol=1e-14).fit(X, y)
    assert model.certificate_ <= 1e-13


def test_a_tolerance_of_zero_ends_where_rounding_does():
    rng = np.random.default_rng(0)
    V, b, calls = rng.normal(size=(30, 4)), 20.0 * rng.normal(size=(4, 3)), []
    H = 2.0 * np.kron(np.eye(2) + 1.0, np.eye(4))  # of the sums of two classes, without the first

    def squares(q):
        calls.append(q)
        return 2.0 * V @ (V.T @ q - b), H

    found = least_labeling(squares, V, 3, tol=0.0, max_iter=1000)
    assert found.gap < 1e-12
    assert len(calls) < 60


@pytest.mark.parametrize("n_rows", [3, 20])
def test_a_singular_hessian_has_a_least_labeling(n_rows):
    rng = np.random.default_rng(1)
    V, b = rng.normal(size=(n_rows, 8)), 3.0 * rng.normal(size=8)
    seen = np.arange(8) > 5  # the function depends on two of the eight sums
    rows = V[:, seen] * [1.0, 100.0]
    H = 2.0 * np.diag([0.0] * 6 + [1.0, 1e4])

    def squares(q):
        gradient = 2.0 * rows @ (rows.T @ q[:, 1] - b[seen])
        return np.column_stack((np.zeros(n_rows), gradient)), H

    found = least_labeling(squares, V, 2, tol=1e-10, max_iter=25)
    best = lsq_linear(rows.T, b[seen], bounds=(0.0, 1.0), tol=1e-14)
    loss = np.sum((rows.T @ found.q[:, 1] - b[seen]) ** 2)
    assert found.gap <= 1e-10
    assert loss == pytest.approx(2.0 * best.cost, abs=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
@on_rssl
def test_no_variant_of_rssl_has_a_lower_loss(name, variant):
    raw = json.loads(reference_file(f"rssl/{name}.json").read_text(encoding="utf-8"))
    model, n_labeled = rssl_fit(name)
    assert model.objective_ / n_labeled <= raw["icls"][variant]["labeled_mse"] + 1e-10


@classes
@settings
def test_the_loss_lies_between_the_supervised_one_and_that_of_any_labeling(options, n_classes):
    problem = make_problem(1, n_classes=n_classes, **options)
    loss = fit(problem).objective_
    rng = np.random.default_rng(0)
    drawn = rng.dirichlet(np.full(n_classes, 0.3), size=(200, len(problem.y)))
    labels = drawn[:, :, {2: 1, 3: slice(None)}[n_classes]]
    known = problem.known
    y = problem.targets(problem.y[known])
    w = np.linalg.lstsq(problem.design[known], y)[0]
    assert loss >= np.sum((problem.design[known] @ w - y) ** 2) - 1e-12
    assert loss <= min(labeled_loss(problem, problem.with_known(q)) for q in labels)


def test_where_a_labeling_gives_the_supervised_weights_they_are_the_answer():
    problem = make_problem(0, n_labeled=60, n_unlabeled=200, distance=0.3, alpha=0.0)
    supervised = LeastSquaresClassifier(0.0).fit(problem.X, problem.y)
    model = fit(problem)
    np.testing.assert_allclose(model.coef_, supervised.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, supervised.intercept_, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 3, 6])
@classes
def test_the_certificate_bounds_what_an_early_stop_costs(n_classes, steps):
    problem = make_problem(2, n_classes=n_classes)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        model = fit(problem, max_iter=steps)
    y = problem.targets(problem.y[problem.known])
    scale = np.sum((y - y.mean(axis=0)) ** 2)
    assert model.objective_ - least_loss(problem) > 0.0
    assert model.objective_ - least_loss(problem) <= model.certificate_ * scale


# -- labels and weights ---------------------------------------------------------------------------


@classes
@settings
def test_labels_are_on_the_simplex_and_known_ones_are_kept(options, n_classes):
    problem = make_problem(4, n_classes=n_classes, **options)
    q = fit(problem).label_distributions_
    assert q.min() >= 0.0
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-15)
    known = problem.known
    np.testing.assert_array_equal(q[known], np.eye(n_classes)[problem.y[known]])


@classes
@settings
def test_the_weights_are_the_fit_of_the_labels(options, n_classes):
    problem = make_problem(6, n_classes=n_classes, **options)
    model = fit(problem)
    labels = model.label_distributions_[:, int(n_classes == 2) :]
    gram = problem.gram() + np.diag(problem.penalty)
    w = np.linalg.solve(gram, problem.design.T @ labels)
    z = model.decision_function(problem.X).reshape(len(labels), -1) + 0.5
    np.testing.assert_allclose(z, problem.design @ w, atol=1e-9)
    assert model.objective_ == pytest.approx(np.sum(((z - labels)[problem.known]) ** 2), abs=1e-12)


def test_rows_without_a_label_get_the_predicted_one():
    problem = make_problem(7, n_classes=3)
    model = fit(problem)
    known = problem.known
    np.testing.assert_array_equal(model.transduction_[known], problem.y[known])
    np.testing.assert_array_equal(model.transduction_[~known], model.predict(problem.X)[~known])


def test_with_all_labels_it_is_the_supervised_classifier():
    problem = make_problem(8, n_unlabeled=0, n_labeled=30)
    supervised = LeastSquaresClassifier(problem.alpha).fit(problem.X, problem.y)
    np.testing.assert_allclose(fit(problem).coef_, supervised.coef_, atol=1e-12)


def test_copies_of_a_row_share_its_label():
    problem = make_problem(9)
    X, y = np.vstack((problem.X, problem.X)), np.r_[problem.y, problem.y]
    q = ImplicitlyConstrainedClassifier(1.0).fit(X, y).label_distributions_
    np.testing.assert_allclose(q[: len(q) // 2], q[len(q) // 2 :], atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_more_columns_than_rows_are_those_of_the_narrow_table(alpha, intercept):
    problem = make_problem(10, alpha=alpha, intercept=intercept)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(70, 3)))[0]
    model = ImplicitlyConstrainedClassifier(alpha, fit_intercept=intercept)
    wide = clone(model).fit(problem.X @ turn.T, problem.y)
    narrow = model.fit(problem.X, problem.y)
    np.testing.assert_allclose(wide.coef_ @ turn, narrow.coef_, atol=1e-7)
    np.testing.assert_allclose(wide.coef_ @ turn @ turn.T, wide.coef_, atol=1e-10)  # least norm
    assert wide.objective_ == pytest.approx(narrow.objective_, abs=1e-10)


def test_without_a_ridge_units_and_origin_of_the_columns_do_not_matter():
    problem = make_problem(11, alpha=0.0)
    other = problem.X * [1e-6, 1.0, 1e6] + [1.0, -1e4, 1e7]
    model = clone(fit(problem)).fit(other, problem.y)
    assert model.objective_ == pytest.approx(fit(problem).objective_, rel=1e-6)
    np.testing.assert_array_equal(model.transduction_, fit(problem).transduction_)


def test_constant_and_copied_columns_change_nothing():
    problem = make_problem(12, alpha=0.0)
    X = np.hstack((problem.X, np.full((len(problem.X), 1), 0.1), problem.X[:, :1]))
    model = ImplicitlyConstrainedClassifier().fit(X, problem.y)
    assert model.objective_ == pytest.approx(fit(problem).objective_, abs=1e-10)
    assert abs(model.coef_[0, 3]) < 1e-15
    assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 4])


@pytest.mark.parametrize("n_columns", [2, 9])
def test_a_table_of_constants_is_fitted_by_the_intercept(n_columns):
    X = np.full((5, n_columns), 0.1)
    model = ImplicitlyConstrainedClassifier().fit(X, [0, 1, 1, -1, -1])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ + 0.5 == pytest.approx(2 / 3)


# -- input ----------------------------------------------------------------------------------------


def test_labels_may_be_strings_and_missing_ones_none():
    problem = make_problem(13)
    names = np.array(["a", "b", None])[problem.y]
    model = ImplicitlyConstrainedClassifier(1.0).fit(problem.X, names)
    np.testing.assert_allclose(model.coef_, fit(problem).coef_, atol=1e-12)
    assert set(model.transduction_) == {"a", "b"}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [1.0], [2.0]], [1, 1, -1], "one class only"),
        ([[0.0], [1.0], [2.0]], [-1, -1, -1], "None of the 3 rows"),
        ([[0.0], [np.nan], [2.0]], [0, 1, -1], "contains NaN"),
        ([[0.0], [1e200], [2.0]], [0, 1, -1], "rescale the columns"),
    ],
)
def test_bad_input_is_said_in_a_sentence(X, y, message):
    with pytest.raises(ValueError, match=message):
        ImplicitlyConstrainedClassifier().fit(X, y)


def test_a_fit_that_fails_loses_nothing():
    problem = make_problem(14)
    model = fit(problem)
    before = model.decision_function(problem.X)
    with pytest.raises(ValueError, match="rescale the columns"):
        model.fit([[0.0], [1e200], [1.0]], ["no", "yes", None])
    np.testing.assert_array_equal(model.decision_function(problem.X), before)
    np.testing.assert_array_equal(model.classes_, [0, 1])
